//! Names of endpoints, exact or with wildcards.

use std::{
    cmp::Ordering,
    hash::{Hash, Hasher},
};

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};

use super::Refusal;

/// A list of endpoint names or globs, compiled once. Lists of the same texts are equal.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
#[serde(into = "Vec<String>", try_from = "Vec<String>")]
pub struct Globs {
    texts: Vec<String>,
    set: GlobSet,
}

impl Globs {
    /// Compiles a list. Endpoints are names and no paths: a star takes any character.
    ///
    /// # Errors
    /// A text that is no glob, with what to write instead.
    pub fn new(texts: Vec<String>) -> Result<Self, Refusal> {
        let mut set = GlobSetBuilder::new();
        for text in &texts {
            let glob = GlobBuilder::new(text).literal_separator(false).build();
            set.add(glob.map_err(|error| {
                let what = format!("`{text}` is no glob: {}", error.kind());
                Refusal::new(what, "write an exact name, or * and ? for what differs")
            })?);
        }
        let refuse = |error: globset::Error| Refusal::new(error.to_string(), "write fewer or shorter globs");
        Ok(Self {
            set: set.build().map_err(refuse)?,
            texts,
        })
    }

    /// Whether one of them takes an endpoint.
    #[must_use]
    pub fn matches(&self, endpoint: &str) -> bool {
        self.set.is_match(endpoint)
    }

    /// The texts.
    #[must_use]
    pub fn texts(&self) -> &[String] {
        &self.texts
    }
}

impl From<Globs> for Vec<String> {
    fn from(globs: Globs) -> Self {
        globs.texts
    }
}

impl TryFrom<Vec<String>> for Globs {
    type Error = Refusal;

    fn try_from(texts: Vec<String>) -> Result<Self, Refusal> {
        Self::new(texts)
    }
}

impl PartialEq for Globs {
    fn eq(&self, other: &Self) -> bool {
        self.texts == other.texts
    }
}

impl Eq for Globs {}

impl PartialOrd for Globs {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Globs {
    fn cmp(&self, other: &Self) -> Ordering {
        self.texts.cmp(&other.texts)
    }
}

impl Hash for Globs {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.texts.hash(state);
    }
}
