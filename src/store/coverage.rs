//! Which minutes can be vouched for.

use std::collections::{BTreeMap, BTreeSet};

use chrono::{DateTime, Utc};

use super::{StoreError, Tx};
use crate::time::{Hour, Minute};

/// The masks of one hour; bit n is minute n.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Masks {
    /// Read to the end while readable.
    pub covered: u64,
    /// Counts are known to have been lost.
    pub doubtful: u64,
    /// Not to be read again.
    pub settled: u64,
}

/// The masks of a source's hours.
pub type Coverage = BTreeMap<Hour, Masks>;

/// What a drain learnt about minutes.
#[derive(Clone, Copy, Debug)]
pub struct Seen<'a> {
    /// Minutes read to the end while readable.
    pub covered: &'a BTreeSet<Minute>,
    /// Minutes of which counts were lost.
    pub doubtful: &'a BTreeSet<Minute>,
    /// Minutes not to be read again.
    pub settled: &'a BTreeSet<Minute>,
}

/// Whether a minute's bit is set.
#[must_use]
pub fn holds(mask: u64, minute: Minute) -> bool {
    mask >> minute.of_hour() & 1 == 1
}

/// Whether a minute is settled that is not before this one.
#[must_use]
pub fn is_settled_from(coverage: &Coverage, minute: Minute) -> bool {
    let (same_hour, shift) = (minute.hour(), minute.of_hour());
    (coverage.range(same_hour..)).any(|(hour, masks)| {
        let settled = if *hour == same_hour {
            masks.settled >> shift
        } else {
            masks.settled
        };
        settled != 0
    })
}

/// The masks of a source's hours in `[from, to)`.
///
/// # Errors
/// The database failed.
pub async fn read(
    tx: &mut Tx,
    environment: &str,
    source: &str,
    from: Hour,
    to: Hour,
) -> Result<Coverage, StoreError> {
    let rows = sqlx::query!(
        "SELECT hour, covered, doubtful, settled FROM coverage
         WHERE environment = $1 AND source = $2 AND hour >= $3 AND hour < $4",
        environment,
        source,
        from.start(),
        to.start()
    )
    .fetch_all(&mut *tx)
    .await?;
    Ok(rows
        .into_iter()
        .map(|row| {
            let masks = Masks {
                covered: row.covered.cast_unsigned(),
                doubtful: row.doubtful.cast_unsigned(),
                settled: row.settled.cast_unsigned(),
            };
            (Hour::containing(row.hour), masks)
        })
        .collect())
}

/// Adds what a drain learnt: masks only gain bits.
///
/// # Errors
/// The database failed.
pub async fn add(tx: &mut Tx, environment: &str, source: &str, seen: &Seen<'_>) -> Result<(), StoreError> {
    let mut hours = Coverage::new();
    for minute in seen.covered {
        hours.entry(minute.hour()).or_default().covered |= 1 << minute.of_hour();
    }
    for minute in seen.doubtful {
        hours.entry(minute.hour()).or_default().doubtful |= 1 << minute.of_hour();
    }
    for minute in seen.settled {
        hours.entry(minute.hour()).or_default().settled |= 1 << minute.of_hour();
    }
    let starts: Vec<_> = hours.keys().map(|hour| hour.start()).collect();
    let column = |mask: fn(&Masks) -> u64| {
        hours
            .values()
            .map(|masks| mask(masks).cast_signed())
            .collect::<Vec<_>>()
    };
    sqlx::query!(
        "INSERT INTO coverage AS stored (environment, source, hour, covered, doubtful, settled)
         SELECT $1, $2, * FROM unnest($3::timestamptz[], $4::bigint[], $5::bigint[], $6::bigint[])
         ON CONFLICT (environment, source, hour) DO UPDATE SET
             covered = stored.covered | excluded.covered,
             doubtful = stored.doubtful | excluded.doubtful,
             settled = stored.settled | excluded.settled",
        environment,
        source,
        &starts,
        &column(|masks| masks.covered),
        &column(|masks| masks.doubtful),
        &column(|masks| masks.settled)
    )
    .execute(&mut *tx)
    .await?;
    Ok(())
}

/// What is known of a source in an environment.
#[derive(Clone, Copy, Debug, Default)]
pub struct SourceState {
    /// The minute of its first sample, from which coverage counts.
    pub first_minute: Option<Minute>,
    /// Gaps before this instant have been reported.
    pub gaps_before: Option<DateTime<Utc>>,
    /// How often a drain has written.
    pub writes: i64,
}

/// Reads what is known of a source.
///
/// # Errors
/// The database failed.
pub async fn state(tx: &mut Tx, environment: &str, source: &str) -> Result<SourceState, StoreError> {
    let row = sqlx::query!(
        "SELECT first_minute, gaps_before, writes FROM source_states WHERE environment = $1 AND source = $2",
        environment,
        source
    )
    .fetch_optional(&mut *tx)
    .await?;
    Ok(row.map_or_else(SourceState::default, |row| SourceState {
        first_minute: row.first_minute.map(Minute::containing),
        gaps_before: row.gaps_before,
        writes: row.writes,
    }))
}

/// Notes that a drain has written, and the earliest sample it brought.
///
/// # Errors
/// The database failed.
pub async fn note_write(
    tx: &mut Tx,
    environment: &str,
    source: &str,
    first_minute: Option<Minute>,
) -> Result<(), StoreError> {
    sqlx::query!(
        "INSERT INTO source_states AS stored (environment, source, first_minute, writes) VALUES ($1, $2, $3, 1)
         ON CONFLICT (environment, source) DO UPDATE SET
             first_minute = least(stored.first_minute, excluded.first_minute),
             writes = stored.writes + 1",
        environment,
        source,
        first_minute.map(Minute::start)
    )
    .execute(&mut *tx)
    .await?;
    Ok(())
}

/// Notes that no drain need report a source's gaps before an instant, where none has reported any: nobody was there.
///
/// # Errors
/// The database failed.
pub async fn begin_gaps(
    tx: &mut Tx,
    environment: &str,
    source: &str,
    before: DateTime<Utc>,
) -> Result<(), StoreError> {
    sqlx::query!(
        "UPDATE source_states SET gaps_before = $3
         WHERE environment = $1 AND source = $2 AND gaps_before IS NULL",
        environment,
        source,
        before
    )
    .execute(&mut *tx)
    .await?;
    Ok(())
}

/// Notes that a source's gaps before an instant have been reported; says before which they had been.
///
/// # Errors
/// The database failed.
pub async fn note_gaps(
    tx: &mut Tx,
    environment: &str,
    source: &str,
    before: DateTime<Utc>,
) -> Result<Option<DateTime<Utc>>, StoreError> {
    let told = sqlx::query_scalar!(
        "SELECT gaps_before FROM source_states WHERE environment = $1 AND source = $2 FOR UPDATE",
        environment,
        source
    )
    .fetch_optional(&mut *tx)
    .await?;
    sqlx::query!(
        "UPDATE source_states SET gaps_before = greatest(gaps_before, $3) WHERE environment = $1 AND source = $2",
        environment,
        source,
        before
    )
    .execute(&mut *tx)
    .await?;
    Ok(told.flatten())
}
