//! The command line.

mod alerts;
mod figures;
mod identity;
mod import;

use std::{fmt::Write as _, io::Write as _, path::PathBuf, process::ExitCode, time::Duration};

use anyhow::Context;
use chrono::{DateTime, Utc};
use clap::{Parser, Subcommand, ValueEnum};
use indicatif::{ProgressBar, ProgressStyle};

use self::{
    alerts::AlertsCommand,
    figures::{ReportArgs, WhatIfArgs},
    identity::IdentityArgs,
    import::ImportArgs,
};
use crate::{
    app::{self, App},
    catalog::{Catalog, Environment, Refusal, Source, variable},
    check::{self, Live},
    clock::Clock,
    demo::{self, Demo},
    report::{self, Period, PeriodChoice},
    serve,
    store::{Unusable, in_words, runs::RunOutcome},
    telemetry::{self, LogFormat},
    worker::{self, deliver::Sender, emergency::Emergency},
};

/// Calibrates rate limits from the counters rate limiters leave in Redis.
#[derive(Debug, Parser)]
#[command(version, propagate_version = true)]
struct Cli {
    /// The catalog file.
    #[arg(long, global = true, env = "FOLGA_CONFIG", default_value = "folga.toml")]
    config: PathBuf,
    /// Act as if now were this instant (RFC 3339): drain, import, retention, report, whatif, alerts.
    #[arg(long, global = true, value_name = "RFC3339")]
    at: Option<DateTime<Utc>>,
    /// How logs are written to stderr.
    #[arg(long, global = true, value_enum, default_value_t)]
    log_format: LogFormat,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    #[command(flatten)]
    Once(Once),
    /// Print the id under which an identity is stored, as reports show it.
    Identity(IdentityArgs),
    /// Drain on schedule and answer over HTTP.
    Serve,
    /// Play 35 days of traffic through private servers, print the report and serve it.
    Demo {
        /// End after printing.
        #[arg(long)]
        once: bool,
    },
}

#[derive(Debug, Subcommand)]
enum Once {
    /// Create or upgrade the schema.
    Migrate,
    /// Validate the catalog and say what it comes to; where servers are reachable, look at what is there too. Exit code
    /// 0: sound; 2: refused; 3: sound, with findings.
    Check {
        /// How to print it.
        #[arg(long, value_enum, default_value_t)]
        format: CheckFormat,
    },
    /// Read what Redis holds, once. Exit code 0: all done; 1: failed; 2: bad usage, catalog or name; 3: done in part,
    /// something was refused or can no longer be covered.
    Drain {
        /// Only this source.
        #[arg(long)]
        source: Option<String>,
        /// Only this environment.
        #[arg(long)]
        env: Option<String>,
    },
    /// Bring in counts from a file, of minutes that Redis holds no longer. Exit code 0: all in; 1: failed; 2: bad usage,
    /// catalog or header; 3: done in part, some rows were refused.
    Import(ImportArgs),
    /// Drop what is older than it is kept.
    Retention,
    /// Print each limit's peak against its limit, and what is recommended.
    Report(ReportArgs),
    /// Print what another value of a limit would have refused.
    #[command(name = "whatif")]
    WhatIf(WhatIfArgs),
    /// Look at alerts, and silence limits.
    #[command(subcommand)]
    Alerts(AlertsCommand),
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum CheckFormat {
    /// Tables for the terminal.
    #[default]
    Table,
    /// What servers have to say, as JSON.
    Json,
}

/// Something the user wrote is wrong: exit code 2.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
struct Usage(String);

/// A signal came before the work was done.
#[derive(Debug, thiserror::Error)]
#[error("{0} came before the work was done: the next run does what is left")]
struct Interrupted(&'static str);

/// Work that a signal ends. What it holds is let go of: transactions roll back, a private Postgres stops.
async fn interruptible<T>(work: impl Future<Output = anyhow::Result<T>>) -> anyhow::Result<T> {
    tokio::select! {
        result = work => result,
        signal = serve::interrupted() => Err(Interrupted(signal?).into()),
    }
}

/// A run from cron sends alerts no longer than this.
const SENDING: Duration = Duration::from_secs(15);

const FAILED: u8 = 1;
const MISUSED: u8 = 2;
const IN_PART: u8 = 3;

/// Runs the command line.
#[must_use]
pub fn main() -> ExitCode {
    let cli = Cli::parse();
    let result = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .context("starting the runtime")
        .and_then(|runtime| {
            let result = runtime.block_on(run(cli));
            // A private Postgres that was just being started stops again in this time. A fold that was dropped may
            // still be computing: it holds nothing any more.
            let is_interrupted = result.as_ref().is_err_and(anyhow::Error::is::<Interrupted>);
            runtime.shutdown_timeout(Duration::from_secs(if is_interrupted { 8 } else { 1 }));
            result
        });
    match result {
        Ok(code) => ExitCode::from(code),
        Err(error) => {
            let misused = error.is::<Usage>() || error.is::<Refusal>();
            eprintln!("folga: {error:#}");
            ExitCode::from(if misused { MISUSED } else { FAILED })
        }
    }
}

/// Reads the catalog, and begins to log: only now is it known what no log may show.
fn load(cli: &Cli, needs_identity_key: bool) -> anyhow::Result<Catalog> {
    let catalog = Catalog::load(&cli.config, &variable, needs_identity_key)
        .map_err(|error| Usage(error.to_string()))?;
    telemetry::start(cli.log_format, &catalog)?;
    Ok(catalog)
}

async fn run(cli: Cli) -> anyhow::Result<u8> {
    let clock = Clock::new(cli.at);
    match &cli.command {
        Command::Identity(args) => print(&identity::run(args, &load(&cli, true)?)?),
        Command::Serve => Box::pin(serve(load(&cli, true)?, clock)).await,
        Command::Demo { once } => demo(*once, clock, cli.log_format).await,
        Command::Once(once) => Box::pin(interruptible(run_once(&cli, once, clock))).await,
    }
}

async fn serve(catalog: Catalog, clock: Clock) -> anyhow::Result<u8> {
    catalog.http.check_serving()?;
    // Nobody is served before there is an answer to give.
    let app = match interruptible(App::open(catalog.clone(), clock)).await {
        Err(error) if error.is::<Interrupted>() => return Ok(0),
        Err(error) => {
            if error.is::<Unusable>()
                && let Some(emergency) = Emergency::new(&catalog)?
            {
                emergency.at_start(&format!("{error:#}"), clock.now()).await;
            }
            return Err(error);
        }
        Ok(app) => app,
    };
    let result = match serve::listen(&app.folga.catalog.http).await {
        Ok(listener) => serve::serve(&app.folga, listener).await,
        Err(error) => Err(error),
    };
    app.close().await?;
    result.map(|()| 0)
}

async fn run_once(cli: &Cli, command: &Once, clock: Clock) -> anyhow::Result<u8> {
    match command {
        Once::Migrate => {
            let steps = app::migrate(&load(cli, false)?).await?;
            print(&match steps {
                0 => "the schema is up to date".to_owned(),
                1 => "1 step applied: the schema is up to date".to_owned(),
                steps => format!("{steps} steps applied: the schema is up to date"),
            })
        }
        Once::Check { format } => {
            let (catalog, now) = (load(cli, true)?, clock.now());
            let live = Live::look(&catalog, now).await;
            print(&match format {
                CheckFormat::Table => format!("{}{live}", check::summary(&catalog, now)),
                CheckFormat::Json => serde_json::to_string_pretty(&live)?,
            })?;
            Ok(if live.has_findings() { IN_PART } else { 0 })
        }
        Once::Drain { source, env } => {
            let catalog = load(cli, true)?;
            let chosen = targets(&catalog, source.as_deref(), env.as_deref())?;
            let chosen: Vec<_> = chosen
                .into_iter()
                .map(|(source, environment)| (source.clone(), environment.clone()))
                .collect();
            let app = match App::open(catalog.clone(), clock).await {
                Ok(app) => app,
                Err(error) => return Err(tell_of_postgres(&catalog, clock, error).await),
            };
            let code = drain(&app, &chosen).await;
            let sent = send_alerts(&app.folga).await;
            app.close().await?;
            if let Err(error) = sent {
                return Err(tell_of_postgres(&catalog, clock, error).await);
            }
            code
        }
        Once::Import(args) => import::run(args, load(cli, true)?, clock).await,
        Once::Retention => {
            let app = App::open(load(cli, true)?, clock).await?;
            let dropped = worker::retention::retain(&app.folga).await;
            app.close().await?;
            let dropped = dropped.map_err(|error| in_words(&error))?;
            print(&format!(
                "dropped {} hourly rows, {} daily rows, {} hours of coverage, {} runs, {} alerts and {} minute rows",
                dropped.hourly,
                dropped.daily,
                dropped.coverage,
                dropped.runs,
                dropped.alerts,
                dropped.minutes
            ))
        }
        Once::Report(args) => print(&figures::report(args, load(cli, true)?, clock).await?),
        Once::WhatIf(args) => print(&figures::what_if(args, load(cli, true)?, clock).await?),
        Once::Alerts(command) => print(&alerts::run(command, load(cli, true)?, clock).await?),
    }
}

async fn demo(once: bool, clock: Clock, format: LogFormat) -> anyhow::Result<u8> {
    let demo = Demo::open(clock).await?;
    demo.play().await?;
    let folga = &demo.app.folga;
    let zone = folga.catalog.timezone;
    let period = Period::choose(
        PeriodChoice::default(),
        clock.now(),
        zone,
        folga.catalog.retention_days,
    )?;
    let report = worker::report::report(folga, demo::ENVIRONMENT, None, period).await;
    let report = report.map_err(|error| in_words(&error))?;
    let code = print(&report::table(&report, zone))?;
    if !once {
        telemetry::start(format, &folga.catalog)?;
        let listener = serve::listen(&folga.catalog.http).await?;
        print(&format!("serving it on http://{}", listener.local_addr()?))?;
        serve::serve(folga, listener).await?;
    }
    demo.close().await?;
    Ok(code)
}

/// Writes a result to stdout. A reader that has gone away, `head` say, is no failure.
fn print(text: &str) -> anyhow::Result<u8> {
    let is_whole = text.is_empty() || text.ends_with('\n');
    let end = if is_whole { "" } else { "\n" };
    match write!(std::io::stdout().lock(), "{text}{end}") {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            Err(error).context("writing to stdout")
        }
        _ => Ok(0),
    }
}

fn known<'a>(names: impl Iterator<Item = &'a str>) -> String {
    names.collect::<Vec<_>>().join(", ")
}

fn check_environment<'c>(catalog: &'c Catalog, name: &str) -> Result<&'c Environment, Usage> {
    catalog
        .environments
        .iter()
        .find(|environment| environment.name == name)
        .ok_or_else(|| {
            let names = known(catalog.environments.iter().map(|environment| &*environment.name));
            Usage(format!(
                "the catalog has no environment `{name}`: give one of {names}"
            ))
        })
}

/// The sources and environments to drain, in file order.
fn targets<'c>(
    catalog: &'c Catalog,
    source: Option<&str>,
    environment: Option<&str>,
) -> Result<Vec<(&'c Source, &'c Environment)>, Usage> {
    if let Some(name) = environment {
        check_environment(catalog, name)?;
    }
    if let Some(name) = source
        && catalog.sources.iter().all(|source| source.name != name)
    {
        let names = known(catalog.sources.iter().map(|source| &*source.name));
        return Err(Usage(format!(
            "the catalog has no source `{name}`: give one of {names}"
        )));
    }
    let chosen: Vec<_> = worker::targets(catalog)
        .filter(|(own, _)| source.is_none_or(|name| own.name == name))
        .filter(|(_, own)| environment.is_none_or(|name| own.name == name))
        .collect();
    if chosen.is_empty() {
        return Err(Usage(
            "that source does not exist in that environment: see `environments` of the source".into(),
        ));
    }
    Ok(chosen)
}

/// Nothing can be noted where there is no database: it is told at once.
async fn tell_of_postgres(catalog: &Catalog, clock: Clock, error: anyhow::Error) -> anyhow::Error {
    if !error.is::<Unusable>() {
        return error;
    }
    match Emergency::new(catalog) {
        Ok(Some(emergency)) => {
            let now = clock.now();
            emergency.down(&format!("{error:#}"), now, now).await;
        }
        Ok(None) => {}
        Err(other) => tracing::error!(
            error = format!("{other:#}"),
            "nobody can be told that Postgres is missing"
        ),
    }
    error
}

/// Sends what is to be told, within bounds: the next run sends the rest.
async fn send_alerts(folga: &worker::Folga) -> anyhow::Result<()> {
    worker::commands::look(folga)
        .await
        .map_err(|error| in_words(&error))?;
    if let Some(emergency) = Emergency::new(&folga.catalog)? {
        emergency.up(folga.clock.now()).await;
    }
    if let Some(sender) = Sender::new(folga)? {
        // What was not sent has been logged.
        _ = sender.round(SENDING).await.map_err(|error| in_words(&error))?;
    }
    Ok(())
}

async fn drain(app: &App, chosen: &[(Source, Environment)]) -> anyhow::Result<u8> {
    let bar = ProgressBar::new(chosen.len() as u64);
    if let Ok(style) = ProgressStyle::with_template("{bar:30} {pos}/{len} {msg}") {
        bar.set_style(style);
    }
    let mut code = 0;
    for (source, environment) in chosen {
        bar.set_message(format!("{} {}", environment.name, source.name));
        let drained = worker::drain::drain(&app.folga, source, environment).await;
        let run = drained.run;
        code = match (run.outcome, code) {
            (RunOutcome::Failed, _) => FAILED,
            (RunOutcome::Partial, 0) => IN_PART,
            (_, code) => code,
        };
        let mut text = run.to_string();
        for stranger in &drained.strangers {
            // Writing to a String cannot fail.
            let _ = write!(text, "\n  {stranger}: it counts as itself");
        }
        bar.suspend(|| print(&text))?;
        bar.inc(1);
    }
    bar.finish_and_clear();
    Ok(code)
}
