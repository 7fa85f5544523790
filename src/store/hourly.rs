//! Hourly aggregates of limit shapes and of series.

use super::{
    StoreError, Tx,
    figures::{Columns, Ragged, Record, figures},
};
use crate::{
    fold::{HourRow, SeriesHour},
    time::Hour,
};

/// Puts hours of shapes in place of what is there.
///
/// # Errors
/// The database failed.
pub async fn put(tx: &mut Tx, rows: &[(i32, HourRow)]) -> Result<(), StoreError> {
    let mut columns = Columns::default();
    let shapes: Vec<_> = rows.iter().map(|(shape, _)| *shape).collect();
    let hours: Vec<_> = rows.iter().map(|(_, row)| row.hour.start()).collect();
    for (_, row) in rows {
        columns.push(&row.figures);
    }
    sqlx::query_file!(
        "src/store/put_hourly.sql",
        &shapes,
        &hours,
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
        &columns.rounded
    )
    .execute(&mut *tx)
    .await?;
    Ok(())
}

/// The hours of some shapes in `[from, to)`, by shape and hour.
///
/// # Errors
/// The database failed.
pub async fn read(
    tx: &mut Tx,
    shapes: &[i32],
    from: Hour,
    to: Hour,
) -> Result<Vec<(i32, HourRow)>, StoreError> {
    let rows = sqlx::query!(
        r#"SELECT shape_id, hour, peak, lower, upper, peak_at, peak_id, total::text AS "total!", identities,
               histogram_values, histogram_windows, histogram_rounded, top_ids, top_peaks, top_at
           FROM hourly WHERE shape_id = ANY($1) AND hour >= $2 AND hour < $3 ORDER BY shape_id, hour"#,
        shapes,
        from.start(),
        to.start()
    )
    .fetch_all(&mut *tx)
    .await?;
    rows.into_iter()
        .map(|row| {
            Ok((
                row.shape_id,
                HourRow {
                    hour: Hour::containing(row.hour),
                    figures: figures!(row)?,
                },
            ))
        })
        .collect()
}

/// Puts hours of series in place of what is there.
///
/// # Errors
/// The database failed.
pub async fn put_series(tx: &mut Tx, rows: &[(i32, SeriesHour)]) -> Result<(), StoreError> {
    let mut identities = Ragged::default();
    let (mut ids, mut totals, mut peaks, mut peak_minutes) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let mut largest = (Vec::new(), Vec::new(), Vec::new());
    for (_, row) in rows {
        let (peak, minute, id) = row.largest();
        largest.0.push(peak);
        largest.1.push(minute);
        largest.2.push(id);
        identities.push(row.identities.len());
        ids.extend_from_slice(&row.identities);
        totals.extend_from_slice(&row.totals);
        peaks.extend_from_slice(&row.peaks);
        peak_minutes.extend_from_slice(&row.peak_minutes);
    }
    let series: Vec<_> = rows.iter().map(|(series, _)| *series).collect();
    let hours: Vec<_> = rows.iter().map(|(_, row)| row.hour.start()).collect();
    let sums: Vec<_> = rows.iter().map(|(_, row)| row.total.to_string()).collect();
    sqlx::query_file!(
        "src/store/put_series_hourly.sql",
        &series,
        &hours,
        &sums,
        &identities.firsts,
        &identities.sizes,
        &ids,
        &totals,
        &peaks,
        &peak_minutes,
        &largest.0,
        &largest.1,
        &largest.2
    )
    .execute(&mut *tx)
    .await?;
    Ok(())
}

/// The hours of `[from, to)` in which a source of an environment has been counted.
///
/// # Errors
/// The database failed.
pub async fn counted(
    tx: &mut Tx,
    environment: &str,
    from: Hour,
    to: Hour,
) -> Result<Vec<(String, Hour)>, StoreError> {
    let rows = sqlx::query!(
        "SELECT DISTINCT series.source, counted.hour
         FROM series JOIN series_hourly AS counted ON counted.series_id = series.id
         WHERE series.environment = $1 AND counted.hour >= $2 AND counted.hour < $3",
        environment,
        from.start(),
        to.start()
    )
    .fetch_all(&mut *tx)
    .await?;
    Ok(rows
        .into_iter()
        .map(|row| (row.source, Hour::containing(row.hour)))
        .collect())
}
