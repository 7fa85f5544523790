//! What runs when: every source's drains and retention, until the service is stopped.

use std::sync::{Arc, Mutex, PoisonError};

use chrono::{DateTime, Utc};
use tokio::sync::Notify;
use tokio_cron_scheduler::{Job, JobScheduler, JobSchedulerError};
use tokio_util::{sync::CancellationToken, task::TaskTracker};
use tracing::Instrument as _;

use super::{
    Folga,
    apart::apart,
    board::{Board, Line},
    drain, retention,
};
use crate::{
    catalog::{Catalog, Environment, Schedule, Source},
    clock::Clock,
    store::runs::{Run, RunOutcome},
};

/// Schedules go by the system's time, whatever instant the work itself is told to take for now.
const TICKING: Clock = Clock::new(None);

/// How the service is told to stop.
#[derive(Clone, Debug, Default)]
pub struct Stop {
    /// Nothing new begins.
    pub soon: CancellationToken,
    /// What still runs is dropped: its open transaction is rolled back.
    pub now: CancellationToken,
}

/// What scheduled work needs.
#[derive(Clone)]
pub struct Worker {
    /// What every job needs.
    pub folga: Folga,
    /// Where drains are noted.
    pub board: Arc<Board>,
    /// Holds what is running.
    pub tracker: TaskTracker,
    /// How it ends.
    pub stop: Stop,
    /// Rung when a drain has ended: there may be something to tell.
    pub drained: Arc<Notify>,
}

/// One line of the schedule.
struct Entry {
    work: Work,
    schedule: Schedule,
    /// Held while it runs.
    busy: Arc<tokio::sync::Mutex<()>>,
    /// When the schedule was last looked at.
    looked_at: Mutex<DateTime<Utc>>,
}

enum Work {
    /// One source, in one environment after the other.
    Drain(Box<Source>),
    Retention,
}

/// The whole schedule, in UTC.
fn table(catalog: &Catalog) -> Vec<(Work, &Schedule)> {
    let drains = catalog
        .sources
        .iter()
        .map(|source| (Work::Drain(Box::new(source.clone())), &source.schedule));
    drains
        .chain([(Work::Retention, &catalog.retention_schedule)])
        .collect()
}

impl Worker {
    /// Drains every source at once, since minutes that were missed may be about to expire, and then everything on
    /// schedule. The scheduler only says when: whatever becomes of the work, it goes on.
    ///
    /// # Errors
    /// The scheduler does not start.
    pub async fn start(&self) -> Result<JobScheduler, JobSchedulerError> {
        let scheduler = JobScheduler::new().await?;
        for (work, schedule) in table(&self.folga.catalog) {
            let entry = Arc::new(Entry {
                work,
                schedule: schedule.clone(),
                busy: Arc::default(),
                looked_at: Mutex::new(TICKING.now()),
            });
            if let Work::Drain(_) = entry.work {
                self.run(&entry);
            }
            let worker = self.clone();
            let tick = move |_, _| {
                if entry.is_due(TICKING.now()) {
                    worker.run(&entry);
                }
                Box::pin(async {}) as _
            };
            scheduler
                .add(Job::new_async(schedule.on_any_day(), tick)?)
                .await?;
        }
        scheduler.start().await?;
        Ok(scheduler)
    }

    /// Begins a run, unless the last one is still busy.
    fn run(&self, entry: &Arc<Entry>) {
        if self.stop.soon.is_cancelled() {
            return;
        }
        let Ok(busy) = Arc::clone(&entry.busy).try_lock_owned() else {
            match &entry.work {
                Work::Drain(source) => {
                    tracing::warn!(
                        source = source.name,
                        "the last drain is still running: this one is skipped"
                    );
                    self.board.of_source(&source.name).for_each(Line::skip);
                }
                Work::Retention => tracing::warn!("the last retention is still running: this one is skipped"),
            }
            return;
        };
        let (worker, entry) = (self.clone(), Arc::clone(entry));
        self.tracker.spawn(async move {
            match &entry.work {
                Work::Drain(source) => worker.drain(source).await,
                Work::Retention => worker.retain().await,
            }
            drop(busy);
        });
    }

    async fn drain(&self, source: &Source) {
        for line in self.board.of_source(&source.name) {
            let environments = &self.folga.catalog.environments;
            let named = environments
                .iter()
                .find(|environment| environment.name == line.environment);
            if let Some(environment) = named.filter(|_| !self.stop.soon.is_cancelled()) {
                let span = tracing::info_span!("run", source = source.name, environment = environment.name);
                self.drain_one(source, environment, line).instrument(span).await;
            }
        }
    }

    async fn drain_one(&self, source: &Source, environment: &Environment, line: &Line) {
        line.begin(self.folga.clock.now());
        let (folga, source, environment) = (self.folga.clone(), source.clone(), environment.clone());
        let work = move || async move { drain::drain(&folga, &source, &environment).await };
        match apart(self.stop.now.clone(), work).await {
            Ok(Some(drained)) => {
                tell(&drained.run);
                if !drained.strangers.is_empty() {
                    // Who they are is printed by `folga drain` alone: a log may go anywhere.
                    let strangers = drained.strangers.len();
                    tracing::warn!(
                        strangers,
                        "identities that `part_of` does not name count as themselves"
                    );
                }
                line.end(&drained);
            }
            Ok(None) => {
                tracing::warn!("a drain was stopped before it was finished: the next one makes it good");
                line.break_off(
                    self.folga.clock.now(),
                    "it was stopped before it was finished".to_owned(),
                );
            }
            // A panic has told of itself.
            Err(error) => line.break_off(self.folga.clock.now(), format!("a fault in folga: {error}")),
        }
        self.drained.notify_one();
    }

    async fn retain(&self) {
        let folga = self.folga.clone();
        let work = move || async move { retention::retain(&folga).await };
        if let Ok(Some(Err(error))) = apart(self.stop.now.clone(), work).await {
            let error = crate::store::explain(&error);
            tracing::error!(error, "retention failed: the next one makes it good");
        }
    }
}

impl Entry {
    /// Whether a run has come due since this was last asked.
    fn is_due(&self, now: DateTime<Utc>) -> bool {
        let mut looked_at = self.looked_at.lock().unwrap_or_else(PoisonError::into_inner);
        let due = self.schedule.next_after(*looked_at).is_some_and(|due| due <= now);
        *looked_at = now;
        due
    }
}

fn tell(run: &Run) {
    let took_ms = (run.finished_at - run.started_at).num_milliseconds();
    let (keys, samples, minutes) = (run.keys, run.samples, run.minutes_covered);
    match run.outcome {
        RunOutcome::Done => tracing::info!(keys, samples, minutes, took_ms, "drained"),
        RunOutcome::Partial => {
            let (rejects, gaps) = (run.rejects.len(), run.gaps.len());
            tracing::warn!(
                keys,
                samples,
                minutes,
                rejects,
                gaps,
                took_ms,
                "drained in part: /v1/runs tells what is missing"
            );
        }
        RunOutcome::Failed => {
            let error = run.error.as_deref().unwrap_or_default();
            tracing::error!(error, took_ms, "a drain failed: the next one makes it good");
        }
    }
}
