//! Short words for the figures of a limit, for the table and for Markdown.

use super::view::{LimitView, PeakView};
use crate::calibration::{ACTIVE_DAYS, Action};

/// What a limit allows: `30 / 1m`, or its window alone.
pub(super) fn allowed(limit: &LimitView) -> String {
    limit.limit.map_or_else(
        || limit.window.clone(),
        |value| format!("{value} / {}", limit.window),
    )
}

/// What to do with a limit: `raise to 36`, `wait 12/28`; none where nothing is limited.
pub(super) fn advice(limit: &LimitView) -> Option<String> {
    let advice = limit.recommendation.as_ref()?;
    let readiness = &limit.readiness;
    Some(match (advice.action, advice.limit) {
        (Action::Wait, _) if readiness.covered_days < readiness.required_days => {
            format!("wait {}/{}", readiness.covered_days, readiness.required_days)
        }
        (Action::Wait, _) => format!("wait {}/{ACTIVE_DAYS} active", readiness.active_days),
        (Action::Raise, Some(value)) => format!("raise to {value}"),
        (Action::Lower, Some(value)) => format!("lower to {value}"),
        (Action::Review, Some(value)) => format!("review {value}"),
        (Action::Raise, None) => "raise".to_owned(),
        (Action::Lower, None) => "lower".to_owned(),
        (Action::Review, None) => "review".to_owned(),
        (Action::Keep, _) => "keep".to_owned(),
    })
}

/// A text cut to so many letters, with … in place of the rest.
pub(super) fn cut(text: &str, letters: usize) -> String {
    match text.char_indices().nth(letters) {
        None => text.to_owned(),
        Some(_) => text.chars().take(letters - 1).chain(['…']).collect(),
    }
}

/// A peak with the bounds that differ from it.
pub(super) fn bounds(peak: &PeakView) -> String {
    let lower = Some(peak.lower)
        .filter(|lower| peak.value != Some(*lower))
        .map(|lower| format!("≥{lower}"));
    let upper = (peak.upper)
        .filter(|upper| peak.value != Some(*upper))
        .map(|upper| format!("≤{upper}"));
    let bounds: Vec<_> = lower.into_iter().chain(upper).collect();
    match (peak.value, bounds.join(" ")) {
        (Some(value), bounds) if bounds.is_empty() => value.to_string(),
        (Some(value), bounds) => format!("{value} ({bounds})"),
        (None, bounds) => bounds,
    }
}

/// The used share in percent with one digit, cut off and not rounded: 69.57 % must not look like 70 %.
pub(super) fn used(limit: &LimitView) -> Option<String> {
    let value = limit.peak.as_ref()?.value?;
    let per_mille = (u128::from(value) * 1000).checked_div(limit.limit?.into())?;
    Some(format!("{}.{} %", per_mille / 10, per_mille % 10))
}

/// Text from outside with everything escaped that could move the cursor, break a line or turn the reading direction.
pub(crate) fn printable(text: &str) -> String {
    let mut printable = String::with_capacity(text.len());
    for letter in text.chars() {
        let invisible = matches!(letter, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}');
        if letter.is_control() || invisible {
            printable.extend(letter.escape_default());
        } else {
            printable.push(letter);
        }
    }
    printable
}
