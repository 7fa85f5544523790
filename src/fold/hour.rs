//! One hour's figures in the making.

use super::{Figures, Peak, Rules, TopIdentity, figures::Top, histogram::Tally};
use crate::time::{Hour, Minute};

/// One hour of one shape.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HourRow {
    /// The hour.
    pub hour: Hour,
    /// What was counted in it.
    pub figures: Figures,
}

/// Gathers an hour.
#[derive(Debug)]
pub(super) struct HourFold {
    pub(super) hour: Hour,
    pub(super) total: u128,
    pub(super) identities: u64,
    pub(super) histogram: Tally,
    upper: u64,
    top: Top,
}

impl HourFold {
    pub(super) fn new(hour: Hour) -> Self {
        Self {
            hour,
            total: 0,
            identities: 0,
            histogram: Tally::of_hour(),
            upper: 0,
            top: Top::default(),
        }
    }

    /// Takes what an identity's window held at a minute.
    pub(super) fn offer(&mut self, identity: i64, at: Minute, value: u64) {
        self.top.offer(TopIdentity {
            identity,
            peak: value,
            at,
        });
    }

    /// Takes what a window at most could have held.
    pub(super) fn raise_upper(&mut self, upper: u64) {
        self.upper = self.upper.max(upper);
    }

    pub(super) fn finish(self, rules: &Rules) -> HourRow {
        let top = self.top.into_vec();
        let best = top.first();
        let observable = rules.is_observable();
        let peak = best.filter(|_| observable).map(|best| Peak {
            value: best.peak,
            at: best.at,
            identity: (!rules.shared).then_some(best.identity),
        });
        let figures = Figures {
            peak,
            lower: best.map_or(0, |best| rules.lower(best.peak)),
            upper: self.upper,
            total: self.total,
            identities: self.identities,
            histogram: self.histogram.into_histogram(),
            top: if observable && !rules.shared {
                top
            } else {
                Vec::new()
            },
        };
        HourRow {
            hour: self.hour,
            figures,
        }
    }
}
