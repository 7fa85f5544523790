-- Puts hours of series in place of what is there. Parameters are parallel arrays, a row each; ids ($6), totals ($7),
-- peaks ($8) and peak minutes ($9) are the rows' arrays end to end. The largest of a row ($10, $11, $12) stands apart as well.
INSERT INTO series_hourly (
    series_id, hour, total, ids, totals, peaks, peak_minutes, identities, peak, peak_minute, peak_id
)
SELECT
    series_id, hour, total::numeric,
    ($6::bigint[])[first : first + size - 1],
    ($7::bigint[])[first : first + size - 1],
    ($8::bigint[])[first : first + size - 1],
    ($9::smallint[])[first : first + size - 1],
    size, peak, peak_minute, peak_id
FROM unnest(
    $1::integer[], $2::timestamptz[], $3::text[], $4::integer[], $5::integer[], $10::bigint[], $11::smallint[],
    $12::bigint[]
) AS incoming (series_id, hour, total, first, size, peak, peak_minute, peak_id)
ON CONFLICT (series_id, hour) DO UPDATE SET
    total = excluded.total,
    ids = excluded.ids,
    totals = excluded.totals,
    peaks = excluded.peaks,
    peak_minutes = excluded.peak_minutes,
    identities = excluded.identities,
    peak = excluded.peak,
    peak_minute = excluded.peak_minute,
    peak_id = excluded.peak_id
