//! What a run says of Redis and of its source, and how many commands Redis was sent: noted as alerts.

use std::collections::BTreeSet;

use chrono::{DateTime, Utc};
use chrono_tz::Tz;

use super::{Folga, drain::DrainError, gaps};
use crate::{
    alert::{
        Kind, Level, Standing,
        key::{self, Trouble},
        service_words::{self, Place},
        words::Words,
    },
    source::ReadError,
    store::{
        StoreError, Tx, coverage, is_out_of_reach, outbox,
        runs::{Run, RunGap},
        settings, standings,
    },
    time::Minute,
};

/// What a run found out besides its record.
#[derive(Clone, Debug, Default)]
pub(super) struct Findings {
    /// How many keys never expire, of those that were looked at; none where none was looked for.
    pub(super) immortal: Option<usize>,
    /// Minutes that were never covered and can't be any more.
    pub(super) missed: BTreeSet<Minute>,
    /// Gaps before it have been looked for.
    pub(super) gaps_before: Option<Minute>,
    /// Redis answers others, though it did not answer the run to its end.
    pub(super) redis_answers: bool,
}

/// What a finding is about.
#[derive(Clone, Copy)]
enum Subject<'a> {
    Redis,
    Commands,
    Source(Place<'a>, Trouble),
}

/// How something was found.
enum Finding {
    /// It is not as it should be.
    Bad(Level, Words),
    /// It is not as it should be, in another way than was told.
    BadAnew(Level, Words),
    /// It is as it should be.
    Good,
}

impl Subject<'_> {
    fn environment(&self) -> &str {
        match self {
            Self::Redis | Self::Commands => key::EVERYWHERE,
            Self::Source(place, _) => place.environment,
        }
    }

    fn key(&self) -> String {
        match self {
            Self::Redis => key::REDIS.to_owned(),
            Self::Commands => key::COMMANDS.to_owned(),
            Self::Source(place, trouble) => key::of_source(place.source, *trouble),
        }
    }

    /// What is told when it is as it should be again, where that is worth a word.
    fn well(&self, since: Option<DateTime<Utc>>, now: DateTime<Utc>, zone: Tz) -> Option<Words> {
        match self {
            Self::Redis => Some(service_words::redis_up(since, now, zone)),
            Self::Commands => None,
            Self::Source(place, trouble) => Some(place.well(*trouble, since, now, zone)),
        }
    }
}

impl Findings {
    /// Whether an error is Redis being out of reach, whatever the source.
    fn is_unreachable(&self, error: &DrainError) -> bool {
        match error {
            DrainError::Connect(_) | DrainError::Read(ReadError::Capped(_)) => true,
            DrainError::Read(ReadError::Silent(_) | ReadError::Broken(_)) => !self.redis_answers,
            _ => false,
        }
    }
}

/// Notes what a run says, in the transaction of its record. What is locked is locked in one order everywhere: what is known
/// of the source, its environment, and last what concerns all.
pub(super) async fn after_run(
    tx: &mut Tx,
    folga: &Folga,
    run: &Run,
    error: Option<&DrainError>,
    findings: &Findings,
) -> Result<(), StoreError> {
    let place = Place {
        environment: &run.environment,
        source: &run.source,
    };
    if let Some(before) = findings.gaps_before {
        // Another worker may have told of them since the run looked.
        let told = coverage::note_gaps(tx, place.environment, place.source, before.start()).await?;
        let is_new = |minute: &&Minute| told.is_none_or(|told| minute.start() >= told);
        let missed = findings.missed.iter().filter(is_new).copied().collect();
        gap(tx, folga, place, &gaps::runs(&missed)).await?;
    }
    let words = run.error.as_deref().unwrap_or_default();
    let mut found: Vec<(Trouble, Finding)> = Vec::new();
    match error {
        None => {
            found.push((Trouble::Failing, Finding::Good));
            found.push((Trouble::Overdue, Finding::Good));
            found.push((Trouble::Rejects, rejects(tx, run, place).await?));
        }
        // That Postgres is out of reach is told without it.
        Some(DrainError::Store(error)) if is_out_of_reach(error) => {}
        Some(error) if !findings.is_unreachable(error) => {
            found.push((
                Trouble::Failing,
                Finding::Bad(Level::Critical, place.failing(words)),
            ));
        }
        Some(_) => {}
    }
    match findings.immortal {
        None => {}
        Some(0) => found.push((Trouble::Immortal, Finding::Good)),
        Some(count) => found.push((
            Trouble::Immortal,
            Finding::Bad(Level::Warning, place.immortal(count)),
        )),
    }
    for (trouble, finding) in found {
        note(tx, folga, Subject::Source(place, trouble), finding).await?;
    }
    let redis = match error {
        Some(error) if findings.is_unreachable(error) => {
            Some(Finding::Bad(Level::Critical, service_words::redis_down(words)))
        }
        // Whatever else is wrong with it, it has answered.
        None | Some(DrainError::Read(_)) => Some(Finding::Good),
        Some(_) => None,
    };
    if let Some(finding) = redis {
        note(tx, folga, Subject::Redis, finding).await?;
    }
    Ok(())
}

/// Puts what is told of minutes that can't be covered any more into the outbox.
pub(super) async fn gap(
    tx: &mut Tx,
    folga: &Folga,
    place: Place<'_>,
    gaps: &[RunGap],
) -> Result<(), StoreError> {
    if gaps.is_empty() {
        return Ok(());
    }
    let gaps: Vec<_> = gaps.iter().map(|gap| (gap.from, gap.to)).collect();
    outbox::lock(tx, place.environment).await?;
    let news = outbox::News {
        environment: place.environment,
        key: &key::of_source(place.source, Trouble::Gap),
        kind: Kind::Event,
        level: Level::Warning,
        words: &place.gap(&gaps, folga.catalog.timezone),
    };
    outbox::put(tx, &news, folga.catalog.ntfy.is_some(), folga.clock.now()).await
}

/// What a run's refused keys come to. The reasons that were told are remembered until nothing is refused any more, so
/// that one harmless reason hides no other, and two that take turns are told once each.
async fn rejects(tx: &mut Tx, run: &Run, place: Place<'_>) -> Result<Finding, StoreError> {
    // Two workers may drain the same source.
    outbox::lock(tx, place.environment).await?;
    let setting = format!("reasons told of {} {}", place.environment, place.source);
    let told = settings::get(tx, &setting).await?.unwrap_or_default();
    let mut told: BTreeSet<&str> = told.lines().collect();
    let reasons: BTreeSet<String> = run.rejects.iter().map(|reject| kind(&reject.reason)).collect();
    let reasons: BTreeSet<&str> = reasons.iter().map(|reason| &**reason).collect();
    let is_new = reasons.iter().any(|reason| !told.contains(reason));
    if reasons.is_empty() {
        if !told.is_empty() {
            settings::set(tx, &setting, "").await?;
        }
        return Ok(Finding::Good);
    }
    let words = place.rejects(&reasons);
    if !is_new {
        return Ok(Finding::Bad(Level::Warning, words));
    }
    told.extend(&reasons);
    let remembered: Vec<_> = told.into_iter().collect();
    settings::set(tx, &setting, &remembered.join("\n")).await?;
    Ok(Finding::BadAnew(Level::Warning, words))
}

/// A reason without what it quotes, of which there is no end, and which may name an identity.
fn kind(reason: &str) -> String {
    let unquoted = reason.split('"').step_by(2);
    unquoted.collect::<Vec<_>>().join("…")
}

/// Notes that a source has not been drained when it should have been.
pub(super) async fn overdue(
    tx: &mut Tx,
    folga: &Folga,
    place: Place<'_>,
    last: Option<DateTime<Utc>>,
) -> Result<(), StoreError> {
    let words = place.overdue(last, folga.catalog.timezone);
    let subject = Subject::Source(place, Trouble::Overdue);
    note(tx, folga, subject, Finding::Bad(Level::Critical, words)).await
}

/// Notes whether the commands sent to Redis since midnight are more than a day should have: folga's own, and those of
/// the whole server where its statistics may be read.
pub(super) async fn commands(folga: &Folga, own: u64, server: Option<u64>) -> Result<(), StoreError> {
    let budget = folga.catalog.redis.daily_commands;
    let mut tx = folga.store.begin().await?;
    let finding = if own.max(server.unwrap_or(0)) > budget {
        Finding::Bad(Level::Warning, service_words::commands(own, server, budget))
    } else {
        Finding::Good
    };
    note(&mut tx, folga, Subject::Commands, finding).await?;
    tx.commit().await
}

/// Notes a finding, and that it is to be told where it is news.
async fn note(tx: &mut Tx, folga: &Folga, subject: Subject<'_>, finding: Finding) -> Result<(), StoreError> {
    let (environment, key) = (subject.environment(), subject.key());
    // Several sources may find the same of one server.
    outbox::lock(tx, environment).await?;
    let now = folga.clock.now();
    let before = standings::of(tx, environment, &key).await?;
    let (kind, level, words) = match finding {
        Finding::Bad(level, words) if level > before.level => (Kind::Raised, level, words),
        Finding::BadAnew(level, words) => (Kind::Raised, level, words),
        Finding::Good if before.level > Level::Ok => {
            standings::put(tx, environment, &[(key.clone(), Standing::default())]).await?;
            let since = before.since.map(Minute::start);
            let Some(words) = subject.well(since, now, folga.catalog.timezone) else {
                return outbox::withdraw(tx, environment, &key).await;
            };
            (Kind::Ended, before.level, words)
        }
        _ => return Ok(()),
    };
    if kind == Kind::Raised {
        let standing = Standing {
            level: level.max(before.level),
            since: Some(before.since.unwrap_or(Minute::containing(now))),
            ..Standing::default()
        };
        standings::put(tx, environment, &[(key.clone(), standing)]).await?;
    }
    let news = outbox::News {
        environment,
        key: &key,
        kind,
        level,
        words: &words,
    };
    outbox::put(tx, &news, folga.catalog.ntfy.is_some(), now).await
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn reasons_are_told_without_what_they_quote() {
        assert_eq!(
            kind("scope \"maria@example.org\" is not declared"),
            "scope … is not declared"
        );
        assert_eq!(kind("the count is not a number"), "the count is not a number");
    }

    #[test]
    fn a_read_that_broke_is_no_fault_of_a_redis_that_answers() {
        let silent = DrainError::Read(ReadError::Silent(Duration::from_secs(5)));
        let capped = DrainError::Read(ReadError::Capped("max requests".to_owned()));
        let denied = DrainError::Read(ReadError::Denied("NOPERM".to_owned()));
        for (redis_answers, unreachable) in [(true, [false, true, false]), (false, [true, true, false])] {
            let findings = Findings {
                redis_answers,
                ..Findings::default()
            };
            let errors = [&silent, &capped, &denied];
            assert_eq!(errors.map(|error| findings.is_unreachable(error)), unreachable);
        }
    }
}
