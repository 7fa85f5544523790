//! The minute store: a join on a lattice. Whatever is written, a stored count is the largest ever read for it.

use std::collections::{BTreeMap, BTreeSet};

use chrono::{DateTime, Utc};
use futures_util::{Stream, StreamExt};

use super::{StoreError, Tx};
use crate::time::Minute;

/// The stem of a row that an import brought: it stands for all keys of its series and minute. What was read of them from
/// Redis may be the same requests, so of each identity the larger count holds, whichever came first: such a row counts
/// by what it has more than all others.
pub const IMPORTED: i64 = 0;

/// Rows to join into the store: row n has `sizes[n]` of the flat `ids` and `counts`, which spares one array per row.
#[derive(Debug, Default)]
pub struct Rows {
    series: Vec<i32>,
    minutes: Vec<DateTime<Utc>>,
    stems: Vec<i64>,
    sizes: Vec<i32>,
    firsts: Vec<i32>,
    ids: Vec<i64>,
    counts: Vec<i64>,
}

/// A minute of a series whose counts a join has changed.
#[derive(Clone, Copy, Debug)]
pub struct Changed {
    /// The series.
    pub series_id: i32,
    /// The minute.
    pub minute: Minute,
    /// Less was read than had been read before: counts were lost at the producer.
    pub fell: bool,
}

impl Rows {
    /// Adds a row. `ids` ascend without repetition.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_possible_wrap,
        reason = "batches are far below 2^31"
    )]
    pub fn push(&mut self, series_id: i32, minute: Minute, stem: i64, ids: &[i64], counts: &[i64]) {
        self.series.push(series_id);
        self.minutes.push(minute.start());
        self.stems.push(stem);
        self.sizes.push(ids.len() as i32);
        self.firsts.push(self.ids.len() as i32 + 1);
        self.ids.extend_from_slice(ids);
        self.counts.extend_from_slice(counts);
    }

    /// Number of samples.
    #[must_use]
    pub fn samples(&self) -> usize {
        self.ids.len()
    }

    /// Whether there are no rows.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.series.is_empty()
    }
}

/// Joins rows into the store. Rows that bring nothing new are left alone and not returned. Only where nothing was
/// stored since the rows were read does a smaller count tell of a loss.
///
/// # Errors
/// The database failed.
pub async fn join(tx: &mut Tx, rows: &Rows, overtaken: bool) -> Result<Vec<Changed>, StoreError> {
    let changed = sqlx::query_file!(
        "src/store/join.sql",
        &rows.series,
        &rows.minutes,
        &rows.stems,
        &rows.sizes,
        &rows.firsts,
        &rows.ids,
        &rows.counts,
        !overtaken
    )
    .fetch_all(&mut *tx)
    .await?;
    Ok(changed
        .into_iter()
        .map(|row| Changed {
            series_id: row.series_id,
            minute: Minute::containing(row.minute),
            fell: row.fell,
        })
        .collect())
}

/// What names a row of the store: series, minute and stem.
pub type RowKey = (i32, Minute, i64);

/// The rows stored for some minutes of some series, imported ones apart.
///
/// # Errors
/// The database failed.
pub async fn keys(
    tx: &mut Tx,
    series: &[i32],
    minutes: &BTreeSet<Minute>,
) -> Result<Vec<RowKey>, StoreError> {
    let minutes: Vec<_> = minutes.iter().map(|minute| minute.start()).collect();
    let rows = sqlx::query!(
        "SELECT series_id, minute, stem FROM minute_counts
         WHERE series_id = ANY($1) AND minute = ANY($2) AND stem <> $3",
        series,
        &minutes,
        IMPORTED
    )
    .fetch_all(&mut *tx)
    .await?;
    Ok(rows
        .into_iter()
        .map(|row| (row.series_id, Minute::containing(row.minute), row.stem))
        .collect())
}

/// The keys of some series whose last stored minute held more identities than `size`.
///
/// # Errors
/// The database failed.
pub async fn larger_than(
    tx: &mut Tx,
    series: &[i32],
    since: Minute,
    size: i64,
) -> Result<Vec<i64>, StoreError> {
    sqlx::query_scalar!(
        "SELECT stem FROM (
             SELECT DISTINCT ON (stem) stem, sum(size) AS size FROM minute_counts
             WHERE series_id = ANY($1) AND minute >= $2
             GROUP BY stem, minute ORDER BY stem, minute DESC
         ) AS last
         WHERE size > $3",
        series,
        since.start(),
        size
    )
    .fetch_all(&mut *tx)
    .await
}

/// One stored row, on its way into a fold.
#[derive(Debug)]
pub struct MinuteRow {
    /// The series.
    pub series_id: i32,
    /// The minute.
    pub minute: Minute,
    /// Identities, ascending.
    pub ids: Vec<i64>,
    /// Their counts.
    pub counts: Vec<i64>,
}

/// Which minutes of a series to read: from the first up to, not including, the second.
pub type Span = (i32, Minute, Minute);

/// Streams the rows of some spans, minute by minute. The spans of one series do not overlap.
pub fn read<'tx>(
    tx: &'tx mut Tx,
    spans: &[Span],
) -> impl Stream<Item = Result<MinuteRow, StoreError>> + use<'tx> {
    let series: Vec<_> = spans.iter().map(|span| span.0).collect();
    let from: Vec<_> = spans.iter().map(|span| span.1.start()).collect();
    let to: Vec<_> = spans.iter().map(|span| span.2.start()).collect();
    sqlx::query_file!(
        "src/store/read_minutes.sql",
        &series as _,
        &from as _,
        &to as _,
        IMPORTED
    )
    .fetch(&mut *tx)
    .map(|row| {
        row.map(|row| MinuteRow {
            series_id: row.series_id,
            minute: Minute::containing(row.minute),
            ids: row.ids,
            counts: row.counts,
        })
    })
}

/// The first stored minute of some series.
///
/// # Errors
/// The database failed.
pub async fn first(tx: &mut Tx, series: &[i32]) -> Result<Option<Minute>, StoreError> {
    let first = sqlx::query_scalar!(
        "SELECT min(minute) FROM minute_counts WHERE series_id = ANY($1)",
        series
    )
    .fetch_one(&mut *tx)
    .await?;
    Ok(first.map(Minute::containing))
}

/// What some series counted in some minutes, by minute.
///
/// # Errors
/// The database failed.
pub async fn totals(
    tx: &mut Tx,
    series: &[i32],
    minutes: &BTreeSet<Minute>,
) -> Result<BTreeMap<Minute, u128>, StoreError> {
    let minutes: Vec<_> = minutes.iter().map(|minute| minute.start()).collect();
    let rows = sqlx::query_file!("src/store/minute_totals.sql", series, &minutes, IMPORTED)
        .fetch_all(&mut *tx)
        .await?;
    rows.into_iter()
        .map(|row| {
            let total = row
                .total
                .parse()
                .map_err(|error| StoreError::Decode(Box::new(error)))?;
            Ok((Minute::containing(row.minute), total))
        })
        .collect()
}

/// Drops what imports brought of some series before an instant: it has been folded and is older than minutes are kept.
///
/// # Errors
/// The database failed.
pub async fn drop_imported(tx: &mut Tx, series: &[i32], before: DateTime<Utc>) -> Result<(), StoreError> {
    sqlx::query!(
        "DELETE FROM minute_counts WHERE series_id = ANY($1) AND minute < $2 AND stem = $3",
        series,
        before,
        IMPORTED
    )
    .execute(&mut *tx)
    .await?;
    Ok(())
}
