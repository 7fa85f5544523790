//! A look at what a source's keys are like: bounded in commands, whatever there is.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use chrono::{DateTime, TimeDelta, Utc};
use redis::Value;

use crate::{
    catalog::{Find, SourceKind},
    time::{Hour, Minute},
};

use super::{
    Found, FoundKey, Identities, Met, Plan, ReadError, Rejects, SeriesName, Session, Target,
    cells::Cells,
    find::{find, page},
    read::{WRONG_TYPE, for_each_field},
    session::wrong_type,
};

/// Minutes whose keys are looked for, the latest ones. A scan meets those of all minutes.
pub const MINUTES: i64 = 60;

/// Fields that are asked for of a hash. A small one gives all that it has.
const FIELDS: usize = 100;

/// Bytes that are asked for of a counter: more than a count has.
const DIGITS: usize = 31;

/// How far a look goes.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// Keys that are looked into, with two commands each.
    pub keys: usize,
    /// Steps of a scan.
    pub steps: usize,
}

/// What was seen of one source in one environment.
#[derive(Clone, Debug, Default)]
pub struct Looked {
    /// Keys that were met.
    pub keys: usize,
    /// The minutes that they were looked for in.
    pub minutes: usize,
    /// Whether a scan came to its end.
    pub is_whole: bool,
    /// The endpoints that keys name.
    pub endpoints: BTreeSet<String>,
    /// What the keys that were looked into count.
    pub series: BTreeSet<SeriesName>,
    /// The shortest life of a key, from the start of its minute on.
    pub shortest_life: Option<TimeDelta>,
    /// What is odd about keys.
    pub odd: Rejects,
}

impl Session {
    /// How many keys the database has.
    ///
    /// # Errors
    /// Whatever keeps the server from answering.
    pub async fn keys(&self) -> Result<u64, ReadError> {
        match self.ask(&redis::cmd("DBSIZE")).await? {
            Value::Int(keys) => Ok(keys.unsigned_abs()),
            _ => Err(ReadError::Reply("DBSIZE")),
        }
    }

    /// Looks for keys of a source as a drain does, and into some of them.
    ///
    /// # Errors
    /// Whatever keeps the server from answering; odd keys are part of what is seen.
    pub async fn look(
        &self,
        target: Target<'_>,
        identities: &Identities,
        now: DateTime<Utc>,
        bounds: Bounds,
    ) -> Result<Looked, ReadError> {
        let minutes = match &target.source.find {
            Find::Scan => i64::MAX,
            Find::Index(_) => MINUTES,
            // All names of some minutes, so that what is there can be told from what is not.
            Find::Endpoints(names) => {
                let minutes = bounds.keys / names.len().max(1);
                i64::try_from(minutes).unwrap_or(MINUTES).clamp(1, MINUTES)
            }
        };
        let first = Minute::containing(now - target.source.grace)
            .index()
            .saturating_sub(minutes);
        let plan = Plan::new(now, target.source, Hour::from_index(0), |minute| {
            minute.index() < first
        });
        let Found {
            keys,
            rejects,
            is_whole,
            ..
        } = find(self, target, &plan, bounds.steps).await?;
        let mut looked = Looked {
            minutes: plan.due.len(),
            is_whole,
            odd: rejects,
            ..Looked::default()
        };
        if !matches!(target.source.find, Find::Endpoints(_)) {
            looked.keys = keys.len();
            looked
                .endpoints
                .extend(keys.iter().filter_map(|key| key.parts.endpoint.clone()));
        }
        let keys = chosen(keys, bounds.keys);
        if keys.is_empty() {
            return Ok(looked);
        }
        let replies = self.try_all(&questions(target, &keys)).await?;
        let mut met = Met::default();
        for (key, reply) in keys.iter().zip(replies.chunks_exact(2)) {
            looked.take(target, identities, now, key, reply, &mut met)?;
        }
        Ok(looked)
    }
}

/// For each key, how long it still lives, and some of what it holds.
fn questions(target: Target<'_>, keys: &[FoundKey]) -> redis::Pipeline {
    let mut commands = redis::pipe();
    for key in keys {
        commands.cmd("PTTL").arg(&key.raw);
        match target.source.kind {
            SourceKind::Hash => {
                let command = commands.cmd("HSCAN").arg(&key.raw).arg(0);
                command.arg("COUNT").arg(FIELDS);
            }
            SourceKind::Counter | SourceKind::Gauge => {
                commands.cmd("GETRANGE").arg(&key.raw).arg(0).arg(DIGITS);
            }
        }
    }
    commands
}

impl Looked {
    fn take(
        &mut self,
        target: Target<'_>,
        identities: &Identities,
        now: DateTime<Utc>,
        key: &FoundKey,
        reply: &[Value],
        met: &mut Met,
    ) -> Result<(), ReadError> {
        let [life, content] = reply else {
            return Err(ReadError::Reply("PTTL"));
        };
        match life {
            // It ended, or was only asked for by its name.
            Value::Int(-2) => return Ok(()),
            // What a gauge shows may live as long as it likes.
            Value::Int(_) if target.source.kind == SourceKind::Gauge => {}
            Value::Int(-1) => self.odd.add(&key.raw, "it never expires", 1),
            Value::Int(left) => {
                let life = now + TimeDelta::milliseconds(*left) - key.minute.start();
                self.shortest_life = Some(self.shortest_life.map_or(life, |least| least.min(life)));
            }
            _ => return Err(ReadError::Reply("PTTL")),
        }
        if matches!(target.source.find, Find::Endpoints(_)) {
            self.keys += 1;
        }
        for other in target.readers(&key.raw) {
            self.odd
                .add(&key.raw, &format!("{other} reads it too: it counts twice"), 1);
        }
        let mut cells = Cells::new(target, identities, key, met);
        match content {
            Value::BulkString(count) => cells.counter(count),
            Value::ServerError(error) => {
                wrong_type(error)?;
                drop(cells);
                self.odd.add(&key.raw, WRONG_TYPE, 1);
                return Ok(());
            }
            other => {
                let (_, items) = page(other.clone()).ok_or(ReadError::Reply("HSCAN"))?;
                for_each_field(&items, |field, count| cells.field(field, count));
            }
        }
        let read = cells.finish(&mut self.odd);
        for row in read.rows {
            self.endpoints.insert(row.name.endpoint.clone());
            self.series.insert(row.name);
        }
        Ok(())
    }
}

/// Some of the keys: the newest and the oldest by turns, of each endpoint as many.
fn chosen(keys: Vec<FoundKey>, most: usize) -> Vec<FoundKey> {
    let mut by_endpoint: BTreeMap<Option<String>, VecDeque<FoundKey>> = BTreeMap::new();
    for key in keys {
        let own = by_endpoint.entry(key.parts.endpoint.clone()).or_default();
        own.push_back(key);
    }
    let (mut chosen, mut newest) = (Vec::new(), true);
    while chosen.len() < most && !by_endpoint.is_empty() {
        by_endpoint.retain(|_, keys| {
            let key = if newest { keys.pop_back() } else { keys.pop_front() };
            chosen.extend(key);
            !keys.is_empty()
        });
        newest = !newest;
    }
    chosen.truncate(most);
    chosen
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{source::key::Parts, time::MinuteFormat};

    #[test]
    fn of_each_endpoint_the_newest_and_the_oldest_are_chosen() {
        let key = |endpoint: &str, minute: &str| FoundKey {
            raw: format!("{endpoint}:{minute}").into_bytes(),
            minute: Minute::parse(minute.as_bytes(), MinuteFormat::Compact).unwrap(),
            minute_at: 0..0,
            parts: Parts {
                endpoint: Some(endpoint.to_owned()),
                ..Parts::default()
            },
        };
        let busy = (10..60).map(|minute| key("busy", &format!("2025031012{minute}")));
        let keys: Vec<_> = busy.chain([key("quiet", "202503101205")]).collect();
        let names = |most| -> Vec<String> {
            let chosen = chosen(keys.clone(), most).into_iter();
            chosen.map(|key| String::from_utf8(key.raw).unwrap()).collect()
        };
        assert_eq!(
            names(4),
            [
                "busy:202503101259",
                "quiet:202503101205",
                "busy:202503101210",
                "busy:202503101258"
            ]
        );
        assert_eq!(names(1000).len(), 51);
    }
}
