//! Holds a text against a pattern.

use crate::time::{Minute, MinuteFormat};

use super::{Captures, Part, Placeholder};

/// One text held against one pattern.
pub(super) struct Match<'p, 't> {
    pub prefix: &'p str,
    pub text: &'t [u8],
    /// How minutes are spelt; any text is one where absent.
    pub minute: Option<MinuteFormat>,
}

/// How the rest of a pattern fared from one position of the text.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Outcome {
    Matched,
    /// It does not match from here; it may from a later position.
    Failed,
    /// It matches neither from here nor from any later position.
    Hopeless,
}

/// The longest spelling of a minute in digits: milliseconds of the year 9999 have 15.
const LONGEST_MINUTE: usize = 15;

/// The longest number of a window in digits.
const LONGEST_NUMBER: usize = 19;

impl<'t> Match<'_, 't> {
    /// Matches the parts from a position to the end of the text.
    ///
    /// No adversarial text makes this slow. A free placeholder that cannot match from one position cannot match from a
    /// later one either: if it could, it would have from here, by taking the bytes between as well. So its failure
    /// ends the whole search, each part is tried from each position at most once, and the time is linear in the text.
    pub fn run(&self, parts: &[Part], at: usize, captures: &mut Captures<'t>) -> Outcome {
        let Some((part, rest)) = parts.split_first() else {
            return if at == self.text.len() {
                Outcome::Matched
            } else {
                Outcome::Failed
            };
        };
        match (part, self.minute) {
            (Part::Literal(literal), _) => self.literal(literal, rest, at, captures),
            (Part::Hole(Placeholder::Env), _) => self.literal(self.prefix, rest, at, captures),
            (Part::Hole(Placeholder::Minute), Some(format)) => self.minute(format, rest, at, captures),
            (Part::Hole(Placeholder::Window), _) => self.digits(rest, at, captures),
            (Part::Hole(placeholder), _) => self.free(*placeholder, rest, at, captures),
        }
    }

    fn literal(&self, literal: &str, rest: &[Part], at: usize, captures: &mut Captures<'t>) -> Outcome {
        if self.text[at..].starts_with(literal.as_bytes()) {
            self.run(rest, at + literal.len(), captures)
        } else {
            Outcome::Failed
        }
    }

    fn minute(&self, format: MinuteFormat, rest: &[Part], at: usize, captures: &mut Captures<'t>) -> Outcome {
        for end in at + 1..=self.text.len().min(at + LONGEST_MINUTE) {
            if !self.text[end - 1].is_ascii_digit() {
                break;
            }
            if let Ok(minute) = Minute::parse(&self.text[at..end], format) {
                match self.run(rest, end, captures) {
                    Outcome::Failed => {}
                    Outcome::Matched => {
                        captures.minute = Some((minute, at..end));
                        return Outcome::Matched;
                    }
                    Outcome::Hopeless => return Outcome::Hopeless,
                }
            }
        }
        Outcome::Failed
    }

    fn digits(&self, rest: &[Part], at: usize, captures: &mut Captures<'t>) -> Outcome {
        let digits = self.text[at..].iter().take(LONGEST_NUMBER);
        let digits = digits.take_while(|byte| byte.is_ascii_digit()).count();
        (at + 1..=at + digits)
            .map(|end| self.run(rest, end, captures))
            .find(|outcome| *outcome != Outcome::Failed)
            .unwrap_or(Outcome::Failed)
    }

    fn free(&self, hole: Placeholder, rest: &[Part], at: usize, captures: &mut Captures<'t>) -> Outcome {
        let end = if rest.is_empty() {
            Some(self.text.len()).filter(|end| *end > at)
        } else {
            (at + 1..=self.text.len())
                .map(|end| (end, self.run(rest, end, captures)))
                .find(|(_, outcome)| *outcome != Outcome::Failed)
                .and_then(|(end, outcome)| (outcome == Outcome::Matched).then_some(end))
        };
        let Some(end) = end else { return Outcome::Hopeless };
        let taken = Some(&self.text[at..end]);
        match hole {
            Placeholder::Endpoint => captures.endpoint = taken,
            Placeholder::Scope => captures.scope = taken,
            Placeholder::Identity => captures.identity = taken,
            Placeholder::Outcome => captures.outcome = taken,
            Placeholder::Env | Placeholder::Minute | Placeholder::Window | Placeholder::Ignored => {}
        }
        Outcome::Matched
    }
}
