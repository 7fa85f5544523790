//! One part of a drain, written in one transaction: minute rows, coverage, and the folds of what they changed.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use super::{
    Folga,
    aggregate::{self, FoldContext},
    sealed_before, sync,
};
use crate::{
    catalog::Environment,
    source::{KeyRead, Labels, SeriesName},
    store::{
        StoreError, Tx,
        coverage::{self, Seen},
        labels,
        minutes::{self, Changed, Rows},
        series::{self, Series},
        settings, worth_retrying,
    },
    time::Minute,
};

/// Samples that one statement takes.
const ROWS_TOGETHER: usize = 100_000;

/// Tries of one chunk, where another one may succeed.
const TRIES: u32 = 3;

/// What was read and not yet written.
#[derive(Debug)]
pub(super) struct Chunk {
    /// What the keys said.
    pub(super) reads: Vec<KeyRead>,
    /// Labels of public identities among them.
    pub(super) labels: Labels,
    /// Minutes all of whose keys have been read while they had to be there.
    pub(super) complete: BTreeSet<Minute>,
    /// Those of them that need no further read.
    pub(super) settled: BTreeSet<Minute>,
    /// The first minute that is not closed.
    pub(super) closed_before: Minute,
}

impl Chunk {
    /// Writes the chunk and tells the minutes of which counts are known to have been lost. Repeating does no harm, so a lost connection, even one lost on commit, is tried again.
    pub(super) async fn write(
        &self,
        folga: &Folga,
        environment: &Environment,
        source: &str,
    ) -> Result<BTreeSet<Minute>, StoreError> {
        let mut tries = 1;
        loop {
            match self.try_write(folga, &environment.name, source).await {
                Err(error) if tries < TRIES && worth_retrying(&error) => {
                    tracing::warn!(tries, %error, "writing a part of a drain failed, trying again");
                    tries += 1;
                }
                result => return result,
            }
        }
    }

    async fn try_write(
        &self,
        folga: &Folga,
        environment: &str,
        source: &str,
    ) -> Result<BTreeSet<Minute>, StoreError> {
        let catalog = &*folga.catalog;
        let mut tx = folga.store.begin_write(environment).await?;
        let pruned_before = settings::pruned_before(&mut tx).await?;
        let sealed_before = sealed_before(catalog, folga.clock.now(), pruned_before);
        let reads: Vec<&KeyRead> = self
            .reads
            .iter()
            .filter(|read| read.minute.hour() >= sealed_before)
            .collect();

        let all_series = ensure_series(&mut tx, environment, source, &reads).await?;
        let changed = join(&mut tx, &all_series, source, &reads).await?;
        let doubtful = self.doubtful(&mut tx, &all_series, source, &changed).await?;
        labels::keep(&mut tx, &self.labels).await?;
        let seen = Seen {
            covered: self.complete.clone(),
            doubtful: doubtful.clone(),
            settled: self.settled.clone(),
        };
        coverage::add(&mut tx, environment, source, &seen).await?;
        let first = reads
            .iter()
            .filter(|read| !read.rows.is_empty())
            .map(|read| read.minute)
            .min();
        coverage::note(&mut tx, environment, source, first, None).await?;

        let mut by_series: BTreeMap<i32, BTreeSet<Minute>> = BTreeMap::new();
        for change in &changed {
            by_series
                .entry(change.series_id)
                .or_default()
                .insert(change.minute);
        }
        let shapes = sync::active_shapes(&mut tx, catalog, environment).await?;
        let context = FoldContext {
            shapes: &shapes,
            series: &all_series,
            zone: catalog.timezone,
            closed_before: self.closed_before,
            sealed_before,
        };
        aggregate::after_change(&mut tx, &context, source, &by_series).await?;
        tx.commit().await?;
        Ok(doubtful)
    }

    /// Minutes of which counts were lost: a key that was read before is gone although its life is not over, or its
    /// counts fell.
    async fn doubtful(
        &self,
        tx: &mut Tx,
        all_series: &[Series],
        source: &str,
        changed: &[Changed],
    ) -> Result<BTreeSet<Minute>, StoreError> {
        let here: HashSet<(Minute, i64)> = self.reads.iter().map(|read| (read.minute, read.stem)).collect();
        let own: Vec<i32> = all_series
            .iter()
            .filter(|series| series.source == source)
            .map(|series| series.id)
            .collect();
        let stored = minutes::stems(tx, &own, &self.complete).await?;
        let gone = stored
            .into_iter()
            .filter(|key| !here.contains(key))
            .map(|(minute, _)| minute);
        let fell = changed
            .iter()
            .filter(|change| change.fell)
            .map(|change| change.minute);
        Ok(gone.chain(fell).collect())
    }
}

/// All series of the environment, those of the chunk among them.
async fn ensure_series(
    tx: &mut Tx,
    environment: &str,
    source: &str,
    reads: &[&KeyRead],
) -> Result<Vec<Series>, StoreError> {
    let mut all = series::of_environment(tx, environment).await?;
    let known: HashSet<(&str, &str, &str)> = names(&all, source).map(|(name, _)| name).collect();
    let mut new: Vec<(&str, &str, &str)> = reads
        .iter()
        .flat_map(|read| &read.rows)
        .map(|row| name(&row.name))
        .filter(|name| !known.contains(name))
        .collect();
    new.sort_unstable();
    new.dedup();
    if !new.is_empty() {
        let added = series::add(tx, environment, source, &new).await?;
        all.extend(added);
    }
    Ok(all)
}

fn name(name: &SeriesName) -> (&str, &str, &str) {
    (&name.endpoint, &name.scope, &name.outcome)
}

fn names<'a>(all: &'a [Series], source: &'a str) -> impl Iterator<Item = ((&'a str, &'a str, &'a str), i32)> {
    all.iter()
        .filter(move |series| series.source == source)
        .map(|series| ((&*series.endpoint, &*series.scope, &*series.outcome), series.id))
}

/// Joins the reads into the minute store.
async fn join(
    tx: &mut Tx,
    all_series: &[Series],
    source: &str,
    reads: &[&KeyRead],
) -> Result<Vec<Changed>, StoreError> {
    let ids: HashMap<(&str, &str, &str), i32> = names(all_series, source).collect();
    let mut changed = Vec::new();
    let mut rows = Rows::default();
    for read in reads {
        for row in &read.rows {
            let Some(series) = ids.get(&name(&row.name)) else {
                continue;
            };
            rows.push(*series, read.minute, read.stem, &row.ids, &row.counts);
        }
        if rows.samples() >= ROWS_TOGETHER {
            changed.extend(minutes::join(tx, &std::mem::take(&mut rows)).await?);
        }
    }
    if !rows.is_empty() {
        changed.extend(minutes::join(tx, &rows).await?);
    }
    Ok(changed)
}
