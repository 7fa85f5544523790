//! The sparse histogram of what closed aligned windows held.

use std::collections::BTreeMap;

/// How many windows of single identities held how much.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Histogram {
    entries: Vec<(u64, u64)>,
    rounded: bool,
}

/// What a limit would have refused.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Over {
    /// Requests above the limit.
    pub requests: u128,
    /// Windows of single identities that passed the limit.
    pub identity_windows: u64,
}

impl Histogram {
    /// A histogram of (value, windows) pairs in any order; equal values are added.
    #[must_use]
    pub fn new(pairs: impl IntoIterator<Item = (u64, u64)>) -> Self {
        let mut tally = Tally::exact();
        pairs
            .into_iter()
            .for_each(|(value, windows)| tally.add(value, windows));
        tally.into_histogram()
    }

    /// The same, where values have been rounded up.
    #[must_use]
    pub fn or_rounded(self, rounded: bool) -> Self {
        Self {
            rounded: self.rounded || rounded,
            ..self
        }
    }

    /// (value, windows) pairs, ascending by value, all above 0.
    #[must_use]
    pub fn entries(&self) -> &[(u64, u64)] {
        &self.entries
    }

    /// Whether values have been rounded up.
    #[must_use]
    pub const fn is_rounded(&self) -> bool {
        self.rounded
    }

    /// Whether it has no windows.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The value at a quantile given in thousandths, by nearest rank: of n values in order, the one at place
    /// ⌈n × quantile / 1000⌉, the first at the least. None for an empty histogram.
    #[must_use]
    pub fn quantile(&self, per_mille: u32) -> Option<u64> {
        let windows: u128 = self.entries.iter().map(|(_, windows)| u128::from(*windows)).sum();
        let place = (windows * u128::from(per_mille)).div_ceil(1000).max(1);
        let mut seen = 0;
        self.entries.iter().find_map(|(value, windows)| {
            seen += u128::from(*windows);
            (seen >= place).then_some(*value)
        })
    }

    /// What a limit would have refused: Σ n·max(0, v − limit) requests in Σ n[v > limit] windows.
    #[must_use]
    pub fn over(&self, limit: u64) -> Over {
        let above = self.entries.partition_point(|(value, _)| *value <= limit);
        self.entries[above..]
            .iter()
            .fold(Over::default(), |over, (value, windows)| Over {
                requests: over
                    .requests
                    .saturating_add(u128::from(value - limit) * u128::from(*windows)),
                identity_windows: over.identity_windows.saturating_add(*windows),
            })
    }
}

/// The most distinct values that an hour keeps exactly.
const DISTINCT: usize = 4096;
/// Values below this are counted by place.
const SMALL: u64 = 4096;

/// A histogram in the making.
#[derive(Debug)]
pub(super) struct Tally {
    small: Vec<u64>,
    large: BTreeMap<u64, u64>,
    distinct: usize,
    most: usize,
    rounded: bool,
    /// The largest value as it came.
    largest: u64,
}

impl Tally {
    /// Keeps every value: days and periods add up what their hours kept.
    pub(super) const fn exact() -> Self {
        Self {
            small: Vec::new(),
            large: BTreeMap::new(),
            distinct: 0,
            most: usize::MAX,
            rounded: false,
            largest: 0,
        }
    }

    /// Keeps an hour: with more than 4,096 distinct values all of them are rounded up to three significant digits.
    /// Up, so that what a limit would have refused is never understated; but not above the largest.
    pub(super) fn of_hour() -> Self {
        Self {
            most: DISTINCT,
            ..Self::exact()
        }
    }

    pub(super) fn add(&mut self, value: u64, windows: u64) {
        if value == 0 || windows == 0 {
            return;
        }
        self.largest = self.largest.max(value);
        let value = if self.rounded {
            three_digits_up(value)
        } else {
            value
        };
        let count = if value < SMALL {
            #[expect(clippy::cast_possible_truncation, reason = "below 4,096")]
            let place = value as usize;
            if self.small.len() <= place {
                self.small.resize(place + 1, 0);
            }
            &mut self.small[place]
        } else {
            self.large.entry(value).or_default()
        };
        self.distinct += usize::from(*count == 0);
        *count = count.saturating_add(windows);
        if self.distinct > self.most && !self.rounded {
            self.round();
        }
    }

    fn round(&mut self) {
        let exact = std::mem::replace(
            self,
            Self {
                rounded: true,
                ..Self::of_hour()
            },
        );
        for (value, windows) in exact.into_histogram().entries {
            self.add(value, windows);
        }
    }

    pub(super) fn into_histogram(self) -> Histogram {
        let small = (0..).zip(self.small).filter(|(_, windows)| *windows > 0);
        // No window held more than the largest did. Only the last value can have been rounded past it.
        let entries = small
            .chain(self.large)
            .map(|(value, windows)| (value.min(self.largest), windows))
            .collect();
        Histogram {
            entries,
            rounded: self.rounded,
        }
    }
}

/// Rounds up to three significant digits, at most to the largest value that is stored.
fn three_digits_up(value: u64) -> u64 {
    let unit = 10_u64.pow(value.checked_ilog10().unwrap_or(0).saturating_sub(2));
    value
        .div_ceil(unit)
        .saturating_mul(unit)
        .min(super::window::LARGEST)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quantile_is_the_nearest_rank() {
        // Ten windows in order: 1 1 1 1 1 2 2 2 2 9. Half of ten is place 5, 0.95 × 10 = 9.5 is place 10.
        let histogram = Histogram::new([(9, 1), (1, 5), (2, 4)]);
        assert_eq!(histogram.quantile(500), Some(1));
        assert_eq!(histogram.quantile(501), Some(2));
        assert_eq!(histogram.quantile(900), Some(2));
        assert_eq!(histogram.quantile(950), Some(9));
        assert_eq!(histogram.quantile(0), Some(1));
        assert_eq!(Histogram::default().quantile(500), None);
    }

    #[test]
    fn over_counts_what_lies_above_the_limit() {
        // 3 windows of 7 and 1 of 10 against 5: 3 × 2 + 5 = 11 requests in 4 windows.
        let histogram = Histogram::new([(5, 8), (7, 3), (10, 1)]);
        assert_eq!(
            histogram.over(5),
            Over {
                requests: 11,
                identity_windows: 4
            }
        );
        assert_eq!(histogram.over(10), Over::default());
        let huge = Histogram::new([(u64::MAX, u64::MAX)]);
        // (2^64 − 1)² = 2^128 − 2^65 + 1.
        assert_eq!(huge.over(0).requests, u128::MAX - (1 << 65) + 2);
    }

    #[test]
    fn an_hour_with_many_values_keeps_three_digits_rounded_up() {
        let mut tally = Tally::of_hour();
        (1..=4096).for_each(|value| tally.add(value, 1));
        let exact = tally.into_histogram();
        assert_eq!(exact.entries().len(), 4096);

        let mut tally = Tally::of_hour();
        (1..=4097).for_each(|value| tally.add(value, 1));
        let rounded = tally.into_histogram();
        // 1 to 1000 stay; then 1010, 1020, … 4090, each of ten values; then 4091 to 4097,
        // which are 4100 rounded up, but no window held more than 4097.
        assert_eq!(rounded.entries().len(), 1000 + 309 + 1);
        assert_eq!(rounded.entries()[999..1001], [(1000, 1), (1010, 10)]);
        assert!(rounded.is_rounded() && !exact.is_rounded());
        assert_eq!(rounded.entries().last(), Some(&(4097, 7)));
        assert_eq!(
            rounded.entries().iter().map(|(_, windows)| windows).sum::<u64>(),
            4097
        );
    }

    #[test]
    fn rounding_stays_within_what_can_be_stored() {
        assert_eq!(
            three_digits_up(9_223_372_036_854_775_807),
            9_223_372_036_854_775_807
        );
        assert_eq!(three_digits_up(999), 999);
        assert_eq!(three_digits_up(123_001), 124_000);
        assert_eq!(three_digits_up(999_001), 1_000_000);
    }
}
