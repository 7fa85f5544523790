//! The confidence interval of a return level.

use super::{covariance::Covariance, gev::Gev, l_moments::LMoments};

/// The 95 % point of the normal distribution: 5 % are left out at either end.
const NORMAL_95: f64 = 1.644_853_626_951_472_2;
/// Heavier tails are given the covariance of this shape. Its asymptotic form overstates samples of a few dozen days
/// there, and has no bound at −½.
const HEAVIEST: f64 = -0.25;
const LIGHTEST: f64 = 0.9;
/// The skewness of an end is kept where a distribution is still sane.
const SKEWNESS: [f64; 2] = [-0.5, 0.6];
/// Peaks are counts: one that reads v stands for anything within half a count of it.
const HALF_COUNT: f64 = 0.5;
const ROUNDS: usize = 12;

/// The 90 % confidence interval of a return level, by the delta method on the L-moments.
///
/// The L-moments of the sample are taken as normal about the true ones, with their asymptotic covariance. An end is
/// the furthest level within that reach, and its covariance is that of the distribution *at the end*, not of the
/// fitted one, as in Wilson's interval for a proportion (1927, *J. Am. Stat. Assoc.* 22:209): a sample whose tail came
/// out light by chance would else also claim to be precise. The upper end starts from no less than a symmetric
/// distribution: maxima that lean to the left are slow days mixed with busy ones, and hide how far the busy ones reach.
///
/// How often it covers the true level of simulated worlds is in `notebooks/return_levels.ipynb`.
pub struct Interval {
    moments: LMoments,
    days: f64,
    depth: f64,
    /// How many standard deviations an end is away.
    reach: f64,
    covariance: Covariance,
}

impl Interval {
    /// For the level at `depth`, from the L-moments of so many days.
    #[expect(clippy::cast_precision_loss, reason = "days are few")]
    pub fn new(moments: LMoments, days: usize, depth: f64) -> Self {
        let days = days as f64;
        Self {
            moments,
            days,
            depth,
            reach: student_95(days - 3.0),
            covariance: Covariance::new(),
        }
    }

    /// The lower end.
    pub fn lower(&self) -> f64 {
        self.end(-self.reach, self.moments.skewness) - HALF_COUNT
    }

    /// The upper end.
    pub fn upper(&self) -> f64 {
        self.end(self.reach, self.moments.skewness.max(0.0)) + HALF_COUNT
    }

    /// Moves mean (in units of the spread), logarithm of the spread and skewness along the steepest way that is
    /// `reach` standard deviations long, both taken where the way ends: a fixed point.
    fn end(&self, reach: f64, start: f64) -> f64 {
        let mut moved = [0.0; 3];
        for _ in 0..ROUNDS {
            let at = (start + moved[2]).clamp(SKEWNESS[0], SKEWNESS[1]);
            let (level, shape) = self.standard_level(at);
            let slope = (self.standard_level(at + 1e-4).0 - level) / 1e-4;
            let covariance = self.covariance.of(shape.clamp(HEAVIEST, LIGHTEST));
            let gradient = [1.0, level, slope];
            let way = covariance.map(|row| dot(row, gradient) / self.days);
            let deviation = dot(way, gradient).sqrt();
            let next = way.map(|component| reach * component / deviation);
            let step = (next[2] - moved[2]).abs();
            moved = next;
            if step < 1e-7 {
                break;
            }
        }
        let (level, _) = self.standard_level((start + moved[2]).clamp(SKEWNESS[0], SKEWNESS[1]));
        self.moments.mean + self.moments.spread * moved[1].exp() * (moved[0] + level)
    }

    /// The level and the shape where the mean is 0, the spread 1, and the skewness this.
    fn standard_level(&self, skewness: f64) -> (f64, f64) {
        let gev = Gev::fit(LMoments {
            mean: 0.0,
            spread: 1.0,
            skewness,
        });
        (gev.level(self.depth), gev.shape)
    }
}

fn dot(a: [f64; 3], b: [f64; 3]) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

/// The 95 % point of Student's distribution, by its expansion about the normal one (Abramowitz & Stegun 26.7.5). Three
/// parameters are fitted, so a sample of n has n − 3 degrees of freedom.
fn student_95(freedom: f64) -> f64 {
    let z = NORMAL_95;
    let first = (z.powi(3) + z) / 4.0;
    let second = (5.0 * z.powi(5) + 16.0 * z.powi(3) + 3.0 * z) / 96.0;
    z + first / freedom + second / (freedom * freedom)
}
