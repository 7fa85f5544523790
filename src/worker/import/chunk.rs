//! Writes some hours of one environment in one transaction.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    ops::Range,
};

use anyhow::bail;
use chrono::{DateTime, TimeDelta, Utc};

use super::sealed;
use crate::{
    import::{Named, Sample, Sealed, Span},
    source::Membership,
    store::{
        StoreError, Tx,
        coverage::{self, Seen},
        hourly, in_words, labels,
        minutes::{self, IMPORTED, Rows},
        series::{self, Series},
        settings, shapes,
    },
    time::{Hour, Minute},
    worker::{
        Folga,
        aggregate::{self, ActiveShape, Changes, FoldContext},
        sync,
    },
};

/// What a transaction has to know of the import.
#[derive(Clone, Copy)]
pub(super) struct Place<'a> {
    pub(super) folga: &'a Folga,
    pub(super) names: &'a [Named],
    pub(super) spans: &'a BTreeMap<(usize, usize), Span>,
    /// Which environment of the catalog.
    pub(super) environment: usize,
    pub(super) sealed: &'a Sealed,
    /// Minutes before this instant are not kept.
    pub(super) pruned_before: DateTime<Utc>,
}

/// Some hours of an environment. Dropped, it leaves nothing behind.
pub(super) struct Chunk<'a> {
    place: Place<'a>,
    /// The series of the names, as far as they are known.
    ids: &'a mut [Option<i32>],
    tx: Tx,
    series: Vec<Series>,
    /// The source of each series.
    sources: HashMap<i32, usize>,
    changes: Changes,
}

impl<'a> Chunk<'a> {
    /// Begins to write hours that only this import may write.
    pub(super) async fn begin(
        place: Place<'a>,
        ids: &'a mut [Option<i32>],
        hours: Range<Hour>,
    ) -> anyhow::Result<Self> {
        let name = place.name();
        let began = async {
            let mut tx = place.folga.store.begin_write(name).await?;
            let pruned_before = settings::pruned_before(&mut tx).await?;
            let end = hours.end.min(place.sealed.open_from());
            let counted = hourly::counted(&mut tx, name, hours.start, end).await?;
            let series = series::of_environment(&mut tx, name).await?;
            Ok((tx, pruned_before, counted, series))
        };
        let (tx, pruned_before, counted, series) =
            began.await.map_err(|error: StoreError| in_words(&error))?;
        let is_new = |(name, hour): &(String, Hour)| {
            let source = place.source(name);
            source.is_some_and(|source| !place.sealed.holds(source, *hour))
        };
        if pruned_before != place.pruned_before || counted.iter().any(is_new) {
            bail!(
                "retention or another import has sealed hours of `{name}` meanwhile: whole days are in, run the \
                 import again for the rest"
            );
        }
        let mut chunk = Self {
            place,
            ids,
            tx,
            series: Vec::new(),
            sources: HashMap::new(),
            changes: Changes::default(),
        };
        chunk.know(series);
        Ok(chunk)
    }

    fn know(&mut self, series: Vec<Series>) {
        let place = self.place;
        let own = series.iter();
        self.sources
            .extend(own.filter_map(|own| Some((own.id, place.source(&own.source)?))));
        self.series.extend(series);
    }

    /// Joins samples into the minute store. Those of sealed hours are only looked back at, so they have no business
    /// where minutes stay.
    pub(super) async fn join(&mut self, samples: &[Sample]) -> Result<(), StoreError> {
        self.ensure_series(samples).await?;
        let mut rows = Rows::default();
        let is_same = |a: &Sample, b: &Sample| (a.minute, a.series) == (b.minute, b.series);
        for own in samples.chunk_by(is_same) {
            let Sample { minute, series, .. } = own[0];
            let named = &self.place.names[series as usize];
            let is_sealed = self.place.sealed.holds(named.source, minute.hour());
            let Some(series) = self.ids[series as usize] else {
                continue;
            };
            if is_sealed && minute.start() >= self.place.pruned_before {
                continue;
            }
            if !is_sealed {
                *self.changes.weights.entry(series).or_default() += own.len();
            }
            let (ids, counts): (Vec<_>, Vec<_>) = own.iter().map(|own| (own.id, own.count)).unzip();
            rows.push(series, minute, IMPORTED, &ids, &counts);
        }
        if rows.is_empty() {
            return Ok(());
        }
        for change in minutes::join(&mut self.tx, &rows, true).await? {
            let source = self.sources.get(&change.series_id);
            if source.is_some_and(|source| !self.place.sealed.holds(*source, change.minute.hour())) {
                let minutes = self.changes.minutes.entry(change.series_id).or_default();
                minutes.insert(change.minute);
            }
        }
        Ok(())
    }

    /// Makes the series of samples known, new ones added.
    async fn ensure_series(&mut self, samples: &[Sample]) -> Result<(), StoreError> {
        let places: BTreeSet<usize> = samples.iter().map(|sample| sample.series as usize).collect();
        let mut new: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for place in places.into_iter().filter(|place| self.ids[*place].is_none()) {
            new.entry(self.place.names[place].source).or_default().push(place);
        }
        for (source, places) in new {
            let names: BTreeSet<(&str, &str, &str)> = places
                .iter()
                .map(|place| &self.place.names[*place].name)
                .map(|name| (&*name.endpoint, &*name.scope, &*name.outcome))
                .collect();
            let names: Vec<_> = names.into_iter().collect();
            let source = &self.place.folga.catalog.sources[source].name;
            let all = series::add(&mut self.tx, self.place.name(), source, &names).await?;
            for place in places {
                let name = &self.place.names[place].name;
                let own = all.iter().find(|own| {
                    own.endpoint == name.endpoint && own.scope == name.scope && own.outcome == name.outcome
                });
                self.ids[place] = own.map(|own| own.id);
            }
            let known = &self.sources;
            let added = all
                .into_iter()
                .filter(|own| !known.contains_key(&own.id))
                .collect();
            self.know(added);
        }
        Ok(())
    }

    /// Folds what changed, says what it covers, drops minutes that nothing looks back at any more, and commits.
    /// `vouched_from` is what the chunk before has left to this one, `next` the hour of the sample after it.
    pub(super) async fn finish(
        mut self,
        vouched_from: Option<Hour>,
        next: Option<Hour>,
    ) -> Result<(), StoreError> {
        let place = self.place;
        let catalog = &*place.folga.catalog;
        let shapes = sync::active_shapes(&mut self.tx, catalog, place.name()).await?;
        let membership = Membership::new(catalog, &place.folga.identities);
        let latest = self.changes.minutes.values().filter_map(BTreeSet::last).max();
        if let Some(latest) = latest {
            labels::keep(&mut self.tx, membership.labels(), latest.start().date_naive()).await?;
        }
        let context = FoldContext {
            shapes: &shapes,
            series: &self.series,
            zone: catalog.timezone,
            membership: &membership,
            gauges: &catalog.gauges(),
            closed_before: sync::closed_before(place.folga),
            pruned_before: place.pruned_before,
        };
        aggregate::after_import(&mut self.tx, &context, &self.changes, |active, hour| {
            let sources = sealed::sources(place.folga, active);
            !sources.iter().any(|source| place.sealed.holds(*source, hour))
        })
        .await?;
        self.note_history(&shapes).await?;
        self.cover(vouched_from, next).await?;

        let reach = catalog
            .limits()
            .map(|(_, limit)| limit.window.reach_minutes() + 1);
        let reach = TimeDelta::minutes(reach.max().unwrap_or_default());
        let looked_back = next.map_or(place.pruned_before, |next| next.start() - reach);
        let own: Vec<i32> = self.series.iter().map(|series| series.id).collect();
        minutes::drop_imported(&mut self.tx, &own, looked_back.min(place.pruned_before)).await?;
        self.tx.commit().await
    }

    /// Notes from when on the shapes have been counted.
    async fn note_history(&mut self, shapes: &[ActiveShape]) -> Result<(), StoreError> {
        let place = self.place;
        let active: Vec<i32> = shapes.iter().map(|active| active.stored.id).collect();
        let mut firsts: BTreeMap<usize, Minute> = BTreeMap::new();
        for (series, minutes) in &self.changes.minutes {
            if let (Some(source), Some(minute)) = (self.sources.get(series), minutes.first()) {
                let first = firsts.entry(*source).or_insert(*minute);
                *first = (*first).min(*minute);
            }
        }
        // The first imported minute that is stored: what is out of the catalog is folded from it where it comes back.
        let stored = self.changes.minutes.values().flatten().copied();
        let stored = stored
            .filter(|minute| minute.start() >= place.pruned_before)
            .min();
        if let Some(first) = stored {
            shapes::set_unfolded(&mut self.tx, place.name(), &active, first.start()).await?;
        }
        for (source, first) in firsts {
            if first.hour() >= place.sealed.open_from() {
                continue;
            }
            let name = &place.folga.catalog.sources[source].name;
            let state = coverage::state(&mut self.tx, place.name(), name).await?;
            let known = state.first_minute.map_or(place.sealed.open_from(), Minute::hour);
            if first.hour() < known {
                shapes::set_missed(&mut self.tx, place.name(), name, &active, known.start()).await?;
            }
            for active in shapes.iter().filter(|active| active.is_fed_by(Some(name))) {
                let Some(from) = active.stored.history_from.map(Hour::containing) else {
                    continue;
                };
                let free = place.sealed.free_before(source, from).unwrap_or(first.hour());
                let since = free.max(first.hour());
                if since < from {
                    shapes::set_history_from(&mut self.tx, active.stored.id, since.start()).await?;
                }
            }
        }
        Ok(())
    }

    /// Vouches for the minutes of the file's spans up to the next sample, sealed hours apart.
    async fn cover(&mut self, from: Option<Hour>, to: Option<Hour>) -> Result<(), StoreError> {
        let place = self.place;
        let own = place
            .spans
            .iter()
            .filter(|((environment, _), _)| *environment == place.environment);
        for ((_, source), span) in own {
            let (first, past) = (span.whole.0, span.whole.1.plus(1));
            let first = from.map_or(first, |from| from.first_minute().max(first));
            let past = to.map_or(past, |to| to.first_minute().min(past));
            if first >= past {
                continue;
            }
            let covered: BTreeSet<Minute> = (first.index()..past.index())
                .map(Minute::from_index)
                .filter(|minute| !place.sealed.holds(*source, minute.hour()))
                .collect();
            let none = BTreeSet::new();
            let seen = Seen {
                covered: &covered,
                doubtful: &none,
                settled: &none,
            };
            let name = &place.folga.catalog.sources[*source].name;
            coverage::add(&mut self.tx, place.name(), name, &seen).await?;
            let begun = Some(span.first).filter(|begun| *begun < past);
            coverage::note_write(&mut self.tx, place.name(), name, begun).await?;
            // What lies between the file and the first drain is no loss of that drain's.
            let now = place.folga.clock.now();
            coverage::begin_gaps(&mut self.tx, place.name(), name, now).await?;
        }
        Ok(())
    }
}

impl<'a> Place<'a> {
    /// The environment's name.
    fn name(&self) -> &'a str {
        &self.folga.catalog.environments[self.environment].name
    }

    /// Which source of the catalog has a name.
    fn source(&self, name: &str) -> Option<usize> {
        let sources = &self.folga.catalog.sources;
        sources.iter().position(|source| source.name == name)
    }
}
