//! A whole UTC hour.

use chrono::{DateTime, Utc};

use super::Minute;

/// A whole UTC hour, counted from the Unix epoch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Hour(i64);

impl Hour {
    /// The hour that holds an instant.
    #[must_use]
    pub fn containing(instant: DateTime<Utc>) -> Self {
        Self(instant.timestamp().div_euclid(3600))
    }

    /// The hour with this number of hours since the epoch.
    #[must_use]
    pub const fn from_index(index: i64) -> Self {
        Self(index)
    }

    /// Hours since the epoch.
    #[must_use]
    pub const fn index(self) -> i64 {
        self.0
    }

    /// Its first minute.
    #[must_use]
    pub const fn first_minute(self) -> Minute {
        Minute::from_index(self.0 * 60)
    }

    /// The hour after it.
    #[must_use]
    pub const fn next(self) -> Self {
        Self(self.0 + 1)
    }

    /// The instant at which it starts.
    #[must_use]
    pub fn start(self) -> DateTime<Utc> {
        self.first_minute().start()
    }
}
