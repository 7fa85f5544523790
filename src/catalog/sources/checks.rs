//! What must hold between the keys of a source.

use chrono::{DateTime, TimeDelta};

use crate::{
    catalog::{
        Pattern, Placeholder, Schedule,
        durations::spelt,
        environments::{Names, declare, known},
        problem::{Located, Place, Problems},
        section::Section,
    },
    time::{Minute, MinuteFormat},
};

use super::{Declared, Find, Found, SourceKind};

/// A minute must be read at least once while its keys live, with a minute to spare for a run that is slow.
pub(super) fn check_schedule(
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

pub(super) fn check_field(
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
        (SourceKind::Counter | SourceKind::Gauge, Some(field)) => {
            problems.add(
                &field.place,
                "only hashes have fields",
                "leave `field` out, or write kind = \"hash\"",
            );
        }
        (_, Some(field)) => {
            for part in [Placeholder::Env, Placeholder::Minute, Placeholder::Window] {
                if field.value.has(part) {
                    let remedy = format!("write {part} in `key`");
                    problems.add(&field.place, format!("{part} stands in a field"), remedy);
                }
            }
        }
        (SourceKind::Counter | SourceKind::Gauge, None) => {}
    }
    field
}

/// Counts belong to the minute that their key names, samples of a gauge to the minute of the run.
pub(super) fn check_minute(kind: SourceKind, key: &Located<Pattern>, problems: &mut Problems) {
    match (kind, key.value.has(Placeholder::Minute)) {
        (SourceKind::Hash | SourceKind::Counter, false) => problems.add(
            &key.place,
            "the key has no {minute}",
            "write {minute} where the key names its minute, or kind = \"gauge\" where it holds one value for all time",
        ),
        (SourceKind::Gauge, true) => problems.add(
            &key.place,
            "the key of a gauge has {minute}",
            "write {_} for a part to ignore, or kind = \"counter\" where there is a key per minute",
        ),
        _ => {}
    }
    if kind != SourceKind::Gauge && key.value.has(Placeholder::Window) {
        problems.add(
            &key.place,
            "{window} stands in the key of counts",
            "write {_} for a part to ignore, or kind = \"gauge\" where windows are sampled while they are open",
        );
    }
}

/// A gauge is what it is when it is read: nothing comes late, and nothing of it is refused.
pub(super) fn check_gauge(section: &Section<'_>, place: &Place, problems: &mut Problems) {
    let foreign = [
        "ttl", "grace", "lateness", "minute", "outcome", "counts", "rejected",
    ];
    for name in foreign.into_iter().filter(|name| section.had(name)) {
        let remedy = format!("leave `{name}` out: a gauge has the value that each run of its schedule finds");
        problems.add(place, format!("`{name}` is given for a gauge"), remedy);
    }
}

/// A sample is good for the time until the next one is due, with a minute to spare for a run that is slow.
pub(super) fn sampled_life(schedule: &Schedule) -> TimeDelta {
    let gap = schedule.longest_gap(DateTime::UNIX_EPOCH);
    gap.min(TimeDelta::days(1)) + TimeDelta::minutes(1)
}

/// Every part of a sample comes from exactly one place; the outcome may come from none.
pub(super) fn check_parts(
    key: &Located<Pattern>,
    field: Option<&Located<Pattern>>,
    constants: &[(Placeholder, Option<Located<String>>); 4],
    place: &Place,
    problems: &mut Problems,
) {
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

pub(super) fn check_environments(
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

pub(super) fn check_find(
    find: Located<Found>,
    kind: SourceKind,
    key: &Located<Pattern>,
    minute: MinuteFormat,
    environments: &[String],
    declared: &Declared<'_>,
    problems: &mut Problems,
) -> Find {
    match find.value {
        Found::Scan => Find::Scan,
        Found::Index(index) => {
            if kind == SourceKind::Gauge {
                problems.add(
                    &index.place,
                    "an index names the keys of a minute, and gauges have none",
                    "write find = { endpoints = [\"…\"] } or \"scan\"",
                );
            }
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
