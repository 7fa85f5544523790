//! How long keys live: those of the counters, and what was told lately, which is folga's one write to Redis.

use chrono::TimeDelta;
use redis::Value;

use super::{ReadError, Session, text::printable};

impl Session {
    /// How long keys of one's own still live; none where they are not there.
    ///
    /// # Errors
    /// Whatever keeps the server from answering.
    pub async fn remaining(&self, keys: &[String]) -> Result<Vec<Option<TimeDelta>>, ReadError> {
        let mut commands = redis::pipe();
        for key in keys {
            commands.cmd("PTTL").arg(key);
        }
        let replies = self.try_all(&commands).await?;
        let life = |reply| match reply {
            Value::Int(milliseconds @ 1..) => Ok(Some(TimeDelta::milliseconds(milliseconds))),
            Value::Int(_) => Ok(None),
            Value::ServerError(error) => Err(super::session::general(&error)),
            _ => Err(ReadError::Reply("PTTL")),
        };
        replies.into_iter().map(life).collect()
    }

    /// Notes a text under a key for a while, where there is none; says whether there was none.
    ///
    /// # Errors
    /// Whatever keeps the server from it.
    pub async fn note_new(&self, key: &str, text: &str, life: TimeDelta) -> Result<bool, ReadError> {
        let mut command = redis::cmd("SET");
        command.arg(key).arg(text).arg("NX").arg("EX").arg(seconds(life));
        Ok(self.ask(&command).await? == Value::Okay)
    }

    /// Notes a text under a key for a while, in place of what is there.
    ///
    /// # Errors
    /// Whatever keeps the server from it.
    pub async fn note_text(&self, key: &str, text: &str, life: TimeDelta) -> Result<(), ReadError> {
        let mut command = redis::cmd("SET");
        command.arg(key).arg(text).arg("EX").arg(seconds(life));
        self.ask(&command).await.map(drop)
    }

    /// What is noted under a key.
    ///
    /// # Errors
    /// Whatever keeps the server from answering.
    pub async fn noted(&self, key: &str) -> Result<Option<String>, ReadError> {
        match self.ask(redis::cmd("GET").arg(key)).await? {
            Value::BulkString(bytes) => Ok(Some(String::from_utf8_lossy(&bytes).into_owned())),
            Value::Nil => Ok(None),
            _ => Err(ReadError::Reply("GET")),
        }
    }

    /// Forgets what is noted under a key; says whether this did it.
    ///
    /// # Errors
    /// Whatever keeps the server from it.
    pub async fn forget(&self, key: &str) -> Result<bool, ReadError> {
        Ok(self.ask(redis::cmd("DEL").arg(key)).await? == Value::Int(1))
    }

    /// Those of some keys that never expire, as printable text.
    ///
    /// # Errors
    /// Whatever keeps the server from answering.
    pub async fn without_expiry(&self, keys: Vec<Vec<u8>>) -> Result<Vec<String>, ReadError> {
        if keys.is_empty() {
            return Ok(Vec::new());
        }
        let mut commands = redis::pipe();
        for key in &keys {
            commands.cmd("PTTL").arg(key);
        }
        let lives = self.try_all(&commands).await?;
        let immortal = keys.iter().zip(lives).filter(|(_, life)| *life == Value::Int(-1));
        Ok(immortal.map(|(key, _)| printable(key)).collect())
    }

    /// Notes keys for a while.
    ///
    /// # Errors
    /// Whatever keeps the server from it; an account that may only read is no exception.
    pub async fn note(&self, keys: &[String], life: TimeDelta) -> Result<(), ReadError> {
        let mut commands = redis::pipe();
        for key in keys {
            commands.cmd("SET").arg(key).arg("1").arg("EX").arg(seconds(life));
        }
        for reply in self.try_all(&commands).await? {
            if let Value::ServerError(error) = reply {
                return Err(super::session::general(&error));
            }
        }
        Ok(())
    }
}

/// An expiry that the server takes.
fn seconds(life: TimeDelta) -> i64 {
    life.num_seconds().max(1)
}
