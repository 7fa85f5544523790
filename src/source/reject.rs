//! What could not be read, by key and reason.

use std::collections::BTreeMap;

use super::text::{shortened, shown_key};

/// Different rejects that are listed; the rest is summed.
const LISTED: usize = 1000;

/// The longest key that is shown whole, in bytes.
pub(super) const LONGEST_KEY: usize = 256;

/// Something of a key that could not be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reject {
    /// The key, as it is shown.
    pub key: String,
    /// Why.
    pub reason: String,
    /// How often: 1 for a key, the number of fields otherwise.
    pub count: u64,
}

/// The rejects of one run. Fields and counts never appear: they may be personal.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rejects {
    listed: BTreeMap<(String, String), u64>,
    unlisted: u64,
}

impl Rejects {
    /// Notes that a key, or `count` fields of it, could not be read.
    pub fn add(&mut self, key: &[u8], reason: &str, count: u64) {
        let shown = shortened(shown_key(key), LONGEST_KEY);
        self.put((shown, reason.to_owned()), count);
    }

    /// Takes in the rejects of another part of the run.
    pub fn merge(&mut self, other: Self) {
        for (entry, count) in other.listed {
            self.put(entry, count);
        }
        self.unlisted = self.unlisted.saturating_add(other.unlisted);
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.listed.is_empty() && self.unlisted == 0
    }

    /// All of them, sorted by key and reason; last, where there were too many to list, how many more there are.
    pub fn iter(&self) -> impl Iterator<Item = Reject> + '_ {
        let listed = self.listed.iter().map(|((key, reason), count)| Reject {
            key: key.clone(),
            reason: reason.clone(),
            count: *count,
        });
        listed.chain((self.unlisted > 0).then(|| Reject {
            key: "…".to_owned(),
            reason: format!("beyond the first {LISTED} kinds of rejects"),
            count: self.unlisted,
        }))
    }

    fn put(&mut self, entry: (String, String), count: u64) {
        if self.listed.len() < LISTED || self.listed.contains_key(&entry) {
            let sum = self.listed.entry(entry).or_default();
            *sum = sum.saturating_add(count);
        } else {
            self.unlisted = self.unlisted.saturating_add(count);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rejects_are_summed_sorted_and_bounded() {
        let mut rejects = Rejects::default();
        rejects.add(b"b", "odd", 2);
        rejects.add(b"a\xff", "odd", 1);
        let mut more = Rejects::default();
        more.add(b"b", "odd", 3);
        rejects.merge(more);
        let all: Vec<_> = rejects.iter().map(|reject| (reject.key, reject.count)).collect();
        assert_eq!(all, [("a\\xff".to_owned(), 1), ("b".to_owned(), 5)]);
        for n in 0..1500 {
            rejects.add(format!("c{n}").as_bytes(), "odd", 1);
        }
        // 998 of the 1500 found room beside the two.
        let last = rejects.iter().last().unwrap();
        assert_eq!((rejects.iter().count(), last.count), (1001, 502));
    }

    #[test]
    fn keys_are_shown_without_what_looks_personal() {
        let mut rejects = Rejects::default();
        rejects.add(b"wa:5511999990000:d1:202503101205", "odd", 1);
        rejects.add(b"wa:5511999990000:d2:202503101205", "odd", 1);
        let shown: Vec<_> = rejects.iter().map(|reject| reject.key).collect();
        assert_eq!(
            shown,
            ["wa:‹phone›:d1:202503101205", "wa:‹phone›:d2:202503101205"]
        );
    }

    #[test]
    fn a_long_key_is_cut() {
        let mut rejects = Rejects::default();
        rejects.add(&[b'k'; 5000], "odd", 1);
        assert_eq!(rejects.iter().next().unwrap().key.len(), 256 + '…'.len_utf8());
    }
}
