//! The one alert that can't wait in the database: that the database can't be used.

use chrono::{DateTime, TimeDelta, Utc};
use chrono_tz::Tz;
use tokio::sync::Mutex;

use crate::{
    alert::{
        Kind, Level,
        fate::{priority, tag},
        key, service_words,
        words::Words,
    },
    catalog::{Catalog, NtfySettings, RedisSettings},
    ntfy::{Failure, Message, Ntfy, sequence},
    source::Session,
};

/// Tells of Postgres without Postgres. What was told is known to Redis, and to this process as long as it lives.
pub struct Emergency {
    ntfy: Ntfy,
    settings: NtfySettings,
    redis: RedisSettings,
    noted: String,
    base_url: Option<String>,
    zone: Tz,
    outage: Mutex<Option<Outage>>,
}

/// A time in which Postgres can't be used.
struct Outage {
    since: DateTime<Utc>,
    told: bool,
    failures: u32,
    next_attempt: DateTime<Utc>,
}

impl Emergency {
    /// None where the catalog names no server to tell.
    ///
    /// # Errors
    /// The system has no certificates that could be trusted.
    pub fn new(catalog: &Catalog) -> anyhow::Result<Option<Self>> {
        let Some(settings) = catalog.ntfy.clone() else {
            return Ok(None);
        };
        let prefix = catalog.environments.first().map_or("", |first| &*first.prefix);
        Ok(Some(Self {
            ntfy: Ntfy::new(&settings)?,
            settings,
            redis: catalog.redis.clone(),
            noted: format!("{prefix}ac:folga:{}:{}", key::POSTGRES, Level::Critical),
            base_url: catalog.http.base_url.clone(),
            zone: catalog.timezone,
            outage: Mutex::new(None),
        }))
    }

    /// Tells that Postgres can't be used, where nobody was told yet.
    pub async fn down(&self, error: &str, now: DateTime<Utc>) {
        let mut outage = self.outage.lock().await;
        let outage = outage.get_or_insert(Outage {
            since: now,
            told: false,
            failures: 0,
            next_attempt: now,
        });
        if outage.told || now < outage.next_attempt {
            return;
        }
        if self.was_told().await {
            outage.told = true;
            return;
        }
        match self
            .send(&service_words::postgres_down(error), Kind::Raised, now)
            .await
        {
            Ok(()) => {
                outage.told = true;
                self.remember(self.settings.cooldown).await;
            }
            Err(failure) => {
                outage.next_attempt = failure.retry_at(outage.failures, now);
                outage.failures += 1;
                tracing::error!(error = %failure, next = %outage.next_attempt, "that Postgres can't be used could not be told");
            }
        }
    }

    /// Tells that Postgres can't be used by a service that ends for that reason. It may be started again at once, over and
    /// over, so it is told only where Redis remembers it.
    pub async fn at_start(&self, error: &str, now: DateTime<Utc>) {
        if self.was_told().await || !self.remember(self.settings.cooldown).await {
            return;
        }
        if let Err(failure) = self
            .send(&service_words::postgres_down(error), Kind::Raised, now)
            .await
        {
            tracing::error!(error = %failure, "that Postgres can't be used could not be told");
            self.forget().await;
        }
    }

    /// Tells that Postgres can be used again, where somebody was told that it could not.
    pub async fn up(&self, now: DateTime<Utc>) {
        let mut outage = self.outage.lock().await;
        let Some(over) = outage.as_mut() else { return };
        if over.told {
            if now < over.next_attempt {
                return;
            }
            let words = service_words::postgres_up(over.since, now, self.zone);
            if let Err(failure) = self.send(&words, Kind::Ended, now).await {
                over.next_attempt = failure.retry_at(over.failures, now);
                over.failures += 1;
                return;
            }
        }
        *outage = None;
    }

    async fn send(&self, words: &Words, kind: Kind, now: DateTime<Utc>) -> Result<(), Failure> {
        let message = Message {
            title: words.title.clone(),
            text: words.text.clone(),
            priority: priority(Level::Critical, kind, true),
            tags: vec![tag(Level::Critical, kind).to_owned()],
            click: self.base_url.clone(),
            sequence: sequence(key::EVERYWHERE, key::POSTGRES),
        };
        self.ntfy.publish(&message, now).await.map(drop)
    }

    async fn was_told(&self) -> bool {
        let Ok(session) = Session::open(&self.redis).await else {
            return false;
        };
        let lives = session.remaining(std::slice::from_ref(&self.noted)).await;
        lives.is_ok_and(|lives| lives.iter().any(Option::is_some))
    }

    /// Has Redis remember that it was told. Where nothing may be written there, whoever runs next tells it again.
    async fn remember(&self, life: TimeDelta) -> bool {
        let Ok(session) = Session::open(&self.redis).await else {
            return false;
        };
        session
            .note(std::slice::from_ref(&self.noted), life)
            .await
            .is_ok()
    }

    async fn forget(&self) {
        // It expires in any case.
        _ = self.remember(TimeDelta::seconds(1)).await;
    }
}
