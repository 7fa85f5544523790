//! What the service answers.

use std::time::Duration;

use folga::{clock::Clock, servers::PrivatePostgres};
use serde_json::{Value, json};

use super::support::{Behaviour, Bench, Folga, Proxy, SERVERS, Serving, signal, wait_until};

/// A source that was never due but at the start.
pub const CATALOG: &str = r#"
[[environment]]
name = "prod"
prefix = "PREFIX:"
[scope.tenant]
[[source]]
name = "gateway"
kind = "hash"
key = "{env}m:{endpoint}:{minute}"
field = "{identity}"
scope = "tenant"
ttl = "2h"
schedule = "0 0 * * * *"
find = "scan"
[[group]]
id = "A"
name = "All"
[[group.limit]]
id = "messages"
endpoints = ["messages"]
scope = "tenant"
limit = 30
window = "1m"
"#;

fn serve(bench: &Bench) -> Folga {
    bench.folga(&["--log-format", "json", "serve"])
}

/// Waits until the drain at the start has ended.
async fn drained(serving: &Serving) {
    wait_until("the first drain ends", async || {
        serving.source().await["last_run"].is_string()
    })
    .await;
}

#[tokio::test]
async fn health_shows_servers_and_sources() {
    let bench = Bench::new(CATALOG).await;
    let serving = Serving::start(serve(&bench)).await;
    drained(&serving).await;
    let answer = serving.get("/health").await;
    let health = answer.json();
    assert_eq!(answer.status, 200);
    assert_eq!(
        (&health["status"], &health["redis"], &health["postgres"]),
        (&json!("ok"), &json!("up"), &json!("up"))
    );
    let source = &health["sources"][0];
    assert_eq!(
        (&source["name"], &source["env"], &source["state"]),
        (&json!("gateway"), &json!("prod"), &json!("ok"))
    );
    assert!(
        source["next_run"].as_str().unwrap().ends_with(":00:00Z"),
        "{source}"
    );
    assert!(source["lag_seconds"].as_i64().unwrap() <= 20, "{source}");
    assert_eq!(source["last_error"], Value::Null);
    assert_eq!(serving.get("/livez").await.status, 200);
}

#[tokio::test]
async fn health_answers_within_a_second_while_redis_or_postgres_hangs() {
    let bench = Bench::new(CATALOG).await;
    let (redis, mut postgres) = (
        Proxy::start(SERVERS.redis.port()).await,
        PrivatePostgres::start().unwrap(),
    );
    let url = postgres.url("postgres");
    let with = |folga: Folga| {
        folga
            .env("FOLGA_DATABASE_URL", &url)
            .env("FOLGA_REDIS_URL", redis.url(&bench.redis_url))
    };
    with(bench.folga(&["migrate"])).run().await.succeeded();
    let serving = Serving::start(with(serve(&bench))).await;
    drained(&serving).await;

    let says = async |status: u16, redis: &str, postgres: &str| {
        let many = futures_util::future::join_all((0..20).map(|_| serving.get("/health"))).await;
        many.iter().all(|answer| {
            assert!(answer.took < Duration::from_secs(1), "{answer:?}");
            let health = answer.json();
            answer.status == status && health["redis"] == redis && health["postgres"] == postgres
        })
    };
    wait_until("both are up", async || says(200, "up", "up").await).await;
    redis.set(Behaviour::Hang);
    wait_until("Redis hangs", async || says(200, "down", "up").await).await;
    redis.set(Behaviour::Pass);
    wait_until("Redis is back", async || says(200, "up", "up").await).await;

    // Connections are in their own processes, which answer without the first one: a new one hangs.
    let pid = postgres.pid().unwrap();
    let children = std::process::Command::new("pgrep")
        .args(["-P", &pid.to_string()])
        .output()
        .unwrap();
    let all: Vec<u32> = String::from_utf8(children.stdout)
        .unwrap()
        .lines()
        .map(|pid| pid.parse().unwrap())
        .collect();
    all.iter().chain([&pid]).for_each(|pid| signal("STOP", *pid));
    wait_until("Postgres hangs", async || says(503, "up", "down").await).await;
    all.iter().chain([&pid]).for_each(|pid| signal("CONT", *pid));
    wait_until("Postgres goes on", async || says(200, "up", "up").await).await;
    postgres.stop().unwrap();
    wait_until("Postgres is gone", async || says(503, "up", "down").await).await;
    postgres.restart().unwrap();
    wait_until("Postgres is back", async || says(200, "up", "up").await).await;
}

#[tokio::test]
async fn the_token_guards_what_shows_data() {
    let bench = Bench::new(CATALOG).await;
    let serving = Serving::start(serve(&bench).env("FOLGA_API_TOKEN", "open sesame")).await;
    let health = serving.get("/health").await;
    assert_eq!(
        (health.status, health.json()),
        (200, json!({"status": "ok", "redis": "up", "postgres": "up"}))
    );
    assert_eq!(serving.get("/livez").await.status, 200);
    for path in ["/v1/runs", "/v1/calibration?env=prod", "/metrics"] {
        for headers in [
            "",
            "Authorization: Bearer open\r\n",
            "Authorization: Basic open sesame\r\n",
        ] {
            let answer = serving.ask("GET", path, headers).await;
            assert_eq!(
                (answer.status, &answer.json()["status"]),
                (401, &json!(401)),
                "{path} {headers}"
            );
            assert!(answer.head.contains("www-authenticate: bearer"), "{answer:?}");
        }
        let answer = serving
            .ask("GET", path, "Authorization: Bearer open sesame\r\n")
            .await;
        assert_eq!(answer.status, 200, "{answer:?}");
    }
    let health = serving
        .ask("GET", "/health", "Authorization: Bearer open sesame\r\n")
        .await
        .json();
    assert!(health["sources"].is_array(), "{health}");
}

#[tokio::test]
async fn beyond_loopback_nothing_is_served_without_a_token() {
    let bench = Bench::new(CATALOG).await;
    let ran = bench
        .folga(&["serve"])
        .env("FOLGA_LISTEN", "0.0.0.0:0")
        .run()
        .await
        .exited(2);
    assert!(ran.stderr.contains("set FOLGA_API_TOKEN"), "{}", ran.stderr);
}

#[tokio::test]
async fn errors_are_problems_that_name_the_remedy() {
    let bench = Bench::new(CATALOG).await;
    let serving = Serving::start(serve(&bench)).await;
    for (method, path, status, detail) in [
        ("GET", "/v1/calibration", 400, "env is missing: give one of prod"),
        (
            "GET",
            "/v1/calibration?env=prd",
            404,
            "there is no environment \"prd\": give one of prod",
        ),
        (
            "GET",
            "/v1/calibration?env=prod&group=Z",
            404,
            "there is no group \"Z\": give one of A",
        ),
        (
            "GET",
            "/v1/calibration?env=prod&days=x",
            400,
            "days is no whole number: \"x\"",
        ),
        (
            "GET",
            "/v1/calibration?env=prod&day=1",
            400,
            "there is no parameter \"day\" here",
        ),
        (
            "GET",
            "/v1/calibration?env=prod&days=1&days=2",
            400,
            "days is given twice",
        ),
        (
            "GET",
            "/v1/calibration?env=prod&days=0",
            400,
            "ask for 1 to 90 days",
        ),
        (
            "GET",
            "/v1/calibration?env=prod&from=2025-03-10T12:00:00Z",
            400,
            "give to as well",
        ),
        (
            "GET",
            "/v1/calibration?env=prod&from=2025-03-10T12:00:00Z&to=2025-03-10T11:00:00Z",
            400,
            "swap them",
        ),
        (
            "GET",
            "/v1/runs?limit=3",
            400,
            "there is no parameter \"limit\" here",
        ),
        ("GET", "/v2", 404, "there is no such route"),
        (
            "POST",
            "/v1/runs",
            405,
            "this route takes no such method: the Allow header names those it takes",
        ),
    ] {
        let answer = serving.ask(method, path, "").await;
        let problem = answer.json();
        assert_eq!(
            (answer.status, &problem["status"]),
            (status, &json!(status)),
            "{path}"
        );
        assert!(problem["detail"].as_str().unwrap().contains(detail), "{problem}");
        assert!(
            problem["type"].is_string() && problem["title"].is_string(),
            "{problem}"
        );
        assert!(
            answer.head.contains("content-type: application/problem+json"),
            "{answer:?}"
        );
        assert!(
            answer.head.contains("x-content-type-options: nosniff"),
            "{answer:?}"
        );
    }
    // 12:00 at +03:00 is 09:00Z, whether the + is written as it should be or not.
    for plus in ["+", "%2B"] {
        let path = format!(
            "/v1/calibration?env=prod&from=2025-03-10T12:00:00{plus}03:00&to=2025-03-10T14:00:00{plus}03:00"
        );
        let report = serving.get(&path).await.json();
        assert_eq!(
            (&report["from"], &report["to"]),
            (&json!("2025-03-10T09:00:00Z"), &json!("2025-03-10T11:00:00Z"))
        );
    }
}

#[tokio::test]
async fn runs_and_metrics_tell_what_drains_did() {
    let bench = Bench::new(CATALOG).await;
    let now = Clock::new(None).now();
    let two_minutes_ago = now - chrono::TimeDelta::minutes(2);
    let key = bench.key(&format!("m:messages:{}", two_minutes_ago.format("%Y%m%d%H%M")));
    bench
        .hash(
            &key,
            &[("esc-1", "7"), ("esc-2", "x")],
            now + chrono::TimeDelta::hours(1),
            now,
        )
        .await;
    let serving = Serving::start(serve(&bench)).await;
    drained(&serving).await;

    let runs = serving.get("/v1/runs").await.json();
    let run = &runs["runs"][0];
    assert_eq!(
        (&run["source"], &run["environment"], &run["outcome"]),
        (&json!("gateway"), &json!("prod"), &json!("partial"))
    );
    assert_eq!(
        (&run["keys"], &run["samples"], &run["error"]),
        (&json!(1), &json!(1), &Value::Null)
    );
    assert_eq!(
        (&run["rejects"][0]["key"], &run["rejects"][0]["count"]),
        (&json!(key), &json!(1))
    );
    for field in ["id", "minutes_covered", "commands", "bytes"] {
        assert!(run[field].is_u64(), "{run}");
    }
    let metrics = serving.get("/metrics").await;
    assert!(
        metrics
            .head
            .contains("content-type: application/openmetrics-text"),
        "{metrics:?}"
    );
    for line in [
        "folga_runs_total{source=\"gateway\",environment=\"prod\",outcome=\"partial\"} 1",
        "folga_samples_total{source=\"gateway\",environment=\"prod\"} 1",
        "folga_rejects_total{source=\"gateway\",environment=\"prod\"} 1",
        "folga_clock_skew_seconds{source=\"gateway\",environment=\"prod\"} 0",
    ] {
        assert!(metrics.body.contains(line), "{line}\n{}", metrics.body);
    }
}
