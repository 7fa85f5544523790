//! What the columns of a file are called, and the texts of one row.

use std::ops::Range;

/// A column of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Column {
    Environment,
    Source,
    Endpoint,
    Scope,
    Identity,
    Outcome,
    Minute,
    Count,
}

impl Column {
    pub(super) const ALL: [Self; 8] = [
        Self::Environment,
        Self::Source,
        Self::Endpoint,
        Self::Scope,
        Self::Identity,
        Self::Outcome,
        Self::Minute,
        Self::Count,
    ];

    /// What names the series of a row.
    pub(super) const NAMES: [Self; 5] = [
        Self::Environment,
        Self::Source,
        Self::Endpoint,
        Self::Scope,
        Self::Outcome,
    ];

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Environment => "environment",
            Self::Source => "source",
            Self::Endpoint => "endpoint",
            Self::Scope => "scope",
            Self::Identity => "identity",
            Self::Outcome => "outcome",
            Self::Minute => "minute",
            Self::Count => "count",
        }
    }

    pub(super) fn named(name: &[u8]) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|column| column.name().as_bytes() == name)
    }

    /// All names, as a message lists them.
    pub(super) fn names() -> String {
        Self::ALL.map(Self::name).join(", ")
    }
}

/// The texts of one row, used again for the next one. What was not set is empty.
#[derive(Debug, Default)]
pub(super) struct Fields {
    text: Vec<u8>,
    spans: [Range<usize>; Column::ALL.len()],
}

impl Fields {
    pub(super) fn clear(&mut self) {
        self.text.clear();
        self.spans = Default::default();
    }

    pub(super) fn set(&mut self, column: Column, text: &[u8]) {
        let start = self.text.len();
        self.text.extend_from_slice(text);
        self.spans[column as usize] = start..self.text.len();
    }

    pub(super) fn get(&self, column: Column) -> &[u8] {
        &self.text[self.spans[column as usize].clone()]
    }
}
