-- What the series $1 counted in the minutes $2. An imported row, which has the stem $3, counts by what it has more of each
-- identity than the rows of its series and minute that were read from Redis.
SELECT stored.minute, sum(cell.count)::text AS "total!"
FROM minute_counts AS stored, unnest(
    CASE WHEN stored.stem <> $3 THEN stored.counts ELSE (
        SELECT array_agg((own.count - coalesce(known.count, 0))::bigint)
        FROM unnest(stored.ids, stored.counts) AS own (id, count)
        LEFT JOIN (
            SELECT other_cell.id, sum(other_cell.count) AS count
            FROM minute_counts AS other, unnest(other.ids, other.counts) AS other_cell (id, count)
            WHERE other.series_id = stored.series_id AND other.minute = stored.minute AND other.stem <> $3
            GROUP BY other_cell.id
        ) AS known ON known.id = own.id
        WHERE own.count > coalesce(known.count, 0)
    ) END
) AS cell (count)
WHERE stored.series_id = ANY($1) AND stored.minute = ANY($2)
GROUP BY stored.minute
