//! The peak to expect.
use serde::Serialize;

/// How a peak was projected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Method {
    /// What was seen and a quarter on top.
    ObservedMargin,
    /// The 90-day return level of a generalised extreme value distribution.
    GevReturnLevel,
}

/// The peak to expect.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Projection {
    /// The peak.
    pub peak: f64,
    /// Its interval.
    pub interval: [f64; 2],
    /// How it was projected.
    pub method: Method,
}

/// Projects the peak of 90 days.
#[must_use]
pub fn project(observed: u64, _maxima: &[u64], _known_days: u32) -> Projection {
    #[expect(clippy::cast_precision_loss, reason = "a projection")]
    let observed = observed as f64;
    Projection {
        peak: observed * 1.25,
        interval: [observed, observed * 1.25],
        method: Method::ObservedMargin,
    }
}
