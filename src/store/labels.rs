//! Labels of identities of public scopes.

use std::collections::{BTreeMap, HashMap};

use chrono::NaiveDate;

use super::{StoreError, Tx};
use crate::source::{Labels, looks_personal};

/// Keeps labels, given by scope and identity.
///
/// # Errors
/// The database failed.
pub async fn keep(tx: &mut Tx, labels: &Labels, today: NaiveDate) -> Result<(), StoreError> {
    // In the order of scopes and ids, so that two writers cannot deadlock.
    for (scope, labels) in labels.iter().collect::<BTreeMap<_, _>>() {
        let (ids, texts): (Vec<i64>, Vec<String>) =
            labels.iter().map(|(id, label)| (*id, label.clone())).unzip();
        sqlx::query!(
            "INSERT INTO labels AS kept (scope, id, label, seen)
             SELECT $1, id, label, $4 FROM unnest($2::bigint[], $3::text[]) AS new (id, label) ORDER BY id
             ON CONFLICT (scope, id) DO UPDATE SET seen = excluded.seen WHERE kept.seen < excluded.seen",
            scope,
            &ids,
            &texts,
            today
        )
        .execute(&mut *tx)
        .await?;
    }
    Ok(())
}

/// The labels of some identities of scopes, but for those that look personal, which an earlier version may have stored.
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
        .filter(|row| looks_personal(row.label.as_bytes()).is_none())
        .map(|row| ((row.scope, row.id), row.label))
        .collect())
}

/// Forgets the labels of scopes that are not public, and those last met before a day where one is given. Tells how many.
///
/// # Errors
/// The database failed.
pub async fn forget(tx: &mut Tx, public: &[String], before: Option<NaiveDate>) -> Result<u64, StoreError> {
    let gone = sqlx::query!(
        "DELETE FROM labels WHERE scope <> ALL($1) OR seen < $2",
        public,
        before
    )
    .execute(&mut *tx)
    .await?;
    Ok(gone.rows_affected())
}

/// Labels that are read together.
const PAGE: i64 = 10_000;

/// Some labels of a scope with their ids, in their order, from an id on; none at the end.
///
/// # Errors
/// The database failed.
pub async fn page(tx: &mut Tx, scope: &str, from: i64) -> Result<Vec<(i64, String)>, StoreError> {
    let rows = sqlx::query!(
        "SELECT id, label FROM labels WHERE scope = $1 AND id >= $2 ORDER BY id LIMIT $3",
        scope,
        from,
        PAGE
    )
    .fetch_all(&mut *tx)
    .await?;
    Ok(rows.into_iter().map(|row| (row.id, row.label)).collect())
}
