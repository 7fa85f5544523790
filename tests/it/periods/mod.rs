//! Periods: half-open, so that what is next to each other adds up.

mod days;

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
