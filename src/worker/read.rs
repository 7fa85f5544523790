//! Reads what reports are made of, from one snapshot of the database.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap, HashSet},
    sync::Arc,
};

use chrono::{DateTime, TimeDelta, Utc};

use super::{Folga, aggregate::ActiveShape, sync, unlimited};
use crate::{
    calibration::Vouched,
    catalog::{Group, Limit, Source},
    fold::{HourRow, Merged, Samples},
    report::{InForce, LeftOut, LimitData, Parts, Period, ReportInput, ShapeData, UnlimitedData},
    store::{StoreError, Tx, coverage, daily, gauges, hourly, labels, series, shapes},
    time::{Algorithm, Day, Hour, Minute, Window, day_of},
};

/// What was asked for.
pub(super) struct Asked<'a> {
    pub(super) environment: &'a str,
    pub(super) period: Period,
    /// One group; all of them where absent.
    pub(super) group: Option<&'a str>,
    /// One limit, with its hours; all of them where absent.
    pub(super) limit: Option<&'a Limit>,
    /// Whether endpoints that no limit names belong to it.
    pub(super) wants_unlimited: bool,
}

impl<'a> Asked<'a> {
    /// One limit of an environment.
    pub(super) const fn one(environment: &'a str, limit: &'a Limit, period: Period) -> Self {
        Self {
            environment,
            period,
            group: None,
            limit: Some(limit),
            wants_unlimited: false,
        }
    }

    fn wants(&self, group: &Group, limit: &Limit) -> bool {
        self.group.is_none_or(|wanted| wanted == group.id)
            && self.limit.is_none_or(|wanted| wanted.id == limit.id)
    }
}

/// What was read.
pub(super) struct Read {
    now: DateTime<Utc>,
    limits: HashMap<String, LimitData>,
    /// The hours of the one limit that was asked for.
    pub(super) rows: Vec<HourRow>,
    /// What samples of its gauges found in them.
    pub(super) samples: BTreeMap<Hour, Samples>,
    unlimited: Vec<UnlimitedData>,
    sources: BTreeMap<String, Vouched>,
    labels: HashMap<(String, i64), String>,
}

impl Read {
    pub(super) async fn of(folga: &Folga, asked: &Asked<'_>) -> Result<Self, StoreError> {
        let Asked {
            environment, period, ..
        } = *asked;
        let (catalog, now) = (&*folga.catalog, folga.clock.now());
        let mut tx = folga.store.begin_snapshot().await?;
        let active = sync::active_shapes(&mut tx, catalog, environment).await?;
        let mut sources = BTreeMap::new();
        let here = |source: &&Source| source.environments.iter().any(|name| name == environment);
        for source in catalog.sources.iter().filter(here) {
            let vouched = vouched(&mut tx, folga, environment, source, now).await?;
            sources.insert(source.name.clone(), vouched);
        }
        let unlimited = if asked.wants_unlimited {
            unlimited::read(&mut tx, folga, environment, &active, period).await?
        } else {
            Vec::new()
        };
        let ids: HashSet<&str> = (catalog.limits())
            .filter(|(group, limit)| asked.wants(group, limit))
            .map(|(_, limit)| &*limit.id)
            .collect();
        let active: Vec<&ActiveShape> = (active.iter())
            .filter(|own| (own.limits.iter().chain(&own.accepted_of)).any(|limit| ids.contains(&**limit)))
            .collect();
        let counted = shape_data(&mut tx, folga, environment, &active, &sources, period).await?;
        let left_out = LeftOut::new(&catalog.ignored, environment);
        let (mut rows, mut samples) = (Vec::new(), BTreeMap::new());
        for own in active
            .iter()
            .filter(|own| asked.limit.is_some_and(|limit| own.limits.contains(&limit.id)))
        {
            let read = hourly::read(&mut tx, &[own.stored.id], period.from, period.to).await?;
            rows.extend(
                read.into_iter()
                    .map(|(_, row)| clean(row, own.shape.window, &left_out)),
            );
            if own.shape.algorithm == Algorithm::Sampled {
                let known = series::of_environment(&mut tx, environment).await?;
                let gauges: Vec<_> = (known.iter())
                    .filter(|series| own.counts(series))
                    .map(|series| series.id)
                    .collect();
                samples.extend(gauges::read(&mut tx, &gauges, period.from, period.to).await?);
            }
        }
        let labels = public_labels(&mut tx, folga, &counted, &rows, &unlimited).await?;
        let in_force = in_force(&mut tx, environment).await?;
        tx.rollback().await?;

        let mut limits: HashMap<String, LimitData> = HashMap::new();
        for own in &active {
            let Some(data) = counted.get(&own.stored.id) else {
                continue;
            };
            for limit in &own.limits {
                limits.entry(limit.clone()).or_default().counted = Arc::clone(data);
            }
            for limit in &own.accepted_of {
                limits.entry(limit.clone()).or_default().accepted = Some(Arc::clone(data));
            }
        }
        for (limit, in_force) in in_force {
            if let Some(data) = limits.get_mut(&limit) {
                data.in_force = in_force;
            }
        }
        Ok(Self {
            now,
            limits,
            rows,
            samples,
            unlimited,
            sources,
            labels,
        })
    }

    pub(super) fn input<'a>(&'a self, folga: &'a Folga, asked: &'a Asked<'_>) -> ReportInput<'a> {
        ReportInput {
            catalog: &folga.catalog,
            environment: asked.environment,
            group: asked.group,
            period: asked.period,
            generated_at: self.now,
            limits: &self.limits,
            unlimited: &self.unlimited,
            sources: &self.sources,
            labels: &self.labels,
        }
    }
}

/// A shape's history begins with its sources' first sample, or later where minutes had been dropped before it was new.
fn history_from(active: &ActiveShape, sources: &BTreeMap<String, Vouched>) -> Option<DateTime<Utc>> {
    let first = active
        .shape
        .sources
        .iter()
        .filter_map(|name| sources.get(name)?.first)
        .min()?;
    Some(
        active
            .stored
            .history_from
            .map_or(first.start(), |from| from.max(first.start())),
    )
}

async fn vouched(
    tx: &mut Tx,
    folga: &Folga,
    environment: &str,
    source: &Source,
    now: DateTime<Utc>,
) -> Result<Vouched, StoreError> {
    let state = coverage::state(tx, environment, &source.name).await?;
    // All that is kept: days in a row may have begun long before the period.
    let from = Hour::containing(now - TimeDelta::days(i64::from(folga.catalog.retention_days)));
    let masks = coverage::read(tx, environment, &source.name, from, Hour::containing(now).next()).await?;
    Ok(Vouched {
        first: state.first_minute,
        masks: masks
            .into_iter()
            .map(|(hour, masks)| (hour, masks.covered & !masks.doubtful))
            .collect(),
        closed_before: Minute::containing(now - source.grace),
    })
}

/// What every shape counted in a period, whole days from daily rows and the rest from hourly ones.
async fn shape_data(
    tx: &mut Tx,
    folga: &Folga,
    environment: &str,
    active: &[&ActiveShape],
    sources: &BTreeMap<String, Vouched>,
    period: Period,
) -> Result<HashMap<i32, Arc<ShapeData>>, StoreError> {
    let (catalog, zone) = (&*folga.catalog, folga.catalog.timezone);
    let left_out = LeftOut::new(&catalog.ignored, environment);
    let parts = Parts::new(period, &left_out, zone);
    let windows: HashMap<i32, Window> = active
        .iter()
        .map(|own| (own.stored.id, own.shape.window))
        .collect();
    let shapes: Vec<i32> = active.iter().map(|own| own.stored.id).collect();
    let mut found: HashMap<i32, BTreeMap<Day, Merged>> = HashMap::new();
    for (first, last) in parts.days {
        for (shape, day, merged) in daily::read(tx, &shapes, first, last).await? {
            found.entry(shape).or_default().insert(day, merged);
        }
    }
    let mut hours: BTreeMap<(i32, Day), Vec<_>> = BTreeMap::new();
    for span in parts.hours {
        for (shape, row) in hourly::read(tx, &shapes, span.start, span.end).await? {
            let row = match windows.get(&shape) {
                Some(window) => clean(row, *window, &left_out),
                None => row,
            };
            let day = day_of(row.hour.start(), zone);
            hours.entry((shape, day)).or_default().push(row);
        }
    }
    for ((shape, day), rows) in hours {
        let merged = Merged::of_hours(&rows, zone);
        found.entry(shape).or_default().insert(day, merged);
    }
    Ok((active.iter())
        .map(|own| {
            let days = found.remove(&own.stored.id).unwrap_or_default();
            let data = ShapeData {
                merged: Merged::of_parts(days.values()),
                days,
                history_from: history_from(own, sources),
            };
            (own.stored.id, Arc::new(data))
        })
        .collect())
}

/// An hour without windows that reach back into hours that are left out.
fn clean(mut row: HourRow, window: Window, left_out: &LeftOut) -> HourRow {
    if let Some(clean_from) = left_out.clean_from(row.hour, window) {
        row.figures = row.figures.since(clean_from);
    }
    row
}

async fn public_labels(
    tx: &mut Tx,
    folga: &Folga,
    counted: &HashMap<i32, Arc<ShapeData>>,
    rows: &[HourRow],
    unlimited: &[UnlimitedData],
) -> Result<HashMap<(String, i64), String>, StoreError> {
    let public = folga.catalog.public_scopes();
    let top = counted.values().flat_map(|data| &data.merged.figures.top);
    let by_hour = rows.iter().flat_map(|row| &row.figures.top);
    let others = unlimited.iter().flat_map(|data| &data.peaks);
    let shown: BTreeSet<i64> = (top.chain(by_hour).map(|top| top.identity))
        .chain(others.filter_map(|peak| peak.identity))
        .collect();
    labels::of(tx, &public, &shown.into_iter().collect::<Vec<_>>()).await
}

/// Which values were in force when, by limit.
async fn in_force(tx: &mut Tx, environment: &str) -> Result<HashMap<String, Vec<InForce>>, StoreError> {
    let mut limits: HashMap<String, Vec<InForce>> = HashMap::new();
    for (from, entry) in shapes::record(tx, environment).await? {
        limits.entry(entry.limit_id).or_default().push(InForce {
            from,
            value: entry.value.map(|value| value.max(0).cast_unsigned()),
            mode: entry.mode.parse().ok(),
        });
    }
    Ok(limits)
}
