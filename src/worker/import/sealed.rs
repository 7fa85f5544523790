//! Reads which hours take no more rows.

use chrono::{DateTime, TimeDelta, Utc};

use crate::{
    import::Sealed,
    store::{StoreError, Tx, coverage, hourly, settings},
    time::{Hour, Minute},
    worker::{Folga, aggregate::ActiveShape, sync, whole_from},
};

/// What is sealed in each environment of the catalog, and the instant before which minutes have been dropped: it is sealed
/// so as long as no more are.
pub(super) async fn read(folga: &Folga) -> Result<(Vec<Sealed>, DateTime<Utc>), StoreError> {
    let catalog = &*folga.catalog;
    let mut tx = folga.store.begin_snapshot().await?;
    let pruned_before = settings::pruned_before(&mut tx).await?;
    // Drains refuse an hour as soon as its minutes may go at any moment; here none goes before this import ends.
    let open_from = catalog
        .limits()
        .map(|(_, limit)| whole_from(pruned_before, limit.window))
        .max()
        .unwrap_or(Hour::containing(pruned_before).next());
    let mut all = Vec::new();
    for environment in &catalog.environments {
        let shapes = sync::active_shapes(&mut tx, catalog, &environment.name).await?;
        let together = shapes.iter().map(|active| sources(folga, active));
        let mut sealed = Sealed::new(catalog.sources.len(), together, open_from);
        add(folga, &mut tx, &environment.name, &mut sealed).await?;
        all.push(sealed);
    }
    tx.rollback().await?;
    Ok((all, pruned_before))
}

/// The sources of the catalog that feed a shape.
pub(super) fn sources(folga: &Folga, active: &ActiveShape) -> Vec<usize> {
    let all = folga.catalog.sources.iter().enumerate();
    all.filter(|(_, source)| active.is_fed_by(Some(&source.name)))
        .map(|(index, _)| index)
        .collect()
}

/// Adds the hours that have samples, and those since its first sample of which a drain or an import can vouch for a minute.
async fn add(folga: &Folga, tx: &mut Tx, environment: &str, sealed: &mut Sealed) -> Result<(), StoreError> {
    let catalog = &*folga.catalog;
    let kept = folga.clock.now() - TimeDelta::days(i64::from(catalog.retention_days));
    let (from, to) = (Hour::containing(kept), sealed.open_from());
    let counted = hourly::counted(tx, environment, from, to).await?;
    for (index, source) in catalog.sources.iter().enumerate() {
        let state = coverage::state(tx, environment, &source.name).await?;
        let first = state.first_minute.map_or(to, Minute::hour);
        let masks = coverage::read(tx, environment, &source.name, from.max(first), to).await?;
        for (hour, masks) in masks
            .iter()
            .filter(|(_, masks)| masks.covered | masks.doubtful != 0)
        {
            // Only drains settle minutes.
            sealed.add(index, *hour, masks.settled != 0);
        }
        let own = counted.iter().filter(|(name, _)| *name == source.name);
        for (_, hour) in own.filter(|(_, hour)| !masks.contains_key(hour)) {
            sealed.add(index, *hour, true);
        }
    }
    Ok(())
}
