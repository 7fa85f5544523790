//! Reads what drains cost in Redis commands.

use chrono::TimeDelta;

use super::{Folga, targets};
use crate::{
    report::Bill,
    store::{StoreError, runs},
};

/// Commands are counted over so long.
const SPAN: TimeDelta = TimeDelta::days(1);

/// The bill of the catalog's sources.
///
/// # Errors
/// The database failed.
pub async fn read(folga: &Folga) -> Result<Bill, StoreError> {
    let now = folga.clock.now();
    let mut tx = folga.store.begin().await?;
    let lines: Vec<_> = targets(&folga.catalog)
        .map(|(source, environment)| (environment.name.clone(), source.name.clone()))
        .collect();
    let spent = runs::spent(&mut tx, &lines, now - SPAN, now).await?;
    tx.rollback().await?;
    Ok(Bill::new(&spent, folga.catalog.redis.tariff))
}
