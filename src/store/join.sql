-- Joins rows into the minute store. Parameters are parallel arrays, a row each; ids ($6) and counts ($7) are the rows'
-- arrays end to end, and row n's slice begins at its first ($5) and has its size ($4). What is stored was there before
-- the rows were read where $8 is true.
INSERT INTO minute_counts AS stored (series_id, minute, stem, size, fell, ids, counts)
SELECT
    series_id,
    minute,
    stem,
    size,
    false,
    ($6::bigint[])[first : first + size - 1],
    ($7::bigint[])[first : first + size - 1]
FROM unnest($1::integer[], $2::timestamptz[], $3::bigint[], $4::integer[], $5::integer[])
    AS incoming (series_id, minute, stem, size, first)
ON CONFLICT (series_id, minute, stem) DO UPDATE SET
    -- By identity, the larger count.
    (ids, counts, size) = (
        SELECT array_agg(id ORDER BY id), array_agg(count ORDER BY id), count(*)
        FROM (
            SELECT id, max(count) AS count
            FROM (
                SELECT * FROM unnest(stored.ids, stored.counts)
                UNION ALL
                SELECT * FROM unnest(excluded.ids, excluded.counts)
            ) AS both_sides (id, count)
            GROUP BY id
        ) AS joined
    ),
    -- Counters only grow: an identity that is gone or has less than before was lost at the producer.
    fell = stored.fell OR $8::boolean AND EXISTS (
        SELECT FROM unnest(stored.ids, stored.counts) AS was (id, count)
        LEFT JOIN unnest(excluded.ids, excluded.counts) AS is_now (id, count) USING (id)
        WHERE is_now.count IS NULL OR is_now.count < was.count
    )
WHERE (stored.ids, stored.counts) IS DISTINCT FROM (excluded.ids, excluded.counts)
RETURNING series_id, minute, fell
