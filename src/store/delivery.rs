//! Whether the notification server may be asked.

use chrono::{DateTime, Utc};

use super::{StoreError, Tx};

/// How deliveries go.
#[derive(Clone, Debug, Default)]
pub struct Delivery {
    /// The server is not asked before; none where it may be now.
    pub closed_until: Option<DateTime<Utc>>,
    /// Failures in a row.
    pub failures: u32,
    /// What went wrong last.
    pub error: Option<String>,
}

/// How deliveries go as of an instant. A clock that stands before the moment at which the server was closed has been set
/// back: then it is open. So it is under other settings than those with which it was closed.
///
/// # Errors
/// The database failed.
pub async fn read(tx: &mut Tx, settings: &str, now: DateTime<Utc>) -> Result<Delivery, StoreError> {
    let row = sqlx::query!("SELECT closed_until, planned_at, failures, error, settings FROM delivery")
        .fetch_one(&mut *tx)
        .await?;
    if row.settings != settings {
        return Ok(Delivery::default());
    }
    let is_closed =
        |until: &DateTime<Utc>| *until > now && row.planned_at.is_none_or(|planned| planned <= now);
    Ok(Delivery {
        closed_until: row.closed_until.filter(is_closed),
        failures: u32::try_from(row.failures).unwrap_or(0),
        error: row.error,
    })
}

/// Notes that the server is not to be asked for a while.
///
/// # Errors
/// The database failed.
pub async fn close(
    tx: &mut Tx,
    until: DateTime<Utc>,
    error: &str,
    settings: &str,
    now: DateTime<Utc>,
) -> Result<(), StoreError> {
    sqlx::query!(
        "UPDATE delivery SET closed_until = $1, planned_at = $2, error = $3,
             failures = CASE settings WHEN $4 THEN failures ELSE 0 END + 1, settings = $4",
        until,
        now,
        error,
        settings
    )
    .execute(&mut *tx)
    .await?;
    Ok(())
}

/// Notes that the server took something.
///
/// # Errors
/// The database failed.
pub async fn open(tx: &mut Tx) -> Result<(), StoreError> {
    sqlx::query!(
        "UPDATE delivery SET closed_until = NULL, planned_at = NULL, failures = 0, error = NULL
         WHERE failures > 0 OR closed_until IS NOT NULL"
    )
    .execute(&mut *tx)
    .await?;
    Ok(())
}
