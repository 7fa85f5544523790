//! Reads one table of the file key by key, and tells what is missing, mistaken or unknown.

use std::{borrow::Cow, collections::BTreeMap};

use toml::{
    Spanned,
    de::{DeTable, DeValue},
};

use super::{
    Refusal,
    problem::{Located, Place, Problems},
};

/// A table of the file that is being read.
pub(super) struct Section<'i> {
    /// How it is called in messages, such as `[redis]`.
    title: String,
    /// Where it starts.
    pub place: Place,
    entries: DeTable<'i>,
    known: Vec<&'static str>,
    /// The known keys that were there.
    pub given: Vec<&'static str>,
}

/// What a value of the file can be read as.
pub(super) trait FromValue: Sized {
    /// Reads it, or notes what is wrong with it.
    fn from_value(value: Spanned<DeValue<'_>>, problems: &mut Problems) -> Option<Self>;
}

impl<'i> Section<'i> {
    /// The table that a value is; anything else is noted.
    pub fn new(title: &str, value: Spanned<DeValue<'i>>, problems: &mut Problems) -> Option<Self> {
        let place = Place::Span(value.span());
        let DeValue::Table(entries) = value.into_inner() else {
            problems.add(
                &place,
                format!("{title} is a table"),
                format!("write {title} on a line of its own"),
            );
            return None;
        };
        Some(Self {
            title: title.to_owned(),
            place,
            entries,
            known: Vec::new(),
            given: Vec::new(),
        })
    }

    /// The whole file.
    pub fn root(entries: DeTable<'i>) -> Self {
        Self {
            title: "the catalog".to_owned(),
            place: Place::File,
            entries,
            known: Vec::new(),
            given: Vec::new(),
        }
    }

    /// A key that may be left out.
    pub fn optional<T: FromValue>(
        &mut self,
        key: &'static str,
        problems: &mut Problems,
    ) -> Option<Located<T>> {
        let value = self.take(key)?;
        let place = Place::Span(value.span());
        T::from_value(value, problems).map(|value| Located { value, place })
    }

    /// A key that may be left out, and where it was given does not matter.
    pub fn or<T: FromValue>(&mut self, key: &'static str, default: T, problems: &mut Problems) -> T {
        self.optional(key, problems)
            .map_or(default, |located| located.value)
    }

    /// A key that must be there.
    pub fn required<T: FromValue>(
        &mut self,
        key: &'static str,
        example: &str,
        problems: &mut Problems,
    ) -> Option<Located<T>> {
        if !self.entries.contains_key(key) {
            problems.add(
                &self.place,
                format!("{} has no `{key}`", self.title),
                format!("write {key} = {example}"),
            );
        }
        self.optional(key, problems)
    }

    /// The table under a key, if there is one.
    pub fn table(&mut self, key: &'static str, problems: &mut Problems) -> Option<Section<'i>> {
        let title = self.title_of(key);
        self.take(key)
            .and_then(|value| Section::new(&title, value, problems))
    }

    /// How the table under a key is called.
    fn title_of(&self, key: &str) -> String {
        let own = self
            .title
            .strip_prefix('[')
            .and_then(|title| title.strip_suffix(']'));
        own.map_or_else(|| format!("[{key}]"), |own| format!("[{own}.{key}]"))
    }

    /// The tables under a key that may stand several times.
    pub fn tables(&mut self, key: &'static str, title: &str, problems: &mut Problems) -> Vec<Section<'i>> {
        let Some(value) = self.take(key) else {
            return Vec::new();
        };
        let place = Place::Span(value.span());
        let DeValue::Array(entries) = value.into_inner() else {
            problems.add(
                &place,
                format!("{title} stands in double brackets"),
                format!("write {title}"),
            );
            return Vec::new();
        };
        entries
            .into_iter()
            .filter_map(|value| Section::new(title, value, problems))
            .collect()
    }

    /// The tables under a key by their own names.
    pub fn named_tables(
        &mut self,
        key: &'static str,
        problems: &mut Problems,
    ) -> Vec<(Located<String>, Section<'i>)> {
        let Some(mut section) = self.table(key, problems) else {
            return Vec::new();
        };
        let entries = std::mem::take(&mut section.entries);
        let read = |(name, value): (Spanned<Cow<'_, str>>, _)| {
            let name = Located {
                place: Place::Span(name.span()),
                value: name.into_inner().into_owned(),
            };
            let title = section.title_of(&name.value);
            Some((name, Section::new(&title, value, problems)?))
        };
        entries.into_iter().filter_map(read).collect()
    }

    /// All entries, whatever their keys: texts by name.
    pub fn texts(self, example: &str, problems: &mut Problems) -> BTreeMap<String, String> {
        let read = |(name, value): (Spanned<Cow<'_, str>>, Spanned<DeValue<'_>>)| {
            if value.get_ref().is_table() {
                problems.add(
                    &Place::Span(name.span()),
                    format!("`{}` is a table in place of a text", name.get_ref()),
                    format!("write a name with dots or colons in quotes: \"a.b:c\" = {example}"),
                );
                return None;
            }
            Some((
                name.into_inner().into_owned(),
                String::from_value(value, problems)?,
            ))
        };
        self.entries.into_iter().filter_map(read).collect()
    }

    /// Whether a known key was there, readable or not.
    pub fn had(&self, key: &'static str) -> bool {
        self.given.contains(&key)
    }

    fn take(&mut self, key: &'static str) -> Option<Spanned<DeValue<'i>>> {
        self.known.push(key);
        let value = self.entries.remove(key);
        self.given.extend(value.is_some().then_some(key));
        value
    }

    /// Notes every key that nobody asked for.
    pub fn finish(self, problems: &mut Problems) {
        for (key, _) in self.entries {
            let place = Place::Span(key.span());
            problems.add(
                &place,
                format!("{} knows no key `{}`", self.title, key.get_ref()),
                format!("its keys are {}", self.known.join(", ")),
            );
        }
    }
}

/// Reads a text and then its meaning.
pub(super) fn text_as<T>(
    value: &Spanned<DeValue<'_>>,
    example: &str,
    problems: &mut Problems,
    parse: impl FnOnce(&str) -> Result<T, Refusal>,
) -> Option<T> {
    let place = Place::Span(value.span());
    let parsed = match value.get_ref() {
        DeValue::String(text) => parse(text),
        other => Err(Refusal::new(
            format!("{} in place of a text", kind(other)),
            format!("write it as {example}"),
        )),
    };
    parsed.map_err(|refusal| problems.refused(&place, refusal)).ok()
}

/// What a value is, in words.
pub(super) fn kind(value: &DeValue<'_>) -> String {
    match value {
        DeValue::String(_) => "a text".to_owned(),
        DeValue::Integer(number) => format!("the number {number}"),
        DeValue::Float(number) => format!("the number {number}"),
        DeValue::Boolean(value) => value.to_string(),
        DeValue::Datetime(_) => "a time".to_owned(),
        DeValue::Array(_) => "a list".to_owned(),
        DeValue::Table(_) => "a table".to_owned(),
    }
}
