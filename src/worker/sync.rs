//! Brings the database in line with the catalog: identity key, zone, shapes and what is in force.

use std::collections::BTreeMap;

use anyhow::{Context, bail};
use chrono::{DateTime, Utc};

use super::{
    Folga,
    aggregate::{self, ActiveShape, FoldContext},
    gone::end_what_is_gone,
    whole_from,
};
use crate::{
    catalog::{Catalog, Scope, Shape},
    source::Membership,
    store::{
        StoreError, Tx, daily, labels, series, settings,
        shapes::{self, InForce, StoredShape},
    },
    time::Minute,
};

const ZONE: &str = "timezone";
const IDENTITY_KEY: &str = "identity key";

/// Checks that the database was made with this identity key and normalisation, and takes in what is new in the
/// catalog: new shapes are folded from the minute store at once.
///
/// # Errors
/// The key or a scope's normalisation is another than the database's, or the database failed.
pub async fn sync(folga: &Folga) -> anyhow::Result<()> {
    let catalog = &*folga.catalog;
    let mut tx = folga.store.begin().await?;
    let identities = check_identities(folga, &mut tx).await?;
    let zone = settings::get(&mut tx, ZONE).await?;
    tx.rollback().await?;
    if !identities.is_empty() {
        let mut tx = folga.store.begin_write_apart().await?;
        for (name, value) in check_identities(folga, &mut tx).await? {
            settings::set(&mut tx, &name, &value).await?;
        }
        tx.commit().await?;
    }
    if zone.as_deref() != Some(catalog.timezone.name()) {
        rebuild_days(folga)
            .await
            .context("deriving daily rows for the catalog's time zone")?;
    }
    // A scope that is public no longer leaves no labels behind.
    let mut tx = folga.store.begin().await?;
    labels::forget(&mut tx, &catalog.public_scopes(), None).await?;
    tx.commit().await?;
    for environment in &catalog.environments {
        sync_environment(folga, &environment.name).await?;
    }
    end_what_is_gone(folga).await?;
    Ok(())
}

/// The facts about identities that the database does not hold yet.
async fn check_identities(folga: &Folga, tx: &mut Tx) -> anyhow::Result<Vec<(String, String)>> {
    let normalisation = |scope: &Scope| if scope.ip { "ip" } else { "none" }.to_owned();
    let facts = [(IDENTITY_KEY.to_owned(), folga.identities.fingerprint())]
        .into_iter()
        .chain(
            (folga.catalog.scopes.iter())
                .map(|(name, scope)| (format!("scope {name}"), normalisation(scope))),
        );
    let mut new = Vec::new();
    for (name, value) in facts {
        match settings::get(tx, &name).await? {
            None => new.push((name, value)),
            Some(stored) if stored == value => {}
            Some(_) if name == IDENTITY_KEY => bail!(
                "FOLGA_IDENTITY_KEY is not the key this database was filled with, so every identity would look new: \
                 set the former key, or start with an empty database"
            ),
            Some(_) => bail!(
                "the catalog changes how identities of {name} are normalised, so they would look new: put `kind` \
                 back, or declare the scope under another name"
            ),
        }
    }
    Ok(new)
}

/// Days follow the catalog's zone. No environment is written meanwhile.
async fn rebuild_days(folga: &Folga) -> Result<(), StoreError> {
    let zone = folga.catalog.timezone;
    let mut tx = folga
        .store
        .begin_write_all(&environment_names(&folga.catalog))
        .await?;
    daily::rebuild(&mut tx, zone).await?;
    settings::set(&mut tx, ZONE, zone.name()).await?;
    tx.commit().await
}

/// The catalog's environments in the order in which they are locked.
#[must_use]
pub fn environment_names(catalog: &Catalog) -> Vec<&str> {
    let mut names: Vec<_> = catalog
        .environments
        .iter()
        .map(|environment| &*environment.name)
        .collect();
    names.sort_unstable();
    names
}

async fn sync_environment(folga: &Folga, environment: &str) -> Result<(), StoreError> {
    let wanted = Wanted::of(&folga.catalog, environment);
    let mut tx = folga.store.begin().await?;
    let is_met = wanted.is_met(&mut tx, environment).await?;
    tx.rollback().await?;
    if is_met {
        return Ok(());
    }

    let mut tx = folga.store.begin_write(environment).await?;
    let pruned_before = settings::pruned_before(&mut tx).await?;
    let mut known = shapes::of_environment(&mut tx, environment).await?;
    for definition in wanted.shapes.keys() {
        if known.iter().all(|stored| stored.definition != *definition) {
            known.push(shapes::add(&mut tx, environment, definition).await?);
        }
    }
    for limit in wanted.changes(&known, &shapes::in_force(&mut tx, environment).await?) {
        shapes::put_in_force(&mut tx, environment, folga.clock.now(), &limit).await?;
    }
    let active = wanted.active(known);
    for shape in active.iter().filter(|shape| shape.is_unfolded(pruned_before)) {
        if pruned_before > DateTime::<Utc>::MIN_UTC {
            let from = whole_from(pruned_before, shape.shape.window).start();
            shapes::set_history_from(&mut tx, shape.stored.id, from).await?;
        }
    }
    let series = series::of_environment(&mut tx, environment).await?;
    let membership = Membership::new(&folga.catalog, &folga.identities);
    let context = FoldContext {
        shapes: &active,
        series: &series,
        zone: folga.catalog.timezone,
        membership: &membership,
        gauges: &folga.catalog.gauges(),
        closed_before: closed_before(folga),
        pruned_before,
    };
    aggregate::at_birth(&mut tx, &context).await?;
    // A shape may have been out of the catalog for a while.
    aggregate::close_windows(&mut tx, &context).await?;
    tx.commit().await
}

/// Folds the windows of an environment that have closed since the last fold, so that their minutes may go.
///
/// # Errors
/// The database failed.
pub async fn close_windows(folga: &Folga, environment: &str) -> Result<(), StoreError> {
    let mut tx = folga.store.begin_write(environment).await?;
    let membership = Membership::new(&folga.catalog, &folga.identities);
    let context = FoldContext {
        shapes: &active_shapes(&mut tx, &folga.catalog, environment).await?,
        series: &series::of_environment(&mut tx, environment).await?,
        zone: folga.catalog.timezone,
        membership: &membership,
        gauges: &folga.catalog.gauges(),
        closed_before: closed_before(folga),
        pruned_before: settings::pruned_before(&mut tx).await?,
    };
    aggregate::close_windows(&mut tx, &context).await?;
    tx.commit().await
}

/// The first minute that is not closed for every source.
pub(super) fn closed_before(folga: &Folga) -> Minute {
    let grace = folga.catalog.sources.iter().map(|source| source.grace).max();
    Minute::containing(folga.clock.now() - grace.unwrap_or_default())
}

/// The shapes of an environment that the catalog names.
///
/// # Errors
/// The database failed.
pub async fn active_shapes(
    tx: &mut Tx,
    catalog: &Catalog,
    environment: &str,
) -> Result<Vec<ActiveShape>, StoreError> {
    Ok(Wanted::of(catalog, environment).active(shapes::of_environment(tx, environment).await?))
}

/// What the catalog wants of an environment.
struct Wanted {
    shapes: BTreeMap<String, Shape>,
    limits: Vec<WantedLimit>,
}

struct WantedLimit {
    id: String,
    group: String,
    definition: String,
    /// The shape of what it counts of accepted requests alone.
    accepted: Option<String>,
    value: Option<i64>,
    mode: String,
}

impl Wanted {
    fn of(catalog: &Catalog, environment: &str) -> Self {
        let mut wanted = Self {
            shapes: BTreeMap::new(),
            limits: Vec::new(),
        };
        for (group, limit) in catalog.limits() {
            if !limit.exists_in(environment) {
                continue;
            }
            let shape = limit.shape(catalog.timezone);
            let definition = shape.definition();
            let accepted = limit.accepted_shape(catalog.timezone, &catalog.sources);
            wanted.limits.push(WantedLimit {
                id: limit.id.clone(),
                group: group.id.clone(),
                definition: definition.clone(),
                accepted: accepted.as_ref().map(Shape::definition),
                value: limit
                    .value_in(environment)
                    .and_then(|value| i64::try_from(value).ok()),
                mode: limit.mode_in(environment).to_string(),
            });
            wanted.shapes.insert(definition, shape);
            wanted
                .shapes
                .extend(accepted.map(|accepted| (accepted.definition(), accepted)));
        }
        wanted
    }

    async fn is_met(&self, tx: &mut Tx, environment: &str) -> Result<bool, StoreError> {
        let pruned_before = settings::pruned_before(tx).await?;
        let known = shapes::of_environment(tx, environment).await?;
        let in_force = shapes::in_force(tx, environment).await?;
        let is_unchanged = self.changes(&known, &in_force).is_empty();
        let active = self.active(known);
        Ok(is_unchanged
            && active.len() == self.shapes.len()
            && active.iter().all(|shape| !shape.is_unfolded(pruned_before)))
    }

    /// What has to be noted so that the record says what the catalog says. Only shapes that are known count.
    fn changes(&self, known: &[StoredShape], in_force: &[InForce]) -> Vec<InForce> {
        let mut changes = Vec::new();
        for limit in &self.limits {
            let Some(shape) = known.iter().find(|stored| stored.definition == limit.definition) else {
                continue;
            };
            let now = InForce {
                limit_id: limit.id.clone(),
                group_id: limit.group.clone(),
                shape_id: shape.id,
                value: limit.value,
                mode: limit.mode.clone(),
            };
            if !in_force.contains(&now) {
                changes.push(now);
            }
        }
        let gone =
            |was: &&InForce| was.mode != REMOVED && self.limits.iter().all(|limit| limit.id != was.limit_id);
        let removed = in_force.iter().filter(gone).map(|was| InForce {
            mode: REMOVED.to_owned(),
            ..was.clone()
        });
        changes.extend(removed);
        changes
    }

    fn active(&self, known: Vec<StoredShape>) -> Vec<ActiveShape> {
        known
            .into_iter()
            .filter_map(|stored| {
                let shape = self.shapes.get(&stored.definition)?.clone();
                let ids = |is_own: &dyn Fn(&WantedLimit) -> bool| {
                    let own = self.limits.iter().filter(|limit| is_own(limit));
                    own.map(|limit| limit.id.clone()).collect()
                };
                Some(ActiveShape {
                    limits: ids(&|limit| limit.definition == stored.definition),
                    accepted_of: ids(&|limit| limit.accepted.as_ref() == Some(&stored.definition)),
                    stored,
                    shape,
                })
            })
            .collect()
    }
}

const REMOVED: &str = "removed";
