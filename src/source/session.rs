//! One connection for one run, which counts what it costs.

use std::{
    fmt, io,
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};

use tokio::sync::Mutex;

use crate::catalog::RedisSettings;

use super::{
    ConnectError,
    connect::connect,
    refusal::{code, is_cap},
    wire::{Commands, Reply, Wire},
};

/// Why a run could not go on reading. Nothing of one key: those are rejects.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// A reply did not come in time.
    #[error("Redis was silent for {0:?}: raise `response_timeout` in [redis] if the link is slow")]
    Silent(Duration),
    /// The connection is gone.
    #[error("the connection to Redis broke: {0}")]
    Broken(io::Error),
    /// The provider's cap on commands is reached.
    #[error(
        "Redis answers no command, its request limit is used up ({0}): raise the plan or wait for the next period"
    )]
    Capped(String),
    /// The account may not read.
    #[error("the Redis account may not do this ({0}): it needs the rights +@read +@connection on these keys")]
    Denied(String),
    /// Any other error that concerns more than one key.
    #[error("Redis cannot answer: {0}")]
    Server(String),
    /// A reply of another shape than the command has.
    #[error("Redis answered {0} with something else than it should")]
    Reply(&'static str),
}

/// What a session has cost, its opening apart.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Commands sent, each one of a pipeline counted.
    pub commands: u64,
    /// Bytes received.
    pub bytes: u64,
}

/// One connection for one run. The next run opens its own, which is how a lost server is found again.
pub struct Session {
    wire: Mutex<Wire>,
    response_timeout: Duration,
    commands: AtomicU64,
    bytes: AtomicU64,
}

impl Session {
    /// Connects and logs in within the configured time.
    ///
    /// # Errors
    /// Whatever is in the way, with the remedy.
    pub async fn open(settings: &RedisSettings) -> Result<Self, ConnectError> {
        Ok(Self {
            wire: Mutex::new(connect(settings).await?),
            response_timeout: settings.response_timeout,
            commands: AtomicU64::new(0),
            bytes: AtomicU64::new(0),
        })
    }

    /// Asks for a sign of life.
    ///
    /// # Errors
    /// Where there is none.
    pub async fn ping(&self) -> Result<(), ReadError> {
        self.ask(&Commands::one(&[b"PING"]), |_, reply| match reply {
            Reply::Text(_) => Ok(()),
            Reply::Error(words) => Err(general(words)),
            _ => Err(ReadError::Reply("PING")),
        })
        .await
    }

    /// What the session has cost so far.
    #[must_use]
    pub fn usage(&self) -> Usage {
        Usage {
            commands: self.commands.load(Ordering::Relaxed),
            bytes: self.bytes.load(Ordering::Relaxed),
        }
    }

    /// Sends commands together and hands on each reply with its place among them.
    pub(super) async fn ask(
        &self,
        commands: &Commands,
        mut take: impl FnMut(usize, Reply<'_>) -> Result<(), ReadError>,
    ) -> Result<(), ReadError> {
        let mut wire = self.wire.lock().await;
        let before = wire.received();
        self.commands.fetch_add(commands.count(), Ordering::Relaxed);
        wire.send(commands).await.map_err(|error| self.failed(error))?;
        let mut taken = Ok(());
        for place in 0.. {
            if place as u64 == commands.count() || taken.is_err() {
                break;
            }
            let reply = wire.receive().await.map_err(|error| self.failed(error))?;
            taken = take(place, reply);
        }
        self.bytes.fetch_add(wire.received() - before, Ordering::Relaxed);
        taken
    }

    fn failed(&self, error: io::Error) -> ReadError {
        if error.kind() == io::ErrorKind::TimedOut {
            ReadError::Silent(self.response_timeout)
        } else {
            ReadError::Broken(error)
        }
    }
}

impl fmt::Debug for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Session")
            .field("usage", &self.usage())
            .finish_non_exhaustive()
    }
}

/// Tells an error that concerns one key from one that concerns all: only a wrong type is about the key alone. Whatever
/// else a server may say, taking it for one key's fault could turn an outage into silence.
pub(super) fn wrong_type(words: &[u8]) -> Result<(), ReadError> {
    if code(words) == b"WRONGTYPE" {
        Ok(())
    } else {
        Err(general(words))
    }
}

/// What an error that concerns all keys means.
pub(super) fn general(words: &[u8]) -> ReadError {
    let text = String::from_utf8_lossy(words).into_owned();
    match code(words) {
        _ if is_cap(&text) => ReadError::Capped(text),
        b"NOPERM" | b"NOAUTH" => ReadError::Denied(text),
        _ => ReadError::Server(text),
    }
}
