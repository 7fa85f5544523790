//! What waits to be told.

use std::fmt;

use chrono::{DateTime, Utc};
use serde::Serialize;
use utoipa::ToSchema;

use super::Level;

/// What there is to tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
#[schema(as = AlertKind)]
pub enum Kind {
    /// It began or got worse.
    Raised,
    /// It is over.
    Ended,
    /// It happened, and has no end.
    Event,
}

impl Kind {
    /// Its name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Raised => "raised",
            Self::Ended => "ended",
            Self::Event => "event",
        }
    }

    /// What a name stands for.
    #[must_use]
    pub fn of_name(name: &str) -> Self {
        match name {
            "ended" => Self::Ended,
            "event" => Self::Event,
            _ => Self::Raised,
        }
    }
}

/// An alert that is due.
#[derive(Clone, Debug)]
pub struct Due {
    /// Its number.
    pub id: i64,
    /// The environment; empty where it concerns all.
    pub environment: String,
    /// What it is about.
    pub key: String,
    /// What there is to tell of it.
    pub kind: Kind,
    /// How bad it is, or was.
    pub level: Level,
    /// In a line.
    pub title: String,
    /// What there is to know.
    pub text: String,
    /// Path and query of the page that shows more.
    pub link: Option<String>,
    /// What of the same was sent last.
    pub last: Option<LastSent>,
    /// When the same was last told of something as bad that had just begun.
    pub last_alike: Option<DateTime<Utc>>,
    /// Until when nobody wants to hear of it.
    pub silent_until: Option<DateTime<Utc>>,
    /// Attempts that failed for reasons of its own.
    pub attempts: u32,
}

impl Due {
    /// What people believe is alerted, where they believe it.
    #[must_use]
    pub fn open(&self) -> Option<LastSent> {
        self.last.filter(|last| last.kind == Kind::Raised)
    }

    /// Whether it is worse than people know, though it may be over.
    #[must_use]
    pub fn is_worse(&self) -> bool {
        self.open().is_none_or(|last| self.level > last.level)
    }
}

/// What was sent last of something.
#[derive(Clone, Copy, Debug)]
pub struct LastSent {
    /// What was told.
    pub kind: Kind,
    /// How bad it was.
    pub level: Level,
    /// Whether it is a notification of its own that can be updated in place.
    pub updates: bool,
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
