#![expect(clippy::cast_precision_loss, reason = "tolerances are wider")]

use proptest::prelude::*;

use super::*;

/// Daily maxima with what lmoments3, scipy and a second implementation of the interval make of them:
/// `make notebooks` runs `notebooks/return_levels.ipynb`, which prints all of it.
struct Sample {
    maxima: &'static [u64],
    known_days: u32,
    moments: [f64; 3],
    /// Location, scale, shape.
    gev: [f64; 3],
    level: f64,
    /// Of the projection, which is never below the largest maximum.
    interval: [f64; 2],
}

/// A Gumbel distribution, every day with traffic.
const GUMBEL: Sample = Sample {
    maxima: &[
        216, 319, 174, 318, 194, 206, 267, 205, 221, 149, 250, 219, 196, 257, 193, 209, 172, 204, 181, 188,
        250, 190, 213, 358, 330, 245, 220, 190, 176, 340, 217, 169, 230, 255, 229, 298, 153, 218, 210, 159,
    ],
    known_days: 40,
    moments: [224.7, 28.692_307_692_3, 0.223_218_569_211],
    gev: [199.343_490_7, 38.179_219_02, -0.081_253_297_31],
    level: 406.447_438_1,
    interval: [342.751, 630.287],
};

/// A heavy tail, with two days of seven that saw nothing.
const HEAVY: Sample = Sample {
    maxima: &[
        272, 272, 217, 191, 161, 202, 204, 160, 160, 828, 237, 186, 207, 415, 312, 285, 203, 214, 241, 163,
        222, 190, 302, 163, 242, 297, 185, 311, 298, 152, 247, 137, 216, 208, 182, 195, 272, 194, 176, 246,
        209, 270, 186, 195, 270, 216, 216, 186, 150, 341, 167, 286, 200, 364, 203, 345, 223, 186, 255, 241,
    ],
    known_days: 84,
    moments: [237.9, 41.147_457_627_1, 0.354_050_165_262],
    gev: [197.573_921_4, 43.224_578_55, -0.267_800_716_7],
    level: 527.328_030_9,
    interval: [422.559, 828.0],
};

/// Small counts.
const COUNTS: Sample = Sample {
    maxima: &[
        6, 15, 6, 12, 15, 11, 11, 10, 14, 10, 17, 12, 11, 9, 10, 14, 16, 11, 17, 16, 12, 14, 17, 13, 13, 8,
        15, 18, 16, 21,
    ],
    known_days: 30,
    moments: [13.0, 2.032_183_908_05, -0.017_453_135_100_2],
    gev: [11.789_166_3, 3.645_805_729, 0.315_375_679_1],
    level: 20.547_745_65,
    interval: [18.2235, 26.0839],
};

#[track_caller]
fn assert_near(actual: f64, expected: f64, tolerance: f64) {
    assert!(
        (actual - expected).abs() <= tolerance * expected.abs(),
        "{actual} is not {expected}"
    );
}

fn largest(maxima: &[u64]) -> u64 {
    maxima.iter().copied().max().unwrap()
}

fn projected(maxima: &[u64], known_days: u32) -> Projection {
    project(largest(maxima), maxima, known_days)
}

#[test]
fn fits_and_levels_are_those_of_lmoments3_and_scipy() {
    for sample in [GUMBEL, HEAVY, COUNTS] {
        let mut values: Vec<f64> = sample.maxima.iter().map(|peak| *peak as f64).collect();
        values.sort_by(f64::total_cmp);
        let moments = LMoments::of_sorted(&values).unwrap();
        assert_near(moments.mean, sample.moments[0], 1e-10);
        assert_near(moments.spread, sample.moments[1], 1e-10);
        assert_near(moments.skewness, sample.moments[2], 1e-10);
        let gev = Gev::fit(moments);
        // lmoments3 finds the shape by an approximation that is good to 9e-7.
        assert_near(gev.location, sample.gev[0], 1e-6);
        assert_near(gev.scale, sample.gev[1], 1e-6);
        assert_near(gev.shape, sample.gev[2], 1e-5);
        let depth = depth(values.len() as f64, sample.known_days.into()).unwrap();
        assert_near(gev.level(depth), sample.level, 1e-6);
    }
}

#[test]
fn a_projection_is_the_level_or_what_was_seen_with_its_interval() {
    for sample in [GUMBEL, HEAVY, COUNTS] {
        let projection = projected(sample.maxima, sample.known_days);
        assert_eq!(projection.method, Method::GevReturnLevel);
        assert_near(
            projection.peak,
            sample.level.max(largest(sample.maxima) as f64),
            1e-6,
        );
        assert_near(projection.interval[0], sample.interval[0], 1e-3);
        assert_near(projection.interval[1], sample.interval[1], 1e-3);
    }
}

#[test]
fn days_without_traffic_lower_the_level_but_never_under_what_was_seen() {
    // 40 active days of 40, of 56 and of 400: 90, 64 and 9 active ones in 90. From the parameters above, with
    // α/k = −469.879: y = −ln(1 − 1/90) gives 406.4, y = −ln(1 − 56/3600) gives 199.34 + 469.88 (y^−0.08125 − 1) =
    // 199.34 + 469.88 × 0.4016 = 388.1. The level of 9 days lies below the largest maximum, 358.
    let peaks = [40, 56, 400].map(|known| projected(GUMBEL.maxima, known).peak);
    assert_near(peaks[0], 406.447, 1e-5);
    assert_near(peaks[1], 388.07, 1e-4);
    assert_near(peaks[2], 358.0, 0.0);
    // Nor under a peak that is in no day's maximum.
    let projection = project(5000, GUMBEL.maxima, 40);
    assert_near(projection.peak, 5000.0, 0.0);
    assert!(projection.interval[0] <= 5000.0 && projection.interval[1] >= 5000.0);
}

#[test]
fn without_a_fit_a_quarter_is_added_to_what_was_seen() {
    let margin = |maxima: &[u64], known| {
        let observed = maxima.iter().copied().max().unwrap_or(0);
        let projection = project(observed, maxima, known);
        assert_eq!(
            projection,
            Projection {
                peak: observed as f64 * 1.25,
                interval: [observed as f64, observed as f64 * 1.25],
                method: Method::ObservedMargin,
            }
        );
    };
    margin(&[], 0);
    margin(&[7], 1);
    // 29 days; five distinct maxima; one and the same; one day that stands out by far, so that no variance is left;
    // so few active days that 90 hold less than one.
    margin(&GUMBEL.maxima[..29], 29);
    margin(&[3, 4, 5, 6, 7].repeat(12), 60);
    margin(&[40; 60], 60);
    let mut abuse = GUMBEL.maxima.to_vec();
    abuse[5] = 1_000_000;
    margin(&abuse, 40);
    margin(&GUMBEL.maxima[..30], 2700);
    // 30 days and six distinct maxima carry a fit, ties and all.
    let least = projected(&[3, 4, 5, 6, 8, 11].repeat(5), 30);
    assert_eq!(least.method, Method::GevReturnLevel);
    // Fewer known days than active ones are as many.
    assert_eq!(projected(GUMBEL.maxima, 0), projected(GUMBEL.maxima, 40));
}

#[test]
fn huge_peaks_keep_their_differences() {
    // Near 2^63 neighbouring floats are 1024 or 2048 apart, more than the whole sample spreads.
    let offset = 1 << 63;
    let moved: Vec<u64> = GUMBEL.maxima.iter().map(|peak| peak + offset).collect();
    let projection = projected(&moved, 40);
    assert_eq!(projection.method, Method::GevReturnLevel);
    assert_near(projection.peak, offset as f64, 1e-15);

    let spread: Vec<u64> = GUMBEL.maxima.iter().map(|peak| peak << 54).collect();
    let projection = projected(&spread, 40);
    let unit = 2_f64.powi(54);
    assert_near(projection.peak / unit, GUMBEL.level, 1e-6);
    assert!(projection.interval.iter().all(|end| end.is_finite()));
}

#[test]
fn methods_are_spelt_as_reports_do() {
    let spelt = [Method::ObservedMargin, Method::GevReturnLevel]
        .map(|method| serde_json::to_string(&method).unwrap());
    assert_eq!(spelt, ["\"observed-margin\"", "\"gev-return-level\""]);
}

fn days() -> impl Strategy<Value = Vec<u64>> {
    prop_oneof![
        prop::collection::vec(0..50_u64, 25..100),
        prop::collection::vec((0..63_u32).prop_map(|bit| 1 << bit), 25..100),
        prop::collection::vec(any::<u64>(), 25..100),
    ]
}

proptest! {
    #[test]
    fn order_means_nothing(
        (maxima, shuffled) in days().prop_flat_map(|days| (Just(days.clone()), Just(days).prop_shuffle())),
        quiet in 0..200_u32,
    ) {
        let known = 30 + quiet;
        prop_assert_eq!(projected(&maxima, known), projected(&shuffled, known));
    }

    #[test]
    fn a_projection_is_finite_within_its_interval_and_not_below_what_was_seen(
        maxima in days(),
        observed in any::<u64>(),
        known in 0..400_u32,
    ) {
        let projection = project(observed, &maxima, known);
        let [lower, upper] = projection.interval;
        prop_assert!(upper.is_finite() && lower >= 0.0);
        prop_assert!(lower <= projection.peak && projection.peak <= upper);
        prop_assert!(projection.peak >= observed as f64);
    }
}
