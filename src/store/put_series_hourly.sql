-- Puts hours of series in place of what is there. Parameters are parallel arrays, a row each; ids ($6), totals ($7),
-- peaks ($8) and peak minutes ($9) are the rows' arrays end to end.
INSERT INTO series_hourly (series_id, hour, total, ids, totals, peaks, peak_minutes)
SELECT
    series_id, hour, total::numeric,
    ($6::bigint[])[first : first + size - 1],
    ($7::bigint[])[first : first + size - 1],
    ($8::bigint[])[first : first + size - 1],
    ($9::smallint[])[first : first + size - 1]
FROM unnest($1::integer[], $2::timestamptz[], $3::text[], $4::integer[], $5::integer[])
    AS incoming (series_id, hour, total, first, size)
ON CONFLICT (series_id, hour) DO UPDATE SET
    total = excluded.total,
    ids = excluded.ids,
    totals = excluded.totals,
    peaks = excluded.peaks,
    peak_minutes = excluded.peak_minutes
