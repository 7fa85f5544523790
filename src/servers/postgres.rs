//! A throwaway Postgres.

use std::path::Path;

use anyhow::{Result, bail};

use super::{account::Account, cluster::Cluster, folder::Folder};

/// Nothing of it outlives the process, so it may lose everything in a crash of the machine.
const SETTINGS: &str = "fsync = off\nsynchronous_commit = off\nfull_page_writes = off\nmax_connections = 200";

/// A Postgres that is gone, with all it held, when this is dropped or the process ends in any way.
#[derive(Debug)]
pub struct PrivatePostgres {
    cluster: Cluster,
    port: u16,
    folder: Folder,
}

impl PrivatePostgres {
    /// Makes and starts one, with the database `postgres`.
    ///
    /// # Errors
    /// Postgres is missing or does not start; the message shows its log.
    pub fn start() -> Result<Self> {
        let account = Account::for_servers()?;
        let folder = Folder::create(&account)?;
        let cluster = Cluster::create(account, folder.path().to_owned(), SETTINGS)?;
        let port = cluster.start()?;
        Ok(Self {
            cluster,
            port,
            folder,
        })
    }

    /// Stops it; what was committed is kept for [`restart`](Self::restart).
    ///
    /// # Errors
    /// It does not stop within a minute.
    pub fn stop(&mut self) -> Result<()> {
        if self.cluster.running().is_some() {
            self.cluster.stop()
        } else {
            Ok(())
        }
    }

    /// Starts it again on the same port, stopping it first where it runs.
    ///
    /// # Errors
    /// It does not start, or somebody took the port meanwhile.
    pub fn restart(&mut self) -> Result<()> {
        self.stop()?;
        if !self.cluster.start_on(self.port)? {
            bail!(
                "port {} was taken by another program while Postgres was stopped",
                self.port
            );
        }
        Ok(())
    }

    /// Where a database of it is; `postgres` is always there.
    #[must_use]
    pub fn url(&self, database: &str) -> String {
        self.cluster.url(self.port, database)
    }

    /// The folder it lives in. Whatever else is put there, processes that work there included, ends with it.
    #[must_use]
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Its port.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.port
    }

    /// The process id of its first process, the parent of all others, while it runs.
    #[must_use]
    pub fn pid(&self) -> Option<u32> {
        self.cluster.running().map(|running| running.pid)
    }
}
