//! A demonstration on private servers: five weeks of two schools' traffic, drained as it would have been.

mod messaging;
mod play;
mod random;
mod session;
mod staging;
mod traffic;

use std::path::Path;

use anyhow::{Context as _, Result};
use chrono::{DateTime, Days, TimeDelta, Utc};

pub use play::Step;
pub use traffic::{Write, traffic};

use crate::{
    catalog::Catalog,
    servers::Private,
    time::{day_of, day_start},
};

/// The demo's identities are nobody's: this key protects nothing, and the same one shows the same hashes every time.
const IDENTITY_KEY: &str = "demo identities are nobody's";

/// Private servers and the shipped catalog, made to use them. They are gone when this is dropped.
#[derive(Debug)]
pub struct Demo {
    /// The catalog.
    pub catalog: Catalog,
    servers: Private,
    now: DateTime<Utc>,
}

impl Demo {
    /// Starts the servers, which blocks. The play ends at `now`.
    ///
    /// # Errors
    /// A server's program is missing or does not start.
    pub fn start(now: DateTime<Utc>) -> Result<Self> {
        let servers = Private::start()?;
        let variable = |name: &str| match name {
            "FOLGA_REDIS_URL" => Some(servers.redis_url()),
            "FOLGA_DATABASE_URL" => Some(servers.postgres_url("postgres")),
            "FOLGA_LISTEN" => Some("127.0.0.1:0".to_owned()),
            "FOLGA_IDENTITY_KEY" => Some(IDENTITY_KEY.to_owned()),
            _ => None,
        };
        let text = include_str!("../../folga.toml");
        let catalog = Catalog::parse(text, Path::new("folga.toml"), &variable, true)?;
        Ok(Self {
            catalog,
            servers,
            now,
        })
    }

    /// Plays 35 days of the gateway's traffic and two days of messaging, calling `drain` wherever the play's clock
    /// says that a drain is due. A progress bar shows on a terminal.
    ///
    /// # Errors
    /// Redis or a drain failed.
    pub async fn play(&self, drain: impl AsyncFnMut(Step) -> Result<()>) -> Result<()> {
        let zone = self.catalog.timezone;
        let first_day = day_start(day_of(self.now, zone) - Days::new(traffic::DAYS), zone);
        let mut steps = Vec::new();
        for (source, environment, from) in [
            ("gateway", "prod", first_day),
            ("gateway", "staging", first_day),
            ("messaging", "prod", self.now - TimeDelta::days(messaging::DAYS)),
        ] {
            let source = (self.catalog.sources.iter())
                .find(|known| known.name == source)
                .with_context(|| format!("the shipped catalog has no source {source}"))?;
            steps.extend(play::steps(source, environment, from, self.now));
        }
        let redis = redis::Client::open(self.servers.redis_url())?;
        let redis = redis
            .get_multiplexed_async_connection()
            .await
            .context("connecting to the demo's Redis")?;
        play::play(traffic(self.now, zone), steps, redis, drain).await
    }
}
