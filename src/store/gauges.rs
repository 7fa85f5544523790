//! Hourly samples of gauges.

use std::collections::BTreeMap;

use super::{StoreError, Tx, figures::Ragged};
use crate::{
    fold::{GaugeHour, Samples},
    time::Hour,
};

/// Puts hours of gauges in place of what is there.
///
/// # Errors
/// The database failed.
pub async fn put(tx: &mut Tx, rows: &[(i32, GaugeHour)]) -> Result<(), StoreError> {
    let mut slices = Ragged::default();
    let mut all: Vec<(i64, Samples)> = Vec::new();
    for (_, row) in rows {
        slices.push(row.identities.len());
        all.extend_from_slice(&row.identities);
    }
    let series: Vec<_> = rows.iter().map(|(series, _)| *series).collect();
    let hours: Vec<_> = rows.iter().map(|(_, row)| row.hour.start()).collect();
    let column = |value: fn(&Samples) -> i64| all.iter().map(|(_, own)| value(own)).collect::<Vec<_>>();
    let ids: Vec<_> = all.iter().map(|(id, _)| *id).collect();
    let last_minutes: Vec<_> = (all.iter())
        .map(|(_, own)| i16::from(own.last_at.of_hour()))
        .collect();
    sqlx::query_file!(
        "src/store/put_gauge_hourly.sql",
        &series,
        &hours,
        &slices.firsts,
        &slices.sizes,
        &ids,
        &column(|own| own.min),
        &column(|own| own.max),
        &column(|own| own.last),
        &last_minutes,
        &column(|own| own.samples)
    )
    .execute(&mut *tx)
    .await?;
    Ok(())
}

/// What was sampled of some series in the hours of `[from, to)`, all identities together.
///
/// # Errors
/// The database failed.
pub async fn read(
    tx: &mut Tx,
    series: &[i32],
    from: Hour,
    to: Hour,
) -> Result<BTreeMap<Hour, Samples>, StoreError> {
    let rows = sqlx::query!(
        r#"SELECT hour, min AS "min!", max AS "max!", last AS "last!", last_minute AS "last_minute!",
               own.samples AS "samples!"
           FROM gauge_hourly
           CROSS JOIN unnest(mins, maxs, lasts, last_minutes, gauge_hourly.samples)
               AS own (min, max, last, last_minute, samples)
           WHERE series_id = ANY($1) AND hour >= $2 AND hour < $3"#,
        series,
        from.start(),
        to.start()
    )
    .fetch_all(&mut *tx)
    .await?;
    let mut hours: BTreeMap<Hour, Samples> = BTreeMap::new();
    for row in rows {
        let hour = Hour::containing(row.hour);
        let own = Samples {
            min: row.min,
            max: row.max,
            last: row.last,
            last_at: hour.first_minute().plus(row.last_minute.into()),
            samples: row.samples,
        };
        (hours.entry(hour))
            .and_modify(|all| *all = all.with(own))
            .or_insert(own);
    }
    Ok(hours)
}
