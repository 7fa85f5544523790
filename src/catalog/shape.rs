//! Everything of a limit that decides its counts.

use chrono_tz::Tz;
use serde::{Deserialize, Serialize};

use crate::time::{Algorithm, Window};

use super::Limit;

/// What aggregates are kept by: limits of one shape have one history, whatever their values, ids and names.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Shape {
    /// Endpoint names or globs, sorted, each once.
    pub endpoints: Vec<String>,
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
    pub fn fingerprint(&self) -> String {
        serde_json::to_string(self).expect("texts, lists and words always have JSON")
    }
}

impl Limit {
    /// The shape of the limit, in a catalog of this zone.
    #[must_use]
    pub fn shape(&self, zone: Tz) -> Shape {
        let sorted = |texts: &[String]| {
            let mut texts = texts.to_vec();
            texts.sort_unstable();
            texts.dedup();
            texts
        };
        Shape {
            endpoints: sorted(&self.endpoints),
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
