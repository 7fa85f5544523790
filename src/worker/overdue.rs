//! Notes drains that are overdue for another reason than a server that is down, which has an alert of its own.

use std::time::Instant;

use chrono::{DateTime, TimeDelta, Utc};

use super::{
    Folga,
    board::{Board, Line},
    drain::RUN_LIMIT,
    findings,
};
use crate::{
    alert::{
        Level,
        key::{self, Trouble},
        service_words::Place,
    },
    store::{StoreError, standings},
};

/// A clock that differs from the time that passed by more than this was set.
const STEP: TimeDelta = TimeDelta::minutes(1);

/// From when drains may be called overdue: none could succeed while a server was down, and a clock that was set tells
/// nothing of what was due before.
#[derive(Debug)]
pub struct Overdue {
    counted_from: DateTime<Utc>,
    last_look: (Instant, DateTime<Utc>),
}

impl Overdue {
    /// Nothing is overdue yet.
    #[must_use]
    pub fn new(now: DateTime<Utc>) -> Self {
        Self {
            counted_from: now,
            last_look: (Instant::now(), now),
        }
    }

    /// Notes that a server is down: what was due is counted anew.
    pub fn begin_anew(&mut self, now: DateTime<Utc>) {
        self.counted_from = now;
    }

    /// Looks for drains that are overdue, and notes them.
    ///
    /// # Errors
    /// The database failed.
    pub async fn look(&mut self, folga: &Folga, board: &Board) -> Result<(), StoreError> {
        let now = folga.clock.now();
        if !folga.clock.stands() {
            self.notice_step(now, Instant::now());
        }
        let mut tx = folga.store.begin().await?;
        let redis = standings::of(&mut tx, key::EVERYWHERE, key::REDIS).await?;
        if redis.level > Level::Ok {
            self.begin_anew(now);
        }
        tx.rollback().await?;
        for line in &board.lines {
            if !board.is_late(line, self.counted_from, now) || is_running(line, now) {
                continue;
            }
            let place = Place {
                environment: &line.environment,
                source: &line.source,
            };
            let failing = key::of_source(place.source, Trouble::Failing);
            let mut tx = folga.store.begin().await?;
            // One trouble is told once.
            if standings::of(&mut tx, place.environment, &failing).await?.level == Level::Ok {
                findings::overdue(&mut tx, folga, place, line.standing().last_success).await?;
            }
            tx.commit().await?;
        }
        Ok(())
    }

    fn notice_step(&mut self, now: DateTime<Utc>, at: Instant) {
        let (last_at, last) = self.last_look;
        let passed = TimeDelta::from_std(at.duration_since(last_at)).unwrap_or(TimeDelta::MAX);
        if (now - last - passed).abs() > STEP {
            self.begin_anew(now);
        }
        self.last_look = (at, now);
    }
}

/// Whether a run is under way that may still end.
fn is_running(line: &Line, now: DateTime<Utc>) -> bool {
    let limit = TimeDelta::from_std(RUN_LIMIT).unwrap_or(TimeDelta::MAX);
    (line.standing().running_since).is_some_and(|since| since <= now && now < since + limit)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_clock_that_was_set_makes_nothing_overdue() {
        let began: DateTime<Utc> = "2025-03-10T12:00:00Z".parse().unwrap();
        let mut overdue = Overdue::new(began);
        let start = overdue.last_look.0;
        let mut look = |clock: i64, passed: u64| {
            let now = began + TimeDelta::minutes(clock);
            overdue.notice_step(now, start + Duration::from_mins(passed));
            (overdue.counted_from - began).num_minutes()
        };
        // The clock is as good as the time that passed.
        assert_eq!(look(5, 5), 0);
        // An hour ahead at once; then as usual; then back.
        assert_eq!(look(66, 6), 66);
        assert_eq!(look(67, 7), 66);
        assert_eq!(look(8, 8), 8);
    }
}
