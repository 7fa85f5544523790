//! Daily aggregates: hourly ones merged over local days.

use std::collections::{BTreeMap, BTreeSet};

use chrono_tz::Tz;

use super::{
    StoreError, Tx,
    figures::{Columns, Record, bigint, figures},
    hourly,
};
use crate::{
    fold::Merged,
    time::{Day, Hour, day_end, day_of, day_start},
};

/// A shape and a local day.
pub type ShapeDay = (i32, Day);

/// Derives days anew from their hours. An hour belongs to the local day that holds its start.
///
/// # Errors
/// The database failed.
pub async fn derive(tx: &mut Tx, days: &BTreeSet<ShapeDay>, zone: Tz) -> Result<(), StoreError> {
    let Some(first) = days.iter().map(|(_, day)| *day).min() else {
        return Ok(());
    };
    let last = days.iter().map(|(_, day)| *day).max().unwrap_or(first);
    let shapes: BTreeSet<_> = days.iter().map(|(shape, _)| *shape).collect();
    let shapes: Vec<_> = shapes.into_iter().collect();
    let (from, to) = (
        Hour::containing(day_start(first, zone)),
        Hour::containing(day_end(last, zone)).next(),
    );
    let mut hours: BTreeMap<ShapeDay, Vec<_>> = BTreeMap::new();
    for (shape, row) in hourly::read(tx, &shapes, from, to).await? {
        let day = (shape, day_of(row.hour.start(), zone));
        if days.contains(&day) {
            hours.entry(day).or_default().push(row);
        }
    }
    let rows: Vec<_> = hours
        .into_iter()
        .map(|(day, hours)| (day, Merged::of_hours(&hours, zone)))
        .collect();
    put(tx, &rows).await
}

async fn put(tx: &mut Tx, rows: &[(ShapeDay, Merged)]) -> Result<(), StoreError> {
    let mut columns = Columns::default();
    let shapes: Vec<_> = rows.iter().map(|((shape, _), _)| *shape).collect();
    let days: Vec<_> = rows.iter().map(|((_, day), _)| *day).collect();
    let mut by_hour = Vec::with_capacity(rows.len() * 24);
    let active: Vec<_> = rows
        .iter()
        .map(|(_, merged)| merged.active_hours.cast_signed())
        .collect();
    for (_, merged) in rows {
        columns.push(&merged.figures);
        by_hour.extend(merged.by_hour.iter().map(|peak| peak.map(bigint)));
    }
    sqlx::query_file!(
        "src/store/put_daily.sql",
        &shapes,
        &days,
        &columns.peaks as _,
        &columns.lowers,
        &columns.uppers,
        &columns.peak_ats as _,
        &columns.peak_ids as _,
        &columns.totals,
        &columns.identities,
        &columns.histograms.firsts,
        &columns.histograms.sizes,
        &columns.histogram_values,
        &columns.histogram_windows,
        &columns.tops.firsts,
        &columns.tops.sizes,
        &columns.top_ids,
        &columns.top_peaks,
        &columns.top_ats,
        &by_hour as _,
        &active
    )
    .execute(&mut *tx)
    .await?;
    Ok(())
}

/// The days of some shapes from one to another, both included, by shape and day.
///
/// # Errors
/// The database failed.
pub async fn read(
    tx: &mut Tx,
    shapes: &[i32],
    from: Day,
    to: Day,
) -> Result<Vec<(i32, Day, Merged)>, StoreError> {
    let rows = sqlx::query!(
        r#"SELECT shape_id, day, peak, lower, upper, peak_at, peak_id, total::text AS "total!", identities,
               histogram_values, histogram_windows, top_ids, top_peaks, top_at,
               active_hours, by_hour AS "by_hour: Vec<Option<i64>>"
           FROM daily WHERE shape_id = ANY($1) AND day BETWEEN $2 AND $3 ORDER BY shape_id, day"#,
        shapes,
        from,
        to
    )
    .fetch_all(&mut *tx)
    .await?;
    rows.into_iter()
        .map(|row| {
            let mut by_hour = [None; 24];
            for (slot, peak) in by_hour.iter_mut().zip(row.by_hour) {
                *slot = peak.map(|peak| peak.max(0).cast_unsigned());
            }
            let active_hours = row.active_hours.max(0).cast_unsigned();
            Ok((
                row.shape_id,
                row.day,
                Merged {
                    figures: figures!(row)?,
                    by_hour,
                    active_hours,
                },
            ))
        })
        .collect()
}

/// Derives a day anew of which hours have been dropped.
///
/// # Errors
/// The database failed.
pub async fn trim(tx: &mut Tx, day: Day, zone: Tz) -> Result<(), StoreError> {
    let shapes = sqlx::query_scalar!("DELETE FROM daily WHERE day = $1 RETURNING shape_id", day)
        .fetch_all(&mut *tx)
        .await?;
    derive(tx, &shapes.into_iter().map(|shape| (shape, day)).collect(), zone).await
}

/// Derives every day anew, for a zone that has changed.
///
/// # Errors
/// The database failed.
pub async fn rebuild(tx: &mut Tx, zone: Tz) -> Result<(), StoreError> {
    sqlx::query!("DELETE FROM daily").execute(&mut *tx).await?;
    let hours = sqlx::query!("SELECT shape_id, hour FROM hourly")
        .fetch_all(&mut *tx)
        .await?;
    let mut by_shape: BTreeMap<i32, BTreeSet<ShapeDay>> = BTreeMap::new();
    for row in hours {
        by_shape
            .entry(row.shape_id)
            .or_default()
            .insert((row.shape_id, day_of(row.hour, zone)));
    }
    // A shape at a time, so that memory holds one shape's history only.
    for days in by_shape.values() {
        derive(tx, days, zone).await?;
    }
    Ok(())
}
