//! How a page writes things.

use chrono::{DateTime, SecondsFormat, Utc};
use chrono_tz::Tz;

use crate::{calibration::Action, language::Language, report::RecommendationView, time::Day};

/// The language and the zone of a page.
#[derive(Clone, Copy, Debug)]
pub struct Words {
    /// The language.
    pub language: Language,
    /// The zone that times are written in.
    pub zone: Tz,
}

/// An instant as people and as machines read it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Time {
    pub(super) shown: String,
    pub(super) machine: String,
}

impl Words {
    pub(super) fn text(self, key: &str) -> String {
        self.language.text(key)
    }

    pub(super) fn with<const N: usize>(self, key: &str, put_in: &[(&'static str, String); N]) -> String {
        self.language.text_with(key, put_in)
    }

    pub(super) fn number(self, number: impl Into<u128>) -> String {
        self.language.integer(number.into())
    }

    /// A number that may be missing.
    pub(super) fn number_or_dash(self, number: Option<u64>) -> String {
        number.map_or_else(|| "–".to_owned(), |number| self.number(number))
    }

    pub(super) fn time(self, instant: DateTime<Utc>) -> Time {
        Time {
            shown: self.language.minute(instant, self.zone),
            machine: instant.to_rfc3339_opts(SecondsFormat::Secs, true),
        }
    }

    pub(super) fn day(self, day: Day) -> String {
        self.language.day(day)
    }

    /// A window as it is said: 15 min, 1 h, 1 day.
    pub(super) fn window(self, window: &str) -> String {
        let (number, key) = match window.char_indices().last() {
            Some((at, 's')) => (&window[..at], "window-seconds"),
            Some((at, 'm')) => (&window[..at], "window-minutes"),
            Some((at, 'h')) => (&window[..at], "window-hours"),
            _ => return self.text("window-day"),
        };
        self.with(key, &[("number", number.to_owned())])
    }

    /// What to do, with the value where there is one to be set.
    pub(super) fn action(self, recommendation: &RecommendationView) -> String {
        match (recommendation.action, recommendation.limit) {
            (Action::Raise, Some(value)) => self.with("action-raise-to", &[("value", self.number(value))]),
            (Action::Lower, Some(value)) => self.with("action-lower-to", &[("value", self.number(value))]),
            (action, _) => self.text(&format!("action-{}", action_word(action))),
        }
    }
}

pub(super) const fn action_word(action: Action) -> &'static str {
    match action {
        Action::Wait => "wait",
        Action::Review => "review",
        Action::Raise => "raise",
        Action::Lower => "lower",
        Action::Keep => "keep",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_are_said() {
        let words = |language| Words {
            language,
            zone: chrono_tz::UTC,
        };
        let english = words(Language::English);
        for (window, said) in [("5s", "5 s"), ("15m", "15 min"), ("24h", "24 h"), ("1d", "1 day")] {
            assert_eq!(english.window(window), said);
        }
        assert_eq!(words(Language::Portuguese).window("1d"), "1 dia");
    }
}
