//! The local days of one limit.

use super::{
    build::Context,
    input::LimitData,
    limit::{rules, used_sources},
    view::DayView,
};
use crate::{calibration::Observed, catalog::Limit};

/// Every local day of the period.
pub(super) fn days(limit: &Limit, context: &Context<'_>) -> Vec<DayView> {
    let none = LimitData::default();
    let data = context.input.limits.get(&limit.id).unwrap_or(&none);
    let rules = rules(limit, context);
    let ignored = context.ignored_days();
    let mut days: Vec<DayView> = Vec::new();
    for source in used_sources(limit, context) {
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
