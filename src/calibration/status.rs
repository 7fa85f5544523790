//! The status of a limit.

use std::fmt;

use serde::Serialize;
use utoipa::ToSchema;

use crate::{
    catalog::{Mode, alert_at},
    fold::{Figures, Rules},
};

/// How a limit stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    /// No minute is covered, and nothing that was seen all the same reaches the alert.
    NoData,
    /// Below the alert.
    Ok,
    /// The alert is reached.
    Near,
    /// More than the limit was seen within one window.
    Over,
    /// The bounds of a window below a minute leave it open.
    Unmeasurable,
    /// Nothing is limited, only watched.
    Watch,
    /// Not limited and not judged.
    Exempt,
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NoData => "no-data",
            Self::Ok => "ok",
            Self::Near => "near",
            Self::Over => "over",
            Self::Unmeasurable => "unmeasurable",
            Self::Watch => "watch",
            Self::Exempt => "exempt",
        })
    }
}

/// What a peak is held against.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Target {
    /// What the limit does.
    pub mode: Mode,
    /// Its value; none in the modes that limit nothing.
    pub limit: Option<u64>,
    /// The smallest count that is near the limit. Where nothing is limited, the count to be alerted at, if any.
    pub alert_at: Option<u64>,
}

/// What was seen of a shape in a period.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Observed {
    /// The largest window: 0 where the period was covered and quiet. None where windows can't be seen, or nothing is
    /// known.
    pub value: Option<u64>,
    /// At least this much was in one window.
    pub lower: u64,
    /// At most this much was in one window.
    pub upper: u64,
    /// Whether any minute of the period is covered.
    pub covered: bool,
}

/// A status and the share of the limit that is used.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Judgement {
    /// How the limit stands.
    pub status: Status,
    /// Value ÷ limit; none where one of them is missing.
    pub utilization: Option<f64>,
}

impl Target {
    /// The target of a limit with this mode, value and alert for watching. A value under a mode that limits nothing
    /// is not held against anything.
    #[must_use]
    pub fn new(mode: Mode, value: Option<u64>, watch_alert: Option<u64>, alert_percent: u32) -> Self {
        match (mode, value) {
            (Mode::Exempt, _) => Self {
                mode,
                limit: None,
                alert_at: None,
            },
            (Mode::Watch, _) | (_, None) => Self {
                mode: Mode::Watch,
                limit: None,
                alert_at: watch_alert,
            },
            (_, Some(value)) => Self {
                mode,
                limit: Some(value),
                alert_at: Some(alert_at(value, alert_percent)),
            },
        }
    }

    /// Judges what was seen.
    #[must_use]
    pub fn judge(&self, observed: &Observed) -> Judgement {
        let status = match (self.mode, self.limit, self.alert_at) {
            (Mode::Exempt, ..) => Status::Exempt,
            (_, Some(limit), Some(alert_at)) => match reached(limit, alert_at, observed) {
                Status::Ok if !observed.covered => Status::NoData,
                status => status,
            },
            _ => Status::Watch,
        };
        #[expect(clippy::cast_precision_loss, reason = "a ratio to read, not to decide on")]
        let utilization = (observed.value)
            .zip(self.limit.filter(|limit| *limit > 0))
            .map(|(value, limit)| value as f64 / limit as f64);
        Judgement { status, utilization }
    }
}

impl Observed {
    /// What figures show.
    #[must_use]
    pub fn new(figures: &Figures, rules: &Rules, covered: bool) -> Self {
        let quiet = (covered && rules.is_observable()).then_some(0);
        Self {
            value: figures.peak.map(|peak| peak.value).or(quiet),
            lower: figures.lower,
            upper: figures.upper,
            covered,
        }
    }

    /// Whether anything is known at all.
    #[must_use]
    pub const fn is_known(&self) -> bool {
        self.covered || self.upper > 0
    }
}

/// A value decides; where there are only bounds, both have to say the same.
fn reached(limit: u64, alert_at: u64, observed: &Observed) -> Status {
    let (lower, upper) = observed
        .value
        .map_or((observed.lower, observed.upper), |value| (value, value));
    if lower > limit {
        Status::Over
    } else if upper < alert_at {
        Status::Ok
    } else if lower >= alert_at && upper <= limit {
        Status::Near
    } else {
        Status::Unmeasurable
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(value: u64) -> Observed {
        Observed {
            value: Some(value),
            lower: value.div_ceil(2),
            upper: value + 1,
            covered: true,
        }
    }

    fn bounds(lower: u64, upper: u64) -> Observed {
        Observed {
            value: None,
            lower,
            upper,
            covered: true,
        }
    }

    fn status(limit: u64, observed: Observed) -> Status {
        Target::new(Mode::Observe, Some(limit), None, 70)
            .judge(&observed)
            .status
    }

    #[test]
    fn the_value_decides_at_the_edges() {
        assert_eq!(
            [0, 20, 21, 30, 31].map(|peak| status(30, value(peak))),
            [Status::Ok, Status::Ok, Status::Near, Status::Near, Status::Over]
        );
        assert_eq!(
            [16, 17].map(|peak| status(23, value(peak))),
            [Status::Ok, Status::Near]
        );
    }

    #[test]
    fn bounds_decide_only_where_both_say_the_same() {
        // 150 in 5 s: near from 105.
        assert_eq!(status(150, bounds(9, 104)), Status::Ok);
        assert_eq!(status(150, bounds(9, 105)), Status::Unmeasurable);
        assert_eq!(status(150, bounds(105, 150)), Status::Near);
        assert_eq!(status(150, bounds(105, 151)), Status::Unmeasurable);
        assert_eq!(status(150, bounds(151, 4000)), Status::Over);
        assert_eq!(status(150, bounds(0, 0)), Status::Ok);
    }

    #[test]
    fn without_a_covered_minute_only_what_was_seen_counts() {
        let uncovered = |observed| Observed {
            covered: false,
            ..observed
        };
        assert_eq!(
            status(
                30,
                uncovered(Observed {
                    value: None,
                    ..bounds(0, 0)
                })
            ),
            Status::NoData
        );
        assert_eq!(status(30, uncovered(value(5))), Status::NoData);
        assert_eq!(status(30, uncovered(value(40))), Status::Over);
    }

    #[test]
    fn what_limits_nothing_has_no_utilization() {
        let watched = Target::new(Mode::Watch, Some(5), Some(500), 70);
        assert_eq!((watched.limit, watched.alert_at), (None, Some(500)));
        assert_eq!(
            watched.judge(&value(7)),
            Judgement {
                status: Status::Watch,
                utilization: None
            }
        );
        let exempt = Target::new(Mode::Exempt, Some(5), Some(500), 70);
        assert_eq!(
            exempt.judge(&value(7)),
            Judgement {
                status: Status::Exempt,
                utilization: None
            }
        );
        let limitless = Target::new(Mode::Observe, None, None, 70);
        assert_eq!(limitless.judge(&value(7)).status, Status::Watch);
    }

    #[test]
    fn a_status_is_spelt_the_same_in_text_and_json() {
        for status in [
            Status::NoData,
            Status::Ok,
            Status::Near,
            Status::Over,
            Status::Unmeasurable,
        ] {
            assert_eq!(serde_json::to_string(&status).unwrap(), format!("\"{status}\""));
        }
    }

    #[test]
    fn utilization_is_value_by_limit() {
        let target = Target::new(Mode::Block, Some(5), None, 70);
        assert_eq!(target.judge(&value(4)).utilization, Some(0.8));
        assert_eq!(target.judge(&value(0)).utilization, Some(0.0));
        assert_eq!(target.judge(&bounds(1, 9)).utilization, None);
    }
}
