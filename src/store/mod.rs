//! Postgres: the minute store, the aggregates and the record of runs.
//!
//! Every statement runs inside an explicit transaction and unnamed, so a transaction pooler may sit in front. Functions
//! borrow the connection; the caller owns the transaction.

pub mod alerts;
pub mod coverage;
pub mod daily;
pub mod delivery;
mod figures;
pub mod gauges;
pub mod hourly;
pub mod labels;
pub mod migrate;
pub mod minutes;
pub mod outbox;
mod probe;
pub mod retention;
pub mod runs;
pub mod series;
pub mod settings;
pub mod shapes;
pub mod silences;
pub mod standings;
mod tx;
pub mod unlimited;

use std::{str::FromStr, time::Duration};

use sqlx::{
    PgPool,
    postgres::{PgConnectOptions, PgPoolOptions},
};

pub use probe::Probe;
pub use tx::Tx;

use crate::catalog::Secret;

/// The error that a database call gives.
pub type StoreError = sqlx::Error;

/// A pool of connections to the database.
#[derive(Clone, Debug)]
pub struct Store {
    pool: PgPool,
}

impl Store {
    /// Opens a pool; connections are made when they are needed.
    ///
    /// # Errors
    /// An address that is none.
    pub fn new(url: &Secret, max_connections: u32, acquire_timeout: Duration) -> Result<Self, StoreError> {
        let options = PgConnectOptions::from_str(url.reveal())?
            .application_name("folga")
            // Poolers refuse start-up parameters they do not know.
            .extra_float_digits(None)
            .statement_cache_capacity(0);
        let pool = PgPoolOptions::new()
            .max_connections(max_connections)
            .acquire_timeout(acquire_timeout)
            .connect_lazy_with(options);
        Ok(Self { pool })
    }

    /// Begins a transaction.
    ///
    /// # Errors
    /// No connection could be had.
    pub async fn begin(&self) -> Result<Tx, StoreError> {
        self.pool.begin().await.map(Tx::new)
    }

    /// Begins a transaction that only reads, all of it from one snapshot.
    ///
    /// # Errors
    /// No connection could be had.
    pub async fn begin_snapshot(&self) -> Result<Tx, StoreError> {
        self.pool
            .begin_with("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
            .await
            .map(Tx::new)
    }

    /// Begins the one writing transaction an environment may have at a time. Folds of one hour from two sources, and
    /// two workers on one source, follow one another and each sees what the other wrote; as the lock is the first
    /// thing taken, writers cannot deadlock. It raises the version of the environment's data.
    ///
    /// # Errors
    /// The database refused or could not be reached.
    pub async fn begin_write(&self, environment: &str) -> Result<Tx, StoreError> {
        self.begin_write_all(&[environment]).await
    }

    /// Begins a transaction that changes what belongs to no environment, or makes the tables.
    ///
    /// # Errors
    /// The database refused or could not be reached.
    pub async fn begin_write_apart(&self) -> Result<Tx, StoreError> {
        let mut tx = self.begin().await?;
        Self::lock(&mut tx, "").await?;
        Ok(tx)
    }

    /// Begins a transaction that is the only writing one of several environments, given in the order of their names.
    ///
    /// # Errors
    /// The database refused or could not be reached.
    pub async fn begin_write_all(&self, environments: &[&str]) -> Result<Tx, StoreError> {
        let mut tx = self.begin().await?;
        for environment in environments {
            Self::lock(&mut tx, environment).await?;
            settings::raise_version(&mut tx, environment).await?;
        }
        Ok(tx)
    }

    async fn lock(tx: &mut Tx, environment: &str) -> Result<(), StoreError> {
        sqlx::query!(
            "SELECT pg_advisory_xact_lock(hashtextextended('folga ' || $1, 0))",
            environment
        )
        .fetch_one(&mut *tx)
        .await?;
        Ok(())
    }

    /// Closes all connections.
    pub async fn close(&self) {
        self.pool.close().await;
    }
}

/// Whether the same work may succeed when tried again at once: the transaction lost against another one, or its
/// connection broke, perhaps after the commit. All work here may be repeated without harm.
#[must_use]
pub fn worth_retrying(error: &StoreError) -> bool {
    match error {
        StoreError::Io(_) => true,
        StoreError::Database(error) => {
            // Serialization failure, deadlock, and the server's own shutdown of the session.
            error
                .code()
                .is_some_and(|code| matches!(&*code, "40001" | "40P01" | "57P01"))
        }
        _ => false,
    }
}

/// Whether the database itself is out of reach: it is down, starts or stops, or there are no connections left.
#[must_use]
pub fn is_out_of_reach(error: &StoreError) -> bool {
    match error {
        StoreError::Io(_) | StoreError::PoolTimedOut | StoreError::PoolClosed => true,
        StoreError::Database(error) => {
            // Connection exceptions, too many connections, operator intervention.
            let is_own = |code: &str| code.starts_with("08") || code.starts_with("57P") || code == "53300";
            error.code().is_some_and(|code| is_own(&code))
        }
        _ => false,
    }
}

/// An error in words that name the remedy.
#[must_use]
pub fn explain(error: &StoreError) -> String {
    match error {
        StoreError::PoolTimedOut => {
            "no connection to Postgres could be had in time: check that it runs and is \
             reachable, and that `max_connections` in [postgres] is enough"
                .to_owned()
        }
        // The library would add a line number of the server's source.
        StoreError::Database(error) => format!("Postgres: {}", error.message()),
        StoreError::Io(error) => format!("the connection to Postgres broke ({error}): check that it runs"),
        other => format!("Postgres: {other}"),
    }
}

/// An error on its way to somebody who reads words only.
#[must_use]
pub fn in_words(error: &StoreError) -> anyhow::Error {
    if is_out_of_reach(error) {
        Unusable(explain(error)).into()
    } else {
        anyhow::Error::msg(explain(error))
    }
}

/// Postgres can't be used, whatever one would do with it.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct Unusable(pub String);
