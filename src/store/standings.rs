//! How limits, and everything else that is alerted, stand.

use std::collections::HashMap;

use chrono::{DateTime, Utc};

use super::{StoreError, Tx};
use crate::{
    alert::{High, Level, Standing},
    time::Minute,
};

/// How one thing stands.
///
/// # Errors
/// The database failed.
pub async fn of(tx: &mut Tx, environment: &str, key: &str) -> Result<Standing, StoreError> {
    Ok(read(tx, environment, Some(key))
        .await?
        .remove(key)
        .unwrap_or_default())
}

/// How the limits of an environment, and everything else of it, stand; by key. Of one thing, or of all.
///
/// # Errors
/// The database failed.
pub async fn read(
    tx: &mut Tx,
    environment: &str,
    key: Option<&str>,
) -> Result<HashMap<String, Standing>, StoreError> {
    let rows = sqlx::query!(
        "SELECT alert_key, level, since, last_high, peak, peak_at, judged_before FROM alert_states
         WHERE environment = $1 AND ($2::text IS NULL OR alert_key = $2)",
        environment,
        key
    )
    .fetch_all(&mut *tx)
    .await?;
    Ok(rows
        .into_iter()
        .map(|row| {
            let peak = row.peak.zip(row.peak_at).map(|(count, at)| High {
                minute: Minute::containing(at),
                count: count.max(0).cast_unsigned(),
            });
            let standing = Standing {
                level: Level::of_name(&row.level),
                since: row.since.map(Minute::containing),
                last_high: row.last_high.map(Minute::containing),
                peak,
                judged_before: row.judged_before.map(Minute::containing),
            };
            (row.alert_key, standing)
        })
        .collect())
}

/// Notes how things stand.
///
/// # Errors
/// The database failed.
pub async fn put(tx: &mut Tx, environment: &str, standings: &[(String, Standing)]) -> Result<(), StoreError> {
    if standings.is_empty() {
        return Ok(());
    }
    let column = |value: fn(&Standing) -> Option<Minute>| {
        let values = standings
            .iter()
            .map(|(_, standing)| value(standing).map(Minute::start));
        values.collect::<Vec<Option<DateTime<Utc>>>>()
    };
    let keys: Vec<_> = standings.iter().map(|(key, _)| key.clone()).collect();
    let levels: Vec<_> = standings
        .iter()
        .map(|(_, own)| own.level.name().to_owned())
        .collect();
    let peaks: Vec<Option<i64>> = (standings.iter())
        .map(|(_, own)| own.peak.map(|peak| i64::try_from(peak.count).unwrap_or(i64::MAX)))
        .collect();
    sqlx::query!(
        "INSERT INTO alert_states (environment, alert_key, level, since, last_high, peak, peak_at, judged_before)
         SELECT $1, * FROM unnest($2::text[], $3::text[], $4::timestamptz[], $5::timestamptz[], $6::bigint[],
             $7::timestamptz[], $8::timestamptz[])
         ON CONFLICT (environment, alert_key) DO UPDATE SET
             level = excluded.level, since = excluded.since, last_high = excluded.last_high, peak = excluded.peak,
             peak_at = excluded.peak_at, judged_before = excluded.judged_before",
        environment,
        &keys,
        &levels,
        &column(|own| own.since) as _,
        &column(|own| own.last_high) as _,
        &peaks as _,
        &column(|own| own.peak.map(|peak| peak.minute)) as _,
        &column(|own| own.judged_before) as _
    )
    .execute(&mut *tx)
    .await?;
    Ok(())
}

/// Forgets how something stands.
///
/// # Errors
/// The database failed.
pub async fn forget(tx: &mut Tx, environment: &str, key: &str) -> Result<(), StoreError> {
    sqlx::query!(
        "DELETE FROM alert_states WHERE environment = $1 AND alert_key = $2",
        environment,
        key
    )
    .execute(&mut *tx)
    .await?;
    Ok(())
}
