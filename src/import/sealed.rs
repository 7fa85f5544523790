//! The hours of an environment that take no more rows: pure.

use std::collections::{BTreeMap, BTreeSet};

use crate::time::Hour;

/// Hours that have been counted and whose minutes are gone, by source. Sources that feed a common limit share them: an
/// hour of the limit can't be folded from one of them alone.
#[derive(Clone, Debug)]
pub struct Sealed {
    open_from: Hour,
    /// The group of each source of the catalog.
    groups: Vec<usize>,
    /// The hours of each group, and whether a drain has counted them.
    hours: Vec<BTreeMap<Hour, bool>>,
}

impl Sealed {
    /// So many sources, of which some belong together, and no sealed hours. Hours from one on are open for all.
    #[must_use]
    pub fn new(sources: usize, together: impl IntoIterator<Item = Vec<usize>>, open_from: Hour) -> Self {
        let mut groups: Vec<usize> = (0..sources).collect();
        for own in together {
            let joined: BTreeSet<usize> = own.iter().map(|source| groups[*source]).collect();
            if let Some(first) = joined.first() {
                for group in groups.iter_mut().filter(|group| joined.contains(group)) {
                    *group = *first;
                }
            }
        }
        Self {
            open_from,
            groups,
            hours: vec![BTreeMap::new(); sources],
        }
    }

    /// Notes that an hour of a source has been counted, by a drain or by an import.
    pub fn add(&mut self, source: usize, hour: Hour, is_drained: bool) {
        *self.hours[self.groups[source]].entry(hour).or_default() |= is_drained;
    }

    /// Whether an hour takes no more rows of a source.
    #[must_use]
    pub fn holds(&self, source: usize, hour: Hour) -> bool {
        hour < self.open_from && self.hours[self.groups[source]].contains_key(&hour)
    }

    /// Whether a drain has counted a sealed hour, so that windows of later hours can't look back at what a file says of
    /// it. What an import has counted may come from the same file.
    #[must_use]
    pub fn is_drained(&self, source: usize, hour: Hour) -> bool {
        self.hours[self.groups[source]]
            .get(&hour)
            .copied()
            .unwrap_or_default()
    }

    /// The first hour that is open for all: its minutes, and all that its windows reach back over, are stored.
    #[must_use]
    pub const fn open_from(&self) -> Hour {
        self.open_from
    }

    /// The first hour after all sealed ones before an hour.
    #[must_use]
    pub fn free_before(&self, source: usize, hour: Hour) -> Option<Hour> {
        let sealed = &self.hours[self.groups[source]];
        sealed.range(..hour).next_back().map(|(last, _)| last.next())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources_of_one_limit_are_sealed_together() {
        let hour = Hour::from_index;
        // 0 and 2 share a limit, 2 and 3 another one.
        let mut sealed = Sealed::new(5, [vec![0, 2], vec![1], vec![3, 2]], hour(100));
        sealed.add(3, hour(10), true);
        sealed.add(0, hour(10), false);
        sealed.add(4, hour(11), false);
        sealed.add(4, hour(120), true);
        let held = |hour| {
            (0..5)
                .filter(|source| sealed.holds(*source, hour))
                .collect::<Vec<_>>()
        };
        assert_eq!(held(hour(10)), [0, 2, 3]);
        assert_eq!(held(hour(11)), [4]);
        assert!(held(hour(120)).is_empty());
        assert!(sealed.is_drained(2, hour(10)) && !sealed.is_drained(4, hour(11)));
        assert_eq!(sealed.free_before(0, hour(50)), Some(hour(11)));
        assert_eq!(sealed.free_before(0, hour(10)), None);
    }
}
