//! Limits, in groups.

mod feeding;

use std::{collections::BTreeMap, fmt, str::FromStr};

use toml::{Spanned, de::DeValue};

use crate::time::{Algorithm, Window};

use feeding::{Wanted, check_sources, resolve};

use super::{
    Environment, Globs, Members, Refusal, Source, SourceKind,
    environments::{Names, declare, known},
    problem::{Located, Place, Problems},
    section::{FromValue, Section, text_as},
    values::{OneOrEach, OneOrMore, word},
};

/// What reports call the group of endpoints that no limit names.
pub const UNLIMITED: &str = "unlimited";

/// A group of limits.
#[derive(Clone, Debug)]
pub struct Group {
    /// Its id.
    pub id: String,
    /// Its name.
    pub name: String,
    /// Its limits in file order.
    pub limits: Vec<Limit>,
}

/// One limit.
#[derive(Clone, Debug)]
pub struct Limit {
    /// Its id, unique in the catalog.
    pub id: String,
    /// The sources that feed it, sorted.
    pub sources: Vec<String>,
    /// Endpoint names or globs, in file order.
    pub endpoints: Vec<String>,
    /// What an identity is.
    pub scope: String,
    /// The scopes whose identities count for those that they are members of, sorted.
    pub members: Vec<String>,
    /// The largest allowed count in one window, where the environment has one.
    pub value: PerEnvironment<u64>,
    /// Its window.
    pub window: Window,
    /// How its limiter counts.
    pub algorithm: Algorithm,
    /// What it does; absent in environments where the limit does not exist.
    pub mode: PerEnvironment<Mode>,
    /// One limit for all identities of the scope together.
    pub shared: bool,
    /// The outcomes that count; all of them where absent.
    pub outcomes: Option<Vec<String>>,
    /// For mode `watch`: alert at this count.
    pub watch_alert: Option<u64>,
    /// The team's own assumption of the peak.
    pub hypothetical_peak: Option<u64>,
    /// Never recommend more than this.
    pub ceiling: Option<u64>,
    /// Where its gauges tell what is left: of how much.
    pub capacity: Option<u64>,
}

/// A setting that is one for all environments or differs by environment.
#[derive(Clone, Debug)]
pub enum PerEnvironment<T> {
    /// The same everywhere.
    All(T),
    /// By environment name; absent where the environment has none.
    Each(BTreeMap<String, T>),
}

impl<T: Copy> PerEnvironment<T> {
    /// The setting in one environment.
    #[must_use]
    pub fn get(&self, environment: &str) -> Option<T> {
        match self {
            Self::All(value) => Some(*value),
            Self::Each(values) => values.get(environment).copied(),
        }
    }
}

/// What a limit does in an environment.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, utoipa::ToSchema, serde::Deserialize,
)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// Counted, never enforced.
    #[default]
    Observe,
    /// Enforced.
    Block,
    /// No limit: watched only.
    Watch,
    /// Not limited and not judged.
    Exempt,
}

/// The smallest count that reaches the alert percentage of a limit: ⌈limit × percent / 100⌉.
#[must_use]
pub fn alert_at(limit: u64, percent: u32) -> u64 {
    let share = (u128::from(limit) * u128::from(percent)).div_ceil(100);
    u64::try_from(share).unwrap_or(u64::MAX)
}

impl Limit {
    /// Whether it exists in an environment: it has a value there, or a mode that needs none, and a source.
    #[must_use]
    pub fn exists_in(&self, environment: &str) -> bool {
        self.mode.get(environment).is_some()
    }

    /// What it does in an environment.
    #[must_use]
    pub fn mode_in(&self, environment: &str) -> Mode {
        self.mode.get(environment).unwrap_or_default()
    }

    /// Its value in an environment; always there for `observe` and `block` where it exists.
    #[must_use]
    pub fn value_in(&self, environment: &str) -> Option<u64> {
        self.value.get(environment)
    }
}

/// The words of the modes.
const MODES: [(&str, Mode); 4] = [
    ("observe", Mode::Observe),
    ("block", Mode::Block),
    ("watch", Mode::Watch),
    ("exempt", Mode::Exempt),
];

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = MODES
            .iter()
            .find(|(_, mode)| mode == self)
            .map_or("", |(word, _)| word);
        f.write_str(word)
    }
}

impl FromStr for Mode {
    type Err = Refusal;

    fn from_str(text: &str) -> Result<Self, Refusal> {
        word(text, "mode", &MODES)
    }
}

impl Mode {
    /// Whether it can do without a limit.
    const fn is_unlimited(self) -> bool {
        matches!(self, Self::Watch | Self::Exempt)
    }
}

impl FromValue for Mode {
    fn from_value(value: Spanned<DeValue<'_>>, problems: &mut Problems) -> Option<Self> {
        text_as(&value, "\"observe\"", problems, |text| word(text, "mode", &MODES))
    }
}

/// A limit's id.
struct Id(String);

impl FromValue for Id {
    fn from_value(value: Spanned<DeValue<'_>>, problems: &mut Problems) -> Option<Self> {
        text_as(&value, "\"send-otp.usuario\"", problems, |text| {
            let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
            if !text.is_empty() && text.bytes().all(plain) {
                return Ok(Self(text.to_owned()));
            }
            Err(Refusal::new(
                format!("`{text}` is no id"),
                "write letters A-Z a-z, digits, dots, dashes or underscores",
            ))
        })
    }
}

/// Each is compiled by itself first, so that a bad one is told with its own place.
impl FromValue for Globs {
    fn from_value(value: Spanned<DeValue<'_>>, problems: &mut Problems) -> Option<Self> {
        let place = Place::Span(value.span());
        let list = Vec::<Located<String>>::from_value(value, problems)?;
        let mut sound = true;
        for name in &list {
            if let Err(refusal) = Self::new(vec![name.value.clone()]) {
                problems.refused(&name.place, refusal);
                sound = false;
            }
        }
        let all = sound.then(|| Self::new(list.into_iter().map(|name| name.value).collect()))?;
        all.map_err(|refusal| problems.refused(&place, refusal)).ok()
    }
}

/// What limits refer to.
pub(super) struct Fed<'a> {
    pub environments: &'a [Environment],
    pub environment_names: &'a Names,
    pub scopes: &'a Names,
    pub members: &'a [Members],
    pub sources: &'a [Source],
    pub source_names: &'a Names,
}

impl Fed<'_> {
    fn is_gauge(&self, name: &str) -> bool {
        let gauge = |source: &Source| source.name == name && source.kind == SourceKind::Gauge;
        self.sources.iter().any(gauge)
    }
}

pub(super) fn read_groups(sections: Vec<Section<'_>>, fed: &Fed<'_>, problems: &mut Problems) -> Vec<Group> {
    let (mut group_ids, mut limit_ids) = (Names::new(), Names::new());
    let mut groups = Vec::new();
    for mut section in sections {
        let id = section.required::<String>("id", "\"A\"", problems);
        let name = section.required::<String>("name", "\"Critical auth\"", problems);
        let limits = section.tables("limit", "[[group.limit]]", problems);
        section.finish(problems);
        if let Some(id) = &id {
            declare(&mut group_ids, "group", id, problems);
            if id.value == UNLIMITED {
                problems.add(
                    &id.place,
                    format!("group `{UNLIMITED}` is what reports call endpoints that no limit names"),
                    "give it another id",
                );
            }
        }
        let mut read = |section| read_limit(section, fed, &mut limit_ids, problems);
        let limits = limits.into_iter().filter_map(&mut read).collect();
        if let (Some(id), Some(name)) = (id, name) {
            groups.push(Group {
                id: id.value,
                name: name.value,
                limits,
            });
        }
    }
    groups
}

fn read_limit(
    mut section: Section<'_>,
    fed: &Fed<'_>,
    ids: &mut Names,
    problems: &mut Problems,
) -> Option<Limit> {
    let id = section.required::<Id>("id", "\"send-otp.usuario\"", problems);
    let sources = section.optional::<OneOrMore>("source", problems);
    let endpoints = section.required::<Globs>("endpoints", "[\"send-otp\"]", problems);
    let scope = section.required::<String>("scope", "\"ip\"", problems);
    let value = section.optional::<OneOrEach<u64>>("limit", problems);
    let mode = section.optional::<OneOrEach<Mode>>("mode", problems);
    let unlimited = mode.as_ref().is_some_and(|mode| match &mode.value {
        OneOrEach::One(mode) => mode.is_unlimited(),
        OneOrEach::Each(modes) => modes.iter().all(|(_, mode)| mode.is_unlimited()),
    });
    let named_gauge = (sources.iter().flat_map(|list| &list.value.0)).any(|name| fed.is_gauge(&name.value));
    let window = if unlimited || named_gauge {
        section
            .optional("window", problems)
            .map_or(Some(Window::Minutes(1)), |window| Some(window.value))
    } else {
        section
            .required("window", "\"15m\"", problems)
            .map(|window| window.value)
    };
    let algorithm = section.optional::<Algorithm>("algorithm", problems);
    let shared = section.or("shared", false, problems);
    let outcomes = section.optional::<Vec<Located<String>>>("outcomes", problems);
    let watch_alert = section.optional::<u64>("watch_alert", problems);
    let hypothetical_peak = section
        .optional::<u64>("hypothetical_peak", problems)
        .map(|peak| peak.value);
    let ceiling = section
        .optional::<u64>("ceiling", problems)
        .map(|ceiling| ceiling.value);
    let capacity = section.optional::<u64>("capacity", problems);
    let place = section.place.clone();
    let has_value = section.had("limit");
    section.finish(problems);

    if let Some(id) = &id {
        declare_id(id, ids, problems);
    }
    let scope_known = scope
        .as_ref()
        .is_some_and(|scope| known(fed.scopes, "scope", scope, problems));
    if !has_value && !unlimited {
        problems.add(
            &place,
            "the limit has no `limit`",
            "write limit = N, or mode = \"watch\" or \"exempt\"",
        );
    }
    let algorithm_at = algorithm.as_ref().map(|algorithm| algorithm.place.clone());
    let algorithm = window.and_then(|window| check_algorithm(window, algorithm, problems));
    let outcomes = outcomes.map(|list| {
        list.value
            .into_iter()
            .map(|outcome| outcome.value)
            .collect::<Vec<_>>()
    });
    let (endpoints, scope) = (endpoints?.value, scope?);
    let wanted = Wanted {
        endpoints: &endpoints,
        scope: &scope.value,
        members: fed.members,
        outcomes: outcomes.as_deref(),
    };
    let sources = if scope_known {
        check_sources(sources, &wanted, fed, &place, problems)?
    } else {
        return None;
    };
    let places = SampledPlaces {
        limit: &place,
        algorithm: algorithm_at.as_ref(),
        capacity: capacity.as_ref().map(|capacity| &capacity.place),
    };
    let sampled = check_sampled(&sources, shared, &places, fed, problems).then_some(Algorithm::Sampled);
    let (value, mode) = resolve(value, mode, &sources, fed, problems);
    if let Some(watch_alert) = &watch_alert
        && !mode.values().any(|mode| *mode == Mode::Watch)
    {
        problems.add(
            &watch_alert.place,
            "nothing watches here",
            "write mode = \"watch\", or leave `watch_alert` out",
        );
    }
    Some(Limit {
        id: id?.value.0,
        endpoints: endpoints.into(),
        members: members(&scope.value, &sources, fed, &place, problems),
        scope: scope.value,
        value: PerEnvironment::Each(value),
        window: window?,
        algorithm: sampled.or(algorithm)?,
        mode: PerEnvironment::Each(mode),
        shared,
        outcomes,
        watch_alert: watch_alert.map(|count| count.value),
        hypothetical_peak,
        ceiling,
        sources,
        capacity: capacity.map(|capacity| capacity.value),
    })
}

/// Where a limit says what matters to gauges.
struct SampledPlaces<'a> {
    limit: &'a Place,
    algorithm: Option<&'a Place>,
    capacity: Option<&'a Place>,
}

fn declare_id(id: &Located<Id>, ids: &mut Names, problems: &mut Problems) {
    let id = Located {
        value: id.value.0.clone(),
        place: id.place.clone(),
    };
    declare(ids, "limit", &id, problems);
}

/// Whether gauges feed the limit, of which samples are taken and never added up.
fn check_sampled(
    sources: &[String],
    shared: bool,
    places: &SampledPlaces<'_>,
    fed: &Fed<'_>,
    problems: &mut Problems,
) -> bool {
    let gauges = sources.iter().filter(|name| fed.is_gauge(name)).count();
    if gauges == 0 {
        if let Some(place) = places.capacity {
            problems.add(
                place,
                "only a gauge can tell what is left of a capacity",
                "leave `capacity` out, or name a source of kind = \"gauge\"",
            );
        }
        return false;
    }
    if gauges < sources.len() {
        problems.add(
            places.limit,
            "gauges and counts feed one limit",
            "write a limit for each: samples and counts do not add up",
        );
    }
    if shared {
        problems.add(
            places.limit,
            "the limit is shared, and samples of gauges are never added up",
            "leave `shared` out",
        );
    }
    if let Some(place) = places.algorithm {
        problems.add(
            place,
            "an algorithm is given for samples of a gauge",
            "leave `algorithm` out: a sample shows what the limiter itself counts",
        );
    }
    true
}

/// The scopes that some sources tell whose identities are members of those of a limit's scope.
fn members(
    scope: &str,
    sources: &[String],
    fed: &Fed<'_>,
    place: &Place,
    problems: &mut Problems,
) -> Vec<String> {
    let own = || fed.sources.iter().filter(|source| sources.contains(&source.name));
    let tables = fed.members.iter().filter(|members| members.of == scope);
    let told = tables.filter(|members| own().any(|source| members.are_told_by(source)));
    let scopes: Names = told.map(|members| members.scope.clone()).collect();
    // A request that such a source tells under several scopes would count for each.
    if !scopes.is_empty()
        && let Some(source) = own().find(|source| source.constants.scope.is_none())
    {
        problems.add(
            place,
            format!(
                "source `{}` tells scopes by itself, and another one of the limit tells of members alone: requests could \
                 count twice",
                source.name
            ),
            "write a limit for each, and name its `source`",
        );
    }
    scopes.into_iter().collect()
}

/// The local day is always fixed, and fixed windows of minutes and hours divide a day.
fn check_algorithm(
    window: Window,
    algorithm: Option<Located<Algorithm>>,
    problems: &mut Problems,
) -> Option<Algorithm> {
    match (window, algorithm) {
        (
            Window::LocalDay,
            Some(Located {
                value: Algorithm::Anchored | Algorithm::Sliding,
                place,
            }),
        ) => {
            let remedy = "leave `algorithm` out, or write window = \"24h\" for the last 24 hours";
            problems.add(&place, "1d is the local day, which is always fixed", remedy);
            None
        }
        (Window::LocalDay, _) => Some(Algorithm::Fixed),
        (
            Window::Minutes(minutes),
            Some(Located {
                value: Algorithm::Fixed,
                place,
            }),
        ) if 1440 % minutes != 0 => {
            let near = |step: i32| {
                let mut other = minutes.cast_signed();
                while other > 0 && 1440 % other != 0 {
                    other += step;
                }
                Window::Minutes(other.unsigned_abs())
            };
            let remedy = format!("write {} or {}, or another algorithm", near(-1), near(1));
            problems.add(
                &place,
                format!("fixed windows of {window} do not divide a day"),
                remedy,
            );
            None
        }
        (_, algorithm) => Some(algorithm.map_or(Algorithm::Anchored, |algorithm| algorithm.value)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn alert_at_is_the_smallest_count_that_reaches_the_percentage() {
        // 70 % of 30 is exactly 21; of 23 it is 16.1; of 5 it is 3.5; of 1 it is 0.7.
        for (limit, expected) in [(30, 21), (23, 17), (5, 4), (1, 1), (100, 70), (20, 14)] {
            assert_eq!(alert_at(limit, 70), expected, "{limit}");
        }
        // 70 % of 2^63 - 1 = 9223372036854775807 is 6456360425798343064.9.
        assert_eq!(alert_at(9_223_372_036_854_775_807, 70), 6_456_360_425_798_343_065);
        assert_eq!(alert_at(30, 100), 30);
    }
}
