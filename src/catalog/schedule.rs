//! Cron schedules: `sec min hour day month weekday`, UTC, weekday 0 or SUN = Sunday.

use std::{fmt, str::FromStr};

use chrono::{DateTime, TimeDelta, Utc};
use croner::{
    Cron,
    parser::{CronParser, Seconds},
};

/// When something runs. Six fields, seconds first, in UTC.
#[derive(Clone, Debug)]
pub struct Schedule {
    text: String,
    cron: Cron,
}

impl Schedule {
    /// The next run after an instant; none for a date that never comes.
    #[must_use]
    pub fn next_after(&self, instant: DateTime<Utc>) -> Option<DateTime<Utc>> {
        self.cron.find_next_occurrence(&instant, false).ok()
    }
}

impl fmt::Display for Schedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}
