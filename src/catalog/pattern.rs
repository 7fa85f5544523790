//! Patterns of keys and fields: literals and placeholders, matched on raw bytes.

mod matching;
#[cfg(test)]
mod tests;

use std::{fmt, ops::Range};

use crate::time::{Minute, MinuteFormat};

use super::Refusal;
use matching::{Match, Outcome};

/// What a key or a field looks like, such as `{env}m:{endpoint}:{minute}`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern {
    text: String,
    parts: Vec<Part>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    Literal(String),
    Hole(Placeholder),
}

/// A part of a pattern that differs from key to key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Placeholder {
    /// `{env}`, the environment's prefix.
    Env,
    /// `{endpoint}`.
    Endpoint,
    /// `{scope}`.
    Scope,
    /// `{identity}`.
    Identity,
    /// `{outcome}`.
    Outcome,
    /// `{minute}`.
    Minute,
    /// `{window}`, the number of a window: decimal digits, ignored otherwise.
    Window,
    /// `{_}`, a part to ignore; the only one that may occur more than once.
    Ignored,
}

impl Placeholder {
    const ALL: [Self; 8] = [
        Self::Env,
        Self::Endpoint,
        Self::Scope,
        Self::Identity,
        Self::Outcome,
        Self::Minute,
        Self::Window,
        Self::Ignored,
    ];

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Env => "env",
            Self::Endpoint => "endpoint",
            Self::Scope => "scope",
            Self::Identity => "identity",
            Self::Outcome => "outcome",
            Self::Minute => "minute",
            Self::Window => "window",
            Self::Ignored => "_",
        }
    }
}

impl fmt::Display for Placeholder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{{{}}}", self.name())
    }
}

/// What the placeholders of a pattern took from one text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Captures<'t> {
    /// What `{endpoint}` took.
    pub endpoint: Option<&'t [u8]>,
    /// What `{scope}` took.
    pub scope: Option<&'t [u8]>,
    /// What `{identity}` took.
    pub identity: Option<&'t [u8]>,
    /// What `{outcome}` took.
    pub outcome: Option<&'t [u8]>,
    /// What `{minute}` took, and where in the text it stood.
    pub minute: Option<(Minute, Range<usize>)>,
}

impl Pattern {
    /// Reads a pattern.
    ///
    /// # Errors
    /// An unknown, repeated or unclosed placeholder, two of them with nothing between, or an empty text.
    pub fn parse(text: &str) -> Result<Self, Refusal> {
        let mut parts = Vec::new();
        let mut rest = text;
        while !rest.is_empty() {
            let brace = rest.find(['{', '}']).unwrap_or(rest.len());
            let (literal, tail) = rest.split_at(brace);
            if !literal.is_empty() {
                parts.push(Part::Literal(literal.to_owned()));
            }
            if tail.is_empty() {
                break;
            }
            let Some(end) = tail
                .find('}')
                .filter(|end| *end > 0 && !tail[1..*end].contains('{'))
            else {
                return Err(Refusal::new(
                    format!("a brace without its partner at `{tail}`"),
                    "write placeholders as {name}; other text holds no braces",
                ));
            };
            let (hole, after) = tail.split_at(end + 1);
            let placeholder = Placeholder::ALL
                .into_iter()
                .find(|known| known.to_string() == hole);
            let Some(placeholder) = placeholder else {
                return Err(Refusal::new(
                    format!("`{hole}` is no placeholder"),
                    "write one of {env} {endpoint} {scope} {identity} {outcome} {minute} {window}, or {_} for a part to ignore",
                ));
            };
            if placeholder != Placeholder::Ignored && parts.contains(&Part::Hole(placeholder)) {
                return Err(Refusal::new(
                    format!("`{hole}` stands twice"),
                    "write it once, and {_} for a part to ignore",
                ));
            }
            if let Some(Part::Hole(before)) = parts.last()
                && *before != Placeholder::Env
                && placeholder != Placeholder::Env
            {
                return Err(Refusal::new(
                    format!("nothing stands between `{before}` and `{hole}`"),
                    "write the separator that the keys have there",
                ));
            }
            parts.push(Part::Hole(placeholder));
            rest = after;
        }
        if parts.is_empty() {
            return Err(Refusal::new(
                "the pattern is empty",
                "write what the keys look like, with placeholders",
            ));
        }
        Ok(Self {
            text: text.to_owned(),
            parts,
        })
    }

    /// Whether a placeholder stands in it.
    #[must_use]
    pub fn has(&self, placeholder: Placeholder) -> bool {
        self.parts.contains(&Part::Hole(placeholder))
    }

    /// Its placeholders, left to right.
    pub fn placeholders(&self) -> impl Iterator<Item = Placeholder> + '_ {
        self.parts.iter().filter_map(|part| match part {
            Part::Hole(placeholder) => Some(*placeholder),
            Part::Literal(_) => None,
        })
    }

    /// Splits a text. `{env}` takes the prefix, `{minute}` a minute spelt as told, `{window}` digits, every other placeholder the
    /// shortest text of at least one byte that lets the whole pattern match, left to right.
    #[must_use]
    pub fn captures<'t>(&self, prefix: &str, text: &'t [u8], minute: MinuteFormat) -> Option<Captures<'t>> {
        let mut captures = Captures::default();
        let matched = Match {
            prefix,
            text,
            minute: Some(minute),
        }
        .run(&self.parts, 0, &mut captures);
        (matched == Outcome::Matched).then_some(captures)
    }

    /// Whether a text would fit if any text were a minute: then its minute alone is to blame.
    #[must_use]
    pub fn fits_but_for_minute(&self, prefix: &str, text: &[u8]) -> bool {
        let attempt = Match {
            prefix,
            text,
            minute: None,
        };
        attempt.run(&self.parts, 0, &mut Captures::default()) == Outcome::Matched
    }

    /// The Redis glob of all keys of one prefix that may match. Glob characters in literals and prefix are escaped.
    #[must_use]
    pub fn glob(&self, prefix: &str) -> String {
        let mut glob = String::new();
        for part in &self.parts {
            let literal = match part {
                Part::Literal(text) => text,
                Part::Hole(Placeholder::Env) => prefix,
                Part::Hole(_) => {
                    glob.push('*');
                    continue;
                }
            };
            for c in literal.chars() {
                if matches!(c, '*' | '?' | '[' | ']' | '^' | '\\') {
                    glob.push('\\');
                }
                glob.push(c);
            }
        }
        glob
    }

    /// Fills in prefix, endpoint and minute. The catalog lets only patterns with no other placeholder be filled in.
    #[must_use]
    pub fn render(&self, prefix: &str, endpoint: &str, minute: &str) -> String {
        self.parts
            .iter()
            .map(|part| match part {
                Part::Literal(text) => text,
                Part::Hole(Placeholder::Env) => prefix,
                Part::Hole(Placeholder::Endpoint) => endpoint,
                Part::Hole(Placeholder::Minute) => minute,
                Part::Hole(_) => "",
            })
            .collect()
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}
