//! How long keys live: those of the counters, and what was told lately, which is folga's one write to Redis.

use chrono::TimeDelta;
use redis::Value;

use super::{ReadError, Session};

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

    /// How many of some keys never expire.
    ///
    /// # Errors
    /// Whatever keeps the server from answering.
    pub async fn without_expiry(&self, keys: Vec<Vec<u8>>) -> Result<usize, ReadError> {
        if keys.is_empty() {
            return Ok(0);
        }
        let mut commands = redis::pipe();
        for key in &keys {
            commands.cmd("PTTL").arg(key);
        }
        let lives = self.try_all(&commands).await?;
        Ok(lives.iter().filter(|life| **life == Value::Int(-1)).count())
    }

    /// Notes keys for a while.
    ///
    /// # Errors
    /// Whatever keeps the server from it; an account that may only read is no exception.
    pub async fn note(&self, keys: &[String], life: TimeDelta) -> Result<(), ReadError> {
        let mut commands = redis::pipe();
        for key in keys {
            commands
                .cmd("SET")
                .arg(key)
                .arg("1")
                .arg("EX")
                .arg(life.num_seconds().max(1));
        }
        for reply in self.try_all(&commands).await? {
            if let Value::ServerError(error) = reply {
                return Err(super::session::general(&error));
            }
        }
        Ok(())
    }
}
