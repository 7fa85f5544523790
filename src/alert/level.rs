//! How bad something is.

use std::fmt;

use serde::Serialize;
use utoipa::ToSchema;

use crate::catalog::{Limit, alert_at};

/// How bad something is that somebody may have to be told.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
#[schema(as = AlertLevel)]
pub enum Level {
    /// Nothing is to be told.
    #[default]
    Ok,
    /// A limit's alert is reached.
    Near,
    /// More than the limit was in one window.
    Over,
    /// Requests were refused by whoever counts them.
    Refused,
    /// Something of the service needs a look.
    Warning,
    /// The service can't do its work.
    Critical,
}

const NAMES: [(Level, &str); 6] = [
    (Level::Ok, "ok"),
    (Level::Near, "near"),
    (Level::Over, "over"),
    (Level::Refused, "refused"),
    (Level::Warning, "warning"),
    (Level::Critical, "critical"),
];

impl Level {
    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        let named = NAMES.iter().find(|(level, _)| *level == self);
        named.map_or("", |(_, name)| name)
    }

    /// The level of a name. A newer version's word for something is at least worth a look.
    #[must_use]
    pub fn of_name(text: &str) -> Self {
        let named = NAMES.iter().find(|(_, name)| *name == text);
        named.map_or(Self::Warning, |(level, _)| *level)
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// What the windows of a limit are held against.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lines {
    /// The smallest count that is told.
    pub alert_at: u64,
    /// What reaching it means.
    pub reached: Level,
    /// The limit itself, of which more than it is worse; none where nothing is limited.
    pub limit: Option<u64>,
}

impl Lines {
    /// Where even one request is to be told.
    pub const REFUSED: Self = Self {
        alert_at: 1,
        reached: Level::Refused,
        limit: None,
    };

    /// The lines of a limit in an environment; none where it is not to be alerted.
    #[must_use]
    pub fn of(limit: &Limit, environment: &str, alert_percent: u32) -> Option<Self> {
        use crate::catalog::Mode;
        if !limit.exists_in(environment) {
            return None;
        }
        let (alert_at, value) = match (limit.mode_in(environment), limit.value_in(environment)) {
            (Mode::Observe | Mode::Block, Some(value)) => (alert_at(value, alert_percent), Some(value)),
            (Mode::Watch, _) => (limit.watch_alert?, None),
            _ => return None,
        };
        Some(Self {
            alert_at,
            reached: Level::Near,
            limit: value,
        })
    }

    /// What a count means.
    #[must_use]
    pub fn level(&self, count: u64) -> Level {
        if self.limit.is_some_and(|limit| count > limit) {
            Level::Over
        } else if count >= self.alert_at {
            self.reached
        } else {
            Level::Ok
        }
    }

    /// The smallest count that keeps an alert from ending: 90 % of what begins one, so that a value which hovers about
    /// the line does not begin and end alerts all the time.
    #[must_use]
    pub fn clear_at(&self) -> u64 {
        u64::try_from((u128::from(self.alert_at) * 9).div_ceil(10)).unwrap_or(u64::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_keep_their_names() {
        for (level, name) in NAMES {
            assert_eq!((level.name(), Level::of_name(name)), (name, level));
        }
        assert_eq!(Level::of_name("worse"), Level::Warning);
    }

    #[test]
    fn counts_are_held_against_both_lines() {
        // 70 % of 30 is 21; 90 % of 21 is 18.9.
        let lines = Lines {
            alert_at: 21,
            reached: Level::Near,
            limit: Some(30),
        };
        let levels = [20, 21, 30, 31].map(|count| lines.level(count));
        assert_eq!(levels, [Level::Ok, Level::Near, Level::Near, Level::Over]);
        assert_eq!(lines.clear_at(), 19);
        assert_eq!(Lines::REFUSED.level(1), Level::Refused);
        assert_eq!(Lines::REFUSED.clear_at(), 1);
    }
}
