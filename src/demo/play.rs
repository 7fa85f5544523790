//! Plays traffic: writes the keys, lets them age, and has them drained, all by the play's own clock.

use std::{collections::BTreeMap, iter::Peekable, vec};

use anyhow::{Context as _, Result};
use chrono::{DateTime, TimeDelta, Utc};
use indicatif::{ProgressBar, ProgressStyle};
use redis::aio::MultiplexedConnection;

use super::Write;
use crate::catalog::{Environment, Source};

/// Something to do at an instant of the play.
#[derive(Clone, Copy, Debug)]
pub(super) struct Step<'c> {
    /// When.
    pub at: DateTime<Utc>,
    /// What.
    pub job: Job<'c>,
}

/// What there is to do.
#[derive(Clone, Copy, Debug)]
pub(super) enum Job<'c> {
    /// Drain a source in an environment.
    Drain(&'c Source, &'c Environment),
    /// Drop what is old.
    Retention,
}

/// Drains of a source from one instant to another, the last one at the end, as far apart as they may be: the catalog
/// refuses schedules with gaps that leave less than 10 s of a key's last minute of life.
pub(super) fn steps<'c>(
    source: &'c Source,
    environment: &'c Environment,
    from: DateTime<Utc>,
    to: DateTime<Utc>,
) -> Vec<Step<'c>> {
    let gap = source.ttl - source.grace - TimeDelta::seconds(60 + 10);
    let mut instants = vec![to];
    while let Some(earlier) = instants.last().map(|at| *at - gap).filter(|at| *at > from) {
        instants.push(earlier);
    }
    instants
        .into_iter()
        .rev()
        .map(|at| Step {
            at,
            job: Job::Drain(source, environment),
        })
        .collect()
}

/// Plays traffic in time order through a Redis: before each step come the writes of the minutes that have ended, and
/// every key gets the life it has left, which is none where its time is up.
pub(super) async fn play<'c>(
    writes: Vec<Write>,
    mut steps: Vec<Step<'c>>,
    redis: MultiplexedConnection,
    mut work: impl AsyncFnMut(Step<'c>) -> Result<()>,
) -> Result<()> {
    steps.sort_by_key(|step| step.at);
    let mut stage = Stage {
        redis,
        writes: writes.into_iter().peekable(),
        ends: BTreeMap::new(),
    };
    // Drawn on a terminal only.
    let style =
        ProgressStyle::with_template("{msg} {wide_bar} {percent} % {eta}").context("the bar's template")?;
    let bar = ProgressBar::new(steps.len() as u64).with_style(style);
    for step in steps {
        bar.set_message(step.at.format("%Y-%m-%d").to_string());
        stage
            .advance(step.at)
            .await
            .context("writing the demo's keys to Redis")?;
        work(step).await?;
        bar.inc(1);
    }
    bar.finish_and_clear();
    Ok(())
}

/// The keys that live at some instant of the play.
struct Stage {
    redis: MultiplexedConnection,
    writes: Peekable<vec::IntoIter<Write>>,
    /// When each key's life is up.
    ends: BTreeMap<String, DateTime<Utc>>,
}

impl Stage {
    async fn advance(&mut self, now: DateTime<Utc>) -> redis::RedisResult<()> {
        let mut pipe = redis::pipe();
        while let Some(write) = self.writes.next_if(|write| write.minute.end() <= now) {
            let end = write.minute.start() + write.ttl;
            if end <= now {
                continue;
            }
            pipe.hincr(&write.key, &write.field, write.count).ignore();
            if let Some(index) = write.index {
                pipe.sadd(&index, &write.key).ignore();
                self.ends.insert(index, end);
            }
            self.ends.insert(write.key, end);
        }
        self.ends.retain(|key, end| {
            let left = (*end - now).num_milliseconds();
            if left > 0 {
                pipe.pexpire(key, left).ignore();
            } else {
                pipe.unlink(key).ignore();
            }
            left > 0
        });
        // Redis has no word for nothing to do.
        if pipe.is_empty() {
            Ok(())
        } else {
            pipe.exec_async(&mut self.redis).await
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::catalog::Catalog;

    #[test]
    fn every_minute_can_be_read_in_some_step() {
        let key = |name: &str| (name == "FOLGA_IDENTITY_KEY").then(|| "an identity key for tests".to_owned());
        let text = include_str!("../../folga.toml");
        let catalog = Catalog::parse(text, Path::new("folga.toml"), &key, true).unwrap();
        let messaging = catalog
            .sources
            .iter()
            .find(|source| source.name == "messaging")
            .unwrap();
        let [from, to] = ["2026-06-17T12:00:30Z", "2026-06-17T12:12:00Z"].map(|text| text.parse().unwrap());
        // Keys live 300 s, a minute closes 5 s after its end: 300 - 5 - 60 - 10 = 225 s apart.
        let expected = [
            "2026-06-17T12:00:45Z",
            "2026-06-17T12:04:30Z",
            "2026-06-17T12:08:15Z",
            "2026-06-17T12:12:00Z",
        ];
        let at: Vec<DateTime<Utc>> = steps(messaging, &catalog.environments[0], from, to)
            .into_iter()
            .map(|step| step.at)
            .collect();
        assert_eq!(at, expected.map(|text| text.parse::<DateTime<Utc>>().unwrap()));
    }
}
