-- $1 now, $2 the end of the lease, $3 how many at most, $4 the lease's length in seconds
WITH due AS (
    SELECT id FROM alerts
    WHERE state = 'pending'
      AND (next_attempt_at <= $1 OR planned_at > $1)
      -- Clocks of two senders differ a little; a lease that ends much later than one taken now was taken by a clock that has been set back since.
      AND (leased_until IS NULL OR leased_until <= $1 OR leased_until > $1 + 2 * make_interval(secs => $4))
      -- Another sender may be telling an older state of the same: its message must not come last.
      AND NOT EXISTS (
          SELECT FROM alerts AS other
          WHERE other.environment = alerts.environment AND other.alert_key = alerts.alert_key AND other.id <> alerts.id
            AND other.leased_until > $1 AND other.leased_until <= $1 + 2 * make_interval(secs => $4)
      )
    ORDER BY level = 'critical' DESC, id
    LIMIT $3
    FOR UPDATE SKIP LOCKED
), claimed AS (
    UPDATE alerts SET leased_until = $2 FROM due WHERE alerts.id = due.id
    RETURNING alerts.*
)
SELECT
    claimed.id,
    claimed.environment,
    claimed.alert_key,
    claimed.kind,
    claimed.level,
    claimed.title,
    claimed.message,
    claimed.link,
    claimed.attempts,
    last.kind AS "last_kind?",
    last.level AS "last_level?",
    last.updates AS "last_updates?",
    (
        SELECT max(alike.sent_at) FROM alerts AS alike
        WHERE alike.environment = claimed.environment AND alike.alert_key = claimed.alert_key
          AND alike.level = claimed.level AND alike.id <> claimed.id
          AND alike.starts_cooldown
          -- What lies ahead of the clock was sent before it was set back.
          AND alike.sent_at <= $1
    ) AS last_alike,
    (
        SELECT until FROM silences
        WHERE silences.environment = claimed.environment
          AND claimed.alert_key IN (silences.limit_id, silences.limit_id || ':refused')
          AND silences.until > $1
    ) AS silent_until
FROM claimed
LEFT JOIN LATERAL (
    SELECT told.kind, told.level, told.updates FROM alerts AS told
    WHERE told.environment = claimed.environment AND told.alert_key = claimed.alert_key
      AND told.sent_at IS NOT NULL AND told.id <> claimed.id
    ORDER BY told.id DESC LIMIT 1
) AS last ON true
ORDER BY claimed.level = 'critical' DESC, claimed.id
