//! Whether the interval covers the truth in worlds where it is known.

#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    reason = "draws are small and not negative"
)]

use super::{Method, project};

/// Steele, Lea & Flood's `SplitMix64` (2014), so that the worlds are the same on every machine.
struct Random(u64);

impl Random {
    /// In (0, 1).
    fn uniform(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^= bits >> 31;
        ((bits >> 11) as f64 + 0.5) / 2_f64.powi(53)
    }

    fn exponential(&mut self) -> f64 {
        -self.uniform().ln()
    }

    /// A standard normal draw, by Box & Muller.
    fn normal(&mut self) -> f64 {
        (2.0 * self.exponential()).sqrt() * (std::f64::consts::TAU * self.uniform()).cos()
    }

    fn gumbel(&mut self) -> f64 {
        200.0 - 40.0 * self.exponential().ln()
    }

    /// With the shape in Hosking's sense.
    fn gev(&mut self, shape: f64) -> f64 {
        200.0 + 40.0 * (1.0 - self.exponential().powf(shape)) / shape
    }

    /// The events of a Poisson process before 12.
    fn poisson(&mut self) -> f64 {
        let mut time = self.exponential();
        let mut events = 0.0;
        while time < 12.0 {
            events += 1.0;
            time += self.exponential();
        }
        events
    }
}

struct World {
    name: &'static str,
    /// The maximum of a day, by its number.
    day: fn(&mut Random, usize) -> f64,
    /// The true 90-day level where every day is active, and where five of seven are: scipy's quantiles at 1 − 1/90 and
    /// 1 − 7/450, rounded like the maxima; `notebooks/return_levels.ipynb` prints them.
    levels: [f64; 2],
}

const WORLDS: [World; 8] = [
    World {
        name: "gumbel",
        day: |random, _| random.gumbel(),
        levels: [380.0, 366.0],
    },
    World {
        name: "gev 0.1",
        day: |random, _| random.gev(-0.1),
        levels: [427.0, 406.0],
    },
    World {
        name: "gev 0.2",
        day: |random, _| random.gev(-0.2),
        levels: [491.0, 459.0],
    },
    World {
        name: "gev -0.15",
        day: |random, _| random.gev(0.15),
        levels: [331.0, 324.0],
    },
    World {
        name: "gamma 4",
        day: |random, _| 25.0 * (0..4).map(|_| random.exponential()).sum::<f64>(),
        levels: [248.0, 236.0],
    },
    World {
        name: "lognormal 0.5",
        day: |random, _| 60.0 * (0.5 * random.normal()).exp(),
        levels: [188.0, 176.0],
    },
    World {
        name: "poisson 12",
        day: |random, _| random.poisson(),
        levels: [21.0, 20.0],
    },
    World {
        name: "slow weekends 0.6",
        day: |random, day| random.gumbel() * if day % 7 < 5 { 1.0 } else { 0.6 },
        levels: [366.0, 353.0],
    },
];

/// Active and known days.
const PERIODS: [(usize, u32); 5] = [(30, 30), (30, 42), (45, 63), (60, 84), (90, 90)];
const SAMPLES: u64 = 5;

#[test]
fn the_interval_covers_the_truth_of_two_hundred_worlds() {
    let (mut worlds, mut covered, mut missed) = (0, 0, Vec::new());
    for (kind, world) in WORLDS.iter().enumerate() {
        for (active, known) in PERIODS {
            for sample in 0..SAMPLES {
                let seed = (kind as u64) << 32 | u64::from(known) << 16 | (active as u64) << 8 | sample;
                let mut random = Random(seed);
                let maxima: Vec<u64> = (0..active)
                    .map(|day| (world.day)(&mut random, day).round().max(1.0) as u64)
                    .collect();
                let projection = project(maxima.iter().copied().max().unwrap(), &maxima, known);
                let truth = world.levels[usize::from(active < known as usize)];
                let [lower, upper] = projection.interval;
                // A margin claims no confidence, so it counts as a miss.
                if projection.method == Method::GevReturnLevel && lower <= truth && truth <= upper {
                    covered += 1;
                } else {
                    missed.push((world.name, active, known, projection));
                }
                worlds += 1;
            }
        }
    }
    assert_eq!(worlds, 200);
    assert!(covered * 100 >= worlds * 85, "{covered} of {worlds}: {missed:#?}");
}
