//! Drains, folds and drops: the stages joined.

pub mod aggregate;
pub mod apart;
pub mod board;
pub mod drain;
mod gaps;
mod passes;
pub mod report;
pub mod retention;
pub mod schedule;
pub mod sync;
mod write;

use std::sync::Arc;

use chrono::{DateTime, TimeDelta, Utc};

use crate::{
    catalog::{Catalog, Environment, Source},
    clock::Clock,
    source::Identities,
    store::Store,
    time::Hour,
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

/// The first hour that is not sealed: all minutes that its longest window reaches back over are still stored.
///
/// `pruned_before` is the instant before which minute rows have been dropped.
fn sealed_before(catalog: &Catalog, now: DateTime<Utc>, pruned_before: DateTime<Utc>) -> Hour {
    let reach = catalog
        .limits()
        .map(|(_, limit)| limit.window.reach_minutes())
        .max()
        .unwrap_or(0);
    let kept_from = pruned_before.max(now - catalog.minute_retention);
    // One minute more for the sum of W + 1 minutes; then the next whole hour.
    Hour::containing(kept_from + TimeDelta::minutes(reach + 1)).next()
}
