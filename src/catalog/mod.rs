//! The catalog: which counters there are, which limits they are held against, and how the service runs.
//!
//! Everything here is checked: a [`Catalog`] that exists is one the service can run on. A file is read table by table
//! ([`section`]) into checked values; what is wrong is collected ([`problem`]) and shown all at once.

mod durations;
mod environments;
mod globs;
mod limits;
mod mask;
mod members;
mod overrides;
mod pattern;
mod problem;
mod read;
mod refusal;
mod schedule;
mod secret;
mod section;
mod settings;
mod shape;
mod sources;
mod tariff;
#[cfg(test)]
mod tests;
mod url;
mod values;

use std::{
    collections::{BTreeMap, BTreeSet},
    path::PathBuf,
};

use chrono::TimeDelta;
use chrono_tz::Tz;

pub use durations::{duration, spelt};
pub use environments::{Environment, Ignored, Scope};
pub use globs::Globs;
pub use limits::{Group, Limit, Mode, PerEnvironment, UNLIMITED, alert_at};
pub use members::Members;
pub use overrides::variable;
pub use pattern::{Captures, Pattern, Placeholder};
pub use problem::CatalogError;
pub use refusal::Refusal;
pub use schedule::Schedule;
pub use secret::Secret;
pub use settings::{HttpSettings, NtfySettings, PostgresSettings, RedisSettings};
pub use shape::Shape;
pub use sources::{Constants, Counts, Find, Source, SourceKind};
pub use tariff::Tariff;

/// The whole checked catalog.
#[derive(Clone, Debug)]
pub struct Catalog {
    /// The file it was read from.
    pub path: PathBuf,
    /// Zone of local days, of the hour-of-day profile and of displayed times. Storage is UTC.
    pub timezone: Tz,
    /// A limit is near when its peak reaches this percentage of it.
    pub alert_percent: u32,
    /// How many times 24 hours aggregates are kept.
    pub retention_days: u32,
    /// How long minute rows are kept.
    pub minute_retention: TimeDelta,
    /// When retention runs.
    pub retention_schedule: Schedule,
    /// Consecutive covered days before a value is recommended.
    pub required_days: u32,
    /// Days before limits by time of day are suggested.
    pub hourly_limits_after_days: u32,
    /// How Redis is reached.
    pub redis: RedisSettings,
    /// How Postgres is reached.
    pub postgres: PostgresSettings,
    /// Where alerts go, if anywhere.
    pub ntfy: Option<NtfySettings>,
    /// How the HTTP side listens.
    pub http: HttpSettings,
    /// The text that the identity hash key is derived from; the demo alone runs without one.
    pub identity_key: Option<Secret>,
    /// Environments in file order.
    pub environments: Vec<Environment>,
    /// Scopes by name.
    pub scopes: BTreeMap<String, Scope>,
    /// Whose members the identities of some scopes are.
    pub members: Vec<Members>,
    /// Sources in file order.
    pub sources: Vec<Source>,
    /// Groups of limits in file order.
    pub groups: Vec<Group>,
    /// Spans left out of calibration.
    pub ignored: Vec<Ignored>,
}

impl Catalog {
    /// The scopes whose labels are kept.
    #[must_use]
    pub fn public_scopes(&self) -> Vec<String> {
        let public = self.scopes.iter().filter(|(_, scope)| scope.public);
        public.map(|(name, _)| name.clone()).collect()
    }

    /// The sources that are gauges, by name.
    #[must_use]
    pub fn gauges(&self) -> BTreeSet<&str> {
        let gauges = (self.sources.iter()).filter(|source| source.kind == SourceKind::Gauge);
        gauges.map(|source| &*source.name).collect()
    }

    /// All limits with their groups, in file order.
    pub fn limits(&self) -> impl Iterator<Item = (&Group, &Limit)> {
        self.groups
            .iter()
            .flat_map(|group| group.limits.iter().map(move |limit| (group, limit)))
    }
}
