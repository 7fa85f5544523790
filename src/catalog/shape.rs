//! Everything of a limit that decides its counts.

use chrono_tz::Tz;
use serde::{Deserialize, Serialize};

use crate::time::{Algorithm, Window};

use super::{Globs, Limit};

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
        self.scope == scope
            && self.sources.iter().any(|own| own == source)
            && self
                .outcomes
                .as_ref()
                .is_none_or(|own| own.iter().any(|own| own == outcome))
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
        }
    }
}
