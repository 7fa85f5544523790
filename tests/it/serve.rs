//! The schedule: it never overlaps, never ends by itself, and ends whole when it is told to.

use std::time::{Duration, Instant};

use chrono::{DateTime, TimeDelta, Utc};
use folga::clock::Clock;
use serde_json::json;

use super::{
    http::CATALOG,
    support::{Behaviour, Bench, Folga, Proxy, SERVERS, Serving, wait_until},
};

/// The catalog with another schedule and patient time limits.
fn every(seconds: u8) -> String {
    let schedule = format!("*/{seconds} * * * * *");
    let limits = "\n[redis]\nconnect_timeout = \"20s\"\nresponse_timeout = \"20s\"\n";
    CATALOG.replace("0 0 * * * *", &schedule) + limits
}

fn serve(bench: &Bench) -> Folga {
    bench.folga(&["--log-format", "json", "serve"])
}

/// Counts `count` for an identity two minutes ago.
async fn count(bench: &Bench, identity: &str, count: &str) {
    let now = Clock::new(None).now();
    let minute = (now - TimeDelta::minutes(2)).format("%Y%m%d%H%M");
    let key = bench.key(&format!("m:messages:{minute}"));
    bench
        .hash(&key, &[(identity, count)], now + TimeDelta::hours(1), now)
        .await;
}

/// All that is stored.
async fn total(bench: &Bench) -> i64 {
    let query = "SELECT coalesce(sum(count), 0)::bigint FROM minute_counts, unnest(counts) AS count";
    sqlx::query_scalar(query).fetch_one(&bench.pool).await.unwrap()
}

/// Makes every write of minutes take this long.
async fn slow_writes(bench: &Bench, seconds: u32) {
    let statement = format!(
        "CREATE FUNCTION slowly() RETURNS trigger LANGUAGE plpgsql AS
         $$ BEGIN PERFORM pg_sleep({seconds}); RETURN NULL; END $$;
         CREATE TRIGGER slowly AFTER INSERT ON minute_counts FOR EACH STATEMENT EXECUTE FUNCTION slowly()"
    );
    sqlx::raw_sql(sqlx::AssertSqlSafe(statement))
        .execute(&bench.pool)
        .await
        .unwrap();
}

async fn quick_writes(bench: &Bench) {
    sqlx::raw_sql("DROP TRIGGER slowly ON minute_counts")
        .execute(&bench.pool)
        .await
        .unwrap();
}

/// Waits until a slow write sleeps.
async fn writing(bench: &Bench) {
    let query =
        "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'PgSleep' AND datname = current_database()";
    wait_until("a drain writes", async || {
        sqlx::query_scalar::<_, i64>(query)
            .fetch_one(&bench.pool)
            .await
            .unwrap()
            > 0
    })
    .await;
}

#[tokio::test]
async fn runs_of_a_source_never_overlap() {
    let bench = Bench::new(&every(1)).await;
    count(&bench, "esc-1", "7").await;
    let proxy = Proxy::start(SERVERS.redis.port()).await;
    proxy.set(Behaviour::Delay(Duration::from_millis(700)));
    let serving = Serving::start(serve(&bench).env("FOLGA_REDIS_URL", proxy.url(&bench.redis_url))).await;
    wait_until("three runs end and ticks are skipped", async || {
        let source = serving.source().await;
        let runs = serving.get("/v1/runs").await.json()["runs"]
            .as_array()
            .unwrap()
            .len();
        runs >= 3 && source["skipped_runs"].as_u64().unwrap() >= 2
    })
    .await;

    let at = |instant: &serde_json::Value| -> DateTime<Utc> { instant.as_str().unwrap().parse().unwrap() };
    let runs = serving.get("/v1/runs").await.json();
    // The newest comes first: each began after the one behind it had ended.
    for pair in runs["runs"].as_array().unwrap().windows(2) {
        assert!(
            at(&pair[0]["started_at"]) >= at(&pair[1]["finished_at"]),
            "{pair:?}"
        );
    }
    assert!(serving.log().contains("still running"), "{}", serving.log());
    assert_eq!(total(&bench).await, 7);
}

#[tokio::test]
async fn a_failed_run_does_not_end_the_schedule() {
    let bench = Bench::new(&every(2)).await;
    count(&bench, "esc-1", "7").await;
    let proxy = Proxy::start(SERVERS.redis.port()).await;
    proxy.set(Behaviour::Cut);
    let serving = Serving::start(serve(&bench).env("FOLGA_REDIS_URL", proxy.url(&bench.redis_url))).await;
    wait_until("a run fails", async || {
        serving.source().await["state"] == "failed"
    })
    .await;
    let answer = serving.get("/health").await;
    assert_eq!(
        (answer.status, &answer.json()["redis"], &answer.json()["status"]),
        (200, &json!("down"), &json!("degraded"))
    );
    assert_eq!(total(&bench).await, 0);

    proxy.set(Behaviour::Pass);
    wait_until("a run succeeds", async || serving.source().await["state"] == "ok").await;
    assert_eq!(total(&bench).await, 7);
    let error = serving.source().await["last_error"].to_string();
    assert!(error.contains("Redis at 127.0.0.1"), "{error}");
    wait_until("Redis is up", async || {
        serving.get("/health").await.json()["status"] == "ok"
    })
    .await;
}

#[tokio::test]
async fn what_is_being_written_is_finished_before_the_end() {
    let bench = Bench::new(CATALOG).await;
    count(&bench, "esc-1", "7").await;
    slow_writes(&bench, 3).await;
    let serving = Serving::start(serve(&bench)).await;
    writing(&bench).await;
    let (code, log, took) = serving.end().await;
    assert_eq!(code, Some(0), "{log}");
    assert!(took < Duration::from_secs(10), "{took:?}");
    assert_eq!(total(&bench).await, 7);
}

#[tokio::test]
async fn what_takes_too_long_is_not_written_and_done_again() {
    let bench = Bench::new(CATALOG).await;
    count(&bench, "esc-1", "7").await;
    slow_writes(&bench, 60).await;
    let serving = Serving::start(serve(&bench)).await;
    writing(&bench).await;
    let (code, log, took) = serving.end().await;
    assert_eq!(code, Some(0), "{log}");
    assert!(took < Duration::from_secs(10), "{took:?}");
    assert_eq!(total(&bench).await, 0);
    // The write that nobody waits for any more holds the trigger's table.
    let end = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity
               WHERE wait_event = 'PgSleep' AND datname = current_database()";
    sqlx::raw_sql(end).execute(&bench.pool).await.unwrap();
    quick_writes(&bench).await;
    let serving = Serving::start(serve(&bench)).await;
    wait_until("the first drain ends", async || {
        serving.source().await["state"] == "ok"
    })
    .await;
    assert_eq!(total(&bench).await, 7);
}

#[tokio::test]
async fn a_second_signal_ends_it_at_once() {
    let bench = Bench::new(CATALOG).await;
    count(&bench, "esc-1", "7").await;
    slow_writes(&bench, 60).await;
    let serving = Serving::start(serve(&bench)).await;
    writing(&bench).await;
    let start = Instant::now();
    serving.signal("INT");
    wait_until("it has heard", async || serving.log().contains("stopping")).await;
    let (code, log, _) = serving.end().await;
    assert_eq!(code, Some(1), "{log}");
    assert!(start.elapsed() < Duration::from_secs(4), "{:?}", start.elapsed());
    assert_eq!(total(&bench).await, 0);
}

#[tokio::test]
async fn a_long_drain_on_the_only_connection_starves_nobody_for_ever() {
    let bench = Bench::new(&(CATALOG.to_owned() + "\n[postgres]\nmax_connections = 1\n")).await;
    count(&bench, "esc-1", "7").await;
    slow_writes(&bench, 7).await;
    let serving = Serving::start(serve(&bench)).await;
    writing(&bench).await;
    let reports =
        futures_util::future::join_all((0..20).map(|_| serving.get("/v1/calibration?env=prod&days=1")));
    let health = async {
        for _ in 0..5 {
            let answer = serving.get("/health").await;
            assert!(
                answer.status == 200 && answer.took < Duration::from_secs(1),
                "{answer:?}"
            );
            tokio::time::sleep(Duration::from_millis(500)).await;
        }
    };
    let (reports, ()) = tokio::join!(reports, health);
    for report in &reports {
        assert!(report.took < Duration::from_secs(11), "{report:?}");
        if report.status == 503 {
            assert!(report.head.contains("retry-after: 5"), "{report:?}");
        } else {
            assert_eq!(report.status, 200, "{report:?}");
        }
    }
    assert!(
        reports.iter().any(|report| report.status == 503),
        "the drain held the connection for 7 s"
    );
    wait_until("the drain ends", async || serving.source().await["state"] == "ok").await;
    assert_eq!(total(&bench).await, 7);
    assert_eq!(serving.get("/v1/calibration?env=prod&days=1").await.status, 200);
}

#[tokio::test]
async fn servers_that_hang_do_not_hold_up_the_end() {
    let bench = Bench::new(&every(1)).await;
    let redis = Proxy::start(SERVERS.redis.port()).await;
    let postgres = Proxy::start(SERVERS.postgres.port()).await;
    let folga = serve(&bench)
        .env("FOLGA_REDIS_URL", redis.url(&bench.redis_url))
        .env("FOLGA_DATABASE_URL", postgres.url(&bench.database_url));
    let serving = Serving::start(folga).await;
    wait_until("the first drain ends", async || {
        serving.source().await["state"] == "ok"
    })
    .await;
    redis.set(Behaviour::Hang);
    postgres.set(Behaviour::Hang);
    wait_until("a drain hangs", async || {
        serving.source().await["running_since"].is_string()
    })
    .await;
    let (code, log, took) = serving.end().await;
    assert_eq!(code, Some(0), "{log}");
    assert!(took < Duration::from_secs(10), "{took:?}");
}
