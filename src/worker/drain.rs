//! One drain of one source in one environment.

use std::{
    collections::{BTreeSet, HashSet},
    mem,
    time::{Duration, Instant},
};

use chrono::{DateTime, TimeDelta, Utc};
use tokio::time::timeout;

use super::{
    Folga,
    findings::{self, Findings},
    gaps, sealed_before,
    write::{self, Batch, Closing, Origin, Write, millis},
};
use crate::{
    catalog::{Environment, Source, SourceKind},
    source::{ConnectError, LISTED_STRANGERS, Met, Plan, ReadError, Reader, Rejects, Session, Target, find},
    store::{
        StoreError, Tx,
        coverage::{self, Coverage, Masks, SourceState, holds},
        minutes,
        runs::{self, Run, RunOutcome, RunReject},
        series, settings,
    },
    time::{Hour, Minute},
};

/// Samples held in memory before they are written.
const HELD_SAMPLES: usize = 1_000_000;

/// A hash whose last stored minute held more identities than this is read step by step.
const LARGE_HASH: i64 = 50_000;

/// No run may take longer, whatever hangs: the next one reads what it left.
pub(super) const RUN_LIMIT: Duration = Duration::from_mins(15);

/// Nor may the record of one.
const RECORD_LIMIT: Duration = Duration::from_mins(1);

/// Why a drain could not be finished.
#[derive(Debug, thiserror::Error)]
pub enum DrainError {
    /// Redis could not be reached.
    #[error(transparent)]
    Connect(#[from] ConnectError),
    /// Redis stopped answering.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// It took longer than a run may.
    #[error("the run took longer than {} minutes: Redis or Postgres hangs, or is far too slow", RUN_LIMIT.as_secs() / 60)]
    TooLong,
    /// Postgres failed.
    #[error("{}", crate::store::explain(.0))]
    Store(#[from] StoreError),
}

/// What a drain adds up while it runs.
#[derive(Debug, Default)]
struct Tally {
    keys: usize,
    samples: usize,
    commands: u64,
    bytes: u64,
    reading: Duration,
    covered: BTreeSet<Minute>,
    doubtful: BTreeSet<Minute>,
    rejects: Rejects,
    ahead_seconds: i64,
    strangers: BTreeSet<String>,
    findings: Findings,
}

/// A finished drain: the record of it, and what was noticed beside.
#[derive(Clone, Debug)]
pub struct Drained {
    /// The record.
    pub run: Run,
    /// The furthest that a key's minute was ahead, in seconds; 0 where none was.
    pub ahead_seconds: i64,
    /// The identities that a table of members lacks, in words: they count as themselves. At most a hundred.
    pub strangers: BTreeSet<String>,
}

/// Reads all readable minutes of a source that are not covered yet, and those that late writes may still reach, and
/// folds what they change. The record of the run is kept where the database allows; an error is in it.
pub async fn drain(folga: &Folga, source: &Source, environment: &Environment) -> Drained {
    let started_at = folga.clock.now();
    let mut tally = Tally::default();
    let result = match timeout(RUN_LIMIT, try_drain(folga, source, environment, &mut tally)).await {
        Ok(result) => result,
        Err(_) => Err(DrainError::TooLong),
    };
    let gaps = gaps::runs(&(&tally.findings.missed | &tally.doubtful));
    let rejects: Vec<_> = (tally.rejects.iter())
        .map(|reject| RunReject {
            key: reject.key,
            reason: reject.reason,
            count: number(reject.count),
        })
        .collect();
    let outcome = match &result {
        Err(_) => RunOutcome::Failed,
        Ok(()) if rejects.is_empty() && gaps.is_empty() => RunOutcome::Done,
        Ok(()) => RunOutcome::Partial,
    };
    let mut run = Run {
        id: 0,
        source: source.name.clone(),
        environment: environment.name.clone(),
        started_at,
        finished_at: folga.clock.now(),
        outcome,
        keys: number(tally.keys as u64),
        samples: number(tally.samples as u64),
        minutes_covered: number(tally.covered.len() as u64),
        commands: number(tally.commands),
        bytes: number(tally.bytes),
        rejects,
        gaps,
        error: result.as_ref().err().map(ToString::to_string),
    };
    tally.findings.redis_answers = match &result {
        Err(DrainError::Read(ReadError::Silent(_) | ReadError::Broken(_))) => answers(folga).await,
        _ => true,
    };
    let kept = timeout(RECORD_LIMIT, keep(folga, &run, result.err().as_ref(), &tally)).await;
    match kept.unwrap_or(Err(StoreError::PoolTimedOut)) {
        Ok(id) => run.id = id,
        Err(error) => {
            let error = crate::store::explain(&error);
            tracing::error!(source = source.name, environment = environment.name, %error, "the record of a run is lost");
            run.outcome = RunOutcome::Failed;
            run.error.get_or_insert(error);
        }
    }
    Drained {
        run,
        ahead_seconds: tally.ahead_seconds,
        strangers: tally.strangers,
    }
}

/// Whether Redis answers at all, after it did not answer a run to its end.
async fn answers(folga: &Folga) -> bool {
    match Session::open(&folga.catalog.redis).await {
        Ok(session) => session.ping().await.is_ok(),
        Err(_) => false,
    }
}

fn number(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

async fn keep(
    folga: &Folga,
    run: &Run,
    error: Option<&DrainError>,
    tally: &Tally,
) -> Result<i64, StoreError> {
    let mut tx = folga.store.begin().await?;
    let id = runs::keep(&mut tx, run).await?;
    findings::after_run(&mut tx, folga, run, error, &tally.findings).await?;
    tx.commit().await?;
    Ok(id)
}

/// What the database knew when the drain began.
struct Known {
    state: SourceState,
    coverage: Coverage,
    /// What is settled may have been settled by a clock that was ahead, before its last writes came.
    was_ahead: bool,
    sealed_before: Hour,
    large: HashSet<i64>,
}

impl Known {
    async fn read(
        folga: &Folga,
        source: &Source,
        environment: &str,
        now: DateTime<Utc>,
    ) -> Result<Self, StoreError> {
        let mut tx = folga.store.begin().await?;
        let pruned_before = settings::pruned_before(&mut tx).await?;
        let sealed_before = sealed_before(&folga.catalog, now, pruned_before);
        let state = coverage::state(&mut tx, environment, &source.name).await?;
        // What can be read now, and what could be since gaps were last told.
        let from = Hour::containing(now - source.ttl)
            .min(state.gaps_before.map_or(Hour::containing(now), Hour::containing))
            .max(sealed_before);
        // A clock that was ahead and was set back has left hours to come.
        let to = Hour::containing(now + TimeDelta::days(i64::from(folga.catalog.retention_days)));
        let coverage = coverage::read(&mut tx, environment, &source.name, from, to).await?;
        // A gauge is read in its own minute, its grace being below 0, and clocks of two workers differ a little.
        let to_come = Minute::containing(now - source.grace.min(TimeDelta::zero()) * 2);
        let was_ahead = coverage::is_settled_from(&coverage, to_come);
        if was_ahead {
            tracing::warn!(
                "minutes to come have been read: a clock was ahead, or this one is behind. Until they have passed, \
                 everything readable is read again"
            );
        }
        let large = match source.kind {
            SourceKind::Hash => {
                large_keys(&mut tx, source, environment, Minute::containing(now - source.ttl)).await?
            }
            SourceKind::Counter | SourceKind::Gauge => HashSet::new(),
        };
        tx.rollback().await?;
        Ok(Self {
            state,
            coverage,
            was_ahead,
            sealed_before,
            large,
        })
    }

    fn masks(&self, minute: Minute) -> Masks {
        self.coverage.get(&minute.hour()).copied().unwrap_or_default()
    }

    fn is_settled(&self, minute: Minute) -> bool {
        holds(self.masks(minute).settled, minute)
    }

    fn is_covered(&self, minute: Minute) -> bool {
        holds(self.masks(minute).covered, minute)
    }

    fn is_doubtful(&self, minute: Minute) -> bool {
        holds(self.masks(minute).doubtful, minute)
    }
}

async fn large_keys(
    tx: &mut Tx,
    source: &Source,
    environment: &str,
    since: Minute,
) -> Result<HashSet<i64>, StoreError> {
    let own: Vec<i32> = (series::of_environment(tx, environment).await?.iter())
        .filter(|series| series.source == source.name)
        .map(|series| series.id)
        .collect();
    Ok(minutes::larger_than(tx, &own, since, LARGE_HASH)
        .await?
        .into_iter()
        .collect())
}

#[tracing::instrument(name = "drain", skip_all, fields(source = source.name, environment = environment.name))]
async fn try_drain(
    folga: &Folga,
    source: &Source,
    environment: &Environment,
    tally: &mut Tally,
) -> Result<(), DrainError> {
    let now = folga.clock.now();
    let known = Known::read(folga, source, &environment.name, now).await?;
    let plan = Plan::new(now, source, known.sealed_before, |minute| {
        known.is_settled(minute) && !known.was_ahead
    });
    let session = Session::open(&folga.catalog.redis).await?;
    let target = Target {
        catalog: &folga.catalog,
        source,
        environment,
    };
    let result = read_and_write(folga, target, &plan, &session, &known, tally).await;
    let usage = session.usage();
    (tally.commands, tally.bytes) = (usage.commands, usage.bytes);
    result?;
    judge_gaps(folga, target, &plan, &known, tally).await?;
    Ok(())
}

async fn read_and_write(
    folga: &Folga,
    target: Target<'_>,
    plan: &Plan,
    session: &Session,
    known: &Known,
    tally: &mut Tally,
) -> Result<(), DrainError> {
    let source = target.source;
    let origin = Origin {
        folga,
        environment: &target.environment.name,
        source: &source.name,
        writes: known.state.writes,
    };
    let began = folga.clock.now();
    let found = find(session, target, plan, usize::MAX).await?;
    tally.rejects.merge(found.rejects);
    tally.findings.immortal = match found.outlived {
        None => None,
        Some(outlived) => Some(session.without_expiry(outlived).await?),
    };
    let mut suspect = found.doubtful;
    tally.ahead_seconds = found.ahead.map_or(0, |lead| lead.num_seconds());
    let mut reader = Reader::new(session, target, &folga.identities, &known.large, found.keys);
    let mut last = None;
    // What is read is written at the end, so that no connection waits for Redis. Only a drain that would not fit into
    // memory writes as it reads.
    let mut write: Option<Write<'_>> = None;
    loop {
        let mut batch = Batch::default();
        let failed = read_batch(&mut reader, &mut batch, tally).await.err();
        last = batch.reads.last().map(|read| read.minute).or(last);
        if failed.is_none() && reader.next_minute().is_some() {
            let write = match &mut write {
                Some(write) => write,
                none => none.insert(Write::begin(origin).await?),
            };
            write.join(&batch).await?;
            continue;
        }

        tracing::debug!(read_ms = millis(tally.reading), keys = tally.keys, "read");
        let finished = folga.clock.now();
        // The minute that was being read when the read failed is not complete, nor is any later one.
        // All keys of a gauge are read for one minute, and stand for those since the last one.
        let last = last.filter(|_| source.kind != SourceKind::Gauge);
        let incomplete_from = failed.as_ref().and(last.or(plan.due.first().copied()));
        let complete: BTreeSet<Minute> = (plan.due.iter().copied())
            .filter(|minute| incomplete_from.is_none_or(|first| *minute < first))
            .filter(|minute| plan.still_readable(*minute, source, finished))
            .collect();
        let late_until = |minute: &Minute| minute.end() + source.grace + source.lateness;
        let settled = complete
            .iter()
            .filter(|minute| late_until(minute) <= began)
            .copied()
            .collect();
        suspect.extend(reader.doubtful());
        // Of a minute that was settled before, keys may be gone because their life is over after all.
        let settled_before: BTreeSet<Minute> = (complete.iter().copied())
            .filter(|minute| known.is_settled(*minute))
            .collect();
        suspect.retain(|minute| complete.contains(minute) && !settled_before.contains(minute));
        let closing = Closing {
            suspect,
            complete,
            settled,
            settled_before,
            closed_before: plan.closed_before(),
        };
        let mut doubtful = BTreeSet::new();
        if let Some(mut write) = write {
            write.join(&batch).await?;
            write.finish(&closing, &mut doubtful).await?;
        } else {
            write::at_once(origin, &batch, &closing, &mut doubtful).await?;
        }
        tally.doubtful = doubtful
            .into_iter()
            .filter(|minute| !known.is_doubtful(*minute))
            .collect();
        tally.covered = closing
            .complete
            .into_iter()
            .filter(|minute| !known.is_covered(*minute))
            .collect();
        tell_withheld(reader.met());
        return failed.map_or(Ok(()), |error| Err(error.into()));
    }
}

/// Tells what is stored without its label. Nothing is left out of the counts.
pub(super) fn tell_withheld(met: &Met) {
    for ((scope, kind), identities) in met.withheld() {
        tracing::warn!(
            scope,
            looks_like = %kind,
            identities,
            "identities of a public scope look personal: they are stored as hashes only"
        );
    }
}

/// Reads keys until a batch is as large as memory should hold, or all are read.
async fn read_batch(reader: &mut Reader<'_>, batch: &mut Batch, tally: &mut Tally) -> Result<(), ReadError> {
    let began = Instant::now();
    let mut samples = 0;
    let result = loop {
        match reader.next_batch().await {
            Ok(Some(mut reads)) => {
                tally.keys += reads.len();
                samples += reads
                    .iter()
                    .flat_map(|read| &read.rows)
                    .map(|row| row.ids.len())
                    .sum::<usize>();
                let strangers = reads.iter_mut().flat_map(|read| mem::take(&mut read.strangers));
                tally.strangers.extend(strangers);
                while tally.strangers.len() > LISTED_STRANGERS {
                    tally.strangers.pop_last();
                }
                batch.reads.extend(reads);
            }
            Ok(None) => break Ok(()),
            Err(error) => break Err(error),
        }
        if samples >= HELD_SAMPLES {
            break Ok(());
        }
    };
    tally.samples += samples;
    tally.reading += began.elapsed();
    tally.rejects.merge(reader.take_rejects());
    batch.labels = reader.take_labels();
    result
}

/// Minutes since the source's first sample that were never covered and cannot be read any more. That they were looked for
/// is noted with the run that tells of them.
async fn judge_gaps(
    folga: &Folga,
    target: Target<'_>,
    plan: &Plan,
    known: &Known,
    tally: &mut Tally,
) -> Result<(), StoreError> {
    let (environment, source) = (&target.environment.name, &target.source.name);
    let mut tx = folga.store.begin().await?;
    let state = coverage::state(&mut tx, environment, source).await?;
    let past = plan.readable_from();
    if let Some(first) = state.first_minute {
        let from = known
            .state
            .gaps_before
            .map_or(first, |told| Minute::containing(told).max(first));
        let kept = folga.clock.now() - TimeDelta::days(i64::from(folga.catalog.retention_days));
        let from = from.max(Minute::containing(kept));
        let coverage = coverage::read(&mut tx, environment, source, from.hour(), past.hour().next()).await?;
        tally.findings.missed = gaps::missed(&coverage, from, past).collect();
    }
    tally.findings.gaps_before = Some(past);
    tx.rollback().await
}
