//! Whether daily peaks grow.

use serde::Serialize;
use utoipa::ToSchema;

/// Fewer active days show no trend.
const LEAST_DAYS: usize = 14;
/// The 97.5 % point of the normal distribution: 5 % over both sides.
const NORMAL_975: f64 = 1.959_963_984_540_054;

/// Where daily peaks go.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum Direction {
    /// They grow.
    Rising,
    /// They shrink.
    Falling,
    /// No change that chance would not show as well.
    Steady,
}

/// How daily peaks change.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, ToSchema)]
pub struct Trend {
    /// By how much from one week to the next.
    pub per_week: f64,
    /// Whether that is more than chance.
    pub direction: Direction,
    /// The active days it was seen on.
    pub days: u32,
}

/// The trend of the daily peaks of active days, each with the number of its day, in any order; none below 14 days.
///
/// The slope is the median of the slopes between any two days (Sen 1968, *J. Am. Stat. Assoc.* 63:1379), so that a few
/// odd days don't move it. It is held to be real where the Mann–Kendall test says so at 5 %, two-sided (Mann 1945,
/// *Econometrica* 13:245; Kendall 1975, *Rank Correlation Methods*).
#[must_use]
pub fn trend(points: &[(i32, u64)]) -> Option<Trend> {
    if points.len() < LEAST_DAYS {
        return None;
    }
    let mut points = points.to_vec();
    points.sort_unstable();
    let slope = median_slope(&points)?;
    let direction = if mann_kendall(&points).abs() <= NORMAL_975 || slope == 0.0 {
        Direction::Steady
    } else if slope > 0.0 {
        Direction::Rising
    } else {
        Direction::Falling
    };
    Some(Trend {
        per_week: slope * 7.0,
        direction,
        days: u32::try_from(points.len()).unwrap_or(u32::MAX),
    })
}

/// The median slope per day; none where all points are of one day.
fn median_slope(points: &[(i32, u64)]) -> Option<f64> {
    let mut slopes: Vec<f64> = pairs(points)
        .filter(|(earlier, later)| earlier.0 < later.0)
        .map(|(earlier, later)| change(earlier.1, later.1) / (f64::from(later.0) - f64::from(earlier.0)))
        .collect();
    let middle = slopes.len().checked_sub(1)? / 2;
    let even = slopes.len().is_multiple_of(2);
    let (_, low, above) = slopes.select_nth_unstable_by(middle, f64::total_cmp);
    let high = if even {
        above.iter().copied().min_by(f64::total_cmp)
    } else {
        None
    };
    Some(high.map_or(*low, |high| f64::midpoint(*low, high)))
}

/// The standardised Mann–Kendall statistic, with the corrections for ties and for continuity.
#[expect(clippy::cast_precision_loss, reason = "days are few")]
fn mann_kendall(points: &[(i32, u64)]) -> f64 {
    let score: i64 = pairs(points)
        .map(|(earlier, later)| later.1.cmp(&earlier.1) as i64)
        .sum();
    let spread = |n: usize| (n * (n - 1) * (2 * n + 5)) as f64;
    let mut peaks: Vec<u64> = points.iter().map(|point| point.1).collect();
    peaks.sort_unstable();
    let tied: f64 = (peaks.chunk_by(|a, b| a == b))
        .map(|equal| spread(equal.len()))
        .sum();
    let variance = (spread(points.len()) - tied) / 18.0;
    if variance > 0.0 {
        (score - score.signum()) as f64 / variance.sqrt()
    } else {
        0.0
    }
}

/// Every two points, the earlier one first.
fn pairs(points: &[(i32, u64)]) -> impl Iterator<Item = ((i32, u64), (i32, u64))> {
    (points.iter().enumerate())
        .flat_map(|(at, earlier)| points[at + 1..].iter().map(move |later| (*earlier, *later)))
}

#[expect(clippy::cast_precision_loss, reason = "an estimate, in floating point")]
fn change(from: u64, to: u64) -> f64 {
    (i128::from(to) - i128::from(from)) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Points with the slope of `scipy.stats.theilslopes` and the statistic of pymannkendall's `original_test`:
    /// `make notebooks` runs `notebooks/return_levels.ipynb`, which prints them.
    const RISING: ([u64; 20], f64, f64) = (
        [
            40, 44, 46, 54, 44, 59, 56, 69, 72, 76, 75, 72, 79, 85, 74, 84, 82, 93, 81, 86,
        ],
        2.571_428_571_43,
        4.904_252_008_59,
    );
    const FALLING: ([u64; 20], f64, f64) = (
        [
            293, 302, 320, 293, 300, 308, 295, 279, 260, 312, 284, 293, 270, 296, 279, 269, 256, 270, 258,
            260,
        ],
        -1.715_909_090_91,
        -3.223_313_923_62,
    );
    const TIED: ([u64; 15], f64, f64) = (
        [3, 0, 2, 3, 1, 1, 3, 4, 4, 4, 2, 2, 1, 2, 4],
        0.0,
        0.816_851_194_009,
    );

    fn daily(peaks: &[u64]) -> Vec<(i32, u64)> {
        (0..).zip(peaks.iter().copied()).collect()
    }

    /// Weekdays only.
    fn on_weekdays(peaks: &[u64]) -> Vec<(i32, u64)> {
        (0..)
            .filter(|day| day % 7 < 5)
            .zip(peaks.iter().copied())
            .collect()
    }

    #[track_caller]
    fn assert_trend(points: &[(i32, u64)], slope: f64, statistic: f64, direction: Direction) {
        assert!((mann_kendall(points) - statistic).abs() < 1e-10);
        let trend = trend(points).unwrap();
        assert!((trend.per_week - 7.0 * slope).abs() < 1e-9, "{}", trend.per_week);
        assert_eq!((trend.direction, trend.days as usize), (direction, points.len()));
    }

    #[test]
    fn slopes_and_tests_are_those_of_scipy_and_pymannkendall() {
        let (peaks, slope, statistic) = RISING;
        assert_trend(&daily(&peaks), slope, statistic, Direction::Rising);
        let (peaks, slope, statistic) = FALLING;
        assert_trend(&on_weekdays(&peaks), slope, statistic, Direction::Falling);
        let (peaks, slope, statistic) = TIED;
        assert_trend(&daily(&peaks), slope, statistic, Direction::Steady);
    }

    #[test]
    fn neither_order_nor_odd_days_nor_the_size_of_peaks_move_it() {
        let points = daily(&RISING.0);
        let mut backwards = points.clone();
        backwards.reverse();
        assert_eq!(trend(&backwards), trend(&points));
        // Of 190 slopes, the 19 of one day can't reach the middle: it stays between 2 and 3 a day.
        let mut odd = points.clone();
        odd[3].1 = u64::MAX;
        let per_week = trend(&odd).unwrap().per_week;
        assert!((14.0..21.0).contains(&per_week), "{per_week}");
        let high: Vec<_> = points
            .iter()
            .map(|(day, peak)| (*day, peak + (1 << 63)))
            .collect();
        assert_eq!(trend(&high), trend(&points));
    }

    #[test]
    fn too_few_days_show_nothing_and_equal_ones_no_change() {
        assert_eq!(trend(&[]), None);
        assert_eq!(trend(&daily(&RISING.0[..13])), None);
        assert_eq!(trend(&[(3, 1); 14]), None);
        assert_eq!(
            trend(&daily(&[9; 14])),
            Some(Trend {
                per_week: 0.0,
                direction: Direction::Steady,
                days: 14,
            })
        );
    }

    #[test]
    fn the_test_is_two_sided_at_five_per_cent() {
        // 14 days without ties have the variance 14 × 13 × 33 / 18 = 333.67 and the deviation 18.267, so the score
        // less 1 has to pass 1.95996 × 18.267 = 35.80. Ascending days score 91, and every swap of ascending neighbours
        // takes 2: after 27 swaps the score is 37 and 36 passes, after 28 it is 35 and 34 doesn't.
        let with_swaps = |swaps: usize| {
            let mut peaks: Vec<u64> = (1..=14).collect();
            let mut left = swaps;
            for _ in 0..14 {
                for at in 0..13 {
                    if left > 0 && peaks[at] < peaks[at + 1] {
                        peaks.swap(at, at + 1);
                        left -= 1;
                    }
                }
            }
            peaks
        };
        let direction = |peaks: &[u64]| trend(&daily(peaks)).map(|trend| trend.direction);
        assert_eq!(direction(&with_swaps(27)), Some(Direction::Rising));
        assert_eq!(direction(&with_swaps(28)), Some(Direction::Steady));
        let mut falling = with_swaps(27);
        falling.reverse();
        assert_eq!(direction(&falling), Some(Direction::Falling));
    }
}
