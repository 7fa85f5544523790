//! Endpoints that no limit names: watched, so that nobody overlooks them.

use super::{
    build::Context,
    input::UnlimitedData,
    limit::name,
    view::{GroupView, LimitView, PeakView, SourceNames, TopView},
};
use crate::{
    calibration::{Readiness, Status},
    catalog::{Mode, UNLIMITED},
    time::Algorithm,
};

/// The group's name.
const NAME: &str = "Endpoints without a limit";

/// The group of what no limit names; none where there is none.
pub(super) fn group(context: &Context<'_>) -> Option<GroupView> {
    let unlimited = context.input.unlimited;
    (!unlimited.is_empty()).then(|| GroupView {
        id: UNLIMITED.to_owned(),
        name: NAME.to_owned(),
        limits: unlimited.iter().map(|data| view(data, context)).collect(),
    })
}

/// Its largest minute, by identity.
fn view(data: &UnlimitedData, context: &Context<'_>) -> LimitView {
    let facts = context.sources.get(&*data.source);
    let largest = data.peaks.iter().max_by_key(|peak| peak.value);
    let sum = data
        .peaks
        .iter()
        .map(|peak| peak.value)
        .fold(0, u64::saturating_add);
    // Of several outcomes the minutes may differ: at least the largest, at most all of them together.
    let value = largest.filter(|_| data.peaks.len() == 1).map(|peak| peak.value);
    let identity = largest
        .and_then(|peak| peak.identity)
        .map(|identity| name(&data.scope, identity, context));
    let top = largest.zip(identity.clone()).filter(|_| value.is_some());
    LimitView {
        id: format!("{}/{}/{}", data.source, data.endpoint, data.scope),
        source: SourceNames::One(data.source.clone()),
        endpoints: vec![data.endpoint.clone()],
        scope: data.scope.clone(),
        limit: None,
        window: "1m".to_owned(),
        algorithm: Algorithm::Fixed,
        shared: false,
        mode: Mode::Watch,
        alert_at: None,
        status: Status::Watch,
        peak: largest.map(|peak| PeakView {
            value,
            lower: peak.value,
            upper: Some(sum),
            at: Some(peak.at.start()),
            identity,
        }),
        utilization: None,
        censored: false,
        total: data.total,
        accepted: data.accepted,
        accepted_peak: None,
        history_from: None,
        partial: facts
            .is_some_and(|facts| facts.vouched.closed_before < context.input.period.to.first_minute()),
        would_block: None,
        percentiles: None,
        top_identities: (top.into_iter())
            .map(|(peak, identity)| TopView {
                identity,
                peak: peak.value,
                at: peak.at.start(),
            })
            .collect(),
        readiness: Readiness::new(
            facts.map_or(0, |facts| facts.coverage.consecutive_days),
            context.input.catalog.required_days,
            data.active_days,
        ),
        recommendation: None,
        trend: None,
        hypothetical_peak: None,
        by_hour: None,
        limits_by_hour: None,
    }
}
