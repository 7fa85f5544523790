//! Whatever breaks off a drain, wherever: nothing is written by halves, nothing is counted twice, nothing is lost.

use std::{
    hash::{BuildHasher as _, RandomState},
    sync::Arc,
    time::{Duration, Instant},
};

use folga::{
    catalog::{Catalog, Secret},
    clock::Clock,
    servers::PrivatePostgres,
    source::Identities,
    store::{Store, runs::RunOutcome},
    worker::{Folga as Jobs, drain::drain as drain_in_process, sync::sync, targets},
};
use serde_json::json;
use sqlx::{AssertSqlSafe, PgPool, postgres::PgPoolOptions};
use tokio::process::Child;

use super::support::{
    Behaviour, Bench, Folga, Proxy, SERVERS, at,
    catalogs::{THIRTY, drain, limit, messages, put, report},
    signal, wait_until,
};

const NOW: &str = "2025-03-10T12:10:00Z";
const HOUR: [&str; 2] = ["2025-03-10T12:00:00Z", "2025-03-10T13:00:00Z"];
const MINUTE: &str = "m:messages:202503101205";

fn catalog() -> String {
    messages(&[("messages", THIRTY)])
}

/// A world in which one tenant has this many messages.
async fn world(count: &str) -> Bench {
    let bench = Bench::new(&catalog()).await;
    put(&bench, bench.key(MINUTE), &[(b"esc-1", count.as_bytes())]).await;
    bench
}

/// A world with a Postgres of its own, for what stops it or makes it hang.
async fn on_own_postgres(count: &str) -> (Bench, PrivatePostgres) {
    let mut bench = world(count).await;
    let postgres = PrivatePostgres::start().unwrap();
    bench.database_url = postgres.url("postgres");
    bench.pool = pool(&bench.database_url);
    bench.folga(&["migrate"]).run().await.succeeded();
    (bench, postgres)
}

fn pool(url: &str) -> PgPool {
    PgPoolOptions::new().max_connections(2).connect_lazy(url).unwrap()
}

/// A drain through proxies, running.
fn start(folga: Folga) -> Child {
    folga.at(NOW).spawn()
}

/// Exit code, results and log of a drain that was started.
async fn ended(child: Child) -> (Option<i32>, String) {
    let output = tokio::time::timeout(Duration::from_mins(1), child.wait_with_output())
        .await
        .expect("it ends within a minute")
        .unwrap();
    let said = [output.stdout, output.stderr].concat();
    (output.status.code(), String::from_utf8(said).unwrap())
}

/// What the minute rows, the hourly rows of the limit and those of the series add up to, seen at one instant.
async fn totals(pool: &PgPool) -> [i64; 3] {
    let totals: (i64, i64, i64) = sqlx::query_as(
        "SELECT (SELECT coalesce(sum(count), 0)::bigint FROM minute_counts, unnest(counts) AS count),
                (SELECT coalesce(sum(total), 0)::bigint FROM hourly),
                (SELECT coalesce(sum(total), 0)::bigint FROM series_hourly)",
    )
    .fetch_one(pool)
    .await
    .unwrap();
    totals.into()
}

async fn reported(bench: &Bench) -> serde_json::Value {
    limit(&report(bench, HOUR[0], HOUR[1]).await, "messages")["total"].clone()
}

async fn waits_for(pool: &PgPool, event: &str) {
    wait_until(event, async || {
        let query = "SELECT count(*) FROM pg_stat_activity
                     WHERE wait_event = $1 AND datname = current_database() AND application_name = 'folga'";
        let waiting: i64 = sqlx::query_scalar(query)
            .bind(event)
            .fetch_one(pool)
            .await
            .unwrap();
        waiting > 0
    })
    .await;
}

/// Makes every write of minutes take this long.
async fn slow_writes(pool: &PgPool, seconds: u32) {
    let statement = format!(
        "CREATE FUNCTION slowly() RETURNS trigger LANGUAGE plpgsql AS
         $$ BEGIN PERFORM pg_sleep({seconds}); RETURN NULL; END $$;
         CREATE TRIGGER slowly AFTER INSERT ON minute_counts FOR EACH STATEMENT EXECUTE FUNCTION slowly()"
    );
    sqlx::raw_sql(AssertSqlSafe(statement))
        .execute(pool)
        .await
        .unwrap();
}

/// Holds a drain before it reads anything, and gives it with the proxies it goes through.
async fn held(bench: &Bench, redis_port: u16, postgres_port: u16) -> (Child, Proxy, Proxy) {
    // The first run takes the catalog in, so that the next commit is that of the drain.
    bench
        .folga(&["report", "--env", "prod"])
        .at(NOW)
        .run()
        .await
        .succeeded();
    let redis = Proxy::start(redis_port).await;
    let postgres = Proxy::start(postgres_port).await;
    redis.set(Behaviour::Hang);
    let folga = bench
        .folga(&["drain"])
        .env("FOLGA_REDIS_URL", redis.url(&bench.redis_url))
        .env("FOLGA_DATABASE_URL", postgres.url(&bench.database_url));
    let child = start(folga);
    wait_until("the drain asks Redis", async || redis.connections() > 0).await;
    (child, redis, postgres)
}

#[tokio::test]
async fn a_commit_whose_reply_is_lost_is_tried_again_and_counted_once() {
    let bench = world("7").await;
    let (child, redis, postgres) = held(&bench, SERVERS.redis.port(), SERVERS.postgres.port()).await;
    postgres.set(Behaviour::CutAfterCommit);
    redis.set(Behaviour::Pass);
    let (code, said) = ended(child).await;
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("writing a drain failed, trying again"), "{said}");
    assert_eq!(postgres.behaviour(), Behaviour::Pass);
    assert_eq!(totals(&bench.pool).await, [7; 3]);

    drain(&bench, NOW).await.succeeded();
    assert_eq!(totals(&bench.pool).await, [7; 3]);
    assert_eq!(reported(&bench).await, 7);
}

#[tokio::test]
async fn a_start_whose_commit_loses_its_reply_says_so_and_the_next_stores_everything() {
    let bench = world("7").await;
    let postgres = Proxy::start(SERVERS.postgres.port()).await;
    postgres.set(Behaviour::CutAfterCommit);
    let folga = bench
        .folga(&["drain"])
        .env("FOLGA_DATABASE_URL", postgres.url(&bench.database_url));
    let ran = folga.at(NOW).run().await.exited(1);
    assert!(ran.stderr.contains("the connection to Postgres broke"), "{ran:?}");
    drain(&bench, NOW).await.succeeded();
    assert_eq!(totals(&bench.pool).await, [7; 3]);
}

#[tokio::test]
async fn a_stopped_postgres_fails_the_drain_and_costs_nothing() {
    let (bench, mut postgres) = on_own_postgres("9").await;
    postgres.stop().unwrap();
    let ran = drain(&bench, NOW).await.exited(1);
    for expected in ["Postgres", "check that it runs"] {
        assert!(ran.stderr.contains(expected), "{ran:?}");
    }
    let left: i64 = redis::cmd("HGET")
        .arg(bench.key(MINUTE))
        .arg("esc-1")
        .query_async(&mut bench.redis().await)
        .await
        .unwrap();
    assert_eq!(left, 9);

    postgres.restart().unwrap();
    drain(&bench, NOW).await.succeeded();
    assert_eq!(totals(&bench.pool).await, [9; 3]);
    assert_eq!(reported(&bench).await, 9);
}

#[tokio::test]
async fn a_stopped_redis_fails_the_drain_and_the_next_stores_everything() {
    let mut bench = Bench::with_own_redis(&catalog()).await;
    bench.own_redis.as_mut().unwrap().stop().unwrap();
    let ran = drain(&bench, NOW).await.exited(1);
    for expected in ["Redis at 127.0.0.1", "not reachable", "check that it runs"] {
        assert!(ran.stdout.contains(expected), "{ran:?}");
    }
    assert_eq!(totals(&bench.pool).await, [0; 3]);

    bench.own_redis.as_mut().unwrap().restart().unwrap();
    put(&bench, bench.key(MINUTE), &[(b"esc-1", b"7")]).await;
    drain(&bench, NOW).await.succeeded();
    assert_eq!(totals(&bench.pool).await, [7; 3]);
    assert_eq!(reported(&bench).await, 7);
}

#[tokio::test]
async fn a_postgres_that_stops_while_it_is_written_holds_all_or_nothing() {
    let (bench, mut postgres) = on_own_postgres("9").await;
    slow_writes(&bench.pool, 60).await;
    let child = start(bench.folga(&["drain"]));
    waits_for(&bench.pool, "PgSleep").await;
    postgres.stop().unwrap();
    let (code, said) = ended(child).await;
    assert_eq!(code, Some(1), "{said}");
    for expected in ["failed: ", "Postgres", "check that it runs"] {
        assert!(said.contains(expected), "{said}");
    }

    postgres.restart().unwrap();
    let pool = pool(&bench.database_url);
    assert_eq!(totals(&pool).await, [0; 3]);
    sqlx::raw_sql("DROP TRIGGER slowly ON minute_counts")
        .execute(&pool)
        .await
        .unwrap();
    drain(&bench, NOW).await.succeeded();
    assert_eq!(totals(&pool).await, [9; 3]);
    assert_eq!(reported(&bench).await, 9);
}

#[tokio::test]
async fn a_redis_that_stops_while_it_is_read_leaves_nothing_half_read_behind() {
    let mut bench = Bench::with_own_redis(&catalog()).await;
    put(&bench, bench.key(MINUTE), &[(b"esc-1", b"7"), (b"esc-2", b"2")]).await;
    let port = bench.own_redis.as_ref().unwrap().port();
    let (child, redis, _postgres) = held(&bench, port, SERVERS.postgres.port()).await;
    // Slowly on from here: three replies at the least come before the counts.
    redis.set(Behaviour::Delay(Duration::from_millis(400)));
    tokio::time::sleep(Duration::from_millis(600)).await;
    bench.own_redis.as_mut().unwrap().stop().unwrap();
    let (code, said) = ended(child).await;
    assert_eq!(code, Some(1), "{said}");
    for expected in ["failed: ", "Redis", "check that it runs"] {
        assert!(said.contains(expected), "{said}");
    }
    assert_eq!(totals(&bench.pool).await, [0; 3]);

    bench.own_redis.as_mut().unwrap().restart().unwrap();
    put(&bench, bench.key(MINUTE), &[(b"esc-1", b"7"), (b"esc-2", b"2")]).await;
    drain(&bench, NOW).await.succeeded();
    assert_eq!(totals(&bench.pool).await, [9; 3]);
    assert_eq!(reported(&bench).await, 9);
}

#[tokio::test]
async fn a_postgres_that_hangs_for_a_while_holds_the_drain_up_and_no_more() {
    let (bench, postgres) = on_own_postgres("9").await;
    slow_writes(&bench.pool, 1).await;
    let child = start(bench.folga(&["drain"]));
    waits_for(&bench.pool, "PgSleep").await;
    let processes = family(postgres.pid().unwrap());
    for process in &processes {
        signal("STOP", *process);
    }
    tokio::time::sleep(Duration::from_secs(3)).await;
    for process in &processes {
        signal("CONT", *process);
    }
    let (code, said) = ended(child).await;
    assert_eq!(code, Some(0), "{said}");
    assert_eq!(totals(&bench.pool).await, [9; 3]);
    assert_eq!(reported(&bench).await, 9);
}

#[tokio::test]
async fn a_postgres_that_hangs_from_the_start_is_given_up_in_time() {
    let bench = world("9").await;
    let proxy = Proxy::start(SERVERS.postgres.port()).await;
    proxy.set(Behaviour::Hang);
    let begun = Instant::now();
    let folga = bench
        .folga(&["drain"])
        .env("FOLGA_DATABASE_URL", proxy.url(&bench.database_url));
    let ran = folga.at(NOW).run().await.exited(1);
    assert!(begun.elapsed() < Duration::from_secs(10), "{:?}", begun.elapsed());
    assert!(ran.stderr.contains("Postgres does not answer"), "{ran:?}");
    drain(&bench, NOW).await.succeeded();
    assert_eq!(reported(&bench).await, json!(9));
}

/// A process and its children.
fn family(parent: u32) -> Vec<u32> {
    let output = std::process::Command::new("ps")
        .args(["-o", "pid=", "--ppid", &parent.to_string()])
        .output()
        .unwrap();
    let children = String::from_utf8(output.stdout).unwrap();
    let children = children.split_whitespace().map(|pid| pid.parse().unwrap());
    [parent].into_iter().chain(children).collect()
}

/// A worker of its own in this process.
fn worker(bench: &Bench) -> Jobs {
    let variable = |name: &str| match name {
        "FOLGA_REDIS_URL" => Some(bench.redis_url.clone()),
        "FOLGA_IDENTITY_KEY" => Some("an identity key for tests".to_owned()),
        _ => None,
    };
    let catalog = Catalog::load(&bench.folder.join("folga.toml"), &variable, true).unwrap();
    let url = Secret::new(bench.database_url.clone());
    Jobs {
        identities: Arc::new(Identities::new(catalog.identity_key.as_ref().unwrap())),
        store: Store::new(&url, 2, Duration::from_secs(5)).unwrap(),
        clock: Clock::new(Some(at(NOW))),
        catalog: Arc::new(catalog),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn two_workers_on_the_same_rows_never_fail_and_count_once() {
    let bench = Bench::new(&catalog()).await;
    let workers = [worker(&bench), worker(&bench)];
    sync(&workers[0]).await.unwrap();
    let identities: Vec<String> = (0..500).map(|n| format!("esc-{n}")).collect();
    for round in 1..=50_u32 {
        let count = round.to_string();
        let fields: Vec<_> = identities
            .iter()
            .map(|identity| (identity.as_bytes(), count.as_bytes()))
            .collect();
        put(&bench, bench.key(MINUTE), &fields).await;
        let rounds = workers.clone().map(|worker| {
            tokio::spawn(async move {
                let (source, environment) = targets(&worker.catalog).next().unwrap();
                drain_in_process(&worker, source, environment).await.run
            })
        });
        for run in rounds {
            let run = run.await.unwrap();
            assert_eq!(
                (run.outcome, run.error),
                (RunOutcome::Done, None),
                "round {round}"
            );
        }
    }
    // 500 tenants with 50 messages each at the end.
    assert_eq!(totals(&bench.pool).await, [25_000; 3]);
    assert_eq!(reported(&bench).await, 25_000);
}

#[tokio::test]
async fn drains_that_are_killed_at_any_moment_write_all_or_nothing() {
    const TENANTS: usize = 40;
    let bench = Bench::new(&catalog()).await;
    let postgres = Proxy::start(SERVERS.postgres.port()).await;
    postgres.set(Behaviour::Delay(Duration::from_millis(1)));
    let slowly = || {
        let folga = bench.folga(&["drain"]);
        folga
            .env("FOLGA_DATABASE_URL", postgres.url(&bench.database_url))
            .at(NOW)
    };
    // Four minutes, of which each round adds one message a tenant.
    let count = async |round: usize| {
        let count = round.to_string();
        let names: Vec<_> = (0..TENANTS).map(|n| format!("esc-{n}")).collect();
        let fields: Vec<_> = names
            .iter()
            .map(|name| (name.as_bytes(), count.as_bytes()))
            .collect();
        for minute in 4..8 {
            put(
                &bench,
                bench.key(&format!("m:messages:20250310120{minute}")),
                &fields,
            )
            .await;
        }
        i64::try_from(round * TENANTS * 4).unwrap()
    };
    count(1).await;
    slowly().run().await.succeeded();
    let begun = Instant::now();
    let due = count(2).await;
    slowly().run().await.succeeded();
    // Some moments come after the commit too.
    let span = begun.elapsed().mul_f64(1.3);
    assert_eq!(totals(&bench.pool).await, [due; 3]);

    let seed = RandomState::new().hash_one(0);
    println!("seed {seed}, killed within {span:?}");
    let mut random = seed;
    let (mut stored, mut before, mut in_time) = (due, due, 0);
    for round in 3..53 {
        let due = count(round).await;
        // SplitMix64.
        random = random.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = random;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        let moment =
            span.mul_f64(f64::from(u16::try_from((bits ^ (bits >> 31)) & 0xffff).unwrap()) / 65_536.0);
        let mut child = slowly().spawn();
        tokio::time::sleep(moment).await;
        child.kill().await.unwrap();
        let now = totals(&bench.pool).await;
        // A commit that was on its way when its drain was killed may have come after the last look.
        assert!(
            [stored, before, due].iter().any(|total| now == [*total; 3]),
            "seed {seed}, round {round}, killed after {moment:?}: {now:?} is none of {stored}, {before} and {due}"
        );
        in_time += usize::from(now != [due; 3]);
        (stored, before) = (now[0], due);
        if round % 10 == 2 {
            drain(&bench, NOW).await.succeeded();
            assert_eq!(totals(&bench.pool).await, [due; 3], "seed {seed}, round {round}");
            stored = due;
        }
    }
    println!("{in_time} were killed before they had written");
    assert!(
        in_time > 5,
        "seed {seed}: {in_time} of 50 were killed before they had written"
    );
    // 40 tenants with 52 messages in each of four minutes.
    assert_eq!(stored, 8320);
    assert_eq!(reported(&bench).await, 8320);
}
