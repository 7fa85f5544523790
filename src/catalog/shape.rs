//! Everything of a limit that decides its counts.

use std::collections::{BTreeMap, BTreeSet};

use chrono_tz::Tz;
use serde::{Deserialize, Serialize};

use crate::time::{Algorithm, Window};

use super::{Counts, Globs, Limit, Source};

/// What aggregates are kept by: limits of one shape have one history, whatever their values, ids and names.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Shape {
    /// Endpoint names or globs, sorted, each once.
    pub endpoints: Globs,
    /// What an identity is.
    pub scope: String,
    /// The window.
    pub window: Window,
    /// How the limiter counts.
    pub algorithm: Algorithm,
    /// The sources that feed it, sorted.
    pub sources: Vec<String>,
    /// The outcomes that count, sorted; all of them where absent.
    pub outcomes: Option<Vec<String>>,
    /// One series for all identities together.
    pub shared: bool,
    /// The zone's name, where the window is its local day.
    pub zone: Option<String>,
    /// The scopes whose identities count for those of the shape's own scope that they are members of, sorted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub members: Vec<String>,
    /// The outcomes by source that do not count, sorted, where some don't.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub refused: BTreeMap<String, Vec<String>>,
    /// Where samples tell what is left: of how much.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub capacity: Option<u64>,
}

impl Shape {
    /// One text for one shape, the same in every version: its JSON, fields in the order above.
    #[must_use]
    #[expect(
        clippy::missing_panics_doc,
        reason = "texts, lists and words always have JSON"
    )]
    pub fn definition(&self) -> String {
        serde_json::to_string(self).expect("texts, lists and words always have JSON")
    }

    /// Whether it counts what a source tells of an endpoint, a scope and an outcome, empty where there is none.
    #[must_use]
    pub fn counts(&self, source: &str, endpoint: &str, scope: &str, outcome: &str) -> bool {
        (self.scope == scope || self.members.iter().any(|own| own == scope))
            && self.sources.iter().any(|own| own == source)
            && self
                .outcomes
                .as_ref()
                .is_none_or(|own| own.iter().any(|own| own == outcome))
            && !self
                .refused
                .get(source)
                .is_some_and(|refused| refused.iter().any(|refused| refused == outcome))
            && self.endpoints.matches(endpoint)
    }
}

impl Limit {
    /// The shape of the limit, in a catalog of this zone.
    #[must_use]
    #[expect(
        clippy::missing_panics_doc,
        reason = "a limit that was read has globs that compile"
    )]
    pub fn shape(&self, zone: Tz) -> Shape {
        let sorted = |texts: &[String]| {
            let mut texts = texts.to_vec();
            texts.sort_unstable();
            texts.dedup();
            texts
        };
        Shape {
            endpoints: Globs::new(sorted(&self.endpoints))
                .expect("a limit that was read has globs that compile"),
            scope: self.scope.clone(),
            window: self.window,
            algorithm: self.algorithm,
            sources: sorted(&self.sources),
            outcomes: self.outcomes.as_deref().map(sorted),
            shared: self.shared,
            zone: (self.window == Window::LocalDay).then(|| zone.name().to_owned()),
            members: self.members.clone(),
            refused: BTreeMap::new(),
            capacity: self.capacity,
        }
    }

    /// The shape of what the limit counts of accepted requests alone; none where no source of it tells refused ones
    /// apart, or the limit counts none of them.
    #[must_use]
    pub fn accepted_shape(&self, zone: Tz, sources: &[Source]) -> Option<Shape> {
        let counted = |outcome: &&String| {
            self.outcomes
                .as_ref()
                .is_none_or(|own| own.iter().any(|own| own == *outcome))
        };
        let refused: BTreeMap<String, Vec<String>> = (self.sources_in(sources))
            .map(|source| {
                let refused: BTreeSet<&String> = source.rejected.iter().filter(counted).collect();
                (
                    source.name.clone(),
                    refused.into_iter().cloned().collect::<Vec<_>>(),
                )
            })
            .filter(|(_, refused)| !refused.is_empty())
            .collect();
        (!refused.is_empty()).then(|| Shape {
            refused,
            ..self.shape(zone)
        })
    }

    /// Whether what it counts are accepted requests alone: every source counts no others, or the limit leaves their
    /// outcomes out.
    #[must_use]
    pub fn counts_accepted(&self, sources: &[Source]) -> bool {
        let accepted = |source: &Source| {
            let leaves_out = |refused: &String| {
                (self.outcomes.as_ref()).is_some_and(|own| own.iter().all(|own| own != refused))
            };
            source.counts == Counts::Accepted
                || (!source.rejected.is_empty() && source.rejected.iter().all(leaves_out))
        };
        self.sources_in(sources).all(accepted)
    }

    fn sources_in<'s>(&'s self, sources: &'s [Source]) -> impl Iterator<Item = &'s Source> {
        sources
            .iter()
            .filter(|source| self.sources.contains(&source.name))
    }
}
