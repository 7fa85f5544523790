//! A Postgres data folder: made, started, found running, stopped.

use std::{
    fs::{self, DirBuilder, OpenOptions},
    io::{Read as _, Write as _},
    os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _},
    path::PathBuf,
    process::{Command, Stdio},
};

use anyhow::{Context as _, Result, bail};

use super::{PORT_TRIES, account::Account, free_port, log_tail, programs, random_text};

/// The superuser that every cluster has.
const USER: &str = "folga";

/// One data folder with its password and log beside it.
#[derive(Debug)]
pub(super) struct Cluster {
    account: Account,
    programs: PathBuf,
    home: PathBuf,
    password: String,
}

/// What the file that a running Postgres keeps in its data folder says.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Running {
    pub(super) pid: u32,
    pub(super) port: u16,
    pub(super) ready: bool,
}

impl Cluster {
    /// Makes a new one in a folder of the account's, with further lines of configuration.
    pub(super) fn create(account: Account, home: PathBuf, settings: &str) -> Result<Self> {
        let programs = programs::postgres(None)?;
        let password = random_text()?;
        let password_file = home.join("password");
        // A half-made folder of an earlier try must not be taken for a good one: the rename at the end makes it count.
        let unfinished = home.join("unfinished");
        for leftover in [&password_file, &unfinished] {
            if leftover.is_dir() {
                fs::remove_dir_all(leftover)?;
            } else if leftover.exists() {
                fs::remove_file(leftover)?;
            }
        }
        let mut file = OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(&password_file)?;
        file.write_all(password.as_bytes())?;
        account.give(&password_file)?;
        DirBuilder::new().mode(0o700).create(&unfinished)?;
        account.give(&unfinished)?;

        let mut initdb = account.command(&programs.join("initdb"), &home);
        initdb.args([
            "--auth=scram-sha-256",
            "--encoding=UTF8",
            "--locale=C",
            "--no-sync",
            "--username",
            USER,
        ]);
        initdb
            .arg("--pwfile")
            .arg(&password_file)
            .arg("--pgdata")
            .arg(&unfinished);
        run(initdb, "initdb")?;
        let mut configuration = OpenOptions::new()
            .append(true)
            .open(unfinished.join("postgresql.conf"))?;
        write!(
            configuration,
            "\nlisten_addresses = '127.0.0.1'\nunix_socket_directories = ''\n{settings}\n"
        )?;
        fs::rename(&unfinished, home.join("data"))?;
        Ok(Self {
            account,
            programs,
            home,
            password,
        })
    }

    /// Opens the one an earlier run made in a folder; none where there is none.
    pub(super) fn open(home: PathBuf) -> Result<Option<Self>> {
        let data = home.join("data");
        let Ok(version) = fs::read_to_string(data.join("PG_VERSION")) else {
            return Ok(None);
        };
        let account = Account::owner_of(&data)?;
        let programs = programs::postgres(Some(version.trim()))?;
        let file = home.join("password");
        let password = fs::read_to_string(&file).with_context(|| format!("reading {}", file.display()))?;
        Ok(Some(Self {
            account,
            programs,
            home,
            password,
        }))
    }

    /// The server that runs on it.
    pub(super) fn running(&self) -> Option<Running> {
        let data = self.data().canonicalize().ok()?;
        let running = parse_pid_file(&fs::read_to_string(data.join("postmaster.pid")).ok()?)?;
        // A server works in its data folder; any other process merely got the number after a crash or a reboot.
        let place = fs::read_link(format!("/proc/{}/cwd", running.pid)).ok()?;
        (place == data).then_some(running)
    }

    /// Starts a server on a free port, which it returns.
    pub(super) fn start(&self) -> Result<u16> {
        for _ in 0..PORT_TRIES {
            let port = free_port()?;
            if self.start_on(port)? {
                return Ok(port);
            }
        }
        bail!("found no free port for Postgres in {PORT_TRIES} tries");
    }

    /// Starts a server and waits until it takes connections. Not started where the port is taken.
    pub(super) fn start_on(&self, port: u16) -> Result<bool> {
        if self.running().is_none() {
            // Of a server that was killed. Postgres would refuse to start where the number has a new bearer.
            _ = fs::remove_file(self.data().join("postmaster.pid"));
        }
        let log = self.log();
        let mut truncate = OpenOptions::new();
        truncate
            .write(true)
            .create(true)
            .truncate(true)
            .mode(0o600)
            .open(&log)?;
        self.account.give(&log)?;
        let mut start = self.pg_ctl("start");
        start
            .arg("--wait")
            .args(["--timeout", "60", "--options", &format!("-p {port}")])
            .arg("--log")
            .arg(&log);
        if start.status().context("starting pg_ctl")?.success() {
            return Ok(true);
        }
        let tail = log_tail(&log);
        if tail.contains("Address already in use") {
            return Ok(false);
        }
        bail!("Postgres did not start on {}:\n{tail}", self.data().display());
    }

    /// Stops the server: clients are cut off, what they committed is kept.
    pub(super) fn stop(&self) -> Result<()> {
        let mut stop = self.pg_ctl("stop");
        stop.args(["--wait", "--mode", "fast", "--timeout", "60"]);
        run(stop, "pg_ctl stop")
    }

    /// The URL of a database of a server on it.
    pub(super) fn url(&self, port: u16, database: &str) -> String {
        format!("postgres://{USER}:{}@127.0.0.1:{port}/{database}", self.password)
    }

    /// The server's log.
    pub(super) fn log(&self) -> PathBuf {
        self.home.join("postgres.log")
    }

    fn data(&self) -> PathBuf {
        self.home.join("data")
    }

    fn pg_ctl(&self, action: &str) -> Command {
        let mut command = self.account.command(&self.programs.join("pg_ctl"), &self.home);
        command
            .arg(action)
            .arg("--silent")
            .arg("--pgdata")
            .arg(self.data());
        command
    }
}

/// Runs a command to its end; its failure is told in its own words.
fn run(mut command: Command, name: &str) -> Result<()> {
    let mut child = command
        .stderr(Stdio::piped())
        .spawn()
        .with_context(|| format!("starting {name}"))?;
    let mut said = String::new();
    if let Some(mut stderr) = child.stderr.take() {
        stderr.read_to_string(&mut said)?;
    }
    let status = child.wait()?;
    if !status.success() {
        bail!("{name} ended with {status}:\n{}", said.trim_end());
    }
    Ok(())
}

/// Line 1 is the process id, line 4 the port, line 8 the state.
fn parse_pid_file(text: &str) -> Option<Running> {
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    let ready = lines.get(7) == Some(&"ready");
    Some(Running {
        pid: lines.first()?.parse().ok()?,
        port: lines.get(3)?.parse().ok()?,
        ready,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pid_file_tells_process_port_and_state() {
        let text = "4711\n/srv/data\n1750000000\n34567\n\n127.0.0.1\n  1234   5\nready   \n";
        assert_eq!(
            parse_pid_file(text),
            Some(Running {
                pid: 4711,
                port: 34567,
                ready: true
            })
        );
        let starting = text.replace("ready   ", "starting");
        assert_eq!(
            parse_pid_file(&starting),
            Some(Running {
                pid: 4711,
                port: 34567,
                ready: false
            })
        );
        // A server that has only just begun has written fewer lines.
        assert_eq!(parse_pid_file("4711\n/srv/data\n1750000000\n"), None);
    }
}
