//! What is stored stays: read twice, read late, lost at the producer or dropped from the catalog, no count gets smaller
//! and none is counted twice.

use std::collections::BTreeMap;

use folga::{app::App, catalog::Catalog, clock::Clock, worker};
use serde_json::{Value, json};

use super::{
    source::MESSAGING,
    support::{
        Bench, at,
        catalogs::{HEAD, MESSAGES, THIRTY, drain, limit, limits, messages, put, put_counter, report},
    },
};

const FIVE_PAST: &str = "m:messages:202503101205";
const NOON: &str = "2025-03-10T12:00:00Z";
const ONE: &str = "2025-03-10T13:00:00Z";

/// Total and peak of a limit in the hour from noon on.
async fn noon(bench: &Bench, id: &str) -> (Value, Value) {
    figures(&report(bench, NOON, ONE).await, id)
}

fn figures(report: &Value, id: &str) -> (Value, Value) {
    let limit = limit(report, id);
    (limit["total"].clone(), limit["peak"]["value"].clone())
}

fn of(total: u64, peak: u64) -> (Value, Value) {
    (json!(total), json!(peak))
}

async fn increment(bench: &Bench, key: &str, field: &str, by: i64) {
    redis::cmd("HINCRBY")
        .arg(bench.key(key))
        .arg(field)
        .arg(by)
        .exec_async(&mut bench.redis().await)
        .await
        .unwrap();
}

async fn delete(bench: &Bench, key: &str) {
    redis::cmd("DEL")
        .arg(bench.key(key))
        .exec_async(&mut bench.redis().await)
        .await
        .unwrap();
}

/// How many rows a table has.
async fn rows(bench: &Bench, table: &str) -> i64 {
    let query = sqlx::AssertSqlSafe(format!("SELECT count(*) FROM {table}"));
    sqlx::query_scalar(query).fetch_one(&bench.pool).await.unwrap()
}

#[tokio::test]
async fn an_hour_keeps_what_its_vanished_keys_held() {
    let sent = "source = \"messaging\"\nscope = \"session\"\nendpoints = [\"wasender\"]\nlimit = 60\nwindow = \"1m\"";
    let bench = Bench::new(&[HEAD, MESSAGING, &limits(&[("sent", sent)])].concat()).await;
    let key = bench.key("wa:metrics:s1:202503101200");
    put(&bench, key, &[(b"wasender:ok", b"10")]).await;
    drain(&bench, "2025-03-10T12:02:00Z").await.succeeded();
    delete(&bench, "wa:metrics:s1:202503101200").await;
    let key = bench.key("wa:metrics:s1:202503101240");
    put(&bench, key, &[(b"wasender:ok", b"5")]).await;
    // Of the life of 300 s nothing before 12:37 is left: the minutes from 12:01 on were never read.
    let ran = drain(&bench, "2025-03-10T12:41:05Z").await.exited(3);
    let gap = "not covered: 2025-03-10T12:01:00Z to 2025-03-10T12:37:00Z";
    assert!(ran.stdout.contains(gap), "{}", ran.stdout);
    assert_eq!(noon(&bench, "sent").await, of(15, 10));
}

#[tokio::test]
async fn after_downtime_every_key_that_is_left_is_read() {
    let bench = Bench::new(&messages(&[("messages", THIRTY)])).await;
    for minute in 0..110 {
        let key = format!("m:messages:20250310{}{:02}", 12 + minute / 60, minute % 60);
        put(&bench, bench.key(&key), &[(b"esc-1", b"1")]).await;
    }
    drain(&bench, "2025-03-10T13:50:30Z").await.succeeded();
    assert_eq!(noon(&bench, "messages").await, of(60, 1));
    let report = report(&bench, ONE, "2025-03-10T13:50:30Z").await;
    // The running hour is none yet.
    assert_eq!(figures(&report, "messages").0, json!(0));
    let report = report_at(&bench, ONE, "2025-03-10T14:00:00Z", "2025-03-10T13:50:30Z").await;
    assert_eq!(figures(&report, "messages"), of(50, 1));
    assert_eq!(report["coverage"][0]["gaps"], json!([]));
}

/// A report of a period as of an instant.
async fn report_at(bench: &Bench, from: &str, to: &str, now: &str) -> Value {
    let arguments = [
        "report", "--env", "prod", "--format", "json", "--from", from, "--to", to,
    ];
    bench.folga(&arguments).at(now).run().await.succeeded().json()
}

#[tokio::test]
async fn what_downtime_lost_is_a_gap_that_is_told_once() {
    let bench = Bench::new(&messages(&[("messages", THIRTY)])).await;
    put(&bench, bench.key("m:messages:202503101155"), &[(b"esc-1", b"1")]).await;
    drain(&bench, "2025-03-10T12:00:10Z").await.succeeded();
    // Down until 14:30:30: the key of 12:30 died at 14:30:00, those from 12:31 on are left.
    delete(&bench, "m:messages:202503101155").await;
    for minute in 31..60 {
        let key = bench.key(&format!("m:messages:2025031012{minute}"));
        put(&bench, key, &[(b"esc-1", b"1")]).await;
    }
    let ran = drain(&bench, "2025-03-10T14:30:30Z").await.exited(3);
    let gap = "not covered: 2025-03-10T12:00:00Z to 2025-03-10T12:31:00Z";
    assert!(ran.stdout.contains(gap), "{}", ran.stdout);
    let report = report(&bench, NOON, ONE).await;
    assert_eq!(figures(&report, "messages"), of(29, 1));
    let coverage = &report["coverage"][0];
    assert_eq!(
        (&coverage["minutes"], &coverage["covered"]),
        (&json!(60), &json!(29))
    );
    assert_eq!(
        coverage["gaps"],
        json!([{"from": NOON, "to": "2025-03-10T12:31:00Z"}])
    );
    // The same gap again is no news.
    drain(&bench, "2025-03-10T14:30:40Z").await.succeeded();
}

#[tokio::test]
async fn draining_again_changes_nothing() {
    let bench = Bench::new(&messages(&[("messages", THIRTY)])).await;
    put(&bench, bench.key(FIVE_PAST), &[(b"esc-1", b"7")]).await;
    for now in ["12:10:00", "12:10:00", "12:11:00"] {
        drain(&bench, &format!("2025-03-10T{now}Z")).await.succeeded();
        assert_eq!(noon(&bench, "messages").await, of(7, 7));
        for table in ["minute_counts", "hourly", "series_hourly", "daily"] {
            assert_eq!(rows(&bench, table).await, 1, "{table}");
        }
    }
}

#[tokio::test]
async fn a_late_write_lands_in_its_own_hour() {
    let bench = Bench::new(&messages(&[("messages", THIRTY)])).await;
    put(&bench, bench.key("m:messages:202503101258"), &[(b"esc-1", b"3")]).await;
    drain(&bench, "2025-03-10T13:01:00Z").await.succeeded();
    assert_eq!(noon(&bench, "messages").await, of(3, 3));
    increment(&bench, "m:messages:202503101258", "esc-1", 4).await;
    drain(&bench, "2025-03-10T13:06:00Z").await.succeeded();
    assert_eq!(noon(&bench, "messages").await, of(7, 7));
    assert_eq!(rows(&bench, "hourly").await, 1);
}

#[tokio::test]
async fn keys_that_never_die_are_stored_once_or_refused() {
    let bench = Bench::new(&messages(&[("messages", THIRTY)])).await;
    for (minute, field, count) in [("202411010000", "esc-1", 50), ("202503090000", "esc-2", 5)] {
        increment(&bench, &format!("m:messages:{minute}"), field, count).await;
    }
    for now in ["2025-03-10T12:10:00Z", "2025-03-10T12:15:00Z"] {
        let ran = drain(&bench, now).await.exited(3);
        let refused = format!(
            "refused {}: its hour is sealed",
            bench.key("m:messages:202411010000")
        );
        assert!(ran.stdout.contains(&refused), "{}", ran.stdout);
        bench.folga(&["retention"]).at(now).run().await.succeeded();
        let report = report(&bench, "2025-03-09T00:00:00Z", "2025-03-09T01:00:00Z").await;
        assert_eq!(figures(&report, "messages"), of(5, 5));
        assert_eq!(rows(&bench, "minute_counts").await, 1);
        assert_eq!(rows(&bench, "hourly").await, 1);
    }
}

#[tokio::test]
async fn totals_are_exact_at_any_size_and_nothing_is_null() {
    let bench = Bench::new(&messages(&[("messages", THIRTY)])).await;
    let most = i64::MAX.to_string();
    let fields: Vec<(&[u8], &[u8])> = [b"a", b"b", b"c"].map(|id| (&id[..], most.as_bytes())).to_vec();
    put(&bench, bench.key(FIVE_PAST), &fields).await;
    put(
        &bench,
        bench.key("m:messages:202503101305"),
        &[(b"a", b"40"), (b"b", b"2")],
    )
    .await;
    drain(&bench, "2025-03-10T13:10:00Z").await.succeeded();
    // 3 × (2^63 - 1), of one hour and of a whole day with 42 more.
    for (to, total) in [
        (ONE, "27670116110564327421"),
        ("2025-03-11T12:00:00Z", "27670116110564327463"),
    ] {
        let arguments = [
            "report", "--env", "prod", "--format", "json", "--from", NOON, "--to", to,
        ];
        let ran = bench
            .folga(&arguments)
            .at("2025-03-11T12:00:00Z")
            .run()
            .await
            .succeeded();
        assert!(
            ran.stdout.contains(&format!("\"total\": {total},")),
            "{}",
            ran.stdout
        );
    }
    let day = report(&bench, "2025-03-10T00:00:00Z", "2025-03-11T00:00:00Z").await;
    assert_eq!(
        limit(&day, "messages")["total"].to_string(),
        "27670116110564327463"
    );
    let one = report(&bench, ONE, "2025-03-10T14:00:00Z").await;
    assert_eq!(figures(&one, "messages"), of(42, 40));
    let empty = report(&bench, ONE, ONE).await;
    assert_eq!(limit(&empty, "messages")["total"], 0);
    assert_eq!(limit(&empty, "messages")["peak"], Value::Null);
}

const PORTAL: &str = r#"
[[source]]
name = "portal"
kind = "counter"
key = "{env}metrics:{endpoint}:{identity}:{minute}"
scope = "tenant"
ttl = "2h"
schedule = "0 */5 * * * *"
find = "scan"
"#;

/// What a job in this process needs, with connections of its own.
async fn open(bench: &Bench, now: &str) -> App {
    let variable = |name: &str| match name {
        "FOLGA_REDIS_URL" => Some(bench.redis_url.clone()),
        "FOLGA_DATABASE_URL" => Some(bench.database_url.clone()),
        "FOLGA_IDENTITY_KEY" => Some("an identity key for tests".to_owned()),
        _ => None,
    };
    let catalog = Catalog::load(&bench.folder.join("folga.toml"), &variable, true).unwrap();
    App::open(catalog, Clock::new(Some(at(now)))).await.unwrap()
}

#[tokio::test]
async fn two_sources_that_feed_one_hour_at_the_same_moment_lose_no_fold() {
    let both = "source = [\"gateway\", \"portal\"]\nendpoints = [\"messages\"]\nlimit = 30\nwindow = \"15m\"";
    let bench = Bench::new(&[HEAD, MESSAGES, PORTAL, &limits(&[("both", both)])].concat()).await;
    let (one, other) = (
        open(&bench, "2025-03-10T12:10:00Z").await,
        open(&bench, "2025-03-10T12:10:00Z").await,
    );
    let mut redis = bench.redis().await;
    let (hash, counter) = (
        bench.key(FIVE_PAST),
        bench.key("metrics:messages:esc-1:202503101206"),
    );
    for round in 1..=200 {
        redis::pipe()
            .cmd("HINCRBY")
            .arg(&hash)
            .arg("esc-1")
            .arg(1)
            .cmd("INCRBY")
            .arg(&counter)
            .arg(2)
            .exec_async(&mut redis)
            .await
            .unwrap();
        let drained = |app: &App, source: &str| {
            let folga = app.folga.clone();
            let source = source.to_owned();
            tokio::spawn(async move {
                let mut targets = worker::targets(&folga.catalog);
                let (source, environment) = targets.find(|(own, _)| own.name == source).unwrap();
                worker::drain::drain(&folga, source, environment).await.run.error
            })
        };
        let (first, second) = tokio::join!(drained(&one, "gateway"), drained(&other, "portal"));
        assert_eq!((first.unwrap(), second.unwrap()), (None, None));
        // One a round in minute 5 and two in minute 6: all of them lie in the window that ends with minute 6.
        let stored: (i64, i64) = sqlx::query_as("SELECT total::bigint, peak FROM hourly")
            .fetch_one(&bench.pool)
            .await
            .unwrap();
        assert_eq!(stored, (3 * round, 3 * round));
    }
    one.close().await.unwrap();
    other.close().await.unwrap();
}
