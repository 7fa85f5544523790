//! Folds what changed in the minute store into hourly and daily aggregates, inside the transaction that changed it.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    ops::Range,
};

use chrono_tz::Tz;
use futures_util::TryStreamExt;

use crate::{
    catalog::Shape,
    fold::{Fold, HourRow, Rules, SeriesFold, SeriesHour},
    store::{
        StoreError, Tx, daily, hourly,
        minutes::{self, Span},
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
}

impl ActiveShape {
    fn counts(&self, series: &Series) -> bool {
        self.shape
            .counts(&series.source, &series.endpoint, &series.scope, &series.outcome)
    }
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
    /// The first minute that is not closed.
    pub closed_before: Minute,
    /// Hours before this one are left as they are.
    pub sealed_before: Hour,
}

/// A shape and hours of it to fold again.
type ShapeRange = (usize, Range<Hour>);

impl FoldContext<'_> {
    fn rules(&self, shape: &Shape) -> Rules {
        Rules {
            window: shape.window,
            algorithm: shape.algorithm,
            shared: shape.shared,
            zone: self.zone,
        }
    }

    /// No window ends later, for this run, than the last closed minute or what was folded before.
    fn closed_before(&self, shape: &StoredShape) -> Minute {
        shape.folded_before.map_or(self.closed_before, |folded| {
            self.closed_before.max(Minute::containing(folded))
        })
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

    /// The hours of every shape that changed minutes or newly closed windows touch.
    fn touched(&self, source: &str, changed: &BTreeMap<i32, BTreeSet<Minute>>) -> Vec<ShapeRange> {
        let end = self.closed_before.plus(-1).hour().next();
        let mut touched = Vec::new();
        for (index, active) in self.shapes.iter().enumerate() {
            let minutes: BTreeSet<Minute> = self
                .series_of(active)
                .filter_map(|series| changed.get(&series.id))
                .flatten()
                .copied()
                .collect();
            let mut hours: Vec<Range<Hour>> = minutes
                .iter()
                .map(|minute| minute.hour()..self.last_hour(&active.shape, *minute).next().min(end))
                .collect();
            if let Some(folded) = active.stored.folded_before
                && active.shape.sources.iter().any(|own| own == source)
                && self.series_of(active).next().is_some()
            {
                hours.push(Hour::containing(folded)..end);
            }
            touched.extend(
                joined(hours, self.sealed_before)
                    .into_iter()
                    .map(|hours| (index, hours)),
            );
        }
        touched
    }
}

/// Ranges that overlap or touch become one; nothing before `floor` is left.
fn joined(mut ranges: Vec<Range<Hour>>, floor: Hour) -> Vec<Range<Hour>> {
    ranges.sort_by_key(|range| range.start);
    let mut joined: Vec<Range<Hour>> = Vec::new();
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

/// Folds again what the changed minutes touch, and the windows that have closed since the last fold.
///
/// # Errors
/// The database failed.
pub async fn after_change(
    tx: &mut Tx,
    context: &FoldContext<'_>,
    source: &str,
    changed: &BTreeMap<i32, BTreeSet<Minute>>,
) -> Result<(), StoreError> {
    let touched = context.touched(source, changed);
    fold(tx, context, &touched, changed).await?;
    let folded: Vec<_> = (context.shapes.iter())
        .filter(|active| active.shape.sources.iter().any(|own| own == source))
        .map(|active| active.stored.id)
        .collect();
    shapes::set_folded(tx, &folded, context.closed_before.start()).await
}

/// Folds the whole minute store for shapes that never were folded.
///
/// # Errors
/// The database failed.
pub async fn at_birth(tx: &mut Tx, context: &FoldContext<'_>) -> Result<(), StoreError> {
    let mut ranges = Vec::new();
    let mut born = Vec::new();
    for (index, active) in context.shapes.iter().enumerate() {
        if active.stored.folded_before.is_some() {
            continue;
        }
        born.push(active.stored.id);
        let series: Vec<_> = context.series_of(active).map(|series| series.id).collect();
        if let Some(first) = minutes::first(tx, &series).await? {
            let known = active.stored.history_from.map_or(first.hour(), Hour::containing);
            let hours = first.hour().max(known)..context.closed_before.plus(-1).hour().next();
            ranges.extend(
                joined(vec![hours], context.sealed_before)
                    .into_iter()
                    .map(|hours| (index, hours)),
            );
        }
    }
    fold(tx, context, &ranges, &BTreeMap::new()).await?;
    shapes::set_folded(tx, &born, context.closed_before.start()).await
}

struct ShapeFold {
    shape_id: i32,
    needs: Range<Minute>,
    fold: Fold,
}

/// One pass over the minute store serves all folds: every row is read once, however many limits count it.
async fn fold(
    tx: &mut Tx,
    context: &FoldContext<'_>,
    ranges: &[ShapeRange],
    changed: &BTreeMap<i32, BTreeSet<Minute>>,
) -> Result<(), StoreError> {
    let mut folds = Vec::new();
    let mut by_series: HashMap<i32, Vec<usize>> = HashMap::new();
    let mut spans: BTreeMap<i32, Range<Minute>> = BTreeMap::new();
    let mut need = |series: i32, minutes: &Range<Minute>| {
        let span = spans.entry(series).or_insert_with(|| minutes.clone());
        *span = span.start.min(minutes.start)..span.end.max(minutes.end);
    };
    for (index, hours) in ranges {
        let active = &context.shapes[*index];
        let rules = context.rules(&active.shape);
        let fold = Fold::new(
            rules,
            hours.start,
            hours.end,
            context.closed_before(&active.stored),
        );
        let needs = fold.needs_from()..hours.end.first_minute();
        for series in context.series_of(active) {
            by_series.entry(series.id).or_default().push(folds.len());
            need(series.id, &needs);
        }
        folds.push(ShapeFold {
            shape_id: active.stored.id,
            needs,
            fold,
        });
    }
    let mut series_folds: HashMap<i32, (BTreeSet<Hour>, SeriesFold)> = HashMap::new();
    for (series, minutes) in changed {
        let hours: BTreeSet<Hour> = minutes.iter().map(|minute| minute.hour()).collect();
        for hour in &hours {
            need(*series, &(hour.first_minute()..hour.next().first_minute()));
        }
        series_folds.insert(*series, (hours, SeriesFold::default()));
    }

    let spans: Vec<Span> = spans
        .into_iter()
        .map(|(series, span)| (series, span.start, span.end))
        .collect();
    {
        let mut rows = std::pin::pin!(minutes::read(tx, &spans));
        while let Some(row) = rows.try_next().await? {
            for index in by_series.get(&row.series_id).into_iter().flatten() {
                let fold = &mut folds[*index];
                if fold.needs.contains(&row.minute) {
                    fold.fold.add(row.minute, &row.ids, &row.counts);
                }
            }
            if let Some((hours, fold)) = series_folds.get_mut(&row.series_id)
                && hours.contains(&row.minute.hour())
            {
                fold.add(row.minute, &row.ids, &row.counts);
            }
        }
    }
    put(tx, context.zone, folds, series_folds).await
}

async fn put(
    tx: &mut Tx,
    zone: Tz,
    folds: Vec<ShapeFold>,
    series_folds: HashMap<i32, (BTreeSet<Hour>, SeriesFold)>,
) -> Result<(), StoreError> {
    let rows: Vec<(i32, HourRow)> = folds
        .into_iter()
        .flat_map(|ShapeFold { shape_id, fold, .. }| {
            fold.finish().into_iter().map(move |row| (shape_id, row))
        })
        .collect();
    let series_rows: Vec<(i32, SeriesHour)> = series_folds
        .into_iter()
        .flat_map(|(series, (_, fold))| fold.finish().into_iter().map(move |row| (series, row)))
        .collect();
    if !series_rows.is_empty() {
        hourly::put_series(tx, &series_rows).await?;
    }
    if !rows.is_empty() {
        hourly::put(tx, &rows).await?;
        let days = rows
            .iter()
            .map(|(shape, row)| (*shape, day_of(row.hour.start(), zone)))
            .collect();
        daily::derive(tx, &days, zone).await?;
    }
    Ok(())
}
