//! What there is to mend: pure, from the catalog and what was seen.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
};

use chrono::TimeDelta;
use serde::Serialize;

use crate::{
    catalog::{Catalog, Environment, Limit, Mode, Shape, spelt},
    source::{Looked, Target},
    store::series::Series,
};

/// Names that a finding lists in words; the JSON has all of them.
const NAMES: usize = 5;

/// A life may seem shorter by this much: clocks differ, and an answer takes its time.
const SLACK: TimeDelta = TimeDelta::seconds(10);

/// What was seen of a source in an environment.
pub(super) struct Seen<'c> {
    pub target: Target<'c>,
    pub looked: Looked,
    /// Steps that a scan could take.
    pub steps: usize,
}

/// What a finding is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum About {
    Key,
    Life,
    Endpoint,
    Scope,
    Commands,
    Personal,
    Quiet,
}

/// Something to mend, or worth a look.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(super) struct Finding {
    pub about: About,
    pub source: Option<String>,
    pub environment: Option<String>,
    pub what: String,
    /// Keys, endpoints, scopes or limits.
    pub names: Vec<String>,
}

impl Finding {
    fn of(seen: &Seen<'_>, about: About, what: impl Into<String>, names: Vec<String>) -> Self {
        Self {
            about,
            source: Some(seen.target.source.name.clone()),
            environment: Some(seen.target.environment.name.clone()),
            what: what.into(),
            names,
        }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place: Vec<&str> = (self.source.iter().chain(&self.environment))
            .map(String::as_str)
            .collect();
        if !place.is_empty() {
            write!(f, "{}: ", place.join(" in "))?;
        }
        f.write_str(&self.what)?;
        if !self.names.is_empty() {
            let shown: Vec<&str> = self.names.iter().take(NAMES).map(String::as_str).collect();
            write!(f, ": {}", shown.join(", "))?;
        }
        match self.names.len().saturating_sub(NAMES) {
            0 => Ok(()),
            more => write!(f, " and {more} more"),
        }
    }
}

/// What is to be mended in keys and limits of a source.
pub(super) fn findings(seen: &Seen<'_>) -> Vec<Finding> {
    let mut findings = keys(seen);
    findings.extend(life(seen));
    findings.extend(unnamed(seen));
    findings
}

/// What is odd about keys, by what it is.
fn keys(seen: &Seen<'_>) -> Vec<Finding> {
    let mut by_reason: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for reject in seen.looked.odd.iter() {
        by_reason.entry(reject.reason).or_default().push(reject.key);
    }
    let finding = |(reason, keys)| Finding::of(seen, About::Key, reason, keys);
    by_reason.into_iter().map(finding).collect()
}

/// Keys that do not live as long as the catalog says.
fn life(seen: &Seen<'_>) -> Option<Finding> {
    let source = seen.target.source;
    let life = TimeDelta::seconds(seen.looked.shortest_life?.num_seconds());
    let gap = source.longest_gap();
    let least = gap + source.grace + TimeDelta::seconds(70);
    let what = if life + SLACK < least.min(source.ttl) {
        format!(
            "keys live {} from the start of their minute, and runs lie up to {} apart: minutes vanish unread; let keys \
             live {} or longer, or run more often",
            spelt(life),
            spelt(gap),
            spelt(least)
        )
    } else if life + SLACK < source.ttl {
        format!(
            "keys live {} from the start of their minute, not {}: minutes would count as read that were gone; write \
             `ttl` as it is",
            spelt(life),
            spelt(source.ttl)
        )
    } else {
        return None;
    };
    Some(Finding::of(seen, About::Life, what, Vec::new()))
}

/// Endpoints and scopes that no limit names.
fn unnamed(seen: &Seen<'_>) -> Vec<Finding> {
    let catalog = seen.target.catalog;
    let shapes: Vec<Shape> = limits_of(catalog, seen.target.environment)
        .map(|limit| limit.shape(catalog.timezone))
        .filter(|shape| shape.sources.contains(&seen.target.source.name))
        .collect();
    let is_named = |endpoint: &str| shapes.iter().any(|shape| shape.endpoints.matches(endpoint));
    let endpoints: Vec<String> = (seen.looked.endpoints.iter())
        .filter(|endpoint| !is_named(endpoint))
        .cloned()
        .collect();
    let scopes: BTreeSet<&String> = (seen.looked.series.iter())
        .filter(|series| is_named(&series.endpoint))
        .map(|series| &series.scope)
        .filter(|scope| {
            let of_members = |shape: &Shape| shape.members.contains(scope);
            !shapes
                .iter()
                .any(|shape| shape.scope == **scope || of_members(shape))
        })
        .collect();
    let mut findings = Vec::new();
    if !endpoints.is_empty() {
        let what = "no limit names these endpoints, give them one, of mode watch or exempt where nothing is to be limited";
        findings.push(Finding::of(seen, About::Endpoint, what, endpoints));
    }
    if !scopes.is_empty() {
        let what = "no limit is of these scopes, though they are counted";
        let scopes = scopes.into_iter().cloned().collect();
        findings.push(Finding::of(seen, About::Scope, what, scopes));
    }
    findings
}

/// What is worth a look and may be well: sources and limits for which nothing was counted. `stored` are the series of
/// the environment, where they could be read.
pub(super) fn quiet(
    catalog: &Catalog,
    environment: &Environment,
    seen: &[Seen<'_>],
    stored: Option<&[Series]>,
) -> Vec<Finding> {
    let here: Vec<&Seen<'_>> = (seen.iter())
        .filter(|seen| seen.target.environment.name == environment.name)
        .collect();
    let silent = here.iter().filter(|seen| seen.looked.keys == 0).map(|seen| {
        let what = format!("there is no key of the last {} minutes", seen.looked.minutes);
        Finding::of(seen, About::Quiet, what, Vec::new())
    });
    let mut findings: Vec<Finding> = silent.collect();
    let occurs = |shape: &Shape| {
        let is_stored = stored
            .into_iter()
            .flatten()
            .any(|series| shape.counts(&series.source, &series.endpoint, &series.scope, &series.outcome));
        let mut own = here
            .iter()
            .filter(|seen| shape.sources.contains(&seen.target.source.name));
        is_stored
            || own.any(|seen| {
                seen.looked
                    .endpoints
                    .iter()
                    .any(|name| shape.endpoints.matches(name))
            })
    };
    // Of a source that is silent or was not looked at there is no more to say.
    let is_heard = |shape: &Shape| {
        (shape.sources.iter()).all(|source| {
            let mut own = here.iter().filter(|seen| seen.target.source.name == *source);
            own.any(|seen| seen.looked.keys > 0)
        })
    };
    let names: Vec<String> = limits_of(catalog, environment)
        .filter(|limit| limit.mode_in(&environment.name) != Mode::Exempt)
        .filter(|limit| {
            let shape = limit.shape(catalog.timezone);
            is_heard(&shape) && !occurs(&shape)
        })
        .map(|limit| limit.id.clone())
        .collect();
    if !names.is_empty() {
        let when = if stored.is_some() {
            "there is no key, and nothing is stored,"
        } else {
            "there is no key"
        };
        findings.push(Finding {
            about: About::Quiet,
            source: None,
            environment: Some(environment.name.clone()),
            what: format!("{when} of any endpoint of these limits"),
            names,
        });
    }
    findings
}

/// Whether all sources together cost more than they may.
pub(super) fn budget(catalog: &Catalog, commands: u64) -> Option<Finding> {
    let allowed = catalog.redis.daily_commands;
    (commands > allowed).then(|| Finding {
        about: About::Commands,
        source: None,
        environment: None,
        what: format!(
            "drains cost about {commands} commands a day, more than `daily_commands` = {allowed}: run less often, or find \
             keys in a cheaper way"
        ),
        names: Vec::new(),
    })
}

fn limits_of<'c>(catalog: &'c Catalog, environment: &Environment) -> impl Iterator<Item = &'c Limit> {
    catalog
        .limits()
        .map(|(_, limit)| limit)
        .filter(|limit| limit.exists_in(&environment.name))
}
