//! The report for a pull request or a wiki: GitHub's Markdown.

use std::fmt::Write;

use chrono::{DateTime, Utc};
use chrono_tz::Tz;

use super::{
    view::{CoverageView, GroupView, LimitView, Report},
    words::{advice, allowed, bounds, printable, used},
};
use crate::{calibration::Action, language::Language};

const HEAD: &str = "\
| limit | allowed | mode | peak | used | status | would block | ready | advice |
|---|--:|---|--:|--:|---|--:|--:|---|
";

/// Joins no words and ends no line, but what stands before it is no mention, reference or address any more.
const JOINER: char = '\u{2060}';

/// Writes a report as Markdown: a heading, how far the sources can be vouched for, a table for each group, and why
/// limits are not kept as they are.
#[must_use]
pub fn markdown(report: &Report, zone: Tz) -> String {
    let time = |instant: DateTime<Utc>| Language::English.minute(instant, zone);
    let mut text = format!(
        "## Rate limits of {}\n\n{} to {}, times of {}. Near from {} % of a limit.\n\n",
        escaped(&report.environment),
        time(report.from),
        time(report.to),
        escaped(&report.timezone),
        report.alert_percent
    );
    for coverage in &report.coverage {
        text += &coverage_line(coverage);
    }
    for span in &report.ignored {
        let (from, to, reason) = (time(span.from), time(span.to), escaped(&span.reason));
        // Writing to a text can't fail.
        let _ = writeln!(text, "- left out: {from} to {to}, {reason}");
    }
    for group in report.groups.iter().filter(|group| !group.limits.is_empty()) {
        text += &group_part(group);
    }
    text
}

fn coverage_line(coverage: &CoverageView) -> String {
    let minutes: i64 = coverage
        .gaps
        .iter()
        .map(|gap| (gap.to - gap.from).num_minutes())
        .sum();
    let gaps = match coverage.gaps.len() {
        0 => "no gaps".to_owned(),
        1 => format!("1 gap of {minutes} min"),
        gaps => format!("{gaps} gaps of {minutes} min together"),
    };
    format!(
        "- {}: {} of {} minutes covered, {} full days in a row, {gaps}\n",
        escaped(&coverage.source),
        coverage.covered,
        coverage.minutes,
        coverage.consecutive_days
    )
}

fn group_part(group: &GroupView) -> String {
    let mut text = format!("\n### {}: {}\n\n{HEAD}", escaped(&group.id), escaped(&group.name));
    text.extend(group.limits.iter().map(row));
    let reasons: String = group.limits.iter().filter_map(reason).collect();
    if !reasons.is_empty() {
        text.push('\n');
        text += &reasons;
    }
    text
}

fn row(limit: &LimitView) -> String {
    let none = || "–".to_owned();
    let would_block = limit.would_block.map_or_else(none, |refused| {
        let about = if refused.exact { "" } else { "~" };
        format!(
            "{about}{} in {about}{}",
            refused.requests, refused.identity_windows
        )
    });
    let partial = if limit.partial { ", partial" } else { "" };
    let at_least = if limit.censored { "at least " } else { "" };
    let cells = [
        limit.id.clone(),
        allowed(limit),
        limit.mode.to_string(),
        limit
            .peak
            .as_ref()
            .map_or_else(none, |peak| format!("{at_least}{}", bounds(peak))),
        used(limit).unwrap_or_else(none),
        format!("{}{partial}", limit.status),
        would_block,
        format!(
            "{}/{}",
            limit.readiness.covered_days, limit.readiness.required_days
        ),
        advice(limit).unwrap_or_else(none),
    ];
    format!("| {} |\n", cells.map(|cell| escaped(&cell)).join(" | "))
}

/// Why a limit is not kept as it is.
fn reason(limit: &LimitView) -> Option<String> {
    let advice = limit.recommendation.as_ref()?;
    (advice.action != Action::Keep)
        .then(|| format!("- **{}**: {}\n", escaped(&limit.id), escaped(&advice.reason)))
}

/// Text that shows as it is written: in one line, without markup, mentions, references or links.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in printable(text).chars() {
        match letter {
            '\\' | '`' | '*' | '_' | '[' | ']' | '<' | '>' | '|' | '~' | '&' | '!' | '$' => {
                escaped.extend(['\\', letter]);
            }
            '@' | '#' => escaped.extend([letter, JOINER]),
            '/' if escaped.ends_with(':') => escaped.extend([JOINER, letter]),
            '.' if escaped.to_ascii_lowercase().ends_with("www") => escaped.extend([JOINER, letter]),
            _ => escaped.push(letter),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_from_outside_is_only_text() {
        for (text, shown) in [
            ("esc-1", "esc-1"),
            ("a|b", "a\\|b"),
            ("`x`", "\\`x\\`"),
            ("<img src=x>", "\\<img src=x\\>"),
            ("[a](b)", "\\[a\\](b)"),
            ("&amp;", "\\&amp;"),
            ("@octocat", "@\u{2060}octocat"),
            ("see #12", "see #\u{2060}12"),
            ("http://x", "http:\u{2060}//x"),
            ("WWW.x.org", "WWW\u{2060}.x.org"),
            ("x\ny", "x\\\\ny"),
        ] {
            assert_eq!(escaped(text), shown, "{text}");
        }
    }
}
