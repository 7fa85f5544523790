//! Why a value is recommended, in words.

use super::view::{LimitView, RecommendationView, SizingView};
use crate::{
    calibration::{ACTIVE_DAYS, Reason},
    catalog::alert_at,
    language::Language,
    time::Algorithm,
};

/// Why a limit's recommendation is what it is; empty where there is none.
#[must_use]
pub fn reason(language: Language, limit: &LimitView, percent: u32) -> String {
    let Some(recommendation) = &limit.recommendation else {
        return String::new();
    };
    let (key, own) = own_words(language, limit, recommendation, percent);
    let shared = [
        ("limit", whole(language, limit.limit)),
        ("value", whole(language, recommendation.limit)),
        ("percent", language.integer(percent.into())),
        (
            "projected",
            recommendation
                .projected_peak
                .map_or_else(|| language.text("none"), |peak| language.decimal(peak)),
        ),
    ];
    language.text_with(key, &[&shared[..], &own].concat())
}

fn own_words(
    language: Language,
    limit: &LimitView,
    recommendation: &RecommendationView,
    percent: u32,
) -> (&'static str, Vec<(&'static str, String)>) {
    let number = |number: u64| language.integer(number.into());
    let sizes = || {
        let dominated = recommendation.dominated.as_ref();
        let size = |sizing: Option<&SizingView>| whole(language, sizing.map(|sizing| sizing.limit));
        [
            ("with", size(dominated.and_then(|values| values.with.as_ref()))),
            (
                "without",
                size(dominated.and_then(|values| values.without.as_ref())),
            ),
        ]
    };
    match recommendation.why {
        Reason::Evidence(readiness) => {
            let is_covered = readiness.covered_days >= readiness.required_days;
            let key = match (is_covered, readiness.active_days >= ACTIVE_DAYS) {
                (true, _) => "reason-evidence-active",
                (_, true) => "reason-evidence-covered",
                _ => "reason-evidence",
            };
            let words = vec![
                ("covered", number(readiness.covered_days.into())),
                ("required", number(readiness.required_days.into())),
                ("active", number(readiness.active_days.into())),
                ("needed", number(ACTIVE_DAYS.into())),
            ];
            (key, words)
        }
        Reason::Identity { peak, next, .. } => {
            let top = limit.top_identities.first();
            let mut words = vec![
                (
                    "identity",
                    top.map(|top| top.identity.clone()).unwrap_or_default(),
                ),
                ("peak", number(peak)),
                ("next", number(next)),
            ];
            words.extend(sizes());
            ("reason-identity", words)
        }
        Reason::Day { day, peak, next } => {
            let mut words = vec![
                ("day", language.day(day)),
                ("peak", number(peak)),
                ("next", number(next)),
            ];
            words.extend(sizes());
            ("reason-day", words)
        }
        Reason::Censored { peak } => {
            let key = if limit.algorithm == Algorithm::Sampled {
                "reason-sampled"
            } else {
                "reason-censored"
            };
            (key, vec![("peak", number(peak))])
        }
        Reason::Ceiling { needed, ceiling } => (
            "reason-ceiling",
            vec![("needed", number(needed)), ("ceiling", number(ceiling))],
        ),
        Reason::Bounds { lower, upper } => (
            "reason-bounds",
            vec![("lower", number(lower)), ("upper", number(upper))],
        ),
        Reason::WithinBounds { upper } => (
            "reason-within-bounds",
            vec![
                ("upper", number(upper)),
                (
                    "alert",
                    number(alert_at(limit.limit.unwrap_or_default(), percent)),
                ),
            ],
        ),
        Reason::Tight => ("reason-tight", Vec::new()),
        Reason::Loose => ("reason-loose", Vec::new()),
        Reason::Fits => ("reason-fits", Vec::new()),
    }
}

fn whole(language: Language, number: Option<u64>) -> String {
    number.map_or_else(|| language.text("none"), |number| language.integer(number.into()))
}
