//! What there is to know of a limit, line by line.

use super::Words;
use crate::{
    calibration::{Direction, Trend},
    report::{LimitView, SourceNames, printable},
    time::Algorithm,
};

/// A line: what it is, how it is, and what that means.
#[derive(Debug)]
pub(super) struct Fact {
    pub(super) term: String,
    pub(super) text: String,
    pub(super) note: Option<String>,
}

pub(super) fn facts(limit: &LimitView, percent: u32, words: Words) -> Vec<Fact> {
    let fact = |term: &str, text: String, note: Option<String>| Fact {
        term: words.text(&format!("fact-{term}")),
        text,
        note,
    };
    let mut facts = vec![
        fact("endpoints", printable(&limit.endpoints.join(", ")), None),
        fact("scope", counted(limit, words), None),
        fact("source", sources(&limit.source), None),
        fact(
            "window",
            words.window(&limit.window),
            Some(words.text(window_note(&limit.window))),
        ),
    ];
    let algorithm = match limit.algorithm {
        Algorithm::Sampled => "algorithm-sampled",
        _ if limit.window == "1d" => "algorithm-fixed",
        Algorithm::Anchored => "algorithm-anchored",
        Algorithm::Sliding => "algorithm-sliding",
        Algorithm::Fixed => "algorithm-fixed",
    };
    facts.push(fact(
        "algorithm",
        words.text(algorithm),
        Some(words.text(&format!("{algorithm}-note"))),
    ));
    let mode = words.text(&format!("mode-{}", limit.mode));
    facts.push(fact(
        "mode",
        mode,
        Some(words.text(&format!("mode-note-{}", limit.mode))),
    ));
    if let Some(alert) = limit.alert_at {
        let note = limit
            .limit
            .map(|_| words.with("alert-note", &[("percent", words.number(percent))]));
        facts.push(fact("alert", words.number(alert), note));
    }
    if limit.algorithm != Algorithm::Sampled {
        facts.push(fact("total", words.number(limit.total), None));
    }
    facts.extend(
        limit
            .accepted
            .map(|accepted| fact("accepted", words.number(accepted), None)),
    );
    facts.extend(limit.accepted_peak.as_ref().map(|peak| {
        let used = limit
            .limit
            .and_then(|limit| words.language.percent(peak.value, limit));
        fact("accepted-peak", words.number(peak.value), used)
    }));
    facts.extend(limit.percentiles.map(|percentiles| {
        let put_in = [
            ("p50", words.number(percentiles.p50)),
            ("p95", words.number(percentiles.p95)),
            ("p99", words.number(percentiles.p99)),
            ("p999", words.number(percentiles.p999)),
        ];
        fact("percentiles", words.with("percentiles-text", &put_in), None)
    }));
    facts.extend(
        limit
            .history_from
            .map(|from| fact("history", words.time(from).shown, None)),
    );
    facts.extend(limit.trend.map(|trend| fact("trend", going(trend, words), None)));
    facts.extend(
        limit
            .hypothetical_peak
            .map(|peak| fact("assumed", words.number(peak), None)),
    );
    facts
}

fn counted(limit: &LimitView, words: Words) -> String {
    let key = if limit.shared {
        "scope-shared"
    } else {
        "scope-each"
    };
    words.with(key, &[("scope", printable(&limit.scope))])
}

fn sources(names: &SourceNames) -> String {
    match names {
        SourceNames::One(name) => printable(name),
        SourceNames::Several(names) => printable(&names.join(", ")),
    }
}

fn window_note(window: &str) -> &'static str {
    match window.as_bytes().last() {
        Some(b's') => "window-note-seconds",
        Some(b'd') => "window-note-day",
        _ => "window-note-minutes",
    }
}

fn going(trend: Trend, words: Words) -> String {
    let key = match trend.direction {
        Direction::Rising => "trend-rising",
        Direction::Falling => "trend-falling",
        Direction::Steady => "trend-steady",
    };
    words.with(key, &[("change", words.language.decimal(trend.per_week.abs()))])
}
