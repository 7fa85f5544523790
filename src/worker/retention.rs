//! Drops what is older than it is kept.

use chrono::TimeDelta;

use super::{Folga, sync};
use crate::{
    store::{
        StoreError, daily, labels,
        retention::{self, Dropped},
    },
    time::day_of,
};

/// Drops minute rows that are older than `minute_retention`, when their windows have been folded.
///
/// # Errors
/// The database failed.
pub async fn drop_minutes(folga: &Folga) -> Result<u64, StoreError> {
    let (catalog, now) = (&*folga.catalog, folga.clock.now());
    let environments = sync::environment_names(catalog);
    for environment in &environments {
        sync::close_windows(folga, environment).await?;
    }
    retention::drop_minutes(&folga.store, &environments, now - catalog.minute_retention).await
}

/// Drops aggregates older than `retention_days` times 24 hours, and minute rows that no window and no late read needs:
/// those older than `minute_retention`, when their windows have been folded.
///
/// # Errors
/// The database failed.
pub async fn retain(folga: &Folga) -> Result<Dropped, StoreError> {
    let (catalog, now) = (&*folga.catalog, folga.clock.now());
    let before = now - TimeDelta::hours(24 * i64::from(catalog.retention_days));
    let environments = sync::environment_names(catalog);
    let minutes = drop_minutes(folga).await?;
    let day = day_of(before, catalog.timezone);
    let mut dropped = retention::drop_aggregates(&folga.store, before, day).await?;
    dropped.minutes = minutes;
    let mut tx = folga.store.begin_write_all(&environments).await?;
    labels::forget(&mut tx, &catalog.public_scopes(), Some(before.date_naive())).await?;
    daily::trim(&mut tx, day, catalog.timezone).await?;
    tx.commit().await?;
    tracing::info!(
        hourly = dropped.hourly,
        daily = dropped.daily,
        coverage_hours = dropped.coverage,
        runs = dropped.runs,
        alerts = dropped.alerts,
        minutes = dropped.minutes,
        "dropped what is older than it is kept"
    );
    Ok(dropped)
}
