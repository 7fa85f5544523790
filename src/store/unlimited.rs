//! What was counted of series, whether a limit names them or not.

use chrono::{DateTime, TimeDelta, Utc};
use chrono_tz::Tz;

use super::{StoreError, Tx};
use crate::{
    fold::Peak,
    time::{Day, Hour, Minute},
};

/// All that was counted of one series.
#[derive(Clone, Debug)]
pub struct Counted {
    /// The series.
    pub series: i32,
    /// All of it.
    pub total: u128,
    /// The local days on which it was.
    pub days: Vec<Day>,
}

/// What was counted of some series in `[from, to)` without hours that are left out.
///
/// # Errors
/// The database failed.
pub async fn totals(
    tx: &mut Tx,
    series: &[i32],
    (from, to): (Hour, Hour),
    left_out: &[DateTime<Utc>],
    zone: Tz,
) -> Result<Vec<Counted>, StoreError> {
    let rows = sqlx::query!(
        r#"SELECT series_id, sum(total)::text AS "total!",
               array_agg(DISTINCT (hour AT TIME ZONE $5)::date) AS "days!: Vec<Day>"
           FROM series_hourly
           WHERE series_id = ANY($1) AND hour >= $2 AND hour < $3 AND hour <> ALL($4)
           GROUP BY series_id"#,
        series,
        from.start(),
        to.start(),
        left_out,
        zone.name()
    )
    .fetch_all(&mut *tx)
    .await?;
    rows.into_iter()
        .map(|row| {
            Ok(Counted {
                series: row.series_id,
                total: row
                    .total
                    .parse()
                    .map_err(|error| StoreError::Decode(Box::new(error)))?,
                days: row.days,
            })
        })
        .collect()
}

/// The largest minute of any identity of some series, in the same hours.
///
/// # Errors
/// The database failed.
pub async fn peaks(
    tx: &mut Tx,
    series: &[i32],
    (from, to): (Hour, Hour),
    left_out: &[DateTime<Utc>],
) -> Result<Vec<(i32, Peak)>, StoreError> {
    let rows = sqlx::query!(
        "SELECT DISTINCT ON (series_id) series_id, hour, peak, peak_minute, peak_id
         FROM series_hourly
         WHERE series_id = ANY($1) AND hour >= $2 AND hour < $3 AND hour <> ALL($4)
         ORDER BY series_id, peak DESC, hour, peak_minute, peak_id",
        series,
        from.start(),
        to.start(),
        left_out
    )
    .fetch_all(&mut *tx)
    .await?;
    let peak = |hour: DateTime<Utc>, minute: i16, value: i64, id: i64| Peak {
        value: value.max(0).cast_unsigned(),
        at: Minute::containing(hour + TimeDelta::minutes(minute.into())),
        identity: Some(id),
    };
    Ok(rows
        .into_iter()
        .map(|row| {
            let peak = peak(row.hour, row.peak_minute, row.peak, row.peak_id);
            (row.series_id, peak)
        })
        .collect())
}
