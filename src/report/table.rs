//! The report for a terminal.

use std::fmt::Write;

use chrono::{DateTime, Utc};
use chrono_tz::Tz;
use comfy_table::{CellAlignment, Table, presets::NOTHING};

use super::view::{CoverageView, LimitView, PeakView, Report};

/// How many gaps of a source are listed; the JSON has all of them.
const GAPS: usize = 5;

const COLUMNS: [&str; 9] = [
    "limit", "allowed", "mode", "peak", "at", "identity", "used", "status", "total",
];
/// The columns that hold numbers.
const NUMBERS: [usize; 4] = [1, 3, 6, 8];

/// Prints a report: a heading, how far the sources can be vouched for, and a table for each group.
#[must_use]
pub fn table(report: &Report, zone: Tz) -> String {
    let time = |instant: DateTime<Utc>| instant.with_timezone(&zone).format("%Y-%m-%d %H:%M").to_string();
    let mut lines = vec![format!(
        "{}: {} to {}, times of {}; near from {} % of a limit",
        printable(&report.environment),
        time(report.from),
        time(report.to),
        report.timezone,
        report.alert_percent
    )];
    lines.extend(
        report
            .coverage
            .iter()
            .map(|coverage| coverage_line(coverage, &time)),
    );
    lines.extend(report.ignored.iter().map(|span| {
        format!(
            "left out {} to {}: {}",
            time(span.from),
            time(span.to),
            printable(&span.reason)
        )
    }));
    for group in report.groups.iter().filter(|group| !group.limits.is_empty()) {
        lines.push(format!("\n{}  {}", printable(&group.id), printable(&group.name)));
        let mut table = Table::new();
        table.load_style(NOTHING).set_header(COLUMNS);
        table.add_rows(group.limits.iter().map(|limit| row(limit, &time)));
        for number in NUMBERS {
            if let Some(column) = table.column_mut(number) {
                column.set_cell_alignment(CellAlignment::Right);
            }
        }
        lines.push(table.to_string());
    }
    lines.join("\n") + "\n"
}

fn coverage_line(coverage: &CoverageView, time: &dyn Fn(DateTime<Utc>) -> String) -> String {
    let mut line = format!(
        "{}: {} of {} minutes covered, {} full days in a row",
        printable(&coverage.source),
        coverage.covered,
        coverage.minutes,
        coverage.consecutive_days
    );
    for (n, gap) in coverage.gaps.iter().take(GAPS).enumerate() {
        let minutes = (gap.to - gap.from).num_minutes();
        let start = if n == 0 { "; gaps: " } else { ", " };
        // Writing to a text can't fail.
        let _ = write!(line, "{start}{} ({minutes} min)", time(gap.from));
    }
    if coverage.gaps.len() > GAPS {
        let _ = write!(line, " and {} more", coverage.gaps.len() - GAPS);
    }
    line
}

fn row(limit: &LimitView, time: &dyn Fn(DateTime<Utc>) -> String) -> [String; 9] {
    let none = || "–".to_owned();
    let peak = limit.peak.as_ref();
    let identity = peak.and_then(|peak| peak.identity.as_deref());
    let partial = if limit.partial { ", partial" } else { "" };
    [
        printable(&limit.id),
        limit.limit.map_or_else(
            || limit.window.clone(),
            |value| format!("{value} / {}", limit.window),
        ),
        limit.mode.to_string(),
        peak.map_or_else(none, bounds),
        peak.and_then(|peak| peak.at).map_or_else(none, time),
        if limit.shared {
            "all".to_owned()
        } else {
            identity.map_or_else(none, printable)
        },
        used(limit).unwrap_or_else(none),
        format!("{}{partial}", limit.status),
        limit.total.to_string(),
    ]
}

/// A peak with the bounds that differ from it.
fn bounds(peak: &PeakView) -> String {
    let lower = Some(peak.lower)
        .filter(|lower| peak.value != Some(*lower))
        .map(|lower| format!("≥{lower}"));
    let upper = Some(peak.upper)
        .filter(|upper| peak.value != Some(*upper))
        .map(|upper| format!("≤{upper}"));
    let bounds: Vec<_> = lower.into_iter().chain(upper).collect();
    match (peak.value, bounds.join(" ")) {
        (Some(value), bounds) if bounds.is_empty() => value.to_string(),
        (Some(value), bounds) => format!("{value} ({bounds})"),
        (None, bounds) => bounds,
    }
}

/// The used share in percent with one digit, cut off and not rounded: 69.57 % must not look like 70 %.
fn used(limit: &LimitView) -> Option<String> {
    let value = limit.peak.as_ref()?.value?;
    let per_mille = (u128::from(value) * 1000).checked_div(limit.limit?.into())?;
    Some(format!("{}.{} %", per_mille / 10, per_mille % 10))
}

/// Text from outside with everything escaped that could move the cursor, break a line or turn the reading direction.
pub(crate) fn printable(text: &str) -> String {
    let mut printable = String::with_capacity(text.len());
    for letter in text.chars() {
        let invisible = matches!(letter, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}');
        if letter.is_control() || invisible {
            printable.extend(letter.escape_default());
        } else {
            printable.push(letter);
        }
    }
    printable
}
