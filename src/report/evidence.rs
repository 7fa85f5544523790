//! What a recommendation for one limit rests on, and the recommendation.

use std::collections::BTreeSet;

use chrono::{DateTime, Datelike as _, Days, TimeDelta, Utc};
use chrono_tz::Tz;

use super::{
    build::Context,
    input::{LimitData, ShapeData},
    limit::own_sources,
    reason::reason,
    view::{DominatedView, LimitView, RecommendationView, SizingView},
};
use crate::{
    calibration::{
        self, ActiveDay, DayCoverage, Evidence, Observed, Readiness, Recommendation, Sizing, Target, Trend,
        holding, project,
    },
    catalog::{Limit, Mode},
    language::Language,
    time::{Algorithm, Day, Window, day_end, day_of, day_start},
};

/// A limit that has been held against what was seen.
pub(super) struct Judged<'a> {
    pub(super) limit: &'a Limit,
    pub(super) data: &'a LimitData,
    pub(super) target: Target,
    pub(super) observed: Observed,
}

/// How much evidence there is. Days before the limit's history prove nothing, whatever was read.
pub(super) fn readiness(judged: &Judged<'_>, context: &Context<'_>) -> Readiness {
    let days = own_sources(judged.limit, context).filter(|source| source.vouched.first.is_some());
    let covered = days
        .map(|source| {
            let covered = source.coverage.consecutive_days;
            let end = context
                .input
                .period
                .to
                .first_minute()
                .min(source.vouched.closed_before);
            let last = day_of(end.start(), context.zone());
            let known = (judged.data.counted.history_from).map(|from| first_whole_day(from, context.zone()));
            known.map_or(covered, |first| covered.min(days_between(first, last)))
        })
        .min();
    let active = judged
        .data
        .counted
        .days
        .values()
        .filter(|day| day.figures.total > 0);
    Readiness::new(
        covered.unwrap_or(0),
        context.input.catalog.required_days,
        u32::try_from(active.count()).unwrap_or(u32::MAX),
    )
}

/// The first local day of which 99 % lie behind an instant.
fn first_whole_day(from: DateTime<Utc>, zone: Tz) -> Day {
    let day = day_of(from, zone);
    let (start, end) = (day_start(day, zone), day_end(day, zone));
    if (from - start) * 100 > end - start {
        day + Days::new(1)
    } else {
        day
    }
}

fn days_between(first: Day, last: Day) -> u32 {
    u32::try_from((last - first).num_days()).unwrap_or(0)
}

/// Whether the peak means "at least": only accepted requests were counted, and on some day the limit that was enforced
/// then was reached, so that more may have been asked for.
pub(super) fn is_censored(judged: &Judged<'_>, context: &Context<'_>) -> bool {
    if !judged.limit.counts_accepted(&context.input.catalog.sources) {
        return false;
    }
    let in_force = &judged.data.in_force;
    let reached = |at: DateTime<Utc>, peak: u64| {
        // What was counted before the record begins was counted under its first entry, for all that is known.
        let then = (in_force.iter().rfind(|entry| entry.from <= at)).or(in_force.first());
        let (mode, value) = then.map_or((Some(judged.target.mode), judged.target.limit), |entry| {
            (entry.mode, entry.value)
        });
        mode == Some(Mode::Block) && value.is_some_and(|value| peak >= value)
    };
    judged.data.counted.days.iter().any(|(day, merged)| {
        let figures = &merged.figures;
        let end = || day_end(*day, context.zone()) - TimeDelta::minutes(1);
        let (at, peak) = figures
            .peak
            .map_or_else(|| (end(), figures.lower), |peak| (peak.at.start(), peak.value));
        figures.total > 0 && reached(at, peak)
    })
}

/// Where the daily peaks are going.
pub(super) fn trend(counted: &ShapeData) -> Option<Trend> {
    let points: Vec<(i32, u64)> = (counted.days.iter())
        .filter_map(|(day, merged)| Some((day.num_days_from_ce(), merged.figures.peak?.value)))
        .collect();
    calibration::trend(&points)
}

/// The value that fits each local hour, once enough days in a row are covered: traffic of one hour needs a month to
/// show what it can be.
pub(super) fn limits_by_hour(
    by_hour: Option<&[Option<u64>; 24]>,
    readiness: &Readiness,
    judged: &Judged<'_>,
    context: &Context<'_>,
) -> Option<[Option<u64>; 24]> {
    let catalog = context.input.catalog;
    // Samples show at least what there was: too little to suggest less.
    if readiness.covered_days < catalog.hourly_limits_after_days
        || judged.target.limit.is_none()
        || judged.limit.algorithm == Algorithm::Sampled
    {
        return None;
    }
    let ceiling = judged.limit.ceiling.unwrap_or(u64::MAX);
    let value = |peak: u64| holding(project(peak, &[], 0).peak, catalog.alert_percent).min(ceiling);
    Some((*by_hour?).map(|peak| peak.filter(|peak| *peak > 0).map(value)))
}

/// Says what to do with the limit of a view, and why.
pub(super) fn recommend(view: &mut LimitView, judged: &Judged<'_>, context: &Context<'_>) {
    let (Some(limit), Some(alert_at)) = (judged.target.limit, judged.target.alert_at) else {
        return;
    };
    let percent = context.input.catalog.alert_percent;
    let counted = &judged.data.counted;
    let days: Vec<ActiveDay<'_>> = (counted.days.iter())
        .filter_map(|(day, merged)| {
            Some(ActiveDay {
                day: *day,
                peak: merged.figures.peak?.value,
                top: &merged.figures.top,
            })
        })
        .collect();
    let bounds =
        matches!(judged.limit.window, Window::Seconds(_)) && judged.limit.algorithm != Algorithm::Sampled;
    let recommendation = Recommendation::new(&Evidence {
        limit,
        alert_at,
        percent,
        ceiling: judged.limit.ceiling,
        readiness: view.readiness,
        bounds: bounds.then_some((judged.observed.lower, judged.observed.upper)),
        censored: view.censored,
        known_days: u32::try_from(known_days(judged, context)).unwrap_or(u32::MAX),
        days: &days,
        top: &counted.merged.figures.top,
    });
    let sizing = recommendation.sizing;
    view.recommendation = Some(RecommendationView {
        action: recommendation.action,
        limit: sizing.map(|sizing| sizing.limit),
        projected_peak: sizing.map(|sizing| sizing.projection.peak),
        interval: sizing.map(|sizing| sizing.projection.interval),
        method: sizing.map(|sizing| sizing.projection.method),
        reason: String::new(),
        dominated: recommendation.dominated.map(|dominated| DominatedView {
            with: dominated.with.map(sizing_view),
            without: dominated.without.map(sizing_view),
        }),
        why: recommendation.reason,
    });
    let words = reason(Language::English, view, percent);
    if let Some(recommendation) = &mut view.recommendation {
        recommendation.reason = words;
    }
}

fn sizing_view(sizing: Sizing) -> SizingView {
    SizingView {
        limit: sizing.limit,
        projected_peak: sizing.projection.peak,
    }
}

/// The days of the period that say how often there is traffic: those with some, and those that were covered and quiet.
/// A day that is left out in part was not quiet for all that is known.
fn known_days(judged: &Judged<'_>, context: &Context<'_>) -> usize {
    let active = &judged.data.counted.days;
    let ignored = context.ignored_days();
    let mut quiet = None;
    for source in own_sources(judged.limit, context).filter(|source| source.vouched.first.is_some()) {
        let covered = source.days.values().filter(|day| day.is_covered());
        let covered: BTreeSet<Day> = covered
            .map(|DayCoverage { day, .. }| *day)
            .filter(|day| !active.contains_key(day) && !ignored.contains(day))
            .collect();
        quiet = Some(match quiet {
            None => covered,
            Some(others) => &others & &covered,
        });
    }
    active.len() + quiet.map_or(0, |quiet| quiet.len())
}
