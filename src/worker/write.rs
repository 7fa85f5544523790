//! Writes what a drain reads: minute rows, coverage and the folds of what changed, in one transaction.

use std::{
    collections::{BTreeSet, HashMap, HashSet},
    time::{Duration, Instant},
};

use chrono::{DateTime, Utc};

use super::{
    Folga,
    aggregate::{self, Changes, FoldContext},
    findings, gaps,
    judge::Judge,
    sealed_before, sync,
};
use crate::{
    alert::service_words::Place,
    fold::least,
    source::{KeyRead, Labels, Membership, SeriesName},
    store::{
        StoreError, Tx,
        coverage::{self, Seen, holds},
        labels,
        minutes::{self, RowKey, Rows},
        series::{self, Series},
        settings, shapes, worth_retrying,
    },
    time::{Hour, Minute},
};

/// Samples that one statement takes.
const ROWS_TOGETHER: usize = 100_000;

/// Tries of one transaction, where another one may succeed.
const TRIES: u32 = 3;

/// Whose keys are written.
#[derive(Clone, Copy)]
pub(super) struct Origin<'a> {
    pub(super) folga: &'a Folga,
    pub(super) environment: &'a str,
    pub(super) source: &'a str,
    /// How often the source had been written before it was read.
    pub(super) writes: i64,
}

/// Keys that were read and not yet written.
#[derive(Debug, Default)]
pub(super) struct Batch {
    /// What they said.
    pub(super) reads: Vec<KeyRead>,
    /// Labels of public identities among them.
    pub(super) labels: Labels,
}

/// What a drain knows at its end.
#[derive(Debug)]
pub(super) struct Closing {
    /// Minutes all of whose keys have been read while they had to be there.
    pub(super) complete: BTreeSet<Minute>,
    /// Those of them that need no further read.
    pub(super) settled: BTreeSet<Minute>,
    /// Those of them that were settled before they were read, and whose keys may be gone by now.
    pub(super) settled_before: BTreeSet<Minute>,
    /// Those of them of which keys could not be read.
    pub(super) suspect: BTreeSet<Minute>,
    /// The first minute that is not closed.
    pub(super) closed_before: Minute,
}

/// The transaction of one drain. Dropped, it leaves nothing behind.
pub(super) struct Write<'a> {
    origin: Origin<'a>,
    tx: Tx,
    pruned_before: DateTime<Utc>,
    sealed_before: Hour,
    /// Of samples the smallest ones are kept too.
    is_gauge: bool,
    /// Another drain of the source has written since this one began, so that what is stored may be newer than what was
    /// read, and a difference tells nothing. Nor does it where gauges fall or are gone.
    overtaken: bool,
    series: Vec<Series>,
    changes: Changes,
    /// Every row that was read.
    here: HashSet<RowKey>,
    fell: BTreeSet<Minute>,
    first: Option<Minute>,
    joining: Duration,
}

/// Writes a drain that was read as a whole, and adds to `doubtful` the minutes of which counts are known to have been
/// lost. Repeating does no harm, so a lost connection, even one lost on commit, is tried again.
pub(super) async fn at_once(
    origin: Origin<'_>,
    batch: &Batch,
    closing: &Closing,
    doubtful: &mut BTreeSet<Minute>,
) -> Result<(), StoreError> {
    // A try whose commit is unknown may have overtaken the next one, so that its doubts are kept.
    let write = async |doubtful: &mut BTreeSet<Minute>| {
        let mut write = Write::begin(origin).await?;
        write.join(batch).await?;
        write.finish(closing, doubtful).await
    };
    let mut tries = 1;
    loop {
        match write(doubtful).await {
            Err(error) if tries < TRIES && worth_retrying(&error) => {
                tracing::warn!(tries, %error, "writing a drain failed, trying again");
                tries += 1;
            }
            result => return result,
        }
    }
}

impl<'a> Write<'a> {
    /// Begins to write.
    pub(super) async fn begin(origin: Origin<'a>) -> Result<Self, StoreError> {
        let Origin {
            folga,
            environment,
            source,
            writes,
        } = origin;
        let mut tx = folga.store.begin_write(environment).await?;
        let is_gauge = folga.catalog.gauges().contains(source);
        let overtaken = is_gauge || coverage::state(&mut tx, environment, source).await?.writes != writes;
        let pruned_before = settings::pruned_before(&mut tx).await?;
        let series = series::of_environment(&mut tx, environment).await?;
        Ok(Self {
            origin,
            tx,
            pruned_before,
            sealed_before: sealed_before(&folga.catalog, folga.clock.now(), pruned_before),
            is_gauge,
            overtaken,
            series,
            changes: Changes::default(),
            here: HashSet::new(),
            fell: BTreeSet::new(),
            first: None,
            joining: Duration::ZERO,
        })
    }

    /// Joins keys into the minute store.
    pub(super) async fn join(&mut self, batch: &Batch) -> Result<(), StoreError> {
        let began = Instant::now();
        // Hours may have been sealed since the drain began.
        let reads: Vec<_> = batch
            .reads
            .iter()
            .filter(|read| read.minute.hour() >= self.sealed_before)
            .collect();
        let ids = self.ensure_series(&reads).await?;
        let mut rows = Rows::default();
        for read in &reads {
            for row in &read.rows {
                let Some(series) = ids.get(&row.name) else {
                    continue;
                };
                self.first = Some(self.first.map_or(read.minute, |first| first.min(read.minute)));
                *self.changes.weights.entry(*series).or_default() += row.ids.len();
                self.here.insert((*series, read.minute, read.stem));
                rows.push(*series, read.minute, read.stem, &row.ids, &row.counts);
                if self.is_gauge {
                    let least: Vec<_> = row.counts.iter().map(|sample| least(*sample)).collect();
                    rows.push(*series, read.minute, !read.stem, &row.ids, &least);
                }
            }
            if rows.samples() >= ROWS_TOGETHER {
                self.put(std::mem::take(&mut rows)).await?;
            }
        }
        self.put(rows).await?;
        let today = self.origin.folga.clock.now().date_naive();
        labels::keep(&mut self.tx, &batch.labels, today).await?;
        self.joining += began.elapsed();
        Ok(())
    }

    async fn put(&mut self, rows: Rows) -> Result<(), StoreError> {
        if rows.is_empty() {
            return Ok(());
        }
        for change in minutes::join(&mut self.tx, &rows, self.overtaken).await? {
            self.changes
                .minutes
                .entry(change.series_id)
                .or_default()
                .insert(change.minute);
            if change.fell {
                self.fell.insert(change.minute);
            }
        }
        Ok(())
    }

    /// The ids of the series of some keys, new ones added.
    async fn ensure_series(&mut self, reads: &[&KeyRead]) -> Result<HashMap<SeriesName, i32>, StoreError> {
        let mut ids: HashMap<SeriesName, i32> = (self.series.iter())
            .filter(|series| series.source == self.origin.source)
            .map(|series| (name(series), series.id))
            .collect();
        let new: BTreeSet<&SeriesName> = (reads.iter().flat_map(|read| &read.rows))
            .map(|row| &row.name)
            .filter(|name| !ids.contains_key(name))
            .collect();
        if !new.is_empty() {
            let new: Vec<_> = new
                .into_iter()
                .map(|name| (&*name.endpoint, &*name.scope, &*name.outcome))
                .collect();
            let added = series::add(&mut self.tx, self.origin.environment, self.origin.source, &new).await?;
            ids.extend(added.iter().map(|series| (name(series), series.id)));
            self.series.extend(added);
        }
        Ok(ids)
    }

    /// Adds the coverage, folds what changed and commits. Adds to `doubtful` the minutes of which counts are known to
    /// have been lost.
    pub(super) async fn finish(
        mut self,
        closing: &Closing,
        doubtful: &mut BTreeSet<Minute>,
    ) -> Result<(), StoreError> {
        let catalog = &*self.origin.folga.catalog;
        if !self.overtaken {
            doubtful.append(&mut self.gone(closing).await?);
        }
        doubtful.append(&mut self.fell);
        doubtful.extend(&closing.suspect);
        doubtful.retain(|minute| !closing.settled_before.contains(minute));
        let news = self.new_doubts(doubtful).await?;
        let seen = Seen {
            covered: &closing.complete,
            doubtful,
            settled: &closing.settled,
        };
        coverage::add(&mut self.tx, self.origin.environment, self.origin.source, &seen).await?;
        coverage::note_write(
            &mut self.tx,
            self.origin.environment,
            self.origin.source,
            self.first,
        )
        .await?;
        let shapes = sync::active_shapes(&mut self.tx, catalog, self.origin.environment).await?;
        let membership = Membership::new(catalog, &self.origin.folga.identities);
        let today = self.origin.folga.clock.now().date_naive();
        labels::keep(&mut self.tx, membership.labels(), today).await?;
        let context = FoldContext {
            shapes: &shapes,
            series: &self.series,
            zone: catalog.timezone,
            membership: &membership,
            gauges: &catalog.gauges(),
            closed_before: closing.closed_before,
            pruned_before: self.pruned_before,
        };
        let began = Instant::now();
        let Origin {
            folga,
            environment,
            source,
            ..
        } = self.origin;
        let origin = (environment, source);
        let judge = Judge::begin(&mut self.tx, folga, origin, &context, &self.changes).await?;
        let watched = judge.watched();
        let seen = aggregate::after_change(&mut self.tx, &context, source, &self.changes, &watched).await?;
        judge.finish(&mut self.tx, &seen).await?;
        // Told with what notes it: no later drain finds it again.
        let place = Place { environment, source };
        findings::gap(&mut self.tx, folga, place, &gaps::runs(&news)).await?;
        if let Some(first) = self.changes.minutes.values().flatten().min() {
            let active: Vec<_> = shapes.iter().map(|active| active.stored.id).collect();
            shapes::set_unfolded(&mut self.tx, self.origin.environment, &active, first.start()).await?;
        }
        let folding = began.elapsed();
        self.tx.commit().await?;
        tracing::debug!(
            join_ms = millis(self.joining),
            fold_ms = millis(folding),
            "written"
        );
        Ok(())
    }

    /// Those of some doubtful minutes that were not known to be.
    async fn new_doubts(&mut self, doubtful: &BTreeSet<Minute>) -> Result<BTreeSet<Minute>, StoreError> {
        let (Some(first), Some(last)) = (doubtful.first(), doubtful.last()) else {
            return Ok(BTreeSet::new());
        };
        let (environment, source) = (self.origin.environment, self.origin.source);
        let (from, to) = (first.hour(), last.hour().next());
        let known = coverage::read(&mut self.tx, environment, source, from, to).await?;
        let is_known = |minute: &&Minute| {
            let masks = known.get(&minute.hour());
            masks.is_some_and(|masks| holds(masks.doubtful, **minute))
        };
        let new = doubtful.iter().filter(|minute| !is_known(minute));
        Ok(new.copied().collect())
    }

    /// The minutes of which a row that was read before is gone although the life of its key is not over.
    async fn gone(&mut self, closing: &Closing) -> Result<BTreeSet<Minute>, StoreError> {
        let own: Vec<i32> = (self.series.iter())
            .filter(|series| series.source == self.origin.source)
            .map(|series| series.id)
            .collect();
        let stored = minutes::keys(&mut self.tx, &own, &closing.complete).await?;
        let gone = stored.into_iter().filter(|key| !self.here.contains(key));
        Ok(gone.map(|(_, minute, _)| minute).collect())
    }
}

/// Whole milliseconds, for logs.
pub(super) fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

fn name(series: &Series) -> SeriesName {
    SeriesName {
        endpoint: series.endpoint.clone(),
        scope: series.scope.clone(),
        outcome: series.outcome.clone(),
    }
}
