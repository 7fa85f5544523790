//! What was counted of series, whether a limit names them or not.

use chrono::{DateTime, TimeDelta, Utc};
use chrono_tz::Tz;

use super::{StoreError, Tx};
use crate::{
    fold::Peak,
    time::{Hour, Minute},
};

/// What was counted of one series.
#[derive(Clone, Copy, Debug)]
pub struct Counted {
    /// The series.
    pub series: i32,
    /// All of it.
    pub total: u128,
    /// Local days on which it was.
    pub active_days: u32,
    /// The largest minute of any identity.
    pub peak: Peak,
}

/// What was counted of some series in `[from, to)` without hours that are left out.
///
/// # Errors
/// The database failed.
pub async fn read(
    tx: &mut Tx,
    series: &[i32],
    (from, to): (Hour, Hour),
    left_out: &[DateTime<Utc>],
    zone: Tz,
) -> Result<Vec<Counted>, StoreError> {
    let rows = sqlx::query!(
        r#"SELECT DISTINCT ON (series_id) series_id, hour, peak, peak_minute, peak_id,
               (sum(total) OVER of_series)::text AS "total!",
               (max(day) OVER of_series) AS "active_days!"
           FROM (
               SELECT *, dense_rank() OVER (PARTITION BY series_id ORDER BY (hour AT TIME ZONE $5)::date) AS day
               FROM series_hourly
               WHERE series_id = ANY($1) AND hour >= $2 AND hour < $3 AND hour <> ALL($4)
           ) AS hours
           WINDOW of_series AS (PARTITION BY series_id)
           ORDER BY series_id, peak DESC, hour, peak_minute, peak_id"#,
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
            let at = row.hour + TimeDelta::minutes(row.peak_minute.into());
            Ok(Counted {
                series: row.series_id,
                total: row
                    .total
                    .parse()
                    .map_err(|error| StoreError::Decode(Box::new(error)))?,
                active_days: u32::try_from(row.active_days).unwrap_or(u32::MAX),
                peak: Peak {
                    value: row.peak.max(0).cast_unsigned(),
                    at: Minute::containing(at),
                    identity: Some(row.peak_id),
                },
            })
        })
        .collect()
}
