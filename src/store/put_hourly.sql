-- Puts hours of shapes in place of what is there. Parameters are parallel arrays, a row each; the histograms' values
-- ($12) and windows ($13) and the top identities' ids ($16), peaks ($17) and times ($18) are the rows' arrays end to end.
INSERT INTO hourly (
    shape_id, hour, peak, lower, upper, peak_at, peak_id, total, identities,
    histogram_values, histogram_windows, histogram_rounded, top_ids, top_peaks, top_at
)
SELECT
    shape_id, hour, peak, lower, upper, peak_at, peak_id, total::numeric, identities,
    ($12::bigint[])[bars_first : bars_first + bars - 1],
    ($13::bigint[])[bars_first : bars_first + bars - 1],
    rounded,
    ($16::bigint[])[top_first : top_first + top - 1],
    ($17::bigint[])[top_first : top_first + top - 1],
    ($18::timestamptz[])[top_first : top_first + top - 1]
FROM unnest(
    $1::integer[], $2::timestamptz[], $3::bigint[], $4::bigint[], $5::bigint[], $6::timestamptz[], $7::bigint[],
    $8::text[], $9::bigint[], $10::integer[], $11::integer[], $14::integer[], $15::integer[],
    $19::boolean[]
) AS incoming (
    shape_id, hour, peak, lower, upper, peak_at, peak_id, total, identities, bars_first, bars, top_first, top,
    rounded
)
ON CONFLICT (shape_id, hour) DO UPDATE SET
    peak = excluded.peak,
    lower = excluded.lower,
    upper = excluded.upper,
    peak_at = excluded.peak_at,
    peak_id = excluded.peak_id,
    total = excluded.total,
    identities = excluded.identities,
    histogram_values = excluded.histogram_values,
    histogram_windows = excluded.histogram_windows,
    histogram_rounded = excluded.histogram_rounded,
    top_ids = excluded.top_ids,
    top_peaks = excluded.top_peaks,
    top_at = excluded.top_at
