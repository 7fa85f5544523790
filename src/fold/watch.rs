//! Which minutes had windows that held much, and whose they were: what alerts are decided on.

use std::ops::Range;

use super::{TopIdentity, figures::Top, identities::IdMap};
use crate::time::Minute;

/// Identities that are told apart at most; an attack may have any number.
const IDENTITIES: usize = 10_000;

/// Looks at some minutes of a fold for windows that hold at least so much.
#[derive(Debug)]
pub struct Watch {
    least: u64,
    spans: Vec<Range<Minute>>,
    minutes: Vec<(Minute, u64)>,
    peaks: IdMap<(u64, Minute)>,
}

impl Watch {
    /// A look at the minutes of some spans, in order, for windows that hold at least `least`.
    #[must_use]
    pub fn new(least: u64, spans: Vec<Range<Minute>>) -> Self {
        Self {
            least,
            spans,
            minutes: Vec::new(),
            peaks: IdMap::default(),
        }
    }

    /// The minutes with such windows, ascending, and the most that one of them held.
    #[must_use]
    pub fn minutes(&self) -> &[(Minute, u64)] {
        &self.minutes
    }

    /// How many identities had windows that held at least `least`, and whether that is all of them.
    #[must_use]
    pub fn identities(&self, least: u64) -> (usize, bool) {
        let reached = self.peaks.values().filter(|(peak, _)| *peak >= least);
        (reached.count(), self.peaks.len() < IDENTITIES)
    }

    /// The identities with the largest windows, best first.
    #[must_use]
    pub fn top(&self) -> Vec<TopIdentity> {
        let mut top = Top::default();
        for (identity, (peak, at)) in &self.peaks {
            top.offer(TopIdentity {
                identity: *identity,
                peak: *peak,
                at: *at,
            });
        }
        top.into_vec()
    }

    /// Takes in what another fold of the same shape saw in other hours.
    pub fn append(&mut self, other: Self) {
        self.minutes.extend(other.minutes);
        self.minutes.sort_unstable();
        for (identity, (peak, at)) in other.peaks {
            self.note(identity, peak, at);
        }
    }

    pub(super) fn looks_at(&self, minute: Minute) -> bool {
        let past = self.spans.partition_point(|span| span.end <= minute);
        self.spans.get(past).is_some_and(|span| span.contains(&minute))
    }

    /// Takes what a window held at a minute. Minutes come in order.
    pub(super) fn see(&mut self, minute: Minute, identity: i64, held: u64) {
        if held < self.least {
            return;
        }
        match self.minutes.last_mut() {
            Some((last, most)) if *last == minute => *most = held.max(*most),
            _ => self.minutes.push((minute, held)),
        }
        self.note(identity, held, minute);
    }

    fn note(&mut self, identity: i64, held: u64, minute: Minute) {
        let is_full = self.peaks.len() >= IDENTITIES;
        if let Some(peak) = self.peaks.get_mut(&identity) {
            if held > peak.0 {
                *peak = (held, minute);
            }
        } else if !is_full {
            self.peaks.insert(identity, (held, minute));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn minute(index: i64) -> Minute {
        Minute::from_index(index)
    }

    #[test]
    fn only_high_windows_of_its_minutes_are_seen() {
        let mut watch = Watch::new(19, vec![minute(10)..minute(12), minute(20)..minute(21)]);
        let looked: Vec<i64> = (8..24).filter(|index| watch.looks_at(minute(*index))).collect();
        assert_eq!(looked, [10, 11, 20]);
        for (at, identity, held) in [(10, 1, 18), (10, 2, 20), (10, 3, 25), (11, 2, 19), (20, 1, 30)] {
            watch.see(minute(at), identity, held);
        }
        assert_eq!(
            watch.minutes(),
            [(minute(10), 25), (minute(11), 19), (minute(20), 30)]
        );
        assert_eq!(
            (watch.identities(19), watch.identities(21)),
            ((3, true), (2, true))
        );
        let top: Vec<_> = watch
            .top()
            .iter()
            .map(|top| (top.identity, top.peak, top.at.index()))
            .collect();
        assert_eq!(top, [(1, 30, 20), (3, 25, 10), (2, 20, 10)]);
    }
}
