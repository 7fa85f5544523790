//! The report for a terminal.

use std::fmt::Write;

use chrono::{DateTime, Utc};
use chrono_tz::Tz;
use comfy_table::{CellAlignment, Table, presets::NOTHING};

use super::{
    view::{CoverageView, LimitView, Report},
    words::{advice, allowed, bounds, cut, printable, used},
};

/// How many gaps of a source are listed; the JSON has all of them.
const GAPS: usize = 5;

/// Letters of an id or an identity that are shown; the JSON has all of them.
const LETTERS: usize = 30;

const COLUMNS: [&str; 10] = [
    "limit", "allowed", "mode", "peak", "at", "identity", "used", "status", "total", "advice",
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

fn row(limit: &LimitView, time: &dyn Fn(DateTime<Utc>) -> String) -> [String; 10] {
    let none = || "–".to_owned();
    let peak = limit.peak.as_ref();
    let identity = peak.and_then(|peak| peak.identity.as_deref());
    let partial = if limit.partial { ", partial" } else { "" };
    [
        cut(&printable(&limit.id), LETTERS),
        allowed(limit),
        limit.mode.to_string(),
        peak.map_or_else(none, |peak| {
            let at_least = if peak.upper.is_none() { "≥" } else { "" };
            format!("{at_least}{}", bounds(peak))
        }),
        peak.and_then(|peak| peak.at).map_or_else(none, time),
        if limit.shared {
            "all".to_owned()
        } else {
            identity.map_or_else(none, |identity| cut(&printable(identity), LETTERS))
        },
        used(limit).unwrap_or_else(none),
        format!("{}{partial}", limit.status),
        limit.total.to_string(),
        advice(limit).unwrap_or_else(none),
    ]
}
