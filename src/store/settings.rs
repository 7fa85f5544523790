//! Facts about the database itself.

use chrono::{DateTime, Utc};

use super::{StoreError, Tx};

/// Reads a setting.
///
/// # Errors
/// The database failed.
pub async fn get(tx: &mut Tx, name: &str) -> Result<Option<String>, StoreError> {
    sqlx::query_scalar!("SELECT value FROM settings WHERE name = $1", name)
        .fetch_optional(&mut *tx)
        .await
}

/// Writes a setting.
///
/// # Errors
/// The database failed.
pub async fn set(tx: &mut Tx, name: &str, value: &str) -> Result<(), StoreError> {
    sqlx::query!(
        "INSERT INTO settings (name, value) VALUES ($1, $2)
         ON CONFLICT (name) DO UPDATE SET value = excluded.value",
        name,
        value
    )
    .execute(&mut *tx)
    .await?;
    Ok(())
}

/// The version of an environment's data: every transaction that may change a report raises it; none before the first.
///
/// # Errors
/// The database failed.
pub async fn version(tx: &mut Tx, environment: &str) -> Result<Option<String>, StoreError> {
    get(tx, &format!("{VERSION}{environment}")).await
}

/// Raises the version of an environment's data.
///
/// # Errors
/// The database failed.
pub(super) async fn raise_version(tx: &mut Tx, environment: &str) -> Result<(), StoreError> {
    sqlx::query!(
        "INSERT INTO settings (name, value) VALUES ($1, '1')
         ON CONFLICT (name) DO UPDATE SET value = (settings.value::bigint + 1)::text",
        format!("{VERSION}{environment}")
    )
    .execute(&mut *tx)
    .await?;
    Ok(())
}

const VERSION: &str = "version of ";
const PRUNED_BEFORE: &str = "minutes pruned before";

/// The instant before which minute rows have been dropped.
///
/// # Errors
/// The database failed.
pub async fn pruned_before(tx: &mut Tx) -> Result<DateTime<Utc>, StoreError> {
    let text = get(tx, PRUNED_BEFORE).await?;
    let parsed = text.map(|text| DateTime::parse_from_rfc3339(&text).map(|instant| instant.to_utc()));
    Ok(parsed
        .transpose()
        .map_err(|error| StoreError::Decode(Box::new(error)))?
        .unwrap_or(DateTime::<Utc>::MIN_UTC))
}

/// Notes that minute rows before an instant are about to be dropped. It never moves back.
///
/// # Errors
/// The database failed.
pub async fn set_pruned_before(tx: &mut Tx, instant: DateTime<Utc>) -> Result<(), StoreError> {
    let instant = instant.max(pruned_before(tx).await?);
    set(tx, PRUNED_BEFORE, &instant.to_rfc3339()).await
}
