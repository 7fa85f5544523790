//! Which keys there are to read.

use std::collections::BTreeSet;

use chrono::TimeDelta;
use redis::Value;

use crate::{
    catalog::{Find, Pattern, SourceKind},
    time::Minute,
};

use super::{FoundKey, Plan, ReadError, Rejects, Session, Target, Verdict, key::Parts, session::wrong_type};

/// Keys that one step of a scan looks at.
pub const SCAN_COUNT: usize = 1000;

/// Index keys that one union takes: a day of minutes.
const UNION: usize = 1440;

/// What a run found.
#[derive(Debug, Default)]
pub struct Found {
    /// The keys to read, by minute and name, each once.
    pub keys: Vec<FoundKey>,
    /// The keys that are not read.
    pub rejects: Rejects,
    /// The minutes whose index could not be read: nobody knows which keys they had.
    pub doubtful: BTreeSet<Minute>,
    /// The furthest that a key is ahead of the clock, where one is.
    pub ahead: Option<TimeDelta>,
    /// Some of the keys that are still there though their life is over; none where they would not have been met.
    pub outlived: Option<Vec<Vec<u8>>>,
    /// Whether all of the keyspace was walked, where it was to be.
    pub is_whole: bool,
}

/// Keys that outlived their time and are looked at: they tell of those like them.
const OUTLIVED: usize = 20;

/// Finds the keys of one source and environment that a plan wants read. A scan ends after so many steps.
///
/// # Errors
/// Whatever keeps the server from answering; odd keys are rejects.
pub async fn find(
    session: &Session,
    target: Target<'_>,
    plan: &Plan,
    steps: usize,
) -> Result<Found, ReadError> {
    let mut found = Found {
        outlived: matches!(target.source.find, Find::Scan).then(Vec::new),
        is_whole: true,
        ..Found::default()
    };
    let mut raw = match &target.source.find {
        Find::Scan => {
            let (keys, is_whole) = scan(session, target, steps).await?;
            found.is_whole = is_whole;
            keys
        }
        Find::Endpoints(endpoints) => named(target, plan, endpoints),
        Find::Index(index) => indexed(session, target, plan, index, &mut found).await?,
    };
    // A scan may give a key twice.
    raw.sort_unstable();
    raw.dedup();
    for key in raw {
        found.take(target, plan, key);
    }
    found
        .keys
        .sort_by(|a, b| (a.minute, &a.raw).cmp(&(b.minute, &b.raw)));
    Ok(found)
}

impl Found {
    fn take(&mut self, target: Target<'_>, plan: &Plan, raw: Vec<u8>) {
        let Some(captures) = target.captures(&raw) else {
            if let Some(reason) = target.misfit(&raw) {
                self.rejects.add(&raw, &reason, 1);
            }
            return;
        };
        if target.source.kind == SourceKind::Gauge {
            let minute_at = raw.len()..raw.len();
            return match Parts::new(&captures, &target.catalog.scopes) {
                Ok(parts) => self.keys.push(FoundKey {
                    raw,
                    minute: plan.sampled(),
                    minute_at,
                    parts,
                }),
                Err(reason) => self.rejects.add(&raw, &reason, 1),
            };
        }
        let Some((minute, mut minute_at)) = captures.minute.clone() else {
            return self.rejects.add(&raw, "it has no minute", 1);
        };
        // Of the other spellings of a minute, several keys can be there at once: each is a series of its own.
        if raw[minute_at.clone()] != *minute.text(target.source.minute).as_bytes() {
            minute_at = raw.len()..raw.len();
        }
        if let Some(outlived) = self.outlived.as_mut().filter(|keys| keys.len() < OUTLIVED)
            && plan.outlived(minute, target.source)
        {
            outlived.push(raw.clone());
        }
        match plan.judge(minute) {
            Verdict::Read => {}
            Verdict::Skip => return,
            Verdict::Ahead => {
                self.ahead = self.ahead.max(Some(plan.lead(minute)));
                return;
            }
            Verdict::Reject(reason) => return self.rejects.add(&raw, reason, 1),
        }
        match Parts::new(&captures, &target.catalog.scopes) {
            Ok(parts) => self.keys.push(FoundKey {
                raw,
                minute,
                minute_at,
                parts,
            }),
            Err(reason) => self.rejects.add(&raw, &reason, 1),
        }
    }
}

/// Walks the keyspace, and tells whether it came to the end. An empty page is none: only cursor 0 is.
async fn scan(
    session: &Session,
    target: Target<'_>,
    steps: usize,
) -> Result<(Vec<Vec<u8>>, bool), ReadError> {
    let glob = target.source.key.glob(&target.environment.prefix);
    let mut keys = Vec::new();
    let mut cursor = b"0".to_vec();
    for _ in 0..steps {
        let mut command = redis::cmd("SCAN");
        command
            .arg(&cursor)
            .arg("MATCH")
            .arg(&glob)
            .arg("COUNT")
            .arg(SCAN_COUNT);
        let (next, page) = page(session.ask(&command).await?).ok_or(ReadError::Reply("SCAN"))?;
        keys.extend(page.into_iter().filter_map(bytes));
        if next == b"0" {
            return Ok((keys, true));
        }
        cursor = next;
    }
    Ok((keys, false))
}

/// The keys of all minutes that are due, whether they exist or not.
fn named(target: Target<'_>, plan: &Plan, endpoints: &[String]) -> Vec<Vec<u8>> {
    let prefix = &target.environment.prefix;
    if target.source.kind == SourceKind::Gauge {
        let render = |endpoint: &String| target.source.key.render(prefix, endpoint, "").into_bytes();
        return endpoints.iter().map(render).collect();
    }
    let render =
        |minute: &str, endpoint: &str| target.source.key.render(prefix, endpoint, minute).into_bytes();
    plan.due
        .iter()
        .map(|minute| minute.text(target.source.minute))
        .flat_map(|minute| endpoints.iter().map(move |endpoint| (minute.clone(), endpoint)))
        .map(|(minute, endpoint)| render(&minute, endpoint))
        .collect()
}

/// The keys that the sets of all due minutes name.
async fn indexed(
    session: &Session,
    target: Target<'_>,
    plan: &Plan,
    index: &Pattern,
    found: &mut Found,
) -> Result<Vec<Vec<u8>>, ReadError> {
    let name =
        |minute: &Minute| index.render(&target.environment.prefix, "", &minute.text(target.source.minute));
    let sets: Vec<(Minute, String)> = plan.due.iter().map(|minute| (*minute, name(minute))).collect();
    let mut keys = Vec::new();
    for sets in sets.chunks(UNION) {
        let names: Vec<&str> = sets.iter().map(|(_, name)| &**name).collect();
        match session.try_ask(redis::cmd("SUNION").arg(names)).await? {
            Value::Array(members) => keys.extend(members.into_iter().filter_map(bytes)),
            Value::ServerError(error) => {
                wrong_type(&error)?;
                keys.extend(set_by_set(session, sets, found).await?);
            }
            _ => return Err(ReadError::Reply("SUNION")),
        }
    }
    Ok(keys)
}

/// One of the sets is none: asked one by one, the others still answer.
async fn set_by_set(
    session: &Session,
    sets: &[(Minute, String)],
    found: &mut Found,
) -> Result<Vec<Vec<u8>>, ReadError> {
    let mut commands = redis::pipe();
    for (_, set) in sets {
        commands.cmd("SMEMBERS").arg(set);
    }
    let mut keys = Vec::new();
    for ((minute, set), reply) in sets.iter().zip(session.try_all(&commands).await?) {
        match reply {
            Value::Array(members) => keys.extend(members.into_iter().filter_map(bytes)),
            Value::ServerError(error) => {
                wrong_type(&error)?;
                found.rejects.add(set.as_bytes(), "it is an index but no set", 1);
                found.doubtful.insert(*minute);
            }
            _ => return Err(ReadError::Reply("SMEMBERS")),
        }
    }
    Ok(keys)
}

/// Cursor and items of one step of a scan.
pub(super) fn page(reply: Value) -> Option<(Vec<u8>, Vec<Value>)> {
    let Value::Array(parts) = reply else { return None };
    let [cursor, Value::Array(items)] = <[Value; 2]>::try_from(parts).ok()? else {
        return None;
    };
    Some((bytes(cursor)?, items))
}

pub(super) fn bytes(value: Value) -> Option<Vec<u8>> {
    match value {
        Value::BulkString(bytes) => Some(bytes),
        _ => None,
    }
}
