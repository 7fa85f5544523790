-- Endpoints that no limit names are shown with their largest minute. It stands in columns of its own, so that a report
-- need not unpack the arrays.
ALTER TABLE series_hourly
    ADD COLUMN identities integer, -- with samples in this hour
    ADD COLUMN peak bigint, -- largest minute of any identity
    ADD COLUMN peak_minute smallint, -- which minute of the hour
    ADD COLUMN peak_id bigint; -- whose it was

UPDATE series_hourly SET
    identities = cardinality(ids),
    (peak, peak_minute, peak_id) = (
        SELECT coalesce(max(peak), 0), coalesce(max(minute), 0), coalesce(max(id), 0)
        FROM (
            SELECT * FROM unnest(peaks, peak_minutes, ids) AS identity (peak, minute, id)
            ORDER BY peak DESC, minute, id LIMIT 1
        ) AS largest
    );

ALTER TABLE series_hourly
    ALTER COLUMN identities SET NOT NULL,
    ALTER COLUMN peak SET NOT NULL,
    ALTER COLUMN peak_minute SET NOT NULL,
    ALTER COLUMN peak_id SET NOT NULL;
