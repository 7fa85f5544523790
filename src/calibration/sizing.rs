//! Which value of a limit would hold a peak.

use super::{Projection, project};

/// A value and the peak that it has to hold.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sizing {
    /// The largest peak it rests on.
    pub observed: u64,
    /// The peak to expect.
    pub projection: Projection,
    /// The smallest value of two significant digits of which the projected peak is at most the alert percentage.
    pub limit: u64,
}

impl Sizing {
    /// Sizes a limit for the daily maxima of the active ones among `known_days`; none without traffic.
    #[must_use]
    pub fn new(maxima: &[u64], known_days: u32, percent: u32) -> Option<Self> {
        let observed = maxima.iter().copied().max().filter(|peak| *peak > 0)?;
        let projection = rounded(project(observed, maxima, known_days));
        Some(Self {
            observed,
            projection,
            limit: holding(projection.peak, percent),
        })
    }
}

/// A projection with two decimals, rounded up, so that who reads it finds the same value.
fn rounded(projection: Projection) -> Projection {
    let up = |peak: f64| {
        let up = (peak * 100.0).ceil() / 100.0;
        if up.is_finite() { up } else { peak }
    };
    Projection {
        peak: up(projection.peak),
        interval: projection.interval.map(up),
        ..projection
    }
}

/// The smallest value of two significant digits of which `peak` is at most `percent` per cent.
#[must_use]
pub fn holding(peak: f64, percent: u32) -> u64 {
    // Exact wherever the quotient is a whole number: numerator and denominator are.
    let least = (peak * 100.0 / f64::from(percent)).ceil();
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a cast stops at the largest u64, and there is no negative peak"
    )]
    two_digits_up((least as u64).max(1))
}

/// Rounds up to two significant digits.
fn two_digits_up(value: u64) -> u64 {
    let unit = 10_u64.pow(value.checked_ilog10().unwrap_or(0).saturating_sub(1));
    value.div_ceil(unit).saturating_mul(unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_has_two_digits_and_holds_the_peak() {
        // 21 is 70 % of 30. 21.01 needs 30.02, so 31. 4 × 1.25 = 5 needs 7.15. 71 needs 101.43, so 110.
        for (peak, limit) in [
            (21.0, 30),
            (21.01, 31),
            (5.0, 8),
            (71.0, 110),
            (0.7, 1),
            (0.0, 1),
            (693.0, 990),
            (693.01, 1000),
        ] {
            assert_eq!(holding(peak, 70), limit, "{peak}");
        }
        assert_eq!(holding(f64::MAX, 70), u64::MAX);
        assert_eq!(holding(100.0, 100), 100);
    }

    #[test]
    fn without_many_days_a_quarter_comes_on_top() {
        // The largest of three days is 20: 25 is 70 % of 35.7, so 36.
        let sizing = Sizing::new(&[7, 20, 9], 5, 70).unwrap();
        assert_eq!((sizing.observed, sizing.limit), (20, 36));
        assert!((sizing.projection.peak - 25.0).abs() < f64::EPSILON);
        assert_eq!(Sizing::new(&[], 5, 70), None);
    }
}
