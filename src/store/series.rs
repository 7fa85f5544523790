//! The dictionary of series.

use super::{StoreError, Tx};

/// One row of the dictionary.
#[derive(Clone, Debug)]
pub struct Series {
    /// Its id.
    pub id: i32,
    /// The source it comes from.
    pub source: String,
    /// Endpoint.
    pub endpoint: String,
    /// Scope.
    pub scope: String,
    /// Outcome; empty where the source tells none.
    pub outcome: String,
}

/// All series of an environment.
///
/// # Errors
/// The database failed.
pub async fn of_environment(tx: &mut Tx, environment: &str) -> Result<Vec<Series>, StoreError> {
    sqlx::query_as!(
        Series,
        "SELECT id, source, endpoint, scope, outcome FROM series WHERE environment = $1 ORDER BY id",
        environment
    )
    .fetch_all(&mut *tx)
    .await
}

/// Adds the series that are new.
///
/// # Errors
/// The database failed.
pub async fn add(
    tx: &mut Tx,
    environment: &str,
    source: &str,
    names: &[(&str, &str, &str)],
) -> Result<Vec<Series>, StoreError> {
    let endpoints: Vec<_> = names.iter().map(|name| name.0.to_owned()).collect();
    let scopes: Vec<_> = names.iter().map(|name| name.1.to_owned()).collect();
    let outcomes: Vec<_> = names.iter().map(|name| name.2.to_owned()).collect();
    sqlx::query_as!(
        Series,
        "INSERT INTO series (environment, source, endpoint, scope, outcome)
         SELECT $1, $2, endpoint, scope, outcome
         FROM unnest($3::text[], $4::text[], $5::text[]) AS name (endpoint, scope, outcome)
         ORDER BY endpoint, scope, outcome
         ON CONFLICT (environment, source, endpoint, scope, outcome) DO UPDATE SET endpoint = excluded.endpoint
         RETURNING id, source, endpoint, scope, outcome",
        environment,
        source,
        &endpoints,
        &scopes,
        &outcomes
    )
    .fetch_all(&mut *tx)
    .await
}
