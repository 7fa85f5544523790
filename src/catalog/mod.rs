//! The catalog: which counters there are, which limits they are held against, and how the service runs.
//!
//! Everything here is checked: a [`Catalog`] that exists is one the service can run on.

mod pattern;
mod refusal;
mod schedule;
mod secret;

use std::{collections::BTreeMap, net::SocketAddr, path::PathBuf, time::Duration};

use chrono::{DateTime, TimeDelta, Utc};
use chrono_tz::Tz;

pub use pattern::{Captures, Pattern, Placeholder};
pub use refusal::Refusal;
pub use schedule::Schedule;
pub use secret::Secret;

use crate::time::{Algorithm, MinuteFormat, Window};

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
    /// Sources in file order.
    pub sources: Vec<Source>,
    /// Groups of limits in file order.
    pub groups: Vec<Group>,
    /// Spans left out of calibration.
    pub ignored: Vec<Ignored>,
}

/// How Redis is reached.
#[derive(Clone, Debug)]
pub struct RedisSettings {
    /// A checked `redis://` or `rediss://` URL, password included.
    pub url: Secret,
    /// User name given apart from the URL.
    pub username: Option<String>,
    /// Password given apart from the URL.
    pub password: Option<Secret>,
    /// PEM file of the authority that signed the server's certificate, where it is a private one.
    pub ca_file: Option<PathBuf>,
    /// Longest wait for a connection, handshake included.
    pub connect_timeout: Duration,
    /// Longest wait for one reply or pipeline of replies.
    pub response_timeout: Duration,
}

/// How Postgres is reached.
#[derive(Clone, Debug)]
pub struct PostgresSettings {
    /// A checked `postgres://` URL; without one a private server is kept under `data_dir`.
    pub url: Option<Secret>,
    /// Most connections of the pool.
    pub max_connections: u32,
    /// Folder of the private server.
    pub data_dir: PathBuf,
}

/// Where alerts go.
#[derive(Clone, Debug)]
pub struct NtfySettings {
    /// Root URL of the ntfy server.
    pub url: String,
    /// Topic.
    pub topic: String,
    /// Access token.
    pub token: Option<Secret>,
    /// Most messages a day.
    pub daily_budget: u32,
    /// Time between two messages of one alert key and level.
    pub cooldown: TimeDelta,
    /// How long a value must stay low before its alert ends.
    pub clear_after: TimeDelta,
}

/// How the HTTP side listens.
#[derive(Clone, Debug)]
pub struct HttpSettings {
    /// Address to bind.
    pub listen: SocketAddr,
    /// Public address of the page, for links in alerts.
    pub base_url: Option<String>,
    /// Token that requests must carry; mandatory beyond loopback.
    pub api_token: Option<Secret>,
}

/// One deployment of the users' system, which owns a key prefix.
#[derive(Clone, Debug)]
pub struct Environment {
    /// Its name.
    pub name: String,
    /// What `{env}` stands for.
    pub prefix: String,
}

/// What an identity is.
#[derive(Clone, Copy, Debug, Default)]
pub struct Scope {
    /// Identities are network addresses and are normalised as such.
    pub ip: bool,
    /// Labels are kept; every other scope is stored hashed only.
    pub public: bool,
}

/// A family of keys with one schema.
#[derive(Clone, Debug)]
pub struct Source {
    /// Its name.
    pub name: String,
    /// What its keys hold.
    pub kind: SourceKind,
    /// What its keys look like.
    pub key: Pattern,
    /// What the fields of its hashes look like.
    pub field: Option<Pattern>,
    /// What the patterns lack.
    pub constants: Constants,
    /// How its keys spell the minute.
    pub minute: MinuteFormat,
    /// How long a key lives, counted from the start of its minute.
    pub ttl: TimeDelta,
    /// When it is drained.
    pub schedule: Schedule,
    /// A minute closes this long after it ends.
    pub grace: TimeDelta,
    /// Closed minutes are read again for this long, for late writes.
    pub lateness: TimeDelta,
    /// How its keys are found.
    pub find: Find,
    /// Environments it exists in, by name.
    pub environments: Vec<String>,
    /// What its counts mean.
    pub counts: Counts,
    /// Outcomes that mean: attempted, not accepted.
    pub rejected: Vec<String>,
}

/// What a source's keys hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SourceKind {
    /// A hash of counts per field.
    Hash,
    /// One count per key.
    Counter,
}

/// Constants in place of what a source's patterns lack.
#[derive(Clone, Debug, Default)]
pub struct Constants {
    /// The one endpoint.
    pub endpoint: Option<String>,
    /// The one scope.
    pub scope: Option<String>,
    /// The one identity.
    pub identity: Option<String>,
    /// The one outcome.
    pub outcome: Option<String>,
}

/// What a source's counts mean.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Counts {
    /// Every request, let through or not.
    #[default]
    Attempts,
    /// Only the requests that were let through.
    Accepted,
}

/// How a source's keys are found.
#[derive(Clone, Debug)]
pub enum Find {
    /// A set per minute that names the minute's keys.
    Index(Pattern),
    /// `SCAN` over the keyspace.
    Scan,
    /// The keys of these endpoints, asked for by name.
    Endpoints(Vec<String>),
}

/// A group of limits.
#[derive(Clone, Debug)]
pub struct Group {
    /// Its id.
    pub id: String,
    /// Its name.
    pub name: String,
    /// Its limits in file order.
    pub limits: Vec<Limit>,
}

/// One limit.
#[derive(Clone, Debug)]
pub struct Limit {
    /// Its id, unique in the catalog.
    pub id: String,
    /// The sources that feed it, sorted.
    pub sources: Vec<String>,
    /// Endpoint names or globs, in file order.
    pub endpoints: Vec<String>,
    /// What an identity is.
    pub scope: String,
    /// The largest allowed count in one window, where the environment has one.
    pub value: PerEnvironment<u64>,
    /// Its window.
    pub window: Window,
    /// How its limiter counts.
    pub algorithm: Algorithm,
    /// What it does.
    pub mode: PerEnvironment<Mode>,
    /// One limit for all identities of the scope together.
    pub shared: bool,
    /// The outcomes that count; all of them where absent.
    pub outcomes: Option<Vec<String>>,
    /// For mode `watch`: alert at this count.
    pub watch_alert: Option<u64>,
    /// The team's own assumption of the peak.
    pub hypothetical_peak: Option<u64>,
    /// Never recommend more than this.
    pub ceiling: Option<u64>,
}

/// A setting that is one for all environments or differs by environment.
#[derive(Clone, Debug)]
pub enum PerEnvironment<T> {
    /// The same everywhere.
    All(T),
    /// By environment name; absent where the environment has none.
    Each(BTreeMap<String, T>),
}

impl<T: Copy> PerEnvironment<T> {
    /// The setting in one environment.
    #[must_use]
    pub fn get(&self, environment: &str) -> Option<T> {
        match self {
            Self::All(value) => Some(*value),
            Self::Each(values) => values.get(environment).copied(),
        }
    }
}

/// What a limit does in an environment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// Counted, never enforced.
    #[default]
    Observe,
    /// Enforced.
    Block,
    /// No limit: watched only.
    Watch,
    /// Not limited and not judged.
    Exempt,
}

/// A span left out of calibration.
#[derive(Clone, Debug)]
pub struct Ignored {
    /// The environment it holds for.
    pub environment: String,
    /// First instant.
    pub from: DateTime<Utc>,
    /// First instant after it.
    pub to: DateTime<Utc>,
    /// Why.
    pub reason: String,
}
