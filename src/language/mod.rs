//! The languages that people read: texts, numbers and times. What machines read is English and plain.

mod negotiate;
mod numbers;
mod times;

use std::{borrow::Cow, collections::HashMap};

use fluent_templates::{LanguageIdentifier, Loader, fluent_bundle::FluentValue, langid, static_loader};

static_loader! {
    static TEXTS = {
        locales: "./src/language/locales",
        fallback_language: "en",
        // Marks of reading direction around what is put in would show in terminals.
        customise: |bundle| bundle.set_use_isolating(false),
    };
}

const ENGLISH: LanguageIdentifier = langid!("en");
const PORTUGUESE: LanguageIdentifier = langid!("pt-BR");

/// A language that there are texts in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Language {
    /// English.
    #[default]
    English,
    /// Portuguese as in Brazil.
    Portuguese,
}

impl Language {
    /// All of them.
    pub const ALL: [Self; 2] = [Self::English, Self::Portuguese];

    /// Its tag, as in `lang="pt-BR"`.
    #[must_use]
    pub const fn tag(self) -> &'static str {
        match self {
            Self::English => "en",
            Self::Portuguese => "pt-BR",
        }
    }

    fn identifier(self) -> LanguageIdentifier {
        match self {
            Self::English => ENGLISH,
            Self::Portuguese => PORTUGUESE,
        }
    }

    /// Its own name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::English => "English",
            Self::Portuguese => "Português",
        }
    }

    /// A text.
    #[must_use]
    pub fn text(self, key: &str) -> String {
        TEXTS.lookup(&self.identifier(), key)
    }

    /// A text with what is put into it: numbers and times that are written already.
    #[must_use]
    pub fn text_with(self, key: &str, put_in: &[(&'static str, String)]) -> String {
        let put_in: HashMap<Cow<'static, str>, FluentValue<'_>> = put_in
            .iter()
            .map(|(name, text)| (Cow::Borrowed(*name), FluentValue::from(text.as_str())))
            .collect();
        TEXTS.lookup_with_args(&self.identifier(), key, &put_in)
    }

    /// A text about a number of things: `$count` chooses between one and many, `$number` is how it is written.
    #[must_use]
    pub fn counted(self, key: &str, count: u64) -> String {
        let put_in = HashMap::from([
            (Cow::Borrowed("count"), FluentValue::from(count)),
            (
                Cow::Borrowed("number"),
                FluentValue::from(self.integer(count.into())),
            ),
        ]);
        TEXTS.lookup_with_args(&self.identifier(), key, &put_in)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn keys(texts: &str) -> BTreeSet<&str> {
        let key = |line: &'_ str| !line.starts_with([' ', '#', '\t']) && line.contains('=');
        texts
            .lines()
            .filter(|line| key(line))
            .filter_map(|line| line.split_once('='))
            .map(|(key, _)| key.trim())
            .collect()
    }

    #[test]
    fn every_text_exists_in_every_language() {
        for [english, portuguese] in [
            [
                include_str!("locales/en/main.ftl"),
                include_str!("locales/pt-BR/main.ftl"),
            ],
            [
                include_str!("locales/en/page.ftl"),
                include_str!("locales/pt-BR/page.ftl"),
            ],
        ] {
            assert_eq!(keys(english), keys(portuguese));
            for key in keys(english) {
                for language in Language::ALL {
                    assert!(
                        !language.text(key).starts_with("Unknown localization"),
                        "{key} in {language:?}"
                    );
                }
            }
        }
    }

    #[test]
    fn a_text_takes_what_is_put_in() {
        let text = |language: Language| {
            language.text_with(
                "reason-loose",
                &[
                    ("projected", "7".to_owned()),
                    ("percent", "70".to_owned()),
                    ("value", "10".to_owned()),
                    ("limit", "30".to_owned()),
                ],
            )
        };
        assert!(text(Language::English).starts_with("10 would do"));
        assert!(text(Language::Portuguese).starts_with("10 bastariam"));
    }
}
