//! One limit in a row of the overview.

use super::{
    Address, Words,
    bar::{Bar, Share},
    words::action_word,
};
use crate::{
    calibration::{ACTIVE_DAYS, Readiness, Status},
    catalog::{Mode, UNLIMITED},
    report::{LimitView, PeakView, printable},
};

/// One limit, written.
#[derive(Clone, Debug)]
pub(super) struct Row {
    pub(super) id: String,
    /// Where its page is; none for what has none.
    pub(super) href: Option<String>,
    pub(super) allowed: String,
    pub(super) what: String,
    pub(super) bar: Option<Bar>,
    pub(super) bar_text: String,
    pub(super) peak: String,
    pub(super) used: Option<String>,
    pub(super) pill: Pill,
    pub(super) evidence: Option<Progress>,
    pub(super) action: Option<ActionWord>,
}

/// A status by colour, word and shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Pill(pub(super) Status);

/// What to do, in a word and its value.
#[derive(Clone, Debug)]
pub(super) struct ActionWord {
    pub(super) word: &'static str,
    pub(super) text: String,
}

/// How much of the evidence there is.
#[derive(Clone, Debug)]
pub(super) struct Progress {
    pub(super) text: String,
    pub(super) share: Share,
    pub(super) ready: bool,
}

impl Pill {
    pub(super) const fn word(self) -> &'static str {
        match self.0 {
            Status::NoData => "no-data",
            Status::Ok => "ok",
            Status::Near => "near",
            Status::Over => "over",
            Status::Unmeasurable => "unmeasurable",
            Status::Watch => "watch",
            Status::Exempt => "exempt",
        }
    }

    pub(super) const fn key(self) -> &'static str {
        match self.0 {
            Status::NoData => "status-no-data",
            Status::Ok => "status-ok",
            Status::Near => "status-near",
            Status::Over => "status-over",
            Status::Unmeasurable => "status-unmeasurable",
            Status::Watch => "status-watch",
            Status::Exempt => "status-exempt",
        }
    }

    /// The outline of its shape, 12 wide and high.
    pub(super) const fn shape(self) -> &'static str {
        match self.0 {
            Status::Over => "M1 1H11V11H1Z",
            Status::Near => "M6 1L11.5 11H.5Z",
            Status::Ok => "M6 1A5 5 0 1 1 6 11A5 5 0 1 1 6 1Z",
            Status::Unmeasurable => "M6 .5L11.5 6L6 11.5L.5 6Z",
            Status::NoData => "M6 1A5 5 0 1 1 6 11A5 5 0 1 1 6 1ZM6 3A3 3 0 1 0 6 9A3 3 0 1 0 6 3Z",
            Status::Watch => "M1 1H11V11H1ZM3 3V9H9V3Z",
            Status::Exempt => "M1 4.5H11V7.5H1Z",
        }
    }
}

impl Progress {
    /// What is missing most: days in a row first, then days with traffic.
    fn new(readiness: &Readiness, words: Words) -> Self {
        let [covered, required] = [readiness.covered_days, readiness.required_days];
        let (key, part, whole) = if covered < required {
            ("evidence-days", covered, required)
        } else if readiness.ready {
            ("evidence-enough", covered, covered)
        } else {
            ("evidence-traffic", readiness.active_days, ACTIVE_DAYS)
        };
        Self {
            text: words.with(
                key,
                &[("part", words.number(part)), ("whole", words.number(whole))],
            ),
            share: Share::of(part.into(), whole.into()),
            ready: readiness.ready,
        }
    }
}

impl Row {
    pub(super) fn new(limit: &LimitView, group: &str, words: Words, address: Option<&Address>) -> Self {
        let used = used(limit, words);
        let peak = limit
            .peak
            .as_ref()
            .map(|peak| peak_text(peak, limit.censored, words));
        let peak = peak.unwrap_or_else(|| words.text("peak-unknown"));
        let status = Pill(limit.status);
        let href = address
            .filter(|_| group != UNLIMITED)
            .map(|address| address.limit(&limit.id).href());
        let recommendation = limit.recommendation.as_ref();
        Self {
            id: printable(&limit.id),
            href,
            allowed: allowed(limit, words),
            what: what(limit, words),
            bar: Bar::new(limit),
            bar_text: words.with(
                "bar-text",
                &[
                    ("peak", peak.clone()),
                    ("limit", words.number_or_dash(limit.limit)),
                    ("alert", words.number_or_dash(limit.alert_at)),
                ],
            ),
            peak,
            used,
            pill: status,
            evidence: (limit.mode != Mode::Exempt).then(|| Progress::new(&limit.readiness, words)),
            action: recommendation.map(|recommendation| ActionWord {
                word: action_word(recommendation.action),
                text: words.action(recommendation),
            }),
        }
    }
}

/// The used share of the limit. Of bounds, the upper one is an estimate too many.
pub(super) fn used(limit: &LimitView, words: Words) -> Option<String> {
    let value = limit.peak.as_ref()?.value?;
    words.language.percent(value, limit.limit?)
}

/// What is allowed: 20 per 1 h.
pub(super) fn allowed(limit: &LimitView, words: Words) -> String {
    let window = words.window(&limit.window);
    match limit.limit {
        Some(value) => words.with("allowed", &[("limit", words.number(value)), ("window", window)]),
        None => words.with("allowed-none", &[("window", window)]),
    }
}

/// Whose requests, and whether they are refused.
fn what(limit: &LimitView, words: Words) -> String {
    let scope = printable(&limit.scope);
    let whose = words.with(
        if limit.shared {
            "scope-shared"
        } else {
            "scope-each"
        },
        &[("scope", scope)],
    );
    format!("{whose} · {}", words.text(&format!("mode-{}", limit.mode)))
}

/// A peak with the bounds that differ from it.
pub(super) fn peak_text(peak: &PeakView, censored: bool, words: Words) -> String {
    let upper = words.number(peak.most());
    match peak.value {
        None if peak.lower == peak.most() => upper,
        None => words.with(
            "peak-between",
            &[("lower", words.number(peak.lower)), ("upper", upper)],
        ),
        Some(value) if censored => words.with("peak-at-least", &[("peak", words.number(value))]),
        Some(value) if peak.most() > value => {
            words.with("peak-up-to", &[("peak", words.number(value)), ("upper", upper)])
        }
        Some(value) => words.number(value),
    }
}
