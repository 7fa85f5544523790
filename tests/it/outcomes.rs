//! Attempted and accepted: what was asked of a provider and what came through, and what a limit that refuses hides.

use serde_json::{Value, json};

use super::{
    source::MESSAGING,
    support::{
        Bench,
        catalogs::{HEAD, MESSAGES, drain, limit, limits, put, report, report_at},
    },
};

const HOUR: [&str; 2] = ["2025-03-10T12:00:00Z", "2025-03-10T13:00:00Z"];

/// The lines of a limit on what one session sends through wasender.
fn wasender(value: u64, more: &str) -> String {
    format!(
        "source = \"messaging\"\nscope = \"session\"\nendpoints = [\"wasender\"]\nlimit = {value}\nwindow = \"1m\"\n{more}"
    )
}

fn catalog(own: &[(&str, &str)]) -> String {
    [HEAD, MESSAGING, &limits(own)].concat()
}

/// What one session sent in a minute, given as `HHmm`.
async fn sent(bench: &Bench, minute: &str, counts: &[(&str, &str)]) {
    let key = bench.key(&format!("wa:metrics:s1:20250310{minute}"));
    let counts: Vec<(&[u8], &[u8])> = (counts.iter())
        .map(|(field, count)| (field.as_bytes(), count.as_bytes()))
        .collect();
    put(bench, key, &counts).await;
}

/// A minute of one session.
const MINUTE: [(&str, &str); 4] = [
    ("wasender:ok", "40"),
    ("wasender:rate_limited", "25"),
    ("twilio:ok", "3"),
    // Of no provider and no outcome.
    ("foo", "9"),
];

/// Asserts that a ratio is this one.
#[track_caller]
fn is_about(value: &Value, ratio: f64) {
    let value = value.as_f64().unwrap();
    assert!((value - ratio).abs() < 1e-9, "{value} is not {ratio}");
}

#[tokio::test]
async fn attempted_and_accepted_are_both_told_and_providers_kept_apart() {
    let bench = Bench::new(&catalog(&[("wasender", &wasender(60, ""))])).await;
    sent(&bench, "1205", &MINUTE).await;
    let ran = drain(&bench, "2025-03-10T12:07:00Z").await.exited(3);
    let key = bench.key("wa:metrics:s1:202503101205");
    let refused = format!("refused {key}: a field does not fit the field pattern (1)");
    assert!(ran.stdout.contains(&refused), "{}", ran.stdout);

    let report = report(&bench, HOUR[0], HOUR[1]).await;
    let found = limit(&report, "wasender");
    // 40 + 25 were attempted, of 60.
    assert_eq!(
        (&found["total"], &found["peak"]["value"], &found["status"]),
        (&json!(65), &json!(65), &json!("over"))
    );
    is_about(&found["utilization"], 65.0 / 60.0);
    assert_eq!(
        (&found["accepted"], &found["accepted_peak"]["value"]),
        (&json!(40), &json!(40))
    );
    assert_eq!(found["accepted_peak"]["at"], "2025-03-10T12:05:00Z");
    is_about(&found["accepted_peak"]["utilization"], 40.0 / 60.0);
    // Refused ones are counted, so nothing is hidden.
    assert_eq!(found["censored"], false);

    let group = &report["groups"][1];
    assert_eq!(
        (&group["id"], group["limits"].as_array().map(Vec::len)),
        (&json!("unlimited"), Some(1)),
        "{report:#}"
    );
    let twilio = limit(&report, "messaging/twilio/session");
    assert_eq!(
        (&twilio["total"], &twilio["peak"]["value"], &twilio["status"]),
        (&json!(3), &json!(3), &json!("watch"))
    );
    assert_eq!(twilio["accepted"], 3);
    for absent in ["limit", "alert_at", "utilization", "accepted_peak"] {
        assert_eq!(twilio[absent], Value::Null, "{absent}");
    }
    assert!(!report.to_string().contains("foo"), "{report:#}");
}

#[tokio::test]
async fn a_peak_of_accepted_requests_that_reaches_an_enforced_limit_means_at_least() {
    let ok = "outcomes = [\"ok\"]";
    let cases = [
        ("observed", wasender(40, ok), false),
        ("blocked", wasender(40, &format!("{ok}\nmode = \"block\"")), true),
        // One below its limit hides nothing, nor do attempts.
        ("below", wasender(41, &format!("{ok}\nmode = \"block\"")), false),
        ("attempts", wasender(40, "mode = \"block\""), false),
        // What was refused is among what is counted.
        (
            "both",
            wasender(40, "outcomes = [\"ok\", \"rate_limited\"]\nmode = \"block\""),
            false,
        ),
    ];
    let own: Vec<(&str, &str)> = cases.iter().map(|(id, lines, _)| (*id, &**lines)).collect();
    let bench = Bench::new(&catalog(&own)).await;
    sent(&bench, "1205", &MINUTE[..3]).await;
    drain(&bench, "2025-03-10T12:07:00Z").await.succeeded();
    let report = report(&bench, HOUR[0], HOUR[1]).await;
    for (id, _, censored) in &cases {
        let found = limit(&report, id);
        assert_eq!(found["censored"], *censored, "{id}");
        assert_eq!(found["accepted"], 40, "{id}");
    }
    for id in ["observed", "blocked", "below"] {
        let found = limit(&report, id);
        assert_eq!(
            (&found["total"], &found["peak"]["value"], &found["accepted_peak"]),
            (&json!(40), &json!(40), &Value::Null),
            "{id}"
        );
    }
    for id in ["attempts", "both"] {
        let found = limit(&report, id);
        assert_eq!(
            (&found["total"], &found["accepted_peak"]["value"]),
            (&json!(65), &json!(40)),
            "{id}"
        );
    }
}

#[tokio::test]
async fn what_was_in_force_then_decides_and_not_what_is_now() {
    let of = |value: u64, mode: &str| wasender(value, &format!("outcomes = [\"ok\"]\nmode = \"{mode}\""));
    let bench = Bench::new(&catalog(&[("sent", &of(40, "block"))])).await;
    // From noon on 40 is enforced, from one on 60, from two on nothing.
    drain(&bench, "2025-03-10T12:00:00Z").await.succeeded();
    for (minute, value, mode, now) in [
        ("1205", 40, "block", "2025-03-10T12:07:00Z"),
        ("1305", 60, "block", "2025-03-10T13:07:00Z"),
        ("1405", 60, "observe", "2025-03-10T14:07:00Z"),
    ] {
        bench.write_catalog(&catalog(&[("sent", &of(value, mode))]));
        // The catalog is in force from the hour on.
        let (hour, _) = now.split_at("2025-03-10T12:0".len());
        drain(&bench, &format!("{hour}0:00Z")).await;
        let count = if minute == "1405" { "60" } else { "40" };
        sent(&bench, minute, &[("wasender:ok", count)]).await;
        drain(&bench, now).await;
    }
    let censored = async |from: &str, to: &str| {
        let now = "2025-03-10T15:00:00Z";
        let report = report_at(&bench, from, to, now).await;
        let found = limit(&report, "sent");
        (found["peak"]["value"].clone(), found["censored"].clone())
    };
    let (two, three) = ("2025-03-10T14:00:00Z", "2025-03-10T15:00:00Z");
    // 40 of 40 that were enforced; 40 of 60 that were; 60 of 60 that were not.
    assert_eq!(censored(HOUR[0], HOUR[1]).await, (json!(40), json!(true)));
    assert_eq!(censored(HOUR[1], two).await, (json!(40), json!(false)));
    assert_eq!(censored(two, three).await, (json!(60), json!(false)));
    // Of two equal peaks the earlier one is the peak.
    assert_eq!(censored(HOUR[0], two).await, (json!(40), json!(true)));
}

#[tokio::test]
async fn a_source_of_accepted_requests_tells_no_others() {
    let source = format!("{MESSAGES}counts = \"accepted\"\n");
    let of = |value: u64, mode: &str| {
        format!("endpoints = [\"messages\"]\nlimit = {value}\nwindow = \"1m\"\nmode = \"{mode}\"")
    };
    let cases = [
        ("reached", of(20, "block"), true),
        ("not-reached", of(21, "block"), false),
        // Above a limit that is enforced elsewhere, say with another clock.
        ("passed", of(19, "block"), true),
        ("observed", of(20, "observe"), false),
    ];
    let own: Vec<(&str, &str)> = cases.iter().map(|(id, lines, _)| (*id, &**lines)).collect();
    let bench = Bench::new(&[HEAD, &source, &limits(&own)].concat()).await;
    put(&bench, bench.key("m:messages:202503101205"), &[(b"esc-1", b"20")]).await;
    drain(&bench, "2025-03-10T12:10:00Z").await.succeeded();
    let report = report(&bench, HOUR[0], HOUR[1]).await;
    for (id, _, censored) in cases {
        let found = limit(&report, id);
        assert_eq!(
            (&found["total"], &found["accepted"], &found["accepted_peak"]),
            (&json!(20), &json!(20), &Value::Null),
            "{id}"
        );
        assert_eq!(found["censored"], censored, "{id}");
    }
}
