//! Days and times as a language writes them.

use chrono::{DateTime, Utc};
use chrono_tz::Tz;

use super::Language;
use crate::time::Day;

impl Language {
    /// A day: 2026-03-10 or 10/03/2026.
    #[must_use]
    pub fn day(self, day: Day) -> String {
        day.format(match self {
            Self::English => "%Y-%m-%d",
            Self::Portuguese => "%d/%m/%Y",
        })
        .to_string()
    }

    /// A day of a year that is clear: 03-10 or 10/03.
    #[must_use]
    pub fn short_day(self, day: Day) -> String {
        day.format(match self {
            Self::English => "%m-%d",
            Self::Portuguese => "%d/%m",
        })
        .to_string()
    }

    /// A minute in a zone's time: 2026-03-10 12:51 or 10/03/2026 12:51.
    #[must_use]
    pub fn minute(self, instant: DateTime<Utc>, zone: Tz) -> String {
        let local = instant.with_timezone(&zone);
        format!("{} {}", self.day(local.date_naive()), local.format("%H:%M"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_and_minutes_are_local() {
        let instant = "2026-03-10T01:51:00Z".parse().unwrap();
        let zone = chrono_tz::America::Sao_Paulo;
        assert_eq!(Language::English.minute(instant, zone), "2026-03-09 22:51");
        let day = instant.with_timezone(&zone).date_naive();
        assert_eq!(Language::Portuguese.short_day(day), "09/03");
        assert_eq!(Language::Portuguese.minute(instant, zone), "09/03/2026 22:51");
    }
}
