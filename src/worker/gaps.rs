//! Which minutes can no longer be vouched for: pure.

use std::collections::BTreeSet;

use crate::{
    store::{
        coverage::{Coverage, holds},
        runs::RunGap,
    },
    time::Minute,
};

/// The minutes of `[from, to)` that no read covered, as a drain finds them once they cannot be read any more.
pub(super) fn missed(coverage: &Coverage, from: Minute, to: Minute) -> impl Iterator<Item = Minute> {
    (from.index()..to.index())
        .map(Minute::from_index)
        .filter(|minute| {
            coverage
                .get(&minute.hour())
                .is_none_or(|masks| !holds(masks.covered, *minute))
        })
}

/// Minutes as runs.
pub(super) fn runs(minutes: &BTreeSet<Minute>) -> Vec<RunGap> {
    let mut runs: Vec<RunGap> = Vec::new();
    for minute in minutes {
        match runs.last_mut() {
            Some(last) if last.to == minute.start() => last.to = minute.end(),
            _ => runs.push(RunGap {
                from: minute.start(),
                to: minute.end(),
            }),
        }
    }
    runs
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{store::coverage::Masks, time::Hour};

    #[test]
    fn minutes_without_a_covering_read_are_missed() {
        let masks = Masks {
            covered: 0b1011,
            ..Masks::default()
        };
        let coverage = Coverage::from([(Hour::from_index(10), masks)]);
        let from = Hour::from_index(10).first_minute();
        let missed: BTreeSet<_> = missed(&coverage, from, from.plus(6)).collect();
        assert_eq!(missed, BTreeSet::from([from.plus(2), from.plus(4), from.plus(5)]));
        let gap = |first: i64, past: i64| RunGap {
            from: from.plus(first).start(),
            to: from.plus(past).start(),
        };
        assert_eq!(runs(&missed), [gap(2, 3), gap(4, 6)]);
    }
}
