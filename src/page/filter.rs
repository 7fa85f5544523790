//! What a reviewer looks for first.

use crate::{
    calibration::{Action, Status},
    report::LimitView,
};

/// Limits that have something in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Filter {
    /// More than the limit was seen.
    Over,
    /// The alert is reached.
    Near,
    /// There is not enough evidence yet.
    Unproven,
    /// The status can't be known.
    Unknowable,
    /// Half of the limit or less would do.
    Loose,
}

impl Filter {
    /// All of them, the most pressing first.
    pub const ALL: [Self; 5] = [
        Self::Over,
        Self::Near,
        Self::Loose,
        Self::Unproven,
        Self::Unknowable,
    ];

    /// Its word in an address.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Over => "over",
            Self::Near => "near",
            Self::Unproven => "unproven",
            Self::Unknowable => "unknowable",
            Self::Loose => "loose",
        }
    }

    /// The one with this word.
    #[must_use]
    pub fn of_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|filter| filter.word() == word)
    }

    /// Whether a limit is one of them.
    #[must_use]
    pub fn holds(self, limit: &LimitView) -> bool {
        let is_advised = |action| {
            limit
                .recommendation
                .as_ref()
                .is_some_and(|recommendation| recommendation.action == action)
        };
        match self {
            Self::Over => limit.status == Status::Over,
            Self::Near => limit.status == Status::Near,
            Self::Unproven => is_advised(Action::Wait),
            Self::Unknowable => matches!(limit.status, Status::Unmeasurable | Status::NoData),
            Self::Loose => is_advised(Action::Lower),
        }
    }
}
