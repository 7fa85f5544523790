//! Where the servers' programs are.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Result, bail};

/// Debian keeps Postgres here, out of PATH, a folder for each major version.
const DEBIAN: &str = "/usr/lib/postgresql";

/// The folder with `initdb`, `pg_ctl` and `postgres`: of one major version, or the first of PATH and the newest
/// installed.
pub(super) fn postgres(version: Option<&str>) -> Result<PathBuf> {
    let found = candidates()
        .into_iter()
        .filter(|folder| is_whole(folder))
        .find(|folder| version.is_none_or(|version| major_of(folder).as_deref() == Some(version)));
    match (found, version) {
        (Some(folder), _) => Ok(folder),
        (None, Some(version)) => bail!(
            "the data were written by Postgres {version} and no other version reads them: install it (Debian: \
             apt-get install postgresql-{version})"
        ),
        (None, None) => bail!(
            "initdb, pg_ctl and postgres are neither in PATH nor in {DEBIAN}/*/bin: install Postgres (Debian: \
             apt-get install postgresql), or give the URL of a running one as `url` of [postgres]"
        ),
    }
}

/// Where `redis-server` is.
pub(super) fn redis() -> Result<PathBuf> {
    let Some(path) = in_path("redis-server") else {
        bail!("redis-server is not in PATH: install it (Debian: apt-get install redis-server)");
    };
    Ok(path)
}

/// Folders that may hold Postgres, the best first.
fn candidates() -> Vec<PathBuf> {
    let mut versions: Vec<(u32, PathBuf)> = fs::read_dir(DEBIAN)
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| {
            Some((
                entry.file_name().to_str()?.parse().ok()?,
                entry.path().join("bin"),
            ))
        })
        .collect();
    versions.sort_unstable_by(|a, b| b.cmp(a));
    let on_path = in_path("initdb").and_then(|path| Some(path.parent()?.to_owned()));
    on_path
        .into_iter()
        .chain(versions.into_iter().map(|(_, folder)| folder))
        .collect()
}

fn is_whole(folder: &Path) -> bool {
    ["initdb", "pg_ctl", "postgres"]
        .iter()
        .all(|program| folder.join(program).is_file())
}

/// The major version: `postgres (PostgreSQL) 15.7 (Debian …)` is 15.
fn major_of(folder: &Path) -> Option<String> {
    let output = Command::new(folder.join("postgres")).arg("-V").output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    let number = text.split(' ').nth(2)?;
    Some(number.split(|c: char| !c.is_ascii_digit()).next()?.to_owned())
}

/// Where the shell finds a program.
fn in_path(program: &str) -> Option<PathBuf> {
    let output = Command::new("sh")
        .args(["-c", r#"command -v "$1""#, "sh", program])
        .output()
        .ok()?;
    let path = PathBuf::from(String::from_utf8(output.stdout).ok()?.trim_end());
    path.is_absolute().then_some(path)
}
