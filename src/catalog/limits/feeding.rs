//! Which sources feed a limit, and in which environments it exists.

use std::collections::BTreeMap;

use super::{Fed, Mode};
use crate::catalog::{
    Find, Globs, Members, Placeholder, Source,
    environments::{Names, declare, known},
    problem::{Located, Place, Problems},
    values::{OneOrEach, OneOrMore},
};

/// What a limit wants of a source.
pub(super) struct Wanted<'a> {
    pub endpoints: &'a Globs,
    pub scope: &'a str,
    pub members: &'a [Members],
    pub outcomes: Option<&'a [String]>,
}

impl Wanted<'_> {
    /// Why a source can't feed the limit, if it can't.
    fn unmet_by(&self, source: &Source) -> Option<String> {
        let matches = |name: &String| self.endpoints.matches(name);
        let constants = &source.constants;
        let mut tables = self.members.iter();
        let tells_of_members = tables.any(|members| members.of == self.scope && members.are_told_by(source));
        if !tells_of_members && constants.scope.as_ref().is_some_and(|scope| scope != self.scope) {
            return Some(format!("it has no scope `{}`", self.scope));
        }
        let endpoint = match (&constants.endpoint, &source.find) {
            (Some(endpoint), _) => matches(endpoint),
            (None, Find::Endpoints(names)) if source.key.has(Placeholder::Endpoint) => {
                names.iter().any(matches)
            }
            (None, _) => true,
        };
        if !endpoint {
            return Some("it has none of the limit's endpoints".to_owned());
        }
        let outcome = match (self.outcomes, &constants.outcome) {
            (None, _) => true,
            (Some(outcomes), Some(outcome)) => outcomes.contains(outcome),
            (Some(_), None) => source.has(Placeholder::Outcome),
        };
        (!outcome).then(|| "it tells none of the limit's outcomes".to_owned())
    }
}

pub(super) fn check_sources(
    given: Option<Located<OneOrMore>>,
    wanted: &Wanted<'_>,
    fed: &Fed<'_>,
    place: &Place,
    problems: &mut Problems,
) -> Option<Vec<String>> {
    let mut names = Names::new();
    if let Some(given) = given {
        for name in given.value.0 {
            if !known(fed.source_names, "source", &name, problems) {
                continue;
            }
            let source = fed.sources.iter().find(|source| source.name == name.value);
            if let Some(reason) = source.and_then(|source| wanted.unmet_by(source)) {
                let what = format!("source `{}` can't feed this limit: {reason}", name.value);
                problems.add(
                    &name.place,
                    what,
                    "name a source that has its scope, endpoints and outcomes",
                );
            }
            declare(&mut names, "source", &name, problems);
        }
        return Some(names.into_iter().collect());
    }
    let could: Vec<&str> = fed
        .sources
        .iter()
        .filter(|source| wanted.unmet_by(source).is_none())
        .map(|source| source.name.as_str())
        .collect();
    match could.as_slice() {
        [one] => return Some(vec![(*one).to_owned()]),
        // A source that could not be read may be the one.
        _ if fed.sources.len() < fed.source_names.len() => {}
        [] => {
            let what = format!(
                "no source has scope `{}` and these endpoints and outcomes",
                wanted.scope
            );
            problems.add(place, what, "declare one, or mend the limit");
        }
        _ => {
            let what = format!("several sources could feed this limit: {}", could.join(", "));
            problems.add(place, what, "write source = \"…\", or a list where they add up");
        }
    }
    None
}

/// Value and mode by environment, for the environments in which the limit exists.
pub(super) fn resolve(
    value: Option<Located<OneOrEach<u64>>>,
    mode: Option<Located<OneOrEach<Mode>>>,
    sources: &[String],
    fed: &Fed<'_>,
    problems: &mut Problems,
) -> (BTreeMap<String, u64>, BTreeMap<String, Mode>) {
    let feeding = |source: &&Source| sources.contains(&source.name);
    let reached: Names = fed
        .sources
        .iter()
        .filter(feeding)
        .flat_map(|source| source.environments.iter().cloned())
        .collect();
    let mut by_environment = PerName {
        reached: &reached,
        fed,
        problems,
    };
    let mut value = by_environment.spread(value);
    let mut mode = by_environment.spread(mode);
    for name in &reached {
        if value.contains_key(name) {
            mode.entry(name.clone()).or_default();
        }
    }
    mode.retain(|name, mode| mode.is_unlimited() || value.contains_key(name));
    value.retain(|name, _| mode.contains_key(name));
    (value, mode)
}

struct PerName<'a, 'p> {
    reached: &'a Names,
    fed: &'a Fed<'a>,
    problems: &'p mut Problems,
}

impl PerName<'_, '_> {
    /// One setting for all, or each checked against the environments that there are.
    fn spread<T: Copy>(&mut self, setting: Option<Located<OneOrEach<T>>>) -> BTreeMap<String, T> {
        match setting.map(|setting| setting.value) {
            None => BTreeMap::new(),
            Some(OneOrEach::One(one)) => self.reached.iter().map(|name| (name.clone(), one)).collect(),
            Some(OneOrEach::Each(each)) => each
                .into_iter()
                .filter(|(name, _)| self.check(name))
                .map(|(name, value)| (name.value, value))
                .collect(),
        }
    }

    fn check(&mut self, name: &Located<String>) -> bool {
        let known = known(self.fed.environment_names, "environment", name, self.problems);
        let there = self
            .fed
            .environments
            .iter()
            .any(|environment| environment.name == name.value);
        if known && there && !self.reached.contains(&name.value) && !self.reached.is_empty() {
            let what = format!("no source of this limit exists in `{}`", name.value);
            self.problems.add(
                &name.place,
                what,
                "leave the environment out, or add it to the source",
            );
        }
        known
    }
}
