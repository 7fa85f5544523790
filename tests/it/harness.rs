//! What the other tests stand on holds: worlds of their own, a pooler that pools, a proxy that misbehaves, TLS.

use std::time::{Duration, Instant};

use sqlx::{Connection as _, PgConnection, postgres::PgConnectOptions};

use super::support::{Behaviour, Bench, Bouncer, Proxy, SERVERS, TlsRedis, at};

#[tokio::test]
async fn worlds_do_not_see_each_other() {
    let (one, other) = (Bench::new("").await, Bench::with_own_redis("").await);
    sqlx::raw_sql("CREATE TABLE mine (id bigint)")
        .execute(&one.pool)
        .await
        .unwrap();
    assert!(
        sqlx::raw_sql("SELECT FROM mine")
            .execute(&other.pool)
            .await
            .is_err()
    );
    let mut redis = one.redis().await;
    redis::cmd("SET")
        .arg(one.key("mine"))
        .arg(1)
        .exec_async(&mut redis)
        .await
        .unwrap();
    let seen: i64 = redis::cmd("DBSIZE")
        .query_async(&mut other.redis().await)
        .await
        .unwrap();
    assert_eq!(seen, 0);
    assert_ne!(one.prefix, other.prefix);
}

#[tokio::test]
async fn keys_get_the_life_they_had_left() {
    let bench = Bench::new("").await;
    let (now, key) = (at("2025-03-10T12:02:00Z"), bench.key("m:me:202503101200"));
    bench
        .hash(&key, &[("a", "1")], at("2025-03-10T12:05:00Z"), now)
        .await;
    let left: i64 = redis::cmd("PTTL")
        .arg(&key)
        .query_async(&mut bench.redis().await)
        .await
        .unwrap();
    assert!((170_000..=180_000).contains(&left), "{left}");
    bench.live_until(&key, now, now).await;
    let there: i64 = redis::cmd("EXISTS")
        .arg(&key)
        .query_async(&mut bench.redis().await)
        .await
        .unwrap();
    assert_eq!(there, 0);
}

#[tokio::test]
async fn the_bouncer_shares_two_connections_between_its_clients() {
    let bench = Bench::new("").await;
    let bouncer = Bouncer::start();
    let options: PgConnectOptions = bouncer.url(&bench.database_url).parse().unwrap();
    let options = options.extra_float_digits(None);
    let mut servers = std::collections::BTreeSet::new();
    let mut clients = Vec::new();
    for _ in 0..6 {
        let mut client = PgConnection::connect_with(&options).await.unwrap();
        servers.insert(backend(&mut client).await);
        clients.push(client);
    }
    assert!(servers.len() <= 2, "{servers:?}");
}

async fn backend(client: &mut PgConnection) -> i32 {
    // A statement that is not persistent, in a transaction: what a pooler of transactions can bear.
    let mut transaction = client.begin().await.unwrap();
    let query = sqlx::query_scalar("SELECT pg_backend_pid()").persistent(false);
    let pid = query.fetch_one(&mut *transaction).await.unwrap();
    transaction.commit().await.unwrap();
    pid
}

#[tokio::test]
async fn a_cut_commit_is_carried_out_and_never_answered() {
    let bench = Bench::new("").await;
    sqlx::raw_sql("CREATE TABLE mine (id bigint)")
        .execute(&bench.pool)
        .await
        .unwrap();
    let proxy = Proxy::start(SERVERS.postgres.port()).await;
    let mut client = PgConnection::connect(&proxy.url(&bench.database_url))
        .await
        .unwrap();
    let mut transaction = client.begin().await.unwrap();
    sqlx::raw_sql("INSERT INTO mine VALUES (1)")
        .execute(&mut *transaction)
        .await
        .unwrap();
    proxy.set(Behaviour::CutAfterCommit);
    assert!(transaction.commit().await.is_err());
    assert_eq!(proxy.behaviour(), Behaviour::Pass);
    let rows: i64 = sqlx::query_scalar("SELECT count(*) FROM mine")
        .fetch_one(&bench.pool)
        .await
        .unwrap();
    assert_eq!(rows, 1);
}

#[tokio::test]
async fn the_proxy_delays_hangs_and_cuts() {
    let proxy = Proxy::start(SERVERS.redis.port()).await;
    let client = redis::Client::open(proxy.url(&SERVERS.redis_url())).unwrap();
    let mut redis = client.get_multiplexed_async_connection().await.unwrap();
    proxy.set(Behaviour::Delay(Duration::from_millis(100)));
    let start = Instant::now();
    redis::cmd("PING").exec_async(&mut redis).await.unwrap();
    assert!(start.elapsed() >= Duration::from_millis(100));
    proxy.set(Behaviour::Hang);
    let ping = redis::cmd("PING");
    let hanging = tokio::time::timeout(Duration::from_millis(100), ping.exec_async(&mut redis));
    assert!(hanging.await.is_err());
    proxy.set(Behaviour::Cut);
    assert!(redis::cmd("PING").exec_async(&mut redis).await.is_err());
}

#[tokio::test]
async fn the_tls_redis_speaks_tls_under_its_own_authority() {
    let bench = Bench::new("").await;
    let server = TlsRedis::start(&bench.folder);
    let url = server.url("rediss");
    let authority = std::fs::read(&server.ca_file).unwrap();
    let certificates = redis::TlsCertificates {
        client_tls: None,
        root_cert: Some(authority),
    };
    let client = redis::Client::build_with_tls(url.as_str(), certificates).unwrap();
    let mut redis = client.get_multiplexed_async_connection().await.unwrap();
    redis::cmd("PING").exec_async(&mut redis).await.unwrap();
    let stranger = redis::Client::open(url).unwrap();
    assert!(stranger.get_multiplexed_async_connection().await.is_err());
}
