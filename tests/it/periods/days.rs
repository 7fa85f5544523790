//! Local days, however long they are: each has the hours of UTC that start in it, and none of its neighbours'.

use serde_json::{Value, json};

use super::{seen, world};
use crate::support::{Bench, catalogs::report_at};

/// The day before an instant, in the catalog's zone.
async fn yesterday(bench: &Bench, now: &str) -> [Value; 4] {
    let arguments = ["report", "--env", "prod", "--format", "json", "--days", "1"];
    seen(&bench.folga(&arguments).at(now).run().await.succeeded().json())
}

/// Checks one local day after another: an instant of the next one, its start, its end, its total and its minutes. Days
/// are where others end, and both ways to ask for one give the same.
async fn days_are(bench: &Bench, days: &[(&str, &str, &str, u64, u64)]) {
    let last = days.last().unwrap();
    for (now, from, to, total, minutes) in days {
        let expected = [json!(from), json!(to), json!(total), json!(minutes)];
        assert_eq!(yesterday(bench, now).await, expected, "the day before {now}");
        assert_eq!(
            seen(&report_at(bench, from, to, last.0).await),
            expected,
            "{from} to {to}"
        );
    }
    let (from, to) = (days[0].1, last.2);
    let totals: u64 = days.iter().map(|day| day.3).sum();
    let minutes: u64 = days.iter().map(|day| day.4).sum();
    assert!(days.windows(2).all(|pair| pair[0].2 == pair[1].1));
    let expected = [json!(from), json!(to), json!(totals), json!(minutes)];
    assert_eq!(
        seen(&report_at(bench, from, to, last.0).await),
        expected,
        "{from} to {to}"
    );
}

#[tokio::test]
async fn days_about_a_skipped_midnight_keep_their_own() {
    // Sao Paulo, 4 November 2018: 03:00Z is 01:00, an hour after 23:00. 23:30 of the 3rd, 01:30 and 23:30 of the 4th,
    // 00:00 of the 5th.
    let counts = [
        ("201811040230", 10),
        ("201811040330", 20),
        ("201811050130", 40),
        ("201811050200", 80),
    ];
    let bench = world("America/Sao_Paulo", &counts, "2018-11-06T03:00:10Z").await;
    let days = [
        (
            "2018-11-04T12:00:00Z",
            "2018-11-03T03:00:00Z",
            "2018-11-04T03:00:00Z",
            10,
            1440,
        ),
        (
            "2018-11-05T12:00:00Z",
            "2018-11-04T03:00:00Z",
            "2018-11-05T02:00:00Z",
            60,
            23 * 60,
        ),
        (
            "2018-11-06T12:00:00Z",
            "2018-11-05T02:00:00Z",
            "2018-11-06T02:00:00Z",
            80,
            1440,
        ),
    ];
    days_are(&bench, &days).await;
    // The first instants of the 4th and of the 5th are not yet behind them.
    assert_eq!(yesterday(&bench, "2018-11-04T03:00:00Z").await[2], 10);
    assert_eq!(yesterday(&bench, "2018-11-05T01:59:59Z").await[2], 10);
    assert_eq!(yesterday(&bench, "2018-11-05T02:00:00Z").await[2], 60);
}

#[tokio::test]
async fn days_about_an_hour_that_comes_twice_keep_their_own() {
    // Sao Paulo, 17 February 2018: at 02:00Z midnight is put back to 23:00. 23:59 of the 16th, 23:30, 23:30 again, 00:00.
    let counts = [
        ("201802170159", 1),
        ("201802180130", 2),
        ("201802180230", 4),
        ("201802180300", 8),
    ];
    let bench = world("America/Sao_Paulo", &counts, "2018-02-19T03:00:10Z").await;
    let days = [
        (
            "2018-02-17T12:00:00Z",
            "2018-02-16T02:00:00Z",
            "2018-02-17T02:00:00Z",
            1,
            1440,
        ),
        (
            "2018-02-18T12:00:00Z",
            "2018-02-17T02:00:00Z",
            "2018-02-18T03:00:00Z",
            6,
            25 * 60,
        ),
        (
            "2018-02-19T12:00:00Z",
            "2018-02-18T03:00:00Z",
            "2018-02-19T03:00:00Z",
            8,
            1440,
        ),
    ];
    days_are(&bench, &days).await;
    assert_eq!(yesterday(&bench, "2018-02-18T02:59:59Z").await[2], 1);
}

#[tokio::test]
async fn zones_within_an_hour_of_utc_have_the_hours_that_start_in_their_days() {
    // Midnight is 18:30Z at +5:30 and 18:15Z at +5:45: the hour of 18:00Z starts in the day before either, that of
    // 19:00Z after. Newfoundland's is
    // 02:30Z from 9 March 2025 on, at -2:30.
    for (zone, last, next) in [
        ("Asia/Kolkata", "18", "19"),
        ("Asia/Kathmandu", "18", "19"),
        ("America/St_Johns", "02", "03"),
    ] {
        let counts: Vec<_> = ["10", "11", "12"]
            .iter()
            .zip([1, 4, 16])
            .flat_map(|(day, n)| {
                [
                    (format!("202503{day}{last}59"), n),
                    (format!("202503{day}{next}00"), 2 * n),
                ]
            })
            .collect();
        let counts: Vec<_> = counts.iter().map(|(minute, n)| (&**minute, *n)).collect();
        let bench = world(zone, &counts, "2025-03-12T20:00:10Z").await;
        let starts = ["10", "11", "12"].map(|day| format!("2025-03-{day}T{next}:00:00Z"));
        // The last of one day and the first of the next: 2 + 4, 8 + 16.
        let days = [
            ("2025-03-11T20:00:00Z", &*starts[0], &*starts[1], 6, 1440),
            ("2025-03-12T20:00:00Z", &*starts[1], &*starts[2], 24, 1440),
        ];
        days_are(&bench, &days).await;
    }
}

#[tokio::test]
async fn a_day_that_clocks_make_half_an_hour_longer_has_the_hours_that_start_in_it() {
    // Lord Howe, 6 April 2025: clocks go back from +11:00 to +10:30 at 15:00Z of the 5th. Local midnights are 13:00Z of
    // the 4th and of the 5th, and 13:30Z of the 6th: that day has 24 h 30 min, and 25 hours start in it.
    let counts = [
        ("202504051259", 1),
        ("202504051300", 2),
        ("202504061329", 4),
        ("202504061359", 8),
        ("202504061400", 16),
    ];
    let bench = world("Australia/Lord_Howe", &counts, "2025-04-07T14:00:10Z").await;
    let days = [
        (
            "2025-04-06T00:00:00Z",
            "2025-04-04T13:00:00Z",
            "2025-04-05T13:00:00Z",
            1,
            1440,
        ),
        (
            "2025-04-07T00:00:00Z",
            "2025-04-05T13:00:00Z",
            "2025-04-06T14:00:00Z",
            14,
            25 * 60,
        ),
        (
            "2025-04-08T00:00:00Z",
            "2025-04-06T14:00:00Z",
            "2025-04-07T14:00:00Z",
            16,
            1440,
        ),
    ];
    days_are(&bench, &days).await;
}
