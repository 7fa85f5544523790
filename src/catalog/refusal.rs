//! A value that was refused, and what to write instead.

/// Why a text is no valid value, and the remedy. The place in the file is known to whoever read the text.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what}: {remedy}")]
pub struct Refusal {
    /// What is wrong.
    pub what: String,
    /// What to write instead.
    pub remedy: String,
}

impl Refusal {
    /// A refusal with its remedy.
    pub fn new(what: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self {
            what: what.into(),
            remedy: remedy.into(),
        }
    }
}
