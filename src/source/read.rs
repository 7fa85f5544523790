//! Reads the keys that were found, a bounded batch at a time.

use std::{
    collections::{BTreeSet, HashSet, VecDeque},
    mem,
    pin::Pin,
};

use futures_util::{
    FutureExt as _,
    future::{BoxFuture, MaybeDone, maybe_done, poll_immediate},
};
use redis::Value;

use crate::{
    catalog::{Find, SourceKind},
    time::Minute,
};

use super::{
    FoundKey, Identities, KeyRead, Labels, Met, ReadError, Rejects, Session, Target, cells::Cells,
    find::page, session::wrong_type,
};

/// Fields that a batch aims at.
const BATCH_FIELDS: usize = 50_000;

/// Most keys of a batch.
const BATCH_KEYS: usize = 1000;

/// Keys of the first batch, of which nothing is known yet.
const FIRST_KEYS: usize = 4;

/// Fields that one step through a very large hash asks for.
const STEP_FIELDS: usize = 10_000;

/// Reads keys in the order they were found.
pub struct Reader<'a> {
    session: &'a Session,
    target: Target<'a>,
    identities: &'a Identities,
    /// Stems of keys that are too large to ask for at once.
    large: &'a HashSet<i64>,
    keys: VecDeque<FoundKey>,
    /// The batch that Redis is answering while the one before it is worked on.
    asked: Option<Asked<'a>>,
    size: BatchSize,
    rejects: Rejects,
    doubtful: BTreeSet<Minute>,
    met: Met,
}

/// Keys that were asked for, and the answer once it is there.
struct Asked<'a> {
    keys: Vec<FoundKey>,
    replies: MaybeDone<BoxFuture<'a, Result<Vec<Value>, ReadError>>>,
}

impl<'a> Reader<'a> {
    /// A reader of these keys. Those whose stem is in `large` are read step by step.
    #[must_use]
    pub fn new(
        session: &'a Session,
        target: Target<'a>,
        identities: &'a Identities,
        large: &'a HashSet<i64>,
        keys: Vec<FoundKey>,
    ) -> Self {
        Self {
            session,
            target,
            identities,
            large,
            keys: keys.into(),
            asked: None,
            size: BatchSize::default(),
            rejects: Rejects::default(),
            doubtful: BTreeSet::new(),
            met: Met::default(),
        }
    }

    /// Reads the next keys; none when all are read. Keys that do not exist (any more) are not in the answer, so a batch
    /// can be empty.
    ///
    /// # Errors
    /// Whatever keeps the server from answering; a key of a wrong type and odd cells are rejects.
    pub async fn next_batch(&mut self) -> Result<Option<Vec<KeyRead>>, ReadError> {
        if self.asked.is_none() {
            self.ask();
        }
        let Some(asked) = self.asked.take() else {
            return match self.keys.pop_front() {
                Some(key) => self
                    .read_steps(&key)
                    .await
                    .map(|read| Some(read.into_iter().collect())),
                None => Ok(None),
            };
        };
        let Asked { keys, mut replies } = asked;
        (&mut replies).await;
        let replies = Pin::new(&mut replies)
            .take_output()
            .unwrap_or(Err(ReadError::Reply(self.command())))?;
        self.ask();
        if let Some(asked) = &mut self.asked {
            // Polled once, the request is on its way, and the connection's own task takes the answer in.
            _ = poll_immediate(&mut asked.replies).await;
        }
        self.take(&keys, replies).map(Some)
    }

    /// Asks for the next keys, unless the next one is to be read step by step.
    fn ask(&mut self) {
        let together = self
            .keys
            .iter()
            .take(self.size.keys)
            .take_while(|key| !self.is_large(key))
            .count();
        if together == 0 {
            return;
        }
        let keys: Vec<_> = self.keys.drain(..together).collect();
        let mut commands = redis::pipe();
        for key in &keys {
            commands.cmd(self.command()).arg(&key.raw);
        }
        let session = self.session;
        let replies = maybe_done(async move { session.try_all(&commands).await }.boxed());
        self.asked = Some(Asked { keys, replies });
    }

    const fn command(&self) -> &'static str {
        match self.target.source.kind {
            SourceKind::Hash => "HGETALL",
            SourceKind::Counter | SourceKind::Gauge => "GET",
        }
    }

    /// The minute of the next key to read; none when all are read.
    #[must_use]
    pub fn next_minute(&self) -> Option<Minute> {
        let asked = self.asked.iter().flat_map(|asked| &asked.keys);
        asked.chain(&self.keys).next().map(|key| key.minute)
    }

    /// Takes the labels of public scopes that were met since the last call.
    pub fn take_labels(&mut self) -> Labels {
        self.met.take_labels()
    }

    /// The identities of public scopes that were met.
    #[must_use]
    pub const fn met(&self) -> &Met {
        &self.met
    }

    /// The minutes of which keys could not be read.
    #[must_use]
    pub const fn doubtful(&self) -> &BTreeSet<Minute> {
        &self.doubtful
    }

    /// Refuses a whole key: its minute can't be vouched for. A key that is no gauge takes nothing from those that are.
    fn refuse(&mut self, key: &FoundKey, reason: &str) {
        self.rejects.add(&key.raw, reason, 1);
        if self.target.source.kind != SourceKind::Gauge {
            self.doubtful.insert(key.minute);
        }
    }

    /// A key that was met but is not there. Keys that are only asked for by name need not exist.
    fn vanished(&mut self, key: &FoundKey) {
        let is_gauge = self.target.source.kind == SourceKind::Gauge;
        if !is_gauge && !matches!(self.target.source.find, Find::Endpoints(_)) {
            self.refuse(key, "it was gone before it could be read");
        }
    }

    /// Takes what could not be read since the last call.
    pub fn take_rejects(&mut self) -> Rejects {
        mem::take(&mut self.rejects)
    }

    fn is_large(&self, key: &FoundKey) -> bool {
        self.target.source.kind == SourceKind::Hash
            && self
                .large
                .contains(&self.identities.stem(&key.raw, &key.minute_at))
    }

    /// Takes what was answered for some keys.
    fn take(&mut self, batch: &[FoundKey], replies: Vec<Value>) -> Result<Vec<KeyRead>, ReadError> {
        let mut reads = Vec::with_capacity(batch.len());
        let mut fields = 0;
        for (key, reply) in batch.iter().zip(replies) {
            if is_nothing(&reply) {
                self.vanished(key);
                continue;
            }
            let mut cells = Cells::new(self.target, self.identities, key, &mut self.met);
            match (self.target.source.kind, reply) {
                (SourceKind::Hash, Value::Array(items)) => {
                    fields += items.len() / 2;
                    for_each_field(&items, |field, count| cells.field(field, count));
                }
                (SourceKind::Counter | SourceKind::Gauge, Value::BulkString(count)) => {
                    fields += 1;
                    cells.counter(&count);
                }
                (_, Value::ServerError(error)) => {
                    wrong_type(&error)?;
                    self.refuse(key, WRONG_TYPE);
                    continue;
                }
                _ => return Err(ReadError::Reply(self.command())),
            }
            reads.push(cells.finish(&mut self.rejects));
        }
        self.size.learn(batch.len(), fields);
        Ok(reads)
    }

    /// Reads one hash step by step, so that neither server nor link is taken up by it for long.
    async fn read_steps(&mut self, key: &FoundKey) -> Result<Option<KeyRead>, ReadError> {
        let mut cells = Cells::new(self.target, self.identities, key, &mut self.met);
        // While a hash grows, steps may give a field again.
        let mut seen = HashSet::new();
        let mut cursor = b"0".to_vec();
        loop {
            let mut command = redis::cmd("HSCAN");
            command.arg(&key.raw).arg(&cursor).arg("COUNT").arg(STEP_FIELDS);
            let reply = self.session.try_ask(&command).await?;
            if let Value::ServerError(error) = &reply {
                wrong_type(error)?;
                drop(cells);
                self.refuse(key, WRONG_TYPE);
                return Ok(None);
            }
            let (next, items) = page(reply).ok_or(ReadError::Reply("HSCAN"))?;
            for_each_field(&items, |field, count| {
                if seen.insert(self.identities.mark(field)) {
                    cells.field(field, count);
                }
            });
            if next == b"0" {
                break;
            }
            cursor = next;
        }
        let read = cells.finish(&mut self.rejects);
        Ok((!seen.is_empty()).then_some(read))
    }
}

/// What Redis says of a key that does not exist: an absent counter is nil, an absent hash has no fields.
fn is_nothing(reply: &Value) -> bool {
    match reply {
        Value::Nil => true,
        Value::Array(items) => items.is_empty(),
        _ => false,
    }
}

pub(super) const WRONG_TYPE: &str = "the key holds another type than the source says";

pub(super) fn for_each_field(items: &[Value], mut take: impl FnMut(&[u8], &[u8])) {
    for pair in items.chunks_exact(2) {
        if let [Value::BulkString(field), Value::BulkString(count)] = pair {
            take(field, count);
        }
    }
}

/// How many keys to ask for at once, learnt from those read before.
#[derive(Debug)]
struct BatchSize {
    keys: usize,
    /// Fields per key, weighing the last batches most.
    average: usize,
}

impl Default for BatchSize {
    fn default() -> Self {
        Self {
            keys: FIRST_KEYS,
            average: 1,
        }
    }
}

impl BatchSize {
    /// Follows larger hashes at once and smaller ones slowly: too small a batch costs a round trip, too large a one
    /// memory.
    fn learn(&mut self, keys: usize, fields: usize) {
        let seen = fields.div_ceil(keys.max(1)).max(1);
        self.average = seen.max((self.average * 3 + seen) / 4);
        self.keys = (BATCH_FIELDS / self.average).clamp(1, BATCH_KEYS.min(self.keys * 8));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn batches_aim_at_a_number_of_fields() {
        let mut size = BatchSize::default();
        // 833 fields a key: 50,000 / 833 = 60 keys, reached in two steps of at most eightfold.
        size.learn(4, 3332);
        assert_eq!(size.keys, 32);
        size.learn(32, 26_656);
        assert_eq!(size.keys, 60);
        // Hashes of 200,000 fields: one at a time, at once.
        size.learn(60, 12_000_000);
        assert_eq!(size.keys, 1);
        // Absent keys: up again, slowly.
        for _ in 0..100 {
            size.learn(1, 0);
        }
        assert_eq!(size.keys, 1000);
    }
}
