//! What a run says of Redis and of its source, and what is watched besides: noted as alerts.

use chrono::{DateTime, Utc};

use super::{
    Folga,
    board::{Board, State},
    drain::DrainError,
};
use crate::{
    alert::{
        Kind, Level, Standing,
        key::{self, Trouble},
        service_words::{self, Place},
        words::Words,
    },
    source::ReadError,
    store::{StoreError, Tx, is_out_of_reach, outbox, runs::Run, standings},
    time::Minute,
};

/// What was found of something.
enum Finding {
    /// It is not as it should be.
    Bad(Level, Words),
    /// It is as it should be.
    Good(Box<dyn Fn(Option<DateTime<Utc>>) -> Words + Send>),
    /// It is over, and nobody need be told.
    Over,
}

/// What a run found out besides its record.
#[derive(Clone, Debug, Default)]
pub(super) struct Findings {
    /// How many keys never expire, of those that were looked at; none where none was looked for.
    pub(super) immortal: Option<usize>,
}

/// Whether an error is Redis being out of reach, whatever the source.
fn is_unreachable(error: &DrainError) -> bool {
    matches!(
        error,
        DrainError::Connect(_)
            | DrainError::Read(ReadError::Silent(_) | ReadError::Broken(_) | ReadError::Capped(_))
    )
}

/// Notes what a run says, in the transaction of its record.
pub(super) async fn after_run(
    tx: &mut Tx,
    folga: &Folga,
    run: &Run,
    error: Option<&DrainError>,
    findings: &Findings,
) -> Result<(), StoreError> {
    let (now, zone) = (folga.clock.now(), folga.catalog.timezone);
    let words = run.error.as_deref().unwrap_or_default();
    let redis = match error {
        None => Some(Finding::Good(Box::new(move |since| {
            service_words::redis_up(since, now, zone)
        }))),
        Some(error) if is_unreachable(error) => {
            Some(Finding::Bad(Level::Critical, service_words::redis_down(words)))
        }
        Some(_) => None,
    };
    if let Some(finding) = redis {
        note(tx, folga, key::EVERYWHERE, key::REDIS, finding).await?;
    }

    let (environment, source) = (run.environment.clone(), run.source.clone());
    let place = Place {
        environment: &environment,
        source: &source,
    };
    let well = |was: &'static str| {
        let (environment, source) = (environment.clone(), source.clone());
        Finding::Good(Box::new(move |since| {
            let place = Place {
                environment: &environment,
                source: &source,
            };
            place.well(was, since, now, zone)
        }))
    };
    let mut found: Vec<(Trouble, Finding)> = Vec::new();
    match error {
        None => {
            found.push((Trouble::Failing, well("It could not be drained")));
            found.push((Trouble::Overdue, well("It was not drained")));
            found.push((
                Trouble::Rejects,
                match run.rejects.first() {
                    None => well("Keys of it were refused"),
                    Some(first) => {
                        Finding::Bad(Level::Warning, place.rejects(run.rejects.len(), &first.reason))
                    }
                },
            ));
        }
        // That Postgres is out of reach is told without it.
        Some(DrainError::Store(error)) if is_out_of_reach(error) => {}
        Some(error) if !is_unreachable(error) => {
            found.push((
                Trouble::Failing,
                Finding::Bad(Level::Critical, place.failing(words)),
            ));
        }
        Some(_) => {}
    }
    match findings.immortal {
        None => {}
        Some(0) => found.push((Trouble::Immortal, well("Keys of it had no TTL"))),
        Some(count) => found.push((
            Trouble::Immortal,
            Finding::Bad(Level::Warning, place.immortal(count)),
        )),
    }
    for (trouble, finding) in found {
        note(
            tx,
            folga,
            &environment,
            &key::of_source(&source, trouble),
            finding,
        )
        .await?;
    }
    if !run.gaps.is_empty() {
        let gaps: Vec<_> = run.gaps.iter().map(|gap| (gap.from, gap.to)).collect();
        outbox::lock(tx, &environment).await?;
        let news = outbox::News {
            environment: &environment,
            key: &key::of_source(&source, Trouble::Gap),
            kind: Kind::Event,
            level: Level::Warning,
            words: &place.gap(&gaps, zone),
        };
        outbox::put(tx, &news, folga.catalog.ntfy.is_some(), now).await?;
    }
    Ok(())
}

/// Notes the drains that are overdue for another reason than a server that is down, which has an alert of its own.
///
/// # Errors
/// The database failed.
pub async fn overdue(folga: &Folga, board: &Board) -> Result<(), StoreError> {
    let now = folga.clock.now();
    let late: Vec<_> = (board.lines.iter())
        .filter(|line| board.state(line, now) == State::Overdue)
        .collect();
    if late.is_empty() {
        return Ok(());
    }
    let mut tx = folga.store.begin().await?;
    let redis = standings::read(&mut tx, key::EVERYWHERE).await?;
    let redis_is_down = redis.get(key::REDIS).is_some_and(|redis| redis.level > Level::Ok);
    for line in late.into_iter().filter(|_| !redis_is_down) {
        let place = Place {
            environment: &line.environment,
            source: &line.source,
        };
        let words = place.overdue(line.standing().last_success, folga.catalog.timezone);
        let key = key::of_source(&line.source, Trouble::Overdue);
        note(
            &mut tx,
            folga,
            &line.environment,
            &key,
            Finding::Bad(Level::Critical, words),
        )
        .await?;
    }
    tx.commit().await
}

/// Notes whether the commands sent to Redis since midnight are more than a day should have: folga's own, and those of
/// the whole server where its statistics may be read.
///
/// # Errors
/// The database failed.
pub(super) async fn commands(folga: &Folga, own: u64, server: Option<u64>) -> Result<(), StoreError> {
    let budget = folga.catalog.redis.daily_commands;
    let mut tx = folga.store.begin().await?;
    let finding = if own.max(server.unwrap_or(0)) > budget {
        Finding::Bad(Level::Warning, service_words::commands(own, server, budget))
    } else {
        Finding::Over
    };
    note(&mut tx, folga, key::EVERYWHERE, key::COMMANDS, finding).await?;
    tx.commit().await
}

/// Notes a finding, and that it is to be told where it is news.
async fn note(
    tx: &mut Tx,
    folga: &Folga,
    environment: &str,
    key: &str,
    finding: Finding,
) -> Result<(), StoreError> {
    // Several sources may find the same of one server.
    outbox::lock(tx, environment).await?;
    let now = folga.clock.now();
    let before = standings::read(tx, environment)
        .await?
        .remove(key)
        .unwrap_or_default();
    let (kind, level, words) = match finding {
        Finding::Bad(level, words) if level > before.level => (Kind::Raised, level, words),
        Finding::Good(words) if before.level > Level::Ok => {
            (Kind::Ended, before.level, words(before.since.map(Minute::start)))
        }
        Finding::Over if before.level > Level::Ok => {
            return standings::put(tx, environment, &[(key.to_owned(), Standing::default())]).await;
        }
        _ => return Ok(()),
    };
    let standing = match kind {
        Kind::Ended => Standing::default(),
        _ => Standing {
            level,
            since: Some(before.since.unwrap_or(Minute::containing(now))),
            ..Standing::default()
        },
    };
    standings::put(tx, environment, &[(key.to_owned(), standing)]).await?;
    let news = outbox::News {
        environment,
        key,
        kind,
        level,
        words: &words,
    };
    outbox::put(tx, &news, folga.catalog.ntfy.is_some(), now).await
}
