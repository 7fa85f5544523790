//! Alerts: how everything stands, what is to be told, and what was told.

use std::{cmp::Reverse, collections::HashMap, fmt};

use chrono::{DateTime, TimeDelta, Utc};
use serde::Serialize;
use utoipa::ToSchema;

use super::{StoreError, Tx};
use crate::{
    alert::{Due, High, Kind, LastSent, Level, Standing, budget::Spent, key, words::Words},
    time::Minute,
};

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

fn level(name: &str) -> Level {
    // A newer version's word for something is at least worth a look.
    name.parse().unwrap_or(Level::Warning)
}

/// How the limits of an environment, and everything else of it, stand; by key.
///
/// # Errors
/// The database failed.
pub async fn standings(tx: &mut Tx, environment: &str) -> Result<HashMap<String, Standing>, StoreError> {
    let rows = sqlx::query!(
        "SELECT alert_key, level, since, last_high, peak, peak_at, judged_before FROM alert_states
         WHERE environment = $1",
        environment
    )
    .fetch_all(&mut *tx)
    .await?;
    Ok(rows
        .into_iter()
        .map(|row| {
            let peak = row.peak.zip(row.peak_at).map(|(count, at)| High {
                minute: Minute::containing(at),
                count: count.max(0).cast_unsigned(),
            });
            let standing = Standing {
                level: level(&row.level),
                since: row.since.map(Minute::containing),
                last_high: row.last_high.map(Minute::containing),
                peak,
                judged_before: row.judged_before.map(Minute::containing),
            };
            (row.alert_key, standing)
        })
        .collect())
}

/// Notes how things stand.
///
/// # Errors
/// The database failed.
pub async fn put_standings(
    tx: &mut Tx,
    environment: &str,
    standings: &[(String, Standing)],
) -> Result<(), StoreError> {
    if standings.is_empty() {
        return Ok(());
    }
    let column = |value: fn(&Standing) -> Option<Minute>| {
        let values = standings
            .iter()
            .map(|(_, standing)| value(standing).map(Minute::start));
        values.collect::<Vec<Option<DateTime<Utc>>>>()
    };
    let keys: Vec<_> = standings.iter().map(|(key, _)| key.clone()).collect();
    let levels: Vec<_> = standings
        .iter()
        .map(|(_, own)| own.level.name().to_owned())
        .collect();
    let peaks: Vec<Option<i64>> = (standings.iter())
        .map(|(_, own)| own.peak.map(|peak| i64::try_from(peak.count).unwrap_or(i64::MAX)))
        .collect();
    sqlx::query!(
        "INSERT INTO alert_states (environment, alert_key, level, since, last_high, peak, peak_at, judged_before)
         SELECT $1, * FROM unnest($2::text[], $3::text[], $4::timestamptz[], $5::timestamptz[], $6::bigint[],
             $7::timestamptz[], $8::timestamptz[])
         ON CONFLICT (environment, alert_key) DO UPDATE SET
             level = excluded.level, since = excluded.since, last_high = excluded.last_high, peak = excluded.peak,
             peak_at = excluded.peak_at, judged_before = excluded.judged_before",
        environment,
        &keys,
        &levels,
        &column(|own| own.since) as _,
        &column(|own| own.last_high) as _,
        &peaks as _,
        &column(|own| own.peak.map(|peak| peak.minute)) as _,
        &column(|own| own.judged_before) as _
    )
    .execute(&mut *tx)
    .await?;
    Ok(())
}

/// Forgets how something stands.
///
/// # Errors
/// The database failed.
pub async fn forget(tx: &mut Tx, environment: &str, key: &str) -> Result<(), StoreError> {
    sqlx::query!(
        "DELETE FROM alert_states WHERE environment = $1 AND alert_key = $2",
        environment,
        key
    )
    .execute(&mut *tx)
    .await?;
    Ok(())
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

/// Puts something to be told into the outbox, in place of what was still to be told of the same. Events add up: what
/// was to be told of the last one stays in the text. Where there is nowhere to send it, it is kept as a record only.
///
/// # Errors
/// The database failed.
pub async fn put(tx: &mut Tx, news: &News<'_>, is_sent: bool, now: DateTime<Utc>) -> Result<(), StoreError> {
    let replaced = sqlx::query_scalar!(
        "UPDATE alerts SET state = 'replaced' WHERE environment = $1 AND alert_key = $2 AND state = 'pending'
         RETURNING message",
        news.environment,
        news.key
    )
    .fetch_optional(&mut *tx)
    .await?;
    let text = match replaced {
        Some(earlier) if news.kind == Kind::Event => format!("{}\n{earlier}", news.words.text),
        _ => news.words.text.clone(),
    };
    sqlx::query!(
        "INSERT INTO alerts (environment, alert_key, kind, level, title, message, link, created_at, state,
             next_attempt_at, planned_at)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $8, $8)",
        news.environment,
        news.key,
        news.kind.name(),
        news.level.name(),
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
            level: level(&row.level),
            title: row.title,
            text: row.message,
            link: row.link,
            last: row
                .last_kind
                .zip(row.last_level)
                .map(|(kind, last_level)| LastSent {
                    kind: Kind::of_name(&kind),
                    level: level(&last_level),
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

/// Puts alerts off, and says why.
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
         WHERE id = ANY($1)",
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
    sqlx::query!("UPDATE alerts SET leased_until = NULL WHERE id = ANY($1)", ids)
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
        "UPDATE alerts SET state = 'silenced', leased_until = NULL WHERE id = ANY($1) AND state = 'pending'",
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

/// An alert as it is shown.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct Alert {
    /// Its number.
    pub id: i64,
    /// The environment; empty where it concerns all.
    pub environment: String,
    /// What it is about: a limit's id, or the name of something else.
    pub key: String,
    /// What was to be told.
    pub kind: Kind,
    /// How bad it was.
    #[schema(inline)]
    pub level: Level,
    /// In a line.
    pub title: String,
    /// What there was to know.
    pub message: String,
    /// When it came up.
    pub created_at: DateTime<Utc>,
    /// `pending`, `sent`, `replaced` by a newer one before it was sent, `silenced`, or `unsent` as there was nowhere to
    /// send it.
    pub state: String,
    /// When it was sent.
    pub sent_at: Option<DateTime<Utc>>,
    /// When it is tried next.
    pub next_attempt_at: Option<DateTime<Utc>>,
    /// Why it waits.
    pub held_by: Option<String>,
}

/// The newest alerts, of one environment and of what concerns all, or of everything.
///
/// # Errors
/// The database failed.
pub async fn recent(tx: &mut Tx, environment: Option<&str>, most: i64) -> Result<Vec<Alert>, StoreError> {
    let rows = sqlx::query!(
        "SELECT id, environment, alert_key, kind, level, title, message, created_at, state, sent_at, next_attempt_at,
             held_by
         FROM alerts WHERE $1::text IS NULL OR environment IN ($1, '') ORDER BY id DESC LIMIT $2",
        environment,
        most
    )
    .fetch_all(&mut *tx)
    .await?;
    Ok(rows
        .into_iter()
        .map(|row| Alert {
            id: row.id,
            environment: row.environment,
            key: row.alert_key,
            kind: Kind::of_name(&row.kind),
            level: level(&row.level),
            title: row.title,
            message: row.message,
            created_at: row.created_at,
            next_attempt_at: Some(row.next_attempt_at).filter(|_| row.state == "pending"),
            state: row.state,
            sent_at: row.sent_at,
            held_by: row.held_by,
        })
        .collect())
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Something that is alerted now.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct Alerted {
    /// The environment; empty where it concerns all.
    pub environment: String,
    /// What it is about: a limit's id, or the name of something else.
    pub key: String,
    /// The limit that it is about; null where it is about none.
    pub limit: Option<String>,
    /// How bad it is.
    #[schema(inline)]
    pub level: Level,
    /// The minute that began it.
    pub since: Option<DateTime<Utc>>,
    /// Its largest count so far.
    pub peak: Option<AlertPeak>,
    /// The last minute that kept it from ending.
    pub last_high: Option<DateTime<Utc>>,
}

/// The largest count of an alert.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct AlertPeak {
    /// The count.
    pub count: u64,
    /// Its minute.
    pub at: DateTime<Utc>,
}

/// What is alerted now, of one environment and of what concerns all, or of everything; the worst first.
///
/// # Errors
/// The database failed.
pub async fn alerted(tx: &mut Tx, environment: Option<&str>) -> Result<Vec<Alerted>, StoreError> {
    let rows = sqlx::query!(
        "SELECT environment, alert_key, level, since, last_high, peak, peak_at FROM alert_states
         WHERE level <> 'ok' AND ($1::text IS NULL OR environment IN ($1, ''))
         ORDER BY environment, alert_key",
        environment
    )
    .fetch_all(&mut *tx)
    .await?;
    let mut alerted: Vec<_> = rows
        .into_iter()
        .map(|row| Alerted {
            environment: row.environment,
            limit: key::limit(&row.alert_key).map(str::to_owned),
            key: row.alert_key,
            level: level(&row.level),
            since: row.since,
            peak: row.peak.zip(row.peak_at).map(|(count, at)| AlertPeak {
                count: count.max(0).cast_unsigned(),
                at,
            }),
            last_high: row.last_high,
        })
        .collect();
    alerted.sort_by_key(|own| Reverse(own.level));
    Ok(alerted)
}
