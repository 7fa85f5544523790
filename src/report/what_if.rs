//! What another value of a limit would have refused.

use chrono_tz::Tz;

use super::{
    build::Context,
    input::{LimitData, ReportInput},
    limit::{observed, rules},
    view::{LimitState, Limits, Report, WhatIf},
};
use crate::{
    calibration::WouldBlock,
    catalog::{Limit, UNLIMITED, alert_at},
    language::Language,
};

/// What a value would have refused in the period.
#[must_use]
pub fn what_if(input: &ReportInput<'_>, limit: &Limit, value: u64) -> WhatIf {
    let context = Context::new(input);
    let none = LimitData::default();
    let data = input.limits.get(&limit.id).unwrap_or(&none);
    let figures = &data.counted.merged.figures;
    let refused = observed(limit, figures, &context)
        .is_known()
        .then(|| WouldBlock::new(figures, &rules(limit, &context), value))
        .flatten();
    WhatIf {
        id: limit.id.clone(),
        environment: input.environment.to_owned(),
        from: input.period.from.start(),
        to: input.period.to.start(),
        limit: value,
        alert_at: alert_at(value, input.catalog.alert_percent),
        requests: refused.map(|refused| refused.requests),
        identity_windows: refused.map(|refused| refused.identity_windows),
        exact: refused.is_some_and(|refused| refused.exact),
    }
}

/// What a value would have refused, in words for a terminal.
#[must_use]
pub fn what_if_words(what_if: &WhatIf, zone: Tz) -> String {
    let time = |instant| Language::English.minute(instant, zone);
    let refused = match (what_if.requests, what_if.identity_windows) {
        (Some(requests), Some(windows)) => {
            let how = if what_if.exact { "exact" } else { "an estimate" };
            format!(
                "would have refused {requests} requests, in {windows} windows of single identities ({how})"
            )
        }
        _ => "can't be tried: nothing is known of its windows".to_owned(),
    };
    format!(
        "{} in {}, {} to {}, times of {zone}\na limit of {} {refused}; near from {}\n",
        what_if.id,
        what_if.environment,
        time(what_if.from),
        time(what_if.to),
        what_if.limit,
        what_if.alert_at,
    )
}

/// How the limits of a report stand.
#[must_use]
pub fn states(report: &Report) -> Limits {
    let groups = report.groups.iter().filter(|group| group.id != UNLIMITED);
    let limits = groups.flat_map(|group| {
        group.limits.iter().map(|limit| LimitState {
            id: limit.id.clone(),
            group: group.id.clone(),
            limit: limit.limit,
            alert_at: limit.alert_at,
            status: limit.status,
            value: limit.peak.as_ref().and_then(|peak| peak.value),
            at: limit.peak.as_ref().and_then(|peak| peak.at),
            mode: limit.mode,
        })
    });
    Limits {
        environment: report.environment.clone(),
        limits: limits.collect(),
    }
}
