//! What sources cost in commands of Redis: by the catalog, and by what was seen.

use std::collections::BTreeSet;

use chrono::{DateTime, TimeDelta, Utc};
use comfy_table::{CellAlignment, Table};
use serde::Serialize;

use super::{finding::Seen, table};
use crate::{
    catalog::{Catalog, Find, Placeholder, Source, SourceKind},
    source::SCAN_COUNT,
};

/// Minutes of a day.
const DAY: u64 = 1440;

/// About how many commands a day a source costs, all of its environments together; none where it cannot be told.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(super) struct Cost {
    source: String,
    /// As its keys are found now.
    pub now: Option<u64>,
    /// If an index named its keys; the producer pays two more for each request.
    index: Option<u64>,
    /// If its keys were asked for by name, which only a key without other parts can be.
    endpoints: Option<u64>,
}

/// What each source costs. `database` is how many keys there are, where it was asked for.
pub(super) fn costs(
    catalog: &Catalog,
    seen: &[Seen<'_>],
    database: Option<u64>,
    now: DateTime<Utc>,
) -> Vec<Cost> {
    let of = |source: &Source| {
        let own: Vec<&Seen<'_>> = (seen.iter())
            .filter(|seen| seen.target.source.name == source.name)
            .collect();
        let is_seen = own.len() == source.environments.len();
        let runs = runs_a_day(source, now) * count(source.environments.len());
        if source.kind == SourceKind::Gauge {
            return sampled(source, &own, database, runs, is_seen);
        }
        let reads = reads_of_a_minute(source);
        let read: Option<u64> = (own.iter())
            .map(|seen| keys_a_day(seen, database))
            .sum::<Option<u64>>()
            .map(|keys| keys.saturating_mul(reads))
            .filter(|_| is_seen);
        let by_name = |names: usize| {
            let minutes = DAY * count(source.environments.len());
            count(names.max(1)).saturating_mul(minutes * reads) + runs * 2
        };
        let index = read.map(|read| read + runs * 2);
        let met: BTreeSet<&String> = own.iter().flat_map(|seen| &seen.looked.endpoints).collect();
        let is_nameable = source.key.placeholders().all(|part| {
            matches!(
                part,
                Placeholder::Env | Placeholder::Endpoint | Placeholder::Minute
            )
        });
        let endpoints = match &source.find {
            Find::Endpoints(names) => Some(by_name(names.len())),
            _ => (is_seen && is_nameable && !met.is_empty()).then(|| by_name(met.len())),
        };
        let now = match source.find {
            Find::Index(_) => index,
            Find::Endpoints(_) => endpoints,
            Find::Scan => read
                .zip(database)
                .map(|(read, keys)| read + runs * keys.div_ceil(count(SCAN_COUNT)).max(1)),
        };
        Cost {
            source: source.name.clone(),
            now,
            index,
            endpoints,
        }
    };
    catalog.sources.iter().map(of).collect()
}

/// What samples cost: every run reads every key. No index names what is there at one instant.
fn sampled(source: &Source, own: &[&Seen<'_>], database: Option<u64>, runs: u64, is_seen: bool) -> Cost {
    let keys: Option<u64> = (own.iter())
        .map(|seen| seen.looked.is_whole.then(|| count(seen.looked.keys)))
        .sum();
    // Each environment has its own part of the runs.
    let runs_of_one = runs / count(source.environments.len()).max(1);
    let now = match &source.find {
        Find::Endpoints(names) => Some(runs * (count(names.len()) + 2)),
        Find::Scan | Find::Index(_) => keys
            .filter(|_| is_seen)
            .zip(database)
            .map(|(keys, all)| runs_of_one * keys + runs * all.div_ceil(count(SCAN_COUNT)).max(1)),
    };
    Cost {
        source: source.name.clone(),
        now,
        index: None,
        endpoints: None,
    }
}

/// Keys that are written a day. A scan that did not come to its end met as large a part of them as of the database.
fn keys_a_day(seen: &Seen<'_>, database: Option<u64>) -> Option<u64> {
    let minutes = count(seen.looked.minutes);
    let keys = count(seen.looked.keys) * DAY;
    if seen.looked.is_whole {
        return keys.checked_div(minutes);
    }
    let walked = count(seen.steps * SCAN_COUNT);
    database?
        .saturating_mul(keys)
        .checked_div(walked.saturating_mul(minutes))
}

/// The costs for a terminal.
pub(super) fn cost_table(costs: &[Cost]) -> Table {
    let mut table = table(&["source", "now", "with an index", "with endpoints"]);
    for column in table.column_iter_mut().skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    let shown = |commands: Option<u64>| commands.map_or_else(|| "-".to_owned(), |number| number.to_string());
    for cost in costs {
        table.add_row([
            cost.source.clone(),
            shown(cost.now),
            shown(cost.index),
            shown(cost.endpoints),
        ]);
    }
    table
}

/// What a source costs a day in Redis commands. Keys are known beforehand only where they are asked for by name.
pub(super) fn cost(source: &Source, now: DateTime<Utc>) -> String {
    let runs = runs_a_day(source, now) * count(source.environments.len());
    if source.kind == SourceKind::Gauge {
        return match &source.find {
            Find::Endpoints(names) => {
                format!(
                    "{runs} runs a day: about {} commands",
                    runs * (count(names.len()) + 2)
                )
            }
            Find::Scan | Find::Index(_) => {
                format!("{runs} runs a day: each scans the whole keyspace, and reads every key once")
            }
        };
    }
    let reads = reads_of_a_minute(source);
    match &source.find {
        Find::Index(_) => {
            format!("{runs} runs a day: 2 commands each, and about {reads} for every key the index names")
        }
        Find::Scan => format!(
            "{runs} runs a day: each scans the whole keyspace, and reads every key about {reads} times in all"
        ),
        Find::Endpoints(names) => {
            let keys = count(names.len()) * 1440 * count(source.environments.len());
            format!(
                "{runs} runs a day: about {} commands, {reads} for each of {keys} keys",
                keys * reads + runs * 2
            )
        }
    }
}

/// Runs in the 24 hours from now on.
fn runs_a_day(source: &Source, now: DateTime<Utc>) -> u64 {
    let mut at = now;
    let mut runs = 0;
    while let Some(next) = source
        .schedule
        .next_after(at)
        .filter(|next| *next <= now + TimeDelta::days(1))
    {
        at = next;
        runs += 1;
    }
    runs
}

/// A minute is read once when it has closed, and again until a read comes `lateness` after its close.
fn reads_of_a_minute(source: &Source) -> u64 {
    let gap = source.longest_gap().num_seconds().max(1);
    let again =
        source.lateness.num_seconds().div_euclid(gap) + i64::from(source.lateness.num_seconds() % gap > 0);
    again.unsigned_abs() + 1
}

fn count(length: usize) -> u64 {
    u64::try_from(length).unwrap_or(u64::MAX)
}
