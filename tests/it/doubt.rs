//! What nobody can vouch for is told as a gap: counts that were lost before or while they were read. Counts that were
//! merely read by another worker are not.

use std::time::Duration;

use serde_json::{Value, json};

use super::{
    source::MESSAGING,
    support::{
        Behaviour, Bench, Folga, Proxy, SERVERS,
        catalogs::{HEAD, MESSAGES, THIRTY, commands, drain, limit, limits, messages, put, reset_commands},
        wait_until,
    },
};

const NOW: &str = "2025-03-10T12:10:00Z";
const FIVE_PAST: &str = "m:messages:202503101205";
const SIX_PAST: &str = "m:messages:202503101206";

async fn send(bench: &Bench, command: &str, arguments: &[&str]) {
    redis::cmd(command)
        .arg(arguments)
        .exec_async(&mut bench.redis().await)
        .await
        .unwrap();
}

/// The report of the hour from noon on.
async fn noon(bench: &Bench, now: &str) -> Value {
    let period = ["--from", "2025-03-10T12:00:00Z", "--to", "2025-03-10T13:00:00Z"];
    let arguments = [&["report", "--env", "prod", "--format", "json"][..], &period].concat();
    bench.folga(&arguments).at(now).run().await.succeeded().json()
}

/// One minute after noon as a gap.
fn minute(minute: u8) -> Value {
    let text = |minute| format!("2025-03-10T12:{minute:02}:00Z");
    json!({"from": text(minute), "to": text(minute + 1)})
}

/// Waits until a Redis has been sent a command so often.
async fn sent(bench: &Bench, command: &str, times: u64) {
    let mut redis = bench.redis().await;
    wait_until(command, async || {
        commands(&mut redis).await.get(command).copied().unwrap_or(0) >= times
    })
    .await;
}

/// A world whose drains go through proxies, and a drain that stands before its first word to Redis.
struct Held {
    bench: Bench,
    redis: Proxy,
    postgres: Proxy,
    drain: tokio::process::Child,
}

impl Held {
    async fn new(bench: Bench) -> Self {
        // The first run takes the catalog in, so that nothing is left for this one but to drain.
        noon(&bench, NOW).await;
        let redis = Proxy::start(bench.own_redis.as_ref().unwrap().port()).await;
        let postgres = Proxy::start(SERVERS.postgres.port()).await;
        redis.set(Behaviour::Hang);
        reset_commands(&mut bench.redis().await).await;
        let folga: Folga = bench
            .folga(&["drain"])
            .env("FOLGA_REDIS_URL", redis.url(&bench.redis_url))
            .env("FOLGA_DATABASE_URL", postgres.url(&bench.database_url));
        let drain = folga.at(NOW).spawn();
        wait_until("the drain asks Redis", async || redis.connections() > 0).await;
        Self {
            bench,
            redis,
            postgres,
            drain,
        }
    }

    /// Exit code and results of the drain.
    async fn ended(self) -> (Bench, Option<i32>, String) {
        let output = tokio::time::timeout(Duration::from_mins(1), self.drain.wait_with_output());
        let output = output.await.expect("it ends within a minute").unwrap();
        let said = [output.stdout, output.stderr].concat();
        (self.bench, output.status.code(), String::from_utf8(said).unwrap())
    }
}

#[tokio::test]
async fn an_outcome_that_vanished_from_its_hash_is_doubted() {
    let of = |endpoint: &str| {
        format!(
            "source = \"messaging\"\nscope = \"session\"\nendpoints = [\"{endpoint}\"]\nlimit = 60\nwindow = \"1m\""
        )
    };
    let own = limits(&[("wasender", &of("wasender")), ("twilio", &of("twilio"))]);
    let bench = Bench::new(&[HEAD, MESSAGING, &own].concat()).await;
    let key = bench.key("wa:metrics:s1:202503101200");
    put(&bench, &*key, &[(b"wasender:ok", b"10"), (b"twilio:ok", b"5")]).await;
    drain(&bench, "2025-03-10T12:02:00Z").await.succeeded();
    // The hash was lost and begun again: one of its fields has grown past what it held, the other one is not back.
    send(&bench, "HDEL", &[&key, "twilio:ok"]).await;
    send(&bench, "HSET", &[&key, "wasender:ok", "12"]).await;
    let now = "2025-03-10T12:03:00Z";
    let ran = drain(&bench, now).await.exited(3);
    let gap = "not covered: 2025-03-10T12:00:00Z to 2025-03-10T12:01:00Z";
    assert!(ran.stdout.contains(gap), "{}", ran.stdout);
    let report = noon(&bench, now).await;
    for (id, total) in [("wasender", 12), ("twilio", 5)] {
        assert_eq!(limit(&report, id)["total"], total, "{id}");
    }
    assert_eq!(report["coverage"][0]["gaps"], json!([minute(0)]));
}

#[tokio::test]
async fn a_key_that_vanishes_between_finding_and_reading_is_refused_and_doubted() {
    let bench = Bench::with_own_redis(&messages(&[("messages", THIRTY)])).await;
    let first = bench.key("m:messages:202503101204");
    let (gone, left) = (bench.key(FIVE_PAST), bench.key(SIX_PAST));
    for (key, count) in [(&first, b"1"), (&gone, b"9"), (&left, b"4")] {
        put(&bench, key.as_str(), &[(b"esc-1", count)]).await;
    }
    let held = Held::new(bench).await;
    held.redis.set(Behaviour::Delay(Duration::from_millis(500)));
    sent(&held.bench, "scan", 1).await;
    send(&held.bench, "DEL", &[&gone]).await;
    let (bench, code, said) = held.ended().await;
    assert_eq!(code, Some(3), "{said}");
    for expected in [
        format!("refused {gone}: it was gone before it could be read (1)"),
        "not covered: 2025-03-10T12:05:00Z to 2025-03-10T12:06:00Z".to_owned(),
    ] {
        assert!(said.contains(&expected), "{said}");
    }
    // It is told once; the gap stays.
    let now = "2025-03-10T12:11:00Z";
    drain(&bench, now).await.succeeded();
    let report = noon(&bench, now).await;
    assert_eq!(limit(&report, "messages")["total"], 5);
    assert_eq!(report["coverage"][0]["gaps"], json!([minute(5)]));
}

#[tokio::test]
async fn a_key_that_its_index_names_in_vain_is_refused_and_doubted() {
    let source = MESSAGES.replace("\"scan\"", "{ index = \"{env}midx:{minute}\" }");
    let bench = Bench::new(&[HEAD, &source, &limits(&[("messages", THIRTY)])].concat()).await;
    put(&bench, bench.key(FIVE_PAST), &[(b"esc-1", b"9")]).await;
    for (set, key) in [("202503101205", FIVE_PAST), ("202503101206", SIX_PAST)] {
        let set = bench.key(&format!("midx:{set}"));
        send(&bench, "SADD", &[&set, &bench.key(key)]).await;
    }
    let ran = drain(&bench, NOW).await.exited(3);
    let refused = format!(
        "refused {}: it was gone before it could be read (1)",
        bench.key(SIX_PAST)
    );
    assert!(ran.stdout.contains(&refused), "{}", ran.stdout);
    let report = noon(&bench, NOW).await;
    assert_eq!(limit(&report, "messages")["total"], 9);
    assert_eq!(report["coverage"][0]["gaps"], json!([minute(6)]));
}

#[tokio::test]
async fn a_key_asked_for_by_name_may_well_not_exist() {
    let source = MESSAGES.replace("\"scan\"", "{ endpoints = [\"messages\"] }");
    let bench = Bench::new(&[HEAD, &source, &limits(&[("messages", THIRTY)])].concat()).await;
    put(&bench, bench.key(FIVE_PAST), &[(b"esc-1", b"9")]).await;
    drain(&bench, NOW).await.succeeded();
    assert_eq!(noon(&bench, NOW).await["coverage"][0]["gaps"], json!([]));
}

#[tokio::test]
async fn a_worker_that_another_one_overtakes_doubts_nothing() {
    let bench = Bench::with_own_redis(&messages(&[("messages", THIRTY)])).await;
    put(&bench, bench.key(FIVE_PAST), &[(b"esc-1", b"5")]).await;
    let held = Held::new(bench).await;
    // It reads 5, and cannot write yet.
    held.postgres.set(Behaviour::Hang);
    held.redis.set(Behaviour::Pass);
    sent(&held.bench, "hgetall", 1).await;
    tokio::time::sleep(Duration::from_millis(300)).await;
    // Late writes, to that key and to one that was not there; another worker reads and writes them first.
    send(
        &held.bench,
        "HINCRBY",
        &[&held.bench.key(FIVE_PAST), "esc-1", "2"],
    )
    .await;
    put(&held.bench, held.bench.key(SIX_PAST), &[(b"esc-1", b"4")]).await;
    drain(&held.bench, NOW).await.succeeded();
    held.postgres.set(Behaviour::Pass);
    let (bench, code, said) = held.ended().await;
    assert_eq!(code, Some(0), "{said}");
    let report = noon(&bench, NOW).await;
    assert_eq!(limit(&report, "messages")["total"], 11);
    assert_eq!(report["coverage"][0]["gaps"], json!([]));

    // What rises later is no reason to doubt either, and what is lost later still is.
    send(&bench, "HINCRBY", &[&bench.key(FIVE_PAST), "esc-1", "1"]).await;
    drain(&bench, NOW).await.succeeded();
    send(&bench, "DEL", &[&bench.key(SIX_PAST)]).await;
    drain(&bench, NOW).await.exited(3);
    let report = noon(&bench, NOW).await;
    assert_eq!(limit(&report, "messages")["total"], 12);
    assert_eq!(report["coverage"][0]["gaps"], json!([minute(6)]));
}

#[tokio::test]
async fn a_read_that_breaks_off_keeps_what_it_has_and_vouches_for_no_more() {
    let bench = Bench::with_own_redis(&messages(&[("messages", THIRTY)])).await;
    for minute in 0..60 {
        let key = bench.key(&format!("m:messages:2025031011{minute:02}"));
        put(&bench, key, &[(b"esc-1", b"2")]).await;
    }
    let held = Held::new(bench).await;
    // The first four keys come as one answer, the next ones as another, which never arrives.
    held.redis.set(Behaviour::Delay(Duration::from_millis(400)));
    sent(&held.bench, "hgetall", 5).await;
    held.redis.set(Behaviour::Cut);
    let (bench, code, said) = held.ended().await;
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("failed: the connection to Redis broke"), "{said}");
    let eleven = async || {
        let period = ["--from", "2025-03-10T11:00:00Z", "--to", "2025-03-10T12:00:00Z"];
        let arguments = [&["report", "--env", "prod", "--format", "json"][..], &period].concat();
        let report = bench.folga(&arguments).at(NOW).run().await.succeeded().json();
        let covered = report["coverage"][0]["covered"].clone();
        (limit(&report, "messages")["total"].clone(), covered)
    };
    // Of 11:03, the last one that was read, there might have been more.
    assert_eq!(eleven().await, (json!(8), json!(3)));
    drain(&bench, NOW).await.succeeded();
    assert_eq!(eleven().await, (json!(120), json!(60)));
}

#[tokio::test]
async fn a_drain_may_lose_the_reply_to_any_of_its_commits() {
    for committed in ["minute_counts", "source_states WHERE gaps_before IS NOT NULL"] {
        let bench = Bench::with_own_redis(&messages(&[("messages", THIRTY)])).await;
        put(&bench, bench.key(FIVE_PAST), &[(b"esc-1", b"7")]).await;
        let held = Held::new(bench).await;
        held.postgres.set(Behaviour::Delay(Duration::from_millis(200)));
        held.redis.set(Behaviour::Pass);
        // The reply to the commit that shows is still on its way when the next one's is cut.
        wait_until(committed, async || {
            let query = sqlx::AssertSqlSafe(format!("SELECT count(*) FROM {committed}"));
            let rows: i64 = sqlx::query_scalar(query)
                .fetch_one(&held.bench.pool)
                .await
                .unwrap();
            rows > 0
        })
        .await;
        held.postgres.set(Behaviour::CutAfterCommit);
        let (bench, code, said) = held.ended().await;
        assert_eq!(code, Some(1), "{committed}\n{said}");
        assert!(said.contains("the connection to Postgres broke"), "{said}");
        for _ in 0..2 {
            let report = noon(&bench, NOW).await;
            assert_eq!(limit(&report, "messages")["total"], 7, "{committed}");
            assert_eq!(report["coverage"][0]["gaps"], json!([]), "{committed}");
            drain(&bench, NOW).await.succeeded();
        }
    }
}
