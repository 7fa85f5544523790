//! Drains, folds and drops: the stages joined.

pub mod aggregate;
pub mod alerting;
pub mod alerts;
pub mod apart;
pub mod bill;
pub mod board;
pub mod commands;
mod cooldown;
mod covered;
pub mod deliver;
pub mod drain;
pub mod emergency;
mod findings;
mod gaps;
mod gone;
pub mod import;
mod judge;
pub mod overdue;
mod passes;
pub mod post;
mod read;
pub mod report;
pub mod retention;
pub mod schedule;
pub mod sync;
mod unlimited;
mod write;

use std::sync::Arc;

use chrono::{DateTime, TimeDelta, Utc};

use crate::{
    catalog::{Catalog, Environment, Source},
    clock::Clock,
    source::Identities,
    store::Store,
    time::{Hour, Window},
};

/// What every job needs: the catalog, the database, the clock and the hash of identities.
#[derive(Clone)]
pub struct Folga {
    /// The catalog.
    pub catalog: Arc<Catalog>,
    /// The database.
    pub store: Store,
    /// The clock.
    pub clock: Clock,
    /// The hash of identities.
    pub identities: Arc<Identities>,
}

/// Every source with every environment that it exists in, in file order.
pub fn targets(catalog: &Catalog) -> impl Iterator<Item = (&Source, &Environment)> {
    catalog.sources.iter().flat_map(|source| {
        let here = |environment: &&Environment| source.environments.contains(&environment.name);
        catalog
            .environments
            .iter()
            .filter(here)
            .map(move |environment| (source, environment))
    })
}

/// The first hour all of whose minutes are stored that a window reaches back over, minutes before `pruned_before` having
/// been dropped.
fn whole_from(pruned_before: DateTime<Utc>, window: Window) -> Hour {
    // One minute more for the sum of W + 1 minutes; then the next whole hour.
    Hour::containing(pruned_before + TimeDelta::minutes(window.reach_minutes() + 1)).next()
}

/// The first hour that is not sealed: no window reaches back from it to minutes that have been dropped or may be at any
/// moment.
fn sealed_before(catalog: &Catalog, now: DateTime<Utc>, pruned_before: DateTime<Utc>) -> Hour {
    let kept_from = pruned_before.max(now - catalog.minute_retention);
    let windows = catalog.limits().map(|(_, limit)| limit.window);
    windows
        .map(|window| whole_from(kept_from, window))
        .max()
        .unwrap_or(Hour::containing(kept_from).next())
}
