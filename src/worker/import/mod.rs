//! Brings what a file has counted into the database, in the order of time and a day at a time.
//!
//! An hour whose windows the minute store holds is joined and folded again like after a drain. Any older one that nobody
//! has counted is folded from the file alone: its minutes are joined into the minute store, with those that its windows
//! reach back over, and dropped again when they have been folded, all in one transaction. Aggregates, coverage and the
//! minutes that are left change together, so that an import that ends early leaves whole days, and the same file brings
//! the rest.

mod chunk;
mod imported;
mod sealed;

use anyhow::Context as _;
use chrono::{DateTime, Utc};
use tokio::task::spawn_blocking;

pub use imported::Imported;

use self::chunk::{Chunk, Place};
use super::{Folga, drain::tell_withheld, retention};
use crate::{
    import::{Checks, Part, Reading, Rows, Whole},
    store::{in_words, labels},
    time::Hour,
};

/// Hours that one transaction writes, unless there is nothing in between.
const HOURS_TOGETHER: i64 = 24;

/// Samples that one statement takes.
const SAMPLES_TOGETHER: usize = 100_000;

/// Imports a file. `progress` is told how many samples have been written, and of how many.
///
/// # Errors
/// The file can't be read, the database failed, or it changed in a way that makes the file's hours others.
pub async fn import(folga: &Folga, rows: Rows, progress: impl Fn(u64, u64)) -> anyhow::Result<Imported> {
    // What is older than minutes are kept is folded and gone: from here on it is clear which hours are sealed.
    retention::drop_minutes(folga)
        .await
        .map_err(|error| in_words(&error))?;
    let (sealed, pruned_before) = sealed::read(folga).await.map_err(|error| in_words(&error))?;
    let checks = Checks::new(
        folga.catalog.clone(),
        folga.identities.clone(),
        folga.clock.now(),
        sealed,
    );
    let mut whole = read(folga, Reading::new(rows, checks)).await?;
    tell_withheld(&whole.met);
    if !whole.spans.is_empty() {
        write(folga, &mut whole, pruned_before, progress).await?;
    }
    let imported = Imported::new(&folga.catalog, whole);
    tracing::info!(rows = imported.rows(), "imported");
    Ok(imported)
}

/// Reads all of it. A pipe may have nothing to say for long, so a thread of its own waits.
async fn read(folga: &Folga, mut reading: Reading) -> anyhow::Result<Whole> {
    loop {
        let part: std::io::Result<Part>;
        (reading, part) = spawn_blocking(move || {
            let part = reading.part();
            (reading, part)
        })
        .await?;
        let Part { labels, is_last } = part.context("reading the file")?;
        if let Some((labels, day)) = labels {
            let keep = async {
                let mut tx = folga.store.begin().await?;
                labels::keep(&mut tx, &labels, day).await?;
                tx.commit().await
            };
            keep.await.map_err(|error| in_words(&error))?;
        }
        if is_last {
            return spawn_blocking(|| reading.finish())
                .await?
                .context("sorting the file");
        }
    }
}

async fn write(
    folga: &Folga,
    whole: &mut Whole,
    pruned_before: DateTime<Utc>,
    progress: impl Fn(u64, u64),
) -> anyhow::Result<()> {
    let mut ids = vec![None; whole.names.len()];
    let mut since: Option<(u32, Hour)> = None;
    while let Some(next) = whole.sorted.peek() {
        let environment = next.environment;
        let from = next.minute.hour();
        let past = Hour::from_index(from.index() + HOURS_TOGETHER);
        let place = Place {
            folga,
            names: &whole.names,
            spans: &whole.spans,
            environment: environment as usize,
            sealed: &whole.sealed[environment as usize],
            pruned_before,
        };
        let mut chunk = Chunk::begin(place, &mut ids, from..past).await?;
        loop {
            let samples = whole
                .sorted
                .take(environment, past.first_minute(), SAMPLES_TOGETHER)
                .context("reading the sorted file")?;
            if samples.is_empty() {
                break;
            }
            chunk.join(&samples).await.map_err(|error| in_words(&error))?;
            let (done, all) = whole.sorted.progress();
            progress(done, all);
        }
        // What nothing was counted in belongs to what stands before it.
        let vouched_from = since.filter(|(own, _)| *own == environment).map(|(_, hour)| hour);
        let next = whole.sorted.peek().filter(|next| next.environment == environment);
        let next = next.map(|sample| sample.minute.hour());
        chunk
            .finish(vouched_from, next)
            .await
            .map_err(|error| in_words(&error))?;
        since = next.map(|hour| (environment, hour));
    }
    Ok(())
}
