//! Examples worked out by hand, one for every kind of window, from the counts in Redis to the report.

mod days;
mod minutes;
mod seconds;

use serde_json::{Value, json};

use super::support::{
    Bench,
    catalogs::{HEAD, MESSAGES, drain, limit, limits, put},
};

/// Counts in minutes, given as in keys.
type Counts<'a> = &'a [(&'a str, &'a str, u64)];

/// Limits by id, with value, window and algorithm.
type Own<'a> = &'a [(&'a str, u64, &'a str, &'a str)];

/// A world in a zone with these limits, whose counts have been drained once.
async fn world(zone: &str, own: Own<'_>, counts: Counts<'_>, now: &str) -> Bench {
    let lines: Vec<_> = own
        .iter()
        .map(|(id, limit, window, algorithm)| {
            let lines = format!(
                "endpoints = [\"messages\"]\nlimit = {limit}\nwindow = \"{window}\"\nalgorithm = \"{algorithm}\""
            );
            (*id, lines)
        })
        .collect();
    let lines: Vec<_> = lines.iter().map(|(id, lines)| (*id, &**lines)).collect();
    let source = MESSAGES.replace("2h", "3d");
    let bench = Bench::new(&[&HEAD.replace("UTC", zone), &*source, &limits(&lines)].concat()).await;
    for (minute, who, count) in counts {
        let key = bench.key(&format!("m:messages:{minute}"));
        put(&bench, key, &[(who.as_bytes(), count.to_string().as_bytes())]).await;
    }
    drain(&bench, now).await.succeeded();
    bench
}

/// What an example is about.
#[track_caller]
fn figures(report: &Value, id: &str) -> Value {
    let found = limit(report, id);
    let names = ["peak", "status", "total", "would_block", "percentiles"];
    names.map(|name| found[name].clone()).into()
}

fn peak(value: u64, lower: u64, upper: u64, at: &str, identity: &str) -> Value {
    json!({"value": value, "lower": lower, "upper": upper, "at": at, "identity": identity})
}

fn blocked(requests: u64, identity_windows: u64, exact: bool) -> Value {
    json!({"requests": requests, "identity_windows": identity_windows, "exact": exact})
}

/// Of fewer than twenty windows, rank 95 % and all above are the last one.
fn percentiles(p50: u64, last: u64) -> Value {
    json!({"p50": p50, "p95": last, "p99": last, "p999": last})
}

/// What other values would have blocked: the id, the value, its alert, requests, windows, and whether that is exact.
type WhatIfs<'a> = &'a [(&'a str, u64, u64, u64, u64, bool)];

async fn what_if(bench: &Bench, [from, to]: [&str; 2], now: &str, expected: WhatIfs<'_>) {
    for (id, value, alert_at, requests, windows, exact) in expected {
        let text = value.to_string();
        let found = ask(bench, id, &text, [from, to], now).await;
        let expected = json!({
            "id": id, "environment": "prod", "from": from, "to": to, "limit": value, "alert_at": alert_at,
            "requests": requests, "identity_windows": windows, "exact": exact,
        });
        assert_eq!(found, expected, "{id} at {value}");
    }
}

async fn ask(bench: &Bench, id: &str, value: &str, [from, to]: [&str; 2], now: &str) -> Value {
    let arguments = [
        "whatif", id, "--env", "prod", "--limit", value, "--from", from, "--to", to, "--format", "json",
    ];
    bench.folga(&arguments).at(now).run().await.succeeded().json()
}

const NOON: &str = "2025-03-10T12:00:00Z";
const ONE: &str = "2025-03-10T13:00:00Z";
const TWO: &str = "2025-03-10T14:00:00Z";
