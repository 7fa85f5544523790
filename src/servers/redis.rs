//! A throwaway Redis.

use std::{
    fs::File,
    io::{self, Read as _, Write as _},
    net::TcpStream,
    os::unix::process::CommandExt as _,
    path::PathBuf,
    process::{Child, Stdio},
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context as _, Result, bail};

use super::{PORT_TRIES, account::Account, folder::Folder, free_port, log_tail, programs, random_text};

/// A Redis that keeps nothing on disk and is gone when this is dropped or the process ends in any way.
#[derive(Debug)]
pub struct PrivateRedis {
    folder: Folder,
    account: Account,
    program: PathBuf,
    settings: String,
    password: String,
    port: u16,
    server: Option<Child>,
}

impl PrivateRedis {
    /// Starts one.
    ///
    /// # Errors
    /// `redis-server` is missing or does not start; the message shows its log.
    pub fn start() -> Result<Self> {
        Self::start_with("")
    }

    /// Starts one with further lines of configuration, as `redis.conf` has them.
    ///
    /// # Errors
    /// `redis-server` is missing or does not start; the message shows its log.
    pub fn start_with(settings: &str) -> Result<Self> {
        let program = programs::redis()?;
        let account = Account::for_servers()?;
        let mut redis = Self {
            folder: Folder::create(&account)?,
            account,
            program,
            settings: settings.to_owned(),
            password: random_text()?,
            port: 0,
            server: None,
        };
        for _ in 0..PORT_TRIES {
            redis.port = free_port()?;
            if redis.launch()? {
                return Ok(redis);
            }
        }
        bail!("found no free port for Redis in {PORT_TRIES} tries");
    }

    /// Starts it again on the same port, empty, after [`stop`](Self::stop).
    ///
    /// # Errors
    /// It does not start, or somebody took the port meanwhile.
    pub fn restart(&mut self) -> Result<()> {
        self.stop()?;
        if !self.launch()? {
            bail!(
                "port {} was taken by another program while Redis was stopped",
                self.port
            );
        }
        Ok(())
    }

    /// Stops it at once, as a crash would.
    ///
    /// # Errors
    /// The system refuses.
    pub fn stop(&mut self) -> Result<()> {
        if let Some(mut server) = self.server.take() {
            server.kill().context("stopping Redis")?;
            server.wait().context("waiting for Redis to end")?;
        }
        Ok(())
    }

    /// Where it is.
    #[must_use]
    pub fn url(&self) -> String {
        format!("redis://:{}@127.0.0.1:{}", self.password, self.port)
    }

    /// Its port.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Its password.
    #[must_use]
    pub fn password(&self) -> &str {
        &self.password
    }

    /// Its process id, while it runs.
    #[must_use]
    pub fn pid(&self) -> Option<u32> {
        self.server.as_ref().map(Child::id)
    }

    /// Whether it came up; not where the port was taken.
    fn launch(&mut self) -> Result<bool> {
        let log = self.folder.path().join("redis.log");
        let output = File::create(&log).with_context(|| format!("creating {}", log.display()))?;
        let mut command = self.account.command(&self.program, self.folder.path());
        // The configuration goes through standard input, so that the password is in no list of processes.
        command
            .arg("-")
            .process_group(0)
            .stdin(Stdio::piped())
            .stdout(output);
        let mut server = command
            .spawn()
            .with_context(|| format!("starting {}", self.program.display()))?;
        let mut input = server.stdin.take().context("Redis has no standard input")?;
        let configuration = format!(
            "port {}\nbind 127.0.0.1\nrequirepass {}\nsave \"\"\nappendonly no\n{}\n",
            self.port, self.password, self.settings
        );
        // A Redis that ends before it has read this says why in its log.
        _ = input.write_all(configuration.as_bytes());
        drop(input);
        self.server = Some(server);

        let deadline = Instant::now() + Duration::from_secs(20);
        while Instant::now() < deadline {
            if let Some(status) = self
                .server
                .as_mut()
                .and_then(|server| server.try_wait().transpose())
                .transpose()?
            {
                let tail = log_tail(&log);
                if tail.contains("Address already in use") {
                    return Ok(false);
                }
                bail!("redis-server ended with {status}:\n{tail}");
            }
            if self.answers() {
                return Ok(true);
            }
            thread::sleep(Duration::from_millis(5));
        }
        bail!("Redis did not answer within 20 s:\n{}", log_tail(&log));
    }

    fn answers(&self) -> bool {
        let ask = || -> io::Result<bool> {
            let mut stream = TcpStream::connect(("127.0.0.1", self.port))?;
            stream.set_read_timeout(Some(Duration::from_secs(1)))?;
            write!(stream, "AUTH {}\r\nPING\r\n", self.password)?;
            let mut reply = [0; 12];
            stream.read_exact(&mut reply)?;
            Ok(reply == *b"+OK\r\n+PONG\r\n")
        };
        ask().unwrap_or(false)
    }
}

impl Drop for PrivateRedis {
    fn drop(&mut self) {
        // The folder's watchdog would end it too; this way it leaves no zombie behind.
        _ = self.stop();
    }
}
