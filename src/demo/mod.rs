//! A demonstration on private servers: five weeks of two schools' traffic, drained as it would have been.

mod messaging;
mod play;
mod random;
mod session;
mod staging;
mod traffic;

use std::path::Path;

use anyhow::{Context as _, Result, bail};
use chrono::{DateTime, Days, TimeDelta, Utc};

pub use traffic::{Write, traffic};

use self::play::{Job, Step, steps};
use crate::{
    app::{self, App},
    catalog::Catalog,
    clock::Clock,
    servers::Private,
    store::runs::RunOutcome,
    time::{day_of, day_start},
    worker::{Folga, drain, retention},
};

/// The environment that the traffic of the schools goes to.
pub const ENVIRONMENT: &str = "prod";

/// The demo's identities are nobody's: this key protects nothing, and the same one shows the same hashes every time.
const IDENTITY_KEY: &str = "demo identities are nobody's";

/// The service on private servers, which are gone when this is dropped.
pub struct Demo {
    /// The service, with the shipped catalog.
    pub app: App,
    servers: Private,
}

impl Demo {
    /// Starts the servers and opens the service on them.
    ///
    /// # Errors
    /// A server's program is missing or does not start.
    pub async fn open(clock: Clock) -> Result<Self> {
        let servers = tokio::task::spawn_blocking(Private::start).await??;
        let catalog = catalog(&servers)?;
        app::migrate(&catalog).await?;
        Ok(Self {
            app: App::open(catalog, clock).await?,
            servers,
        })
    }

    /// Plays 35 days of the gateway's traffic and two days of messaging up to now: keys are written and age, and are
    /// drained, by the play's own clock. A progress bar shows on a terminal.
    ///
    /// # Errors
    /// Redis or a job failed.
    pub async fn play(&self) -> Result<()> {
        let catalog = &*self.app.folga.catalog;
        let now = self.app.folga.clock.now();
        let redis = redis::Client::open(self.servers.redis_url())?;
        let redis = redis
            .get_multiplexed_async_connection()
            .await
            .context("connecting to the demo's Redis")?;
        let writes = traffic(now, catalog.timezone);
        play::play(writes, jobs(catalog, now)?, redis, async |step| {
            self.work(step).await
        })
        .await
    }

    async fn work(&self, step: Step<'_>) -> Result<()> {
        let folga = Folga {
            clock: Clock::new(Some(step.at)),
            ..self.app.folga.clone()
        };
        match step.job {
            Job::Drain(source, environment) => {
                let run = drain::drain(&folga, source, environment).await.run;
                if run.outcome == RunOutcome::Failed {
                    bail!("draining {}: {}", source.name, run.error.unwrap_or_default());
                }
            }
            Job::Retention => {
                retention::retain(&folga).await.context("dropping what is old")?;
            }
        }
        Ok(())
    }

    /// Closes the service and ends the servers.
    ///
    /// # Errors
    /// The service's database does not close.
    pub async fn close(self) -> Result<()> {
        self.app.close().await
    }
}

/// The shipped catalog, made to use private servers.
fn catalog(servers: &Private) -> Result<Catalog> {
    let variable = |name: &str| match name {
        "FOLGA_REDIS_URL" => Some(servers.redis_url()),
        "FOLGA_DATABASE_URL" => Some(servers.postgres_url("postgres")),
        "FOLGA_LISTEN" => Some("127.0.0.1:0".to_owned()),
        "FOLGA_IDENTITY_KEY" => Some(IDENTITY_KEY.to_owned()),
        _ => None,
    };
    Ok(Catalog::parse(
        include_str!("../../folga.toml"),
        Path::new("folga.toml"),
        &variable,
        true,
    )?)
}

/// What is due in the time of the play.
fn jobs(catalog: &Catalog, now: DateTime<Utc>) -> Result<Vec<Step<'_>>> {
    let zone = catalog.timezone;
    let first_day = day_start(day_of(now, zone) - Days::new(traffic::DAYS), zone);
    let mut jobs = Vec::new();
    for (source, environment, from) in [
        ("gateway", ENVIRONMENT, first_day),
        ("gateway", staging::ENVIRONMENT, first_day),
        ("messaging", ENVIRONMENT, now - TimeDelta::days(messaging::DAYS)),
    ] {
        let source = catalog.sources.iter().find(|known| known.name == source);
        let environment = catalog
            .environments
            .iter()
            .find(|known| known.name == environment);
        let (source, environment) = source
            .zip(environment)
            .context("the shipped catalog lacks a part of the demo")?;
        jobs.extend(steps(source, environment, from, now));
    }
    let mut last = first_day;
    while let Some(at) = catalog.retention_schedule.next_after(last).filter(|at| *at < now) {
        jobs.push(Step {
            at,
            job: Job::Retention,
        });
        last = at;
    }
    Ok(jobs)
}
