//! The commands about alerts: `folga alerts …`.

use anyhow::Context as _;
use chrono::{DateTime, TimeDelta, Utc};
use clap::{Args, Subcommand, ValueEnum};

use super::{Usage, check_environment, figures::limit};
use crate::{
    alert::service_words,
    app::App,
    catalog::{Catalog, duration},
    clock::Clock,
    ntfy::{Message, Ntfy, sequence},
    report,
    store::{Store, StoreError, delivery, in_words, silences, silences::Silence},
    worker,
};

/// A silence that ends later would be forgotten.
const FARTHEST: TimeDelta = TimeDelta::days(90);
/// A reason is shown in a line.
const LONGEST_REASON: usize = 200;

/// What there is to do about alerts.
#[derive(Debug, Subcommand)]
pub(super) enum AlertsCommand {
    /// Print what is alerted now, which limits are silenced, and the newest alerts.
    List(ListArgs),
    /// Keep a limit's alerts from being sent for a while.
    Silence(SilenceArgs),
    /// End a silence.
    Unsilence(Named),
    /// Send a message now, and print what the server says.
    Test,
}

#[derive(Debug, Args)]
pub(super) struct ListArgs {
    /// Only this environment, and what concerns all.
    #[arg(long)]
    env: Option<String>,
    /// How to print it.
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum Format {
    /// Tables for the terminal.
    #[default]
    Table,
    /// The JSON that the service serves.
    Json,
}

/// A limit of an environment.
#[derive(Debug, Args)]
pub(super) struct Named {
    /// The limit's id.
    #[arg(value_name = "LIMIT")]
    id: String,
    /// The environment.
    #[arg(long)]
    env: String,
}

#[derive(Debug, Args)]
pub(super) struct SilenceArgs {
    #[command(flatten)]
    named: Named,
    #[command(flatten)]
    end: EndArgs,
    /// Why; it is shown wherever the limit is.
    #[arg(long, value_name = "TEXT")]
    reason: String,
}

#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
struct EndArgs {
    /// Until this instant (RFC 3339).
    #[arg(long, value_name = "RFC3339")]
    until: Option<String>,
    /// For so long from now on: 30m, 2h, 3d.
    #[arg(long = "for", value_name = "SPAN")]
    span: Option<String>,
}

impl Named {
    fn check(&self, catalog: &Catalog) -> Result<(), Usage> {
        check_environment(catalog, &self.env)?;
        limit(catalog, &self.env, &self.id).map(|_| ())
    }
}

impl EndArgs {
    fn read(&self, now: DateTime<Utc>) -> Result<DateTime<Utc>, Usage> {
        let end = match (&self.until, &self.span) {
            (Some(text), _) => DateTime::parse_from_rfc3339(text)
                .map(|instant| instant.to_utc())
                .map_err(|_| {
                    Usage(format!(
                        "--until: `{text}` is no instant: write 2025-03-10T14:05:00Z"
                    ))
                })?,
            (None, Some(text)) => {
                let span = duration(text).map_err(|refusal| Usage(format!("--for: {refusal}")))?;
                now.checked_add_signed(span)
                    .ok_or_else(|| Usage(format!("--for: {text} is too long: give less")))?
            }
            (None, None) => return Err(Usage("a silence has no end: give --until or --for".to_owned())),
        };
        if end > now + FARTHEST {
            return Err(Usage(format!(
                "a silence ends within {} days: give an earlier end, and silence it again when it is over",
                FARTHEST.num_days()
            )));
        }
        if end <= now {
            return Err(Usage(
                "the silence would be over already: give an end that lies ahead".to_owned(),
            ));
        }
        Ok(end)
    }
}

/// Does it, and says what is to be printed.
pub(super) async fn run(command: &AlertsCommand, catalog: Catalog, clock: Clock) -> anyhow::Result<String> {
    match command {
        AlertsCommand::List(args) => list(args, catalog, clock).await,
        AlertsCommand::Silence(args) => {
            args.named.check(&catalog)?;
            let reason = args.reason.trim();
            if reason.is_empty() {
                return Err(
                    Usage("the reason is blank: say why, others will want to know".to_owned()).into(),
                );
            }
            if reason.chars().count() > LONGEST_REASON {
                return Err(Usage(format!(
                    "the reason is longer than {LONGEST_REASON} characters: say it in fewer"
                ))
                .into());
            }
            let silence = Silence {
                environment: args.named.env.clone(),
                limit: args.named.id.clone(),
                until: args.end.read(clock.now())?,
                reason: reason.to_owned(),
            };
            change(&args.named, Some(&silence), catalog, clock).await
        }
        AlertsCommand::Unsilence(named) => {
            named.check(&catalog)?;
            change(named, None, catalog, clock).await
        }
        AlertsCommand::Test => {
            let said = test(&catalog, clock).await?;
            open_delivery(catalog, clock).await;
            Ok(said)
        }
    }
}

/// Sends a message that says so. Nothing is needed for it but the notification server.
async fn test(catalog: &Catalog, clock: Clock) -> anyhow::Result<String> {
    let settings = catalog.ntfy.as_ref().ok_or_else(|| {
        Usage(
            "the catalog names no notification server: write [ntfy] with a topic, or set FOLGA_NTFY_TOPIC"
                .to_owned(),
        )
    })?;
    let place = format!("topic {} of {}", settings.topic, settings.url);
    let words = service_words::test();
    let message = Message {
        title: words.title,
        text: words.text,
        priority: 3,
        tags: vec!["wave".to_owned()],
        click: catalog.http.base_url.clone(),
        sequence: sequence("", "test"),
    };
    let delivered = Ntfy::new(settings)?
        .publish(&message, clock.now())
        .await
        .with_context(|| format!("sending to {place}"))?;
    let updates = if delivered.updates {
        "it updates notifications in place and takes them back"
    } else {
        "it can't update notifications: the end of an alert is a message of its own"
    };
    Ok(format!("{place} has taken it as {}; {updates}", delivered.id))
}

/// A server that has taken a message takes what waits for it, too. Nobody is kept from testing by a missing database.
async fn open_delivery(catalog: Catalog, clock: Clock) {
    let settings = &catalog.postgres;
    if settings.url.is_none() && !settings.data_dir.exists() {
        return;
    }
    let open = async {
        let app = App::open(catalog, clock).await?;
        let opened = async {
            let mut tx = app.folga.store.begin().await?;
            delivery::open(&mut tx).await?;
            tx.commit().await
        };
        let opened: Result<(), StoreError> = opened.await;
        app.close().await?;
        opened.map_err(|error| in_words(&error))
    };
    if let Err(error) = open.await {
        tracing::info!(
            error = format!("{error:#}"),
            "alerts that wait are not sent sooner for it"
        );
    }
}

async fn list(args: &ListArgs, catalog: Catalog, clock: Clock) -> anyhow::Result<String> {
    if let Some(name) = &args.env {
        check_environment(&catalog, name)?;
    }
    let zone = catalog.timezone;
    let app = App::open(catalog, clock).await?;
    let alerts = worker::alerts::read(&app.folga, args.env.as_deref()).await;
    app.close().await?;
    let alerts = alerts.map_err(|error| in_words(&error))?;
    Ok(match args.format {
        Format::Table => report::alerts_table(&alerts, zone),
        Format::Json => serde_json::to_string_pretty(&alerts)?,
    })
}

/// Silences a limit, or ends its silence; what is printed is what holds in its environment then.
async fn change(
    named: &Named,
    silence: Option<&Silence>,
    catalog: Catalog,
    clock: Clock,
) -> anyhow::Result<String> {
    let zone = catalog.timezone;
    let app = App::open(catalog, clock).await?;
    let changed = store(&app.folga.store, named, silence, clock.now()).await;
    app.close().await?;
    let (is_changed, holding) = changed.map_err(|error| in_words(&error))?;
    let said = if is_changed {
        String::new()
    } else {
        format!("{} in {} was not silenced\n", named.id, named.env)
    };
    Ok(format!(
        "{said}times of {zone}\n\n{}",
        report::silences_table(&holding, zone)
    ))
}

/// Whether that changed anything, and the silences that hold then.
async fn store(
    store: &Store,
    named: &Named,
    silence: Option<&Silence>,
    now: DateTime<Utc>,
) -> Result<(bool, Vec<Silence>), StoreError> {
    let mut tx = store.begin().await?;
    let is_changed = match silence {
        Some(silence) => silences::put(&mut tx, silence, now).await.map(|()| true)?,
        None => silences::lift(&mut tx, &named.env, &named.id, now).await?,
    };
    let holding = silences::holding(&mut tx, Some(&named.env), now).await?;
    tx.commit().await?;
    Ok((is_changed, holding))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn end(until: Option<&str>, span: Option<&str>) -> Result<DateTime<Utc>, String> {
        let [until, span] = [until, span].map(|text| text.map(str::to_owned));
        let now = "2025-03-10T14:05:00Z".parse().unwrap();
        EndArgs { until, span }
            .read(now)
            .map_err(|usage| usage.to_string())
    }

    #[test]
    fn a_silence_ends_at_an_instant_or_after_a_while() {
        let at = |text: &str| Ok(text.parse().unwrap());
        assert_eq!(end(None, Some("2h")), at("2025-03-10T16:05:00Z"));
        assert_eq!(
            end(Some("2025-03-10T12:00:00-03:00"), None),
            at("2025-03-10T15:00:00Z")
        );
        for (until, span, remedy) in [
            (Some("tomorrow"), None, "write 2025-03-10T14:05:00Z"),
            (Some("2025-03-10T14:05:00Z"), None, "give an end that lies ahead"),
            (None, Some("0s"), "give an end that lies ahead"),
            (None, Some("2"), "write a whole number and a unit"),
            (None, None, "give --until or --for"),
        ] {
            let usage = end(until, span).unwrap_err();
            assert!(usage.contains(remedy), "{usage}");
        }
    }
}
