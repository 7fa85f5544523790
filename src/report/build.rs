//! From what was read to the report.

use std::{
    borrow::Cow,
    collections::{BTreeMap, HashMap},
};

use chrono::{DateTime, SubsecRound, Utc};
use chrono_tz::Tz;

use super::{
    Period,
    parts::{LeftOut, ignored_hours},
    view::{CoverageView, GroupView, LimitView, PeakView, Report, SourceNames, SpanView, TopView},
};
use crate::{
    calibration::{Observed, Percentiles, Target, Vouched, WouldBlock},
    catalog::{Catalog, Limit, Source},
    fold::{Figures, Merged, Rules},
    time::{Minute, Window},
};

/// What a report is made of.
#[derive(Clone, Copy, Debug)]
pub struct ReportInput<'a> {
    /// The catalog.
    pub catalog: &'a Catalog,
    /// The environment.
    pub environment: &'a str,
    /// The one group to report, by id; all of them where absent.
    pub group: Option<&'a str>,
    /// The hours.
    pub period: Period,
    /// The present instant.
    pub generated_at: DateTime<Utc>,
    /// Figures by limit id, without ignored hours; a limit that is missing has none.
    pub limits: &'a HashMap<String, LimitData>,
    /// Covered minutes by source name; a source that is missing has none. For days in a row they reach back before
    /// the period.
    pub sources: &'a BTreeMap<String, Vouched>,
    /// Labels of identities of public scopes, by scope and identity.
    pub labels: &'a HashMap<(String, i64), String>,
}

/// What was read of one limit.
#[derive(Clone, Debug, Default)]
pub struct LimitData {
    /// The figures of the period.
    pub merged: Merged,
    /// Since when its counts are known, where that is later than the source's first sample.
    pub history_from: Option<DateTime<Utc>>,
}

/// Makes the report.
#[must_use]
pub fn build(input: &ReportInput<'_>) -> Report {
    let Period { from, to } = input.period;
    let (catalog, zone) = (input.catalog, input.catalog.timezone);
    let ignored = ignored_hours(&catalog.ignored, input.environment, input.period);
    let left_out = LeftOut::new(&catalog.ignored, input.environment);
    let mut coverage = Vec::new();
    let mut sources = BTreeMap::new();
    let here = |source: &&Source| source.environments.iter().any(|name| name == input.environment);
    for source in catalog.sources.iter().filter(here) {
        let vouched = input.sources.get(&source.name).map_or_else(
            || {
                Cow::Owned(Vouched {
                    first: None,
                    masks: BTreeMap::new(),
                    closed_before: Minute::containing(input.generated_at - source.grace),
                })
            },
            Cow::Borrowed,
        );
        coverage.push(coverage_view(source, &vouched, input.period, zone));
        sources.insert(source.name.as_str(), vouched);
    }
    let groups = catalog
        .groups
        .iter()
        .filter(|group| input.group.is_none_or(|wanted| wanted == group.id));
    Report {
        environment: input.environment.to_owned(),
        from: from.start(),
        to: to.start(),
        timezone: zone.name().to_owned(),
        alert_percent: catalog.alert_percent,
        generated_at: input.generated_at.trunc_subsecs(0),
        coverage,
        ignored,
        groups: groups
            .map(|group| GroupView {
                id: group.id.clone(),
                name: group.name.clone(),
                limits: (group.limits.iter())
                    .filter(|limit| limit.exists_in(input.environment))
                    .map(|limit| view(limit, input, &sources, &left_out))
                    .collect(),
            })
            .collect(),
    }
}

fn view(
    limit: &Limit,
    input: &ReportInput<'_>,
    sources: &BTreeMap<&str, Cow<'_, Vouched>>,
    left_out: &LeftOut,
) -> LimitView {
    let none = LimitData::default();
    let data = input.limits.get(&limit.id).unwrap_or(&none);
    let figures = &data.merged.figures;
    let own = || {
        limit
            .sources
            .iter()
            .filter_map(|name| Some(&**sources.get(name.as_str())?))
    };
    let rules = Rules {
        window: limit.window,
        algorithm: limit.algorithm,
        shared: limit.shared,
        zone: input.catalog.timezone,
    };
    let mode = limit.mode_in(input.environment);
    let value = limit.value_in(input.environment);
    let target = Target::new(mode, value, limit.watch_alert, input.catalog.alert_percent);
    let Period { from, to } = input.period;
    let hours_of_day = hours_of_day(own(), limit.window, input, left_out);
    let observed = Observed::new(figures, &rules, hours_of_day.contains(&true));
    let judgement = target.judge(&observed);
    let quiet = |hour: usize| hours_of_day[hour].then_some(0);
    let by_hour = || std::array::from_fn(|hour| data.merged.by_hour[hour].or_else(|| quiet(hour)));
    LimitView {
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
        peak: observed.is_known().then(|| PeakView {
            value: observed.value,
            lower: observed.lower,
            upper: observed.upper,
            at: figures.peak.map(|peak| peak.at.start()),
            identity: figures
                .peak
                .and_then(|peak| peak.identity)
                .map(|identity| name(limit, identity, input)),
        }),
        utilization: judgement.utilization,
        total: figures.total,
        history_from: data.history_from,
        partial: from < to && own().any(|source| source.closed_before < to.first_minute()),
        would_block: target
            .limit
            .filter(|_| observed.is_known())
            .and_then(|limit| WouldBlock::new(figures, &rules, limit)),
        percentiles: Percentiles::new(&figures.histogram),
        top_identities: top(limit, figures, input),
        hypothetical_peak: limit.hypothetical_peak,
        by_hour: rules.is_observable().then(by_hour),
    }
}

/// The local hours of day in which a limit was vouched for. An hour some of whose windows reach back into one that is
/// left out was not quiet for all that is known.
fn hours_of_day<'a>(
    sources: impl Iterator<Item = &'a Vouched>,
    window: Window,
    input: &ReportInput<'_>,
    left_out: &LeftOut,
) -> [bool; 24] {
    let Period { from, to } = input.period;
    let mut hours = [false; 24];
    for source in sources {
        let seen = source.hours_of_day(from, to, input.catalog.timezone, |hour| {
            left_out.holds(hour) || left_out.clean_from(hour, window).is_some()
        });
        hours.iter_mut().zip(seen).for_each(|(hour, seen)| *hour |= seen);
    }
    hours
}

fn coverage_view(source: &Source, vouched: &Vouched, period: Period, zone: Tz) -> CoverageView {
    let counted = vouched.coverage(period.from, period.to, zone);
    CoverageView {
        source: source.name.clone(),
        minutes: counted.minutes,
        covered: counted.covered,
        consecutive_days: counted.consecutive_days,
        gaps: (counted.gaps.iter())
            .map(|gap| SpanView {
                from: gap.from.start(),
                to: gap.to.start(),
            })
            .collect(),
    }
}

fn top(limit: &Limit, figures: &Figures, input: &ReportInput<'_>) -> Vec<TopView> {
    (figures.top.iter())
        .map(|top| TopView {
            identity: name(limit, top.identity, input),
            peak: top.peak,
            at: top.at.start(),
        })
        .collect()
}

/// An identity's label, where its scope is public and the label is known; else its hash in 16 hex digits.
fn name(limit: &Limit, identity: i64, input: &ReportInput<'_>) -> String {
    let public = input
        .catalog
        .scopes
        .get(&limit.scope)
        .is_some_and(|scope| scope.public);
    let label = input
        .labels
        .get(&(limit.scope.clone(), identity))
        .filter(|_| public);
    label
        .cloned()
        .unwrap_or_else(|| format!("{:016x}", identity.cast_unsigned()))
}
