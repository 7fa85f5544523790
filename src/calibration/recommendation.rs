//! What to do with a limit, and why.

use serde::Serialize;
use utoipa::ToSchema;

use super::{Readiness, Sizing};
use crate::{fold::TopIdentity, time::Day};

/// What to do with a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum Action {
    /// There is not enough evidence yet.
    Wait,
    /// A person has to look at the evidence first.
    Review,
    /// The limit is tight.
    Raise,
    /// Half of the limit or less would do.
    Lower,
    /// The limit fits.
    Keep,
}

/// Why; in words in `language`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Reason {
    /// Covered days in a row or days with traffic are missing.
    Evidence(Readiness),
    /// One identity's peak is more than twice the next one's.
    Identity {
        /// Whose peak it is.
        identity: i64,
        /// Its peak.
        peak: u64,
        /// The next one's.
        next: u64,
    },
    /// One day's peak is more than twice that of any other day.
    Day {
        /// The day.
        day: Day,
        /// Its peak.
        peak: u64,
        /// The next one's.
        next: u64,
    },
    /// Only what a limit let through was counted, and it was reached: the true peak may be anything above.
    Censored {
        /// What was counted.
        peak: u64,
    },
    /// More is needed than may be recommended.
    Ceiling {
        /// What would be needed.
        needed: u64,
        /// The most that may be recommended.
        ceiling: u64,
    },
    /// Minute counts leave open whether a window below a minute is held.
    Bounds {
        /// At least this much was in one window.
        lower: u64,
        /// At most this much.
        upper: u64,
    },
    /// Minute counts can show that a window below a minute is held.
    WithinBounds {
        /// At most this much was in one window.
        upper: u64,
    },
    /// The projected peak passes the alert percentage of the limit.
    Tight,
    /// The projected peak is held by half of the limit or less.
    Loose,
    /// The projected peak is held by the limit, and not by half of it.
    Fits,
}

/// What to do with a limit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Recommendation {
    /// What to do.
    pub action: Action,
    /// The value that fits: all that was seen, and under review without what dominates. None without traffic and for
    /// windows below a minute.
    pub sizing: Option<Sizing>,
    /// Why.
    pub reason: Reason,
    /// Where one identity or one day dominates: the value that fits with it, and the one without.
    pub dominated: Option<Dominated>,
}

/// Values with and without what dominates.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Dominated {
    /// The value that fits all that was seen.
    pub with: Option<Sizing>,
    /// The value that fits the rest; none where nothing is left.
    pub without: Option<Sizing>,
}

/// One local day with traffic.
#[derive(Clone, Copy, Debug)]
pub struct ActiveDay<'a> {
    /// The day.
    pub day: Day,
    /// Its largest window.
    pub peak: u64,
    /// Its largest peaks of single identities, best first.
    pub top: &'a [TopIdentity],
}

/// What a recommendation rests on.
#[derive(Clone, Copy, Debug)]
pub struct Evidence<'a> {
    /// The limit's value.
    pub limit: u64,
    /// The smallest count that is near it.
    pub alert_at: u64,
    /// The alert percentage.
    pub percent: u32,
    /// Never recommend more than this.
    pub ceiling: Option<u64>,
    /// How much evidence there is.
    pub readiness: Readiness,
    /// The bounds of the peak, where the window is below a minute.
    pub bounds: Option<(u64, u64)>,
    /// Whether only accepted requests were counted under an enforced limit that was reached.
    pub censored: bool,
    /// The days with traffic.
    pub days: &'a [ActiveDay<'a>],
    /// Those, and the covered days without.
    pub known_days: u32,
    /// The largest peaks of single identities in the period, best first.
    pub top: &'a [TopIdentity],
}

impl Recommendation {
    /// Weighs the evidence.
    #[must_use]
    pub fn new(evidence: &Evidence<'_>) -> Self {
        if let Some((lower, upper)) = evidence.bounds {
            return Self::of_bounds(evidence, lower, upper);
        }
        let all: Vec<u64> = evidence.days.iter().map(|day| day.peak).collect();
        let with = evidence.size(&all);
        let dominant = evidence.without_dominant();
        let without = dominant.as_ref().map(|(_, rest)| evidence.size(rest));
        let (action, reason, sizing) = match (evidence.readiness.ready, &dominant, without) {
            (false, ..) => (Action::Wait, Reason::Evidence(evidence.readiness), with),
            (true, Some((reason, _)), Some(without)) => (Action::Review, *reason, without),
            _ => {
                let (action, reason) = evidence.weigh(with.as_ref());
                (action, reason, with)
            }
        };
        let capped = |sizing: Option<Sizing>| sizing.map(|sizing| evidence.capped(sizing));
        Self {
            action,
            sizing: capped(sizing),
            reason,
            dominated: without.map(|without| Dominated {
                with: capped(with),
                without: capped(without),
            }),
        }
    }

    /// Bounds can show that a limit holds, and leave its value open.
    fn of_bounds(evidence: &Evidence<'_>, lower: u64, upper: u64) -> Self {
        let (action, reason) = if !evidence.readiness.ready {
            (Action::Wait, Reason::Evidence(evidence.readiness))
        } else if upper < evidence.alert_at && !evidence.censored {
            (Action::Keep, Reason::WithinBounds { upper })
        } else {
            (Action::Review, Reason::Bounds { lower, upper })
        };
        Self {
            action,
            sizing: None,
            reason,
            dominated: None,
        }
    }
}

impl Evidence<'_> {
    fn size(&self, maxima: &[u64]) -> Option<Sizing> {
        let quiet = self.known_days.saturating_sub(count(self.days.len()));
        Sizing::new(maxima, count(maxima.len()) + quiet, self.percent)
    }

    fn capped(&self, sizing: Sizing) -> Sizing {
        Sizing {
            limit: self.ceiling.unwrap_or(u64::MAX).min(sizing.limit),
            ..sizing
        }
    }

    fn weigh(&self, sizing: Option<&Sizing>) -> (Action, Reason) {
        let needed = sizing.map_or(0, |sizing| sizing.limit);
        match self.ceiling {
            Some(ceiling) if needed > ceiling && ceiling <= self.limit => {
                return (Action::Review, Reason::Ceiling { needed, ceiling });
            }
            Some(ceiling) if needed > ceiling => return (Action::Raise, Reason::Ceiling { needed, ceiling }),
            _ => {}
        }
        if needed > self.limit {
            (Action::Raise, Reason::Tight)
        } else if self.censored {
            let peak = sizing.map_or(0, |sizing| sizing.observed);
            (Action::Review, Reason::Censored { peak })
        } else if needed <= self.limit / 2 {
            (Action::Lower, Reason::Loose)
        } else {
            (Action::Keep, Reason::Fits)
        }
    }

    /// The daily maxima without the one identity, or else the one day, whose peak is more than twice the next one's:
    /// one abuser or one abusive day must not set a limit.
    fn without_dominant(&self) -> Option<(Reason, Vec<u64>)> {
        if let [first, second, ..] = self.top
            && first.peak > second.peak.saturating_mul(2)
        {
            let reason = Reason::Identity {
                identity: first.identity,
                peak: first.peak,
                next: second.peak,
            };
            let others = |day: &ActiveDay<'_>| {
                let mut others = day.top.iter().filter(|top| top.identity != first.identity);
                others.next().map(|top| top.peak)
            };
            return Some((reason, self.days.iter().filter_map(others).collect()));
        }
        let first = self.days.iter().max_by_key(|day| day.peak)?;
        let others = || self.days.iter().filter(|day| day.day != first.day);
        let next = others().map(|day| day.peak).max()?;
        let reason = Reason::Day {
            day: first.day,
            peak: first.peak,
            next,
        };
        (first.peak > next.saturating_mul(2)).then(|| (reason, others().map(|day| day.peak).collect()))
    }
}

fn count(length: usize) -> u32 {
    u32::try_from(length).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests;
