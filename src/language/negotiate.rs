//! Which language somebody reads.

use fluent_langneg::{NegotiationStrategy, negotiate_languages};
use fluent_templates::LanguageIdentifier;

use super::Language;

impl Language {
    /// The language with a tag.
    #[must_use]
    pub fn of_tag(tag: &str) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|language| language.tag().eq_ignore_ascii_case(tag))
    }

    /// The language that an `Accept-Language` header likes best; English where it likes none.
    #[must_use]
    pub fn negotiate(accepted: &str) -> Self {
        let wanted = liked(accepted);
        let available = Self::ALL.map(Self::identifier);
        let found = negotiate_languages(&wanted, &available, None, NegotiationStrategy::Lookup);
        let best = found.first();
        Self::ALL
            .into_iter()
            .find(|language| best.is_some_and(|best| **best == language.identifier()))
            .unwrap_or_default()
    }
}

/// The languages of a header, best first: by weight, and among equals as they stand.
fn liked(accepted: &str) -> Vec<LanguageIdentifier> {
    let mut liked: Vec<(f32, LanguageIdentifier)> = accepted
        .split(',')
        .filter_map(|range| {
            let (tag, parameters) = range.split_once(';').unwrap_or((range, ""));
            let weight = parameters
                .trim()
                .strip_prefix("q=")
                .map_or(Some(1.0), |weight| weight.parse().ok())?;
            Some((weight, tag.trim().parse().ok()?))
        })
        .filter(|(weight, _)| *weight > 0.0)
        .collect();
    liked.sort_by(|(one, _), (other, _)| other.total_cmp(one));
    liked.into_iter().map(|(_, language)| language).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_liked_language_that_there_is_wins() {
        let [english, portuguese] = Language::ALL;
        for (accepted, language) in [
            ("pt-BR,pt;q=0.9,en;q=0.8", portuguese),
            ("pt", portuguese),
            ("pt-PT, en;q=0.5", portuguese),
            ("en;q=0.3, pt;q=0.7", portuguese),
            ("de, fr;q=0.9, pt;q=0.1", portuguese),
            ("en-GB,en", english),
            ("en, pt", english),
            ("pt;q=0, en;q=0.1", english),
            ("de", english),
            ("*", english),
            ("", english),
            (";;q=,=", english),
        ] {
            assert_eq!(Language::negotiate(accepted), language, "{accepted}");
        }
        assert_eq!(Language::of_tag("pt-br"), Some(portuguese));
        assert_eq!(Language::of_tag("de"), None);
    }
}
