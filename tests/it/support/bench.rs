//! What one test works on: a database, a key prefix, a catalog and a folder of its own.

use std::{
    fs,
    path::PathBuf,
    sync::atomic::{AtomicUsize, Ordering},
};

use chrono::{DateTime, Utc};
use folga::servers::PrivateRedis;
use redis::aio::MultiplexedConnection;
use sqlx::{AssertSqlSafe, Connection as _, PgConnection, PgPool, postgres::PgPoolOptions};
use tokio::sync::OnceCell;

use super::{Folga, SERVERS};

/// The migrated database that every test's is a copy of.
const TEMPLATE: &str = "migrated";

static MIGRATED: OnceCell<()> = OnceCell::const_new();
static NEXT: AtomicUsize = AtomicUsize::new(1);

/// One test's world.
pub struct Bench {
    /// What the catalog's `PREFIX` stands for, without a colon: keys are `{prefix}:…`.
    pub prefix: String,
    /// Where its database is.
    pub database_url: String,
    /// Where its Redis is.
    pub redis_url: String,
    /// Its folder, with its catalog.
    pub folder: PathBuf,
    /// For looking into its database.
    pub pool: PgPool,
    /// Its Redis where that is its own.
    pub own_redis: Option<PrivateRedis>,
}

impl Bench {
    /// A world on the Redis that all tests share. `PREFIX` in the catalog is replaced by a prefix no other test has.
    pub async fn new(catalog: &str) -> Self {
        Self::build(catalog, None).await
    }

    /// A world with a Redis of its own, for what would disturb other tests or be disturbed by them.
    pub async fn with_own_redis(catalog: &str) -> Self {
        Self::build(catalog, Some(PrivateRedis::start().expect("a Redis starts"))).await
    }

    async fn build(catalog: &str, own_redis: Option<PrivateRedis>) -> Self {
        MIGRATED.get_or_init(make_template).await;
        let prefix = format!("t{}", NEXT.fetch_add(1, Ordering::Relaxed));
        create_database(&format!("{prefix} TEMPLATE {TEMPLATE}")).await;
        let database_url = SERVERS.postgres_url(&prefix);
        let folder = SERVERS.postgres.folder().join(&prefix);
        fs::create_dir(&folder).expect("a test's folder can be made");
        let redis_url = own_redis
            .as_ref()
            .map_or_else(|| SERVERS.redis_url(), PrivateRedis::url);
        let pool = PgPoolOptions::new()
            .max_connections(2)
            .connect_lazy(&database_url)
            .expect("a good URL");
        let bench = Self {
            prefix,
            database_url,
            redis_url,
            folder,
            pool,
            own_redis,
        };
        bench.write_catalog(catalog);
        bench
    }

    /// Replaces the catalog.
    pub fn write_catalog(&self, catalog: &str) {
        let text = catalog.replace("PREFIX", &self.prefix);
        fs::write(self.folder.join("folga.toml"), text).expect("a catalog can be written");
    }

    /// The real binary on this world.
    pub fn folga(&self, arguments: &[&str]) -> Folga {
        Folga::new(arguments, &self.folder)
            .env("FOLGA_CONFIG", self.folder.join("folga.toml"))
            .env("FOLGA_REDIS_URL", &self.redis_url)
            .env("FOLGA_DATABASE_URL", &self.database_url)
    }

    /// A connection to its Redis.
    pub async fn redis(&self) -> MultiplexedConnection {
        let client = redis::Client::open(self.redis_url.as_str()).expect("a good URL");
        client
            .get_multiplexed_async_connection()
            .await
            .expect("Redis is there")
    }

    /// A key name with the prefix: `m:me:202503101205` becomes `t1:m:me:202503101205`.
    pub fn key(&self, rest: &str) -> String {
        format!("{}:{rest}", self.prefix)
    }

    /// Sets fields of a hash and gives it the life that a key which ends at `ends` has left at `now`.
    pub async fn hash(&self, key: &str, fields: &[(&str, &str)], ends: DateTime<Utc>, now: DateTime<Utc>) {
        let mut redis = self.redis().await;
        redis::cmd("HSET")
            .arg(key)
            .arg(fields)
            .exec_async(&mut redis)
            .await
            .expect("HSET");
        self.live_until(key, ends, now).await;
    }

    /// Gives a key the life that one which ends at `ends` has left at `now`; where that is none, deletes it.
    pub async fn live_until(&self, key: &str, ends: DateTime<Utc>, now: DateTime<Utc>) {
        let left = (ends - now).num_milliseconds();
        let mut redis = self.redis().await;
        let command = if left > 0 {
            redis::cmd("PEXPIRE").arg(key).arg(left).to_owned()
        } else {
            redis::cmd("DEL").arg(key).to_owned()
        };
        command.exec_async(&mut redis).await.expect("PEXPIRE or DEL");
    }
}

async fn make_template() {
    create_database(TEMPLATE).await;
    let catalog = concat!(env!("CARGO_MANIFEST_DIR"), "/folga.toml");
    Folga::new(&["--config", catalog, "migrate"], SERVERS.postgres.folder())
        .env("FOLGA_DATABASE_URL", SERVERS.postgres_url(TEMPLATE))
        .run()
        .await
        .succeeded();
}

async fn create_database(definition: &str) {
    let mut connection = PgConnection::connect(&SERVERS.postgres_url("postgres"))
        .await
        .expect("Postgres is there");
    let statement = AssertSqlSafe(format!("CREATE DATABASE {definition}"));
    sqlx::raw_sql(statement)
        .execute(&mut connection)
        .await
        .expect("a database can be made");
    connection.close().await.expect("closing a connection");
}
