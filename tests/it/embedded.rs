//! The Postgres that folga keeps where the catalog names none: it outlives a kill, is shared, and ends with its last
//! user.

use std::{fs, path::Path};

use chrono::TimeDelta;
use folga::clock::Clock;
use serde_json::{Value, json};

use super::{
    http::CATALOG,
    support::{Behaviour, Bench, Folga, Proxy, SERVERS, Serving, is_alive, signal, wait_until},
};

/// A command without a Postgres URL.
fn embedded(bench: &Bench, arguments: &[&str]) -> Folga {
    let arguments = [&["--log-format", "json"], arguments].concat();
    Folga::new(&arguments, &bench.folder)
        .env("FOLGA_CONFIG", bench.folder.join("folga.toml"))
        .env("FOLGA_REDIS_URL", &bench.redis_url)
}

async fn serve(bench: &Bench) -> Serving {
    let serving = Serving::start(embedded(bench, &["serve"])).await;
    wait_until("the first drain ends", async || {
        serving.source().await["state"] == "ok"
    })
    .await;
    serving
}

/// The first process of the Postgres in a folder.
fn postgres(folder: &Path) -> u32 {
    let file = folder.join("folga-data/postgres/data/postmaster.pid");
    let text = fs::read_to_string(file).unwrap();
    text.lines().next().unwrap().parse().unwrap()
}

/// Counts messages two minutes ago.
async fn count(bench: &Bench, count: &str) {
    let now = Clock::new(None).now();
    let minute = (now - TimeDelta::minutes(2)).format("%Y%m%d%H%M");
    let key = bench.key(&format!("m:messages:{minute}"));
    bench
        .hash(&key, &[("esc-1", count)], now + TimeDelta::hours(1), now)
        .await;
}

/// Deletes what was counted, so that only what is stored can tell of it.
async fn forget(bench: &Bench) {
    let mut redis = bench.redis().await;
    let keys: Vec<String> = redis::cmd("KEYS")
        .arg(bench.key("*"))
        .query_async(&mut redis)
        .await
        .unwrap();
    assert!(!keys.is_empty());
    redis::cmd("DEL").arg(keys).exec_async(&mut redis).await.unwrap();
}

/// What is stored of the last hours, this one included.
async fn total(bench: &Bench) -> Value {
    let now = Clock::new(None).now();
    let [from, to] = [-2, 1].map(|hours| (now + TimeDelta::hours(hours)).to_rfc3339());
    let arguments = [
        "report", "--env", "prod", "--format", "json", "--from", &from, "--to", &to,
    ];
    let report = embedded(bench, &arguments).run().await.succeeded().json();
    report["groups"][0]["limits"][0]["total"].clone()
}

#[tokio::test]
async fn the_kept_postgres_outlives_a_kill_and_ends_with_its_last_user() {
    let bench = Bench::new(CATALOG).await;
    count(&bench, "7").await;
    let serving = serve(&bench).await;
    let first = postgres(&bench.folder);

    // Other commands beside it share it, and leave it running.
    count(&bench, "9").await;
    let ran = embedded(&bench, &["drain"]).run().await.succeeded();
    assert!(
        ran.stdout.contains("1 samples") || ran.stdout.contains("2 samples"),
        "{ran:?}"
    );
    assert!(is_alive(first));
    assert_eq!(postgres(&bench.folder), first);
    assert_eq!(serving.get("/health").await.json()["postgres"], "up");
    let stored = total(&bench).await;
    assert!(stored == json!(9) || stored == json!(16), "{stored}");
    forget(&bench).await;

    // A killed service leaves Postgres behind; the next takes it over with all it holds.
    serving.signal("KILL");
    assert_eq!(serving.ended().await.0, None);
    assert!(is_alive(first));
    let serving = serve(&bench).await;
    assert_eq!(postgres(&bench.folder), first);
    assert_eq!(total(&bench).await, stored);

    // Where both are killed, as with the machine, Postgres starts anew on what it had written.
    serving.signal("KILL");
    serving.ended().await;
    signal("KILL", first);
    wait_until("Postgres is gone", async || !is_alive(first)).await;
    let serving = serve(&bench).await;
    let second = postgres(&bench.folder);
    assert_ne!(second, first);
    assert_eq!(total(&bench).await, stored);

    // The last user stops it.
    let (code, log, _) = serving.end().await;
    assert_eq!(code, Some(0), "{log}");
    assert!(!is_alive(second));
    assert_eq!(total(&bench).await, stored);
    assert!(
        !bench
            .folder
            .join("folga-data/postgres/data/postmaster.pid")
            .exists()
    );
}

#[tokio::test]
async fn a_command_that_a_signal_ends_leaves_no_postgres_behind() {
    let bench = Bench::new(CATALOG).await;
    let redis = Proxy::start(SERVERS.redis.port()).await;
    redis.set(Behaviour::Hang);
    let drain = embedded(&bench, &["drain"]).env("FOLGA_REDIS_URL", redis.url(&bench.redis_url));
    let mut child = drain.spawn();
    let pid_file = bench.folder.join("folga-data/postgres/data/postmaster.pid");
    wait_until("the drain waits for Redis", async || redis.connections() > 0).await;
    let server = postgres(&bench.folder);
    signal("TERM", child.id().unwrap());
    assert_eq!(child.wait().await.unwrap().code(), Some(1));
    assert!(!is_alive(server));
    assert!(!pid_file.exists());
}
