//! What counts as a peak, from Redis keys to the report.

use serde_json::{Value, json};

use super::support::{
    Bench,
    catalogs::{HEAD, MESSAGES, THIRTY, drain, limit, limits, messages, put, report},
};

const HOUR: [&str; 2] = ["2025-03-10T12:00:00Z", "2025-03-10T13:00:00Z"];

/// Counts of one endpoint at minutes `HHmm` of 10 March 2025.
async fn count(bench: &Bench, endpoint: &str, minute: &str, counts: &[(&str, u64)]) {
    let texts: Vec<(&str, String)> = counts.iter().map(|(who, n)| (*who, n.to_string())).collect();
    let fields: Vec<(&[u8], &[u8])> = texts
        .iter()
        .map(|(who, n)| (who.as_bytes(), n.as_bytes()))
        .collect();
    put(
        bench,
        bench.key(&format!("m:{endpoint}:20250310{minute}")),
        &fields,
    )
    .await;
}

#[tokio::test]
async fn a_peak_is_a_minute_and_never_an_average() {
    let bench = Bench::new(&messages(&[("messages", THIRTY)])).await;
    for minute in 0..60 {
        let n = if minute == 30 { 29 } else { 1 };
        count(&bench, "messages", &format!("12{minute:02}"), &[("esc-1", n)]).await;
    }
    // A quieter hour of the same day.
    count(&bench, "messages", "1305", &[("esc-1", 12)]).await;
    drain(&bench, "2025-03-10T13:10:00Z").await.succeeded();
    let hour = report(&bench, HOUR[0], HOUR[1]).await;
    let found = limit(&hour, "messages");
    assert_eq!(
        (&found["peak"]["value"], &found["total"]),
        (&json!(29), &json!(88))
    );
    assert_eq!(found["peak"]["at"], "2025-03-10T12:30:00Z");
    // 29 of 30; near from ⌈30 × 70 %⌉ = 21 on.
    let used = found["utilization"].as_f64().unwrap();
    assert!((used - 29.0 / 30.0).abs() < 1e-9, "{used}");
    assert_eq!(
        (&found["alert_at"], &found["status"]),
        (&json!(21), &json!("near"))
    );
    // 58 windows of 1 and one of 12 would fit 88 + 12; the day's peak is its largest minute all the same.
    for (from, to) in [
        ("2025-03-10T00:00:00Z", "2025-03-11T00:00:00Z"),
        ("2025-03-07T00:00:00Z", "2025-03-14T00:00:00Z"),
    ] {
        let report = report(&bench, from, to).await;
        let found = limit(&report, "messages");
        assert_eq!(
            (&found["peak"]["value"], &found["total"]),
            (&json!(29), &json!(100))
        );
        assert_eq!(
            (&found["by_hour"][12], &found["by_hour"][13]),
            (&json!(29), &json!(12))
        );
    }
}

#[tokio::test]
async fn a_shared_limit_is_held_against_the_sum_and_any_other_against_each() {
    let shared = format!("{THIRTY}\nshared = true");
    let bench = Bench::new(&messages(&[("provider", &shared), ("each", THIRTY)])).await;
    count(
        &bench,
        "messages",
        "1205",
        &[("esc-1", 12), ("esc-2", 11), ("esc-3", 10)],
    )
    .await;
    count(&bench, "messages", "1206", &[("esc-1", 20)]).await;
    drain(&bench, "2025-03-10T12:10:00Z").await.succeeded();
    let report = report(&bench, HOUR[0], HOUR[1]).await;
    let provider = limit(&report, "provider");
    // 12 + 11 + 10, and not 20 + 11 + 10.
    assert_eq!(
        (&provider["peak"]["value"], &provider["status"]),
        (&json!(33), &json!("over"))
    );
    assert_eq!(provider["peak"]["at"], "2025-03-10T12:05:00Z");
    assert_eq!(
        (&provider["shared"], &provider["peak"]["identity"]),
        (&json!(true), &Value::Null)
    );
    assert_eq!(provider["utilization"], 1.1);
    let each = limit(&report, "each");
    assert_eq!(
        (&each["peak"]["value"], &each["peak"]["identity"]),
        (&json!(20), &json!("esc-1"))
    );
    assert_eq!(each["peak"]["at"], "2025-03-10T12:06:00Z");
    assert_eq!((&each["status"], &each["total"]), (&json!("ok"), &json!(53)));
}

#[tokio::test]
async fn windows_are_counted_as_their_limiter_counts() {
    let of = |algorithm: &str| {
        format!("endpoints = [\"messages\"]\nlimit = 5\nwindow = \"15m\"\nalgorithm = \"{algorithm}\"")
    };
    let (anchored, sliding, fixed) = (of("anchored"), of("sliding"), of("fixed"));
    let own = [
        ("plain", "endpoints = [\"messages\"]\nlimit = 5\nwindow = \"15m\""),
        ("anchored", &*anchored),
        ("sliding", &*sliding),
        ("fixed", &*fixed),
    ];
    let bench = Bench::new(&messages(&own)).await;
    count(&bench, "messages", "1200", &[("esc-2", 5)]).await;
    count(&bench, "messages", "1213", &[("esc-1", 3)]).await;
    count(&bench, "messages", "1215", &[("esc-2", 4)]).await;
    count(&bench, "messages", "1216", &[("esc-1", 4)]).await;
    drain(&bench, "2025-03-10T12:20:00Z").await.succeeded();
    let report = report(&bench, HOUR[0], HOUR[1]).await;
    // esc-1: 12:02 to 12:16 holds 3 + 4 = 7. esc-2: 12:01 to 12:15 holds 4, and 5 before. Sixteen minutes, 12:00 to
    // 12:15, hold 5 + 4 = 9. An anchored limiter may split the 7: ⌈7 / 2⌉ = 4.
    for (id, lower) in [("plain", 4), ("anchored", 4), ("sliding", 7)] {
        let peak = &limit(&report, id)["peak"];
        let expected = json!({"value": 7, "lower": lower, "upper": 9, "at": "2025-03-10T12:16:00Z", "identity": "esc-1"});
        assert_eq!(*peak, expected, "{id}");
        assert_eq!(limit(&report, id)["status"], "over", "{id}");
    }
    // Aligned to quarters, 12:00 to 12:14 holds 5 of esc-2 and 3 of esc-1, 12:15 to 12:29 holds 4 of each.
    let fixed = limit(&report, "fixed");
    let expected =
        json!({"value": 5, "lower": 5, "upper": 5, "at": "2025-03-10T12:00:00Z", "identity": "esc-2"});
    assert_eq!((&fixed["peak"], &fixed["status"]), (&expected, &json!("near")));
    assert_eq!(
        fixed["would_block"],
        json!({"requests": 0, "identity_windows": 0, "exact": true})
    );
    for id in ["anchored", "sliding", "fixed"] {
        assert_eq!(limit(&report, id)["total"], 16);
    }
}

#[tokio::test]
async fn windows_reach_over_hours_and_days_but_a_local_day_ends_at_midnight() {
    // Sao Paulo is UTC-3: its 10 March began at 03:00Z.
    let head = HEAD.replace("UTC", "America/Sao_Paulo");
    let of = |window: &str| format!("endpoints = [\"messages\"]\nlimit = 10\nwindow = \"{window}\"");
    let (day, hours, quarter) = (of("1d"), of("24h"), of("15m"));
    let own = limits(&[("day", &*day), ("hours", &*hours), ("quarter", &*quarter)]);
    let bench = Bench::new(&[&head, MESSAGES, &own].concat()).await;
    count(&bench, "messages", "0259", &[("esc-1", 6)]).await;
    count(&bench, "messages", "0300", &[("esc-1", 7)]).await;
    drain(&bench, "2025-03-10T03:10:00Z").await.succeeded();
    let report = report(&bench, "2025-03-10T00:00:00Z", "2025-03-10T06:00:00Z").await;
    for (id, value, at) in [
        ("day", 7, "2025-03-10T03:00:00Z"),
        ("hours", 13, "2025-03-10T03:00:00Z"),
        ("quarter", 13, "2025-03-10T03:00:00Z"),
    ] {
        let found = limit(&report, id);
        assert_eq!(
            (&found["peak"]["value"], &found["peak"]["at"]),
            (&json!(value), &json!(at)),
            "{id}"
        );
    }
    // 02:59Z is 23:59 local, 03:00Z is 00:00.
    let day = limit(&report, "day");
    assert_eq!(
        (&day["by_hour"][23], &day["by_hour"][0], &day["algorithm"]),
        (&json!(6), &json!(7), &json!("fixed"))
    );
}

#[tokio::test]
async fn windows_below_a_minute_have_bounds_and_no_value() {
    let of = |endpoint: &str, more: &str| {
        format!("endpoints = [\"{endpoint}\"]\nlimit = 150\nwindow = \"5s\"\n{more}")
    };
    let names = ["unclear", "low", "high", "edge"].map(|name| (name, of(name, "")));
    let fixed = of("low", "algorithm = \"fixed\"");
    let mut own: Vec<(&str, &str)> = names.iter().map(|(name, lines)| (*name, &**lines)).collect();
    own.push(("fixed", &fixed));
    let bench = Bench::new(&messages(&own)).await;
    for (endpoint, first, second) in [
        ("unclear", 600, 100),
        ("low", 60, 40),
        ("high", 1801, 1),
        ("edge", 1800, 1),
    ] {
        count(&bench, endpoint, "1205", &[("esc-1", first)]).await;
        count(&bench, endpoint, "1206", &[("esc-1", second)]).await;
        count(&bench, endpoint, "1208", &[("esc-2", 1)]).await;
    }
    drain(&bench, "2025-03-10T12:10:00Z").await.succeeded();
    let report = report(&bench, HOUR[0], HOUR[1]).await;
    // Twelve windows a minute: at least ⌈c / 12⌉ in one of them, at most two neighbouring minutes' counts. Near is 105.
    for (id, lower, upper, status) in [
        ("unclear", 50, 700, "unmeasurable"),
        ("low", 5, 100, "ok"),
        // ⌈1801 / 12⌉ = 151 is above the limit, 1800 / 12 = 150 is not.
        ("high", 151, 1802, "over"),
        ("edge", 150, 1801, "unmeasurable"),
        ("fixed", 5, 60, "ok"),
    ] {
        let found = limit(&report, id);
        let expected = json!({"value": null, "lower": lower, "upper": upper, "at": null, "identity": null});
        assert_eq!(
            (&found["peak"], &found["status"]),
            (&expected, &json!(status)),
            "{id}"
        );
        for absent in ["utilization", "would_block", "percentiles", "by_hour"] {
            assert_eq!(found[absent], Value::Null, "{id} {absent}");
        }
        assert_eq!(found["top_identities"], json!([]), "{id}");
    }
    assert_eq!(limit(&report, "low")["total"], 101);
}

#[tokio::test]
async fn bounds_that_agree_make_a_limit_near() {
    let half = "endpoints = [\"messages\"]\nlimit = 150\nwindow = \"30s\"";
    let bench = Bench::new(&format!("alert_percent = 40\n{}", messages(&[("half", half)]))).await;
    count(&bench, "messages", "1205", &[("esc-1", 120)]).await;
    drain(&bench, "2025-03-10T12:10:00Z").await.succeeded();
    let report = report(&bench, HOUR[0], HOUR[1]).await;
    let found = limit(&report, "half");
    // At least 120 / 2 = 60 = 40 % of 150, at most 120.
    assert_eq!(
        (&found["alert_at"], &found["status"]),
        (&json!(60), &json!("near"))
    );
}

#[tokio::test]
async fn a_pair_of_minutes_belongs_to_its_later_hour() {
    let burst = "endpoints = [\"messages\"]\nlimit = 150\nwindow = \"5s\"";
    let quarter = "endpoints = [\"messages\"]\nlimit = 5\nwindow = \"15m\"\nalgorithm = \"sliding\"";
    let bench = Bench::new(&messages(&[("burst", burst), ("quarter", quarter)])).await;
    count(&bench, "messages", "1259", &[("esc-1", 60)]).await;
    count(&bench, "messages", "1300", &[("esc-1", 24)]).await;
    drain(&bench, "2025-03-10T13:10:00Z").await.succeeded();
    for (from, to, lower, upper, value) in [
        (HOUR[0], HOUR[1], 5, 60, 60),
        (HOUR[1], "2025-03-10T14:00:00Z", 2, 84, 84),
    ] {
        let report = report(&bench, from, to).await;
        let peak = &limit(&report, "burst")["peak"];
        assert_eq!(
            (&peak["lower"], &peak["upper"]),
            (&json!(lower), &json!(upper)),
            "{from}"
        );
        assert_eq!(limit(&report, "quarter")["peak"]["value"], value, "{from}");
    }
}

#[tokio::test]
async fn the_alert_is_reached_at_seventy_percent_exactly() {
    let of = |endpoint: &str, limit: u64| {
        format!("endpoints = [\"{endpoint}\"]\nlimit = {limit}\nwindow = \"1m\"")
    };
    let cases = [
        ("a", 30, 20, "ok"),
        ("b", 30, 21, "near"),
        ("c", 30, 30, "near"),
        ("d", 30, 31, "over"),
        ("e", 23, 16, "ok"),
        ("f", 23, 17, "near"),
        ("g", 1, 1, "near"),
    ];
    let own: Vec<_> = cases
        .iter()
        .map(|(id, limit, ..)| (*id, of(id, *limit)))
        .collect();
    let own: Vec<_> = own.iter().map(|(id, lines)| (*id, &**lines)).collect();
    let bench = Bench::new(&messages(&own)).await;
    for (id, _, peak, _) in cases {
        count(&bench, id, "1205", &[("esc-1", peak)]).await;
    }
    drain(&bench, "2025-03-10T12:10:00Z").await.succeeded();
    let report = report(&bench, HOUR[0], HOUR[1]).await;
    for (id, _, peak, status) in cases {
        let found = limit(&report, id);
        assert_eq!(
            (&found["peak"]["value"], &found["status"]),
            (&json!(peak), &json!(status)),
            "{id}"
        );
    }
}

const STAGING: &str = "[[environment]]\nname = \"staging\"\nprefix = \"PREFIX-stg:\"\n";

const IGNORE: &str = r#"
[[ignore]]
environment = "prod"
from = "2025-03-10T12:50:00Z"
to = "2025-03-10T13:00:01Z"
reason = "load test"
"#;

#[tokio::test]
async fn ignored_hours_are_listed_and_count_for_nothing() {
    let own = limits(&[("messages", THIRTY)]);
    let bench = Bench::new(&[HEAD, STAGING, MESSAGES, &own, IGNORE].concat()).await;
    for (minute, n) in [("1159", 3), ("1205", 500), ("1330", 400), ("1400", 7)] {
        count(&bench, "messages", minute, &[("esc-1", n)]).await;
    }
    let key = format!("{}-stg:m:messages:202503101205", bench.prefix);
    put(&bench, key, &[(b"esc-1", b"50")]).await;
    drain(&bench, "2025-03-10T12:30:00Z").await.succeeded();
    drain(&bench, "2025-03-10T14:10:00Z").await.succeeded();
    // The span touches the hours of 12 and 13, the second by one second.
    let day = report(&bench, "2025-03-10T00:00:00Z", "2025-03-11T00:00:00Z").await;
    let expected =
        json!([{"from": "2025-03-10T12:00:00Z", "to": "2025-03-10T14:00:00Z", "reason": "load test"}]);
    assert_eq!(day["ignored"], expected);
    let found = limit(&day, "messages");
    assert_eq!(
        (&found["total"], &found["peak"]["value"]),
        (&json!(10), &json!(7))
    );
    assert_eq!(
        (&found["by_hour"][11], &found["by_hour"][14]),
        (&json!(3), &json!(7))
    );
    // Nothing is known of them here: they were not quiet.
    assert_eq!(
        (&found["by_hour"][12], &found["by_hour"][13]),
        (&Value::Null, &Value::Null)
    );
    let hours = report(&bench, HOUR[0], HOUR[1]).await;
    let found = limit(&hours, "messages");
    assert_eq!(
        (&found["status"], &found["peak"], &found["total"]),
        (&json!("no-data"), &Value::Null, &json!(0))
    );
    // The other environment is not concerned.
    let arguments = [
        "report", "--env", "staging", "--format", "json", "--from", HOUR[0], "--to", HOUR[1],
    ];
    let staging = bench.folga(&arguments).at(HOUR[1]).run().await.succeeded().json();
    assert_eq!(
        (&staging["ignored"], &limit(&staging, "messages")["total"]),
        (&json!([]), &json!(50))
    );
    // What is ignored is kept: without the span it is there again.
    bench.write_catalog(&[HEAD, STAGING, MESSAGES, &own].concat());
    let day = report(&bench, "2025-03-10T00:00:00Z", "2025-03-11T00:00:00Z").await;
    assert_eq!(limit(&day, "messages")["total"], 910);
}

#[tokio::test]
async fn watched_and_exempt_limits_are_counted_and_never_judged() {
    let own = [
        ("watched", "endpoints = [\"messages\"]\nmode = \"watch\""),
        (
            "alerting",
            "endpoints = [\"messages\"]\nmode = \"watch\"\nwatch_alert = 5",
        ),
        ("exempt", "endpoints = [\"messages\"]\nmode = \"exempt\""),
        ("quiet", "endpoints = [\"nobody\"]\nlimit = 5\nwindow = \"1m\""),
    ];
    let bench = Bench::new(&messages(&own)).await;
    count(&bench, "messages", "1205", &[("esc-1", 9)]).await;
    drain(&bench, "2025-03-10T12:10:00Z").await.succeeded();
    let report = report(&bench, HOUR[0], HOUR[1]).await;
    for (id, status, value) in [
        ("watched", "watch", 9),
        ("alerting", "watch", 9),
        ("exempt", "exempt", 9),
        ("quiet", "ok", 0),
    ] {
        let found = limit(&report, id);
        assert_eq!(
            (&found["status"], &found["peak"]["value"]),
            (&json!(status), &json!(value)),
            "{id}"
        );
    }
    // Covered and quiet at noon; nothing is known of the hour before.
    let by_hour = &limit(&report, "quiet")["by_hour"];
    assert_eq!((&by_hour[12], &by_hour[11]), (&json!(0), &Value::Null));
    assert_eq!(limit(&report, "watched")["utilization"], Value::Null);
    assert_eq!(limit(&report, "alerting")["alert_at"], 5);
}

#[tokio::test]
async fn windows_that_reach_back_into_ignored_hours_do_not_count() {
    let fifteen = "endpoints = [\"messages\"]\nlimit = 30\nwindow = \"15m\"\nalgorithm = \"sliding\"";
    let own = limits(&[("minute", THIRTY), ("quarter", fifteen)]);
    let ignore = IGNORE.replace("12:50", "12:30").replace("13:00:01", "13:00:00");
    let bench = Bench::new(&[HEAD, MESSAGES, &own, &ignore].concat()).await;
    for (minute, n) in [("1255", 100), ("1300", 1), ("1330", 5), ("1400", 2)] {
        count(&bench, "messages", minute, &[("esc-1", n)]).await;
    }
    drain(&bench, "2025-03-10T14:20:00Z").await.succeeded();
    let of = |report: &Value, id: &str| {
        let found = limit(report, id);
        json!([
            found["peak"]["value"],
            found["total"],
            found["status"],
            found["by_hour"][13]
        ])
    };
    // The load test's 100 at 12:55 are in the 15 minutes to 13:00, which hold 101: the largest of the only identity,
    // so of the hour's windows nothing is known. 15 minutes to 14:00 hold 2. A minute reaches back to nothing.
    let one = report(&bench, "2025-03-10T13:00:00Z", "2025-03-10T14:00:00Z").await;
    assert_eq!(of(&one, "minute"), json!([5, 6, "ok", 5]));
    assert_eq!(of(&one, "quarter"), json!([null, 6, "no-data", null]));
    let two = report(&bench, "2025-03-10T12:00:00Z", "2025-03-10T15:00:00Z").await;
    assert_eq!(of(&two, "minute"), json!([5, 8, "ok", 5]));
    assert_eq!(of(&two, "quarter"), json!([2, 8, "ok", null]));
}
