//! The samples of one gauge by hour and identity. They are never added up.

use super::identities::IdMap;
use crate::time::{Hour, Minute};

/// One hour of one gauge's endpoint and scope, one entry per identity, ascending by identity.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GaugeHour {
    /// The hour.
    pub hour: Hour,
    /// What was sampled of each identity.
    pub identities: Vec<(i64, Samples)>,
}

/// How the minute store, which keeps the largest value of a minute, keeps a sample so that the smallest one stays: as a
/// number below zero. What is stored so is a sample again by the same way.
#[must_use]
pub const fn least(sample: i64) -> i64 {
    !sample
}

/// What samples found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Samples {
    /// The smallest.
    pub min: i64,
    /// The largest.
    pub max: i64,
    /// The last one; of several at once the largest.
    pub last: i64,
    /// When that was taken.
    pub last_at: Minute,
    /// How many minutes have one.
    pub samples: i64,
}

impl Samples {
    /// One sample.
    #[must_use]
    pub const fn one(minute: Minute, value: i64) -> Self {
        Self {
            min: value,
            max: value,
            last: value,
            last_at: minute,
            samples: 1,
        }
    }

    /// These and others.
    #[must_use]
    pub fn with(self, other: Self) -> Self {
        let (last_at, last) = (self.last_at, self.last).max((other.last_at, other.last));
        Self {
            min: self.min.min(other.min),
            max: self.max.max(other.max),
            last,
            last_at,
            samples: self.samples + other.samples,
        }
    }
}

/// Folds the samples of one gauge's endpoint and scope, given in minute order, into hours.
#[derive(Debug, Default)]
pub struct GaugeFold {
    minute: Option<Minute>,
    /// The samples of the minute at hand: there may have been several, and several keys may tell of one identity.
    at_hand: IdMap<Samples>,
    identities: IdMap<Samples>,
    rows: Vec<GaugeHour>,
}

impl GaugeFold {
    /// Takes a row of samples as they are stored: one for each identity. Rows come in ascending order of their minutes.
    pub fn add(&mut self, minute: Minute, identities: &[i64], samples: &[i64]) {
        if self.minute != Some(minute) {
            self.end_minute();
            if (self.minute).is_some_and(|before| before.hour() != minute.hour()) {
                self.end_hour();
            }
            self.minute = Some(minute);
        }
        for (identity, stored) in identities.iter().zip(samples) {
            let sample = Samples::one(minute, if *stored < 0 { least(*stored) } else { *stored });
            (self.at_hand.entry(*identity))
                .and_modify(|samples| {
                    *samples = Samples {
                        samples: 1,
                        ..samples.with(sample)
                    }
                })
                .or_insert(sample);
        }
    }

    /// The hours that have samples, in order.
    #[must_use]
    pub fn finish(mut self) -> Vec<GaugeHour> {
        self.end_minute();
        self.end_hour();
        self.rows
    }

    fn end_minute(&mut self) {
        for (identity, of_minute) in self.at_hand.drain() {
            self.identities
                .entry(identity)
                .and_modify(|samples| *samples = samples.with(of_minute))
                .or_insert(of_minute);
        }
    }

    fn end_hour(&mut self) {
        let Some(minute) = self.minute else { return };
        let mut identities: Vec<_> = self.identities.drain().collect();
        identities.sort_unstable_by_key(|(identity, _)| *identity);
        if !identities.is_empty() {
            self.rows.push(GaugeHour {
                hour: minute.hour(),
                identities,
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_are_compared_and_never_summed() {
        let hour = Hour::from_index(1000);
        let minute = |n| hour.first_minute().plus(n);
        let mut fold = GaugeFold::default();
        // Identity 7: 100, then 40 and 30 at once from two keys, then 60 of which 0 was left meanwhile: three minutes.
        // Identity -1: 5 in minute 59 alone.
        fold.add(minute(0), &[7], &[100]);
        fold.add(minute(30), &[7], &[40]);
        fold.add(minute(30), &[7], &[30]);
        fold.add(minute(59), &[-1, 7], &[5, 60]);
        fold.add(minute(59), &[-1, 7], &[least(5), least(0)]);
        fold.add(minute(60), &[7], &[80]);
        let samples = |min, max, last, at, samples| Samples {
            min,
            max,
            last,
            last_at: minute(at),
            samples,
        };
        assert_eq!(
            fold.finish(),
            [
                GaugeHour {
                    hour,
                    identities: vec![(-1, samples(5, 5, 5, 59, 1)), (7, samples(0, 100, 60, 59, 3))],
                },
                GaugeHour {
                    hour: hour.next(),
                    identities: vec![(7, samples(80, 80, 80, 60, 1))],
                },
            ]
        );
    }
}
