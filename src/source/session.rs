//! One connection for one run, which counts what it costs.

use std::{
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};

use redis::{Cmd, Pipeline, RedisError, RedisResult, ServerError, Value, aio::MultiplexedConnection};

use crate::catalog::RedisSettings;

use super::{
    ConnectError,
    connect::{connect, is_cap, words},
};

/// Why a run could not go on reading. Nothing of one key: those are rejects.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// A reply did not come in time.
    #[error("Redis did not answer within {0:?}: raise `response_timeout` in [redis] if the link is slow")]
    Silent(Duration),
    /// The connection is gone.
    #[error("the connection to Redis broke ({0}): check that it runs")]
    Broken(String),
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
    /// Bytes received, without the protocol's own.
    pub bytes: u64,
}

/// One connection for one run. The next run opens its own, which is how a lost server is found again.
#[derive(Debug)]
pub struct Session {
    connection: MultiplexedConnection,
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
            connection: connect(settings).await?,
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
        self.ask(&redis::cmd("PING")).await.map(drop)
    }

    /// What the session has cost so far.
    #[must_use]
    pub fn usage(&self) -> Usage {
        Usage {
            commands: self.commands.load(Ordering::Relaxed),
            bytes: self.bytes.load(Ordering::Relaxed),
        }
    }

    /// Sends one command; any error of the server ends the run.
    pub(super) async fn ask(&self, command: &Cmd) -> Result<Value, ReadError> {
        match self.try_ask(command).await? {
            Value::ServerError(error) => Err(general(&error)),
            reply => Ok(reply),
        }
    }

    /// Sends one command; a wrong type comes back as the reply that it is.
    pub(super) async fn try_ask(&self, command: &Cmd) -> Result<Value, ReadError> {
        let reply = self.connection.clone().send_packed_command(command).await;
        self.account(1, reply, payload)
    }

    /// Sends commands together; wrong types come back as the replies that they are.
    pub(super) async fn try_all(&self, commands: &Pipeline) -> Result<Vec<Value>, ReadError> {
        let sent = commands.len();
        let replies = self
            .connection
            .clone()
            .send_packed_commands(commands, 0, sent)
            .await;
        self.account(sent as u64, replies, |replies| replies.iter().map(payload).sum())
    }

    fn account<T>(
        &self,
        commands: u64,
        reply: RedisResult<T>,
        bytes: impl Fn(&T) -> u64,
    ) -> Result<T, ReadError> {
        self.commands.fetch_add(commands, Ordering::Relaxed);
        let reply = reply.map_err(|error| self.failed(&error))?;
        self.bytes.fetch_add(bytes(&reply), Ordering::Relaxed);
        Ok(reply)
    }

    fn failed(&self, error: &RedisError) -> ReadError {
        if error.is_timeout() {
            ReadError::Silent(self.response_timeout)
        } else {
            ReadError::Broken(error.to_string())
        }
    }
}

/// Tells an error that concerns one key from one that concerns all: only a wrong type is about the key alone. Whatever
/// else a server may say, taking it for one key's fault could turn an outage into silence.
pub(super) fn wrong_type(error: &ServerError) -> Result<(), ReadError> {
    if error.code() == "WRONGTYPE" {
        Ok(())
    } else {
        Err(general(error))
    }
}

pub(super) fn general(error: &ServerError) -> ReadError {
    let words = words(error);
    if is_cap(&words) {
        ReadError::Capped(words)
    } else if matches!(error.code(), "NOPERM" | "NOAUTH") {
        ReadError::Denied(words)
    } else {
        ReadError::Server(words)
    }
}

fn payload(value: &Value) -> u64 {
    match value {
        Value::BulkString(bytes) => bytes.len() as u64,
        Value::Array(items) => items.iter().map(payload).sum(),
        _ => 0,
    }
}
