//! From what was read to the report.

use std::{
    borrow::Cow,
    cell::RefCell,
    collections::{BTreeMap, BTreeSet, HashMap},
};

use chrono::SubsecRound;
use chrono_tz::Tz;

use super::{
    Period,
    days::days,
    facts::SourceFacts,
    hours::hours,
    input::ReportInput,
    limit::{limit_view, own_sources},
    parts::{LeftOut, ignored_hours},
    profile::profile,
    unlimited,
    view::{CoverageView, Detail, GroupView, Hours, Report, SamplesView, SpanView},
};
use crate::{
    calibration::Vouched,
    catalog::{Limit, Source},
    fold::{HourRow, Samples},
    time::{Day, Hour, Minute, Window, day_of},
};

/// What all limits of a report have in common.
pub(super) struct Context<'a> {
    pub(super) input: &'a ReportInput<'a>,
    pub(super) left_out: LeftOut,
    /// The sources of the environment.
    pub(super) sources: BTreeMap<&'a str, SourceFacts<'a>>,
    /// Hours of day by source and window: many limits share both.
    hours_of_day: RefCell<HashMap<(String, Window), [bool; 24]>>,
}

impl<'a> Context<'a> {
    pub(super) fn new(input: &'a ReportInput<'a>) -> Self {
        let here = |source: &&Source| source.environments.iter().any(|name| name == input.environment);
        let facts = |source: &'a Source| {
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
            (
                &*source.name,
                SourceFacts::new(vouched, input.period, input.catalog.timezone),
            )
        };
        Self {
            input,
            left_out: LeftOut::new(&input.catalog.ignored, input.environment),
            sources: input.catalog.sources.iter().filter(here).map(facts).collect(),
            hours_of_day: RefCell::default(),
        }
    }

    /// The local hours of day in which a source was vouched for, for windows of a length.
    pub(super) fn hours_of_day(&self, source: &str, window: Window) -> [bool; 24] {
        let Some(facts) = self.sources.get(source) else {
            return [false; 24];
        };
        let mut known = self.hours_of_day.borrow_mut();
        *known.entry((source.to_owned(), window)).or_insert_with(|| {
            let Period { from, to } = self.input.period;
            facts.vouched.hours_of_day(from, to, self.zone(), |hour| {
                self.left_out.holds(hour) || self.left_out.clean_from(hour, window).is_some()
            })
        })
    }

    /// The local days of the period that are left out in part or as a whole.
    pub(super) fn ignored_days(&self) -> BTreeSet<Day> {
        let Period { from, to } = self.input.period;
        (from.index()..to.index())
            .map(Hour::from_index)
            .filter(|hour| self.left_out.holds(*hour))
            .map(|hour| day_of(hour.start(), self.zone()))
            .collect()
    }

    pub(super) fn zone(&self) -> Tz {
        self.input.catalog.timezone
    }
}

/// Makes the report.
#[must_use]
pub fn build(input: &ReportInput<'_>) -> Report {
    let Period { from, to } = input.period;
    let (catalog, context) = (input.catalog, Context::new(input));
    let sources = (catalog.sources.iter()).filter_map(|source| context.sources.get_key_value(&*source.name));
    let groups = catalog
        .groups
        .iter()
        .filter(|group| input.group.is_none_or(|wanted| wanted == group.id));
    let mut groups: Vec<GroupView> = groups
        .map(|group| GroupView {
            id: group.id.clone(),
            name: group.name.clone(),
            limits: (group.limits.iter())
                .filter(|limit| limit.exists_in(input.environment))
                .map(|limit| limit_view(limit, &context))
                .collect(),
        })
        .collect();
    groups.extend(unlimited::group(&context));
    Report {
        environment: input.environment.to_owned(),
        from: from.start(),
        to: to.start(),
        timezone: catalog.timezone.name().to_owned(),
        alert_percent: catalog.alert_percent,
        generated_at: input.generated_at.trunc_subsecs(0),
        coverage: sources.map(|(name, facts)| coverage_view(name, facts)).collect(),
        ignored: ignored_hours(&catalog.ignored, input.environment, input.period),
        groups,
    }
}

/// One limit closer up, with its hours.
#[must_use]
pub fn detail(input: &ReportInput<'_>, limit: &Limit, rows: &[HourRow]) -> Detail {
    let context = Context::new(input);
    let figures = input
        .limits
        .get(&limit.id)
        .map(|data| &data.counted.merged.figures);
    let group = input
        .catalog
        .limits()
        .find(|(_, own)| own.id == limit.id)
        .map(|(group, _)| (group.id.clone(), group.name.clone()));
    let hours = hours(limit, &context, rows);
    Detail {
        limit: limit_view(limit, &context),
        group: group.unwrap_or_default(),
        closed_before: own_sources(limit, &context)
            .map(|source| source.vouched.closed_before.start())
            .min()
            .unwrap_or(input.generated_at),
        days: days(limit, &context),
        profile: profile(&hours, context.zone()),
        hours,
        histogram: figures.map_or_else(Vec::new, |figures| figures.histogram.entries().to_vec()),
    }
}

/// The hours of one limit.
#[must_use]
pub fn limit_hours(
    input: &ReportInput<'_>,
    limit: &Limit,
    rows: &[HourRow],
    samples: &BTreeMap<Hour, Samples>,
) -> Hours {
    let mut hours = hours(limit, &Context::new(input), rows);
    for view in &mut hours {
        view.samples = samples.get(&Hour::containing(view.hour)).map(SamplesView::of);
    }
    Hours {
        id: limit.id.clone(),
        environment: input.environment.to_owned(),
        hours,
    }
}

fn coverage_view(name: &str, facts: &SourceFacts<'_>) -> CoverageView {
    CoverageView {
        source: name.to_owned(),
        minutes: facts.coverage.minutes,
        covered: facts.coverage.covered,
        consecutive_days: facts.coverage.consecutive_days,
        gaps: (facts.coverage.gaps.iter())
            .map(|gap| SpanView {
                from: gap.from.start(),
                to: gap.to.start(),
            })
            .collect(),
    }
}
