//! Examples worked by hand, one for every kind of window: from counts in Redis to the report and to what another limit
//! would have refused.

use serde_json::{Value, json};

use super::support::{
    Bench,
    catalogs::{HEAD, MESSAGES, drain, limit, limits, put, report, report_at},
};

/// Limits on the messages of each tenant in a zone. Keys live two days, so that one drain finds them all.
async fn world(zone: &str, own: &[(&str, u64, &str, &str)], counts: &[(&str, &str, u64)]) -> Bench {
    let lines: Vec<(&str, String)> = (own.iter())
        .map(|(id, value, window, algorithm)| {
            let lines = format!(
                "endpoints = [\"messages\"]\nlimit = {value}\nwindow = \"{window}\"\nalgorithm = \"{algorithm}\""
            );
            (*id, lines)
        })
        .collect();
    let lines: Vec<(&str, &str)> = lines.iter().map(|(id, lines)| (*id, &**lines)).collect();
    let catalog = [HEAD, MESSAGES, &limits(&lines)].concat();
    let catalog = catalog.replace("\"UTC\"", &format!("{zone:?}"));
    let bench = Bench::new(&catalog.replace("\"2h\"", "\"48h\"")).await;
    for (minute, who, count) in counts {
        let key = bench.key(&format!("m:messages:{minute}"));
        put(&bench, key, &[(who.as_bytes(), count.to_string().as_bytes())]).await;
    }
    bench
}

/// What a report says of a limit: status, total, what would have been refused, percentiles.
fn figures(report: &Value, id: &str) -> Value {
    let limit = limit(report, id);
    let percentiles = ["p50", "p95", "p99", "p999"].map(|name| limit["percentiles"][name].clone());
    let refused = ["requests", "identity_windows", "exact"].map(|name| limit["would_block"][name].clone());
    json!([limit["status"], limit["total"], refused, percentiles])
}

/// Value, lower, upper, minute and identity of a peak.
fn peak(report: &Value, id: &str) -> Value {
    let peak = &limit(report, id)["peak"];
    json!(["value", "lower", "upper", "at", "identity"].map(|name| peak[name].clone()))
}

pub const NOON: &str = "2025-03-10T12:00:00Z";
pub const ONE: &str = "2025-03-10T13:00:00Z";
pub const TWO: &str = "2025-03-10T14:00:00Z";

/// Two tenants, minute by minute, against 5 a minute.
pub async fn minutes() -> Bench {
    let counts = [
        ("202503101200", "a", 3),
        ("202503101200", "b", 1),
        ("202503101201", "a", 7),
        ("202503101205", "a", 2),
        ("202503101205", "b", 7),
        ("202503101206", "b", 6),
    ];
    let bench = world("UTC", &[("minute", 5, "1m", "anchored")], &counts).await;
    drain(&bench, "2025-03-10T12:10:00Z").await.succeeded();
    bench
}

#[tokio::test]
async fn one_minute() {
    let bench = minutes().await;
    let report = report(&bench, NOON, ONE).await;
    // Both reach 7, a first. A minute of the limiter may lie over two of the clock: it holds at least ⌈7 / 2⌉ = 4 and
    // at most b's 7 + 6 = 13.
    assert_eq!(
        peak(&report, "minute"),
        json!([7, 4, 13, "2025-03-10T12:01:00Z", "a"])
    );
    // Windows hold 1, 2, 3, 6, 7 and 7: above 5 are 1 + 2 + 2 in three of them. Half of six is the third, 0.95 × 6 = 5.7
    // the sixth.
    assert_eq!(
        figures(&report, "minute"),
        json!(["over", 26, [5, 3, false], [3, 7, 7, 7]])
    );
}

/// Two tenants over an hour, against 10 in 15 minutes, counted in three ways.
pub async fn quarters() -> Bench {
    let counts = [
        ("202503101244", "b", 6),
        ("202503101250", "a", 4),
        ("202503101258", "a", 3),
        ("202503101259", "b", 6),
        ("202503101304", "a", 5),
        ("202503101305", "a", 2),
    ];
    let own = ["anchored", "sliding", "fixed"].map(|algorithm| (algorithm, 10, "15m", algorithm));
    let bench = world("UTC", &own, &counts).await;
    drain(&bench, "2025-03-10T13:20:00Z").await.succeeded();
    bench
}

#[tokio::test]
async fn fifteen_minutes_over_an_hour_by_each_algorithm() {
    let bench = quarters().await;
    let now = "2025-03-10T13:20:00Z";
    let whole = report_at(&bench, NOON, TWO, now).await;
    // a from 12:50 to 13:04: 4 + 3 + 5 = 12; from 12:51 to 13:05: 3 + 5 + 2 = 10. Sixteen minutes, 12:50 to 13:05, hold
    // 14, those of b, 12:44 to 12:59, hold 12. An anchored limiter may have split the 12: 6.
    let at = "2025-03-10T13:04:00Z";
    assert_eq!(peak(&whole, "anchored"), json!([12, 6, 14, at, "a"]));
    assert_eq!(peak(&whole, "sliding"), json!([12, 12, 14, at, "a"]));
    // From the quarter to 13:00 a holds 4 + 3 = 7, from 13:00 on 5 + 2 = 7 again; b holds 6 in two quarters.
    assert_eq!(
        peak(&whole, "fixed"),
        json!([7, 7, 7, "2025-03-10T12:58:00Z", "a"])
    );
    // No quarter is above 10, and yet a window held 12. Quarters in order: 6, 6, 7, 7.
    for id in ["anchored", "sliding"] {
        assert_eq!(
            figures(&whole, id),
            json!(["over", 26, [2, 1, false], [6, 7, 7, 7]])
        );
    }
    assert_eq!(
        figures(&whole, "fixed"),
        json!(["near", 26, [0, 0, true], [6, 7, 7, 7]])
    );

    // The hour of 12 ends with a's 4 + 3 and b's sixteen minutes; it has both quarters of b and the first one of a.
    let first = report_at(&bench, NOON, ONE, now).await;
    let at = "2025-03-10T12:58:00Z";
    assert_eq!(peak(&first, "anchored"), json!([7, 4, 12, at, "a"]));
    assert_eq!(peak(&first, "sliding"), json!([7, 7, 12, at, "a"]));
    assert_eq!(peak(&first, "fixed"), json!([7, 7, 7, at, "a"]));
    for (id, exact) in [("anchored", false), ("sliding", false), ("fixed", true)] {
        assert_eq!(
            figures(&first, id),
            json!(["near", 19, [0, 0, exact], [6, 7, 7, 7]])
        );
    }
    // The hour of 13 looks back over its start, but for the fixed quarter.
    let second = report_at(&bench, ONE, TWO, now).await;
    assert_eq!(peak(&second, "sliding"), peak(&whole, "sliding"));
    assert_eq!(
        peak(&second, "fixed"),
        json!([7, 7, 7, "2025-03-10T13:05:00Z", "a"])
    );
    assert_eq!(
        figures(&second, "sliding"),
        json!(["over", 7, [2, 1, false], [7, 7, 7, 7]])
    );
}

/// One tenant around midnight, against 20 in an hour.
pub async fn midnight() -> Bench {
    let counts = [
        ("202503102310", "a", 8),
        ("202503102340", "a", 9),
        ("202503110009", "a", 5),
        ("202503110010", "a", 6),
        ("202503110045", "a", 1),
    ];
    let bench = world("UTC", &[("hour", 20, "1h", "sliding")], &counts).await;
    drain(&bench, "2025-03-11T01:05:00Z").await.succeeded();
    bench
}

#[tokio::test]
async fn an_hour_over_midnight() {
    let bench = midnight().await;
    let (tenth, eleventh) = ("2025-03-10T00:00:00Z", "2025-03-11T00:00:00Z");
    let after = "2025-03-12T00:00:00Z";
    let between = async |from, to| report_at(&bench, from, to, "2025-03-11T01:05:00Z").await;
    // 23:10 to 00:09: 8 + 9 + 5 = 22; 23:11 to 00:10: 9 + 5 + 6 = 20; 61 minutes, 23:10 to 00:10: 28. The hours of the
    // clock hold 17 and 12, neither of which is above 20.
    let peak_of_both = json!([22, 22, 28, "2025-03-11T00:09:00Z", "a"]);
    let both = between(tenth, after).await;
    assert_eq!(peak(&both, "hour"), peak_of_both);
    assert_eq!(
        figures(&both, "hour"),
        json!(["over", 29, [2, 1, false], [12, 17, 17, 17]])
    );
    // The window belongs to the day in which it was full.
    let day = between(tenth, eleventh).await;
    assert_eq!(
        peak(&day, "hour"),
        json!([17, 17, 17, "2025-03-10T23:40:00Z", "a"])
    );
    assert_eq!(
        figures(&day, "hour"),
        json!(["near", 17, [0, 0, false], [17, 17, 17, 17]])
    );
    let day = between(eleventh, after).await;
    assert_eq!(peak(&day, "hour"), peak_of_both);
    assert_eq!(
        figures(&day, "hour"),
        json!(["over", 12, [2, 1, false], [12, 12, 12, 12]])
    );
}

pub const DAY: [&str; 2] = ["2025-03-09T03:00:00Z", "2025-03-10T03:00:00Z"];

/// Three days in Sao Paulo, UTC-3, against 10 a day.
pub async fn days() -> Bench {
    let counts = [
        ("202503090259", "a", 9),
        ("202503090300", "a", 2),
        ("202503092200", "a", 5),
        ("202503100100", "b", 8),
        ("202503100259", "a", 4),
        ("202503100300", "a", 6),
        ("202503101200", "a", 1),
    ];
    let bench = world("America/Sao_Paulo", &[("day", 10, "1d", "fixed")], &counts).await;
    drain(&bench, "2025-03-10T12:10:00Z").await.succeeded();
    bench
}

#[tokio::test]
async fn a_local_day() {
    let bench = days().await;
    let now = "2025-03-10T12:10:00Z";
    // The 9th runs from 03:00Z on: a holds 2, 7, 11, b 8. The 9 of a minute before and the 6 of a minute after are the
    // neighbours'.
    let ninth = report_at(&bench, DAY[0], DAY[1], now).await;
    let peak_of_ninth = json!([11, 11, 11, "2025-03-10T02:59:00Z", "a"]);
    assert_eq!(peak(&ninth, "day"), peak_of_ninth);
    assert_eq!(
        figures(&ninth, "day"),
        json!(["over", 19, [1, 1, true], [8, 11, 11, 11]])
    );
    let mut by_hour = [0; 24];
    (by_hour[0], by_hour[19], by_hour[22], by_hour[23]) = (2, 7, 8, 11);
    assert_eq!(limit(&ninth, "day")["by_hour"], json!(by_hour));
    // With a's 9 of the 8th there are 8, 9 and 11. The 10th, of 6 + 1 so far, is still open.
    let all = report_at(&bench, "2025-03-09T02:00:00Z", "2025-03-10T13:00:00Z", now).await;
    assert_eq!(peak(&all, "day"), peak_of_ninth);
    assert_eq!(
        figures(&all, "day"),
        json!(["over", 35, [1, 1, true], [9, 11, 11, 11]])
    );
    assert_eq!(
        peak(
            &report_at(&bench, DAY[1], "2025-03-10T13:00:00Z", now).await,
            "day"
        ),
        json!([7, 7, 7, NOON, "a"])
    );
}

/// Two tenants against 10 in 5 seconds, counted in three ways.
pub async fn seconds() -> Bench {
    let counts = [
        ("202503101230", "b", 100),
        ("202503101259", "a", 90),
        ("202503101300", "a", 25),
    ];
    let own = ["anchored", "sliding", "fixed"].map(|algorithm| (algorithm, 10, "5s", algorithm));
    let bench = world("UTC", &own, &counts).await;
    drain(&bench, "2025-03-10T13:20:00Z").await.succeeded();
    bench
}

#[tokio::test]
async fn five_seconds() {
    let bench = seconds().await;
    let report = report_at(&bench, NOON, TWO, "2025-03-10T13:20:00Z").await;
    // A minute has twelve: one of b's 100 requests' holds at least ⌈100 / 12⌉ = 9. At most all of a's two minutes are in
    // one, 90 + 25, where windows are not aligned, and b's minute where they are.
    for (id, upper) in [("anchored", 115), ("sliding", 115), ("fixed", 100)] {
        assert_eq!(peak(&report, id), json!([null, 9, upper, null, null]), "{id}");
        let nothing = [Value::Null, Value::Null, Value::Null];
        let percentiles = [Value::Null, Value::Null, Value::Null, Value::Null];
        assert_eq!(
            figures(&report, id),
            json!(["unmeasurable", 215, nothing, percentiles]),
            "{id}"
        );
    }
}
