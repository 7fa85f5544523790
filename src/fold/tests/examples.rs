//! Worked examples.

use chrono::{DateTime, Utc};

use super::*;
use crate::fold::{Merged, Peak, TopIdentity};

fn at(text: &str) -> Minute {
    Minute::containing(text.parse::<DateTime<Utc>>().unwrap())
}

fn hour(text: &str) -> Hour {
    at(text).hour()
}

fn peak(row: &HourRow) -> (u64, Minute) {
    row.figures.peak.map(|peak| (peak.value, peak.at)).unwrap()
}

fn bounds(row: &HourRow) -> (u64, u64) {
    (row.figures.lower, row.figures.upper)
}

#[test]
fn a_minute_of_29_among_ones_is_the_peak_and_never_an_average() {
    // 59 minutes of 1 and minute 12:17 of 29: total 59 + 29 = 88. Two minutes with the peak in them: 29 + 1 = 30. An
    // anchored window may start in mid-minute: ⌈29 / 2⌉ = 15.
    let first = at("2025-03-10T12:00:00Z");
    let samples: Vec<_> = (0..60)
        .map(|n| (first.plus(n), 4, if n == 17 { 29 } else { 1 }))
        .collect();
    let rows = fold(
        rules("1m", Algorithm::Anchored),
        first.hour(),
        first.hour().next(),
        &samples,
    );
    assert_eq!(rows.len(), 1);
    assert_eq!(rows[0].hour, first.hour());
    let figures = &rows[0].figures;
    assert_eq!(
        figures.peak,
        Some(Peak {
            value: 29,
            at: first.plus(17),
            identity: Some(4)
        })
    );
    assert_eq!(
        (figures.lower, figures.upper, figures.total, figures.identities),
        (15, 30, 88, 1)
    );
    assert_eq!(figures.histogram.entries(), [(1, 59), (29, 1)]);
    assert_eq!(
        figures.top,
        [TopIdentity {
            identity: 4,
            peak: 29,
            at: first.plus(17)
        }]
    );
}

#[test]
fn a_shared_limit_counts_all_identities_together() {
    // 12:05 has 12 + 11 + 10 = 33, 12:06 has 20 of identity 1 alone.
    let five = at("2025-03-10T12:05:00Z");
    let samples = [(five, 1, 12), (five, 2, 11), (five, 3, 10), (five.plus(1), 1, 20)];
    let own = rules("1m", Algorithm::Sliding);
    let shared = fold(
        Rules { shared: true, ..own },
        five.hour(),
        five.hour().next(),
        &samples,
    );
    assert_eq!(
        shared[0].figures.peak,
        Some(Peak {
            value: 33,
            at: five,
            identity: None
        })
    );
    // 33 + 20 in the two minutes that end with 12:06.
    assert_eq!(bounds(&shared[0]), (33, 53));
    assert_eq!((shared[0].figures.total, shared[0].figures.identities), (53, 3));
    assert_eq!(shared[0].figures.histogram.entries(), [(20, 1), (33, 1)]);
    assert_eq!(shared[0].figures.top, []);

    let own = fold(own, five.hour(), five.hour().next(), &samples);
    assert_eq!(
        own[0].figures.peak,
        Some(Peak {
            value: 20,
            at: five.plus(1),
            identity: Some(1)
        })
    );
    // Identity 1 has 12 + 20 in two minutes.
    assert_eq!(bounds(&own[0]), (20, 32));
    let top: Vec<_> = own[0]
        .figures
        .top
        .iter()
        .map(|top| (top.identity, top.peak))
        .collect();
    assert_eq!(top, [(1, 20), (2, 11), (3, 10)]);
}

#[test]
fn fifteen_minutes_reach_over_the_hour() {
    // 11:50 → 3, 11:58 → 4, 12:04 → 5, 12:05 → 1.
    // v(12:04) is 11:50..12:04 = 3 + 4 + 5 = 12; v(12:05) is 11:51..12:05 = 4 + 5 + 1 = 10, and with one minute more,
    // 11:50, 13. v(11:58) = 7. Aligned quarters: 11:45 to 11:59 holds 7, 12:00 to 12:14 holds 6.
    let samples = [
        (at("2025-03-10T11:50:00Z"), 9, 3),
        (at("2025-03-10T11:58:00Z"), 9, 4),
        (at("2025-03-10T12:04:00Z"), 9, 5),
        (at("2025-03-10T12:05:00Z"), 9, 1),
    ];
    let rules = rules("15m", Algorithm::Sliding);
    let noon = hour("2025-03-10T12:00:00Z");
    // For the hour of noon alone minutes are needed from 11:45: v(12:00) with one minute more.
    let alone = Fold::new(rules, noon, noon.next(), noon.next().first_minute());
    assert_eq!(alone.needs_from(), at("2025-03-10T11:45:00Z"));
    let rows = fold(rules, noon, noon.next(), &samples);
    assert_eq!(rows.len(), 1);
    assert_eq!(peak(&rows[0]), (12, at("2025-03-10T12:04:00Z")));
    assert_eq!(bounds(&rows[0]), (12, 13));
    assert_eq!((rows[0].figures.total, rows[0].figures.identities), (6, 1));
    assert_eq!(rows[0].figures.histogram.entries(), [(6, 1)]);

    let both = fold(rules, hour("2025-03-10T11:00:00Z"), noon.next(), &samples);
    assert_eq!(both[1], rows[0]);
    assert_eq!(peak(&both[0]), (7, at("2025-03-10T11:58:00Z")));
    assert_eq!(both[0].figures.histogram.entries(), [(7, 1)]);
}

#[test]
fn an_hour_reaches_over_midnight() {
    // 23:30 → 40, 00:10 → 25, 00:29 → 1, 00:30 → 1.
    // v(00:10) = 65; v(00:29) is 23:30..00:29 = 66; v(00:30) is 23:31..00:30 = 27, with 23:30 67.
    let samples = [
        (at("2025-03-10T23:30:00Z"), 1, 40),
        (at("2025-03-11T00:10:00Z"), 1, 25),
        (at("2025-03-11T00:29:00Z"), 1, 1),
        (at("2025-03-11T00:30:00Z"), 1, 1),
    ];
    let midnight = hour("2025-03-11T00:00:00Z");
    let rows = fold(
        rules("1h", Algorithm::Anchored),
        midnight,
        midnight.next(),
        &samples,
    );
    assert_eq!(peak(&rows[0]), (66, at("2025-03-11T00:29:00Z")));
    assert_eq!(bounds(&rows[0]), (33, 67));
    assert_eq!(rows[0].figures.histogram.entries(), [(27, 1)]);
}

#[test]
fn fixed_windows_count_from_their_start() {
    // Quarters of 12:00: 12:10 → 3, 12:14 → 4 make 7; 12:15 → 5 starts again. Sliding, 12:15 would hold 12.
    let samples = [
        (at("2025-03-10T12:10:00Z"), 1, 3),
        (at("2025-03-10T12:14:00Z"), 1, 4),
        (at("2025-03-10T12:15:00Z"), 1, 5),
    ];
    let noon = hour("2025-03-10T12:00:00Z");
    let fixed = fold(rules("15m", Algorithm::Fixed), noon, noon.next(), &samples);
    assert_eq!(
        (peak(&fixed[0]), bounds(&fixed[0])),
        ((7, at("2025-03-10T12:14:00Z")), (7, 7))
    );
    assert_eq!(fixed[0].figures.histogram.entries(), [(5, 1), (7, 1)]);
    let anchored = fold(rules("15m", Algorithm::Anchored), noon, noon.next(), &samples);
    assert_eq!(
        (peak(&anchored[0]), bounds(&anchored[0])),
        ((12, at("2025-03-10T12:15:00Z")), (6, 12))
    );
    assert_eq!(anchored[0].figures.histogram.entries(), [(5, 1), (7, 1)]);
}

#[test]
fn an_open_window_has_a_peak_but_no_place_in_the_histogram() {
    // At 12:20 the quarter from 12:15 is open.
    let noon = hour("2025-03-10T12:00:00Z");
    let rows = |closed_before| {
        let rules = rules("15m", Algorithm::Fixed);
        let mut fold = Fold::new(rules, noon, noon.next(), noon.first_minute().plus(closed_before));
        fold.add(at("2025-03-10T12:16:00Z"), &[1], &[8]);
        fold.finish()
    };
    assert_eq!(peak(&rows(20)[0]), (8, at("2025-03-10T12:16:00Z")));
    assert_eq!(rows(29)[0].figures.histogram.entries(), []);
    assert_eq!(rows(30)[0].figures.histogram.entries(), [(8, 1)]);
}

#[test]
fn a_window_belongs_to_the_hour_of_its_last_minute() {
    // Three hours from 12:00 end with 14:59: the hour of 14 has that window and no samples of its own.
    let samples = [
        (at("2025-03-10T12:30:00Z"), 1, 6),
        (at("2025-03-10T13:10:00Z"), 1, 2),
    ];
    let noon = hour("2025-03-10T12:00:00Z");
    let rows = fold(
        rules("3h", Algorithm::Fixed),
        noon,
        Hour::from_index(noon.index() + 3),
        &samples,
    );
    assert_eq!(
        rows.iter()
            .map(|row| row.hour.index() - noon.index())
            .collect::<Vec<_>>(),
        [0, 1, 2]
    );
    assert_eq!((peak(&rows[0]).0, peak(&rows[1]).0), (6, 8));
    assert_eq!(
        (
            rows[2].figures.peak,
            rows[2].figures.total,
            rows[2].figures.identities
        ),
        (None, 0, 0)
    );
    assert_eq!(rows[2].figures.histogram.entries(), [(8, 1)]);
}

#[test]
fn a_day_is_local_and_as_long_as_its_clocks_make_it() {
    // Sao Paulo, 2018-11-04 lasts from 03:00Z to 02:00Z, 23 hours. 02:30Z is the evening before: 10. 03:30Z → 20 and
    // 01:59Z → 1 are of the day: 21. 02:00Z the next morning starts again with 5.
    let zone = chrono_tz::America::Sao_Paulo;
    let samples = [
        (at("2018-11-04T02:30:00Z"), 1, 10),
        (at("2018-11-04T03:30:00Z"), 1, 20),
        (at("2018-11-05T01:59:00Z"), 1, 1),
        (at("2018-11-05T02:00:00Z"), 1, 5),
    ];
    let rules = in_zone("1d", zone);
    let rows = fold(
        rules,
        hour("2018-11-04T02:00:00Z"),
        hour("2018-11-05T03:00:00Z"),
        &samples,
    );
    let peaks: Vec<_> = rows.iter().map(|row| peak(row).0).collect();
    assert_eq!(peaks, [10, 20, 21, 5]);
    // The day before closes with 02:59Z, the short one with 01:59Z.
    assert_eq!(rows[0].figures.histogram.entries(), [(10, 1)]);
    assert_eq!(rows[1].figures.histogram.entries(), []);
    assert_eq!(rows[2].figures.histogram.entries(), [(21, 1)]);
    assert_eq!(bounds(&rows[2]), (21, 21));
    // To fold the hour of 01:00Z alone, all of its day is needed.
    let last = hour("2018-11-05T01:00:00Z");
    let alone = Fold::new(rules, last, last.next(), last.next().first_minute());
    assert_eq!(alone.needs_from(), at("2018-11-04T03:00:00Z"));
}

#[test]
fn a_day_may_start_within_an_hour() {
    // Kolkata is UTC+5:30: its 2025-03-11 starts at 18:30Z.
    let samples = [
        (at("2025-03-10T18:29:00Z"), 1, 7),
        (at("2025-03-10T18:30:00Z"), 1, 2),
        (at("2025-03-10T18:45:00Z"), 1, 3),
    ];
    let evening = hour("2025-03-10T18:00:00Z");
    let rows = fold(
        in_zone("1d", chrono_tz::Asia::Kolkata),
        evening,
        evening.next(),
        &samples,
    );
    assert_eq!(peak(&rows[0]), (7, at("2025-03-10T18:29:00Z")));
    // The day of the 10th closes with 18:29Z, in the same hour; the 11th is open.
    assert_eq!(rows[0].figures.histogram.entries(), [(7, 1)]);
}

#[test]
fn below_a_minute_there_are_bounds_only() {
    // 5 s: twelve windows a minute. The largest minute has 25: one window has ⌈25 / 12⌉ = 3 or more. Two minutes in a
    // row have 25 + 20 = 45 at most; clock-aligned windows never reach into a second minute.
    let noon = at("2025-03-10T12:00:00Z");
    let samples = [(noon, 1, 25), (noon.plus(1), 1, 20), (noon.plus(3), 2, 24)];
    for (algorithm, upper) in [
        (Algorithm::Anchored, 45),
        (Algorithm::Sliding, 45),
        (Algorithm::Fixed, 25),
    ] {
        let rows = fold(rules("5s", algorithm), noon.hour(), noon.hour().next(), &samples);
        let figures = &rows[0].figures;
        assert_eq!((figures.peak, bounds(&rows[0])), (None, (3, upper)));
        assert_eq!((figures.total, figures.identities), (69, 2));
        assert!(figures.histogram.is_empty() && figures.top.is_empty());
    }
    // The pair of 12:59 and 13:00 belongs to 13:00.
    let samples = [(noon.plus(59), 1, 9), (noon.plus(60), 1, 1)];
    let rows = fold(
        rules("5s", Algorithm::Sliding),
        noon.hour(),
        noon.plus(60).hour().next(),
        &samples,
    );
    assert_eq!(bounds(&rows[0]), (1, 9));
    assert_eq!(bounds(&rows[1]), (1, 10));
    let alone = fold(
        rules("5s", Algorithm::Sliding),
        noon.plus(60).hour(),
        noon.plus(60).hour().next(),
        &samples,
    );
    assert_eq!(alone, rows[1..]);
}

#[test]
fn among_equal_peaks_the_earliest_then_the_smallest_identity_is_named() {
    let noon = at("2025-03-10T12:00:00Z");
    let samples = [(noon, 8, 5), (noon, -3, 5), (noon.plus(1), -9, 5)];
    let rows = fold(
        rules("1m", Algorithm::Sliding),
        noon.hour(),
        noon.hour().next(),
        &samples,
    );
    assert_eq!(
        rows[0].figures.peak,
        Some(Peak {
            value: 5,
            at: noon,
            identity: Some(-3)
        })
    );
    let top: Vec<_> = rows[0].figures.top.iter().map(|top| top.identity).collect();
    assert_eq!(top, [-3, 8, -9]);
}

#[test]
fn counts_beyond_64_bits_are_capped_but_totals_are_exact() {
    let noon = at("2025-03-10T12:00:00Z");
    let samples: Vec<_> = (0..4).map(|n| (noon.plus(n), 1, i64::MAX)).collect();
    let rows = fold(
        rules("2m", Algorithm::Sliding),
        noon.hour(),
        noon.hour().next(),
        &samples,
    );
    let most = i64::MAX.cast_unsigned();
    assert_eq!(peak(&rows[0]), (most, noon));
    assert_eq!(rows[0].figures.upper, most);
    assert_eq!(rows[0].figures.total, 4 * u128::from(most));
    assert_eq!(rows[0].figures.histogram.entries(), [(most, 2)]);
}

#[test]
fn days_and_periods_keep_what_their_hours_say() {
    // UTC-3: 15:10Z is 12:10 local, 15:20Z the day after as well, 16:00Z is 13:00.
    let zone = chrono_tz::America::Sao_Paulo;
    let first = hour("2025-03-10T15:00:00Z");
    let samples = [
        (at("2025-03-10T15:10:00Z"), 1, 9),
        (at("2025-03-10T15:11:00Z"), 2, 4),
        (at("2025-03-10T16:00:00Z"), 3, 6),
        (at("2025-03-11T15:20:00Z"), 2, 9),
        (at("2025-03-11T15:20:00Z"), 1, 1),
    ];
    let rows = fold(
        rules("1m", Algorithm::Sliding),
        first,
        Hour::from_index(first.index() + 25),
        &samples,
    );
    let days = [
        Merged::of_hours(&rows[..2], zone),
        Merged::of_hours(&rows[2..], zone),
    ];
    let all = Merged::of_parts(&days);
    assert_eq!(all, Merged::of_hours(&rows, zone));
    assert_eq!(
        all.figures.peak,
        Some(Peak {
            value: 9,
            at: at("2025-03-10T15:10:00Z"),
            identity: Some(1)
        })
    );
    assert_eq!(
        (all.figures.lower, all.figures.upper, all.figures.total),
        (9, 9, 29)
    );
    assert_eq!((all.active_hours, all.figures.identities), (3, 2));
    assert_eq!(all.figures.histogram.entries(), [(1, 1), (4, 1), (6, 1), (9, 2)]);
    let top: Vec<_> = all
        .figures
        .top
        .iter()
        .map(|top| (top.identity, top.peak))
        .collect();
    assert_eq!(top, [(1, 9), (2, 9), (3, 6)]);
    assert_eq!(
        (all.by_hour[12], all.by_hour[13], all.by_hour[14]),
        (Some(9), Some(6), None)
    );
}
