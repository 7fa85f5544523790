//! Gauges and live windows: what samples of them show, and what they must never be taken for.

use chrono::TimeDelta;
use serde_json::{Value, json};

use super::support::{
    Bench, Serving, Watch, at,
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
        (&left["peak"]["lower"], &left["peak"]["upper"]),
        (&json!(60), &Value::Null)
    );
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

    let serving = Serving::start(bench.folga(&["--log-format", "json", "serve"])).await;
    let path = format!("/v1/limits/raw/hours?env=prod&from={}&to={}", HOUR[0], HOUR[1]);
    let hours: Value = serde_json::from_str(&serving.get(&path).await.body).unwrap();
    assert_eq!(
        hours["hours"][0]["samples"],
        json!({"min": 40, "max": 100, "last": 40, "samples": 4})
    );
    assert_eq!(hours["hours"][0]["total"], 0);
}

#[tokio::test]
async fn of_several_samples_in_a_minute_the_smallest_and_the_largest_stay() {
    let bench = Bench::new(&tenants()).await;
    for (second, left) in [("00", 60), ("20", 15), ("40", 100)] {
        set(&bench, &[("acme:ratelimit:77", left)]).await;
        drain(&bench, &format!("2025-03-10T12:20:{second}Z"))
            .await
            .succeeded();
    }
    let report = report(&bench, HOUR[0], HOUR[1]).await;
    // 85 were in use when 15 were left, whatever the scheduler has filled up since.
    assert_eq!(peak(&report, "left"), (json!(85), json!("acme")));
    assert_eq!(peak(&report, "raw"), (json!(100), json!("acme")));
    assert_eq!(limit(&report, "left")["status"], "over");
    let figures: (Vec<i64>, Vec<i64>, Vec<i64>) =
        sqlx::query_as("SELECT mins, maxs, samples FROM gauge_hourly")
            .fetch_one(&bench.pool)
            .await
            .unwrap();
    assert_eq!(figures, (vec![15], vec![100], vec![1]));
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
    let mut bench = Bench::with_own_redis(&tenants()).await;
    set(&bench, &[("acme:ratelimit:77", 12)]).await;
    redis::cmd("ACL")
        .arg(&["SETUSER", "agg", "on", ">pw", "~*", "+@read", "+@connection"])
        .exec_async(&mut bench.redis().await)
        .await
        .unwrap();
    bench.redis_url = format!(
        "redis://agg:pw@127.0.0.1:{}",
        bench.own_redis.as_ref().unwrap().port()
    );
    drain(&bench, "2025-03-10T12:20:00Z").await.succeeded();
    let report = report(&bench, HOUR[0], HOUR[1]).await;
    assert_eq!(peak(&report, "left"), (json!(88), json!("acme")));
}

#[tokio::test]
async fn what_is_seen_of_a_gauge_is_alerted_as_at_least_so_much() {
    let sources = TENANTS.replace("0 */20 * * * *", "0 * * * * *");
    let watch = Watch::new(
        &[HEAD, &sources, &limits(&[("under-way", UNDER_WAY)])].concat(),
        "",
    )
    .await;
    watch.server.echo(false);
    // Three, eight and twelve of ten requests are under way, then none, and their counter is gone.
    for minute in 0..20 {
        let under_way = [3, 8, 12].get(minute).copied();
        match under_way {
            Some(count) => set(&watch.bench, &[("acme:concurrent_requests", count)]).await,
            None => redis::cmd("DEL")
                .arg(watch.bench.key("acme:concurrent_requests"))
                .exec_async(&mut watch.bench.redis().await)
                .await
                .unwrap(),
        }
        let now = at("2025-03-10T12:00:06Z") + TimeDelta::minutes(minute.try_into().unwrap());
        watch.run(now).await;
    }
    assert_eq!(
        watch.server.titles(),
        [
            "prod: under-way is near its limit with at least 8 of 10 (80 %)",
            "prod: under-way is over its limit with at least 12 of 10 (120 %)",
            "prod: under-way is ok again, was over with at least 12 of 10 (120 %)",
        ]
    );
}

#[tokio::test]
async fn what_stays_over_from_sample_to_sample_is_told_once() {
    let catalog = [HEAD, TENANTS, &limits(&[("under-way", UNDER_WAY)])].concat();
    let watch = Watch::new(&catalog, "").await;
    watch.server.echo(false);
    // Every twenty minutes, longer than an alert otherwise takes to end.
    for run in 0..9 {
        let count = if run < 6 { 12 } else { 1 };
        set(&watch.bench, &[("acme:concurrent_requests", count)]).await;
        watch
            .run(at("2025-03-10T12:00:06Z") + TimeDelta::minutes(20 * run))
            .await;
    }
    assert_eq!(
        watch.server.titles(),
        [
            "prod: under-way is over its limit with at least 12 of 10 (120 %)",
            "prod: under-way is ok again, was over with at least 12 of 10 (120 %)",
        ]
    );
}

#[tokio::test]
async fn a_key_that_is_no_gauge_costs_only_itself() {
    let bench = Bench::new(&tenants()).await;
    set(&bench, &[("acme:ratelimit:77", 40)]).await;
    redis::pipe()
        .cmd("HSET")
        .arg(bench.key("globex:ratelimit:settings"))
        .arg(&["most", "100"])
        .cmd("SET")
        .arg(bench.key("globex:ratelimit:77"))
        .arg("unlimited")
        .exec_async(&mut bench.redis().await)
        .await
        .unwrap();
    let ran = drain(&bench, "2025-03-10T12:20:00Z").await.exited(3);
    for reason in ["another type than the source says", "the count is not a number"] {
        assert!(ran.stdout.contains(reason), "{reason}: {}", ran.stdout);
    }
    let report = report(&bench, HOUR[0], HOUR[1]).await;
    assert_eq!(peak(&report, "left"), (json!(60), json!("acme")));
    assert_eq!(report["coverage"][0]["covered"], 1);
}

/// The integration platform's own keys, as they are: tenant first, no prefix, and much that is nobody's business.
#[tokio::test]
async fn the_platform_of_the_examples_is_read_through_a_flush() {
    let bench = Bench::with_own_redis(include_str!("../../examples/platform.toml")).await;
    let mut redis = bench.redis().await;
    let mut commands = redis::pipe();
    for (key, value) in [
        ("acme:ratelimit:77", 29),
        ("acme2:ratelimit:77", 90),
        ("acme:concurrent_requests", 15),
        ("acme2:concurrent_requests", 2),
        ("rate-limit:acme:orders", 4),
        ("rate-limit:acme2:orders", 1),
        ("scheduler:http-call:lock:77", 1),
    ] {
        commands.cmd("SET").arg(key).arg(value);
    }
    commands.cmd("HSET").arg("acme:cache:ratelimits").arg(&["a", "b"]);
    commands.exec_async(&mut redis).await.unwrap();
    drain(&bench, "2025-03-10T12:00:00Z").await.succeeded();
    // Everything is dropped in mid-minute, and counts begin anew.
    redis::cmd("FLUSHALL").exec_async(&mut redis).await.unwrap();
    let mut commands = redis::pipe();
    for (key, value) in [
        ("acme:ratelimit:77", 99),
        ("acme:concurrent_requests", -3),
        ("rate-limit:acme:orders", 3),
    ] {
        commands.cmd("SET").arg(key).arg(value);
    }
    commands.exec_async(&mut redis).await.unwrap();
    drain(&bench, "2025-03-10T12:00:20Z").await.succeeded();
    drain(&bench, "2025-03-10T12:01:00Z").await.succeeded();

    let report = report(&bench, HOUR[0], HOUR[1]).await;
    // 100 - 29 = 71 of 100 and 15 of 20 are near; 4 of 5 are, and 4 + 3 were never there at once.
    for (id, value) in [
        ("activity.tenant", 71),
        ("concurrent.tenant", 15),
        ("window.tenant", 4),
    ] {
        assert_eq!(peak(&report, id), (json!(value), json!("acme")), "{id}");
        let limit = limit(&report, id);
        assert_eq!(
            (&limit["status"], &limit["total"]),
            (&json!("near"), &json!(0)),
            "{id}"
        );
    }
    let used: Vec<_> = (limit(&report, "activity.tenant")["top_identities"]
        .as_array()
        .unwrap()
        .iter())
    .map(|top| (top["identity"].as_str().unwrap(), top["peak"].as_u64().unwrap()))
    .collect();
    assert_eq!(used, [("acme", 71), ("acme2", 10)]);
    for coverage in report["coverage"].as_array().unwrap() {
        assert_eq!(coverage["covered"], 2, "{coverage}");
        assert_eq!(coverage["gaps"][0]["from"], "2025-03-10T12:02:00Z", "{coverage}");
    }
}
