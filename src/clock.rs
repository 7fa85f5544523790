//! The one place that reads the time.

use chrono::{DateTime, Utc};

/// What time it is: the system's, or a fixed instant given with `--at`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Clock {
    at: Option<DateTime<Utc>>,
}

impl Clock {
    /// A clock that stands at an instant, or runs with the system where there is none.
    #[must_use]
    pub const fn new(at: Option<DateTime<Utc>>) -> Self {
        Self { at }
    }

    /// Whether it stands still at an instant.
    #[must_use]
    pub const fn stands(&self) -> bool {
        self.at.is_some()
    }

    /// The present instant.
    #[must_use]
    #[expect(clippy::disallowed_methods, reason = "the one place")]
    pub fn now(&self) -> DateTime<Utc> {
        self.at.unwrap_or_else(Utc::now)
    }
}
