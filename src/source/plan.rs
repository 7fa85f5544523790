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
