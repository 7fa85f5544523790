//! Gauges and live windows: what samples of them show, and what they must never be taken for.

use serde_json::{Value, json};

use super::support::{
    Bench, Serving,
    catalogs::{HEAD, drain, limit, limits, report},
};

const HOUR: [&str; 2] = ["2025-03-10T12:00:00Z", "2025-03-10T13:00:00Z"];

/// What is left to each tenant, and the requests it has under way; tenants stand first.
const TENANTS: &str = r#"
[[source]]
name = "balances"
kind = "gauge"
key = "{env}{identity}:ratelimit:{endpoint}"
scope = "tenant"
schedule = "0 */20 * * * *"
find = "scan"
[[source]]
name = "under-way"
kind = "gauge"
key = "{env}{identity}:concurrent_requests"
endpoint = "concurrent"
scope = "tenant"
schedule = "0 */20 * * * *"
find = "scan"
"#;

/// Windows that a limiter keeps until they end, numbered.
const WINDOWS: &str = r#"
[scope.ip]
[[source]]
name = "windows"
kind = "gauge"
key = "{env}rl:{identity}:{window}"
endpoint = "all"
scope = "ip"
schedule = "0 * * * * *"
find = "scan"
"#;

const LEFT: &str = r#"source = "balances"
endpoints = ["77"]
limit = 80
capacity = 100"#;
const RAW: &str = r#"source = "balances"
endpoints = ["*"]
mode = "watch""#;
const UNDER_WAY: &str = r#"source = "under-way"
endpoints = ["concurrent"]
limit = 10"#;

fn tenants() -> String {
    let own = [("left", LEFT), ("raw", RAW), ("under-way", UNDER_WAY)];
    [HEAD, TENANTS, &limits(&own)].concat()
}

/// Sets values that never end, as their producers do.
async fn set(bench: &Bench, values: &[(&str, i64)]) {
    let mut commands = redis::pipe();
    for (key, value) in values {
        commands.cmd("SET").arg(bench.key(key)).arg(value);
    }
    commands.exec_async(&mut bench.redis().await).await.unwrap();
}

fn peak(report: &Value, id: &str) -> (Value, Value) {
    let peak = &limit(report, id)["peak"];
    (peak["value"].clone(), peak["identity"].clone())
}

#[tokio::test]
async fn a_balance_is_sampled_and_never_summed() {
    let bench = Bench::new(&tenants()).await;
    for (minute, left) in [("00", 100), ("20", 70), ("40", 55), ("59", 40)] {
        set(&bench, &[("acme:ratelimit:77", left)]).await;
        let now = format!("2025-03-10T12:{minute}:00Z");
        drain(&bench, &now).await.succeeded();
        // Once more in the same minute: it is the same sample.
        drain(&bench, &now).await.succeeded();
    }
    let report = report(&bench, HOUR[0], HOUR[1]).await;
    // 100 - 40 = 60 of 80 are in use, and 70 % of 80 is 56.
    let left = limit(&report, "left");
    assert_eq!(
        (peak(&report, "left"), &left["status"], &left["alert_at"]),
        ((json!(60), json!("acme")), &json!("near"), &json!(56))
    );
    assert_eq!(left["peak"]["at"], "2025-03-10T12:59:00Z");
    assert_eq!(
        (
            &left["algorithm"],
            &left["censored"],
            &left["total"],
            &left["would_block"]
        ),
        (&json!("sampled"), &json!(true), &json!(0), &Value::Null)
    );
    assert_eq!(peak(&report, "raw").0, 100);
    // Runs are at most 20 minutes apart, so that each is good for the time since the one before.
    assert_eq!(report["coverage"][0]["covered"], 60);

    let serving = Serving::start(bench.folga(&["serve"]).at(HOUR[1])).await;
    let path = format!("/v1/limits/raw/hours?env=prod&from={}&to={}", HOUR[0], HOUR[1]);
    let hours: Value = serde_json::from_str(&serving.get(&path).await.body).unwrap();
    assert_eq!(
        hours["hours"][0]["samples"],
        json!({"min": 40, "max": 100, "last": 40, "samples": 4})
    );
    assert_eq!(hours["hours"][0]["total"], 0);
}

#[tokio::test]
async fn tenants_whose_names_begin_alike_are_apart() {
    let head = HEAD.replace("\"PREFIX:\"", "\"p[1]:\"");
    let own = [("left", LEFT), ("raw", RAW), ("under-way", UNDER_WAY)];
    let bench = Bench::with_own_redis(&[&head, TENANTS, &limits(&own)].concat()).await;
    let mut commands = redis::pipe();
    for (key, value) in [
        ("p[1]:acme:ratelimit:77", 10),
        ("p[1]:acme2:ratelimit:77", 30),
        ("p[1]:acme:eu:ratelimit:77", 95),
        ("p[1]:acme:concurrent_requests", 7),
        // Another prefix, which an unescaped pattern would take in.
        ("p1:other:ratelimit:77", 0),
    ] {
        commands.cmd("SET").arg(key).arg(value);
    }
    commands.exec_async(&mut bench.redis().await).await.unwrap();
    drain(&bench, "2025-03-10T12:20:00Z").await.succeeded();
    let report = report(&bench, HOUR[0], HOUR[1]).await;
    let top: Vec<_> = (limit(&report, "left")["top_identities"]
        .as_array()
        .unwrap()
        .iter())
    .map(|top| (top["identity"].as_str().unwrap(), top["peak"].as_u64().unwrap()))
    .collect();
    assert_eq!(top, [("acme", 90), ("acme2", 70), ("acme:eu", 5)]);
    assert_eq!(peak(&report, "under-way"), (json!(7), json!("acme")));
}

#[tokio::test]
async fn what_is_absent_is_not_zero_and_nothing_goes_below() {
    let bench = Bench::with_own_redis(&tenants()).await;
    set(
        &bench,
        &[("acme:concurrent_requests", 8), ("acme:ratelimit:77", 20)],
    )
    .await;
    drain(&bench, "2025-03-10T12:00:00Z").await.succeeded();
    let mut redis = bench.redis().await;
    redis::cmd("FLUSHALL").exec_async(&mut redis).await.unwrap();
    // Nothing is there: no sample, and no doubt of the one before.
    drain(&bench, "2025-03-10T12:00:30Z").await.succeeded();
    drain(&bench, "2025-03-10T12:20:00Z").await.succeeded();
    // A request that was under way during the flush has ended: the producer counts below zero.
    set(
        &bench,
        &[("acme:concurrent_requests", -1), ("acme:ratelimit:77", -3)],
    )
    .await;
    drain(&bench, "2025-03-10T12:40:00Z").await.succeeded();
    let report = report(&bench, HOUR[0], HOUR[1]).await;
    assert_eq!(peak(&report, "under-way").0, 8);
    assert_eq!(peak(&report, "left").0, 100);
    let (samples, mins): (Vec<i64>, Vec<i64>) = sqlx::query_as(
        "SELECT samples, mins FROM gauge_hourly JOIN series ON id = series_id WHERE source = 'under-way'",
    )
    .fetch_one(&bench.pool)
    .await
    .unwrap();
    assert_eq!((samples, mins), (vec![2], vec![0]));
}

#[tokio::test]
async fn a_window_that_dies_when_it_ends_shows_at_least_what_was_seen() {
    let own = r#"source = "windows"
endpoints = ["all"]
scope = "ip"
limit = 600
window = "1m""#;
    let bench = Bench::new(&[HEAD, WINDOWS, &limits(&[("all", own)])].concat()).await;
    // Two windows of one address are there at once: the larger one counts, and they are not added up.
    set(
        &bench,
        &[
            ("rl:2001:db8::1:29026800", 450),
            ("rl:2001:db8::1:29026801", 20),
            ("rl:10.0.0.1:29026801", 30),
        ],
    )
    .await;
    drain(&bench, "2025-03-10T12:01:00Z").await.succeeded();
    let arguments = ["report", "--env", "prod", "--from", HOUR[0], "--to", HOUR[1]];
    let told = bench.folga(&arguments).at(HOUR[1]).run().await.succeeded();
    assert!(told.stdout.contains("≥450"), "{}", told.stdout);
    let report = report(&bench, HOUR[0], HOUR[1]).await;
    let all = limit(&report, "all");
    assert_eq!(
        (&all["peak"]["value"], &all["status"]),
        (&json!(450), &json!("near"))
    );
    let peaks: Vec<_> = (all["top_identities"].as_array().unwrap().iter())
        .map(|top| top["peak"].clone())
        .collect();
    assert_eq!(peaks, [450, 30]);
}

#[tokio::test]
async fn an_account_that_may_only_read_can_sample() {
    let bench = Bench::with_own_redis(&tenants()).await;
    set(&bench, &[("acme:ratelimit:77", 12)]).await;
    redis::cmd("ACL")
        .arg(&["SETUSER", "agg", "on", ">pw", "~*", "+@read", "+@connection"])
        .exec_async(&mut bench.redis().await)
        .await
        .unwrap();
    let url = bench.redis_url.replace("redis://", "redis://agg:pw@");
    let run = bench.folga(&["drain"]).env("FOLGA_REDIS_URL", url);
    run.at("2025-03-10T12:20:00Z").run().await.succeeded();
    let report = report(&bench, HOUR[0], HOUR[1]).await;
    assert_eq!(peak(&report, "left"), (json!(88), json!("acme")));
}
