//! The folder of a throwaway server, and the watchdog that cleans up behind it.

use std::{
    env,
    fs::DirBuilder,
    os::unix::{fs::DirBuilderExt as _, process::CommandExt as _},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
};

use anyhow::{Context as _, Result, bail};

use super::{account::Account, random_text};

/// Waits until our end of its standard input closes, which the system does however we end, kill −9 included. Then it
/// ends every process that works in the folder (each server does, so no process id can be mistaken) and removes it.
/// SIGINT asks both Redis and Postgres to stop at once and tidily; SIGCONT lets a paused one hear it.
const WATCHDOG: &str = r#"
trap '' HUP INT TERM
cat >/dev/null
inside() { find /proc/[0-9]*/cwd -maxdepth 0 -lname "$1*" 2>/dev/null | cut -d/ -f3; }
for signal in INT INT INT INT INT INT INT INT INT INT INT INT INT INT INT INT INT INT INT INT KILL; do
    pids=$(inside "$1")
    [ -n "$pids" ] || break
    kill -s "$signal" $pids 2>/dev/null
    kill -s CONT $pids 2>/dev/null
    sleep 0.1
done
rm -rf "$1"
"#;

/// A folder that is gone, with every server in it, when this is dropped or the process ends in any way.
#[derive(Debug)]
pub(super) struct Folder {
    path: PathBuf,
    watchdog: Child,
}

impl Folder {
    /// Makes one that belongs to the account, in the first folder for temporary files that the account can enter.
    pub(super) fn create(account: &Account) -> Result<Self> {
        let bases = [env::temp_dir(), PathBuf::from("/var/tmp"), PathBuf::from("/tmp")];
        let Some(base) = bases
            .iter()
            .filter_map(|base| base.canonicalize().ok())
            .find(|base| account.can_enter(base))
        else {
            bail!(
                "none of {bases:?} can be entered by the account that servers run as: set TMPDIR to one that can"
            );
        };
        let path = base.join(format!("folga-{}", &random_text()?[..12]));
        DirBuilder::new()
            .mode(0o700)
            .create(&path)
            .with_context(|| format!("creating {}", path.display()))?;
        // A group of its own: Ctrl-C is for us, and the watchdog must outlive us.
        let watchdog = Command::new("sh")
            .args(["-c", WATCHDOG, "folga-watchdog"])
            .arg(&path)
            .current_dir("/")
            .process_group(0)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .context("starting the watchdog of a private server")?;
        let folder = Self { path, watchdog };
        account.give(&folder.path)?;
        Ok(folder)
    }

    /// Where it is.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // Waiting closes the pipe first, and the watchdog needs two seconds at the very most.
        _ = self.watchdog.wait();
    }
}
