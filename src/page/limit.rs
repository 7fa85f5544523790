//! The page of a limit: how it stands, why a value is recommended, and what it rests on.

use askama::Template;
use chrono::{DateTime, Utc};

use super::{
    Frame, Words,
    alerts::LimitAlerts,
    bar::Bar,
    calendar::{Week, weeks},
    chart::Chart,
    data::data,
    distribution::{self, BinRow},
    fact::{Fact, facts},
    overview::group_name,
    profile::{Column, hours, weekdays},
    row::{Pill, allowed, peak_text, used},
    words::{Time, action_word},
};
use crate::{
    calibration::{ACTIVE_DAYS, Method, Status},
    report::{
        Alerts, Detail, LimitView, PeakView, RecommendationView, SizingView, WhatIf, printable, reason,
    },
    time::Algorithm,
};

/// A value that was tried.
#[derive(Clone, Debug)]
pub struct Tried {
    /// What it would have refused.
    pub what_if: WhatIf,
    /// Whether it stands in for one that is no value.
    pub wrong: bool,
}

/// The page of a limit.
#[derive(Debug, Template)]
#[template(path = "limit.html")]
pub struct LimitPage {
    frame: Frame,
    words: Words,
    id: String,
    group: String,
    from: Time,
    to: Time,
    allowed: String,
    alerts: LimitAlerts,
    pill: Pill,
    bar: Option<Bar>,
    bar_text: String,
    peak: String,
    peak_at: Option<Time>,
    identity: Option<String>,
    used: Option<String>,
    advice: Option<Advice>,
    /// Why nothing is recommended.
    no_advice: String,
    notes: Vec<String>,
    facts: Vec<Fact>,
    chart: Chart,
    chart_text: String,
    limit: Option<String>,
    alert: Option<String>,
    /// Windows below a minute can't be seen.
    unseen: bool,
    hours: Vec<Column>,
    weekdays: Vec<Column>,
    bins: Vec<BinRow>,
    weeks: Vec<Week>,
    top: Vec<(String, String, Time)>,
    what_if: WhatIfView,
    data: String,
}

/// What is recommended and why.
#[derive(Debug)]
struct Advice {
    word: &'static str,
    action: String,
    reason: String,
    projection: Option<String>,
    method: Option<String>,
    evidence: String,
    with: Option<String>,
    without: Option<String>,
}

/// What a value would have refused, written.
#[derive(Debug)]
struct WhatIfView {
    value: u64,
    /// How far the value can be slid.
    most: u64,
    requests: Option<(String, u128)>,
    windows: Option<(String, u64)>,
    alert: (String, u64),
    exact: bool,
    wrong: bool,
}

impl Tried {
    /// The value to begin with: the limit, or where nothing is limited the peak.
    #[must_use]
    pub fn first(limit: &LimitView) -> u64 {
        let peak = limit.peak.as_ref().map(PeakView::most);
        limit.limit.or(peak).unwrap_or(1).max(1)
    }
}

impl LimitPage {
    /// The page of a limit in a period, with a value that was tried and how alerts stand.
    #[must_use]
    pub fn new(
        frame: Frame,
        detail: &Detail,
        tried: &Tried,
        period: (DateTime<Utc>, DateTime<Utc>),
        percent: u32,
        alerts: &Alerts,
    ) -> Self {
        let (words, limit) = (frame.words, &detail.limit);
        let peak = limit.peak.as_ref();
        let chart = Chart::new(detail, period, words);
        let chart_text = words.with(
            "chart-text",
            &[
                ("from", words.time(period.0).shown),
                ("to", words.time(period.1).shown),
                ("largest", words.number(chart.largest)),
                ("unknown", words.number(chart.unknown as u64)),
            ],
        );
        let peak_shown = peak.map_or_else(
            || words.text("peak-unknown"),
            |peak| peak_text(peak, limit.censored, words),
        );
        Self {
            id: printable(&limit.id),
            group: group_name(&detail.group.0, &detail.group.1, words),
            from: words.time(period.0),
            to: words.time(period.1),
            allowed: allowed(limit, words),
            alerts: LimitAlerts::new(alerts, &frame.address.environment, &limit.id, words),
            pill: Pill(limit.status),
            bar: Bar::new(limit),
            bar_text: words.with(
                "bar-text",
                &[
                    ("peak", peak_shown.clone()),
                    ("limit", words.number_or_dash(limit.limit)),
                    ("alert", words.number_or_dash(limit.alert_at)),
                ],
            ),
            peak: peak_shown,
            peak_at: peak.and_then(|peak| peak.at).map(|at| words.time(at)),
            identity: peak.and_then(|peak| peak.identity.as_deref()).map(printable),
            used: used(limit, words),
            advice: limit
                .recommendation
                .as_ref()
                .map(|advised| advice(limit, advised, percent, words)),
            no_advice: words.text(if limit.status == Status::Exempt {
                "no-recommendation-exempt"
            } else {
                "no-recommendation-watch"
            }),
            notes: notes(limit, words),
            facts: facts(limit, percent, words),
            chart_text,
            limit: limit.limit.map(|value| words.number(value)),
            alert: limit.alert_at.map(|value| words.number(value)),
            unseen: limit.window.ends_with('s'),
            hours: hours(&detail.profile, limit, words),
            weekdays: weekdays(&detail.profile, words),
            bins: distribution::rows(&detail.histogram, limit.limit, words),
            weeks: weeks(&detail.days, limit.algorithm == Algorithm::Sampled, words),
            top: (limit.top_identities.iter())
                .map(|top| {
                    (
                        printable(&top.identity),
                        words.number(top.peak),
                        words.time(top.at),
                    )
                })
                .collect(),
            what_if: what_if(limit, tried, chart.largest, words),
            data: data(detail, tried.what_if.exact, period, percent, words),
            chart,
            words,
            frame,
        }
    }
}

fn advice(limit: &LimitView, advised: &RecommendationView, percent: u32, words: Words) -> Advice {
    let decimal = |number| words.language.decimal(number);
    let readiness = &limit.readiness;
    let projection = advised
        .projected_peak
        .zip(advised.interval)
        .map(|(peak, [low, high])| {
            let put_in = [
                ("peak", decimal(peak)),
                ("low", decimal(low)),
                ("high", decimal(high)),
            ];
            words.with("projection-text", &put_in)
        });
    let sizing = |sizing: &SizingView| {
        let put_in = [
            ("limit", words.number(sizing.limit)),
            ("peak", decimal(sizing.projected_peak)),
        ];
        words.with("dominated-sizing", &put_in)
    };
    let dominated = advised.dominated.as_ref();
    Advice {
        word: action_word(advised.action),
        action: words.action(advised),
        reason: printable(&reason(words.language, limit, percent)),
        projection,
        method: advised.method.map(|method| {
            words.text(match method {
                Method::GevReturnLevel => "method-gev-return-level",
                Method::ObservedMargin => "method-observed-margin",
            })
        }),
        evidence: words.with(
            "evidence-text",
            &[
                ("covered", words.number(readiness.covered_days)),
                ("required", words.number(readiness.required_days)),
                ("active", words.number(readiness.active_days)),
                ("needed", words.number(ACTIVE_DAYS)),
            ],
        ),
        with: dominated.and_then(|values| values.with.as_ref()).map(sizing),
        without: dominated.map(|values| values.without.as_ref().map_or_else(|| words.text("none"), sizing)),
    }
}

/// What limits what the figures say.
fn notes(limit: &LimitView, words: Words) -> Vec<String> {
    let censored = if limit.algorithm == Algorithm::Sampled {
        "sampled"
    } else {
        "censored"
    };
    let notes = [(limit.censored, censored), (limit.partial, "partial")];
    notes
        .into_iter()
        .filter(|(holds, _)| *holds)
        .map(|(_, key)| words.text(key))
        .collect()
}

fn what_if(limit: &LimitView, tried: &Tried, largest: u64, words: Words) -> WhatIfView {
    let result = &tried.what_if;
    // Far enough that nothing is refused any more.
    let peak = limit.peak.as_ref().map_or(0, PeakView::most).max(largest);
    let most = peak.max(limit.limit.unwrap_or(0)).max(result.limit);
    WhatIfView {
        value: result.limit,
        // Sliders count in floating point.
        most: most.saturating_add(most / 4).clamp(10, 1 << 53),
        requests: result.requests.map(|requests| (words.number(requests), requests)),
        windows: result
            .identity_windows
            .map(|windows| (words.number(windows), windows)),
        alert: (words.number(result.alert_at), result.alert_at),
        exact: result.exact,
        wrong: tried.wrong,
    }
}
