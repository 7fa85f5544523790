//! Reads how alerts stand, from one snapshot of the database.

use super::{Folga, post::PostStanding};
use crate::{
    report::{Alerts, DeliveryView},
    store::{StoreError, alerts, silences},
};

/// Alerts that are shown.
const MOST: i64 = 50;

/// How alerts stand now: those of one environment and of what concerns all, or of everything.
///
/// # Errors
/// The database failed.
pub async fn read(folga: &Folga, environment: Option<&str>) -> Result<Alerts, StoreError> {
    let now = folga.clock.now();
    let mut tx = folga.store.begin_snapshot().await?;
    let post = PostStanding::read(&mut tx, folga.catalog.ntfy.as_ref(), now).await?;
    let alerts = Alerts {
        standings: alerts::alerted(&mut tx, environment).await?,
        silences: silences::holding(&mut tx, environment, now).await?,
        delivery: DeliveryView {
            configured: folga.catalog.ntfy.is_some(),
            waiting: post.waiting,
            closed_until: post.closed_until,
            failures: post.failures,
            error: post.last_error,
        },
        alerts: alerts::recent(&mut tx, environment, MOST).await?,
    };
    tx.rollback().await?;
    Ok(alerts)
}
