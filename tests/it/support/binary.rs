//! The real binary, run as a user would.

use std::{
    ffi::OsStr,
    path::Path,
    process::{Output, Stdio},
    time::Duration,
};

use tokio::process::{Child, Command};

/// The key that identities are hashed with in tests.
const IDENTITY_KEY: &str = "an identity key for tests";

/// A command line of the binary.
pub struct Folga {
    command: Command,
    shown: String,
}

/// What came of it.
#[derive(Debug)]
pub struct Ran {
    /// Its exit code; none where a signal ended it.
    pub code: Option<i32>,
    /// Its results.
    pub stdout: String,
    /// Its log.
    pub stderr: String,
    shown: String,
}

impl Folga {
    /// A command line that works in a folder.
    pub fn new(arguments: &[&str], folder: &Path) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_folga"));
        command
            .args(arguments)
            .current_dir(folder)
            .env("FOLGA_IDENTITY_KEY", IDENTITY_KEY)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true);
        Self {
            command,
            shown: format!("folga {}", arguments.join(" ")),
        }
    }

    /// With an environment variable.
    pub fn env(mut self, name: &str, value: impl AsRef<OsStr>) -> Self {
        self.command.env(name, value);
        self
    }

    /// With an input.
    pub fn stdin(mut self, input: Stdio) -> Self {
        self.command.stdin(input);
        self
    }

    /// As if now were this instant.
    pub fn at(mut self, instant: &str) -> Self {
        self.command.args(["--at", instant]);
        self
    }

    /// Runs it to its end, and fails the test where that takes more than two minutes.
    pub async fn run(mut self) -> Ran {
        let output = tokio::time::timeout(Duration::from_mins(2), self.command.output()).await;
        let output = output.unwrap_or_else(|_| panic!("{} did not end within two minutes", self.shown));
        Ran::new(output.expect("the binary starts"), self.shown)
    }

    /// Starts it and goes on. It is killed when the child is dropped.
    pub fn spawn(mut self) -> Child {
        self.command.spawn().expect("the binary starts")
    }
}

impl Ran {
    fn new(output: Output, shown: String) -> Self {
        Self {
            code: output.status.code(),
            stdout: String::from_utf8(output.stdout).expect("results are UTF-8"),
            stderr: String::from_utf8(output.stderr).expect("logs are UTF-8"),
            shown,
        }
    }

    /// Fails the test where it did not end with this code.
    #[track_caller]
    pub fn exited(self, code: i32) -> Self {
        assert_eq!(
            self.code,
            Some(code),
            "{}\n{}\n{}",
            self.shown,
            self.stdout,
            self.stderr
        );
        self
    }

    /// Fails the test where it did not succeed.
    #[track_caller]
    pub fn succeeded(self) -> Self {
        self.exited(0)
    }

    /// Its results as JSON.
    #[track_caller]
    pub fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.stdout)
            .unwrap_or_else(|error| panic!("{}: {error}\n{}\n{}", self.shown, self.stdout, self.stderr))
    }
}
