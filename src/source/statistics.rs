//! How much a Redis server has to do.

use redis::Value;

use super::{ReadError, Session};

impl Session {
    /// The commands that the server has answered since it started, whoever sent them.
    ///
    /// # Errors
    /// Whatever keeps the server from answering; an account that may not look is no exception.
    pub async fn server_commands(&self) -> Result<u64, ReadError> {
        let reply = self.ask(redis::cmd("INFO").arg("commandstats")).await?;
        let text = match reply {
            Value::BulkString(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
            Value::VerbatimString { text, .. } => text,
            _ => return Err(ReadError::Reply("INFO")),
        };
        Ok(calls(&text))
    }
}

/// Adds up lines like `cmdstat_get:calls=21,usec=175,…`.
fn calls(text: &str) -> u64 {
    let counts = text.lines().filter_map(|line| {
        let (_, figures) = line.strip_prefix("cmdstat_")?.split_once(":calls=")?;
        figures.split(',').next()?.parse::<u64>().ok()
    });
    counts.fold(0, u64::saturating_add)
}

#[cfg(test)]
mod tests {
    #[test]
    fn calls_of_all_commands_are_added_up() {
        let text = "# Commandstats\r\ncmdstat_get:calls=21,usec=175,usec_per_call=8.33\r\n\
                    cmdstat_config|get:calls=4,usec=9\r\nother:calls=7\r\n";
        assert_eq!(super::calls(text), 25);
    }
}
