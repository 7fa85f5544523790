//! What is to be told, until it was sent.

use chrono::{DateTime, TimeDelta, Utc};

use super::{StoreError, Tx};
use crate::alert::{Due, Kind, LastSent, Level, budget::Spent, words::Words};

/// Something to tell.
#[derive(Clone, Debug)]
pub struct News<'a> {
    /// The environment; empty where it concerns all.
    pub environment: &'a str,
    /// What it is about.
    pub key: &'a str,
    /// What there is to tell of it.
    pub kind: Kind,
    /// How bad it is, or was.
    pub level: Level,
    /// It in words.
    pub words: &'a Words,
}

/// Lets one transaction after the other note what stands in no environment's own order.
///
/// # Errors
/// The database failed.
pub async fn lock(tx: &mut Tx, environment: &str) -> Result<(), StoreError> {
    sqlx::query!(
        "SELECT pg_advisory_xact_lock(hashtextextended('folga alerts ' || $1, 0))",
        environment
    )
    .fetch_one(&mut *tx)
    .await?;
    Ok(())
}

/// What a message may hold, in bytes, before older parts are left out.
const LONGEST: usize = 3800;

/// Puts something to be told into the outbox, in place of what was still to be told of the same. What adds up,
/// events and the same for other reasons, stays in the text, as far as a message can hold it. What was worse and that nobody
/// heard of is told with it. Where there is nowhere to send it, it is kept as a record only.
///
/// # Errors
/// The database failed.
pub async fn put(tx: &mut Tx, news: &News<'_>, is_sent: bool, now: DateTime<Utc>) -> Result<(), StoreError> {
    let replaced = sqlx::query!(
        r#"UPDATE alerts SET state = 'replaced' WHERE environment = $1 AND alert_key = $2 AND state = 'pending'
         RETURNING kind, level, title, message,
             (SELECT CASE told.kind WHEN 'raised' THEN told.level END FROM alerts AS told
              WHERE told.environment = $1 AND told.alert_key = $2 AND told.sent_at IS NOT NULL
              ORDER BY told.id DESC LIMIT 1) AS "last_told?""#,
        news.environment,
        news.key
    )
    .fetch_optional(&mut *tx)
    .await?;
    let (mut level, mut text) = (news.level, news.words.text.clone());
    if let Some(earlier) = replaced {
        let untold = Level::of_name(&earlier.level);
        let last_told = earlier.last_told.map_or(Level::Ok, |told| Level::of_name(&told));
        let is_more = news.kind == Kind::Raised
            && Kind::of_name(&earlier.kind) == Kind::Raised
            && untold == level
            && earlier.message != text;
        if news.kind == Kind::Event || is_more {
            text = format!("{text}\n{}", earlier.message);
        } else if untold > level && untold > last_told {
            level = untold;
            text = format!("{text}\nBefore: {}\n{}", earlier.title, earlier.message);
        }
    }
    if text.len() > LONGEST {
        text.truncate(text.floor_char_boundary(LONGEST));
        text.push('…');
    }
    sqlx::query!(
        "INSERT INTO alerts (environment, alert_key, kind, level, title, message, link, created_at, state,
             next_attempt_at, planned_at)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $8, $8)",
        news.environment,
        news.key,
        news.kind.name(),
        level.name(),
        news.words.title,
        text,
        news.words.link,
        now,
        if is_sent { "pending" } else { "unsent" }
    )
    .execute(&mut *tx)
    .await?;
    Ok(())
}

/// What began while there was nowhere to send it, and lasts, is to be told.
///
/// # Errors
/// The database failed.
pub async fn revive(tx: &mut Tx, now: DateTime<Utc>) -> Result<(), StoreError> {
    let unsent = unsent(tx).await?;
    if unsent.is_empty() {
        return Ok(());
    }
    lock_all(tx, &unsent).await?;
    // They may have been replaced by now.
    let unsent = self::unsent(tx).await?;
    sqlx::query!(
        "UPDATE alerts SET state = 'pending', next_attempt_at = $1, planned_at = $1 WHERE id = ANY($2)",
        now,
        &unsent
    )
    .execute(&mut *tx)
    .await?;
    Ok(())
}

/// What lasts and was never told, as there was nowhere to send it.
async fn unsent(tx: &mut Tx) -> Result<Vec<i64>, StoreError> {
    sqlx::query_scalar!(
        "SELECT alerts.id FROM alerts
         JOIN alert_states AS standing USING (environment, alert_key)
         WHERE standing.level <> 'ok' AND alerts.state = 'unsent' AND alerts.kind = 'raised'
           AND alerts.id = (
               SELECT max(newest.id) FROM alerts AS newest
               WHERE newest.environment = standing.environment AND newest.alert_key = standing.alert_key
           )"
    )
    .fetch_all(&mut *tx)
    .await
}

/// Takes back what was still to be told of something that is over without a word.
///
/// # Errors
/// The database failed.
pub async fn withdraw(tx: &mut Tx, environment: &str, key: &str) -> Result<(), StoreError> {
    sqlx::query!(
        "UPDATE alerts SET state = 'replaced'
         WHERE environment = $1 AND alert_key = $2 AND state = 'pending'",
        environment,
        key
    )
    .execute(&mut *tx)
    .await?;
    Ok(())
}

/// Takes what is due in hand for a while, the worst and oldest first. What another sender has in hand is left to it. A
/// clock that stands before the moment at which something was planned has been set back: then it is due too.
///
/// # Errors
/// The database failed.
pub async fn claim(
    tx: &mut Tx,
    now: DateTime<Utc>,
    lease: TimeDelta,
    most: i64,
) -> Result<Vec<Due>, StoreError> {
    let rows = sqlx::query_file!(
        "src/store/claim_alerts.sql",
        now,
        now + lease,
        most,
        lease.as_seconds_f64()
    )
    .fetch_all(&mut *tx)
    .await?;
    Ok(rows
        .into_iter()
        .map(|row| Due {
            id: row.id,
            environment: row.environment,
            key: row.alert_key,
            kind: Kind::of_name(&row.kind),
            level: Level::of_name(&row.level),
            title: row.title,
            text: row.message,
            link: row.link,
            last: row
                .last_kind
                .zip(row.last_level)
                .map(|(kind, last_level)| LastSent {
                    kind: Kind::of_name(&kind),
                    level: Level::of_name(&last_level),
                    updates: row.last_updates.unwrap_or(false),
                }),
            last_alike: row.last_alike,
            silent_until: row.silent_until,
            attempts: u32::try_from(row.attempts).unwrap_or(0),
        })
        .collect())
}

/// Notes that alerts were sent, in one message where there are several.
///
/// # Errors
/// The database failed.
pub async fn sent(
    tx: &mut Tx,
    alerts: &[(i64, bool)],
    message_id: &str,
    updates: bool,
    now: DateTime<Utc>,
) -> Result<(), StoreError> {
    let (ids, starts): (Vec<i64>, Vec<bool>) = alerts.iter().copied().unzip();
    lock_all(tx, &ids).await?;
    sqlx::query!(
        "UPDATE alerts SET state = 'sent', sent_at = $3, message_id = $4, updates = $5, held_by = NULL,
             leased_until = NULL, attempts = attempts + 1, starts_cooldown = told.starts
         FROM unnest($1::bigint[], $2::boolean[]) AS told (id, starts)
         WHERE alerts.id = told.id",
        &ids,
        &starts,
        now,
        message_id,
        updates
    )
    .execute(&mut *tx)
    .await?;
    Ok(())
}

/// Locks the environments of some alerts, in the order of their names and what concerns all last: whoever replaces an alert
/// has locked its own.
async fn lock_all(tx: &mut Tx, ids: &[i64]) -> Result<(), StoreError> {
    let mut environments =
        sqlx::query_scalar!("SELECT DISTINCT environment FROM alerts WHERE id = ANY($1)", ids)
            .fetch_all(&mut *tx)
            .await?;
    environments.sort_unstable_by_key(|name| (name.is_empty(), name.clone()));
    for environment in environments {
        lock(tx, &environment).await?;
    }
    Ok(())
}

/// Puts alerts off, and says why. One that a drain is about to replace is left to it.
///
/// # Errors
/// The database failed.
pub async fn hold(
    tx: &mut Tx,
    ids: &[i64],
    until: DateTime<Utc>,
    why: &str,
    attempted: bool,
    now: DateTime<Utc>,
) -> Result<(), StoreError> {
    sqlx::query!(
        "UPDATE alerts SET next_attempt_at = $2, planned_at = $3, held_by = $4, leased_until = NULL,
             attempts = attempts + $5
         WHERE id IN (SELECT id FROM alerts WHERE id = ANY($1) FOR UPDATE SKIP LOCKED)",
        ids,
        until,
        now,
        why,
        i32::from(attempted)
    )
    .execute(&mut *tx)
    .await?;
    Ok(())
}

/// Lets go of alerts that were in hand: they stay due.
///
/// # Errors
/// The database failed.
pub async fn release(tx: &mut Tx, ids: &[i64]) -> Result<(), StoreError> {
    sqlx::query!(
        "UPDATE alerts SET leased_until = NULL
         WHERE id IN (SELECT id FROM alerts WHERE id = ANY($1) FOR UPDATE SKIP LOCKED)",
        ids
    )
    .execute(&mut *tx)
    .await?;
    Ok(())
}

/// Notes that an alert is not told, as nobody wants to hear of it.
///
/// # Errors
/// The database failed.
pub async fn drop_silenced(tx: &mut Tx, ids: &[i64]) -> Result<(), StoreError> {
    sqlx::query!(
        "UPDATE alerts SET state = 'silenced', leased_until = NULL
         WHERE id IN (SELECT id FROM alerts WHERE id = ANY($1) AND state = 'pending' FOR UPDATE SKIP LOCKED)",
        ids
    )
    .execute(&mut *tx)
    .await?;
    Ok(())
}

/// Messages that were sent since some instants: the last midnight of UTC, and lately.
///
/// # Errors
/// The database failed.
pub async fn spent(
    tx: &mut Tx,
    midnight: DateTime<Utc>,
    lately: DateTime<Utc>,
    now: DateTime<Utc>,
) -> Result<Spent, StoreError> {
    let row = sqlx::query!(
        r#"SELECT count(DISTINCT message_id) FILTER (WHERE sent_at >= $1) AS "today!",
               count(DISTINCT message_id) FILTER (WHERE sent_at > $2) AS "lately!"
           FROM alerts WHERE sent_at >= least($1, $2) AND sent_at <= $3"#,
        midnight,
        lately,
        now
    )
    .fetch_one(&mut *tx)
    .await?;
    let number = |count: i64| u32::try_from(count).unwrap_or(u32::MAX);
    Ok(Spent {
        today: number(row.today),
        lately: number(row.lately),
    })
}

/// How many alerts wait to be sent.
///
/// # Errors
/// The database failed.
pub async fn waiting(tx: &mut Tx) -> Result<i64, StoreError> {
    sqlx::query_scalar!(r#"SELECT count(*) AS "count!" FROM alerts WHERE state = 'pending'"#)
        .fetch_one(&mut *tx)
        .await
}
