//! Where daily peaks are going.
use serde::Serialize;

/// Where it goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Direction {
    /// Up.
    Rising,
    /// Down.
    Falling,
    /// Neither, for all that can be told.
    Steady,
}

/// Where daily peaks are going.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Trend {
    /// By how much a week.
    pub per_week: f64,
    /// Where.
    pub direction: Direction,
    /// Of how many days.
    pub days: u32,
}

/// The trend of (day, peak) points; none of fewer than 14.
#[must_use]
pub fn trend(points: &[(i32, u64)]) -> Option<Trend> {
    let _ = points;
    None
}
