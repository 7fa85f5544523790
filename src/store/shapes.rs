//! Shapes of limits, and which value and mode was in force when.

use chrono::{DateTime, Utc};

use super::{StoreError, Tx};

/// What is known of a shape.
#[derive(Clone, Debug)]
pub struct StoredShape {
    /// Its id.
    pub id: i32,
    /// Its canonical definition.
    pub definition: String,
    /// First hour known whole, where minutes had been dropped before the shape was new.
    pub history_from: Option<DateTime<Utc>>,
    /// Windows that end before this instant are in the histograms; none where it was never folded.
    pub folded_before: Option<DateTime<Utc>>,
}

/// All shapes that an environment ever had.
///
/// # Errors
/// The database failed.
pub async fn of_environment(tx: &mut Tx, environment: &str) -> Result<Vec<StoredShape>, StoreError> {
    sqlx::query_as!(
        StoredShape,
        "SELECT id, definition, history_from, folded_before FROM shapes WHERE environment = $1 ORDER BY id",
        environment
    )
    .fetch_all(&mut *tx)
    .await
}

/// Adds a shape that is new.
///
/// # Errors
/// The database failed.
pub async fn add(tx: &mut Tx, environment: &str, definition: &str) -> Result<StoredShape, StoreError> {
    sqlx::query_as!(
        StoredShape,
        "INSERT INTO shapes (environment, definition) VALUES ($1, $2)
         RETURNING id, definition, history_from, folded_before",
        environment,
        definition
    )
    .fetch_one(&mut *tx)
    .await
}

/// Notes that the windows of some shapes that end before an instant have been folded.
///
/// # Errors
/// The database failed.
pub async fn set_folded(tx: &mut Tx, shapes: &[i32], before: DateTime<Utc>) -> Result<(), StoreError> {
    sqlx::query!(
        "UPDATE shapes SET folded_before = $2 WHERE id = ANY($1)",
        shapes,
        before
    )
    .execute(&mut *tx)
    .await?;
    Ok(())
}

/// Notes that minutes from an instant on have changed without shapes that are out of the catalog: all of an environment
/// but the active ones.
///
/// # Errors
/// The database failed.
pub async fn set_unfolded(
    tx: &mut Tx,
    environment: &str,
    active: &[i32],
    from: DateTime<Utc>,
) -> Result<(), StoreError> {
    sqlx::query!(
        "UPDATE shapes SET folded_before = $3 WHERE environment = $1 AND id <> ALL($2) AND folded_before > $3",
        environment,
        active,
        from
    )
    .execute(&mut *tx)
    .await?;
    Ok(())
}

/// Notes that hours of a shape before an instant are missing.
///
/// # Errors
/// The database failed.
pub async fn set_history_from(tx: &mut Tx, shape: i32, from: DateTime<Utc>) -> Result<(), StoreError> {
    sqlx::query!("UPDATE shapes SET history_from = $2 WHERE id = $1", shape, from)
        .execute(&mut *tx)
        .await?;
    Ok(())
}

/// Notes that hours before an instant are missing of the shapes that a source feeds and that are out of the catalog, where
/// none were yet: what is imported now is not folded for them.
///
/// # Errors
/// The database failed.
pub async fn set_missed(
    tx: &mut Tx,
    environment: &str,
    source: &str,
    active: &[i32],
    from: DateTime<Utc>,
) -> Result<(), StoreError> {
    sqlx::query!(
        "UPDATE shapes SET history_from = $4
         WHERE environment = $1 AND id <> ALL($3) AND history_from IS NULL
           AND definition::jsonb -> 'sources' @> to_jsonb($2::text)",
        environment,
        source,
        active,
        from
    )
    .execute(&mut *tx)
    .await?;
    Ok(())
}

/// What is in force for a limit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InForce {
    /// The limit.
    pub limit_id: String,
    /// Its group.
    pub group_id: String,
    /// Its shape.
    pub shape_id: i32,
    /// Its value, where it has one.
    pub value: Option<i64>,
    /// Its mode; `removed` where it left the catalog.
    pub mode: String,
}

/// What was last noted for every limit of an environment.
///
/// # Errors
/// The database failed.
pub async fn in_force(tx: &mut Tx, environment: &str) -> Result<Vec<InForce>, StoreError> {
    sqlx::query_as!(
        InForce,
        "SELECT DISTINCT ON (limit_id) limit_id, group_id, shape_id, value, mode FROM limit_values
         WHERE environment = $1 ORDER BY limit_id, valid_from DESC",
        environment
    )
    .fetch_all(&mut *tx)
    .await
}

/// All that was ever noted for the limits of an environment, by instant.
///
/// # Errors
/// The database failed.
pub async fn record(tx: &mut Tx, environment: &str) -> Result<Vec<(DateTime<Utc>, InForce)>, StoreError> {
    let rows = sqlx::query!(
        "SELECT valid_from, limit_id, group_id, shape_id, value, mode FROM limit_values
         WHERE environment = $1 ORDER BY valid_from",
        environment
    )
    .fetch_all(&mut *tx)
    .await?;
    Ok(rows
        .into_iter()
        .map(|row| {
            let in_force = InForce {
                limit_id: row.limit_id,
                group_id: row.group_id,
                shape_id: row.shape_id,
                value: row.value,
                mode: row.mode,
            };
            (row.valid_from, in_force)
        })
        .collect())
}

/// Notes what is in force from an instant on.
///
/// # Errors
/// The database failed.
pub async fn put_in_force(
    tx: &mut Tx,
    environment: &str,
    valid_from: DateTime<Utc>,
    limit: &InForce,
) -> Result<(), StoreError> {
    sqlx::query!(
        "INSERT INTO limit_values (environment, limit_id, valid_from, group_id, shape_id, value, mode)
         VALUES ($1, $2, $3, $4, $5, $6, $7)
         ON CONFLICT (environment, limit_id, valid_from) DO UPDATE SET
             group_id = excluded.group_id, shape_id = excluded.shape_id, value = excluded.value, mode = excluded.mode",
        environment,
        limit.limit_id,
        valid_from,
        limit.group_id,
        limit.shape_id,
        limit.value,
        limit.mode
    )
    .execute(&mut *tx)
    .await?;
    Ok(())
}
