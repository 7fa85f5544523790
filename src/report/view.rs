//! The report as it is served: integers exact at any size, what is absent null.

use chrono::{DateTime, Utc};
use serde::Serialize;

use crate::{
    calibration::{Percentiles, Status, WouldBlock},
    catalog::Mode,
    time::Algorithm,
};

/// What was measured against the limits of an environment in a period.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Report {
    /// The environment.
    pub environment: String,
    /// Start of the first hour.
    pub from: DateTime<Utc>,
    /// End of the last hour.
    pub to: DateTime<Utc>,
    /// The zone of local days and hours.
    pub timezone: String,
    /// A limit is near when this percentage of it is reached.
    pub alert_percent: u32,
    /// When the report was made.
    pub generated_at: DateTime<Utc>,
    /// How far each source can be vouched for.
    pub coverage: Vec<CoverageView>,
    /// Hours that were left out of all figures.
    pub ignored: Vec<IgnoredView>,
    /// The groups of limits.
    pub groups: Vec<GroupView>,
}

/// How far a source can be vouched for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CoverageView {
    /// The source.
    pub source: String,
    /// Closed minutes of the period.
    pub minutes: i64,
    /// Those that can be vouched for.
    pub covered: i64,
    /// Local days in a row, up to the last full one, of which 99 % can be vouched for.
    pub consecutive_days: u32,
    /// Runs of minutes since the source's first sample that can't be vouched for.
    pub gaps: Vec<SpanView>,
}

/// A span of time, without its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct SpanView {
    /// The first instant.
    pub from: DateTime<Utc>,
    /// The first instant after it.
    pub to: DateTime<Utc>,
}

/// Hours left out of all figures.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct IgnoredView {
    /// Start of the first hour.
    pub from: DateTime<Utc>,
    /// End of the last hour.
    pub to: DateTime<Utc>,
    /// Why.
    pub reason: String,
}

/// A group of limits.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct GroupView {
    /// Its id.
    pub id: String,
    /// Its name.
    pub name: String,
    /// Its limits.
    pub limits: Vec<LimitView>,
}

/// One limit and what was measured against it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LimitView {
    /// Its id.
    pub id: String,
    /// The sources that feed it.
    pub source: SourceNames,
    /// The endpoints it counts.
    pub endpoints: Vec<String>,
    /// What an identity is.
    pub scope: String,
    /// Its value; null where nothing is limited.
    pub limit: Option<u64>,
    /// Its window.
    pub window: String,
    /// How its limiter counts.
    pub algorithm: Algorithm,
    /// Whether it is one limit for all identities together.
    pub shared: bool,
    /// What it does.
    pub mode: Mode,
    /// The smallest count that is near.
    pub alert_at: Option<u64>,
    /// How it stands.
    pub status: Status,
    /// The largest window; null where nothing is known.
    pub peak: Option<PeakView>,
    /// Peak ÷ limit.
    pub utilization: Option<f64>,
    /// All that was counted.
    pub total: u128,
    /// Since when the limit's counts are known, where that is later than the source's first sample.
    pub history_from: Option<DateTime<Utc>>,
    /// Whether the period has minutes that have not closed.
    pub partial: bool,
    /// What the limit would have refused.
    pub would_block: Option<WouldBlock>,
    /// What windows with traffic hold.
    pub percentiles: Option<Percentiles>,
    /// The largest peaks of single identities.
    pub top_identities: Vec<TopView>,
    /// The team's own assumption of the peak.
    pub hypothetical_peak: Option<u64>,
    /// The largest peak by local hour of day: 0 where it was covered and quiet, null where nothing is known.
    pub by_hour: Option<[Option<u64>; 24]>,
}

/// The sources of a limit, spelt as in the catalog: a name, or a list where there are several.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum SourceNames {
    /// One source.
    One(String),
    /// Several sources.
    Several(Vec<String>),
}

/// The largest window and its bounds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PeakView {
    /// What it held; null for windows below a minute.
    pub value: Option<u64>,
    /// At least this much was in one window.
    pub lower: u64,
    /// At most this much was in one window.
    pub upper: u64,
    /// Its last minute.
    pub at: Option<DateTime<Utc>>,
    /// Whose it was: a label in a public scope, else 16 hex digits.
    pub identity: Option<String>,
}

/// The largest peak of one identity.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TopView {
    /// A label in a public scope, else 16 hex digits.
    pub identity: String,
    /// Its peak.
    pub peak: u64,
    /// The minute of the peak.
    pub at: DateTime<Utc>,
}
