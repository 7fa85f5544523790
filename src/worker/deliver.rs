//! Delivers what there is to tell.

use std::time::{Duration, Instant};

use chrono::{DateTime, NaiveTime, TimeDelta, Utc};

use super::{Folga, cooldown::Noted};
use crate::{
    alert::{
        Due, Kind, Level,
        budget::{self, Item, Room},
        fate::{Fate, fate, priority, tag},
        key,
    },
    catalog::NtfySettings,
    ntfy::{Delivered, Failure, Message, Ntfy, sequence},
    store::{StoreError, Tx, delivery, outbox, silences::SILENCE, worth_retrying},
};

/// What a sender has in hand is left to it for so long; a round ends well before.
const LEASE: TimeDelta = TimeDelta::minutes(3);
/// Alerts that one round takes.
const ROUND: i64 = 2000;
/// What is written on alerts that are put off.
const COOLDOWN: &str = "cooldown";
const BUDGET: &str = "the day's budget of messages";

/// Sends alerts to the notification server of the catalog.
pub struct Sender {
    folga: Folga,
    settings: NtfySettings,
    ntfy: Ntfy,
}

/// What a round came to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Round {
    /// Messages that were sent.
    pub sent: u32,
    /// Attempts that failed.
    pub failed: u32,
    /// What went wrong last, where something did.
    pub failure: Option<String>,
}

/// One request: an alert, or several in one.
struct Letter {
    /// The alerts, and whether each begins a cooldown.
    alerts: Vec<(Due, bool)>,
    content: Content,
}

enum Content {
    Message(Message),
    /// Takes the notification back; where the server can't do that any more, says that it is over.
    Clear(Message),
}

impl Sender {
    /// A sender; none where the catalog names no server.
    ///
    /// # Errors
    /// The system has no certificates that could be trusted.
    pub fn new(folga: &Folga) -> anyhow::Result<Option<Self>> {
        let Some(settings) = folga.catalog.ntfy.clone() else {
            return Ok(None);
        };
        Ok(Some(Self {
            ntfy: Ntfy::new(&settings)?,
            folga: folga.clone(),
            settings,
        }))
    }

    /// Sends what is due, as far as the server's limits and `patience` allow. Whatever goes wrong with the server is
    /// part of the outcome: what was not sent stays due.
    ///
    /// # Errors
    /// The database failed.
    pub async fn round(&self, patience: Duration) -> Result<Round, StoreError> {
        let (began, now) = (Instant::now(), self.folga.clock.now());
        let mut tx = self.folga.store.begin().await?;
        let delivery = delivery::read(&mut tx, &self.settings.fingerprint(), now).await?;
        if delivery.closed_until.is_some() {
            tx.rollback().await?;
            return Ok(Round::default());
        }
        outbox::revive(&mut tx, now).await?;
        let due = outbox::claim(&mut tx, now, LEASE, ROUND).await?;
        if due.is_empty() {
            tx.rollback().await?;
            return Ok(Round::default());
        }
        let midnight = now.date_naive().and_time(NaiveTime::MIN).and_utc();
        let spent = outbox::spent(&mut tx, midnight, now - budget::RECOVERY, now).await?;
        tx.commit().await?;

        // Redis is asked only about what would go out else.
        let is_free = |alert: &&Due| {
            let starts = Fate::Send {
                starts_cooldown: true,
            };
            fate(alert, self.settings.cooldown, None, now) == starts
        };
        let noted = Noted::read(&self.folga, &due.iter().filter(is_free).collect::<Vec<_>>()).await;
        let mut tx = self.folga.store.begin().await?;
        let going = self.sort(&mut tx, due, &noted, now).await?;
        let room = Room::new(self.settings.daily_budget, spent);
        let letters = self.letters(&mut tx, going, room, now).await?;
        tx.commit().await?;

        let mut round = Round::default();
        let mut told: Vec<Due> = Vec::new();
        let mut letters = letters.into_iter();
        let mut failures = delivery.failures;
        for letter in letters.by_ref() {
            // A server that answers slowly may have had its say minutes after the round began.
            let now = self.folga.clock.now();
            match self.send(&letter.content, now).await {
                Ok(delivered) => {
                    failures = 0;
                    self.note_sent(&letter, &delivered, now).await?;
                    round.sent += 1;
                    let beginning = letter.alerts.into_iter().filter(|(_, starts)| *starts);
                    told.extend(beginning.map(|(alert, _)| alert));
                }
                Err(failure) => {
                    round.failed += 1;
                    round.failure = Some(failure.to_string());
                    if self.note_failed(&letter, &failure, failures, now).await? {
                        break;
                    }
                }
            }
            if began.elapsed() > patience {
                break;
            }
        }
        let left: Vec<i64> = letters.flat_map(|letter| ids(&letter)).collect();
        if !left.is_empty() {
            let mut tx = self.folga.store.begin().await?;
            outbox::release(&mut tx, &left).await?;
            tx.commit().await?;
        }
        Noted::write(&self.folga, &told, self.settings.cooldown).await;
        Ok(round)
    }

    /// Puts off what has to wait, and gives what may go out now.
    async fn sort(
        &self,
        tx: &mut Tx,
        due: Vec<Due>,
        noted: &Noted,
        now: DateTime<Utc>,
    ) -> Result<Vec<(Due, bool)>, StoreError> {
        let (mut going, mut dropped) = (Vec::new(), Vec::new());
        for alert in due {
            match fate(&alert, self.settings.cooldown, noted.of(alert.id), now) {
                Fate::Send { starts_cooldown } => going.push((alert, starts_cooldown)),
                Fate::Cooldown(until) => {
                    outbox::hold(tx, &[alert.id], until, COOLDOWN, false, now).await?;
                }
                Fate::Silence(until) => outbox::hold(tx, &[alert.id], until, SILENCE, false, now).await?,
                Fate::Drop => dropped.push(alert.id),
            }
        }
        if !dropped.is_empty() {
            outbox::drop_silenced(tx, &dropped).await?;
        }
        Ok(going)
    }

    /// Makes messages of alerts: one each while there is room, else one of all.
    async fn letters(
        &self,
        tx: &mut Tx,
        going: Vec<(Due, bool)>,
        room: Room,
        now: DateTime<Utc>,
    ) -> Result<Vec<Letter>, StoreError> {
        let (critical, others): (Vec<_>, Vec<_>) = going
            .into_iter()
            .partition(|(alert, _)| alert.level == Level::Critical);
        let total = room.critical;
        let mut letters: Vec<Letter> = Vec::new();
        let mut put_off: Vec<i64> = Vec::new();
        for (alerts, room) in [(critical, room.critical), (others, room.others)] {
            // What is critical has used some of what there is for all.
            let used = u32::try_from(letters.len()).unwrap_or(u32::MAX);
            let left = room.min(total.saturating_sub(used));
            if u32::try_from(alerts.len()).is_ok_and(|count| count <= left) {
                letters.extend(alerts.into_iter().map(|alert| self.letter(alert)));
            } else if left > 0 {
                letters.push(self.digest(alerts));
            } else {
                put_off.extend(alerts.iter().map(|(alert, _)| alert.id));
            }
        }
        if !put_off.is_empty() {
            let until = now + budget::RECOVERY;
            outbox::hold(tx, &put_off, until, BUDGET, false, now).await?;
        }
        Ok(letters)
    }

    fn letter(&self, (alert, starts_cooldown): (Due, bool)) -> Letter {
        let told = alert.open();
        // Where nobody wants to hear of it, a notification is taken back all the same.
        let is_news = alert.is_worse() && alert.silent_until.is_none();
        let message = Message {
            title: alert.title.clone(),
            text: alert.text.clone(),
            priority: priority(alert.level, alert.kind, !is_news),
            tags: vec![tag(alert.level, alert.kind).to_owned()],
            click: self.click(alert.link.as_deref()),
            sequence: sequence(&alert.environment, &alert.key),
        };
        let is_shown = told.is_some_and(|last| last.updates);
        // That a limit is low again is said by taking its notification back; that a service works again is news.
        let content = if alert.kind == Kind::Ended && is_shown && !is_news && key::limit(&alert.key).is_some()
        {
            Content::Clear(message)
        } else {
            Content::Message(message)
        };
        Letter {
            alerts: vec![(alert, starts_cooldown)],
            content,
        }
    }

    fn digest(&self, alerts: Vec<(Due, bool)>) -> Letter {
        let item = |(alert, _): &(Due, bool)| Item {
            level: alert.level,
            ended: alert.kind == Kind::Ended,
            title: alert.title.clone(),
        };
        let (title, text) = budget::digest(&alerts.iter().map(item).collect::<Vec<_>>());
        let going = alerts.iter().filter(|(alert, _)| alert.kind != Kind::Ended);
        let worst = going.map(|(alert, _)| alert.level).max();
        let kind = worst.map_or(Kind::Ended, |_| Kind::Raised);
        let level = worst.unwrap_or_default();
        let first = alerts.first().map_or(0, |(alert, _)| alert.id);
        Letter {
            content: Content::Message(Message {
                title,
                text,
                priority: priority(level, kind, true),
                tags: vec![tag(level, kind).to_owned()],
                click: self.click(Some("/")),
                sequence: sequence("", &format!("digest {first}")),
            }),
            alerts,
        }
    }

    fn click(&self, link: Option<&str>) -> Option<String> {
        let base = self.folga.catalog.http.base_url.as_ref()?;
        Some(format!("{base}{}", link?))
    }

    async fn send(&self, content: &Content, now: DateTime<Utc>) -> Result<Delivered, Failure> {
        match content {
            Content::Message(message) => self.ntfy.publish(message, now).await,
            Content::Clear(message) => match self.ntfy.clear(&message.sequence, now).await {
                // Something in between may let messages through and nothing else.
                Err(Failure::Refused { .. } | Failure::NotNtfy(_) | Failure::Message { .. }) => {
                    self.ntfy.publish(message, now).await
                }
                cleared => cleared.map(|()| Delivered {
                    id: format!("clear {} {}", message.sequence, now.timestamp()),
                    updates: true,
                }),
            },
        }
    }

    async fn note_sent(
        &self,
        letter: &Letter,
        delivered: &Delivered,
        now: DateTime<Utc>,
    ) -> Result<(), StoreError> {
        let told: Vec<_> = (letter.alerts.iter())
            .map(|(alert, starts)| (alert.id, *starts))
            .collect();
        // A digest is no notification that one of its alerts could update.
        let updates = delivered.updates && told.len() == 1;
        let note = async || {
            let mut tx = self.folga.store.begin().await?;
            outbox::sent(&mut tx, &told, &delivered.id, updates, now).await?;
            delivery::open(&mut tx).await?;
            tx.commit().await
        };
        // A drain may be replacing one of them. What is not noted is sent twice.
        match note().await {
            Err(error) if worth_retrying(&error) => note().await,
            noted => noted,
        }
    }

    /// Notes a failure, and tells whether others would fail too.
    async fn note_failed(
        &self,
        letter: &Letter,
        failure: &Failure,
        failures: u32,
        now: DateTime<Utc>,
    ) -> Result<bool, StoreError> {
        let mut tx = self.folga.store.begin().await?;
        let words = failure.to_string();
        let concerns_all = failure.concerns_all();
        if concerns_all {
            let until = failure.retry_at(failures, now);
            delivery::close(&mut tx, until, &words, &self.settings.fingerprint(), now).await?;
            outbox::release(&mut tx, &ids(letter)).await?;
            if matches!(failure, Failure::Refused { .. }) {
                tracing::error!(error = words, next = %until, "alerts can't be sent until the settings are mended");
            } else {
                tracing::warn!(error = words, next = %until, "alerts could not be sent: they are tried again");
            }
        } else {
            let attempts = letter.alerts.first().map_or(0, |(alert, _)| alert.attempts);
            let until = failure.retry_at(attempts, now);
            outbox::hold(&mut tx, &ids(letter), until, &words, true, now).await?;
            tracing::error!(error = words, next = %until, "an alert was not taken: it is tried again");
        }
        tx.commit().await?;
        Ok(concerns_all)
    }
}

fn ids(letter: &Letter) -> Vec<i64> {
    letter.alerts.iter().map(|(alert, _)| alert.id).collect()
}
