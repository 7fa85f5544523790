//! What an import did.

use std::fmt;

use crate::{
    catalog::Catalog,
    import::{Refused, Span, Whole},
};

/// What an import did.
#[derive(Clone, Debug)]
pub struct Imported {
    /// By environment and source, in the order of the catalog.
    spans: Vec<(String, String, Span)>,
    /// What was refused.
    pub refused: Refused,
}

impl Imported {
    pub(super) fn new(catalog: &Catalog, whole: Whole) -> Self {
        let name = |((environment, source), span): ((usize, usize), Span)| {
            (
                catalog.environments[environment].name.clone(),
                catalog.sources[source].name.clone(),
                span,
            )
        };
        Self {
            spans: whole.spans.into_iter().map(name).collect(),
            refused: whole.refused,
        }
    }

    /// How many rows are in.
    #[must_use]
    pub fn rows(&self) -> u64 {
        self.spans.iter().map(|(_, _, span)| span.rows).sum()
    }
}

/// In words: a line for each source, and one for every kind of rows that were refused.
impl fmt::Display for Imported {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.spans.is_empty() {
            writeln!(f, "nothing was imported")?;
        }
        for (environment, source, span) in &self.spans {
            let Span {
                first, last, rows, ..
            } = span;
            let word = if *rows == 1 { "row" } else { "rows" };
            writeln!(f, "{environment} {source}: {rows} {word}, from {first} to {last}")?;
        }
        self.refused.fmt(f)
    }
}
