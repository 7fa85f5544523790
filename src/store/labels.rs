//! Labels of identities of public scopes.

use std::collections::HashMap;

use super::{StoreError, Tx};
use crate::source::Labels;

/// Keeps labels, given by scope and identity.
///
/// # Errors
/// The database failed.
pub async fn keep(tx: &mut Tx, labels: &Labels) -> Result<(), StoreError> {
    for (scope, labels) in labels {
        let (ids, texts): (Vec<i64>, Vec<String>) =
            labels.iter().map(|(id, label)| (*id, label.clone())).unzip();
        sqlx::query!(
            "INSERT INTO labels (scope, id, label)
             SELECT $1, id, label FROM unnest($2::bigint[], $3::text[]) AS new (id, label) ORDER BY id
             ON CONFLICT DO NOTHING",
            scope,
            &ids,
            &texts
        )
        .execute(&mut *tx)
        .await?;
    }
    Ok(())
}

/// The labels of some identities of a scope.
///
/// # Errors
/// The database failed.
pub async fn of(
    tx: &mut Tx,
    scopes: &[String],
    ids: &[i64],
) -> Result<HashMap<(String, i64), String>, StoreError> {
    let rows = sqlx::query!(
        "SELECT scope, id, label FROM labels WHERE scope = ANY($1) AND id = ANY($2)",
        scopes,
        ids
    )
    .fetch_all(&mut *tx)
    .await?;
    Ok(rows
        .into_iter()
        .map(|row| ((row.scope, row.id), row.label))
        .collect())
}
