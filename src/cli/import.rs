//! The command that brings in counts from a file: `folga import`.

use std::{
    fs::File,
    io::{self, Read},
    path::PathBuf,
};

use anyhow::Context as _;
use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};
use tokio::task::spawn_blocking;

use super::{IN_PART, Usage, print};
use crate::{
    app::App,
    catalog::Catalog,
    clock::Clock,
    import::{Format, Rows},
    worker,
};

/// What is imported.
#[derive(Debug, Args)]
pub(super) struct ImportArgs {
    /// How the file is written.
    #[arg(long, value_enum)]
    format: Format,
    /// The file; - for standard input.
    #[arg(value_name = "FILE")]
    file: PathBuf,
}

/// Imports a file and prints what came of it.
pub(super) async fn run(args: &ImportArgs, catalog: Catalog, clock: Clock) -> anyhow::Result<u8> {
    let bar = ProgressBar::no_length();
    let input = open(&args.file, &bar)?;
    let format = args.format;
    let rows = spawn_blocking(move || Rows::open(format, input)).await??;
    let app = App::open(catalog, clock).await?;
    let imported = worker::import::import(&app.folga, rows, |done, all| {
        if bar.length() != Some(all) {
            style(&bar, "folding {bar:30} {percent} %");
            bar.set_length(all);
        }
        bar.set_position(done);
    })
    .await;
    bar.finish_and_clear();
    app.close().await?;
    let imported = imported?;
    print(&imported.to_string())?;
    Ok(if imported.refused.is_empty() { 0 } else { IN_PART })
}

/// Opens a file, whose bytes move the bar as they are read. How many a pipe will have is not known.
fn open(file: &PathBuf, bar: &ProgressBar) -> anyhow::Result<Box<dyn Read + Send>> {
    if file.as_os_str() == "-" {
        style(bar, "{spinner} {bytes} read");
        return Ok(Box::new(bar.wrap_read(io::stdin())));
    }
    let unreadable = |error: io::Error| Usage(format!("{}: {error}", file.display()));
    let input = File::open(file).map_err(unreadable)?;
    let about = input.metadata().context("looking at the file")?;
    if about.is_dir() {
        return Err(Usage(format!("{} is a folder: give a file", file.display())).into());
    }
    style(bar, "reading {bar:30} {bytes} of {total_bytes}");
    bar.set_length(about.len());
    Ok(Box::new(bar.wrap_read(input)))
}

fn style(bar: &ProgressBar, template: &str) {
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style);
    }
}
