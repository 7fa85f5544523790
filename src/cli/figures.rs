//! The commands that print figures: `report` and `whatif`.

use chrono::{DateTime, Utc};
use clap::{Args, ValueEnum};

use super::{Usage, check_environment, known};
use crate::{
    app::App,
    catalog::{Catalog, Limit, UNLIMITED},
    clock::Clock,
    language::Language,
    page,
    report::{self, Period, PeriodChoice, Report},
    store::in_words,
    worker,
};

/// What `report` prints.
#[derive(Debug, Args)]
pub(super) struct ReportArgs {
    /// The environment.
    #[arg(long)]
    env: String,
    /// Only this group of limits.
    #[arg(long)]
    group: Option<String>,
    #[command(flatten)]
    period: PeriodArgs,
    /// How to print it.
    #[arg(long, value_enum, default_value_t)]
    format: ReportFormat,
}

/// What `whatif` prints.
#[derive(Debug, Args)]
pub(super) struct WhatIfArgs {
    /// The limit's id.
    #[arg(value_name = "LIMIT")]
    id: String,
    /// The environment.
    #[arg(long)]
    env: String,
    /// The value to try.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    limit: u64,
    #[command(flatten)]
    period: PeriodArgs,
    /// How to print it.
    #[arg(long, value_enum, default_value_t)]
    format: WhatIfFormat,
}

#[derive(Debug, Args)]
struct PeriodArgs {
    /// The last N full local days; 30 where nothing is said.
    #[arg(long, value_name = "N", conflicts_with_all = ["from", "to"])]
    days: Option<u32>,
    /// First instant (RFC 3339), rounded down to its hour.
    #[arg(long, value_name = "RFC3339")]
    from: Option<String>,
    /// First instant after it, rounded likewise.
    #[arg(long, value_name = "RFC3339")]
    to: Option<String>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum ReportFormat {
    /// A table for the terminal.
    #[default]
    Table,
    /// The JSON that the service serves.
    Json,
    /// Comma-separated values, a row for each limit.
    Csv,
    /// Markdown for a pull request.
    Md,
    /// A page that stands alone.
    Html,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum WhatIfFormat {
    /// Words for the terminal.
    #[default]
    Table,
    /// The JSON that the service serves.
    Json,
}

impl PeriodArgs {
    fn choose(&self, catalog: &Catalog, now: DateTime<Utc>) -> Result<Period, Usage> {
        let choice = PeriodChoice {
            days: self.days,
            from: self.from.as_deref(),
            to: self.to.as_deref(),
        };
        Period::choose(choice, now, catalog.timezone, catalog.retention_days)
            .map_err(|refusal| Usage(refusal.to_string()))
    }
}

/// The report of an environment, as it is to be printed.
pub(super) async fn report(args: &ReportArgs, catalog: Catalog, clock: Clock) -> anyhow::Result<String> {
    check_environment(&catalog, &args.env)?;
    check_group(&catalog, args.group.as_deref())?;
    let period = args.period.choose(&catalog, clock.now())?;
    let zone = catalog.timezone;
    let app = App::open(catalog, clock).await?;
    let report = worker::report::report(&app.folga, &args.env, args.group.as_deref(), period).await;
    app.close().await?;
    let report: Report = report.map_err(|error| in_words(&error))?;
    Ok(match args.format {
        ReportFormat::Table => report::table(&report, zone),
        ReportFormat::Json => serde_json::to_string_pretty(&report)?,
        ReportFormat::Csv => report::csv(&report),
        ReportFormat::Md => report::markdown(&report, zone),
        ReportFormat::Html => page::document(&report, zone, Language::default()),
    })
}

/// What another value of a limit would have refused, as it is to be printed.
pub(super) async fn what_if(args: &WhatIfArgs, catalog: Catalog, clock: Clock) -> anyhow::Result<String> {
    check_environment(&catalog, &args.env)?;
    let limit = limit(&catalog, &args.env, &args.id)?.clone();
    let period = args.period.choose(&catalog, clock.now())?;
    let zone = catalog.timezone;
    let app = App::open(catalog, clock).await?;
    let what_if = worker::report::limit_what_if(&app.folga, &args.env, &limit, args.limit, period).await;
    app.close().await?;
    let what_if = what_if.map_err(|error| in_words(&error))?;
    Ok(match args.format {
        WhatIfFormat::Table => report::what_if_words(&what_if, zone),
        WhatIfFormat::Json => serde_json::to_string_pretty(&what_if)?,
    })
}

fn check_group(catalog: &Catalog, id: Option<&str>) -> Result<(), Usage> {
    match id {
        Some(id) if id != UNLIMITED && catalog.groups.iter().all(|group| group.id != id) => {
            let ids = known((catalog.groups.iter().map(|group| &*group.id)).chain([UNLIMITED]));
            Err(Usage(format!(
                "the catalog has no group `{id}`: give one of {ids}"
            )))
        }
        _ => Ok(()),
    }
}

/// A limit of an environment.
pub(super) fn limit<'c>(catalog: &'c Catalog, environment: &str, id: &str) -> Result<&'c Limit, Usage> {
    let limits = || {
        let limits = catalog.limits().map(|(_, limit)| limit);
        limits.filter(|limit| limit.exists_in(environment))
    };
    limits().find(|limit| limit.id == id).ok_or_else(|| {
        let ids = known(limits().map(|limit| &*limit.id));
        Usage(format!("{environment} has no limit `{id}`: give one of {ids}"))
    })
}
