//! Drops what is older than it is kept.

use chrono::TimeDelta;

use super::{Folga, sealed_before, sync};
use crate::{
    store::{
        StoreError,
        retention::{self, Dropped},
        settings,
    },
    time::{day_of, day_start},
};

/// Drops aggregates older than `retention_days` times 24 hours, and minute rows that no window and no late read needs:
/// those older than `minute_retention` whose windows have been folded.
///
/// # Errors
/// The database failed.
pub async fn retain(folga: &Folga) -> Result<Dropped, StoreError> {
    let (catalog, now) = (&*folga.catalog, folga.clock.now());
    let before = now - TimeDelta::hours(24 * i64::from(catalog.retention_days));
    let day = day_of(before, catalog.timezone);
    let first_day = if day_start(day, catalog.timezone) < before {
        day + chrono::Days::new(1)
    } else {
        day
    };
    let mut dropped = retention::drop_aggregates(&folga.store, before, first_day).await?;

    let environments = sync::environment_names(catalog);
    let mut minutes_before = now - catalog.minute_retention;
    let mut tx = folga.store.begin().await?;
    for environment in &environments {
        for active in sync::active_shapes(&mut tx, catalog, environment).await? {
            // Windows that were open at the last fold are folded by the next one, which looks this far back.
            let reach = TimeDelta::minutes(active.shape.window.reach_minutes() + 61);
            if let Some(folded) = active.stored.folded_before {
                minutes_before = minutes_before.min(folded - reach);
            }
        }
    }
    let kept_from = settings::pruned_before(&mut tx).await?;
    tx.rollback().await?;
    dropped.minutes = retention::drop_minutes(&folga.store, &environments, minutes_before).await?;
    let sealed = sealed_before(catalog, now, kept_from.max(minutes_before));
    tracing::info!(
        hourly = dropped.hourly,
        daily = dropped.daily,
        coverage_hours = dropped.coverage,
        runs = dropped.runs,
        minutes = dropped.minutes,
        sealed_before = %sealed.start(),
        "dropped what is older than it is kept"
    );
    Ok(dropped)
}
