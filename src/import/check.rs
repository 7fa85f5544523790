//! From the texts of a row to a sample, by the rules that drains have.

use std::{borrow::Cow, collections::HashMap, sync::Arc};

use chrono::{DateTime, TimeDelta, Utc};

use super::{
    Sample, Sealed,
    column::{Column, Fields},
};
use crate::{
    catalog::{Catalog, Refusal, Source, SourceKind},
    source::{Identities, Labels, Met, SeriesName, name, normalise, parse_count, shortened, shown_key},
    time::{Minute, MinuteFormat},
};

/// Endpoints, scopes and outcomes, of all sources and environments: each is a series for good.
const MOST_NAMES: usize = 10_000;

/// What a row counts, identity and minute apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Named {
    /// Which environment of the catalog.
    pub environment: usize,
    /// Which source of the catalog.
    pub source: usize,
    /// The rest.
    pub name: SeriesName,
}

/// Checks rows against the catalog.
pub struct Checks {
    catalog: Arc<Catalog>,
    identities: Arc<Identities>,
    /// What is sealed, by environment.
    sealed: Vec<Sealed>,
    now: DateTime<Utc>,
    kept_from: DateTime<Utc>,
    names: Vec<Named>,
    /// The places of names as rows spell them.
    known: HashMap<Vec<u8>, u32>,
    spelling: Vec<u8>,
    met: Met,
}

/// What a good row comes to.
#[derive(Clone, Copy, Debug)]
pub(super) enum Row {
    /// It says that nobody was there.
    Nobody,
    /// It counts.
    Sample(Sample),
    /// Its hour is sealed: at most windows of later hours look back at it.
    Sealed(Sample),
}

impl Checks {
    /// Rules of a catalog as of an instant, with what is sealed by environment.
    #[must_use]
    pub fn new(
        catalog: Arc<Catalog>,
        identities: Arc<Identities>,
        now: DateTime<Utc>,
        sealed: Vec<Sealed>,
    ) -> Self {
        Self {
            kept_from: now - TimeDelta::hours(24 * i64::from(catalog.retention_days)),
            catalog,
            identities,
            sealed,
            now,
            names: Vec::new(),
            known: HashMap::new(),
            spelling: Vec::new(),
            met: Met::default(),
        }
    }

    /// The names of the samples so far, what is sealed, and the identities of public scopes.
    pub(super) fn into_parts(self) -> (Vec<Named>, Vec<Sealed>, Met) {
        (self.names, self.sealed, self.met)
    }

    pub(super) fn named(&self, sample: &Sample) -> &Named {
        &self.names[sample.series as usize]
    }

    /// Whether windows may look back at a sample of a sealed hour.
    pub(super) fn is_looked_back_at(&self, sample: &Sample) -> bool {
        let named = self.named(sample);
        !self.sealed[named.environment].is_drained(named.source, sample.minute.hour())
    }

    /// The labels of public identities since they were last taken.
    pub(super) fn take_labels(&mut self) -> Labels {
        self.met.take_labels()
    }

    pub(super) fn check(&mut self, fields: &Fields) -> Result<Row, Refusal> {
        let series = self.series(fields)?;
        let named = &self.names[series as usize];
        let source = &self.catalog.sources[named.source];
        let minute = self.minute(fields.get(Column::Minute), source)?;
        let count = match parse_count(fields.get(Column::Count)) {
            Ok(0) => return Ok(Row::Nobody),
            Ok(count) => count,
            Err(reason) => return Err(Refusal::new(reason, "write a whole number, such as 12")),
        };
        let raw = or_constant(fields.get(Column::Identity), source.constants.identity.as_deref());
        if raw.is_empty() {
            return Err(Refusal::new(
                "the identity is empty",
                "write who was counted; one word for all where nobody is told apart",
            ));
        }
        let scope = self.catalog.scopes.get(&named.name.scope).copied();
        let scope = scope.unwrap_or_default();
        let identity = normalise(scope, raw);
        let id = self.identities.id(&named.name.scope, &identity);
        let sample = Sample {
            environment: place(named.environment),
            minute,
            series,
            id,
            count,
        };
        if self.sealed[named.environment].holds(named.source, minute.hour()) {
            return Ok(Row::Sealed(sample));
        }
        if scope.public {
            self.met.note(&named.name.scope, id, &identity);
        }
        Ok(Row::Sample(sample))
    }

    /// The place of a row's names.
    fn series(&mut self, fields: &Fields) -> Result<u32, Refusal> {
        self.spelling.clear();
        for column in Column::NAMES {
            let text = fields.get(column);
            self.spelling.extend_from_slice(&text.len().to_le_bytes());
            self.spelling.extend_from_slice(text);
        }
        if let Some(place) = self.known.get(&self.spelling) {
            return Ok(*place);
        }
        let named = self.name(fields)?;
        // What the catalog gives may be spelt out or left empty.
        let known = self.names.iter().position(|own| *own == named);
        if known.is_none() && self.names.len() == MOST_NAMES {
            return Err(Refusal::new(
                format!("the file has more than {MOST_NAMES} different names"),
                "bring endpoints that differ in an id alone under one name",
            ));
        }
        let place = place(known.unwrap_or(self.names.len()));
        if known.is_none() {
            self.names.push(named);
        }
        self.known.insert(self.spelling.clone(), place);
        Ok(place)
    }

    fn name(&self, fields: &Fields) -> Result<Named, Refusal> {
        let catalog = &*self.catalog;
        let text = fields.get(Column::Environment);
        let environment = (catalog.environments.iter())
            .position(|environment| environment.name.as_bytes() == text)
            .ok_or_else(|| {
                let names = catalog.environments.iter().map(|own| &*own.name);
                unknown("environment", text, names)
            })?;
        let text = fields.get(Column::Source);
        let index = (catalog.sources.iter())
            .position(|source| source.name.as_bytes() == text)
            .ok_or_else(|| unknown("source", text, catalog.sources.iter().map(|own| &*own.name)))?;
        let source = &catalog.sources[index];
        if source.kind == SourceKind::Gauge {
            return Err(Refusal::new(
                format!("source `{}` samples gauges", source.name),
                "leave it out: only counts can be imported",
            ));
        }
        if !source
            .environments
            .contains(&catalog.environments[environment].name)
        {
            return Err(Refusal::new(
                format!(
                    "source `{}` does not exist in `{}`",
                    source.name, catalog.environments[environment].name
                ),
                "see `environments` of the source",
            ));
        }
        let constants = &source.constants;
        let endpoint = part(fields, Column::Endpoint, constants.endpoint.as_deref())?;
        if endpoint.is_empty() {
            return Err(Refusal::new(
                "the endpoint is empty",
                "write what was counted, as limits name it",
            ));
        }
        let scope = part(fields, Column::Scope, constants.scope.as_deref())?;
        if !catalog.scopes.contains_key(scope) {
            let names = catalog.scopes.keys().map(|own| &**own);
            return Err(unknown("scope", scope.as_bytes(), names));
        }
        let outcome = part(fields, Column::Outcome, constants.outcome.as_deref())?;
        Ok(Named {
            environment,
            source: index,
            name: SeriesName {
                endpoint: endpoint.to_owned(),
                scope: scope.to_owned(),
                outcome: outcome.to_owned(),
            },
        })
    }

    fn minute(&self, text: &[u8], source: &Source) -> Result<Minute, Refusal> {
        let Some(minute) = minute(text) else {
            return Err(Refusal::new(
                "the minute is none",
                "write 202503101205, 2025-03-10T12:05:00Z or seconds since 1970",
            ));
        };
        if minute >= Minute::containing(self.now - source.grace) {
            return Err(Refusal::new(
                "its minute is not over yet",
                "import it later, or set the clock right that wrote it",
            ));
        }
        if minute.hour().start() < self.kept_from {
            return Err(Refusal::new(
                format!("it is older than {} days", self.catalog.retention_days),
                "raise `retention_days` in the catalog, or leave it out",
            ));
        }
        Ok(minute)
    }
}

/// The reason to refuse rows whose hours are sealed.
pub(super) fn sealed() -> Refusal {
    Refusal::new(
        "its hour is sealed",
        "drains or an earlier import have counted it, and nothing can be added any more",
    )
}

/// An empty cell is what the catalog says where keys lack it.
fn or_constant<'t>(text: &'t [u8], constant: Option<&'t str>) -> &'t [u8] {
    match constant {
        Some(constant) if text.is_empty() => constant.as_bytes(),
        _ => text,
    }
}

/// One of a row's names.
fn part<'f>(fields: &'f Fields, column: Column, constant: Option<&'f str>) -> Result<&'f str, Refusal> {
    let text = name(column.name(), or_constant(fields.get(column), constant));
    text.map_err(|what| Refusal::new(what, "write a short name of plain text"))
}

fn unknown<'n>(what: &str, text: &[u8], names: impl Iterator<Item = &'n str>) -> Refusal {
    let text = shortened(shown_key(text), 64);
    let names: Cow<'_, str> = names.collect::<Vec<_>>().join(", ").into();
    Refusal::new(
        format!("the catalog has no {what} `{text}`"),
        format!("declare it, or write one of {names}"),
    )
}

/// Twelve digits, an instant, or seconds since 1970: as many as twelve digits only in far-off years.
fn minute(text: &[u8]) -> Option<Minute> {
    if !text.is_empty() && text.iter().all(u8::is_ascii_digit) {
        let format = if text.len() == 12 {
            MinuteFormat::Compact
        } else {
            MinuteFormat::EpochSeconds
        };
        return Minute::parse(text, format).ok();
    }
    let instant = DateTime::parse_from_rfc3339(str::from_utf8(text).ok()?).ok()?;
    Some(Minute::containing(instant.to_utc()))
}

fn place(index: usize) -> u32 {
    u32::try_from(index).expect("a file of 2^32 names would not fit into memory")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn minutes_are_spelt_in_three_ways() {
        // 2025-03-10T12:05:00Z: 1741608300 s.
        for text in [
            "202503101205",
            "2025-03-10T12:05:59.9Z",
            "2025-03-10T09:05:00-03:00",
            "1741608300",
            "1741608359",
        ] {
            let found = minute(text.as_bytes()).map(|minute| minute.to_string());
            assert_eq!(found.as_deref(), Some("2025-03-10T12:05Z"), "{text}");
        }
        for text in [
            "",
            "202513101205",
            "2025-03-10 ",
            "2025-03-10T12:05:00",
            "-5",
            "1e9",
            "\u{663}",
        ] {
            assert_eq!(minute(text.as_bytes()), None, "{text}");
        }
    }

    #[test]
    fn an_empty_cell_is_the_catalogs_constant() {
        assert_eq!(or_constant(b"", Some("ok")), b"ok");
        assert_eq!(or_constant(b"error", Some("ok")), b"error");
        assert_eq!(or_constant(b"", None), b"");
    }
}
