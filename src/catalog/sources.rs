//! Sources: families of keys with one schema.

use chrono::{DateTime, TimeDelta};
use toml::{Spanned, de::DeValue};

use crate::time::{Minute, MinuteFormat};

use super::{
    Environment, Pattern, Placeholder, Refusal, Schedule,
    durations::spelt,
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
    /// How long a key lives, counted from the start of its minute.
    pub ttl: TimeDelta,
    /// When it is drained.
    pub schedule: Schedule,
    /// A minute closes this long after it ends.
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

/// What a source's keys hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SourceKind {
    /// A hash of counts per field.
    Hash,
    /// One count per key.
    Counter,
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

    /// The longest time from the start of a minute's reads to the start of the next ones.
    #[must_use]
    pub fn longest_gap(&self) -> TimeDelta {
        // Schedules name no year, so the gap is the same from any instant on.
        self.schedule.longest_gap(DateTime::UNIX_EPOCH)
    }
}

impl FromValue for SourceKind {
    fn from_value(value: Spanned<DeValue<'_>>, problems: &mut Problems) -> Option<Self> {
        text_as(&value, "\"hash\"", problems, |text| {
            let known = word(
                text,
                "kind of source",
                &[("hash", Self::Hash), ("counter", Self::Counter)],
            );
            known.map_err(|refusal| match text {
                "gauge" => Refusal::new("kind `gauge` is not supported by this version", refusal.remedy),
                _ => refusal,
            })
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
    let ttl = section.required::<TimeDelta>("ttl", "\"2h\"", problems);
    let schedule = section.required::<Schedule>("schedule", "\"0 */5 * * * *\"", problems);
    let grace = section.or("grace", TimeDelta::seconds(5), problems);
    let lateness = section.or("lateness", TimeDelta::minutes(10), problems);
    let find = section.required::<Found>("find", FIND, problems);
    let environments = section.optional::<Vec<Located<String>>>("environments", problems);
    let counts = section.or("counts", Counts::Attempts, problems);
    let rejected = section.optional::<Vec<Located<String>>>("rejected", problems);
    let place = section.place.clone();
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
    check_parts(&key, field.as_ref(), &constants, &place, problems);
    let environments = check_environments(&key, environments, declared, problems);
    let find = check_find(find?, &key, minute, &environments, declared, problems);
    let [endpoint, scope, identity, outcome] = constants.map(|(_, constant)| constant.map(|text| text.value));
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
        ttl: ttl?.value,
        schedule: schedule?.value,
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

/// A minute must be read at least once while its keys live, with a minute to spare for a run that is slow.
fn check_schedule(
    ttl: &Located<TimeDelta>,
    schedule: &Located<Schedule>,
    grace: TimeDelta,
    problems: &mut Problems,
) {
    let gap = schedule.value.longest_gap(DateTime::UNIX_EPOCH);
    let spare = TimeDelta::seconds(10);
    let Some(need) = gap.checked_add(&(grace + spare)) else {
        return;
    };
    let life = ttl.value - TimeDelta::minutes(1);
    if need <= life {
        return;
    }
    let most = life - grace - spare;
    let what = format!(
        "keys live {}, but runs of `{}` lie up to {} apart: minutes would vanish unread",
        spelt(ttl.value),
        schedule.value,
        spelt(gap)
    );
    let ttl_needed = need + TimeDelta::minutes(1);
    let remedy = if most >= TimeDelta::seconds(1) {
        format!(
            "run at least every {} (TTL - 60 s - grace - 10 s), or let keys live {} or longer",
            spelt(most),
            spelt(ttl_needed)
        )
    } else {
        format!("let keys live {} or longer", spelt(ttl_needed))
    };
    problems.add(&schedule.place, what, remedy);
}

fn check_field(
    kind: SourceKind,
    place: &Place,
    field: Option<Located<Pattern>>,
    problems: &mut Problems,
) -> Option<Located<Pattern>> {
    match (kind, &field) {
        (SourceKind::Hash, None) => {
            problems.add(
                place,
                "a hash source has no `field`",
                "write field = \"{scope}:{identity}\" or the like",
            );
        }
        (SourceKind::Counter, Some(field)) => {
            problems.add(
                &field.place,
                "a counter has no fields",
                "leave `field` out, or write kind = \"hash\"",
            );
        }
        (_, Some(field)) => {
            for part in [Placeholder::Env, Placeholder::Minute] {
                if field.value.has(part) {
                    let remedy = format!("write {part} in `key`");
                    problems.add(&field.place, format!("{part} stands in a field"), remedy);
                }
            }
        }
        (SourceKind::Counter, None) => {}
    }
    field
}

/// Every part of a sample comes from exactly one place; the outcome may come from none.
fn check_parts(
    key: &Located<Pattern>,
    field: Option<&Located<Pattern>>,
    constants: &[(Placeholder, Option<Located<String>>); 4],
    place: &Place,
    problems: &mut Problems,
) {
    if !key.value.has(Placeholder::Minute) {
        problems.add(
            &key.place,
            "the key has no {minute}",
            "write {minute} where the key names its minute",
        );
    }
    for (part, constant) in constants {
        let name = part.name();
        let in_key = key.value.has(*part);
        let in_field = field.is_some_and(|field| field.value.has(*part));
        if let Some(field) = field.filter(|_| in_key && in_field) {
            problems.add(
                &field.place,
                format!("{part} stands in the key and in the field"),
                "write {_} in the one to ignore",
            );
        }
        match constant {
            Some(constant) if in_key || in_field => {
                let what = format!("{part} stands in a pattern, and `{name}` is given as well");
                problems.add(
                    &constant.place,
                    what,
                    format!("leave `{name}` out, or write {{_}} in the pattern"),
                );
            }
            None if !in_key && !in_field && *part != Placeholder::Outcome => problems.add(
                place,
                format!("the source tells no {name}"),
                format!("write {part} in key or field, or {name} = \"…\" where it is always the same"),
            ),
            _ => {}
        }
    }
}

fn check_environments(
    key: &Located<Pattern>,
    given: Option<Located<Vec<Located<String>>>>,
    declared: &Declared<'_>,
    problems: &mut Problems,
) -> Vec<String> {
    let one = key.value.has(Placeholder::Env) || given.as_ref().is_some_and(|list| list.value.len() == 1);
    if !one {
        let place = given.as_ref().map_or(&key.place, |list| &list.place);
        problems.add(
            place,
            "the key has no {env}, so it belongs to exactly one environment",
            "write environments = [\"…\"] with one name, or {env} in the key",
        );
    }
    let Some(list) = given else {
        return declared
            .environments
            .iter()
            .map(|environment| environment.name.clone())
            .collect();
    };
    let mut seen = Names::new();
    for name in &list.value {
        if known(declared.environment_names, "environment", name, problems) {
            declare(&mut seen, "environment", name, problems);
        }
    }
    list.value.into_iter().map(|name| name.value).collect()
}

fn check_find(
    find: Located<Found>,
    key: &Located<Pattern>,
    minute: MinuteFormat,
    environments: &[String],
    declared: &Declared<'_>,
    problems: &mut Problems,
) -> Find {
    match find.value {
        Found::Scan => Find::Scan,
        Found::Index(index) => {
            check_index(&index, key, minute, environments, declared, problems);
            Find::Index(index.value)
        }
        Found::Endpoints(list) => {
            check_endpoints(&list, &find.place, key, problems);
            Find::Endpoints(list.into_iter().map(|name| name.value).collect())
        }
    }
}

fn check_index(
    index: &Located<Pattern>,
    key: &Located<Pattern>,
    minute: MinuteFormat,
    environments: &[String],
    declared: &Declared<'_>,
    problems: &mut Problems,
) {
    for part in index
        .value
        .placeholders()
        .filter(|part| !matches!(part, Placeholder::Env | Placeholder::Minute))
    {
        let remedy = "write it with {env} and {minute} alone: there is one index a minute";
        problems.add(&index.place, format!("{part} stands in an index"), remedy);
    }
    if !index.value.has(Placeholder::Minute) {
        problems.add(
            &index.place,
            "the index has no {minute}",
            "write {minute}: there is one index a minute",
        );
    }
    if key.value.has(Placeholder::Env) && !index.value.has(Placeholder::Env) {
        problems.add(
            &index.place,
            "the key has {env} and the index has not",
            "write {env} in the index as well",
        );
    }
    let sample = Minute::from_index(30_000_000).text(minute);
    let taken = declared.environments.iter().find(|environment| {
        let name = index.value.render(&environment.prefix, "", &sample);
        environments.contains(&environment.name)
            && key
                .value
                .captures(&environment.prefix, name.as_bytes(), minute)
                .is_some()
    });
    if taken.is_some() {
        problems.add(
            &index.place,
            format!("the index would be taken for a key of the source: `{}` matches it", key.value),
            "name the index so that it does not match, such as {env}midx:{minute} beside {env}m:{endpoint}:{minute}",
        );
    }
}

fn check_endpoints(list: &[Located<String>], find: &Place, key: &Located<Pattern>, problems: &mut Problems) {
    let open = |part: &Placeholder| {
        !matches!(
            part,
            Placeholder::Env | Placeholder::Endpoint | Placeholder::Minute
        )
    };
    if let Some(part) = key.value.placeholders().find(open) {
        problems.add(
            find,
            format!("keys can't be asked for by endpoint: {part} differs from key to key"),
            "write find = { index = \"…\" } or \"scan\"",
        );
    }
    if !key.value.has(Placeholder::Endpoint) && list.len() > 1 {
        problems.add(
            find,
            "the key has no {endpoint}: every name gives the same key",
            "name one endpoint",
        );
    }
    let mut seen = Names::new();
    for name in list {
        declare(&mut seen, "endpoint", name, problems);
        if name.value.contains(['*', '?', '[', ']', '{', '}']) {
            let what = format!("`{}` is no exact name", name.value);
            problems.add(
                &name.place,
                what,
                "name every endpoint, or find keys by index or scan",
            );
        }
    }
}
