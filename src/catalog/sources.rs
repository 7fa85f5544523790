//! Sources: families of keys with one schema.

mod checks;

use chrono::{DateTime, TimeDelta};
use toml::{Spanned, de::DeValue};

use crate::time::MinuteFormat;

use checks::{
    check_environments, check_field, check_find, check_gauge, check_minute, check_parts, check_schedule,
    sampled_life,
};

use super::{
    Captures, Environment, Pattern, Placeholder, Schedule,
    environments::{Names, declare, known},
    problem::{Located, Place, Problems},
    section::{FromValue, Section, kind, text_as},
    values::word,
};

/// A family of keys with one schema.
#[derive(Clone, Debug)]
pub struct Source {
    /// Its name.
    pub name: String,
    /// What its keys hold.
    pub kind: SourceKind,
    /// What its keys look like.
    pub key: Pattern,
    /// What the fields of its hashes look like.
    pub field: Option<Pattern>,
    /// What the patterns lack.
    pub constants: Constants,
    /// How its keys spell the minute.
    pub minute: MinuteFormat,
    /// How long a key lives, counted from the start of its minute; of gauges, how long a sample is good for.
    pub ttl: TimeDelta,
    /// When it is drained.
    pub schedule: Schedule,
    /// A minute closes this long after it ends; of gauges as it begins, as one sample is all there is to know of it.
    pub grace: TimeDelta,
    /// Closed minutes are read again for this long, for late writes.
    pub lateness: TimeDelta,
    /// How its keys are found.
    pub find: Find,
    /// Environments it exists in, by name.
    pub environments: Vec<String>,
    /// What its counts mean.
    pub counts: Counts,
    /// Outcomes that mean: attempted, not accepted.
    pub rejected: Vec<String>,
}

impl Source {
    /// Whether what it counts under an outcome was accepted; none where it does not tell.
    #[must_use]
    pub fn tells_accepted(&self, outcome: &str) -> Option<bool> {
        let tells = self.counts == Counts::Accepted || !self.rejected.is_empty();
        tells.then(|| self.rejected.iter().all(|rejected| rejected != outcome))
    }
}

/// What a source's keys hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SourceKind {
    /// A hash of counts per field.
    Hash,
    /// One count per key.
    Counter,
    /// One value per key that rises and falls: every run takes a sample of it.
    Gauge,
}

/// Constants in place of what a source's patterns lack.
#[derive(Clone, Debug, Default)]
pub struct Constants {
    /// The one endpoint.
    pub endpoint: Option<String>,
    /// The one scope.
    pub scope: Option<String>,
    /// The one identity.
    pub identity: Option<String>,
    /// The one outcome.
    pub outcome: Option<String>,
}

/// What a source's counts mean.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Counts {
    /// Every request, let through or not.
    #[default]
    Attempts,
    /// Only the requests that were let through.
    Accepted,
}

/// How a source's keys are found.
#[derive(Clone, Debug)]
pub enum Find {
    /// A set per minute that names the minute's keys.
    Index(Pattern),
    /// `SCAN` over the keyspace.
    Scan,
    /// The keys of these endpoints, asked for by name.
    Endpoints(Vec<String>),
}

impl Source {
    /// Whether a placeholder stands in its key or its field.
    #[must_use]
    pub fn has(&self, placeholder: Placeholder) -> bool {
        self.key.has(placeholder) || self.field.as_ref().is_some_and(|field| field.has(placeholder))
    }

    /// Whether it would ask for a key of its own pattern: one that asks for keys by name asks for no others.
    #[must_use]
    pub fn asks_for(&self, captures: &Captures<'_>) -> bool {
        match (&self.find, captures.endpoint) {
            (Find::Endpoints(names), Some(endpoint)) => names.iter().any(|name| name.as_bytes() == endpoint),
            _ => true,
        }
    }

    /// The longest time from the start of a minute's reads to the start of the next ones.
    #[must_use]
    pub fn longest_gap(&self) -> TimeDelta {
        // Schedules name no year, so the gap is the same from any instant on.
        self.schedule.longest_gap(DateTime::UNIX_EPOCH)
    }

    /// How long a run waits for a minute that has ended.
    #[must_use]
    pub fn wait(&self) -> TimeDelta {
        self.grace.max(TimeDelta::zero())
    }
}

impl FromValue for SourceKind {
    fn from_value(value: Spanned<DeValue<'_>>, problems: &mut Problems) -> Option<Self> {
        text_as(&value, "\"hash\"", problems, |text| {
            let kinds = [
                ("hash", Self::Hash),
                ("counter", Self::Counter),
                ("gauge", Self::Gauge),
            ];
            word(text, "kind of source", &kinds)
        })
    }
}

impl FromValue for Counts {
    fn from_value(value: Spanned<DeValue<'_>>, problems: &mut Problems) -> Option<Self> {
        let words = [("attempts", Self::Attempts), ("accepted", Self::Accepted)];
        text_as(&value, "\"attempts\"", problems, |text| {
            word(text, "meaning of counts", &words)
        })
    }
}

/// `find` as it is written.
enum Found {
    Scan,
    Index(Located<Pattern>),
    Endpoints(Vec<Located<String>>),
}

/// How `find` may be written.
const FIND: &str = "{ index = \"…\" }, \"scan\", or { endpoints = [\"…\"] }";

impl FromValue for Found {
    fn from_value(value: Spanned<DeValue<'_>>, problems: &mut Problems) -> Option<Self> {
        let place = Place::Span(value.span());
        match value.get_ref() {
            DeValue::String(text) if text == "scan" => Some(Self::Scan),
            DeValue::Table(_) => {
                let mut section = Section::new("find", value, problems)?;
                let index = section.optional("index", problems).map(Self::Index);
                let endpoints = section.optional("endpoints", problems);
                let endpoints = endpoints.map(|list| Self::Endpoints(list.value));
                let given = section.given.len();
                section.finish(problems);
                if given != 1 {
                    problems.add(&place, "find names one way", format!("write {FIND}"));
                }
                index.or(endpoints)
            }
            DeValue::String(text) => {
                problems.add(
                    &place,
                    format!("`{text}` is no way to find keys"),
                    format!("write {FIND}"),
                );
                None
            }
            other => {
                problems.add(
                    &place,
                    format!("{} in place of a way to find keys", kind(other)),
                    format!("write {FIND}"),
                );
                None
            }
        }
    }
}

/// What sources refer to.
pub(super) struct Declared<'a> {
    pub environments: &'a [Environment],
    pub environment_names: &'a Names,
    pub scopes: &'a Names,
}

/// Reads all sources; the names are those of broken ones too.
pub(super) fn read_sources(
    sections: Vec<Section<'_>>,
    declared: &Declared<'_>,
    problems: &mut Problems,
) -> (Vec<Source>, Names) {
    if sections.is_empty() {
        problems.add(
            &Place::File,
            "there is no source",
            "write [[source]] with name, kind, key, ttl, schedule and find",
        );
    }
    let mut names = Names::new();
    let mut read = |section| read_source(section, declared, &mut names, problems);
    let sources = sections.into_iter().filter_map(&mut read).collect();
    (sources, names)
}

fn read_source(
    mut section: Section<'_>,
    declared: &Declared<'_>,
    names: &mut Names,
    problems: &mut Problems,
) -> Option<Source> {
    let name = section.required::<String>("name", "\"gateway\"", problems);
    if let Some(name) = &name {
        declare(names, "source", name, problems);
    }
    let kind = section.required::<SourceKind>("kind", "\"hash\"", problems);
    let key = section.required::<Pattern>("key", "\"{env}m:{endpoint}:{minute}\"", problems);
    let field = section.optional::<Pattern>("field", problems);
    let constants = [
        Placeholder::Endpoint,
        Placeholder::Scope,
        Placeholder::Identity,
        Placeholder::Outcome,
    ]
    .map(|part| (part, section.optional::<String>(part.name(), problems)));
    let minute = section.or("minute", MinuteFormat::Compact, problems);
    let is_gauge = (kind.as_ref()).is_some_and(|kind| kind.value == SourceKind::Gauge);
    let ttl = if is_gauge {
        section.optional("ttl", problems)
    } else {
        section.required::<TimeDelta>("ttl", "\"2h\"", problems)
    };
    let schedule = section.required::<Schedule>("schedule", "\"0 */5 * * * *\"", problems);
    let grace = section.or("grace", TimeDelta::seconds(5), problems);
    let lateness = section.or("lateness", TimeDelta::minutes(10), problems);
    let find = section.required::<Found>("find", FIND, problems);
    let environments = section.optional::<Vec<Located<String>>>("environments", problems);
    let counts = section.or("counts", Counts::Attempts, problems);
    let rejected = section.optional::<Vec<Located<String>>>("rejected", problems);
    let place = section.place.clone();
    if is_gauge {
        check_gauge(&section, &place, problems);
    }
    // What follows from a key that was there but could not be read is no problem of its own.
    let unread = (section.had("field") && field.is_none())
        || (section.had("environments") && environments.is_none())
        || constants
            .iter()
            .any(|(part, constant)| section.had(part.name()) && constant.is_none());
    section.finish(problems);

    if let Some(scope) = &constants[1].1 {
        known(declared.scopes, "scope", scope, problems);
    }
    if let (Some(ttl), Some(schedule)) = (&ttl, &schedule) {
        check_schedule(ttl, schedule, grace, problems);
    }
    let (kind, key) = (kind?.value, key?);
    if unread {
        return None;
    }
    let field = check_field(kind, &place, field, problems);
    check_minute(kind, &key, problems);
    check_parts(&key, field.as_ref(), &constants, &place, problems);
    let environments = check_environments(&key, environments, declared, problems);
    let find = check_find(find?, kind, &key, minute, &environments, declared, problems);
    let [endpoint, scope, identity, outcome] = constants.map(|(_, constant)| constant.map(|text| text.value));
    let schedule = schedule?.value;
    let (ttl, grace, lateness) = if is_gauge {
        (sampled_life(&schedule), TimeDelta::minutes(-1), TimeDelta::zero())
    } else {
        (ttl?.value, grace, lateness)
    };
    let source = Source {
        name: name?.value,
        kind,
        key: key.value,
        field: field.map(|field| field.value),
        constants: Constants {
            endpoint,
            scope,
            identity,
            outcome,
        },
        minute,
        ttl,
        schedule,
        grace,
        lateness,
        find,
        environments,
        counts,
        rejected: rejected
            .iter()
            .flat_map(|list| &list.value)
            .map(|outcome| outcome.value.clone())
            .collect(),
    };
    if let Some(rejected) = rejected
        && !source.has(Placeholder::Outcome)
        && source.constants.outcome.is_none()
    {
        problems.add(
            &rejected.place,
            "the source tells no outcomes",
            "write {outcome} in key or field, or leave `rejected` out",
        );
    }
    Some(source)
}
