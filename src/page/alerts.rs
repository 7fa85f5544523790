//! What is alerted now, and what was told last.

use super::{Frame, Words, words::Time};
use crate::{
    alert::{Kind, Level},
    report::{Alerts, printable},
    store::{
        alerts::{Alert, Alerted},
        silences::Silence,
    },
};

/// Alerts that are listed; the API has more.
const LAST: usize = 10;

/// The alerts of an environment, written.
#[derive(Debug)]
pub(super) struct AlertsPanel {
    pub(super) now: Vec<Now>,
    pub(super) last: Vec<Told>,
}

/// The alerts of a limit, written.
#[derive(Debug)]
pub(super) struct LimitAlerts {
    pub(super) now: Vec<Now>,
    pub(super) silence: Option<Silenced>,
}

/// Something that is alerted now.
#[derive(Debug)]
pub(super) struct Now {
    pub(super) name: String,
    /// Where the limit's page is.
    pub(super) href: Option<String>,
    pub(super) pill: LevelPill,
    pub(super) since: Option<Time>,
    pub(super) peak: Option<(String, Time)>,
    pub(super) silence: Option<Silenced>,
}

/// Until when nobody wants to hear of a limit, and why.
#[derive(Debug)]
pub(super) struct Silenced {
    pub(super) until: Time,
    pub(super) reason: String,
}

/// An alert that came up.
#[derive(Debug)]
pub(super) struct Told {
    pub(super) at: Time,
    pub(super) pill: LevelPill,
    /// In English, as it is sent.
    pub(super) title: String,
    pub(super) state: String,
    pub(super) sent: Option<Time>,
    /// Why it waits, in English.
    pub(super) held_by: Option<String>,
}

/// A level by colour, word and shape; none where it is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct LevelPill(Option<Level>);

impl LevelPill {
    fn of(alert: &Alert) -> Self {
        Self(Some(alert.level).filter(|_| alert.kind != Kind::Ended))
    }

    pub(super) const fn word(self) -> &'static str {
        match self.0 {
            None | Some(Level::Ok) => "ok",
            Some(Level::Near) => "near",
            Some(Level::Over) => "over",
            Some(Level::Refused) => "refused",
            Some(Level::Warning) => "warning",
            Some(Level::Critical) => "critical",
        }
    }

    pub(super) const fn key(self) -> &'static str {
        match self.0 {
            None => "level-ended",
            Some(Level::Ok) => "level-ok",
            Some(Level::Near) => "level-near",
            Some(Level::Over) => "level-over",
            Some(Level::Refused) => "level-refused",
            Some(Level::Warning) => "level-warning",
            Some(Level::Critical) => "level-critical",
        }
    }

    /// The outline of its shape, 12 wide and high.
    pub(super) const fn shape(self) -> &'static str {
        match self.0 {
            None | Some(Level::Ok) => "M6 1A5 5 0 1 1 6 11A5 5 0 1 1 6 1Z",
            Some(Level::Near | Level::Warning) => "M6 1L11.5 11H.5Z",
            Some(Level::Over | Level::Critical) => "M1 1H11V11H1Z",
            Some(Level::Refused) => "M6 .5L11.5 6L6 11.5L.5 6Z",
        }
    }
}

impl AlertsPanel {
    pub(super) fn new(alerts: &Alerts, frame: &Frame) -> Self {
        let words = frame.words;
        let now = |own: &Alerted| Now {
            href: (own.limit.as_ref()).map(|limit| frame.address.limit(limit).href()),
            silence: alerts.silence_of(own).map(|silence| silenced(silence, words)),
            ..Now::new(own, words)
        };
        Self {
            now: alerts.standings.iter().map(now).collect(),
            last: (alerts.alerts.iter().take(LAST))
                .map(|alert| told(alert, words))
                .collect(),
        }
    }
}

impl LimitAlerts {
    pub(super) fn new(alerts: &Alerts, environment: &str, limit: &str, words: Words) -> Self {
        let silence = alerts.silence(environment, limit);
        let is_own = |own: &&Alerted| own.environment == environment && own.limit.as_deref() == Some(limit);
        Self {
            now: (alerts.standings.iter().filter(is_own))
                .map(|own| Now::new(own, words))
                .collect(),
            silence: silence.map(|silence| silenced(silence, words)),
        }
    }
}

impl Now {
    /// Without what depends on the page.
    fn new(own: &Alerted, words: Words) -> Self {
        let name = own.limit.as_deref().unwrap_or(&own.key);
        Self {
            name: printable(name),
            href: None,
            pill: LevelPill(Some(own.level)),
            since: own.since.map(|since| words.time(since)),
            peak: own.peak.map(|peak| {
                let count = words.with("alert-peak", &[("peak", words.number(peak.count))]);
                (count, words.time(peak.at))
            }),
            silence: None,
        }
    }
}

fn silenced(silence: &Silence, words: Words) -> Silenced {
    Silenced {
        until: words.time(silence.until),
        reason: printable(&silence.reason),
    }
}

fn told(alert: &Alert, words: Words) -> Told {
    let key = match &*alert.state {
        "pending" => "alert-pending",
        "sent" => "alert-sent",
        "replaced" => "alert-replaced",
        "silenced" => "alert-silenced",
        _ => "alert-unsent",
    };
    let held_by = alert.held_by.as_deref().filter(|_| alert.state == "pending");
    Told {
        at: words.time(alert.created_at),
        pill: LevelPill::of(alert),
        title: printable(&alert.title),
        state: words.text(key),
        sent: alert.sent_at.map(|sent| words.time(sent)),
        held_by: held_by.map(printable),
    }
}
