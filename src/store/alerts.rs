//! Alerts as they are shown: what is alerted now, and what was told.

use std::cmp::Reverse;

use chrono::{DateTime, Utc};
use serde::Serialize;
use utoipa::ToSchema;

use super::{StoreError, Tx};
use crate::alert::{Kind, Level, key};

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
            level: Level::of_name(&row.level),
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
            level: Level::of_name(&row.level),
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
