-- The rows of some spans, minute by minute. Parameters are parallel arrays, a span each. An imported row, which has the
-- stem $4, is given as what it has more of each identity than the rows of its series and minute that were read from Redis.
SELECT
    stored.series_id,
    stored.minute,
    CASE WHEN stored.stem <> $4 THEN stored.ids ELSE coalesce(more.ids, '{}') END AS "ids!",
    CASE WHEN stored.stem <> $4 THEN stored.counts ELSE coalesce(more.counts, '{}') END AS "counts!"
FROM unnest($1::integer[], $2::timestamptz[], $3::timestamptz[]) AS span (series_id, first, past)
JOIN minute_counts AS stored
    ON stored.series_id = span.series_id AND stored.minute >= span.first AND stored.minute < span.past
LEFT JOIN LATERAL (
    SELECT
        array_agg(own.id ORDER BY own.id) AS ids,
        array_agg((own.count - coalesce(known.count, 0))::bigint ORDER BY own.id) AS counts
    FROM unnest(stored.ids, stored.counts) AS own (id, count)
    LEFT JOIN (
        SELECT cell.id, sum(cell.count) AS count
        FROM minute_counts AS other, unnest(other.ids, other.counts) AS cell (id, count)
        WHERE other.series_id = stored.series_id AND other.minute = stored.minute AND other.stem <> $4
        GROUP BY cell.id
    ) AS known ON known.id = own.id
    -- Only imported rows are looked at so closely.
    WHERE stored.stem = $4 AND own.count > coalesce(known.count, 0)
) AS more ON true
ORDER BY stored.minute
