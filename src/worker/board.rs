//! How every source stands in every environment: what the scheduler notes and health and metrics show.

use std::sync::{Mutex, MutexGuard, PoisonError};

use chrono::{DateTime, TimeDelta, Utc};
use serde::Serialize;
use utoipa::ToSchema;

use super::drain::Drained;
use crate::{
    catalog::{Catalog, Schedule},
    store::runs::{RunOutcome, Spent},
};

/// A drain may take this long, beyond its source's grace, before a success counts as late.
const PATIENCE: TimeDelta = TimeDelta::seconds(10);

/// One line per source and environment, in the catalog's order.
#[derive(Debug)]
pub struct Board {
    /// The lines.
    pub lines: Vec<Line>,
    started_at: DateTime<Utc>,
}

/// One source in one environment.
#[derive(Debug)]
pub struct Line {
    /// The source.
    pub source: String,
    /// The environment.
    pub environment: String,
    schedule: Schedule,
    patience: TimeDelta,
    standing: Mutex<Standing>,
}

/// What is known of a line.
#[derive(Clone, Debug, Default)]
pub struct Standing {
    /// When the run began that has not ended.
    pub running_since: Option<DateTime<Utc>>,
    /// When the last run of this process ended, and how.
    pub last_run: Option<(DateTime<Utc>, RunOutcome)>,
    /// When a run last ended without failing, in this process or an earlier one.
    pub last_success: Option<DateTime<Utc>>,
    /// Why the last run that failed did so. It stays after a success: what happened at night is seen in the morning.
    pub last_error: Option<String>,
    /// How far ahead of this clock a producer's key was in the last run, in seconds.
    pub ahead_seconds: i64,
    /// What the runs of this process add up to.
    pub totals: Totals,
}

/// What runs add up to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Runs that did all there was to do.
    pub done: u64,
    /// Runs that refused something or found a gap.
    pub partial: u64,
    /// Runs that failed.
    pub failed: u64,
    /// Times the schedule came round while the last run was still busy.
    pub skipped: u64,
    /// Redis keys read.
    pub keys: u64,
    /// Samples read.
    pub samples: u64,
    /// Minutes covered.
    pub minutes_covered: u64,
    /// Redis commands sent.
    pub commands: u64,
    /// Bytes received from Redis.
    pub bytes: u64,
    /// Cells refused.
    pub rejects: u64,
}

/// A line in one word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// No run has ended since the process started.
    Waiting,
    /// The last run did not fail.
    Ok,
    /// The last run failed.
    Failed,
    /// No run has succeeded for too long.
    Overdue,
}

impl Board {
    /// A board on which nothing has run since `started_at`; `successes` are environment, source and end of the last
    /// successful run of earlier processes.
    #[must_use]
    pub fn new(
        catalog: &Catalog,
        started_at: DateTime<Utc>,
        successes: &[(String, String, DateTime<Utc>)],
    ) -> Self {
        let lines = super::targets(catalog)
            .map(|(source, environment)| Line {
                source: source.name.clone(),
                environment: environment.name.clone(),
                schedule: source.schedule.clone(),
                patience: source.wait() + PATIENCE,
                standing: Mutex::new(Standing {
                    last_success: (successes.iter())
                        .find(|success| success.0 == environment.name && success.1 == source.name)
                        .map(|success| success.2),
                    ..Standing::default()
                }),
            })
            .collect();
        Self { lines, started_at }
    }

    /// The lines of a source.
    pub fn of_source<'b>(&'b self, source: &'b str) -> impl Iterator<Item = &'b Line> {
        self.lines.iter().filter(move |line| line.source == source)
    }

    /// What the drains of this process have cost.
    #[must_use]
    pub fn spent(&self, now: DateTime<Utc>) -> Vec<Spent> {
        let spent = |line: &Line| {
            let totals = line.standing().totals;
            Spent {
                environment: line.environment.clone(),
                source: line.source.clone(),
                runs: totals.done + totals.partial + totals.failed,
                commands: totals.commands,
                over: now - self.started_at,
            }
        };
        self.lines.iter().map(spent).collect()
    }

    /// A line in one word.
    #[must_use]
    pub fn state(&self, line: &Line, now: DateTime<Utc>) -> State {
        let standing = line.standing();
        if self.is_late(line, self.started_at, now) {
            return State::Overdue;
        }
        match standing.last_run {
            None => State::Waiting,
            Some((_, RunOutcome::Failed)) => State::Failed,
            Some(_) => State::Ok,
        }
    }

    /// Whether no run of a line has succeeded for too long, counted from an instant at the earliest.
    #[must_use]
    pub fn is_late(&self, line: &Line, counted_from: DateTime<Utc>, now: DateTime<Utc>) -> bool {
        let from = counted_from.max(self.started_at);
        // A success ahead of the clock tells that the clock was set back.
        let success = line.standing().last_success.filter(|success| *success <= now);
        let since = success.map_or(from, |success| success.max(from));
        is_overdue(&line.schedule, since, line.patience, now)
    }
}

/// Whether the second run due after an instant should have succeeded by now: one failure may be chance, and the next
/// run makes it good. Going by the runs themselves, a schedule that pauses at night is not overdue at night.
fn is_overdue(schedule: &Schedule, since: DateTime<Utc>, patience: TimeDelta, now: DateTime<Utc>) -> bool {
    let second = schedule
        .next_after(since)
        .and_then(|first| schedule.next_after(first));
    second.is_some_and(|second| now > second + patience)
}

impl Line {
    /// A copy of what is known.
    #[must_use]
    pub fn standing(&self) -> Standing {
        self.lock().clone()
    }

    /// When its next run is due.
    #[must_use]
    pub fn next_run(&self, now: DateTime<Utc>) -> Option<DateTime<Utc>> {
        self.schedule.next_after(now)
    }

    /// Notes that a run begins.
    pub fn begin(&self, now: DateTime<Utc>) {
        self.lock().running_since = Some(now);
    }

    /// Notes that the schedule came round while a run was busy.
    pub fn skip(&self) {
        self.lock().totals.skipped += 1;
    }

    /// Notes how a run ended.
    pub fn end(&self, drained: &Drained) {
        let run = &drained.run;
        let mut standing = self.lock();
        standing.running_since = None;
        standing.last_run = Some((run.finished_at, run.outcome));
        if run.outcome != RunOutcome::Failed {
            standing.last_success = Some(run.finished_at);
            standing.ahead_seconds = drained.ahead_seconds;
        }
        if let Some(error) = &run.error {
            standing.last_error = Some(error.clone());
        }
        let totals = &mut standing.totals;
        *match run.outcome {
            RunOutcome::Done => &mut totals.done,
            RunOutcome::Partial => &mut totals.partial,
            RunOutcome::Failed => &mut totals.failed,
        } += 1;
        let rejects = run.rejects.iter().map(|reject| reject.count).sum();
        for (total, more) in [
            (&mut totals.keys, run.keys),
            (&mut totals.samples, run.samples),
            (&mut totals.minutes_covered, run.minutes_covered),
            (&mut totals.commands, run.commands),
            (&mut totals.bytes, run.bytes),
            (&mut totals.rejects, rejects),
        ] {
            *total += u64::try_from(more).unwrap_or_default();
        }
    }

    /// Notes that a run broke off without a record.
    pub fn break_off(&self, now: DateTime<Utc>, reason: String) {
        let mut standing = self.lock();
        standing.running_since = None;
        standing.last_run = Some((now, RunOutcome::Failed));
        standing.last_error = Some(reason);
        standing.totals.failed += 1;
    }

    fn lock(&self) -> MutexGuard<'_, Standing> {
        self.standing.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> DateTime<Utc> {
        text.parse().unwrap()
    }

    #[test]
    fn a_source_is_overdue_when_its_second_run_has_not_succeeded() {
        let overdue = |schedule: &str, since: &str, now: &str| {
            is_overdue(
                &Schedule::parse(schedule).unwrap(),
                at(since),
                TimeDelta::seconds(15),
                at(now),
            )
        };
        // Success at 12:00:03; the next runs are due at 12:05 and 12:10, and 15 s are patience.
        let success = "2025-03-10T12:00:03Z";
        assert!(!overdue("0 */5 * * * *", success, "2025-03-10T12:10:15Z"));
        assert!(overdue("0 */5 * * * *", success, "2025-03-10T12:10:16Z"));
        // Every five minutes from 8 to 18 h: after 18:55 come 08:00 and 08:05.
        let evening = "2025-03-10T18:55:02Z";
        assert!(!overdue("0 */5 8-18 * * *", evening, "2025-03-11T08:04:00Z"));
        assert!(overdue("0 */5 8-18 * * *", evening, "2025-03-11T08:05:16Z"));
    }
}
