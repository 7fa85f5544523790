//! The account that servers run as.

use std::{
    fs,
    os::unix::{
        fs::{MetadataExt as _, chown},
        process::CommandExt as _,
    },
    path::Path,
    process::{Command, Stdio},
};

use anyhow::{Context as _, Result, bail};

/// The account that servers run as: our own or, where that is root, which Postgres refuses, an unprivileged one.
#[derive(Clone, Debug)]
pub(super) struct Account {
    /// User and group to change to; none to stay who we are.
    other: Option<(u32, u32)>,
}

impl Account {
    /// The account for servers that start afresh.
    pub(super) fn for_servers() -> Result<Self> {
        if our_user()? != 0 {
            return Ok(Self { other: None });
        }
        let accounts = fs::read_to_string("/etc/passwd").context("reading /etc/passwd")?;
        let other = ["postgres", "nobody"]
            .iter()
            .find_map(|name| find(&accounts, name));
        if other.is_none() {
            bail!(
                "Postgres refuses to run as root and there is neither a user `postgres` nor `nobody` to run it as: \
                 run folga as an unprivileged user"
            );
        }
        Ok(Self { other })
    }

    /// The account that owns what an earlier run left.
    pub(super) fn owner_of(path: &Path) -> Result<Self> {
        let metadata = fs::metadata(path).with_context(|| format!("looking at {}", path.display()))?;
        let (ours, owner) = (our_user()?, metadata.uid());
        if ours == owner {
            return Ok(Self { other: None });
        }
        if ours != 0 {
            bail!(
                "{} belongs to user {owner} and this is user {ours}: run folga as the same user each time, or set \
                 `data_dir` of [postgres] to another folder",
                path.display()
            );
        }
        Ok(Self {
            other: Some((owner, metadata.gid())),
        })
    }

    /// A command that runs as this account, in a folder, and prints nothing on our terminal.
    pub(super) fn command(&self, program: &Path, folder: &Path) -> Command {
        let mut command = Command::new(program);
        command
            .current_dir(folder)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        if let Some((user, group)) = self.other {
            command.uid(user).gid(group);
        }
        command
    }

    /// Hands a file or folder over to this account.
    pub(super) fn give(&self, path: &Path) -> Result<()> {
        if let Some((user, group)) = self.other {
            chown(path, Some(user), Some(group))
                .with_context(|| format!("handing {} to user {user}", path.display()))?;
        }
        Ok(())
    }

    /// Whether this account can enter a folder through all that lie above it. Asked of the system itself, since mode
    /// bits do not tell all.
    pub(super) fn can_enter(&self, folder: &Path) -> bool {
        let mut test = self.command(Path::new("test"), Path::new("/"));
        test.arg("-x")
            .arg(folder)
            .status()
            .is_ok_and(|status| status.success())
    }

    /// Refuses a folder that this account can't enter, naming the one in the way.
    pub(super) fn check_can_enter(&self, folder: &Path) -> Result<()> {
        if self.can_enter(folder) {
            return Ok(());
        }
        let ancestors: Vec<&Path> = folder.ancestors().collect();
        let barred = ancestors
            .iter()
            .rev()
            .find(|ancestor| !self.can_enter(ancestor))
            .unwrap_or(&folder);
        let user = self
            .other
            .map_or_else(|| "this user".to_owned(), |(user, _)| format!("user {user}"));
        bail!(
            "Postgres runs as {user}, who can't enter {}, so it can't keep its data in {}: set `data_dir` of \
             [postgres] to a folder that everybody can enter, such as /var/lib/folga, or run folga as an \
             unprivileged user",
            barred.display(),
            folder.display()
        );
    }
}

/// The user this process runs as.
fn our_user() -> Result<u32> {
    Ok(fs::metadata("/proc/self")
        .context("looking at /proc/self, which tells who we are")?
        .uid())
}

/// User and group of a name in the text of a password file.
fn find(accounts: &str, name: &str) -> Option<(u32, u32)> {
    accounts.lines().find_map(|line| {
        let mut parts = line.split(':');
        if parts.next() != Some(name) {
            return None;
        }
        Some((parts.nth(1)?.parse().ok()?, parts.next()?.parse().ok()?))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_account_is_found_by_its_whole_name() {
        let accounts = "root:x:0:0:root:/root:/bin/sh\npostgres2:x:7:8::/:/bin/sh\npostgres:x:101:104:,,,:/var:/bin/sh\n";
        assert_eq!(find(accounts, "postgres"), Some((101, 104)));
        assert_eq!(find(accounts, "nobody"), None);
    }
}
