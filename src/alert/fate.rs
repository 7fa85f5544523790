//! Whether an alert that is due goes out now: pure.

use chrono::{DateTime, TimeDelta, Utc};

use super::{Due, Kind, Level, key};

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
    /// It is over, and nobody wants to hear of it.
    Drop,
}

/// Decides. Getting worse and ending are always told of what was told; what nobody was told of waits for the cooldown,
/// even where it is over by now. `noted` is for how long Redis still remembers that the same was told.
#[must_use]
pub fn fate(alert: &Due, cooldown: TimeDelta, noted: Option<TimeDelta>, now: DateTime<Utc>) -> Fate {
    let open = alert.open();
    if alert.kind == Kind::Ended && open.is_some() && (!alert.is_worse() || alert.silent_until.is_some()) {
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
    let got_worse = alert.kind != Kind::Event && open.is_some() && alert.is_worse();
    if !got_worse {
        // A time ahead of the clock tells that the clock was set back: it keeps nobody silent.
        let last_told = alert.last_alike.filter(|told| *told <= now);
        // Of the service itself, that something was amiss again for a moment is no news.
        let is_over_unheard = alert.kind == Kind::Ended && key::limit(&alert.key).is_none();
        if is_over_unheard && last_told.is_some_and(|told| now < told + cooldown * 2) {
            return Fate::Drop;
        }
        let told = last_told.map(|told| told + cooldown);
        let noted = noted.map(|life| now + life.min(cooldown));
        if let Some(until) = told.max(noted).filter(|until| *until > now) {
            return Fate::Cooldown(until);
        }
    }
    Fate::Send {
        starts_cooldown: true,
    }
}

/// How urgent a notification is, from 1 to 5. That something is over is quiet, but not where nobody knew of it.
#[must_use]
pub const fn priority(level: Level, kind: Kind, was_told: bool) -> u8 {
    match (kind, level) {
        (Kind::Ended, _) if !was_told => 3,
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::alert::LastSent;

    const COOLDOWN: TimeDelta = TimeDelta::minutes(15);

    fn at(text: &str) -> DateTime<Utc> {
        format!("2025-03-10T{text}Z").parse().unwrap()
    }

    fn due(kind: Kind, level: Level) -> Due {
        Due {
            id: 1,
            environment: "prod".to_owned(),
            key: "send-otp.ip".to_owned(),
            kind,
            level,
            title: String::new(),
            text: String::new(),
            link: None,
            last: None,
            last_alike: None,
            silent_until: None,
            attempts: 0,
        }
    }

    fn told(level: Level) -> LastSent {
        LastSent {
            kind: Kind::Raised,
            level,
            updates: true,
        }
    }

    fn now(alert: &Due) -> Fate {
        fate(alert, COOLDOWN, None, at("12:00:00"))
    }

    #[test]
    fn what_nobody_was_told_of_waits_for_the_cooldown() {
        for kind in [Kind::Raised, Kind::Ended, Kind::Event] {
            let mut alert = due(kind, Level::Near);
            assert_eq!(
                now(&alert),
                Fate::Send {
                    starts_cooldown: true
                }
            );
            alert.last_alike = Some(at("11:50:00"));
            assert_eq!(now(&alert), Fate::Cooldown(at("12:05:00")));
            // It is over by the second.
            alert.last_alike = Some(at("11:45:00"));
            assert_eq!(
                now(&alert),
                Fate::Send {
                    starts_cooldown: true
                }
            );
            // The clock was set back.
            alert.last_alike = Some(at("12:30:00"));
            assert_eq!(
                now(&alert),
                Fate::Send {
                    starts_cooldown: true
                }
            );
        }
    }

    #[test]
    fn a_short_fault_of_the_service_itself_that_nobody_heard_of_is_dropped_within_the_cooldown() {
        let mut alert = due(Kind::Ended, Level::Critical);
        alert.key = key::REDIS.to_owned();
        let starts = Fate::Send {
            starts_cooldown: true,
        };
        assert_eq!(now(&alert), starts);
        alert.last_alike = Some(at("11:30:01"));
        assert_eq!(now(&alert), Fate::Drop);
        alert.last_alike = Some(at("11:30:00"));
        assert_eq!(now(&alert), starts);
    }

    #[test]
    fn redis_may_remember_what_the_database_does_not() {
        let alert = due(Kind::Raised, Level::Near);
        let with = |noted| fate(&alert, COOLDOWN, Some(noted), at("12:00:00"));
        assert_eq!(with(TimeDelta::minutes(3)), Fate::Cooldown(at("12:03:00")));
        // Never longer than a cooldown lasts.
        assert_eq!(with(TimeDelta::hours(9)), Fate::Cooldown(at("12:15:00")));
    }

    #[test]
    fn getting_worse_and_ending_are_told_at_once() {
        let mut worse = due(Kind::Raised, Level::Over);
        worse.last = Some(told(Level::Near));
        worse.last_alike = Some(at("11:59:00"));
        assert_eq!(
            now(&worse),
            Fate::Send {
                starts_cooldown: true
            }
        );
        // That it got worse counts, though it is over by now.
        worse.kind = Kind::Ended;
        assert_eq!(
            now(&worse),
            Fate::Send {
                starts_cooldown: true
            }
        );
        let mut ended = due(Kind::Ended, Level::Over);
        ended.last = Some(told(Level::Over));
        ended.last_alike = Some(at("11:59:00"));
        ended.silent_until = Some(at("13:00:00"));
        assert_eq!(
            now(&ended),
            Fate::Send {
                starts_cooldown: false
            }
        );
        // No worse than what was told.
        let mut again = due(Kind::Raised, Level::Near);
        again.last = Some(told(Level::Near));
        again.last_alike = Some(at("11:59:00"));
        assert_eq!(now(&again), Fate::Cooldown(at("12:14:00")));
    }

    #[test]
    fn what_is_over_is_quiet_where_somebody_was_told() {
        let priorities = |kind, was_told| {
            [
                Level::Warning,
                Level::Near,
                Level::Refused,
                Level::Over,
                Level::Critical,
            ]
            .map(|level| priority(level, kind, was_told))
        };
        assert_eq!(priorities(Kind::Raised, false), [3, 4, 4, 5, 5]);
        assert_eq!(priorities(Kind::Ended, true), [2; 5]);
        assert_eq!(priorities(Kind::Ended, false), [3; 5]);
    }

    #[test]
    fn nobody_hears_of_what_is_silenced() {
        let mut alert = due(Kind::Raised, Level::Over);
        alert.last = Some(told(Level::Near));
        alert.silent_until = Some(at("13:00:00"));
        assert_eq!(now(&alert), Fate::Silence(at("13:00:00")));
        let mut ended = due(Kind::Ended, Level::Over);
        ended.silent_until = Some(at("13:00:00"));
        assert_eq!(now(&ended), Fate::Drop);
    }
}
