//! Patterns of keys and fields: literals and placeholders, matched on raw bytes.

use std::{fmt, ops::Range};

use crate::time::{Minute, MinuteFormat};

use super::Refusal;

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
    /// `{_}`, a part to ignore; the only one that may occur more than once.
    Ignored,
}

impl Placeholder {
    const ALL: [Self; 7] = [
        Self::Env,
        Self::Endpoint,
        Self::Scope,
        Self::Identity,
        Self::Outcome,
        Self::Minute,
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
                    "write one of {env} {endpoint} {scope} {identity} {outcome} {minute}, or {_} for a part to ignore",
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

    /// Splits a text. `{env}` takes the prefix, `{minute}` a minute spelt as told, every other placeholder the
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

/// One text held against one pattern.
struct Match<'p, 't> {
    prefix: &'p str,
    text: &'t [u8],
    /// How minutes are spelt; any text is one where absent.
    minute: Option<MinuteFormat>,
}

/// How the rest of a pattern fared from one position of the text.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Outcome {
    Matched,
    /// It does not match from here; it may from a later position.
    Failed,
    /// It matches neither from here nor from any later position.
    Hopeless,
}

/// The longest spelling of a minute in digits: milliseconds of the year 9999 have 15.
const LONGEST_MINUTE: usize = 15;

impl<'t> Match<'_, 't> {
    /// Matches the parts from a position to the end of the text.
    ///
    /// No adversarial text makes this slow. A free placeholder that cannot match from one position cannot match from a
    /// later one either: if it could, it would have from here, by taking the bytes between as well. So its failure
    /// ends the whole search, each part is tried from each position at most once, and the time is linear in the text.
    fn run(&self, parts: &[Part], at: usize, captures: &mut Captures<'t>) -> Outcome {
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
            Placeholder::Env | Placeholder::Minute | Placeholder::Ignored => {}
        }
        Outcome::Matched
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const COMPACT: MinuteFormat = MinuteFormat::Compact;

    fn pattern(text: &str) -> Pattern {
        Pattern::parse(text).unwrap()
    }

    /// What the placeholders took, as text, in the order endpoint, scope, identity, outcome, minute.
    fn parts(of: &str, prefix: &str, text: &str) -> Option<String> {
        let captures = pattern(of).captures(prefix, text.as_bytes(), COMPACT)?;
        let text = |part: Option<&[u8]>| part.map(|bytes| String::from_utf8(bytes.to_vec()).unwrap());
        let all = [
            captures.endpoint,
            captures.scope,
            captures.identity,
            captures.outcome,
        ]
        .map(text);
        let minute = captures.minute.map(|(minute, _)| minute.text(COMPACT));
        Some(
            all.into_iter()
                .chain([minute])
                .flatten()
                .collect::<Vec<_>>()
                .join(" | "),
        )
    }

    fn split(of: &str, text: &str) -> Option<String> {
        parts(of, "olp:", text)
    }

    #[test]
    fn each_placeholder_takes_the_shortest_text_and_the_last_keeps_the_rest() {
        let s = |text: &str| Some(text.to_owned());
        assert_eq!(
            split("{endpoint}:{outcome}", "twilio:error:429"),
            s("twilio | error:429")
        );
        assert_eq!(
            split("{scope}:{identity}", "ip:2001:db8::1"),
            s("ip | 2001:db8::1")
        );
        let gateway = "{env}m:{endpoint}:{minute}";
        assert_eq!(
            split(gateway, "olp:m:send-otp:202503101205"),
            s("send-otp | 202503101205")
        );
        assert_eq!(
            split(gateway, "olp:m:v1:messages:send:202503101205"),
            s("v1:messages:send | 202503101205")
        );
        assert_eq!(
            split(
                "wa:metrics:{identity}:{minute}",
                "wa:metrics:5511999990000:device2:202503101205"
            ),
            s("5511999990000:device2 | 202503101205")
        );
        assert_eq!(
            split(
                "{env}metrics:{endpoint}:{identity}:{minute}",
                "olp:metrics:msg:esc:9:202503101205"
            ),
            s("msg | esc:9 | 202503101205")
        );
        // A minute inside: the first text that is one and lets the rest match.
        assert_eq!(
            split("{endpoint}:{minute}:{identity}", "a:b:202503101205:202503101206"),
            s("a:b | 202503101206 | 202503101205")
        );
    }

    #[test]
    fn a_text_that_does_not_fit_is_told_from_one_with_an_odd_minute() {
        let gateway = pattern("{env}m:{endpoint}:{minute}");
        for (text, but_for_minute) in [
            ("olp:m:x:20250310120", true),
            ("olp:m:x: 202503101205", true),
            ("olp:m:x:2025031012059", true),
            ("olp:m:x:", false),
            ("olp:m::202503101205", false),
            ("olp:n:x:202503101205", false),
            ("olp-stg:m:x:202503101205", false),
            ("", false),
        ] {
            assert_eq!(
                gateway.captures("olp:", text.as_bytes(), COMPACT),
                None,
                "{text:?}"
            );
            assert_eq!(
                gateway.fits_but_for_minute("olp:", text.as_bytes()),
                but_for_minute,
                "{text:?}"
            );
        }
    }

    #[test]
    fn bytes_that_are_no_utf8_are_captured_as_they_are() {
        let captures =
            pattern("{env}m:{endpoint}:{minute}").captures("olp:", b"olp:m:\xc3\x28:202503101205", COMPACT);
        let captures = captures.unwrap();
        assert_eq!(captures.endpoint, Some(&b"\xc3\x28"[..]));
        assert_eq!(captures.minute.unwrap().1, 9..21);
    }

    #[test]
    fn epoch_minutes_are_found_at_any_length() {
        // 2024-02-29T12:00Z is minute 28486800.
        let captures = pattern("{endpoint}:{minute}")
            .captures("", b"a:28486800", MinuteFormat::EpochMinutes)
            .unwrap();
        assert_eq!(captures.minute, Some((Minute::from_index(28_486_800), 2..10)));
        let captures =
            pattern("{minute}-{endpoint}").captures("", b"1709208059000-a", MinuteFormat::EpochMillis);
        assert_eq!(
            captures.unwrap().minute.unwrap().0,
            Minute::from_index(28_486_800)
        );
    }

    #[test]
    fn globs_escape_what_redis_would_take_for_a_wildcard() {
        let key = pattern("{env}ratelimit?:{identity}");
        assert_eq!(key.glob("acme[1]:"), r"acme\[1\]:ratelimit\?:*");
        assert_eq!(pattern(r"a^b\c*{minute}").glob(""), r"a\^b\\c\**");
    }

    #[test]
    fn bad_patterns_are_refused_with_the_part() {
        let refused = |text: &str| Pattern::parse(text).unwrap_err().to_string();
        assert!(refused("{env}m:{tenant}").contains("`{tenant}`"));
        assert!(refused("{Env}").contains("`{Env}`"));
        assert!(refused("{}").contains("`{}`"));
        assert!(refused("{endpoint}:{endpoint}").contains("`{endpoint}` stands twice"));
        assert!(refused("{scope}{identity}").contains("between `{scope}` and `{identity}`"));
        assert!(refused("{_}{_}").contains("between `{_}` and `{_}`"));
        assert!(refused("m:{endpoint").contains("`{endpoint`"));
        assert!(refused("m:{end{point}").contains("`{end{point}`"));
        assert!(refused("m:}x").contains("`}x`"));
        assert!(refused("").contains("empty"));
        assert!(Pattern::parse("{_}:{env}{endpoint}:{_}").is_ok());
    }

    #[test]
    fn long_adversarial_texts_take_linear_time() {
        let many = pattern("{_}:{_}:{_}:{_}:{_}:{_}:{_}:{_}:{_}:{_}:{endpoint}:x{minute}");
        let colons = ":".repeat(100_000);
        assert_eq!(many.captures("", colons.as_bytes(), COMPACT), None);
        let minutes = "a:202503101205:".repeat(10_000);
        assert_eq!(
            pattern("{_}:{minute}:{endpoint}x").captures("", minutes.as_bytes(), COMPACT),
            None
        );
    }

    /// All ways to split a text, shortest first, by brute force.
    fn brute<'t>(parts: &[Part], prefix: &str, text: &'t [u8]) -> Option<Vec<&'t [u8]>> {
        let Some((part, rest)) = parts.split_first() else {
            return text.is_empty().then(Vec::new);
        };
        (0..=text.len()).find_map(|end| {
            let (taken, tail) = text.split_at(end);
            let fits = match part {
                Part::Literal(literal) => literal.as_bytes() == taken,
                Part::Hole(Placeholder::Env) => prefix.as_bytes() == taken,
                Part::Hole(Placeholder::Minute) => Minute::parse(taken, MinuteFormat::EpochMinutes).is_ok(),
                Part::Hole(_) => end > 0,
            };
            let mut all = fits.then(|| brute(rest, prefix, tail)).flatten()?;
            all.insert(0, taken);
            Some(all)
        })
    }

    proptest! {
        #[test]
        fn filled_in_patterns_give_their_parts_back(
            endpoint in "[a-z0-9./-]{1,12}",
            scope in "[a-z_]{1,8}",
            identity in "[a-z0-9:-]{1,20}",
            minute in 0_i64..4_000_000_000,
        ) {
            let minute = Minute::from_index(minute);
            let key = pattern("{env}m:{endpoint}:{minute}");
            let text = key.render("olp:", &endpoint, &minute.text(COMPACT));
            let captures = key.captures("olp:", text.as_bytes(), COMPACT).unwrap();
            prop_assert_eq!(captures.endpoint, Some(endpoint.as_bytes()));
            prop_assert_eq!(captures.minute.unwrap().0, minute);

            let field = format!("{scope}:{identity}");
            let captures = pattern("{scope}:{identity}").captures("olp:", field.as_bytes(), COMPACT).unwrap();
            prop_assert_eq!(captures.scope, Some(scope.as_bytes()));
            prop_assert_eq!(captures.identity, Some(identity.as_bytes()));
        }

        #[test]
        fn the_first_split_by_brute_force_is_the_one(
            of in "(a|:|\\{env\\})?(\\{_\\}|\\{endpoint\\})(:|a|b:)(\\{minute\\}|\\{identity\\})(:|a)?(\\{outcome\\}b?)?",
            text in "[ab:1]{0,12}",
        ) {
            let Ok(pattern) = Pattern::parse(&of) else { return Ok(()) };
            let found = pattern.captures(":", text.as_bytes(), MinuteFormat::EpochMinutes);
            let expected = brute(&pattern.parts, ":", text.as_bytes());
            prop_assert_eq!(found.is_some(), expected.is_some());
            if let (Some(found), Some(expected)) = (found, expected) {
                let taken = |hole| {
                    pattern.parts.iter().position(|part| *part == Part::Hole(hole)).map(|at| expected[at])
                };
                prop_assert_eq!(found.endpoint, taken(Placeholder::Endpoint));
                prop_assert_eq!(found.identity, taken(Placeholder::Identity));
                prop_assert_eq!(found.outcome, taken(Placeholder::Outcome));
                let minute = found.minute.map(|(_, range)| &text.as_bytes()[range]);
                prop_assert_eq!(minute, taken(Placeholder::Minute));
            }
        }
    }
}
