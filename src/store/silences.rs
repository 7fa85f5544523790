//! Limits of which nobody wants to hear for a while.

use chrono::{DateTime, Utc};
use serde::Serialize;
use utoipa::ToSchema;

use super::{StoreError, Tx};

/// A limit of which nobody wants to hear for a while.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct Silence {
    /// The environment.
    pub environment: String,
    /// The limit.
    pub limit: String,
    /// Until when.
    pub until: DateTime<Utc>,
    /// Why.
    pub reason: String,
}

/// Silences a limit, in place of an earlier silence of it.
///
/// # Errors
/// The database failed.
pub async fn put(tx: &mut Tx, silence: &Silence, now: DateTime<Utc>) -> Result<(), StoreError> {
    sqlx::query!(
        "INSERT INTO silences (environment, limit_id, until, reason, created_at) VALUES ($1, $2, $3, $4, $5)
         ON CONFLICT (environment, limit_id) DO UPDATE SET
             until = excluded.until, reason = excluded.reason, created_at = excluded.created_at",
        silence.environment,
        silence.limit,
        silence.until,
        silence.reason,
        now
    )
    .execute(&mut *tx)
    .await?;
    wake(tx, &silence.environment, &silence.limit, now).await
}

/// Ends a silence; tells whether there was one.
///
/// # Errors
/// The database failed.
pub async fn lift(
    tx: &mut Tx,
    environment: &str,
    limit: &str,
    now: DateTime<Utc>,
) -> Result<bool, StoreError> {
    let lifted = sqlx::query!(
        "DELETE FROM silences WHERE environment = $1 AND limit_id = $2 AND until > $3",
        environment,
        limit,
        now
    )
    .execute(&mut *tx)
    .await?
    .rows_affected();
    wake(tx, environment, limit, now).await?;
    Ok(lifted > 0)
}

/// What was put off for the sake of a silence is looked at anew.
async fn wake(tx: &mut Tx, environment: &str, limit: &str, now: DateTime<Utc>) -> Result<(), StoreError> {
    sqlx::query!(
        "UPDATE alerts SET next_attempt_at = $3, planned_at = $3
         WHERE environment = $1 AND alert_key IN ($2, $2 || ':refused') AND state = 'pending' AND held_by = $4",
        environment,
        limit,
        now,
        SILENCE
    )
    .execute(&mut *tx)
    .await?;
    Ok(())
}

/// What is written on an alert that is put off for a silence.
pub const SILENCE: &str = "silence";

/// The silences that hold, of one environment or of all, the first to end first.
///
/// # Errors
/// The database failed.
pub async fn holding(
    tx: &mut Tx,
    environment: Option<&str>,
    now: DateTime<Utc>,
) -> Result<Vec<Silence>, StoreError> {
    let rows = sqlx::query!(
        "SELECT environment, limit_id, until, reason FROM silences
         WHERE until > $2 AND ($1::text IS NULL OR environment = $1) ORDER BY until, environment, limit_id",
        environment,
        now
    )
    .fetch_all(&mut *tx)
    .await?;
    Ok(rows
        .into_iter()
        .map(|row| Silence {
            environment: row.environment,
            limit: row.limit_id,
            until: row.until,
            reason: row.reason,
        })
        .collect())
}
