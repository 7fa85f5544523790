-- Puts hours of gauges in place of what is there. Parameters are parallel arrays, a row each; those from ids ($5) on are
-- the rows' arrays end to end.
INSERT INTO gauge_hourly (series_id, hour, ids, mins, maxs, lasts, last_minutes, samples)
SELECT
    series_id, hour,
    ($5::bigint[])[first : first + size - 1],
    ($6::bigint[])[first : first + size - 1],
    ($7::bigint[])[first : first + size - 1],
    ($8::bigint[])[first : first + size - 1],
    ($9::smallint[])[first : first + size - 1],
    ($10::bigint[])[first : first + size - 1]
FROM unnest($1::integer[], $2::timestamptz[], $3::integer[], $4::integer[]) AS incoming (series_id, hour, first, size)
ON CONFLICT (series_id, hour) DO UPDATE SET
    ids = excluded.ids,
    mins = excluded.mins,
    maxs = excluded.maxs,
    lasts = excluded.lasts,
    last_minutes = excluded.last_minutes,
    samples = excluded.samples
