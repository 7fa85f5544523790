//! Periods: half-open, of whole hours, and of local days whatever the zone's clocks do.

use serde_json::{Value, json};

use super::support::{
    Bench, Serving,
    catalogs::{THIRTY, drain, limit, messages, put, report_at},
};

/// A world in a zone whose keys live two days, with counts of one identity, drained at an instant.
async fn world(zone: &str, counts: &[(&str, u64)], now: &str) -> Bench {
    let catalog = messages(&[("messages", THIRTY)]).replace("\"UTC\"", &format!("{zone:?}"));
    let bench = Bench::new(&catalog.replace("\"2h\"", "\"48h\"")).await;
    for (minute, count) in counts {
        let key = bench.key(&format!("m:messages:{minute}"));
        put(&bench, key, &[(b"esc-1", count.to_string().as_bytes())]).await;
    }
    drain(&bench, now).await.succeeded();
    bench
}

const NOW: &str = "2025-03-10T14:10:00Z";

/// 1 in the hour of 11, 2 in that of 12, 4 in that of 13: any sum tells what is in it.
async fn hours() -> Bench {
    let counts = [
        ("202503101100", 1),
        ("202503101259", 2),
        ("202503101300", 3),
        ("202503101359", 1),
    ];
    world("UTC", &counts, NOW).await
}

/// Periods of the 10th of March by hours and minutes, as they are reported, and what they hold.
const PERIODS: [(&str, &str, &str, &str, u64); 9] = [
    ("11:00", "12:00", "11:00", "12:00", 1),
    ("12:00", "13:00", "12:00", "13:00", 2),
    ("13:00", "14:00", "13:00", "14:00", 4),
    ("11:00", "13:00", "11:00", "13:00", 3),
    ("11:00", "14:00", "11:00", "14:00", 7),
    ("13:00", "13:00", "13:00", "13:00", 0),
    // Both ends are rounded down to their hour, so that what is adjacent stays so.
    ("11:30", "12:30", "11:00", "12:00", 1),
    ("12:30", "13:30", "12:00", "13:00", 2),
    ("12:01", "12:59", "12:00", "12:00", 0),
];

/// An instant of the 10th of March.
fn on_the_tenth(time: &str) -> String {
    format!("2025-03-10T{time}:00Z")
}

/// Start and end of a report and the total.
fn seen(report: &Value) -> Value {
    json!([report["from"], report["to"], limit(report, "messages")["total"]])
}

#[tokio::test]
async fn adjacent_periods_add_up() {
    let bench = hours().await;
    for (from, to, first, end, total) in PERIODS {
        let report = report_at(&bench, &on_the_tenth(from), &on_the_tenth(to), NOW).await;
        let expected = json!([on_the_tenth(first), on_the_tenth(end), total]);
        assert_eq!(seen(&report), expected, "{from} {to}");
    }
    // Of no time nothing is known: that is not the same as quiet.
    let none = report_at(&bench, NOW, NOW, NOW).await;
    let none = limit(&none, "messages");
    assert_eq!(
        (&none["status"], &none["peak"], &none["would_block"]),
        (&json!("no-data"), &Value::Null, &Value::Null)
    );
    assert_eq!(none["percentiles"], Value::Null);
}

#[tokio::test]
async fn what_is_no_period_is_refused() {
    let bench = hours().await;
    for (from, to, remedy) in [
        ("2025-03-10T12:30:00Z", "2025-03-10T12:29:59Z", "swap them"),
        (
            "2015-03-10T12:00:00Z",
            "2025-03-10T12:00:00Z",
            "choose a shorter period",
        ),
    ] {
        let arguments = ["report", "--env", "prod", "--from", from, "--to", to];
        let ran = bench.folga(&arguments).at(NOW).run().await.exited(2);
        assert!(ran.stderr.contains(remedy), "{}", ran.stderr);
        assert_eq!(ran.stdout, "");
    }
}

#[tokio::test]
async fn periods_are_the_same_over_http() {
    let bench = hours().await;
    let serving = Serving::start(bench.folga(&["--log-format", "json", "serve"]).at(NOW)).await;
    for (from, to, first, end, total) in PERIODS {
        let path = format!(
            "/v1/calibration?env=prod&from={}&to={}",
            on_the_tenth(from),
            on_the_tenth(to)
        );
        let answer = serving.get(&path).await;
        let expected = json!([on_the_tenth(first), on_the_tenth(end), total]);
        assert_eq!((answer.status, seen(&answer.json())), (200, expected), "{path}");
    }
    // 15:00 and 16:00 at +03:00 are 12:00Z and 13:00Z, 17:30 at +05:30 is 12:00Z.
    for (from, to, total) in [
        ("2025-03-10T15:00:00+03:00", "2025-03-10T16:00:00+03:00", 2),
        ("2025-03-10T17:30:00+05:30", "2025-03-10T14:00:00Z", 6),
    ] {
        let answer = serving
            .get(&format!("/v1/calibration?env=prod&from={from}&to={to}"))
            .await;
        assert_eq!(limit(&answer.json(), "messages")["total"], total, "{from}");
    }
    for (from, remedy) in [
        ("2025-03-10T14:00:00Z", "swap them"),
        ("2015-03-10T12:00:00Z", "choose a shorter period"),
    ] {
        let path = format!("/v1/calibration?env=prod&from={from}&to=2025-03-10T13:00:00Z");
        let answer = serving.get(&path).await;
        assert_eq!(answer.status, 400, "{answer:?}");
        let detail = answer.json()["detail"].as_str().unwrap().to_owned();
        assert!(detail.contains(remedy), "{detail}");
    }
}

/// The last full local day as of an instant: start, end, total, largest minute, and the hours of day that had a peak.
async fn yesterday(bench: &Bench, now: &str) -> Value {
    let arguments = ["report", "--env", "prod", "--format", "json", "--days", "1"];
    let report = bench.folga(&arguments).at(now).run().await.succeeded().json();
    let limit = limit(&report, "messages");
    let hours: Vec<usize> = (limit["by_hour"].as_array().unwrap().iter().enumerate())
        .filter(|(_, peak)| peak.as_u64().is_some_and(|peak| peak > 0))
        .map(|(hour, _)| hour)
        .collect();
    let minutes = &report["coverage"][0]["minutes"];
    json!([
        report["from"],
        report["to"],
        minutes,
        limit["total"],
        limit["peak"]["value"],
        hours
    ])
}

#[tokio::test]
async fn the_days_around_a_skipped_midnight_are_apart() {
    // On 4 November 2018 clocks in Sao Paulo went from 00:00 to 01:00. The first and the last hour of both days, and
    // the first of the 5th: 00:00 and 23:30 on the 3rd, 01:30 and 23:59 on the 4th, 00:00 on the 5th.
    let counts = [
        ("201811030300", 1),
        ("201811040230", 10),
        ("201811040330", 20),
        ("201811050159", 5),
        ("201811050200", 40),
    ];
    let bench = world("America/Sao_Paulo", &counts, "2018-11-05T02:10:00Z").await;
    // Coverage begins with the first count, at the start of the 3rd.
    assert_eq!(
        yesterday(&bench, "2018-11-04T12:00:00Z").await,
        json!([
            "2018-11-03T03:00:00Z",
            "2018-11-04T03:00:00Z",
            1440,
            11,
            10,
            [0, 23]
        ])
    );
    assert_eq!(
        yesterday(&bench, "2018-11-05T12:00:00Z").await,
        json!([
            "2018-11-04T03:00:00Z",
            "2018-11-05T02:00:00Z",
            23 * 60,
            25,
            20,
            [1, 23]
        ])
    );
}

#[tokio::test]
async fn a_day_of_25_hours_holds_its_last_hour_twice() {
    // On 18 February 2018 clocks in Sao Paulo went from 00:00 back to 23:00 of the 17th: 23:59 on the 16th, 00:00, 23:00
    // and 23:59 and again 23:00 and 23:59 on the 17th, 00:00 on the 18th.
    let counts = [
        ("201802170159", 1),
        ("201802170200", 2),
        ("201802180100", 4),
        ("201802180159", 8),
        ("201802180200", 16),
        ("201802180259", 32),
        ("201802180300", 64),
    ];
    let bench = world("America/Sao_Paulo", &counts, "2018-02-18T03:10:00Z").await;
    assert_eq!(
        yesterday(&bench, "2018-02-18T12:00:00Z").await,
        json!([
            "2018-02-17T02:00:00Z",
            "2018-02-18T03:00:00Z",
            25 * 60,
            62,
            32,
            [0, 23]
        ])
    );
}

#[tokio::test]
async fn in_zones_off_by_part_of_an_hour_a_day_has_the_hours_that_start_in_it() {
    // Midnight is 18:30Z in Kolkata and 18:15Z in Kathmandu: that of 18:00Z is the last hour that starts on the 9th.
    let counts = [
        ("202503081859", 1),
        ("202503081900", 2),
        ("202503091814", 4),
        ("202503091845", 8),
        ("202503091859", 16),
        ("202503091900", 32),
    ];
    for zone in ["Asia/Kolkata", "Asia/Kathmandu"] {
        let bench = world(zone, &counts, "2025-03-09T19:10:00Z").await;
        // 19:00Z is 00:30 or 00:45, 18:00Z is 23:30 or 23:45.
        assert_eq!(
            yesterday(&bench, "2025-03-09T19:10:00Z").await,
            json!([
                "2025-03-08T19:00:00Z",
                "2025-03-09T19:00:00Z",
                1440,
                30,
                16,
                [0, 23]
            ]),
            "{zone}"
        );
    }
}
