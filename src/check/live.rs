//! What live servers have to say of a catalog, within bounds of commands and time.

use std::{collections::BTreeMap, fmt, time::Duration};

use anyhow::Context as _;
use chrono::{DateTime, Utc};
use comfy_table::Table;
use serde::Serialize;
use tokio::time::timeout;

use super::{
    cost::{Cost, cost_table, costs},
    finding::{Finding, Seen, budget, findings, quiet},
    personal, section, table,
};
use crate::{
    catalog::{Catalog, Environment, Find, spelt},
    source::{Bounds, Identities, ReadError, Session, Target},
    store::{Probe, Store, in_words, migrate, series, series::Series},
    worker::targets,
};

/// Longest wait for a server: a check is of use without any.
const CONNECTING: Duration = Duration::from_secs(2);
/// Longest look at a server.
const LOOKING: Duration = Duration::from_secs(15);
/// Keys that are looked into, of all sources and environments together.
const KEYS: usize = 1000;
/// Steps of scans, likewise.
const STEPS: usize = 100;

/// What was seen, what is to be mended, and what could not be looked at.
#[derive(Debug, Serialize)]
pub struct Live {
    catalog: String,
    checked_at: DateTime<Utc>,
    /// Commands that Redis was asked for this.
    commands: u64,
    sources: Vec<SourceSeen>,
    cost: Vec<Cost>,
    findings: Vec<Finding>,
    notes: Vec<Finding>,
    not_looked_at: Vec<String>,
}

/// What was seen of a source in an environment.
#[derive(Debug, Serialize)]
struct SourceSeen {
    source: String,
    environment: String,
    keys: usize,
    minutes: usize,
    endpoints: usize,
    shortest_life_seconds: Option<i64>,
}

/// What Redis gave while it was looked at.
#[derive(Default)]
struct Gathered<'c> {
    seen: Vec<Seen<'c>>,
    database: Option<u64>,
    commands: u64,
    not_looked_at: Vec<String>,
}

impl Live {
    /// Looks at the servers of a catalog.
    pub async fn look(catalog: &Catalog, now: DateTime<Utc>) -> Self {
        let mut gathered = Gathered::default();
        let looked = timeout(LOOKING, gathered.look(catalog, now)).await;
        let looked = looked.with_context(|| format!("no end within {} s", LOOKING.as_secs()));
        if let Err(error) = looked.flatten() {
            gathered.not_looked_at.push(format!("Redis: {error:#}"));
        }
        let stored = timeout(LOOKING, stored(catalog)).await;
        let stored = stored.with_context(|| format!("no end within {} s", LOOKING.as_secs()));
        let (stored, personal) = match stored.flatten() {
            Ok((stored, personal)) => (Some(stored), personal),
            Err(error) => {
                gathered.not_looked_at.push(format!("Postgres: {error:#}"));
                (None, Vec::new())
            }
        };
        let mut live = Self::judge(catalog, now, gathered, stored.as_ref());
        live.findings.extend(personal::scopes(catalog));
        live.findings.extend(personal);
        live
    }

    fn judge(
        catalog: &Catalog,
        now: DateTime<Utc>,
        gathered: Gathered<'_>,
        stored: Option<&BTreeMap<String, Vec<Series>>>,
    ) -> Self {
        let seen = gathered.seen;
        let cost = costs(catalog, &seen, gathered.database, now);
        let mut all: Vec<Finding> = seen.iter().flat_map(findings).collect();
        all.extend(budget(catalog, cost.iter().filter_map(|cost| cost.now).sum()));
        let quiet = |environment: &Environment| {
            let stored = stored.and_then(|stored| stored.get(&environment.name));
            quiet(catalog, environment, &seen, stored.map(Vec::as_slice))
        };
        let notes = catalog.environments.iter().flat_map(quiet).collect();
        let source = |seen: &Seen<'_>| SourceSeen {
            source: seen.target.source.name.clone(),
            environment: seen.target.environment.name.clone(),
            keys: seen.looked.keys,
            minutes: seen.looked.minutes,
            endpoints: seen.looked.endpoints.len(),
            shortest_life_seconds: seen.looked.shortest_life.map(|life| life.num_seconds()),
        };
        Self {
            catalog: catalog.path.display().to_string(),
            checked_at: now,
            commands: gathered.commands,
            sources: seen.iter().map(source).collect(),
            cost,
            findings: all,
            notes,
            not_looked_at: gathered.not_looked_at,
        }
    }

    /// Whether there is something to mend.
    #[must_use]
    pub fn has_findings(&self) -> bool {
        !self.findings.is_empty()
    }
}

impl<'c> Gathered<'c> {
    async fn look(&mut self, catalog: &'c Catalog, now: DateTime<Utc>) -> anyhow::Result<()> {
        let Some(key) = &catalog.identity_key else {
            return Ok(());
        };
        let identities = Identities::new(key);
        let mut settings = catalog.redis.clone();
        settings.connect_timeout = settings.connect_timeout.min(CONNECTING);
        let session = Session::open(&settings).await?;
        let number = targets(catalog).count().max(1);
        let bounds = Bounds {
            keys: (KEYS / number).max(1),
            steps: (STEPS / number).max(1),
        };
        let looked = self
            .look_at_all(catalog, &session, &identities, now, bounds)
            .await;
        self.commands = session.usage().commands;
        looked.map_err(Into::into)
    }

    async fn look_at_all(
        &mut self,
        catalog: &'c Catalog,
        session: &Session,
        identities: &Identities,
        now: DateTime<Utc>,
        bounds: Bounds,
    ) -> Result<(), ReadError> {
        if catalog
            .sources
            .iter()
            .any(|source| matches!(source.find, Find::Scan))
        {
            self.database = Some(session.keys().await?);
        }
        for (source, environment) in targets(catalog) {
            let target = Target {
                catalog,
                source,
                environment,
            };
            let name = format!("source {} in {}", source.name, environment.name);
            match session.look(target, identities, now, bounds).await {
                Ok(looked) => {
                    if !looked.is_whole {
                        let steps = bounds.steps;
                        let reason = format!("the keyspace has more keys than {steps} steps of a scan reach");
                        self.not_looked_at.push(format!("all of {name}: {reason}"));
                    }
                    self.seen.push(Seen {
                        target,
                        looked,
                        steps: bounds.steps,
                    });
                }
                // What the account may not do for one source it may do for another.
                Err(error @ ReadError::Denied(_)) => self.not_looked_at.push(format!("{name}: {error}")),
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

/// The series of each environment that were ever stored, and what is stored of persons.
async fn stored(catalog: &Catalog) -> anyhow::Result<(BTreeMap<String, Vec<Series>>, Vec<Finding>)> {
    let url = (catalog.postgres.url.as_ref()).context("the private one is not started for this")?;
    let store = Store::new(url, 1, CONNECTING).map_err(|error| in_words(&error))?;
    timeout(CONNECTING, Probe::new(&store).ask())
        .await
        .with_context(|| format!("no answer within {} s", CONNECTING.as_secs()))?
        .map_err(|error| in_words(&error))?;
    migrate::check(&store).await?;
    let mut tx = store.begin().await.map_err(|error| in_words(&error))?;
    let mut stored = BTreeMap::new();
    for environment in &catalog.environments {
        let series = series::of_environment(&mut tx, &environment.name).await;
        stored.insert(
            environment.name.clone(),
            series.map_err(|error| in_words(&error))?,
        );
    }
    let personal = personal::stored_labels(&mut tx, catalog).await;
    Ok((stored, personal.map_err(|error| in_words(&error))?))
}

fn sources(seen: &[SourceSeen]) -> Table {
    let mut table = table(&[
        "source",
        "environment",
        "keys",
        "in minutes",
        "endpoints",
        "live at least",
    ]);
    for seen in seen {
        let life = seen.shortest_life_seconds.map(chrono::TimeDelta::seconds);
        table.add_row([
            seen.source.clone(),
            seen.environment.clone(),
            seen.keys.to_string(),
            seen.minutes.to_string(),
            seen.endpoints.to_string(),
            life.map_or_else(|| "-".to_owned(), spelt),
        ]);
    }
    table
}

/// In words: a section for what there is of each.
impl fmt::Display for Live {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = String::new();
        if !self.sources.is_empty() {
            let title = format!("Redis, looked at with {} commands", self.commands);
            section(&mut text, &title, &sources(&self.sources));
        }
        section(
            &mut text,
            "Commands a day, as drains find keys now and as they could",
            &cost_table(&self.cost),
        );
        f.write_str(&text)?;
        for (title, findings) in [("Findings", &self.findings), ("Worth a look", &self.notes)] {
            list(f, title, findings)?;
        }
        list(f, "Not looked at", &self.not_looked_at)
    }
}

fn list(f: &mut fmt::Formatter<'_>, title: &str, lines: &[impl fmt::Display]) -> fmt::Result {
    if !lines.is_empty() {
        writeln!(f, "\n{title}")?;
    }
    lines.iter().try_for_each(|line| writeln!(f, "  {line}"))
}
