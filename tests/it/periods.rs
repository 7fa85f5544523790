//! Periods: half-open, so that what is next to each other adds up, and local days however long they are.

use serde_json::{Value, json};

use super::support::{
    Bench, Serving,
    catalogs::{HEAD, MESSAGES, THIRTY, drain, limit, limits, put, report_at},
};

/// A world in a zone with a limit a minute, whose counts of esc-1, by minutes as in keys, were drained at an instant.
async fn world(zone: &str, counts: &[(&str, u64)], now: &str) -> Bench {
    let source = MESSAGES.replace("2h", "5d");
    let own = limits(&[("messages", THIRTY)]);
    let bench = Bench::new(&[&HEAD.replace("UTC", zone), &*source, &own].concat()).await;
    for (minute, count) in counts {
        let key = bench.key(&format!("m:messages:{minute}"));
        put(&bench, key, &[(b"esc-1", count.to_string().as_bytes())]).await;
    }
    drain(&bench, now).await.succeeded();
    bench
}

const ELEVEN: &str = "2025-03-10T11:00:00Z";
const NOON: &str = "2025-03-10T12:00:00Z";
const ONE: &str = "2025-03-10T13:00:00Z";
const TWO: &str = "2025-03-10T14:00:00Z";
const NOW: &str = "2025-03-10T14:00:10Z";

/// One in the hour from 11:00Z, in its last minute, two in the first of noon, four in the first and last of 13:00Z.
const HOURS: [(&str, u64); 4] = [
    ("202503101159", 1),
    ("202503101200", 2),
    ("202503101300", 3),
    ("202503101359", 1),
];

/// Start, end and total of a report, and how many minutes it is about.
fn seen(report: &Value) -> [Value; 4] {
    [
        report["from"].clone(),
        report["to"].clone(),
        limit(report, "messages")["total"].clone(),
        report["coverage"][0]["minutes"].clone(),
    ]
}

/// Periods as they are asked for, and as they are seen.
fn periods() -> Vec<([&'static str; 2], [Value; 4])> {
    let seen = |from: &str, to: &str, total: u64, minutes: u64| {
        [json!(from), json!(to), json!(total), json!(minutes)]
    };
    vec![
        ([ELEVEN, NOON], seen(ELEVEN, NOON, 1, 60)),
        ([NOON, ONE], seen(NOON, ONE, 2, 60)),
        ([ONE, TWO], seen(ONE, TWO, 4, 60)),
        // The sums of what is adjacent.
        ([ELEVEN, ONE], seen(ELEVEN, ONE, 3, 120)),
        ([NOON, TWO], seen(NOON, TWO, 6, 120)),
        ([ELEVEN, TWO], seen(ELEVEN, TWO, 7, 180)),
        ([NOON, NOON], seen(NOON, NOON, 0, 0)),
        // Both ends go down to their hour.
        (
            ["2025-03-10T12:30:00Z", "2025-03-10T13:30:00Z"],
            seen(NOON, ONE, 2, 60),
        ),
        // So these add up as well: 0 + 3 + 4 = 7.
        (
            ["2025-03-10T11:15:00Z", "2025-03-10T11:45:00Z"],
            seen(ELEVEN, ELEVEN, 0, 0),
        ),
        (
            ["2025-03-10T11:45:00Z", "2025-03-10T13:30:00Z"],
            seen(ELEVEN, ONE, 3, 120),
        ),
        (
            ["2025-03-10T13:30:00Z", "2025-03-10T14:59:59.999Z"],
            seen(ONE, TWO, 4, 60),
        ),
        // The same hours elsewhere: noon is 09:00 at -03:00 and 17:30 at +05:30.
        (
            ["2025-03-10T09:00:00-03:00", "2025-03-10T10:00:00-03:00"],
            seen(NOON, ONE, 2, 60),
        ),
        (
            ["2025-03-10T17:30:00+05:30", "2025-03-10T19:30:00+05:30"],
            seen(NOON, TWO, 6, 120),
        ),
    ]
}

#[tokio::test]
async fn adjacent_periods_add_up() {
    let bench = world("UTC", &HOURS, NOW).await;
    for ([from, to], expected) in periods() {
        assert_eq!(
            seen(&report_at(&bench, from, to, NOW).await),
            expected,
            "{from} to {to}"
        );
    }
}

#[tokio::test]
async fn adjacent_periods_add_up_over_http() {
    let bench = world("UTC", &HOURS, NOW).await;
    let serving = Serving::start(bench.folga(&["--log-format", "json", "serve"]).at(NOW)).await;
    let ask = async |from: &str, to: &str| {
        serving
            .get(&format!("/v1/calibration?env=prod&from={from}&to={to}"))
            .await
    };
    for ([from, to], expected) in periods() {
        // The + of an offset as it is, and as it should be.
        for plus in ["+", "%2B"] {
            let answer = ask(&from.replace('+', plus), &to.replace('+', plus)).await;
            assert_eq!(answer.status, 200, "{from} to {to}: {answer:?}");
            assert_eq!(seen(&answer.json()), expected, "{from} to {to}");
        }
    }
    for (from, to, told) in [
        (ONE, NOON, "swap them"),
        (
            "2025-03-10T12:00:00+05:30",
            "2025-03-10T12:00:00+05:45",
            "swap them",
        ),
        ("2015-03-10T12:00:00Z", NOON, "choose a shorter period"),
        ("2025-03-10", NOON, "from is no instant"),
        ("2025-03-10T12:00:00", ONE, "from is no instant"),
        ("2025-03-10T24:00:00Z", ONE, "from is no instant"),
        (NOON, "2025-02-29T12:00:00Z", "to is no instant"),
    ] {
        let answer = ask(from, to).await;
        let problem = answer.json();
        assert_eq!(
            (answer.status, &problem["status"]),
            (400, &json!(400)),
            "{from} to {to}"
        );
        assert!(problem["detail"].as_str().unwrap().contains(told), "{problem}");
    }
}

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
