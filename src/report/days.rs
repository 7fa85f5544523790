//! The local days of one limit.

use std::collections::BTreeSet;

use super::{
    build::Context,
    input::LimitData,
    limit::{own_sources, rules},
    view::DayView,
};
use crate::{
    calibration::Observed,
    catalog::Limit,
    time::{Hour, day_of},
};

/// Every local day of the period.
pub(super) fn days(limit: &Limit, context: &Context<'_>) -> Vec<DayView> {
    let none = LimitData::default();
    let data = context.input.limits.get(&limit.id).unwrap_or(&none);
    let rules = rules(limit, context);
    let period = context.input.period;
    let ignored: BTreeSet<_> = (period.from.index()..period.to.index())
        .map(Hour::from_index)
        .filter(|hour| context.left_out.holds(*hour))
        .map(|hour| day_of(hour.start(), context.zone()))
        .collect();
    let mut days: Vec<DayView> = Vec::new();
    for source in own_sources(limit, context) {
        for (place, (day, coverage)) in source.days.iter().enumerate() {
            if days.len() <= place {
                days.push(DayView {
                    day: *day,
                    peak: None,
                    upper: 0,
                    total: 0,
                    minutes: coverage.minutes,
                    covered: coverage.covered,
                    ignored: ignored.contains(day),
                });
            }
            // Of several sources the one that knows least decides.
            let view = &mut days[place];
            view.minutes = view.minutes.max(coverage.minutes);
            view.covered = view.covered.min(coverage.covered);
        }
    }
    for view in &mut days {
        let merged = data.counted.days.get(&view.day);
        let figures = merged.map(|merged| &merged.figures).cloned().unwrap_or_default();
        let observed = Observed::new(&figures, &rules, view.covered > 0);
        (view.peak, view.upper, view.total) = (observed.value, observed.upper, figures.total);
    }
    days
}
