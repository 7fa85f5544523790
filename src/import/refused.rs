//! Rows that were refused, by kind.

use std::{collections::HashMap, fmt};

use crate::catalog::Refusal;

/// Different kinds that are listed; the rest is summed.
const LISTED: usize = 100;

/// Rows that were refused for one reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kind {
    /// Why, and what to do.
    pub reason: String,
    /// The first line of them.
    pub first_line: u64,
    /// How many.
    pub rows: u64,
}

/// The refused rows of one file. What a row held never appears but for names: it may be personal.
#[derive(Clone, Debug, Default)]
pub struct Refused {
    kinds: Vec<Kind>,
    places: HashMap<String, usize>,
    unlisted: u64,
}

impl Refused {
    pub(super) fn add(&mut self, line: u64, refusal: &Refusal) {
        let reason = refusal.to_string();
        if let Some(place) = self.places.get(&reason) {
            self.kinds[*place].rows += 1;
        } else if self.kinds.len() < LISTED {
            self.places.insert(reason.clone(), self.kinds.len());
            self.kinds.push(Kind {
                reason,
                first_line: line,
                rows: 1,
            });
        } else {
            self.unlisted += 1;
        }
    }

    /// Whether there are none.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.kinds.is_empty()
    }
}

/// In words: a line for each kind, in the order of the file.
impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for kind in &self.kinds {
            let Kind {
                reason,
                first_line,
                rows,
            } = kind;
            writeln!(f, "refused line {first_line}: {reason} ({rows})")?;
        }
        if self.unlisted > 0 {
            writeln!(f, "refused for other reasons ({})", self.unlisted)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_listed_once_and_bounded() {
        let mut refused = Refused::default();
        for line in 2..5 {
            refused.add(line, &Refusal::new("odd", "mend it"));
        }
        for line in 5..5 + 150 {
            refused.add(line, &Refusal::new(format!("odd {line}"), "mend it"));
        }
        let text = refused.to_string();
        assert!(text.starts_with("refused line 2: odd: mend it (3)\nrefused line 5: odd 5: mend it (1)\n"));
        // 99 of the 150 found room beside the first.
        assert!(text.ends_with("refused for other reasons (51)\n"), "{text}");
    }
}
