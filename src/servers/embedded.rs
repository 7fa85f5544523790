//! The Postgres that is kept under `data_dir` where the catalog names none.
//!
//! Several processes may use it at once, `folga serve` and a `folga drain` of cron say: the first starts it and the last
//! one to leave stops it. Two lock files decide who is who: `users.lock` is held shared by everyone who uses the
//! server, `start.lock` by the one who is just starting or stopping it. The system lets go of both when a process ends,
//! so a server that a killed process left running is simply taken over by the next.

use std::{
    fs::{self, DirBuilder, File, OpenOptions, TryLockError},
    os::unix::fs::DirBuilderExt as _,
    path::{Path, PathBuf},
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context as _, Result, bail};

use super::{account::Account, cluster::Cluster, log_tail};

/// The database that every cluster is born with.
const DATABASE: &str = "postgres";

/// A hold on the kept Postgres: it runs at least as long as this lives.
#[derive(Debug)]
pub struct Embedded {
    cluster: Cluster,
    port: u16,
    data_dir: PathBuf,
    /// Held shared. None once closed.
    users: Option<File>,
}

impl Embedded {
    /// Starts the server of a folder, or joins the one that runs there. The first call makes folder and cluster.
    ///
    /// # Errors
    /// Postgres is missing, the folder can't be used by the account it runs as, or it does not start; the message says
    /// what to do, or shows the server's log.
    pub fn open(data_dir: &Path) -> Result<Self> {
        fs::create_dir_all(data_dir)
            .and_then(|()| data_dir.canonicalize())
            .map_err(anyhow::Error::from)
            .and_then(Self::open_in)
            .with_context(|| format!("opening the private Postgres in {}", data_dir.display()))
    }

    fn open_in(data_dir: PathBuf) -> Result<Self> {
        let start = lock_file(&data_dir, "start.lock")?;
        start.lock()?;
        let users = lock_file(&data_dir, "users.lock")?;
        users.lock_shared()?;
        let home = data_dir.join("postgres");
        let cluster = match Cluster::open(home.clone())? {
            Some(cluster) => cluster,
            None => create(&data_dir, home)?,
        };
        let port = match wait_ready(&cluster)? {
            Some(port) => port,
            None => cluster.start()?,
        };
        Ok(Self {
            cluster,
            port,
            data_dir,
            users: Some(users),
        })
    }

    /// Where it is.
    #[must_use]
    pub fn url(&self) -> String {
        self.cluster.url(self.port, DATABASE)
    }

    /// Lets go of the server, and stops it where nobody else uses it. Dropping does the same without telling of errors.
    ///
    /// # Errors
    /// It does not stop within a minute.
    pub fn close(mut self) -> Result<()> {
        self.leave()
    }

    fn leave(&mut self) -> Result<()> {
        let Some(users) = self.users.take() else {
            return Ok(());
        };
        let start = lock_file(&self.data_dir, "start.lock")?;
        start.lock()?;
        users.unlock()?;
        match users.try_lock() {
            Ok(()) if self.cluster.running().is_some() => self.cluster.stop(),
            Ok(()) | Err(TryLockError::WouldBlock) => Ok(()),
            Err(TryLockError::Error(error)) => Err(error.into()),
        }
    }
}

impl Drop for Embedded {
    fn drop(&mut self) {
        _ = self.leave();
    }
}

fn create(data_dir: &Path, home: PathBuf) -> Result<Cluster> {
    let account = Account::for_servers()?;
    account.check_can_enter(data_dir)?;
    if !home.exists() {
        DirBuilder::new().mode(0o700).create(&home)?;
    }
    account.give(&home)?;
    Cluster::create(account, home, "max_connections = 50")
}

/// The port of the server that runs already, once it takes connections: it may still be recovering from a crash.
fn wait_ready(cluster: &Cluster) -> Result<Option<u16>> {
    let deadline = Instant::now() + Duration::from_mins(1);
    while Instant::now() < deadline {
        match cluster.running() {
            None => return Ok(None),
            Some(running) if running.ready => return Ok(Some(running.port)),
            Some(_) => thread::sleep(Duration::from_millis(20)),
        }
    }
    bail!(
        "the Postgres that runs there takes no connections:\n{}",
        log_tail(&cluster.log())
    );
}

fn lock_file(data_dir: &Path, name: &str) -> Result<File> {
    let path = data_dir.join(name);
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    options.open(&path).with_context(|| {
        format!(
            "opening {}: the account that runs folga must be able to write there",
            path.display()
        )
    })
}
