//! One limit of a report.

use super::{
    Period,
    build::Context,
    evidence::{self, Judged},
    facts::SourceFacts,
    input::{LimitData, ShapeData},
    view::{AcceptedView, LimitView, PeakView, SourceNames, TopView},
};
use crate::{
    calibration::{Observed, Percentiles, Target, WouldBlock},
    catalog::Limit,
    fold::{Figures, Rules},
    time::Algorithm,
};

pub(super) fn limit_view(limit: &Limit, context: &Context<'_>) -> LimitView {
    let input = context.input;
    let none = LimitData::default();
    let data = input.limits.get(&limit.id).unwrap_or(&none);
    let figures = &data.counted.merged.figures;
    let rules = rules(limit, context);
    let target = target(limit, context);
    let hours_of_day = hours_of_day(limit, context);
    let observed = observed(limit, figures, context);
    let judgement = target.judge(&observed);
    let judged = Judged {
        limit,
        data,
        target,
        observed,
    };
    let quiet = |hour: usize| hours_of_day[hour].then_some(0);
    let by_hour = || std::array::from_fn(|hour| data.counted.merged.by_hour[hour].or_else(|| quiet(hour)));
    let by_hour = rules.is_observable().then(by_hour);
    let Period { from, to } = input.period;
    let readiness = evidence::readiness(&judged, context);
    let mut view = LimitView {
        id: limit.id.clone(),
        source: match limit.sources.as_slice() {
            [one] => SourceNames::One(one.clone()),
            several => SourceNames::Several(several.to_vec()),
        },
        endpoints: limit.endpoints.clone(),
        scope: limit.scope.clone(),
        limit: target.limit,
        window: limit.window.to_string(),
        algorithm: limit.algorithm,
        shared: limit.shared,
        mode: target.mode,
        alert_at: target.alert_at,
        status: judgement.status,
        peak: peak_view(limit, figures, &observed, context),
        utilization: judgement.utilization,
        censored: evidence::is_censored(&judged, context) || (rules.is_sampled() && figures.peak.is_some()),
        total: counted(limit, figures.total),
        accepted: accepted(limit, data, context),
        accepted_peak: (data.accepted.as_deref()).and_then(|accepted| accepted_peak(accepted, &target)),
        history_from: data.counted.history_from,
        partial: from < to
            && own_sources(limit, context).any(|source| source.vouched.closed_before < to.first_minute()),
        would_block: target
            .limit
            .filter(|_| observed.is_known())
            .and_then(|limit| WouldBlock::new(figures, &rules, limit)),
        percentiles: Percentiles::new(&figures.histogram),
        top_identities: top(limit, figures, context),
        readiness,
        recommendation: None,
        trend: evidence::trend(&data.counted),
        hypothetical_peak: limit.hypothetical_peak,
        limits_by_hour: evidence::limits_by_hour(by_hour.as_ref(), &readiness, &judged, context),
        by_hour,
    };
    evidence::recommend(&mut view, &judged, context);
    view
}

/// What was counted, of all that figures hold: samples of gauges are no requests.
pub(super) fn counted(limit: &Limit, total: u128) -> u128 {
    if limit.algorithm == Algorithm::Sampled {
        0
    } else {
        total
    }
}

pub(super) fn rules(limit: &Limit, context: &Context<'_>) -> Rules {
    Rules {
        window: limit.window,
        algorithm: limit.algorithm,
        shared: limit.shared,
        zone: context.zone(),
    }
}

fn target(limit: &Limit, context: &Context<'_>) -> Target {
    let environment = context.input.environment;
    let (mode, value) = (limit.mode_in(environment), limit.value_in(environment));
    Target::new(
        mode,
        value,
        limit.watch_alert,
        context.input.catalog.alert_percent,
    )
}

/// The sources of a limit that the environment has.
pub(super) fn own_sources<'c>(
    limit: &'c Limit,
    context: &'c Context<'_>,
) -> impl Iterator<Item = &'c SourceFacts<'c>> {
    limit
        .sources
        .iter()
        .filter_map(|name| context.sources.get(name.as_str()))
}

/// Those of them that ever had a sample; all of them where none had. A source that is not used yet hides nothing of
/// what the others tell.
pub(super) fn used_sources<'c>(limit: &'c Limit, context: &'c Context<'_>) -> Vec<&'c SourceFacts<'c>> {
    let own: Vec<_> = own_sources(limit, context).collect();
    let used: Vec<_> = (own.iter().copied())
        .filter(|source| source.vouched.first.is_some())
        .collect();
    if used.is_empty() { own } else { used }
}

pub(super) fn peak_view(
    limit: &Limit,
    figures: &Figures,
    observed: &Observed,
    context: &Context<'_>,
) -> Option<PeakView> {
    observed.is_known().then(|| PeakView {
        value: observed.value,
        lower: observed.lower,
        upper: (limit.algorithm != Algorithm::Sampled).then_some(observed.upper),
        at: figures.peak.map(|peak| peak.at.start()),
        identity: figures
            .peak
            .and_then(|peak| peak.identity)
            .map(|identity| name(&limit.scope, identity, context)),
    })
}

/// How much was accepted, where that is known.
fn accepted(limit: &Limit, data: &LimitData, context: &Context<'_>) -> Option<u128> {
    match &data.accepted {
        Some(accepted) => Some(accepted.merged.figures.total),
        None => limit
            .counts_accepted(&context.input.catalog.sources)
            .then_some(data.counted.merged.figures.total),
    }
}

fn accepted_peak(accepted: &ShapeData, target: &Target) -> Option<AcceptedView> {
    let peak = accepted.merged.figures.peak?;
    #[expect(clippy::cast_precision_loss, reason = "a ratio to read, not to decide on")]
    let utilization = target.limit.map(|limit| peak.value as f64 / limit as f64);
    Some(AcceptedView {
        value: peak.value,
        at: peak.at.start(),
        utilization,
    })
}

/// What figures of a limit show.
pub(super) fn observed(limit: &Limit, figures: &Figures, context: &Context<'_>) -> Observed {
    let covered = hours_of_day(limit, context).contains(&true);
    Observed::new(figures, &rules(limit, context), covered)
}

/// The local hours of day in which a limit was vouched for. An hour some of whose windows reach back into one that is
/// left out was not quiet for all that is known.
fn hours_of_day(limit: &Limit, context: &Context<'_>) -> [bool; 24] {
    let mut hours = [false; 24];
    for name in &limit.sources {
        let seen = context.hours_of_day(name, limit.window);
        hours.iter_mut().zip(seen).for_each(|(hour, seen)| *hour |= seen);
    }
    hours
}

fn top(limit: &Limit, figures: &Figures, context: &Context<'_>) -> Vec<TopView> {
    (figures.top.iter())
        .map(|top| TopView {
            identity: name(&limit.scope, top.identity, context),
            peak: top.peak,
            at: top.at.start(),
        })
        .collect()
}

/// An identity's label, where its scope is public and the label is known; else its hash in 16 hex digits.
pub(super) fn name(scope: &str, identity: i64, context: &Context<'_>) -> String {
    let public = context
        .input
        .catalog
        .scopes
        .get(scope)
        .is_some_and(|scope| scope.public);
    let label = context
        .input
        .labels
        .get(&(scope.to_owned(), identity))
        .filter(|_| public);
    label
        .cloned()
        .unwrap_or_else(|| format!("{:016x}", identity.cast_unsigned()))
}
