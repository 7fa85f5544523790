//! Dropping what is older than it is kept, in batches, so that no transaction is long.

use chrono::{DateTime, Utc};

use super::{Store, StoreError, settings};
use crate::time::Day;

const BATCH: i64 = 5_000;

/// Deletes a table's rows whose column lies before a bound, a batch a transaction, and counts them.
macro_rules! in_batches {
    ($store:expr, $table:literal, $column:literal, $before:expr) => {{
        let mut dropped = 0;
        loop {
            let mut tx = $store.begin().await?;
            let batch = sqlx::query!(
                "DELETE FROM "
                    + $table
                    + " WHERE ctid = ANY(ARRAY(SELECT ctid FROM "
                    + $table
                    + " WHERE "
                    + $column
                    + " < $1 LIMIT $2))",
                $before,
                BATCH
            )
            .execute(&mut tx)
            .await?
            .rows_affected();
            tx.commit().await?;
            dropped += batch;
            if batch < BATCH.unsigned_abs() {
                break dropped;
            }
        }
    }};
}

/// How many rows were dropped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Dropped {
    /// Hourly rows of limits, of series and of gauges.
    pub hourly: u64,
    /// Daily rows.
    pub daily: u64,
    /// Hours of coverage.
    pub coverage: u64,
    /// Records of runs.
    pub runs: u64,
    /// Alerts.
    pub alerts: u64,
    /// Rows of the minute store.
    pub minutes: u64,
}

/// Drops aggregates of hours before an instant; a row exactly on the edge is kept. `first_day` is the local day that
/// holds the instant.
///
/// # Errors
/// The database failed.
pub async fn drop_aggregates(
    store: &Store,
    before: DateTime<Utc>,
    first_day: Day,
) -> Result<Dropped, StoreError> {
    let mut dropped = Dropped::default();
    dropped.hourly += in_batches!(store, "hourly", "hour", before);
    dropped.hourly += in_batches!(store, "series_hourly", "hour", before);
    dropped.hourly += in_batches!(store, "gauge_hourly", "hour", before);
    dropped.daily += in_batches!(store, "daily", "day", first_day);
    dropped.coverage += in_batches!(store, "coverage", "hour", before);
    dropped.runs += in_batches!(store, "runs", "started_at", before);
    dropped.alerts += in_batches!(store, "alerts", "created_at", before);
    in_batches!(store, "silences", "until", before);
    Ok(dropped)
}

/// Drops minute rows before an instant. The mark that seals their hours is set first, while no environment is being
/// written, so no drain can add to an hour whose minutes are going.
///
/// # Errors
/// The database failed.
pub async fn drop_minutes(
    store: &Store,
    environments: &[&str],
    before: DateTime<Utc>,
) -> Result<u64, StoreError> {
    let mut tx = store.begin_write_all(environments).await?;
    settings::set_pruned_before(&mut tx, before).await?;
    tx.commit().await?;
    Ok(in_batches!(store, "minute_counts", "minute", before))
}
