//! The generalised extreme value distribution.

use std::f64::consts::LN_2;

use super::l_moments::LMoments;

const LN_3: f64 = 1.098_612_288_668_109_8;
/// Euler's constant, the mean of a standard Gumbel distribution.
const EULER_GAMMA: f64 = 0.577_215_664_901_532_9;

/// A generalised extreme value distribution, with the shape k in Hosking's sense: 0 is Gumbel, below 0 the tail is
/// heavy, above 0 it ends.
#[derive(Clone, Copy, Debug)]
pub struct Gev {
    /// ξ.
    pub location: f64,
    /// α.
    pub scale: f64,
    /// k.
    pub shape: f64,
}

impl Gev {
    /// The distribution with these L-moments (Hosking, Wallis & Wood 1985, *Technometrics* 27:251; Hosking & Wallis
    /// 1997, *Regional Frequency Analysis*, A.51–A.57).
    pub fn fit(moments: LMoments) -> Self {
        let shape = shape(moments.skewness);
        let gamma = libm::tgamma(1.0 + shape);
        let scale = moments.spread / (gamma * reduced(LN_2, shape));
        let mean = if shape.abs() < 1e-9 {
            EULER_GAMMA
        } else {
            (1.0 - gamma) / shape
        };
        Self {
            location: moments.mean - scale * mean,
            scale,
            shape,
        }
    }

    /// The quantile where −ln F is `depth`.
    pub fn level(&self, depth: f64) -> f64 {
        self.location + self.scale * reduced(-depth.ln(), self.shape)
    }
}

/// (1 − e^(−a k)) / k, and its limit `a` at k = 0.
fn reduced(a: f64, k: f64) -> f64 {
    if k == 0.0 { a } else { -(-a * k).exp_m1() / k }
}

/// The L-skewness of a shape.
fn skewness(shape: f64) -> f64 {
    2.0 * reduced(LN_3, shape) / reduced(LN_2, shape) - 3.0
}

/// The L-moments of the distribution with location 0 and scale 1.
pub fn standard_moments(shape: f64) -> LMoments {
    let unit = Gev::fit(LMoments {
        mean: 0.0,
        spread: 1.0,
        skewness: skewness(shape),
    });
    LMoments {
        mean: -unit.location / unit.scale,
        spread: 1.0 / unit.scale,
        skewness: skewness(shape),
    }
}

/// The shape of an L-skewness: Hosking's approximation, made exact by the secant method.
fn shape(target: f64) -> f64 {
    let c = 2.0 / (3.0 + target) - LN_2 / LN_3;
    let mut before = 7.8590 * c + 2.9554 * c * c;
    let mut shape = before + 1e-4;
    let mut miss_before = skewness(before) - target;
    for _ in 0..10 {
        let miss = skewness(shape) - target;
        if miss.abs() < 1e-14 || (miss - miss_before).abs() < 1e-15 {
            break;
        }
        let next = shape - miss * (shape - before) / (miss - miss_before);
        (before, miss_before, shape) = (shape, miss, next);
    }
    shape
}
