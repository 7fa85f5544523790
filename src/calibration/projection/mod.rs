//! The peak that 90 days are expected to bring.
//!
//! The daily maxima of a period are taken as draws from a generalised extreme value distribution, which is what the
//! largest of many independent counts tends to (Fisher & Tippett 1928, Gnedenko 1943). It is fitted by L-moments, and
//! the projection is the level that is exceeded once in 90 days on average. A day without traffic has no maximum: it
//! makes fewer active days in 90, and no smaller peak.

mod covariance;
mod gev;
mod interval;
mod l_moments;
#[cfg(test)]
mod worlds;

use serde::Serialize;
use utoipa::ToSchema;

use gev::Gev;
use interval::Interval;
use l_moments::LMoments;

/// The days that a projection is made for.
const HORIZON_DAYS: f64 = 90.0;
/// Fewer active days carry no fit.
const LEAST_DAYS: usize = 30;
/// Fewer distinct maxima say too little of a tail.
const LEAST_DISTINCT: usize = 6;
/// Beyond it a distribution has no variance, or ends so abruptly that its tail says nothing of traffic.
const MAX_SHAPE: f64 = 0.5;
/// What is added to the observed peak where there is no fit.
const MARGIN: f64 = 1.25;

/// What a projection rests on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Method {
    /// The observed peak and a quarter more.
    ObservedMargin,
    /// The 90-day return level of a generalised extreme value distribution.
    GevReturnLevel,
}

/// The peak to expect in 90 days.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Projection {
    /// The expected peak, never below the observed one.
    pub peak: f64,
    /// Where it lies: for a return level its 90 % confidence interval, else the observed peak and the one with the
    /// margin, which is no confidence interval. The expected peak is always within.
    pub interval: [f64; 2],
    /// What it rests on.
    pub method: Method,
}

/// Projects the peak of 90 days from the largest peak of a period and the peaks of its active days, in any order.
///
/// `known_days` are the active days and the covered ones without traffic.
#[must_use]
pub fn project(observed: u64, maxima: &[u64], known_days: u32) -> Projection {
    return_level(observed, maxima, known_days).unwrap_or_else(|| with_margin(observed))
}

#[expect(clippy::cast_precision_loss, reason = "an estimate, in floating point")]
fn with_margin(observed: u64) -> Projection {
    let observed = observed as f64;
    let peak = observed * MARGIN;
    Projection {
        peak,
        interval: [observed, peak],
        method: Method::ObservedMargin,
    }
}

/// The return level; none where the days are too few or too much alike, or the fit describes no traffic.
#[expect(clippy::cast_precision_loss, reason = "an estimate, in floating point")]
fn return_level(observed: u64, maxima: &[u64], known_days: u32) -> Option<Projection> {
    let mut maxima = maxima.to_vec();
    maxima.sort_unstable();
    let distinct = maxima.chunk_by(|a, b| a == b).count();
    if maxima.len() < LEAST_DAYS || distinct < LEAST_DISTINCT {
        return None;
    }
    // Counts near 2^63 differ by less than a float can tell, so the fit is made to what is above the smallest.
    let smallest = maxima[0];
    let above: Vec<f64> = maxima.iter().map(|peak| (peak - smallest) as f64).collect();
    let moments = LMoments::of_sorted(&above)?;
    let gev = Gev::fit(moments);
    if gev.shape.abs() > MAX_SHAPE {
        return None;
    }
    let depth = depth(above.len() as f64, f64::from(known_days))?;
    let interval = Interval::new(moments, above.len(), depth);

    let observed = observed.max(maxima[maxima.len() - 1]) as f64;
    let smallest = smallest as f64;
    let peak = (smallest + gev.level(depth)).max(observed);
    let lower = (smallest + interval.lower()).clamp(0.0, peak);
    let upper = (smallest + interval.upper()).max(peak);
    (lower + upper).is_finite().then_some(Projection {
        peak,
        interval: [lower, upper],
        method: Method::GevReturnLevel,
    })
}

/// −ln F of the level that is exceeded once in the active ones of 90 days; none where they hold one or less.
fn depth(active: f64, known: f64) -> Option<f64> {
    let active_in_horizon = HORIZON_DAYS * active / known.max(active);
    (active_in_horizon > 1.0).then(|| -(-1.0 / active_in_horizon).ln_1p())
}

#[cfg(test)]
mod tests;
