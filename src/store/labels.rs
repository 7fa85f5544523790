//! Labels of identities of public scopes.

use std::collections::HashMap;

use super::{StoreError, Tx};

/// Keeps labels.
///
/// # Errors
/// The database failed.
pub async fn keep(tx: &mut Tx, labels: &HashMap<(String, i64), String>) -> Result<(), StoreError> {
    if labels.is_empty() {
        return Ok(());
    }
    let mut rows: Vec<_> = labels.iter().collect();
    rows.sort_unstable();
    let scopes: Vec<_> = rows.iter().map(|((scope, _), _)| scope.clone()).collect();
    let ids: Vec<_> = rows.iter().map(|((_, id), _)| *id).collect();
    let texts: Vec<_> = rows.iter().map(|(_, label)| (*label).clone()).collect();
    sqlx::query!(
        "INSERT INTO labels (scope, id, label) SELECT * FROM unnest($1::text[], $2::bigint[], $3::text[])
         ON CONFLICT DO NOTHING",
        &scopes,
        &ids,
        &texts
    )
    .persistent(false)
    .execute(&mut **tx)
    .await?;
    Ok(())
}

/// The labels of some identities of a scope.
///
/// # Errors
/// The database failed.
pub async fn of(tx: &mut Tx, scopes: &[String], ids: &[i64]) -> Result<HashMap<(String, i64), String>, StoreError> {
    let rows = sqlx::query!(
        "SELECT scope, id, label FROM labels WHERE scope = ANY($1) AND id = ANY($2)",
        scopes,
        ids
    )
    .fetch_all(&mut **tx)
    .await?;
    Ok(rows.into_iter().map(|row| ((row.scope, row.id), row.label)).collect())
}
