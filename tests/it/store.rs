//! What is stored stays: read twice, read late, lost at the producer or dropped from the catalog, no count gets smaller
//! and none is counted twice.

use std::collections::BTreeMap;

use folga::{app::App, catalog::Catalog, clock::Clock, worker};
use serde_json::{Value, json};
use sqlx::{Connection as _, PgConnection};

use super::{
    source::MESSAGING,
    support::{
        Bench, SERVERS, at,
        catalogs::{
            HEAD, MESSAGES, THIRTY, drain, limit, limits, messages, put, put_counter, report, report_at,
        },
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
    let report = report_at(&bench, NOON, ONE, "2025-03-10T14:30:30Z").await;
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
    let more: [(&[u8], &[u8]); 2] = [(b"a", b"40"), (b"b", b"2")];
    put(&bench, bench.key("m:messages:202503101305"), &more).await;
    drain(&bench, "2025-03-10T13:10:00Z").await.succeeded();
    // 3 × (2^63 - 1) in one hour, and with 42 more in a whole day.
    for (from, to, total) in [
        (NOON, ONE, "27670116110564327421"),
        (
            "2025-03-10T00:00:00Z",
            "2025-03-11T00:00:00Z",
            "27670116110564327463",
        ),
    ] {
        let arguments = [
            "report", "--env", "prod", "--format", "json", "--from", from, "--to", to,
        ];
        let ran = bench.folga(&arguments).at(to).run().await.succeeded();
        let text = format!("\"total\": {total},");
        assert!(ran.stdout.contains(&text), "{}", ran.stdout);
    }
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

#[tokio::test]
async fn counts_lost_to_a_flush_stay_stored_and_are_doubted() {
    let bench = Bench::with_own_redis(&messages(&[("messages", THIRTY)])).await;
    put(&bench, bench.key("m:messages:202503101204"), &[(b"esc-1", b"3")]).await;
    put(
        &bench,
        bench.key(FIVE_PAST),
        &[(b"esc-1", b"9"), (b"esc-2", b"1")],
    )
    .await;
    drain(&bench, "2025-03-10T12:06:30Z").await.succeeded();
    redis::cmd("FLUSHALL")
        .exec_async(&mut bench.redis().await)
        .await
        .unwrap();
    // One key is gone, the other one has begun again.
    increment(&bench, FIVE_PAST, "esc-1", 2).await;
    let ran = drain(&bench, "2025-03-10T12:08:00Z").await.exited(3);
    let gap = "not covered: 2025-03-10T12:04:00Z to 2025-03-10T12:06:00Z";
    assert!(ran.stdout.contains(gap), "{}", ran.stdout);
    drain(&bench, "2025-03-10T12:08:30Z").await.succeeded();
    let report = report_at(&bench, NOON, ONE, "2025-03-10T12:08:30Z").await;
    assert_eq!(figures(&report, "messages"), of(13, 9));
    assert_eq!(
        report["coverage"][0]["gaps"],
        json!([{"from": "2025-03-10T12:04:00Z", "to": "2025-03-10T12:06:00Z"}])
    );
}

#[tokio::test]
async fn a_sealed_hour_takes_nothing_more_and_loses_nothing() {
    let bench = Bench::new(&messages(&[("messages", THIRTY)])).await;
    put(&bench, bench.key("m:messages:202503011205"), &[(b"esc-1", b"9")]).await;
    drain(&bench, "2025-03-01T12:10:00Z").await.succeeded();
    bench
        .folga(&["retention"])
        .at("2025-03-10T12:00:00Z")
        .run()
        .await
        .succeeded();
    assert_eq!(rows(&bench, "minute_counts").await, 0);
    put(&bench, bench.key("m:messages:202503011205"), &[(b"esc-1", b"3")]).await;
    put(&bench, bench.key("m:messages:202503011206"), &[(b"esc-1", b"99")]).await;
    for now in ["2025-03-10T12:10:00Z", "2025-03-10T12:11:00Z"] {
        let ran = drain(&bench, now).await.exited(3);
        assert_eq!(
            ran.stdout.matches("its hour is sealed").count(),
            2,
            "{}",
            ran.stdout
        );
        assert_eq!(rows(&bench, "minute_counts").await, 0);
        let report = report(&bench, "2025-03-01T12:00:00Z", "2025-03-01T13:00:00Z").await;
        assert_eq!(figures(&report, "messages"), of(9, 9));
    }
}

#[tokio::test]
async fn a_limit_keeps_its_history_under_another_value_id_and_name() {
    let bench = Bench::new(&messages(&[("messages", THIRTY)])).await;
    put(&bench, bench.key(FIVE_PAST), &[(b"esc-1", b"9")]).await;
    drain(&bench, "2025-03-10T12:10:00Z").await.succeeded();
    let lower = THIRTY.replace("30", "8");
    let catalog = messages(&[("renamed", &lower)]).replace("\"All\"", "\"Others\"");
    bench.write_catalog(&catalog);
    let report = report_at(&bench, NOON, ONE, "2025-03-10T12:10:00Z").await;
    assert_eq!(figures(&report, "renamed"), of(9, 9));
    assert_eq!(report["groups"][0]["name"], "Others");
    let renamed = limit(&report, "renamed");
    assert_eq!(
        (&renamed["limit"], &renamed["status"]),
        (&json!(8), &json!("over"))
    );
    assert_eq!(renamed["would_block"]["requests"], 1);
    assert_eq!(renamed["history_from"], "2025-03-10T12:05:00Z");
}

/// A limit on messages in a window.
fn in_window(window: &str) -> String {
    messages(&[("messages", &THIRTY.replace("1m", window))])
}

#[tokio::test]
async fn another_window_is_counted_from_the_minutes_that_are_left() {
    let bench = Bench::new(&in_window("1m")).await;
    let first = ["2025-03-01T12:00:00Z", "2025-03-01T13:00:00Z"];
    put(&bench, bench.key("m:messages:202503011205"), &[(b"esc-1", b"9")]).await;
    drain(&bench, "2025-03-01T12:10:00Z").await.succeeded();
    put(&bench, bench.key("m:messages:202503101158"), &[(b"esc-1", b"4")]).await;
    put(&bench, bench.key("m:messages:202503101203"), &[(b"esc-1", b"5")]).await;
    drain(&bench, "2025-03-10T12:10:00Z").await.exited(3);
    let now = "2025-03-10T12:30:00Z";
    // Of a window, the figures of the hour from noon and of the first one, and where its history begins. The window
    // that ends with 12:03 holds 4 + 5.
    let of_window = async |window: &str| {
        bench.write_catalog(&in_window(window));
        let noon = report_at(&bench, NOON, ONE, now).await;
        let first = report_at(&bench, first[0], first[1], now).await;
        let history = limit(&noon, "messages")["history_from"].clone();
        (figures(&noon, "messages"), figures(&first, "messages").0, history)
    };
    let born = json!("2025-03-01T12:05:00Z");
    assert_eq!(of_window("15m").await, (of(5, 9), json!(9), born.clone()));

    // Minutes before 2 March 12:30 go: with a reach of 31 minutes, 14:00 is the first hour known whole.
    bench.folga(&["retention"]).at(now).run().await.succeeded();
    assert_eq!(
        of_window("30m").await,
        (of(5, 9), json!(0), json!("2025-03-02T14:00:00Z"))
    );
    assert_eq!(of_window("15m").await, (of(5, 9), json!(9), born.clone()));
    assert_eq!(of_window("1m").await, (of(5, 5), json!(9), born));
}

#[tokio::test]
async fn a_limit_that_was_out_of_the_catalog_misses_nothing() {
    let other = ("other", "endpoints = [\"other\"]\nlimit = 30\nwindow = \"1m\"");
    let with = messages(&[("messages", THIRTY), other]);
    let bench = Bench::new(&with).await;
    put(&bench, bench.key("m:messages:202503101258"), &[(b"esc-1", b"3")]).await;
    drain(&bench, "2025-03-10T13:01:00Z").await.succeeded();
    bench.write_catalog(&messages(&[other]));
    // A late write to an hour that had been folded, and an hour that has not been.
    increment(&bench, "m:messages:202503101258", "esc-1", 4).await;
    put(&bench, bench.key("m:messages:202503101303"), &[(b"esc-1", b"2")]).await;
    drain(&bench, "2025-03-10T13:06:00Z").await.succeeded();
    bench.write_catalog(&with);
    drain(&bench, "2025-03-10T14:30:00Z").await.succeeded();
    assert_eq!(noon(&bench, "messages").await, of(7, 7));
    let report = report(&bench, ONE, "2025-03-10T14:00:00Z").await;
    assert_eq!(figures(&report, "messages"), of(2, 2));
}

#[tokio::test]
async fn days_hold_what_their_hours_hold() {
    let fixed = "endpoints = [\"messages\"]\nlimit = 5\nwindow = \"15m\"\nalgorithm = \"fixed\"";
    let catalog = messages(&[("messages", fixed)]).replace("\"UTC\"", "\"America/Sao_Paulo\"");
    let bench = Bench::new(&catalog).await;
    for (minute, identity, count) in [
        ("202503080300", "esc-1", "4"),
        ("202503081230", "esc-1", "9"),
        ("202503081231", "esc-1", "2"),
        ("202503090259", "esc-1", "7"),
        ("202503090300", "esc-1", "8"),
        ("202503091510", "esc-2", "6"),
        ("202503091520", "esc-2", "6"),
    ] {
        let key = bench.key(&format!("m:messages:{minute}"));
        put(&bench, key, &[(identity.as_bytes(), count.as_bytes())]).await;
    }
    // All but the last two hours can't be vouched for.
    let now = at("2025-03-10T03:10:00Z");
    drain(&bench, "2025-03-10T03:10:00Z").await.exited(3);
    let start = at("2025-03-08T03:00:00Z");
    let text = |hours: i64| (start + chrono::TimeDelta::hours(hours)).to_rfc3339();
    let days = report_at(&bench, &text(0), &text(48), &now.to_rfc3339()).await;
    let days = limit(&days, "messages");
    // The windows hold 4, 9 + 2, 7, 8, 6 and 6; above 5 are 6 + 2 + 3 + 1 + 1 in five of them.
    assert_eq!((&days["total"], &days["peak"]["value"]), (&json!(42), &json!(11)));
    assert_eq!(days["peak"]["at"], "2025-03-08T12:31:00Z");
    assert_eq!(
        days["would_block"],
        json!({"requests": 13, "identity_windows": 5, "exact": true})
    );
    let top: BTreeMap<_, _> = (days["top_identities"].as_array().unwrap().iter())
        .map(|top| (top["identity"].as_str().unwrap(), top["peak"].as_u64().unwrap()))
        .collect();
    assert_eq!(top, BTreeMap::from([("esc-1", 11), ("esc-2", 6)]));
    // UTC-3: 12:31, 03:00, 02:59 and 15:20 are 9:31, 0:00, 23:59 and 12:20.
    let hours: Vec<_> = (days["by_hour"].as_array().unwrap().iter().enumerate())
        .filter_map(|(hour, peak)| Some((hour, peak.as_u64().filter(|peak| *peak > 0)?)))
        .collect();
    assert_eq!(hours, [(0, 8), (9, 11), (12, 6), (23, 7)]);

    let (mut sums, mut peak) = ([0; 3], 0);
    for hour in 0..48 {
        let report = report_at(&bench, &text(hour), &text(hour + 1), &now.to_rfc3339()).await;
        let hour = limit(&report, "messages");
        let blocked = &hour["would_block"];
        for (sum, part) in
            sums.iter_mut()
                .zip([&hour["total"], &blocked["requests"], &blocked["identity_windows"]])
        {
            *sum += part.as_u64().unwrap_or(0);
        }
        peak = peak.max(hour["peak"]["value"].as_u64().unwrap_or(0));
    }
    assert_eq!((sums, peak), ([42, 13, 5], 11));
}

#[tokio::test]
async fn reading_leaves_no_trace_and_needs_no_right_to_write() {
    let own = limits(&[
        ("messages", THIRTY),
        ("portal", &format!("source = \"portal\"\n{THIRTY}")),
    ]);
    let mut bench = Bench::with_own_redis(&[HEAD, MESSAGES, PORTAL, &own].concat()).await;
    let balance = "acme:ratelimit:77".to_owned();
    let (hash, counter) = (
        bench.key(FIVE_PAST),
        bench.key("metrics:messages:esc-1:202503101205"),
    );
    put(&bench, hash.as_str(), &[(b"esc-1", b"7")]).await;
    put_counter(&bench, &counter, "5").await;
    put_counter(&bench, &balance, "12").await;
    let mut redis = bench.redis().await;
    redis::cmd("ACL")
        .arg("SETUSER")
        .arg(&["agg", "on", ">pw", "~*", "+@read", "+@connection"])
        .exec_async(&mut redis)
        .await
        .unwrap();
    let look = async |redis: &mut redis::aio::MultiplexedConnection| {
        let mut seen = redis::pipe();
        seen.cmd("HGETALL")
            .arg(&hash)
            .cmd("GET")
            .arg(&counter)
            .cmd("GET")
            .arg(&balance);
        let values: (Vec<String>, String, String) = seen.query_async(redis).await.unwrap();
        let mut lives = redis::pipe();
        for key in [&hash, &counter, &balance] {
            lives.cmd("PTTL").arg(key);
        }
        let lives: Vec<i64> = lives.query_async(redis).await.unwrap();
        (values, lives)
    };
    let before = look(&mut redis).await;
    bench.redis_url = format!(
        "redis://agg:pw@127.0.0.1:{}",
        bench.own_redis.as_ref().unwrap().port()
    );
    drain(&bench, "2025-03-10T12:10:00Z").await.succeeded();
    assert_eq!(noon(&bench, "messages").await, of(7, 7));
    assert_eq!(noon(&bench, "portal").await, of(5, 5));
    let after = look(&mut redis).await;
    assert_eq!(before.0, after.0);
    for (before, after) in before.1.iter().zip(&after.1) {
        assert!((before - 60_000..=*before).contains(after), "{before} {after}");
    }
}

#[tokio::test]
async fn labels_go_when_their_scope_is_public_no_more_or_they_are_old() {
    let hidden = HEAD.replace("public = true", "public = false");
    assert_ne!(hidden, HEAD);
    let own = limits(&[("messages", THIRTY)]);
    let labels = async |bench: &Bench| -> Vec<String> {
        sqlx::query_scalar("SELECT label FROM labels")
            .fetch_all(&bench.pool)
            .await
            .unwrap()
    };
    for (head, later, kept) in [
        // 90 days after 2025-03-10 is 2025-06-08.
        (HEAD, "2025-06-08T12:00:00Z", vec!["esc-1".to_owned()]),
        (HEAD, "2025-06-10T12:00:00Z", Vec::new()),
        (&*hidden, "2025-03-10T13:00:00Z", Vec::new()),
    ] {
        let bench = Bench::new(&[HEAD, MESSAGES, &own].concat()).await;
        put(&bench, bench.key(FIVE_PAST), &[(b"esc-1", b"3")]).await;
        drain(&bench, "2025-03-10T12:10:00Z").await.succeeded();
        assert_eq!(labels(&bench).await, ["esc-1"]);
        bench.write_catalog(&[head, MESSAGES, &own].concat());
        bench.folga(&["retention"]).at(later).run().await.succeeded();
        assert_eq!(labels(&bench).await, kept, "{later}");
    }
}

#[tokio::test]
async fn a_database_of_an_earlier_version_is_upgraded_with_its_rows() {
    let mut bench = Bench::new(&messages(&[("messages", THIRTY)])).await;
    let mut admin = PgConnection::connect(&SERVERS.postgres_url("postgres"))
        .await
        .unwrap();
    sqlx::raw_sql("CREATE DATABASE earlier")
        .execute(&mut admin)
        .await
        .unwrap();
    bench.database_url = SERVERS.postgres_url("earlier");
    let mut earlier = PgConnection::connect(&bench.database_url).await.unwrap();
    sqlx::migrate!("./migrations")
        .run_to(1, &mut earlier)
        .await
        .unwrap();
    // Of two identities that peak at 9 the earlier minute is kept, whatever the order.
    sqlx::raw_sql(
        "INSERT INTO series_hourly VALUES (1, '2025-03-10T12:00Z', 30, '{5, 6, 7}', '{10, 11, 9}', '{4, 9, 9}', '{1, 40, 30}')",
    )
    .execute(&mut earlier)
    .await
    .unwrap();
    let ran = bench.folga(&["migrate"]).run().await.succeeded();
    assert!(ran.stdout.starts_with("4 steps applied"), "{}", ran.stdout);
    let largest: (i32, i64, i16, i64) =
        sqlx::query_as("SELECT identities, peak, peak_minute, peak_id FROM series_hourly")
            .fetch_one(&mut earlier)
            .await
            .unwrap();
    assert_eq!(largest, (3, 9, 30, 7));
}
