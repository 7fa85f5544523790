//! What all pages have in common: who reads them and how, and where their links lead.

use super::{Address, Words, assets};
use crate::language::Language;

/// Periods to choose from, in days.
const PERIODS: [u32; 3] = [7, 30, 90];

/// What stands around a page.
#[derive(Clone, Debug)]
pub struct Frame {
    /// Language and zone.
    pub words: Words,
    /// Where it is.
    pub address: Address,
    /// The environments to choose from.
    pub environments: Vec<String>,
    /// The longest period that can be asked for.
    pub most_days: u32,
    /// Whether somebody is signed in and may want to sign out.
    pub signed_in: bool,
}

/// A link to one of several choices.
#[derive(Clone, Debug)]
pub(super) struct Choice {
    pub(super) name: String,
    pub(super) href: String,
    pub(super) chosen: bool,
}

impl Frame {
    pub(super) fn text(&self, key: &str) -> String {
        self.words.text(key)
    }

    pub(super) fn asset(&self, name: &str) -> &'static str {
        assets::href(name)
    }

    pub(super) fn overview(&self) -> String {
        self.address.overview().href()
    }

    pub(super) fn environment_choices(&self) -> Vec<Choice> {
        let choice = |name: &String| Choice {
            name: name.clone(),
            href: self.address.environment(name).href(),
            chosen: *name == self.address.environment,
        };
        self.environments.iter().map(choice).collect()
    }

    pub(super) fn period_choices(&self) -> Vec<Choice> {
        let chosen = match (self.address.days, &self.address.from) {
            (None, None) => Some(30.min(self.most_days)),
            (days, _) => days,
        };
        let choice = |days: u32| Choice {
            name: self.words.language.counted("period-days", days.into()),
            href: self.address.days(days).href(),
            chosen: chosen == Some(days),
        };
        let possible = PERIODS.into_iter().filter(|days| *days <= self.most_days);
        possible.map(choice).collect()
    }

    pub(super) fn languages(&self) -> Vec<(Language, Choice)> {
        let choice = |language: Language| Choice {
            name: language.name().to_owned(),
            href: self.address.language(language).href(),
            chosen: language == self.words.language,
        };
        Language::ALL.map(|language| (language, choice(language))).into()
    }

    /// The day of a chosen instant, for the form.
    pub(super) fn day_of(&self, chosen: Option<&str>) -> String {
        chosen.map_or_else(String::new, |text| text.chars().take(10).collect())
    }

    /// What a form keeps of the address besides its own fields.
    pub(super) fn kept(&self, own: &[&str]) -> Vec<(&'static str, String)> {
        let kept = self.address.parameters().into_iter();
        kept.filter(|(name, _)| !own.contains(name)).collect()
    }
}
