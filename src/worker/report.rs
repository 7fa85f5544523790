//! Reads what a report is made of, from one snapshot of the database.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use chrono::{DateTime, TimeDelta, Utc};

use super::{Folga, aggregate::ActiveShape, sync};
use crate::{
    calibration::Vouched,
    catalog::Source,
    fold::Merged,
    report::{LeftOut, LimitData, Parts, Period, Report, ReportInput, build},
    store::{StoreError, Tx, coverage, daily, hourly, labels},
    time::{Hour, Minute, Window},
};

/// Makes the report of an environment, or of one group of it.
///
/// # Errors
/// The database failed.
pub async fn report(
    folga: &Folga,
    environment: &str,
    group: Option<&str>,
    period: Period,
) -> Result<Report, StoreError> {
    let (catalog, now) = (&*folga.catalog, folga.clock.now());
    let mut tx = folga.store.begin_snapshot().await?;
    let active = sync::active_shapes(&mut tx, catalog, environment).await?;
    let mut sources = BTreeMap::new();
    for source in catalog
        .sources
        .iter()
        .filter(|source| source.environments.iter().any(|name| name == environment))
    {
        sources.insert(
            source.name.clone(),
            vouched(&mut tx, folga, environment, source, now).await?,
        );
    }
    let wanted: HashSet<&str> = (catalog.limits())
        .filter(|(own, _)| group.is_none_or(|group| group == own.id))
        .map(|(_, limit)| &*limit.id)
        .collect();
    let active: Vec<ActiveShape> = (active.into_iter())
        .filter(|own| own.limits.iter().any(|limit| wanted.contains(&**limit)))
        .collect();
    let mut merged = figures(&mut tx, folga, environment, &active, period).await?;
    let labels = public_labels(&mut tx, folga, &merged).await?;
    tx.rollback().await?;

    let mut limits = HashMap::new();
    for own in &active {
        let data = LimitData {
            merged: merged.remove(&own.stored.id).unwrap_or_default(),
            history_from: history_from(own, &sources),
        };
        limits.extend(own.limits.iter().map(|limit| (limit.clone(), data.clone())));
    }
    Ok(build(&ReportInput {
        catalog,
        environment,
        group,
        period,
        generated_at: now,
        limits: &limits,
        sources: &sources,
        labels: &labels,
    }))
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
async fn figures(
    tx: &mut Tx,
    folga: &Folga,
    environment: &str,
    active: &[ActiveShape],
    period: Period,
) -> Result<HashMap<i32, Merged>, StoreError> {
    let (catalog, zone) = (&*folga.catalog, folga.catalog.timezone);
    let left_out = LeftOut::new(&catalog.ignored, environment);
    let parts = Parts::new(period, &left_out, zone);
    let windows: HashMap<i32, Window> = active
        .iter()
        .map(|own| (own.stored.id, own.shape.window))
        .collect();
    let shapes: Vec<i32> = active.iter().map(|own| own.stored.id).collect();
    let mut found: HashMap<i32, Vec<Merged>> = HashMap::new();
    for (first, last) in parts.days {
        for (shape, _, day) in daily::read(tx, &shapes, first, last).await? {
            found.entry(shape).or_default().push(day);
        }
    }
    for hours in parts.hours {
        for (shape, mut row) in hourly::read(tx, &shapes, hours.start, hours.end).await? {
            if let Some(clean_from) = windows
                .get(&shape)
                .and_then(|window| left_out.clean_from(row.hour, *window))
            {
                row.figures = row.figures.since(clean_from);
            }
            found
                .entry(shape)
                .or_default()
                .push(Merged::of_hours(&[row], zone));
        }
    }
    Ok(found
        .into_iter()
        .map(|(shape, parts)| (shape, Merged::of_parts(&parts)))
        .collect())
}

async fn public_labels(
    tx: &mut Tx,
    folga: &Folga,
    merged: &HashMap<i32, Merged>,
) -> Result<HashMap<(String, i64), String>, StoreError> {
    let public = folga.catalog.public_scopes();
    let shown: BTreeSet<i64> = merged
        .values()
        .flat_map(|merged| &merged.figures.top)
        .map(|top| top.identity)
        .collect();
    labels::of(tx, &public, &shown.into_iter().collect::<Vec<_>>()).await
}
