//! The kinds of values that keys of the catalog have.

use chrono::{DateTime, TimeDelta, Utc};
use chrono_tz::Tz;
use toml::{Spanned, de::DeValue};

use crate::time::{Algorithm, MinuteFormat, Window};

use super::{
    Pattern, Refusal, Schedule,
    durations::duration,
    problem::{Located, Place, Problems},
    section::{FromValue, kind, text_as},
};

/// Finds a word in a table of words.
pub(super) fn word<T: Copy>(text: &str, what: &str, words: &[(&str, T)]) -> Result<T, Refusal> {
    words
        .iter()
        .find(|(word, _)| *word == text)
        .map(|(_, value)| *value)
        .ok_or_else(|| {
            let words: Vec<String> = words.iter().map(|(word, _)| format!("\"{word}\"")).collect();
            Refusal::new(
                format!("`{text}` is no {what}"),
                format!("write {}", words.join(" or ")),
            )
        })
}

impl FromValue for String {
    fn from_value(value: Spanned<DeValue<'_>>, problems: &mut Problems) -> Option<Self> {
        text_as(&value, "text in quotes", problems, |text| {
            if text.trim() == text && !text.is_empty() && !text.contains(char::is_control) {
                Ok(text.to_owned())
            } else {
                Err(Refusal::new(
                    "the text is empty, has blanks around it or holds control characters",
                    "write it plainly, or leave the key out",
                ))
            }
        })
    }
}

impl FromValue for bool {
    fn from_value(value: Spanned<DeValue<'_>>, problems: &mut Problems) -> Option<Self> {
        let boolean = value.get_ref().as_bool();
        if boolean.is_none() {
            let what = format!("{} in place of true or false", kind(value.get_ref()));
            problems.add(
                &Place::Span(value.span()),
                what,
                "write true or false, without quotes",
            );
        }
        boolean
    }
}

/// A whole number above 0: no count, limit or number of days in the catalog may be 0.
impl FromValue for u64 {
    fn from_value(value: Spanned<DeValue<'_>>, problems: &mut Problems) -> Option<Self> {
        let (what, remedy) = match value.get_ref() {
            DeValue::Integer(number) => match i64::from_str_radix(number.as_str(), number.radix()) {
                Ok(positive @ 1..) => return Some(positive.unsigned_abs()),
                Ok(_) => (
                    format!("{number} is not above 0"),
                    "write a whole number from 1 on".to_owned(),
                ),
                Err(_) => (
                    format!("{number} is too large"),
                    "write a whole number below 2^63".to_owned(),
                ),
            },
            DeValue::Float(number) => (
                format!("{number} is no whole number"),
                "write a whole number from 1 on".to_owned(),
            ),
            DeValue::String(text) if text.parse::<i64>().is_ok_and(|number| number > 0) => (
                format!("\"{text}\" is a text"),
                format!("write {text} without quotes"),
            ),
            other => {
                let what = format!("{} in place of a number", kind(other));
                (what, "write a whole number from 1 on".to_owned())
            }
        };
        problems.add(&Place::Span(value.span()), what, remedy);
        None
    }
}

impl FromValue for u32 {
    fn from_value(value: Spanned<DeValue<'_>>, problems: &mut Problems) -> Option<Self> {
        // A hundred years of days; no setting of this width means anything above it.
        const MOST: u32 = 36_500;
        let place = Place::Span(value.span());
        let number = u64::from_value(value, problems)?;
        let fitting = Self::try_from(number).ok().filter(|number| *number <= MOST);
        if fitting.is_none() {
            problems.add(
                &place,
                format!("{number} is too large"),
                format!("write at most {MOST}"),
            );
        }
        fitting
    }
}

impl FromValue for TimeDelta {
    fn from_value(value: Spanned<DeValue<'_>>, problems: &mut Problems) -> Option<Self> {
        text_as(
            &value,
            "\"15m\", a number and a unit in quotes",
            problems,
            duration,
        )
    }
}

impl FromValue for Schedule {
    fn from_value(value: Spanned<DeValue<'_>>, problems: &mut Problems) -> Option<Self> {
        text_as(&value, "\"0 */5 * * * *\"", problems, Self::parse)
    }
}

impl FromValue for Pattern {
    fn from_value(value: Spanned<DeValue<'_>>, problems: &mut Problems) -> Option<Self> {
        text_as(&value, "\"{env}m:{endpoint}:{minute}\"", problems, Self::parse)
    }
}

impl FromValue for Window {
    fn from_value(value: Spanned<DeValue<'_>>, problems: &mut Problems) -> Option<Self> {
        text_as(
            &value,
            "\"15m\", a number and a unit in quotes",
            problems,
            |text| {
                Self::parse(text)
                    .map_err(|error| Refusal::new(format!("`{text}` is no window"), error.to_string()))
            },
        )
    }
}

impl FromValue for Algorithm {
    fn from_value(value: Spanned<DeValue<'_>>, problems: &mut Problems) -> Option<Self> {
        let words = [
            ("anchored", Self::Anchored),
            ("sliding", Self::Sliding),
            ("fixed", Self::Fixed),
        ];
        text_as(&value, "\"anchored\"", problems, |text| {
            word(text, "algorithm", &words)
        })
    }
}

impl FromValue for MinuteFormat {
    fn from_value(value: Spanned<DeValue<'_>>, problems: &mut Problems) -> Option<Self> {
        let words = [
            ("epoch-s", Self::EpochSeconds),
            ("epoch-ms", Self::EpochMillis),
            ("epoch-min", Self::EpochMinutes),
        ];
        text_as(&value, "\"epoch-s\"", problems, |text| {
            word(text, "spelling of a minute", &words).map_err(|refusal| {
                let remedy = format!("{}; leave it out for 12 digits, YYYYMMDDHHmm", refusal.remedy);
                Refusal::new(refusal.what, remedy)
            })
        })
    }
}

impl FromValue for Tz {
    fn from_value(value: Spanned<DeValue<'_>>, problems: &mut Problems) -> Option<Self> {
        text_as(&value, "\"America/Sao_Paulo\"", problems, |text| {
            text.parse().map_err(|_| {
                let remedy = "write a name of the IANA database, such as \"America/Sao_Paulo\" or \"UTC\"";
                Refusal::new(format!("`{text}` is no time zone"), remedy)
            })
        })
    }
}

impl FromValue for DateTime<Utc> {
    fn from_value(value: Spanned<DeValue<'_>>, problems: &mut Problems) -> Option<Self> {
        let place = Place::Span(value.span());
        let text = match value.get_ref() {
            DeValue::String(text) => text.to_string(),
            DeValue::Datetime(time) => time.to_string(),
            other => kind(other),
        };
        let parsed = DateTime::parse_from_rfc3339(&text).ok().map(|time| time.to_utc());
        if parsed.is_none() {
            let remedy = "write date, time and offset: \"2026-05-02T13:00:00Z\"";
            problems.add(&place, format!("`{text}` is no instant"), remedy);
        }
        parsed
    }
}

/// A list, each element with its place.
impl<T: FromValue> FromValue for Vec<Located<T>> {
    fn from_value(value: Spanned<DeValue<'_>>, problems: &mut Problems) -> Option<Self> {
        let place = Place::Span(value.span());
        match value.into_inner() {
            DeValue::Array(list) if !list.is_empty() => {
                // Read all of them before giving up, so that every bad one is told.
                let read: Vec<Option<Located<T>>> = list
                    .into_iter()
                    .map(|value| Located::from_value(value, problems))
                    .collect();
                read.into_iter().collect()
            }
            DeValue::Array(_) => {
                problems.add(
                    &place,
                    "the list is empty",
                    "name at least one, or leave the key out",
                );
                None
            }
            other => {
                problems.add(
                    &place,
                    format!("{} in place of a list", kind(&other)),
                    "write [\"…\", \"…\"]",
                );
                None
            }
        }
    }
}

impl<T: FromValue> FromValue for Located<T> {
    fn from_value(value: Spanned<DeValue<'_>>, problems: &mut Problems) -> Option<Self> {
        let place = Place::Span(value.span());
        Some(Self {
            value: T::from_value(value, problems)?,
            place,
        })
    }
}

/// One text, or a list of them.
pub(super) struct OneOrMore(pub Vec<Located<String>>);

impl FromValue for OneOrMore {
    fn from_value(value: Spanned<DeValue<'_>>, problems: &mut Problems) -> Option<Self> {
        if value.get_ref().is_array() {
            Vec::from_value(value, problems).map(Self)
        } else {
            Located::from_value(value, problems).map(|one| Self(vec![one]))
        }
    }
}

/// One value for all environments, or a table of values by environment.
pub(super) enum OneOrEach<T> {
    One(T),
    Each(Vec<(Located<String>, T)>),
}

impl<T: FromValue> FromValue for OneOrEach<T> {
    fn from_value(value: Spanned<DeValue<'_>>, problems: &mut Problems) -> Option<Self> {
        let place = Place::Span(value.span());
        let DeValue::Table(table) = value.get_ref() else {
            return T::from_value(value, problems).map(Self::One);
        };
        if table.is_empty() {
            problems.add(
                &place,
                "the table names no environment",
                "write { prod = …, staging = … }",
            );
            return None;
        }
        let mut each = Vec::new();
        for (name, value) in table.clone() {
            let name = Located {
                place: Place::Span(name.span()),
                value: name.get_ref().to_string(),
            };
            each.push(T::from_value(value, problems).map(|value| (name, value)));
        }
        each.into_iter().collect::<Option<Vec<_>>>().map(Self::Each)
    }
}
