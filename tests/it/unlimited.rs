//! Endpoints that no limit names: shown, watched and never judged.

use serde_json::{Value, json};

use super::support::{
    Bench, Serving,
    catalogs::{HEAD, THIRTY, drain, limit, limits, put, report, report_at},
};

const HOUR: [&str; 2] = ["2025-03-10T12:00:00Z", "2025-03-10T13:00:00Z"];
const NOW: &str = "2025-03-10T13:10:00Z";

/// Two sources of hashes that tell the scope of each count.
const SOURCES: &str = r#"
[scope.account]
[[source]]
name = "gateway"
kind = "hash"
key = "{env}m:{endpoint}:{minute}"
field = "{scope}:{identity}"
ttl = "2h"
schedule = "0 */5 * * * *"
find = "scan"
[[source]]
name = "door"
kind = "hash"
key = "{env}d:{endpoint}:{minute}"
field = "{scope}:{identity}"
ttl = "2h"
schedule = "0 */5 * * * *"
find = "scan"
"#;

fn catalog(own: &[(&str, &str)]) -> String {
    [HEAD, SOURCES, &limits(own)].concat()
}

/// Counts of minutes `HHmm`: source and endpoint as in keys, then scope, identity and count.
async fn count(bench: &Bench, counts: &[(&str, &str, &str, &str)]) {
    for (endpoint, minute, who, count) in counts {
        let key = bench.key(&format!("{endpoint}:20250310{minute}"));
        put(bench, key, &[(who.as_bytes(), count.as_bytes())]).await;
    }
}

/// A minute in which `messages`, which is limited, and `foo`, which is not, are counted in two scopes, and `messages`
/// at the door, where nothing is.
async fn world() -> Bench {
    let bench = Bench::new(&catalog(&[("messages", THIRTY)])).await;
    let counts = [
        ("m:messages", "1205", "tenant:esc-1", "5"),
        ("m:messages", "1205", "account:7", "6"),
        ("m:foo", "1205", "tenant:esc-1", "8"),
        ("m:foo", "1206", "tenant:esc-1", "9"),
        ("m:foo", "1206", "tenant:esc-2", "3"),
        ("m:foo", "1210", "tenant:esc-2", "9"),
        ("m:foo", "1301", "tenant:esc-2", "7"),
        ("m:foo", "1207", "account:7", "2"),
        ("d:messages", "1208", "tenant:esc-3", "1"),
    ];
    count(&bench, &counts).await;
    drain(&bench, NOW).await.succeeded();
    bench
}

/// The ids of the group of what no limit names, and its limits' totals.
fn unlimited(report: &Value) -> Vec<(String, u64)> {
    let groups = report["groups"].as_array().unwrap();
    let group = groups.iter().find(|group| group["id"] == "unlimited");
    let limits = group.map_or(&[][..], |group| group["limits"].as_array().unwrap());
    limits
        .iter()
        .map(|limit| {
            (
                limit["id"].as_str().unwrap().to_owned(),
                limit["total"].as_u64().unwrap(),
            )
        })
        .collect()
}

fn listed(expected: &[(&str, u64)]) -> Vec<(String, u64)> {
    expected
        .iter()
        .map(|(id, total)| ((*id).to_owned(), *total))
        .collect()
}

#[tokio::test]
async fn an_endpoint_without_a_limit_is_watched_with_its_largest_minute() {
    let bench = world().await;
    let day = report_at(&bench, "2025-03-10T00:00:00Z", "2025-03-11T00:00:00Z", NOW).await;
    // By traffic. A limit on one scope of `messages` is a limit on `messages`, but not at the door.
    assert_eq!(
        unlimited(&day),
        listed(&[
            ("gateway/foo/tenant", 8 + 9 + 3 + 9 + 7),
            ("gateway/foo/account", 2),
            ("door/messages/tenant", 1),
        ])
    );
    let foo = limit(&day, "gateway/foo/tenant");
    // esc-2 had 9 as well, later.
    let peak = json!({"value": 9, "lower": 9, "upper": 9, "at": "2025-03-10T12:06:00Z", "identity": "esc-1"});
    assert_eq!(foo["peak"], peak);
    assert_eq!(
        (&foo["status"], &foo["mode"], &foo["window"]),
        (&json!("watch"), &json!("watch"), &json!("1m"))
    );
    assert_eq!(
        (&foo["source"], &foo["endpoints"], &foo["scope"]),
        (&json!("gateway"), &json!(["foo"]), &json!("tenant"))
    );
    for absent in [
        "limit",
        "alert_at",
        "utilization",
        "would_block",
        "recommendation",
    ] {
        assert_eq!(foo[absent], Value::Null, "{absent}");
    }
    assert_eq!(foo["censored"], false);
    // A scope that is not public shows no label.
    let who = limit(&day, "gateway/foo/account")["peak"]["identity"].clone();
    let who = who.as_str().unwrap();
    assert!(
        who.len() == 16 && who.chars().all(|digit| digit.is_ascii_hexdigit()),
        "{who}"
    );
    // 8 + 9 + 3 + 9 in the hour of 12; 7 in that of 13.
    let hour = report(&bench, HOUR[0], HOUR[1]).await;
    assert_eq!(unlimited(&hour)[0], ("gateway/foo/tenant".to_owned(), 29));
    let hour = report_at(&bench, HOUR[1], "2025-03-10T14:00:00Z", NOW).await;
    assert_eq!(unlimited(&hour), listed(&[("gateway/foo/tenant", 7)]));
    assert_eq!(
        limit(&hour, "gateway/foo/tenant")["peak"]["at"],
        "2025-03-10T13:01:00Z"
    );
    assert_eq!(limit(&hour, "messages")["status"], "ok");
}

#[tokio::test]
async fn an_endpoint_that_any_limit_of_its_source_names_is_not_among_them() {
    let bench = world().await;
    let watched = "endpoints = [\"fo*\"]\nscope = \"account\"\nmode = \"watch\"";
    let door = "source = \"door\"\nendpoints = [\"*\"]\nlimit = 3\nwindow = \"1h\"";
    for (more, expected) in [
        // Named by a pattern, of one scope, in a mode that limits nothing.
        (("foo", watched), &[("door/messages/tenant", 1)][..]),
        (
            ("door", door),
            &[("gateway/foo/tenant", 36), ("gateway/foo/account", 2)],
        ),
    ] {
        bench.write_catalog(&catalog(&[("messages", THIRTY), more]));
        drain(&bench, NOW).await.succeeded();
        let day = report_at(&bench, "2025-03-10T00:00:00Z", "2025-03-11T00:00:00Z", NOW).await;
        assert_eq!(unlimited(&day), listed(expected), "{}", more.0);
    }
    let both = [("messages", THIRTY), ("foo", watched), ("door", door)];
    bench.write_catalog(&catalog(&both));
    drain(&bench, NOW).await.succeeded();
    let day = report(&bench, HOUR[0], HOUR[1]).await;
    assert_eq!(day["groups"].as_array().map(Vec::len), Some(1), "{day:#}");
}

#[tokio::test]
async fn they_are_shown_alone_like_any_group() {
    let bench = world().await;
    let expected = listed(&[
        ("gateway/foo/tenant", 29),
        ("gateway/foo/account", 2),
        ("door/messages/tenant", 1),
    ]);
    let arguments = [
        "report",
        "--env",
        "prod",
        "--group",
        "unlimited",
        "--format",
        "json",
        "--from",
        HOUR[0],
        "--to",
        HOUR[1],
    ];
    let alone = bench.folga(&arguments).at(NOW).run().await.succeeded().json();
    assert_eq!(unlimited(&alone), expected);
    assert_eq!(alone["groups"].as_array().map(Vec::len), Some(1));
    let serving = Serving::start(bench.folga(&["--log-format", "json", "serve"]).at(NOW)).await;
    let path = format!(
        "/v1/calibration?env=prod&group=unlimited&from={}&to={}",
        HOUR[0], HOUR[1]
    );
    let answer = serving.get(&path).await;
    assert_eq!(answer.status, 200, "{answer:?}");
    assert_eq!(answer.json()["groups"], alone["groups"]);
    // Another group is without them.
    let of_a = serving.get(&path.replace("unlimited", "A")).await.json();
    assert_eq!(unlimited(&of_a), []);
}

#[tokio::test]
async fn ignored_hours_are_left_out_of_them() {
    let bench = world().await;
    let ignore = r#"
[[ignore]]
environment = "prod"
from = "2025-03-10T12:06:00Z"
to = "2025-03-10T12:07:00Z"
reason = "load test"
"#;
    bench.write_catalog(&(catalog(&[("messages", THIRTY)]) + ignore));
    let day = report_at(&bench, "2025-03-10T00:00:00Z", "2025-03-11T00:00:00Z", NOW).await;
    assert_eq!(unlimited(&day), listed(&[("gateway/foo/tenant", 7)]));
    let peak = json!({"value": 7, "lower": 7, "upper": 7, "at": "2025-03-10T13:01:00Z", "identity": "esc-2"});
    assert_eq!(limit(&day, "gateway/foo/tenant")["peak"], peak);
    let hour = report(&bench, HOUR[0], HOUR[1]).await;
    assert_eq!(unlimited(&hour), []);
}

#[tokio::test]
async fn nothing_that_is_shown_is_no_number() {
    // Nothing counted, nothing covered; then an endpoint without a limit beside limits that were never met.
    let own = [
        ("messages", THIRTY),
        ("burst", "endpoints = [\"messages\"]\nlimit = 1\nwindow = \"5s\""),
        ("watched", "endpoints = [\"messages\"]\nmode = \"watch\""),
    ];
    let bench = Bench::new(&catalog(&own)).await;
    for counted in [false, true] {
        if counted {
            count(&bench, &[("m:foo", "1205", "tenant:esc-1", "5")]).await;
            drain(&bench, NOW).await.succeeded();
        }
        let arguments = [
            "report", "--env", "prod", "--format", "json", "--from", HOUR[0], "--to", HOUR[1],
        ];
        let ran = bench.folga(&arguments).at(NOW).run().await.succeeded();
        let table = bench.folga(&arguments[..3]).at(HOUR[1]).run().await.succeeded();
        for text in [&ran.stdout, &table.stdout] {
            let mut words = text.split(|letter: char| !letter.is_alphabetic());
            assert!(
                !words.any(|word| ["nan", "inf"].contains(&&*word.to_lowercase())),
                "{text}"
            );
        }
        let report = ran.json();
        let used = &limit(&report, "messages")["utilization"];
        assert_eq!(*used, if counted { json!(0.0) } else { Value::Null });
        assert_eq!(limit(&report, "burst")["utilization"], Value::Null);
        if counted {
            let foo = limit(&report, "gateway/foo/tenant");
            assert_eq!(
                (&foo["peak"]["value"], &foo["utilization"]),
                (&json!(5), &Value::Null)
            );
        }
    }
}
