//! A sign of life that needs no connection of the pool: a drain may hold them all.

use std::sync::Arc;

use sqlx::{Connection as _, PgConnection, postgres::PgConnectOptions};

use super::{Store, StoreError};

/// Asks the database whether it is there, on a connection of its own that it keeps.
#[derive(Debug)]
pub struct Probe {
    options: Arc<PgConnectOptions>,
    kept: Option<PgConnection>,
}

impl Probe {
    /// One for the database of a store.
    #[must_use]
    pub fn new(store: &Store) -> Self {
        Self {
            options: store.pool.connect_options(),
            kept: None,
        }
    }

    /// Asks. A kept connection may have been broken by a restart that is over, so another one is tried.
    ///
    /// # Errors
    /// There is no answer.
    pub async fn ask(&mut self) -> Result<(), StoreError> {
        // Taken, so that one which was given up half-way is never used again.
        if let Some(mut connection) = self.kept.take()
            && ask(&mut connection).await.is_ok()
        {
            self.kept = Some(connection);
            return Ok(());
        }
        let mut connection = PgConnection::connect_with(&self.options).await?;
        ask(&mut connection).await?;
        self.kept = Some(connection);
        Ok(())
    }
}

/// A real query: a pooler would answer anything less by itself.
async fn ask(connection: &mut PgConnection) -> Result<(), StoreError> {
    let mut tx = connection.begin().await?;
    sqlx::raw_sql("SELECT 1").execute(&mut *tx).await?;
    tx.commit().await
}
