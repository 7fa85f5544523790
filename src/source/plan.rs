//! Which minutes a drain reads now: pure, from the clock and what was read before.

use std::collections::BTreeSet;

use chrono::{DateTime, TimeDelta, Utc};

use crate::{
    catalog::Source,
    time::{Hour, Minute},
};

/// The minutes of one source and environment that one drain has to do with.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Readable minutes to read now, ascending.
    pub due: BTreeSet<Minute>,
    /// The instant the plan was made for.
    now: DateTime<Utc>,
    /// The first readable minute.
    readable_from: Minute,
    /// The first minute that is not closed yet.
    closed_before: Minute,
    /// The first minute that may not exist yet by any clock: a key's life ahead.
    ahead_from: Minute,
    /// Samples of hours before this one are refused.
    sealed_before: Hour,
}

/// What to do with a key of some minute.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Read it.
    Read,
    /// Nothing to do now: read often enough, or not closed yet.
    Skip,
    /// It is ahead of this clock; it is read when its minute has closed.
    Ahead,
    /// Refuse it, for this reason.
    Reject(&'static str),
}

impl Plan {
    /// A minute is readable from its end + grace until its start + TTL. It is due until it has been read at or after
    /// its close + lateness, which `settled` tells.
    pub fn new(
        now: DateTime<Utc>,
        source: &Source,
        sealed_before: Hour,
        settled: impl Fn(Minute) -> bool,
    ) -> Self {
        // m + 60 s + grace <= now  <=>  m < the minute after the one that holds now - 60 s - grace.
        let closed_before = Minute::containing(now - source.grace);
        // now < m + ttl  <=>  m > now - ttl.
        let readable_from = Minute::containing(now - source.ttl)
            .plus(1)
            .max(sealed_before.first_minute());
        let due = (readable_from.index()..closed_before.index())
            .map(Minute::from_index)
            .filter(|minute| !settled(*minute))
            .collect();
        let ahead_from = Minute::containing(now + source.ttl);
        Self {
            due,
            now,
            readable_from,
            closed_before,
            ahead_from,
            sealed_before,
        }
    }

    /// Whether a minute can be vouched for if its read finishes at `finished`.
    #[must_use]
    pub fn still_readable(&self, minute: Minute, source: &Source, finished: DateTime<Utc>) -> bool {
        minute < self.closed_before && minute.start() + source.ttl > finished
    }

    /// The first minute that is not closed.
    #[must_use]
    pub const fn closed_before(&self) -> Minute {
        self.closed_before
    }

    /// The minute of the run, to which samples of gauges belong.
    pub(super) fn sampled(&self) -> Minute {
        Minute::containing(self.now)
    }

    /// The first minute that can still be read.
    #[must_use]
    pub const fn readable_from(&self) -> Minute {
        self.readable_from
    }

    /// Whether a key of this minute should be gone. A life may be counted from any moment of the minute, and expiry takes
    /// its time.
    pub(super) fn outlived(&self, minute: Minute, source: &Source) -> bool {
        minute.end() + source.ttl + TimeDelta::minutes(1) < self.now
    }

    /// How far ahead of the plan's instant a minute starts.
    pub(super) fn lead(&self, minute: Minute) -> TimeDelta {
        minute.start() - self.now
    }

    /// What to do with a key of this minute that was met in Redis.
    #[must_use]
    pub fn judge(&self, minute: Minute) -> Verdict {
        if minute.hour() < self.sealed_before {
            Verdict::Reject("its hour is sealed: the minute is older than the minute store keeps")
        } else if minute >= self.ahead_from {
            Verdict::Reject("its minute lies further ahead than a key can live: check the producer's clock")
        } else if minute.start() > self.now {
            Verdict::Ahead
        } else if minute >= self.closed_before {
            Verdict::Skip
        } else if minute < self.readable_from || self.due.contains(&minute) {
            Verdict::Read
        } else {
            Verdict::Skip
        }
    }
}

#[cfg(test)]
mod tests {
    use chrono::TimeDelta;

    use super::*;
    use crate::source::fixture::hashes;

    /// A source of two hours' life and 5 s grace, planned at 2025-03-10 12:30:10 with nothing read and nothing sealed.
    fn plan() -> (Source, Plan) {
        let source = hashes("gateway", "{env}m:{endpoint}:{minute}", "{identity}");
        let plan = Plan::new(
            minute("202503101230").start() + TimeDelta::seconds(10),
            &source,
            Hour::from_index(0),
            |_| false,
        );
        (source, plan)
    }

    fn minute(text: &str) -> Minute {
        Minute::parse(text.as_bytes(), crate::time::MinuteFormat::Compact).unwrap()
    }

    #[test]
    fn readable_minutes_are_due() {
        // 10:30 lived until 12:30:00; 12:29 closed at 12:30:05.
        let (_, plan) = plan();
        assert_eq!(plan.due.first(), Some(&minute("202503101031")));
        assert_eq!(plan.due.last(), Some(&minute("202503101229")));
        assert_eq!(plan.due.len(), 119);
    }

    #[test]
    fn keys_are_judged_by_their_minute() {
        let (source, plan) = plan();
        let judge = |text| plan.judge(minute(text));
        assert_eq!(judge("202503101229"), Verdict::Read);
        assert_eq!(judge("202503101230"), Verdict::Skip);
        assert_eq!(judge("202503101231"), Verdict::Ahead);
        assert_eq!(judge("202503101240"), Verdict::Ahead);
        assert!(matches!(judge("203001010000"), Verdict::Reject(_)));
        // Older than its life but still there: read, though nobody vouches for its minute.
        assert_eq!(judge("202503100900"), Verdict::Read);
        let now = minute("202503101230").start();
        let sealed = Plan::new(now, &source, minute("202503101200").hour(), |m| {
            m == minute("202503101210")
        });
        assert!(matches!(sealed.judge(minute("202503101159")), Verdict::Reject(_)));
        assert_eq!(sealed.judge(minute("202503101210")), Verdict::Skip);
        assert_eq!(sealed.due.first(), Some(&minute("202503101200")));
    }

    #[test]
    fn a_minute_that_died_while_it_was_read_is_not_vouched_for() {
        let (source, plan) = plan();
        let finished = |text| minute(text).start();
        assert!(plan.still_readable(minute("202503101031"), &source, finished("202503101230")));
        assert!(!plan.still_readable(minute("202503101031"), &source, finished("202503101231")));
        assert!(!plan.still_readable(minute("202503101230"), &source, finished("202503101231")));
    }
}
