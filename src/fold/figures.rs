//! What is kept of one shape over an hour, a day or a whole period.

use std::cmp::Reverse;

use super::{Histogram, histogram::Tally};
use crate::time::Minute;

/// The figures of one shape over some span of time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Figures {
    /// The largest count that a window held; none where nothing was counted or the window is below a minute.
    pub peak: Option<Peak>,
    /// At least this much was in one window of the limiter.
    pub lower: u64,
    /// At most this much was in one window of the limiter: the largest sum of W + 1 minutes, of which the span of a
    /// sliding window can touch that many. For fixed windows of whole minutes the peak itself.
    pub upper: u64,
    /// All that was counted.
    pub total: u128,
    /// How many identities were counted in an hour; over a longer span, in its busiest hour.
    pub identities: u64,
    /// Closed aligned windows by what they held; empty for a window below a minute.
    pub histogram: Histogram,
    /// The largest peaks of up to five identities, best first; empty where all identities share one limit.
    pub top: Vec<TopIdentity>,
}

/// The largest count that a window held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Peak {
    /// The count; at most `i64::MAX`, which stands for anything larger.
    pub value: u64,
    /// The last minute of the window, in which the count was reached.
    pub at: Minute,
    /// Whose window it was; none where all identities share one limit.
    pub identity: Option<i64>,
}

/// The largest peak of one identity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TopIdentity {
    /// The identity.
    pub identity: i64,
    /// Its peak.
    pub peak: u64,
    /// The minute of the peak.
    pub at: Minute,
}

/// How many identities are kept.
const KEPT: usize = 5;

/// The largest, then the earliest, then the smallest identity.
type Rank = (Reverse<u64>, Minute, i64);

impl TopIdentity {
    fn rank(&self) -> Rank {
        (Reverse(self.peak), self.at, self.identity)
    }
}

impl Peak {
    fn rank(&self) -> Rank {
        (Reverse(self.value), self.at, self.identity.unwrap_or(0))
    }
}

/// The best five identities so far, best first.
///
/// Five are enough at every moment: an identity that falls out has five before it whose peaks can only rise, so it is
/// among the best again only by a larger value, which is offered then. For the same reason the best five of a day
/// are among the best five of its hours.
#[derive(Debug, Default)]
pub(super) struct Top(Vec<TopIdentity>);

impl Top {
    pub(super) fn offer(&mut self, candidate: TopIdentity) {
        let better = |kept: &TopIdentity| kept.rank() <= candidate.rank();
        if self.0.len() == KEPT && better(&self.0[KEPT - 1]) {
            return;
        }
        if let Some(own) = self.0.iter().position(|kept| kept.identity == candidate.identity) {
            if better(&self.0[own]) {
                return;
            }
            self.0.remove(own);
        }
        let place = self.0.partition_point(better);
        self.0.insert(place, candidate);
        self.0.truncate(KEPT);
    }

    pub(super) fn into_vec(self) -> Vec<TopIdentity> {
        self.0
    }
}

impl Figures {
    /// An hour's figures without its windows that ended before a minute. What is left of the peak is the best of the
    /// largest identities; windows above that are not counted.
    #[must_use]
    pub fn since(&self, first: Minute) -> Self {
        if self.peak.is_none_or(|peak| peak.at >= first) {
            return self.clone();
        }
        let top: Vec<TopIdentity> = self.top.iter().filter(|top| top.at >= first).copied().collect();
        let peak = top.first().map(|top| Peak {
            value: top.peak,
            at: top.at,
            identity: Some(top.identity),
        });
        let value = peak.map_or(0, |peak| peak.value);
        let kept = self
            .histogram
            .entries()
            .iter()
            .filter(|(held, _)| *held <= value)
            .copied();
        Self {
            peak,
            lower: self.lower.min(value),
            upper: value,
            total: self.total,
            identities: self.identities,
            histogram: Histogram::new(kept).or_rounded(self.histogram.is_rounded()),
            top,
        }
    }

    /// The figures of several spans that do not overlap, together.
    #[must_use]
    pub fn merged<'a>(parts: impl IntoIterator<Item = &'a Self>) -> Self {
        let mut all = Self::default();
        let mut top = Top::default();
        let mut tally = Tally::exact();
        let mut rounded = false;
        for part in parts {
            all.peak = all.peak.into_iter().chain(part.peak).min_by_key(Peak::rank);
            all.lower = all.lower.max(part.lower);
            all.upper = all.upper.max(part.upper);
            all.total = all.total.saturating_add(part.total);
            all.identities = all.identities.max(part.identities);
            rounded |= part.histogram.is_rounded();
            part.top.iter().for_each(|identity| top.offer(*identity));
            part.histogram
                .entries()
                .iter()
                .for_each(|(value, windows)| tally.add(*value, *windows));
        }
        all.histogram = tally.into_histogram().or_rounded(rounded);
        all.top = top.into_vec();
        all
    }
}
