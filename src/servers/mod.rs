//! Redis and Postgres servers of folga's own: throwaway ones for the demo and the tests, and the Postgres that is kept
//! where the catalog names none.
//!
//! Every one of them listens on a free port of the loopback address behind a random password, and runs as an
//! unprivileged account where folga runs as root. A server that is already there is never touched. All calls block.

mod account;
mod cluster;
mod embedded;
mod folder;
mod postgres;
mod programs;
mod redis;

use std::{
    fmt::Write as _,
    fs::{self, File},
    io::{self, Read as _},
    net::TcpListener,
    path::Path,
};

pub use embedded::Embedded;
pub use postgres::PrivatePostgres;
pub use redis::PrivateRedis;

/// How often a server is started on another port where somebody else was quicker to take the first.
const PORT_TRIES: usize = 5;

/// A Redis and a Postgres that are gone, with all they held, when this is dropped or the process ends in any way.
#[derive(Debug)]
pub struct Private {
    /// The Redis.
    pub redis: PrivateRedis,
    /// The Postgres.
    pub postgres: PrivatePostgres,
}

impl Private {
    /// Starts both.
    ///
    /// # Errors
    /// A program is missing, or a server does not start; the message says what to do, or shows the server's log.
    pub fn start() -> anyhow::Result<Self> {
        Ok(Self {
            redis: PrivateRedis::start()?,
            postgres: PrivatePostgres::start()?,
        })
    }

    /// Where the Redis is.
    #[must_use]
    pub fn redis_url(&self) -> String {
        self.redis.url()
    }

    /// Where a database of the Postgres is; `postgres` is always there.
    #[must_use]
    pub fn postgres_url(&self, database: &str) -> String {
        self.postgres.url(database)
    }
}

/// A port of the loopback address that nobody listens on just now.
///
/// # Errors
/// The system has none left.
pub fn free_port() -> io::Result<u16> {
    Ok(TcpListener::bind(("127.0.0.1", 0))?.local_addr()?.port())
}

/// 32 random hexadecimal digits.
fn random_text() -> io::Result<String> {
    let mut bytes = [0; 16];
    File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(bytes.iter().fold(String::new(), |mut text, byte| {
        _ = write!(text, "{byte:02x}");
        text
    }))
}

/// The last lines of a server's log, for an error message.
fn log_tail(log: &Path) -> String {
    let bytes = fs::read(log).unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes);
    let lines: Vec<&str> = text.trim_end().lines().collect();
    lines[lines.len().saturating_sub(10)..].join("\n")
}
