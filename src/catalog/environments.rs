//! Environments, scopes, and the spans left out of calibration.

use std::collections::{BTreeMap, BTreeSet};

use chrono::{DateTime, Utc};
use toml::{Spanned, de::DeValue};

use super::{
    Members, Refusal,
    members::read_members,
    problem::{Located, Place, Problems},
    section::{FromValue, Section, text_as},
};

/// One deployment of the users' system, which owns a key prefix.
#[derive(Clone, Debug)]
pub struct Environment {
    /// Its name.
    pub name: String,
    /// What `{env}` stands for.
    pub prefix: String,
}

/// What an identity is.
#[derive(Clone, Copy, Debug, Default)]
pub struct Scope {
    /// Identities are network addresses and are normalised as such.
    pub ip: bool,
    /// Labels are kept; every other scope is stored hashed only.
    pub public: bool,
}

/// A span left out of calibration.
#[derive(Clone, Debug)]
pub struct Ignored {
    /// The environment it holds for.
    pub environment: String,
    /// First instant.
    pub from: DateTime<Utc>,
    /// First instant after it.
    pub to: DateTime<Utc>,
    /// Why.
    pub reason: String,
}

/// A prefix: any text, and empty where there is but one environment.
struct Prefix(String);

impl FromValue for Prefix {
    fn from_value(value: Spanned<DeValue<'_>>, problems: &mut Problems) -> Option<Self> {
        text_as(&value, "\"app:\"", problems, |text| Ok(Self(text.to_owned())))
    }
}

/// Names that were declared, those of broken entries too: a use of one is no error of its own.
pub(super) type Names = BTreeSet<String>;

/// Notes a name that stands twice, and remembers it.
pub(super) fn declare(names: &mut Names, what: &str, name: &Located<String>, problems: &mut Problems) {
    if !names.insert(name.value.clone()) {
        problems.add(
            &name.place,
            format!("{what} `{}` stands twice", name.value),
            "give each its own name",
        );
    }
}

/// Notes a name that was never declared.
pub(super) fn known(names: &Names, what: &str, name: &Located<String>, problems: &mut Problems) -> bool {
    let known = names.contains(&name.value);
    if !known {
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let remedy = format!("declare it, or write one of: {}", names.join(", "));
        problems.add(
            &name.place,
            format!("there is no {what} `{}`", name.value),
            remedy,
        );
    }
    known
}

pub(super) fn read_environments(
    sections: Vec<Section<'_>>,
    problems: &mut Problems,
) -> (Vec<Environment>, Names) {
    if sections.is_empty() {
        problems.add(
            &Place::File,
            "there is no environment",
            "write [[environment]] with name and prefix",
        );
    }
    let mut names = Names::new();
    let mut read: Vec<(Environment, Place)> = Vec::new();
    for mut section in sections {
        let name = section.required::<String>("name", "\"prod\"", problems);
        let prefix = section.required::<Prefix>("prefix", "\"app:\"", problems);
        section.finish(problems);
        if let Some(name) = &name {
            declare(&mut names, "environment", name, problems);
        }
        let (Some(name), Some(prefix)) = (name, prefix) else {
            continue;
        };
        let Prefix(text) = prefix.value;
        // A key of one environment would be a key of the other as well.
        if let Some((other, _)) = read
            .iter()
            .find(|(other, _)| other.prefix.starts_with(&text) || text.starts_with(&other.prefix))
        {
            let what = format!(
                "the prefix `{text}` and `{}` of `{}` start one another",
                other.prefix, other.name
            );
            problems.add(
                &prefix.place,
                what,
                "give prefixes that end in a separator and differ before it",
            );
        }
        read.push((
            Environment {
                name: name.value,
                prefix: text,
            },
            prefix.place,
        ));
    }
    (
        read.into_iter().map(|(environment, _)| environment).collect(),
        names,
    )
}

/// The one kind of scope that has a name; every other scope has none.
struct IpKind;

impl FromValue for IpKind {
    fn from_value(value: Spanned<DeValue<'_>>, problems: &mut Problems) -> Option<Self> {
        text_as(&value, "\"ip\"", problems, |text| {
            let remedy = "write \"ip\" for network addresses, and leave the key out for all else";
            if text == "ip" {
                Ok(Self)
            } else {
                Err(Refusal::new(format!("`{text}` is no kind of scope"), remedy))
            }
        })
    }
}

pub(super) fn read_scopes(
    sections: Vec<(Located<String>, Section<'_>)>,
    problems: &mut Problems,
) -> (BTreeMap<String, Scope>, Vec<Located<Members>>) {
    let (mut scopes, mut tables) = (BTreeMap::new(), Vec::new());
    for (Located { value: name, .. }, mut section) in sections {
        let ip = section.optional::<IpKind>("kind", problems).is_some();
        let public = section.or("public", false, problems);
        for (of, table) in section.named_tables("part_of", problems) {
            if ip {
                problems.add(
                    &of.place,
                    "addresses are part of nothing",
                    "leave the table out, or leave `kind` out where the identities are no addresses",
                );
            } else {
                tables.push((name.clone(), of, table));
            }
        }
        section.finish(problems);
        scopes.insert(name, Scope { ip, public });
    }
    let names = scopes.keys().cloned().collect();
    let members = read_members(tables, &names, problems);
    (scopes, members)
}

pub(super) fn read_ignored(
    sections: Vec<Section<'_>>,
    environments: &Names,
    problems: &mut Problems,
) -> Vec<Ignored> {
    let mut read = |mut section: Section<'_>| {
        let environment = section.required::<String>("environment", "\"prod\"", problems);
        let from = section.required::<DateTime<Utc>>("from", "\"2026-05-02T13:00:00Z\"", problems);
        let to = section.required::<DateTime<Utc>>("to", "\"2026-05-02T14:00:00Z\"", problems);
        let reason = section.required::<String>("reason", "\"load test\"", problems);
        section.finish(problems);
        if let Some(environment) = &environment {
            known(environments, "environment", environment, problems);
        }
        let (from, to) = (from?, to?);
        if from.value >= to.value {
            problems.add(
                &to.place,
                "the span ends before it starts",
                "write a later `to`: the span is from <= t < to",
            );
        }
        Some(Ignored {
            environment: environment?.value,
            from: from.value,
            to: to.value,
            reason: reason?.value,
        })
    };
    sections.into_iter().filter_map(&mut read).collect()
}
