//! Whether an alert that is due goes out now: pure.

use chrono::{DateTime, TimeDelta, Utc};

use super::{Due, Kind, Level};

/// What becomes of an alert that is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It goes out. It begins a cooldown where somebody hears of something new.
    Send {
        /// Whether it begins one.
        starts_cooldown: bool,
    },
    /// Somebody was told of the same a short while ago.
    Cooldown(DateTime<Utc>),
    /// Nobody wants to hear of it for a while.
    Silence(DateTime<Utc>),
    /// It is over before anybody wanted to hear of it.
    Drop,
}

/// Decides. Getting worse and ending are always told of what was told; what nobody was told of waits for the cooldown,
/// even where it is over by now. `noted` is for how long Redis still remembers that the same was told.
#[must_use]
pub fn fate(alert: &Due, cooldown: TimeDelta, noted: Option<TimeDelta>, now: DateTime<Utc>) -> Fate {
    let open = alert.last.filter(|last| last.kind == Kind::Raised);
    if alert.kind == Kind::Ended && open.is_some() {
        return Fate::Send {
            starts_cooldown: false,
        };
    }
    if let Some(until) = alert.silent_until {
        return if alert.kind == Kind::Ended {
            Fate::Drop
        } else {
            Fate::Silence(until)
        };
    }
    let got_worse = alert.kind == Kind::Raised && open.is_some_and(|last| alert.level > last.level);
    if !got_worse {
        // A time ahead of the clock tells that the clock was set back: it keeps nobody silent.
        let told = alert
            .last_alike
            .filter(|told| *told <= now)
            .map(|told| told + cooldown);
        let noted = noted.map(|life| now + life.min(cooldown));
        if let Some(until) = told.max(noted).filter(|until| *until > now) {
            return Fate::Cooldown(until);
        }
    }
    Fate::Send {
        starts_cooldown: true,
    }
}

/// How urgent a notification is, from 1 to 5.
#[must_use]
pub const fn priority(level: Level, kind: Kind) -> u8 {
    match (kind, level) {
        (Kind::Ended, _) | (_, Level::Ok) => 2,
        (_, Level::Warning) => 3,
        (_, Level::Near | Level::Refused) => 4,
        (_, Level::Over | Level::Critical) => 5,
    }
}

/// What a notification is marked with; the server makes a picture of it.
#[must_use]
pub const fn tag(level: Level, kind: Kind) -> &'static str {
    match (kind, level) {
        (Kind::Ended, _) | (_, Level::Ok) => "white_check_mark",
        (_, Level::Warning) => "wrench",
        (_, Level::Near) => "warning",
        (_, Level::Refused) => "no_entry",
        (_, Level::Over | Level::Critical) => "rotating_light",
    }
}
