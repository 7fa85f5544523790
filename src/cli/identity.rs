//! The command that says under which id an identity is stored: `folga identity`.

use std::{
    ffi::OsString,
    fmt::Write as _,
    io::{self, BufRead as _},
};

use anyhow::Context as _;
use clap::Args;

use super::{Usage, known};
use crate::{
    catalog::Catalog,
    source::{Identities, normalise},
};

/// What `identity` looks up.
#[derive(Debug, Args)]
pub(super) struct IdentityArgs {
    /// The scope in which it is counted.
    #[arg(long)]
    scope: String,
    /// The identity, spelt as in Redis; - reads one a line from stdin, which keeps them out of the shell's history.
    #[arg(value_name = "VALUE")]
    value: OsString,
}

/// The ids as reports show them, a line for each identity.
pub(super) fn run(args: &IdentityArgs, catalog: &Catalog) -> anyhow::Result<String> {
    let Some(scope) = catalog.scopes.get(&args.scope) else {
        let names = known(catalog.scopes.keys().map(String::as_str));
        return Err(Usage(format!(
            "the catalog has no scope `{}`: give one of {names}",
            args.scope
        ))
        .into());
    };
    let key = catalog
        .identity_key
        .as_ref()
        .context("there is no identity key: set FOLGA_IDENTITY_KEY")?;
    let identities = Identities::new(key);
    let mut ids = String::new();
    for raw in values(args)? {
        if raw.is_empty() {
            return Err(Usage("no identity is empty: give its text".to_owned()).into());
        }
        let id = identities.id(&args.scope, &normalise(*scope, &raw));
        // Writing to a String cannot fail.
        let _ = writeln!(ids, "{:016x}", id.cast_unsigned());
    }
    if scope.public {
        tracing::info!(
            scope = args.scope,
            "the scope is public: reports show the identity's own text, and the id only where the text looks personal"
        );
    }
    Ok(ids)
}

fn values(args: &IdentityArgs) -> anyhow::Result<Vec<Vec<u8>>> {
    if args.value != "-" {
        return Ok(vec![args.value.as_encoded_bytes().to_vec()]);
    }
    let lines: Result<Vec<_>, _> = io::stdin().lock().split(b'\n').collect();
    let mut lines = lines.context("reading stdin")?;
    for line in &mut lines {
        if line.last() == Some(&b'\r') {
            line.pop();
        }
    }
    Ok(lines)
}
