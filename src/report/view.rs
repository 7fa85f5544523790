//! The report as it is served: integers exact at any size, what is absent null.

use chrono::{DateTime, Utc};
use serde::Serialize;
use utoipa::ToSchema;

use crate::{
    calibration::{Action, Method, Percentiles, Readiness, Reason, Status, Trend, WouldBlock},
    catalog::Mode,
    fold::Samples,
    time::{Algorithm, Day},
};

/// What was measured against the limits of an environment in a period.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
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
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct SpanView {
    /// The first instant.
    pub from: DateTime<Utc>,
    /// The first instant after it.
    pub to: DateTime<Utc>,
}

/// Hours left out of all figures.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct IgnoredView {
    /// Start of the first hour.
    pub from: DateTime<Utc>,
    /// End of the last hour.
    pub to: DateTime<Utc>,
    /// Why.
    pub reason: String,
}

/// A group of limits.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub struct GroupView {
    /// Its id.
    pub id: String,
    /// Its name.
    pub name: String,
    /// Its limits.
    pub limits: Vec<LimitView>,
}

/// One limit and what was measured against it.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
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
    /// Whether the peak means "at least": the limit was enforced, only accepted requests were counted, and the peak
    /// reaches it; or it is the largest of samples.
    pub censored: bool,
    /// All that was counted.
    pub total: u128,
    /// How much of it was accepted; null where the source does not tell.
    pub accepted: Option<u128>,
    /// The largest window of accepted requests, where the source tells outcomes and the limit counts refused ones too.
    pub accepted_peak: Option<AcceptedView>,
    /// Since when the limit's counts are known: its sources' first sample, or later where the limit is younger.
    pub history_from: Option<DateTime<Utc>>,
    /// Whether the period has minutes that have not closed.
    pub partial: bool,
    /// What the limit would have refused.
    pub would_block: Option<WouldBlock>,
    /// What windows with traffic hold.
    pub percentiles: Option<Percentiles>,
    /// The largest peaks of single identities.
    pub top_identities: Vec<TopView>,
    /// Whether there is enough evidence to decide on.
    pub readiness: Readiness,
    /// What to do; null where nothing is limited.
    pub recommendation: Option<RecommendationView>,
    /// Where the daily peaks are going; null for fewer than 14 days with traffic.
    pub trend: Option<Trend>,
    /// The team's own assumption of the peak.
    pub hypothetical_peak: Option<u64>,
    /// The largest peak by local hour of day: 0 where it was covered and quiet, null where nothing is known.
    pub by_hour: Option<[Option<u64>; 24]>,
    /// The value that fits each local hour of day; null before enough days in a row are covered.
    pub limits_by_hour: Option<[Option<u64>; 24]>,
}

/// The largest window of accepted requests.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub struct AcceptedView {
    /// What it held.
    pub value: u64,
    /// Its last minute.
    pub at: DateTime<Utc>,
    /// Value ÷ limit.
    pub utilization: Option<f64>,
}

/// What to do with a limit.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub struct RecommendationView {
    /// What to do.
    pub action: Action,
    /// The value that fits; under review without what dominates.
    pub limit: Option<u64>,
    /// The peak to expect.
    pub projected_peak: Option<f64>,
    /// Its interval: of 90 % confidence where a distribution was fitted, else from what was seen to what is expected.
    pub interval: Option<[f64; 2]>,
    /// How it was projected.
    pub method: Option<Method>,
    /// Why, in words.
    pub reason: String,
    /// Where one identity or one day dominates: the values with it and without.
    pub dominated: Option<DominatedView>,
    /// Why, for other languages.
    #[serde(skip)]
    pub why: Reason,
}

/// Values with and without what dominates.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub struct DominatedView {
    /// With it.
    pub with: Option<SizingView>,
    /// Without it; null where nothing is left.
    pub without: Option<SizingView>,
}

/// A value and the peak it holds.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub struct SizingView {
    /// The value.
    pub limit: u64,
    /// The peak to expect.
    pub projected_peak: f64,
}

/// The sources of a limit, spelt as in the catalog: a name, or a list where there are several.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(untagged)]
pub enum SourceNames {
    /// One source.
    One(String),
    /// Several sources.
    Several(Vec<String>),
}

/// The largest window and its bounds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct PeakView {
    /// What it held; null for windows below a minute.
    pub value: Option<u64>,
    /// At least this much was in one window.
    pub lower: u64,
    /// At most this much was in one window; null for samples, between which nobody looked.
    pub upper: Option<u64>,
    /// Its last minute.
    pub at: Option<DateTime<Utc>>,
    /// Whose it was: a label in a public scope, else 16 hex digits.
    pub identity: Option<String>,
}

impl PeakView {
    /// At least this much was seen.
    pub(crate) fn least(&self) -> u64 {
        self.value.unwrap_or(self.lower)
    }

    /// The most that what was seen allows for.
    pub(crate) fn most(&self) -> u64 {
        self.upper.unwrap_or(0).max(self.least())
    }
}

/// The largest peak of one identity.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct TopView {
    /// A label in a public scope, else 16 hex digits.
    pub identity: String,
    /// Its peak.
    pub peak: u64,
    /// The minute of the peak.
    pub at: DateTime<Utc>,
}

/// One limit over its period, closer up.
#[derive(Clone, Debug, PartialEq)]
pub struct Detail {
    /// The limit as in the report.
    pub limit: LimitView,
    /// Id and name of its group.
    pub group: (String, String),
    /// The first instant that has not closed.
    pub closed_before: DateTime<Utc>,
    /// Its local days.
    pub days: Vec<DayView>,
    /// Its hours of which something is known.
    pub hours: Vec<HourView>,
    /// When it is busy.
    pub profile: Profile,
    /// What closed aligned windows held, ascending: (value, windows of single identities).
    pub histogram: Vec<(u64, u64)>,
}

/// When in a day and in a week a limit is busy.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Profile {
    /// By local hour; none where nothing is known.
    pub by_hour: [Option<Span>; 24],
    /// By local weekday, from Monday.
    pub by_weekday: [Option<Span>; 7],
}

/// The hourly peaks of one local hour or weekday.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Span {
    /// The largest.
    pub largest: u64,
    /// The median.
    pub typical: f64,
    /// Of how many hours.
    pub hours: u32,
}

/// A local day of one limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DayView {
    /// The day.
    pub day: Day,
    /// Its largest window: 0 where it was covered and quiet, none where nothing is known or windows can't be seen.
    pub peak: Option<u64>,
    /// At most this much was in one window.
    pub upper: u64,
    /// All that was counted.
    pub total: u128,
    /// Its minutes in the period that have closed.
    pub minutes: i64,
    /// Those that can be vouched for.
    pub covered: i64,
    /// Whether hours of it are left out.
    pub ignored: bool,
}

/// The hours of one limit.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub struct Hours {
    /// The limit.
    pub id: String,
    /// The environment.
    pub environment: String,
    /// Every hour of which something is known: it has samples or covered minutes.
    pub hours: Vec<HourView>,
}

/// An hour of one limit.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub struct HourView {
    /// Its start.
    pub hour: DateTime<Utc>,
    /// Its largest window.
    pub peak: Option<PeakView>,
    /// All that was counted.
    pub total: u128,
    /// Identities with samples.
    pub identities: u64,
    /// Minutes that can be vouched for.
    pub covered_minutes: u32,
    /// Whether it has minutes that have not closed.
    pub partial: bool,
    /// Whether it is left out of the report.
    pub ignored: bool,
    /// Of gauges: what their samples found, as they were read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub samples: Option<SamplesView>,
}

/// What samples of gauges found in an hour, all identities together. They are never added up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct SamplesView {
    /// The smallest.
    pub min: i64,
    /// The largest.
    pub max: i64,
    /// The last one; of several at once the largest.
    pub last: i64,
    /// How many there are: one per identity and sampled minute.
    pub samples: i64,
}

impl SamplesView {
    pub(super) const fn of(samples: &Samples) -> Self {
        Self {
            min: samples.min,
            max: samples.max,
            last: samples.last,
            samples: samples.samples,
        }
    }
}

/// The limits of an environment and how they stand.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub struct Limits {
    /// The environment.
    pub environment: String,
    /// The limits.
    pub limits: Vec<LimitState>,
}

/// How a limit stands.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub struct LimitState {
    /// Its id.
    pub id: String,
    /// Its group.
    pub group: String,
    /// Its value.
    pub limit: Option<u64>,
    /// The smallest count that is near.
    pub alert_at: Option<u64>,
    /// How it stands.
    pub status: Status,
    /// The largest window.
    pub value: Option<u64>,
    /// Its last minute.
    pub at: Option<DateTime<Utc>>,
    /// What it does.
    pub mode: Mode,
}

/// What a value would have refused.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub struct WhatIf {
    /// The limit.
    pub id: String,
    /// The environment.
    pub environment: String,
    /// Start of the first hour.
    pub from: DateTime<Utc>,
    /// End of the last hour.
    pub to: DateTime<Utc>,
    /// The value that was tried.
    pub limit: u64,
    /// The smallest count that would be near.
    pub alert_at: u64,
    /// Requests it would have refused; null where windows can't be seen.
    pub requests: Option<u128>,
    /// Windows of single identities in which it would have.
    pub identity_windows: Option<u64>,
    /// Whether that is exact.
    pub exact: bool,
}
