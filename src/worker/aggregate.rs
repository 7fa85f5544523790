//! Folds what changed in the minute store into hourly and daily aggregates, inside the transaction that changed it.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap, hash_map::Entry},
    ops::Range,
};

use chrono::{DateTime, Utc};
use chrono_tz::Tz;
use futures_util::TryStreamExt;

use super::{passes::passes, whole_from};
use crate::{
    catalog::Shape,
    fold::{Fold, GaugeFold, Rules, SeriesFold, Watch, least},
    report::LeftOut,
    source::Membership,
    store::{
        StoreError, Tx, daily, gauges, hourly,
        minutes::{self, MinuteRow, Span},
        series::Series,
        shapes::{self, StoredShape},
    },
    time::{Hour, Minute, Window, day_end, day_of},
};

/// A shape of the catalog as an environment has it.
#[derive(Clone, Debug)]
pub struct ActiveShape {
    /// What the database knows of it.
    pub stored: StoredShape,
    /// What it counts.
    pub shape: Shape,
    /// The limits that count so, by id.
    pub limits: Vec<String>,
    /// The limits whose accepted requests it counts.
    pub accepted_of: Vec<String>,
}

impl ActiveShape {
    /// Whether a source feeds it; any does where none is given.
    #[must_use]
    pub fn is_fed_by(&self, source: Option<&str>) -> bool {
        source.is_none_or(|source| self.shape.sources.iter().any(|own| own == source))
    }

    /// Whether hours of it are missing: it is new, or was out of the catalog while minutes were dropped.
    #[must_use]
    pub fn is_unfolded(&self, pruned_before: DateTime<Utc>) -> bool {
        let whole_from = whole_from(pruned_before, self.shape.window);
        self.stored
            .folded_before
            .is_none_or(|folded| folded < whole_from.start())
    }

    /// Whether it counts a series.
    #[must_use]
    pub fn counts(&self, series: &Series) -> bool {
        self.shape
            .counts(&series.source, &series.endpoint, &series.scope, &series.outcome)
    }
}

/// What a drain has changed in the minute store.
#[derive(Clone, Debug, Default)]
pub struct Changes {
    /// The minutes that changed, by series.
    pub minutes: BTreeMap<i32, BTreeSet<Minute>>,
    /// How many samples were read, by series.
    pub weights: HashMap<i32, usize>,
}

/// Everything a fold has to know besides the minute store.
#[derive(Clone, Copy, Debug)]
pub struct FoldContext<'a> {
    /// The environment's shapes.
    pub shapes: &'a [ActiveShape],
    /// The environment's series.
    pub series: &'a [Series],
    /// The catalog's zone.
    pub zone: Tz,
    /// Whose members identities are.
    pub membership: &'a Membership,
    /// The sources that are gauges.
    pub gauges: &'a BTreeSet<&'a str>,
    /// The first minute that is not closed.
    pub closed_before: Minute,
    /// The instant before which minutes have been dropped.
    pub pruned_before: DateTime<Utc>,
}

/// A shape and hours of it to fold again.
type ShapeRange = (usize, Range<Hour>);

/// What alerts look for in windows.
#[derive(Debug, Default)]
pub struct Watched {
    /// Minutes with windows that hold at least so much are told, by shape.
    pub least: HashMap<i32, u64>,
    /// Hours that no window may reach into.
    pub left_out: LeftOut,
}

impl Watched {
    /// The look at the news of a shape; none where nobody looks for it.
    fn look(&self, shape_id: i32, window: Window, news: &[Range<Minute>]) -> Option<Watch> {
        let least = self.least.get(&shape_id)?;
        let spans = (news.iter()).flat_map(|span| {
            let hours = span.start.hour().index()..=span.end.plus(-1).hour().index();
            hours.map(Hour::from_index).filter_map(|hour| {
                let clean_from = self.left_out.clean_from(hour, window).unwrap_or(span.start);
                let start = span.start.max(hour.first_minute()).max(clean_from);
                let end = span.end.min(hour.next().first_minute());
                (start < end && !self.left_out.holds(hour)).then_some(start..end)
            })
        });
        Some(Watch::new(*least, spans.collect()))
    }
}

impl FoldContext<'_> {
    /// What decides the figures of a shape.
    #[must_use]
    pub fn rules(&self, shape: &Shape) -> Rules {
        Rules {
            window: shape.window,
            algorithm: shape.algorithm,
            shared: shape.shared,
            zone: self.zone,
        }
    }

    fn is_gauge(&self, id: i32) -> bool {
        let mut own = self.series.iter().filter(|series| series.id == id);
        own.any(|series| self.gauges.contains(&*series.source))
    }

    fn series_of(&self, active: &ActiveShape) -> impl Iterator<Item = &Series> {
        self.series.iter().filter(|series| active.counts(series))
    }

    /// The last hour that a changed minute can show in: windows reach over hours and days.
    fn last_hour(&self, shape: &Shape, changed: Minute) -> Hour {
        match shape.window {
            Window::LocalDay => Hour::containing(day_end(day_of(changed.start(), self.zone), self.zone)),
            Window::Seconds(_) | Window::Minutes(_) => changed.plus(shape.window.reach_minutes()).hour(),
        }
    }

    /// The minutes of a shape that were changed.
    #[must_use]
    pub fn changed_minutes(
        &self,
        active: &ActiveShape,
        changed: &BTreeMap<i32, BTreeSet<Minute>>,
    ) -> BTreeSet<Minute> {
        self.series_of(active)
            .filter_map(|series| changed.get(&series.id))
            .flatten()
            .copied()
            .collect()
    }

    /// The minutes of a shape whose windows changed minutes reach.
    #[must_use]
    pub fn news(
        &self,
        active: &ActiveShape,
        changed: &BTreeMap<i32, BTreeSet<Minute>>,
    ) -> Vec<Range<Minute>> {
        let rules = self.rules(&active.shape);
        let minutes = self.changed_minutes(active, changed);
        let spans = minutes
            .into_iter()
            .map(|minute| minute..rules.free_from(minute))
            .collect();
        joined(spans, Minute::from_index(i64::MIN))
    }

    /// The hours before `end` that changed minutes of a shape can show in.
    fn reached(
        &self,
        active: &ActiveShape,
        changed: &BTreeMap<i32, BTreeSet<Minute>>,
        end: Hour,
    ) -> Vec<Range<Hour>> {
        let minutes = self.changed_minutes(active, changed);
        minutes
            .iter()
            .map(|minute| minute.hour()..self.last_hour(&active.shape, *minute).next().min(end))
            .collect()
    }

    /// The first hour in which no minute has closed.
    fn end(&self) -> Hour {
        self.closed_before.plus(-1).hour().next()
    }

    /// The hours of every shape that changed minutes touch, and those in which windows have closed since the last fold.
    /// The latter holds for shapes that a source feeds, or all of them where none is given.
    fn touched(&self, source: Option<&str>, changed: &BTreeMap<i32, BTreeSet<Minute>>) -> Vec<ShapeRange> {
        let end = self.end();
        let mut touched = Vec::new();
        for (index, active) in self.shapes.iter().enumerate() {
            let mut hours = self.reached(active, changed, end);
            if let Some(folded) = active.stored.folded_before
                && active.is_fed_by(source)
                && self.series_of(active).next().is_some()
            {
                hours.push(Hour::containing(folded)..end);
            }
            touched.extend(
                joined(hours, whole_from(self.pruned_before, active.shape.window))
                    .into_iter()
                    .map(|hours| (index, hours)),
            );
        }
        touched
    }
}

/// Ranges that overlap or touch become one; nothing before `floor` is left.
fn joined<T: Copy + Ord>(mut ranges: Vec<Range<T>>, floor: T) -> Vec<Range<T>> {
    ranges.sort_by_key(|range| range.start);
    let mut joined: Vec<Range<T>> = Vec::new();
    for range in ranges {
        let range = range.start.max(floor)..range.end;
        match joined.last_mut() {
            Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
            _ if range.start < range.end => joined.push(range),
            _ => {}
        }
    }
    joined
}

/// Folds again what a drain has changed, and the windows that have closed since the last fold. Gives what was seen of
/// the windows that changed, for the shapes that are watched.
///
/// # Errors
/// The database failed.
pub async fn after_change(
    tx: &mut Tx,
    context: &FoldContext<'_>,
    source: &str,
    changes: &Changes,
    watched: &Watched,
) -> Result<HashMap<i32, Watch>, StoreError> {
    fold_touched(tx, context, Some(source), changes, watched).await
}

/// Folds again what an import has changed, as far as hours are open: of others the minutes are gone.
///
/// # Errors
/// The database failed.
pub async fn after_import(
    tx: &mut Tx,
    context: &FoldContext<'_>,
    changes: &Changes,
    is_open: impl Fn(&ActiveShape, Hour) -> bool,
) -> Result<(), StoreError> {
    let mut ranges = Vec::new();
    for (index, active) in context.shapes.iter().enumerate() {
        let hours = context.reached(active, &changes.minutes, context.end());
        let open = joined(hours, Hour::from_index(i64::MIN))
            .into_iter()
            .flat_map(|hours| (hours.start.index()..hours.end.index()).map(Hour::from_index))
            .filter(|hour| is_open(active, *hour))
            .map(|hour| hour..hour.next());
        let open = joined(open.collect(), Hour::from_index(i64::MIN));
        ranges.extend(open.into_iter().map(|hours| (index, hours)));
    }
    fold(tx, context, ranges, changes, &Watched::default())
        .await
        .map(drop)
}

/// Folds all windows that have closed since the last fold.
///
/// # Errors
/// The database failed.
pub async fn close_windows(tx: &mut Tx, context: &FoldContext<'_>) -> Result<(), StoreError> {
    fold_touched(tx, context, None, &Changes::default(), &Watched::default())
        .await
        .map(drop)
}

async fn fold_touched(
    tx: &mut Tx,
    context: &FoldContext<'_>,
    source: Option<&str>,
    changes: &Changes,
    watched: &Watched,
) -> Result<HashMap<i32, Watch>, StoreError> {
    let touched = context.touched(source, &changes.minutes);
    let seen = fold(tx, context, touched, changes, watched).await?;
    let folded: Vec<_> = (context.shapes.iter())
        .filter(|active| active.is_fed_by(source))
        .map(|active| active.stored.id)
        .collect();
    shapes::set_folded(tx, &folded, context.closed_before.start()).await?;
    Ok(seen)
}

/// Folds the whole minute store for shapes of which hours are missing.
///
/// # Errors
/// The database failed.
pub async fn at_birth(tx: &mut Tx, context: &FoldContext<'_>) -> Result<(), StoreError> {
    let mut ranges = Vec::new();
    let mut born = Vec::new();
    for (index, active) in context.shapes.iter().enumerate() {
        if !active.is_unfolded(context.pruned_before) {
            continue;
        }
        born.push(active.stored.id);
        let series: Vec<_> = context.series_of(active).map(|series| series.id).collect();
        if let Some(first) = minutes::first(tx, &series).await? {
            let hours = first.hour()..context.end();
            let whole = joined(
                vec![hours],
                whole_from(context.pruned_before, active.shape.window),
            );
            ranges.extend(whole.into_iter().map(|hours| (index, hours)));
        }
    }
    fold(tx, context, ranges, &Changes::default(), &Watched::default()).await?;
    shapes::set_folded(tx, &born, context.closed_before.start()).await
}

/// What one pass over the minute store is to feed.
enum Task<'a> {
    Shape {
        shape_id: i32,
        needs: Range<Minute>,
        /// Whose members the identities of some series are.
        tables: HashMap<i32, &'a HashMap<i64, i64>>,
        sampled: Option<Sampled>,
        fold: Box<Fold>,
    },
    Series {
        series_id: i32,
        hours: BTreeSet<Hour>,
        fold: SeriesFold,
    },
    Gauge {
        series_id: i32,
        hours: BTreeSet<Hour>,
        fold: GaugeFold,
    },
}

/// How samples of gauges become what is in use.
#[derive(Clone, Copy)]
struct Sampled {
    capacity: Option<u64>,
}

impl Sampled {
    /// Who uses something, and how much: most is in use where least is left.
    fn usage(self, row: &MinuteRow) -> (Vec<i64>, Vec<i64>) {
        let used = |stored: i64| match self.capacity {
            None => stored,
            Some(capacity) if stored < 0 => {
                i64::try_from(capacity.saturating_sub(least(stored).cast_unsigned())).unwrap_or(i64::MAX)
            }
            Some(_) => 0,
        };
        let stored = row.ids.iter().zip(&row.counts);
        stored
            .map(|(id, stored)| (*id, used(*stored)))
            .filter(|(_, used)| *used > 0)
            .unzip()
    }
}

impl Task<'_> {
    fn spans(&self) -> Vec<Range<Minute>> {
        match self {
            Self::Shape { needs, .. } => vec![needs.clone()],
            Self::Series { hours, .. } | Self::Gauge { hours, .. } => hours
                .iter()
                .map(|hour| hour.first_minute()..hour.next().first_minute())
                .collect(),
        }
    }

    fn add(&mut self, row: &MinuteRow) {
        match self {
            Self::Shape {
                needs,
                tables,
                sampled,
                fold,
                ..
            } if needs.contains(&row.minute) => {
                let used = sampled.map(|sampled| sampled.usage(row));
                let (ids, counts) =
                    (used.as_ref()).map_or((&row.ids, &row.counts), |(ids, used)| (ids, used));
                match tables.get(&row.series_id) {
                    None => fold.add(row.minute, ids, counts),
                    // One that is nobody's member counts as itself.
                    Some(table) => {
                        let ids: Vec<i64> = ids.iter().map(|id| *table.get(id).unwrap_or(id)).collect();
                        fold.add(row.minute, &ids, counts);
                    }
                }
            }
            Self::Series { hours, fold, .. } if hours.contains(&row.minute.hour()) => {
                fold.add(row.minute, &row.ids, &row.counts);
            }
            Self::Gauge { hours, fold, .. } if hours.contains(&row.minute.hour()) => {
                fold.add(row.minute, &row.ids, &row.counts);
            }
            Self::Shape { .. } | Self::Series { .. } | Self::Gauge { .. } => {}
        }
    }
}

/// Folds ranges of shapes, and the hours of series that changed.
async fn fold(
    tx: &mut Tx,
    context: &FoldContext<'_>,
    ranges: Vec<ShapeRange>,
    changes: &Changes,
    watched: &Watched,
) -> Result<HashMap<i32, Watch>, StoreError> {
    let shapes = ranges.into_iter().map(|(index, hours)| {
        let active = &context.shapes[index];
        let mut fold = Fold::new(
            context.rules(&active.shape),
            hours.start,
            hours.end,
            context.closed_before,
        );
        let news = context.news(active, &changes.minutes);
        if let Some(watch) = watched.look(active.stored.id, active.shape.window, &news) {
            fold = fold.watched(watch);
        }
        let needs = fold.needs_from()..hours.end.first_minute();
        let series: Vec<&Series> = context.series_of(active).collect();
        let table = |series: &&Series| {
            let table = context.membership.of(&series.scope, &active.shape.scope)?;
            Some((series.id, table))
        };
        (
            Task::Shape {
                shape_id: active.stored.id,
                needs,
                tables: series.iter().filter_map(table).collect(),
                sampled: context.rules(&active.shape).is_sampled().then_some(Sampled {
                    capacity: active.shape.capacity,
                }),
                fold: Box::new(fold),
            },
            series.iter().map(|series| series.id).collect(),
        )
    });
    let series = changes.minutes.iter().map(|(series_id, minutes)| {
        let hours = minutes.iter().map(|minute| minute.hour()).collect();
        let task = if context.is_gauge(*series_id) {
            Task::Gauge {
                series_id: *series_id,
                hours,
                fold: GaugeFold::default(),
            }
        } else {
            Task::Series {
                series_id: *series_id,
                hours,
                fold: SeriesFold::default(),
            }
        };
        (task, vec![*series_id])
    });
    let (tasks, series): (Vec<Task<'_>>, Vec<Vec<i32>>) = shapes.chain(series).unzip();
    let mut tasks: Vec<_> = tasks.into_iter().map(Some).collect();
    let mut seen: HashMap<i32, Watch> = HashMap::new();
    for pass in passes(&series, &changes.weights) {
        let tasks: Vec<_> = pass
            .into_iter()
            .filter_map(|index| Some((tasks[index].take()?, &*series[index])))
            .collect();
        for (shape, watch) in fold_pass(tx, context.zone, tasks).await? {
            match seen.entry(shape) {
                Entry::Occupied(mut earlier) => earlier.get_mut().append(watch),
                Entry::Vacant(none) => _ = none.insert(watch),
            }
        }
    }
    Ok(seen)
}

/// One pass over the minute store: every row is read once, however many limits count it.
async fn fold_pass(
    tx: &mut Tx,
    zone: Tz,
    mut tasks: Vec<(Task<'_>, &[i32])>,
) -> Result<Vec<(i32, Watch)>, StoreError> {
    let mut readers: HashMap<i32, Vec<usize>> = HashMap::new();
    let mut spans: BTreeMap<i32, Vec<Range<Minute>>> = BTreeMap::new();
    for (index, (task, series)) in tasks.iter().enumerate() {
        for series in *series {
            readers.entry(*series).or_default().push(index);
            spans.entry(*series).or_default().extend(task.spans());
        }
    }
    let spans: Vec<Span> = spans
        .into_iter()
        .flat_map(|(series, spans)| {
            joined(spans, Minute::from_index(i64::MIN))
                .into_iter()
                .map(move |span| (series, span.start, span.end))
        })
        .collect();
    {
        let mut rows = std::pin::pin!(minutes::read(tx, &spans));
        while let Some(row) = rows.try_next().await? {
            for index in readers.get(&row.series_id).into_iter().flatten() {
                tasks[*index].0.add(&row);
            }
        }
    }
    let (mut shapes, mut series, mut sampled, mut seen) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for (task, _) in tasks {
        match task {
            Task::Shape { shape_id, fold, .. } => {
                let (rows, watch) = fold.finish_watched();
                shapes.extend(rows.into_iter().map(|row| (shape_id, row)));
                seen.extend(watch.map(|watch| (shape_id, watch)));
            }
            Task::Series { series_id, fold, .. } => {
                series.extend(fold.finish().into_iter().map(|row| (series_id, row)));
            }
            Task::Gauge { series_id, fold, .. } => {
                sampled.extend(fold.finish().into_iter().map(|row| (series_id, row)));
            }
        }
    }
    if !sampled.is_empty() {
        gauges::put(tx, &sampled).await?;
    }
    if !series.is_empty() {
        hourly::put_series(tx, &series).await?;
    }
    if !shapes.is_empty() {
        hourly::put(tx, &shapes).await?;
        let days = shapes
            .iter()
            .map(|(shape, row)| (*shape, day_of(row.hour.start(), zone)))
            .collect();
        daily::derive(tx, &days, zone).await?;
    }
    Ok(seen)
}
