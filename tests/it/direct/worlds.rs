//! Random samples: bursts about the ends of hours, days and windows, and a few at any time.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};

use super::World;
use crate::support::at;

/// Who was counted where and when.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Sample {
    pub endpoint: &'static str,
    pub identity: &'static str,
    /// The minute, counted from the epoch.
    pub minute: i64,
}

impl Sample {
    pub fn start(self) -> DateTime<Utc> {
        DateTime::from_timestamp(self.minute * 60, 0).unwrap()
    }
}

/// The third one is nobody's limit.
const ENDPOINTS: [&str; 3] = ["alpha", "beta", "gamma"];
const IDENTITIES: [&str; 8] = [
    "esc-1", "esc-2", "esc-3", "esc-4", "esc-5", "esc-6", "esc-7", "esc-8",
];
const TWINS: [&str; 2] = ["esc-8", "esc-9"];
const SAMPLES: usize = 600;

/// `SplitMix64`, by Sebastiano Vigna (2015, public domain).
struct Random(u64);

impl Random {
    /// A whole number below another one.
    fn below(&mut self, end: i64) -> i64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^= mixed >> 31;
        i64::try_from(mixed % end.unsigned_abs()).unwrap()
    }

    fn one_of<T: Copy>(&mut self, several: &[T]) -> T {
        let place = self.below(i64::try_from(several.len()).unwrap());
        several[usize::try_from(place).unwrap()]
    }
}

/// A world's samples: none of a minute that has not closed when it is drained.
pub fn samples(world: &World) -> BTreeMap<Sample, u64> {
    let mut random = Random(world.seed);
    let minute = |text: &str| at(text).timestamp() / 60;
    let (first, last) = (minute(world.days[0]) - 20 * 60, minute(world.now) - 1);
    let edges = world.days.iter().chain(&world.edges).map(|edge| minute(edge));
    let mut centres: Vec<i64> = edges.collect();
    // Midnights of UTC, a few hours, and the drain.
    centres.extend((first / 1440 + 1..=last / 1440).map(|day| day * 1440));
    centres.extend((0..8).map(|_| (first + random.below(last - first)) / 60 * 60));
    centres.push(last);
    let mut samples = BTreeMap::new();
    while samples.len() < SAMPLES {
        let minute = match random.below(4) {
            0 => first + random.below(last - first + 1),
            1 => random.one_of(&centres) - 8 + random.below(16),
            _ => random.one_of(&centres) - 40 + random.below(80),
        };
        let sample = Sample {
            endpoint: random.one_of(&ENDPOINTS),
            identity: random.one_of(&IDENTITIES),
            minute,
        };
        let count = 1 + random.below(4).unsigned_abs();
        if (first..=last).contains(&minute) {
            samples.insert(sample, count);
            // Two are always counted alike, so that there are ties.
            if sample.identity == TWINS[0] {
                samples.insert(
                    Sample {
                        identity: TWINS[1],
                        ..sample
                    },
                    count,
                );
            }
        }
    }
    samples
}
