//! The one alert that can't wait in the database: that the database can't be used.

use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use chrono_tz::Tz;
use tokio::{sync::Mutex, time::Instant};

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

/// A process that is about to tell has so long until another one may.
const TELLING_LASTS: TimeDelta = TimeDelta::minutes(1);
/// What Redis notes meanwhile, in place of the instant since when Postgres can't be used.
const TELLING: &str = "telling";
/// An outage is remembered so long, for whoever finds Postgres back.
const REMEMBERED: TimeDelta = TimeDelta::days(7);
/// Where Redis can't say whether somebody was told, it is asked again so soon.
const PAUSE: Duration = Duration::from_mins(1);

/// Tells of Postgres without Postgres. What was told is known to Redis, where it may be written, and to this process as
/// long as it lives.
pub struct Emergency {
    ntfy: Ntfy,
    settings: NtfySettings,
    redis: RedisSettings,
    /// Lives as long as nobody is to be told again.
    lately: String,
    /// Lives as long as somebody believes that Postgres can't be used.
    open: String,
    /// Lives for a while after somebody was told that it can be again.
    over: String,
    base_url: Option<String>,
    zone: Tz,
    known: Mutex<Known>,
}

/// What this process knows.
#[derive(Default)]
struct Known {
    outage: Option<Outage>,
    /// When it told last.
    last_told: Option<Instant>,
    /// Whether Redis has said if an earlier process left an outage that is over.
    is_asked: bool,
    /// Since when Postgres could not be used, where that it can be again is this process' to tell.
    back: Option<DateTime<Utc>>,
    /// How often that has failed, and when it is tried again.
    failures: u32,
    next_try: Option<Instant>,
}

/// A time in which Postgres can't be used.
struct Outage {
    since: DateTime<Utc>,
    told: Told,
    failures: u32,
    next_try: Instant,
}

/// Who told of an outage.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Told {
    Nobody,
    Here { is_noted: bool },
    Elsewhere,
}

/// What Redis says to a process that would tell of an outage.
enum Leave {
    Granted,
    ToldElsewhere,
    Wait(TimeDelta),
    /// It can't be reached, or may not be written.
    Unknown,
}

/// What Redis knows of an outage that is over.
enum Note {
    /// Somebody was told of it; that it is over is this process' to tell.
    Ours(DateTime<Utc>),
    /// Another process tells that it is over.
    TakenBack,
    Missing,
}

impl Outage {
    fn new(since: DateTime<Utc>) -> Self {
        Self {
            since,
            told: Told::Nobody,
            failures: 0,
            next_try: Instant::now(),
        }
    }
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
            lately: key::noted(prefix, key::POSTGRES, Level::Critical.name()),
            open: key::noted(prefix, key::POSTGRES, "open"),
            over: key::noted(prefix, key::POSTGRES, "over"),
            base_url: catalog.http.base_url.clone(),
            zone: catalog.timezone,
            known: Mutex::default(),
        }))
    }

    /// Tells that Postgres can't be used, where nobody was told yet: once within a cooldown, however often it goes.
    pub async fn down(&self, error: &str, since: DateTime<Utc>, now: DateTime<Utc>) {
        self.tell(error, since, now, false).await;
    }

    /// Tells that Postgres can't be used by a service that ends for that reason. It may be started again at once, over and
    /// over, so it is told only where Redis remembers it.
    pub async fn at_start(&self, error: &str, now: DateTime<Utc>) {
        self.tell(error, now, now, true).await;
    }

    async fn tell(&self, error: &str, since: DateTime<Utc>, now: DateTime<Utc>, only_if_noted: bool) {
        let mut known = self.known.lock().await;
        let lately = known.last_told.map(|told| told + after(self.settings.cooldown));
        let was_back = known.back.take();
        let outage = known.outage.get_or_insert_with(|| Outage::new(since));
        if was_back.is_some() {
            // Nobody has heard yet that it was back.
            outage.told = Told::Here { is_noted: false };
        }
        if outage.told != Told::Nobody
            || Instant::now() < outage.next_try.max(lately.unwrap_or(outage.next_try))
        {
            return;
        }
        let is_noted = match self.ask_leave().await {
            Leave::Granted => true,
            Leave::Unknown if only_if_noted => return,
            Leave::Unknown => false,
            Leave::ToldElsewhere => {
                outage.told = Told::Elsewhere;
                return;
            }
            Leave::Wait(span) => {
                outage.next_try = Instant::now() + after(span);
                return;
            }
        };
        match self
            .send(&service_words::postgres_down(error), Kind::Raised, now)
            .await
        {
            Ok(()) => {
                outage.told = Told::Here {
                    is_noted: is_noted && self.note(outage.since).await.is_ok(),
                };
                known.last_told = Some(Instant::now());
            }
            Err(failure) => {
                let next = failure.retry_at(outage.failures, now);
                outage.next_try = Instant::now() + after(next - now);
                outage.failures += 1;
                tracing::error!(error = %failure, %next, "that Postgres can't be used could not be told");
                if is_noted {
                    // It expires in any case.
                    _ = self.take_leave_back().await;
                }
            }
        }
    }

    /// Tells that Postgres can be used again, where somebody was told that it could not: by this process, another one or
    /// an earlier one.
    pub async fn up(&self, now: DateTime<Utc>) {
        let mut known = self.known.lock().await;
        let told = known.outage.as_ref().map_or(Told::Nobody, |outage| outage.told);
        let has_failed = known.outage.as_ref().is_some_and(|outage| outage.failures > 0);
        if known.back.is_none() && known.is_asked && told == Told::Nobody && !has_failed {
            known.outage = None;
            return;
        }
        if known.next_try.is_some_and(|next| Instant::now() < next) {
            return;
        }
        if known.back.is_none() {
            let own = known.outage.as_ref().map(|outage| outage.since);
            known.back = match (self.take_back().await, told) {
                (Ok(Note::Ours(since)), _) => Some(own.map_or(since, |own| own.min(since))),
                // Redis was never told, or has lost it.
                (_, Told::Here { is_noted: false }) | (Ok(Note::Missing), Told::Here { .. }) => own,
                // Whoever would have been told could not be.
                (Ok(Note::Missing), Told::Nobody) if has_failed => own,
                (Ok(Note::TakenBack | Note::Missing), _) => None,
                (Err(_), _) => {
                    known.next_try = Some(Instant::now() + PAUSE);
                    return;
                }
            };
            known.is_asked = true;
        }
        if let Some(since) = known.back {
            let words = service_words::postgres_up(since, now, self.zone);
            if let Err(failure) = self.send(&words, Kind::Ended, now).await {
                let next = failure.retry_at(known.failures, now);
                known.next_try = Some(Instant::now() + after(next - now));
                known.failures += 1;
                tracing::warn!(error = %failure, %next, "that Postgres can be used again could not be told");
                // So that another process may tell it, where this one ends.
                if self.note_open(since).await.is_ok() {
                    (known.back, known.outage, known.is_asked) = (None, None, false);
                }
                return;
            }
        }
        *known = Known {
            last_told: known.last_told,
            is_asked: true,
            ..Known::default()
        };
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

    /// Asks Redis whether this process is the one to tell.
    async fn ask_leave(&self) -> Leave {
        let ask = async {
            let session = Session::open(&self.redis).await.ok()?;
            if let Some(text) = session.noted(&self.open).await.ok()? {
                return Some(match &*text {
                    TELLING => Leave::Wait(TELLING_LASTS),
                    _ => Leave::ToldElsewhere,
                });
            }
            let lives = session.remaining(std::slice::from_ref(&self.lately)).await.ok()?;
            if let Some(life) = lives.into_iter().flatten().next() {
                return Some(Leave::Wait(life));
            }
            let is_first = session.note_new(&self.open, TELLING, TELLING_LASTS).await.ok()?;
            Some(if is_first {
                Leave::Granted
            } else {
                Leave::Wait(TELLING_LASTS)
            })
        };
        ask.await.unwrap_or(Leave::Unknown)
    }

    async fn take_leave_back(&self) -> anyhow::Result<()> {
        Session::open(&self.redis).await?.forget(&self.open).await?;
        Ok(())
    }

    /// Has Redis remember that it was told.
    async fn note(&self, since: DateTime<Utc>) -> anyhow::Result<()> {
        self.note_open(since).await?;
        let session = Session::open(&self.redis).await?;
        session
            .note(std::slice::from_ref(&self.lately), self.settings.cooldown)
            .await?;
        Ok(())
    }

    /// Has Redis remember that somebody believes Postgres can't be used.
    async fn note_open(&self, since: DateTime<Utc>) -> anyhow::Result<()> {
        let session = Session::open(&self.redis).await?;
        session
            .note_text(&self.open, &since.to_rfc3339(), REMEMBERED)
            .await?;
        Ok(())
    }

    /// Has Redis forget that it was told, and says what it knew; one process alone is told of a note.
    async fn take_back(&self) -> anyhow::Result<Note> {
        let session = Session::open(&self.redis).await?;
        let since = session.noted(&self.open).await?;
        let since = since.and_then(|text| text.parse().ok());
        if let Some(since) = since {
            session
                .note(std::slice::from_ref(&self.over), self.settings.cooldown)
                .await?;
            if session.forget(&self.open).await? {
                return Ok(Note::Ours(since));
            }
        }
        Ok(if session.noted(&self.over).await?.is_some() {
            Note::TakenBack
        } else {
            Note::Missing
        })
    }
}

/// A span as time that passes.
fn after(span: TimeDelta) -> Duration {
    span.to_std().unwrap_or_default()
}
