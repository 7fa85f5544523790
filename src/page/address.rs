//! Where a page is, and the links that lead from it: each keeps what was chosen and changes one thing.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use url::form_urlencoded::Serializer;

use super::Filter;
use crate::language::Language;

/// What an id of the catalog does not hold.
const NOT_IN_IDS: &AsciiSet = &NON_ALPHANUMERIC.remove(b'.').remove(b'_').remove(b'-');

/// The address of a page.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Address {
    /// The limit whose page it is; the overview where absent.
    pub limit: Option<String>,
    /// The environment.
    pub environment: String,
    /// How many days, where they were chosen.
    pub days: Option<u32>,
    /// The first day or instant as it was written, where it was chosen.
    pub from: Option<String>,
    /// The last day, or the first instant after it, as it was written.
    pub to: Option<String>,
    /// The only group shown.
    pub group: Option<String>,
    /// The only limits shown.
    pub filter: Option<Filter>,
    /// The language, where it was chosen in the address.
    pub language: Option<Language>,
}

impl Address {
    /// What stands before the `?`.
    #[must_use]
    pub fn path(&self) -> String {
        let id = |id: &String| utf8_percent_encode(id, NOT_IN_IDS).to_string();
        (self.limit.as_ref()).map_or_else(|| "/".to_owned(), |limit| format!("/limits/{}", id(limit)))
    }

    /// The parameters, in order.
    pub(super) fn parameters(&self) -> Vec<(&'static str, String)> {
        let days = self.days.map(|days| days.to_string());
        let filter = self.filter.map(|filter| filter.word().to_owned());
        let language = self.language.map(|language| language.tag().to_owned());
        [
            (
                "env",
                Some(self.environment.clone()).filter(|name| !name.is_empty()),
            ),
            ("days", days),
            ("from", self.from.clone()),
            ("to", self.to.clone()),
            ("group", self.group.clone()),
            ("status", filter),
            ("lang", language),
        ]
        .into_iter()
        .filter_map(|(name, value)| Some((name, value?)))
        .collect()
    }

    /// Path and query.
    #[must_use]
    pub fn href(&self) -> String {
        let mut query = Serializer::new(String::new());
        query.extend_pairs(self.parameters());
        format!("{}?{}", self.path(), query.finish())
    }

    pub(super) fn environment(&self, environment: &str) -> Self {
        Self {
            environment: environment.to_owned(),
            ..self.clone()
        }
    }

    pub(super) fn days(&self, days: u32) -> Self {
        Self {
            days: Some(days),
            from: None,
            to: None,
            ..self.clone()
        }
    }

    pub(super) fn filter(&self, filter: Option<Filter>) -> Self {
        Self {
            filter,
            ..self.clone()
        }
    }

    pub(super) fn language(&self, language: Language) -> Self {
        Self {
            language: Some(language),
            ..self.clone()
        }
    }

    pub(super) fn limit(&self, id: &str) -> Self {
        Self {
            limit: Some(id.to_owned()),
            ..self.clone()
        }
    }

    pub(super) fn overview(&self) -> Self {
        Self {
            limit: None,
            ..self.clone()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_keeps_what_was_chosen() {
        let here = Address {
            environment: "prod".to_owned(),
            from: Some("2026-03-01T00:00:00-03:00".to_owned()),
            to: Some("2026-03-08".to_owned()),
            filter: Some(Filter::Over),
            ..Address::default()
        };
        assert_eq!(
            here.limit("send-otp.ip").href(),
            "/limits/send-otp.ip?env=prod&from=2026-03-01T00%3A00%3A00-03%3A00&to=2026-03-08&status=over"
        );
        assert_eq!(
            here.days(7).filter(None).language(Language::Portuguese).href(),
            "/?env=prod&days=7&lang=pt-BR"
        );
        assert_eq!(
            here.environment("a&b").days(7).href(),
            "/?env=a%26b&days=7&status=over"
        );
    }
}
