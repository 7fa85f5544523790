//! A service played from minute to minute, without the time that passes: drains and rounds of sending in this process.

use std::{sync::Arc, time::Duration};

use chrono::{DateTime, TimeDelta, Utc};
use folga::{
    catalog::{Catalog, Secret},
    clock::Clock,
    source::Identities,
    store::{Store, runs::Run},
    worker::{
        Folga as Jobs, commands,
        deliver::{Round, Sender},
        drain::drain,
        sync::sync,
        targets,
    },
};

use super::{Bench, NtfyServer, at};

/// A world whose alerts go to a server.
pub struct Watch {
    /// The world.
    pub bench: Bench,
    /// Where its alerts go.
    pub server: NtfyServer,
    catalog: Arc<Catalog>,
    store: Store,
}

impl Watch {
    /// A world with this catalog, which has no `[ntfy]`, and further lines for that.
    pub async fn new(catalog: &str, ntfy: &str) -> Self {
        let server = NtfyServer::start().await;
        let bench = Bench::new(&[catalog, &server.section(ntfy)].concat()).await;
        Self::of(bench, server)
    }

    /// The same with a Redis of its own.
    pub async fn with_own_redis(catalog: &str, ntfy: &str) -> Self {
        let server = NtfyServer::start().await;
        let bench = Bench::with_own_redis(&[catalog, &server.section(ntfy)].concat()).await;
        Self::of(bench, server)
    }

    fn of(bench: Bench, server: NtfyServer) -> Self {
        let url = Secret::new(bench.database_url.clone());
        let store = Store::new(&url, 3, Duration::from_secs(10)).expect("a good URL");
        Self {
            catalog: Arc::new(load(&bench)),
            bench,
            server,
            store,
        }
    }

    /// From now on goes by another catalog, which has no `[ntfy]`.
    pub fn change(&mut self, catalog: &str) {
        self.bench
            .write_catalog(&[catalog, &self.server.section("")].concat());
        self.catalog = Arc::new(load(&self.bench));
    }

    /// From now on shows the notification server another token.
    pub fn show_token(&mut self, token: &str) {
        let mut catalog = (*self.catalog).clone();
        catalog.ntfy.as_mut().expect("it has [ntfy]").token = Some(Secret::new(token.to_owned()));
        self.catalog = Arc::new(catalog);
    }

    /// The catalog that it goes by.
    pub fn catalog(&self) -> &Catalog {
        &self.catalog
    }

    /// From now on logs in to Redis as somebody.
    pub fn login(&mut self, user: &str, password: &str) {
        let mut catalog = (*self.catalog).clone();
        catalog.redis.username = Some(user.to_owned());
        catalog.redis.password = Some(Secret::new(password.to_owned()));
        self.catalog = Arc::new(catalog);
    }

    /// What a job at an instant needs.
    pub fn jobs(&self, now: DateTime<Utc>) -> Jobs {
        Jobs {
            catalog: Arc::clone(&self.catalog),
            store: self.store.clone(),
            clock: Clock::new(Some(now)),
            identities: Arc::new(Identities::new(&Secret::new(
                "an identity key for tests".to_owned(),
            ))),
        }
    }

    /// Drains everything at an instant, and tells nobody.
    pub async fn drain(&self, now: DateTime<Utc>) -> Vec<Run> {
        let jobs = self.jobs(now);
        sync(&jobs).await.expect("the catalog is taken in");
        let mut runs = Vec::new();
        for (source, environment) in targets(&jobs.catalog) {
            runs.push(drain(&jobs, source, environment).await.run);
        }
        runs
    }

    /// Sends what is due at an instant.
    pub async fn send(&self, now: DateTime<Utc>) -> Round {
        self.server.set_now(now);
        let sender = Sender::new(&self.jobs(now))
            .expect("a client")
            .expect("a server to send to");
        sender
            .round(Duration::from_secs(30))
            .await
            .expect("the database is there")
    }

    /// What a run from cron does at an instant.
    pub async fn run(&self, now: DateTime<Utc>) -> Vec<Run> {
        let runs = self.drain(now).await;
        commands::look(&self.jobs(now))
            .await
            .expect("the database is there");
        self.send(now).await;
        runs
    }

    /// Runs every so many minutes between two instants, both included; before each, `write` writes what was counted in
    /// the minutes since the last one.
    pub async fn play(
        &self,
        from: &str,
        minutes: i64,
        every: i64,
        mut write: impl AsyncFnMut(&Bench, i64, String),
    ) {
        let from = at(from);
        for minute in 0..minutes {
            let start = from + TimeDelta::minutes(minute);
            write(&self.bench, minute, start.format("%Y%m%d%H%M").to_string()).await;
            if (minute + 1) % every == 0 {
                self.run(start + TimeDelta::seconds(66)).await;
            }
        }
    }

    /// How many alerts are in each state, and what waits for what.
    pub async fn states(&self) -> Vec<(String, String, i64)> {
        sqlx::query_as(
            "SELECT state, coalesce(held_by, ''), count(*) FROM alerts GROUP BY 1, 2 ORDER BY 1, 2",
        )
        .fetch_all(&self.bench.pool)
        .await
        .expect("the database is there")
    }
}

fn load(bench: &Bench) -> Catalog {
    let lookup = |name: &str| match name {
        "FOLGA_REDIS_URL" => Some(bench.redis_url.clone()),
        "FOLGA_DATABASE_URL" => Some(bench.database_url.clone()),
        "FOLGA_IDENTITY_KEY" => Some("an identity key for tests".to_owned()),
        _ => None,
    };
    Catalog::load(&bench.folder.join("folga.toml"), &lookup, true).expect("a good catalog")
}
