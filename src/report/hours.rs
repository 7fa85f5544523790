//! The hours of one limit.

use std::collections::BTreeMap;

use super::{
    build::Context,
    facts::SourceFacts,
    limit::{counted, peak_view, rules, used_sources},
    view::HourView,
};
use crate::{calibration::Observed, catalog::Limit, fold::HourRow, time::Hour};

/// Every hour of the period of which something is known: it has samples, or covered minutes. An hour that is missing
/// is not known; one that is covered and quiet has the peak 0.
pub(super) fn hours(limit: &Limit, context: &Context<'_>, rows: &[HourRow]) -> Vec<HourView> {
    let rows: BTreeMap<Hour, &HourRow> = rows.iter().map(|row| (row.hour, row)).collect();
    let period = context.input.period;
    let sources = used_sources(limit, context);
    let hours = (period.from.index()..period.to.index()).map(Hour::from_index);
    hours
        .filter_map(|hour| view(limit, &sources, hour, rows.get(&hour).copied(), context))
        .collect()
}

fn view(
    limit: &Limit,
    sources: &[&SourceFacts<'_>],
    hour: Hour,
    row: Option<&HourRow>,
    context: &Context<'_>,
) -> Option<HourView> {
    let covered_minutes = (sources.iter())
        .map(|source| source.vouched.covered_minutes(hour))
        .min()
        .unwrap_or(0);
    if row.is_none() && covered_minutes == 0 {
        return None;
    }
    let figures = row.map(|row| row.figures.clone()).unwrap_or_default();
    let observed = Observed::new(&figures, &rules(limit, context), covered_minutes > 0);
    Some(HourView {
        hour: hour.start(),
        peak: peak_view(limit, &figures, &observed, context),
        total: counted(limit, figures.total),
        identities: figures.identities,
        covered_minutes,
        partial: sources
            .iter()
            .any(|source| source.vouched.closed_before < hour.next().first_minute()),
        ignored: context.left_out.holds(hour),
        samples: None,
    })
}
