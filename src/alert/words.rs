//! What somebody is told.

use chrono::{DateTime, TimeDelta, Utc};
use chrono_tz::Tz;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};

use super::{Level, Lines, Turn};
use crate::{
    catalog::{Limit, spelt},
    time::{Algorithm, Window},
};

/// An alert in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Words {
    /// In a line.
    pub title: String,
    /// What there is to know.
    pub text: String,
    /// Path and query of the page that shows more.
    pub link: Option<String>,
}

/// A limit that has something to tell.
#[derive(Clone, Copy, Debug)]
pub struct Subject<'a> {
    /// The limit.
    pub limit: &'a Limit,
    /// The environment.
    pub environment: &'a str,
    /// What its windows are held against.
    pub lines: Lines,
    /// The catalog's zone.
    pub zone: Tz,
}

/// Who reached the alert.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reached {
    /// How many identities.
    pub identities: usize,
    /// Whether that is all of them.
    pub all: bool,
    /// Those with the largest windows, as they may be shown, and what these held.
    pub top: Vec<(String, u64)>,
}

/// What is told of a limit's windows. What was seen long before `now` is called late, where a drain would have told it
/// sooner but for `late_after`.
#[must_use]
pub fn of_limit(
    subject: &Subject<'_>,
    turn: &Turn,
    reached: &Reached,
    now: DateTime<Utc>,
    late_after: TimeDelta,
) -> Words {
    let Subject {
        limit, environment, ..
    } = *subject;
    let id = &limit.id;
    // Below a minute a window is only bounded, and samples show what they meet.
    let bounded = matches!(limit.window, Window::Seconds(_)) || limit.algorithm == Algorithm::Sampled;
    let at_least = if bounded { "at least " } else { "" };
    let held = match subject.lines.limit {
        Some(limit) => format!(
            "{at_least}{} of {limit} ({})",
            turn.peak.count,
            percent(turn.peak.count, limit)
        ),
        None => format!(
            "{at_least}{}, alert at {}",
            turn.peak.count, subject.lines.alert_at
        ),
    };
    // What is allowed may have been raised since.
    let is_allowed = subject.lines.level(turn.peak.count) < turn.level;
    let title = if turn.ended && is_allowed {
        format!(
            "{environment}: {id} is ok again, was {} before it was raised",
            turn.level
        )
    } else if turn.ended {
        format!("{environment}: {id} is ok again, was {} with {held}", turn.level)
    } else if turn.level == Level::Over {
        format!("{environment}: {id} is over its limit with {held}")
    } else if subject.lines.limit.is_some() {
        format!("{environment}: {id} is near its limit with {held}")
    } else {
        format!("{environment}: {id} reached {held}")
    };
    let mut lines = vec![format!(
        "{held} within {} at {}.",
        limit.window,
        local(turn.peak.minute.start(), subject.zone)
    )];
    if !reached.top.is_empty() {
        lines.push(who(limit, subject.lines, reached));
    }
    let begun = local(turn.since.start(), subject.zone);
    if turn.ended {
        lines.push(format!("It began at {begun} and is over."));
    } else if turn.since != turn.peak.minute {
        lines.push(format!("It began at {begun}."));
    }
    let age = now - turn.peak.minute.end();
    if turn.is_new && age > late_after {
        let age = spelt(TimeDelta::minutes(age.num_minutes()));
        lines.push(format!(
            "These are late data: they were read {age} after they were counted."
        ));
    }
    Words {
        title,
        text: lines.join("\n"),
        link: Some(link(environment, Some(id))),
    }
}

/// What is told of requests that were refused.
#[must_use]
pub fn of_refused(subject: &Subject<'_>, turn: &Turn, refused: u128) -> Words {
    let Subject {
        limit, environment, ..
    } = *subject;
    let begun = local(turn.since.start(), subject.zone);
    let (title, text) = if turn.ended {
        (
            format!("{environment}: no more requests of {} are refused", limit.id),
            if turn.is_new {
                format!(
                    "{refused} requests were refused from {begun} on, at most {} in a minute. It is over.",
                    turn.peak.count
                )
            } else {
                format!(
                    "Requests were refused from {begun} on, at most {} in a minute. It is over.",
                    turn.peak.count
                )
            },
        )
    } else {
        (
            format!("{environment}: {refused} requests of {} were refused", limit.id),
            format!(
                "They were counted from {begun} on, at most {} in a minute.",
                turn.peak.count
            ),
        )
    };
    Words {
        title,
        text,
        link: Some(link(environment, Some(&limit.id))),
    }
}

/// What is told of a limit that is no longer alerted.
#[must_use]
pub fn of_gone(environment: &str, id: &str, level: Level) -> Words {
    Words {
        title: format!("{environment}: {id} is no longer alerted, was {level}"),
        text: "The catalog has no such limit any more, or nothing to hold it against.".to_owned(),
        link: Some(link(environment, None)),
    }
}

/// The page of a limit, or the overview.
#[must_use]
pub fn link(environment: &str, limit: Option<&str>) -> String {
    let environment = utf8_percent_encode(environment, NON_ALPHANUMERIC);
    match limit {
        Some(limit) => format!("/limits/{limit}?env={environment}"),
        None => format!("/?env={environment}"),
    }
}

/// An instant as people where the catalog is at home say it.
#[must_use]
pub fn local(instant: DateTime<Utc>, zone: Tz) -> String {
    instant.with_timezone(&zone).format("%H:%M on %-d %b").to_string()
}

fn who(limit: &Limit, lines: Lines, reached: &Reached) -> String {
    let all = if reached.all { "" } else { "at least " };
    let (count, scope, alert_at) = (reached.identities, &limit.scope, lines.alert_at);
    let top: Vec<_> = (reached.top.iter())
        .map(|(identity, held)| format!("{identity} {held}"))
        .collect();
    let noun = if count == 1 { "identity" } else { "identities" };
    let limited = if lines.limit.is_some() {
        "the alert at "
    } else {
        ""
    };
    format!(
        "{all}{count} {noun} ({scope}) reached {limited}{alert_at}: {}",
        top.join(", ")
    )
}

#[expect(clippy::cast_precision_loss, reason = "a ratio to read, not to decide on")]
fn percent(count: u64, limit: u64) -> String {
    let percent = format!("{:.1}", count as f64 * 100.0 / limit as f64);
    format!("{} %", percent.strip_suffix(".0").unwrap_or(&percent))
}
