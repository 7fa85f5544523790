//! The report for spreadsheets: RFC 4180, a row for each limit, under a header that only ever grows at its end.
//!
//! Numbers are written whole and never as 1e+16; what is absent is empty. Texts may come from outside, and a
//! spreadsheet would run one that begins like a formula: such a text gets an apostrophe in front.

use chrono::{DateTime, SecondsFormat, Utc};
use csv::{Terminator, WriterBuilder};
use serde::Serialize;

use super::view::{GroupView, LimitView, RecommendationView, Report, SizingView, SourceNames};

/// How many of the largest identities are told.
const TOP: usize = 5;

/// What a row is made of.
struct Row<'a> {
    report: &'a Report,
    group: &'a GroupView,
    limit: &'a LimitView,
}

/// A column: its name and what it holds.
type Column = (&'static str, fn(&Row<'_>) -> String);

const COLUMNS: &[Column] = &[
    ("environment", |row| text(&row.report.environment)),
    ("from", |row| instant(Some(row.report.from))),
    ("to", |row| instant(Some(row.report.to))),
    ("group", |row| text(&row.group.id)),
    ("group_name", |row| text(&row.group.name)),
    ("id", |row| text(&row.limit.id)),
    ("source", |row| {
        text(&match &row.limit.source {
            SourceNames::One(name) => name.clone(),
            SourceNames::Several(names) => names.join(" "),
        })
    }),
    ("endpoints", |row| text(&row.limit.endpoints.join(" "))),
    ("scope", |row| text(&row.limit.scope)),
    ("limit", |row| plain(row.limit.limit)),
    ("window", |row| text(&row.limit.window)),
    ("algorithm", |row| word(row.limit.algorithm)),
    ("shared", |row| row.limit.shared.to_string()),
    ("mode", |row| word(row.limit.mode)),
    ("alert_at", |row| plain(row.limit.alert_at)),
    ("status", |row| word(row.limit.status)),
    ("peak", |row| {
        plain(row.limit.peak.as_ref().and_then(|peak| peak.value))
    }),
    ("peak_lower", |row| {
        plain(row.limit.peak.as_ref().map(|peak| peak.lower))
    }),
    ("peak_upper", |row| {
        plain(row.limit.peak.as_ref().and_then(|peak| peak.upper))
    }),
    ("peak_at", |row| {
        instant(row.limit.peak.as_ref().and_then(|peak| peak.at))
    }),
    ("peak_identity", |row| {
        let peak = row.limit.peak.as_ref();
        text(peak.and_then(|peak| peak.identity.as_deref()).unwrap_or_default())
    }),
    ("utilization", |row| number(row.limit.utilization)),
    ("censored", |row| row.limit.censored.to_string()),
    ("total", |row| row.limit.total.to_string()),
    ("accepted", |row| plain(row.limit.accepted)),
    ("accepted_peak", |row| {
        plain(row.limit.accepted_peak.as_ref().map(|peak| peak.value))
    }),
    ("accepted_peak_at", |row| {
        instant(row.limit.accepted_peak.as_ref().map(|peak| peak.at))
    }),
    ("accepted_utilization", |row| {
        number(row.limit.accepted_peak.as_ref().and_then(|peak| peak.utilization))
    }),
    ("history_from", |row| instant(row.limit.history_from)),
    ("partial", |row| row.limit.partial.to_string()),
    ("would_block_requests", |row| {
        plain(row.limit.would_block.map(|refused| refused.requests))
    }),
    ("would_block_identity_windows", |row| {
        plain(row.limit.would_block.map(|refused| refused.identity_windows))
    }),
    ("would_block_exact", |row| {
        plain(row.limit.would_block.map(|refused| refused.exact))
    }),
    ("p50", |row| plain(row.limit.percentiles.map(|found| found.p50))),
    ("p95", |row| plain(row.limit.percentiles.map(|found| found.p95))),
    ("p99", |row| plain(row.limit.percentiles.map(|found| found.p99))),
    ("p999", |row| plain(row.limit.percentiles.map(|found| found.p999))),
    ("ready", |row| row.limit.readiness.ready.to_string()),
    ("covered_days", |row| row.limit.readiness.covered_days.to_string()),
    ("required_days", |row| {
        row.limit.readiness.required_days.to_string()
    }),
    ("active_days", |row| row.limit.readiness.active_days.to_string()),
    ("recommendation_action", |row| {
        advice(row).map_or_else(String::new, |advice| word(advice.action))
    }),
    ("recommendation_limit", |row| {
        plain(advice(row).and_then(|advice| advice.limit))
    }),
    ("projected_peak", |row| {
        number(advice(row).and_then(|advice| advice.projected_peak))
    }),
    ("interval_low", |row| {
        number(advice(row).and_then(|advice| advice.interval).map(|[low, _]| low))
    }),
    ("interval_high", |row| {
        number(
            advice(row)
                .and_then(|advice| advice.interval)
                .map(|[_, high]| high),
        )
    }),
    ("method", |row| {
        advice(row)
            .and_then(|advice| advice.method)
            .map_or_else(String::new, word)
    }),
    ("reason", |row| {
        text(advice(row).map_or("", |advice| &advice.reason))
    }),
    ("dominated_with_limit", |row| {
        plain(with(row).map(|size| size.limit))
    }),
    ("dominated_with_projected_peak", |row| {
        number(with(row).map(|size| size.projected_peak))
    }),
    ("dominated_without_limit", |row| {
        plain(without(row).map(|size| size.limit))
    }),
    ("dominated_without_projected_peak", |row| {
        number(without(row).map(|size| size.projected_peak))
    }),
    ("trend_direction", |row| {
        row.limit
            .trend
            .map_or_else(String::new, |trend| word(trend.direction))
    }),
    ("trend_per_week", |row| {
        number(row.limit.trend.map(|trend| trend.per_week))
    }),
    ("trend_days", |row| plain(row.limit.trend.map(|trend| trend.days))),
    ("hypothetical_peak", |row| plain(row.limit.hypothetical_peak)),
    ("timezone", |row| text(&row.report.timezone)),
    ("generated_at", |row| instant(Some(row.report.generated_at))),
];

/// Writes a report as comma-separated values.
#[must_use]
#[expect(clippy::missing_panics_doc, reason = "writing to a Vec can't fail")]
pub fn csv(report: &Report) -> String {
    let mut writer = WriterBuilder::new()
        .terminator(Terminator::CRLF)
        .from_writer(Vec::new());
    let rows = report
        .groups
        .iter()
        .flat_map(|group| group.limits.iter().map(move |limit| Row { report, group, limit }));
    let records = std::iter::once(header()).chain(rows.map(|row| cells(&row)));
    for record in records {
        writer
            .write_record(record)
            .expect("a Vec takes all that is written");
    }
    let bytes = writer.into_inner().expect("a Vec takes all that is written");
    String::from_utf8(bytes).expect("cells are UTF-8")
}

fn header() -> Vec<String> {
    let top = (1..=TOP).flat_map(|rank| ["identity", "peak", "at"].map(|part| format!("top_{rank}_{part}")));
    let by_hour = |name: &'static str| (0..24).map(move |hour| format!("{name}_{hour:02}"));
    COLUMNS
        .iter()
        .map(|(name, _)| (*name).to_owned())
        .chain(top)
        .chain(by_hour("peak_by_hour"))
        .chain(by_hour("limit_by_hour"))
        .collect()
}

fn cells(row: &Row<'_>) -> Vec<String> {
    let limit = row.limit;
    let top = (0..TOP).flat_map(|rank| {
        let top = limit.top_identities.get(rank);
        [
            text(top.map_or("", |top| &top.identity)),
            plain(top.map(|top| top.peak)),
            instant(top.map(|top| top.at)),
        ]
    });
    let by_hour = |hours: Option<[Option<u64>; 24]>| hours.unwrap_or_default().map(plain);
    COLUMNS
        .iter()
        .map(|(_, cell)| cell(row))
        .chain(top)
        .chain(by_hour(limit.by_hour))
        .chain(by_hour(limit.limits_by_hour))
        .collect()
}

fn advice<'a>(row: &Row<'a>) -> Option<&'a RecommendationView> {
    row.limit.recommendation.as_ref()
}

fn with<'a>(row: &Row<'a>) -> Option<&'a SizingView> {
    advice(row)?.dominated.as_ref()?.with.as_ref()
}

fn without<'a>(row: &Row<'a>) -> Option<&'a SizingView> {
    advice(row)?.dominated.as_ref()?.without.as_ref()
}

/// A text that no spreadsheet takes for a formula: not even behind blanks, in full-width letters, or behind a semicolon,
/// at which some are set to split.
fn text(text: &str) -> String {
    let mut parts = text.split(';').map(|part| {
        if is_formula(part) {
            format!("'{part}")
        } else {
            part.to_owned()
        }
    });
    let first = parts.next().unwrap_or_default();
    parts.fold(first, |text, part| text + ";" + &part)
}

fn is_formula(text: &str) -> bool {
    let is_blank = |letter: char| letter.is_whitespace() || letter.is_control() || letter == '\u{feff}';
    let first = text.trim_start_matches(is_blank).chars().next();
    let begins = matches!(
        first,
        Some('=' | '+' | '-' | '@' | '\u{ff1d}' | '\u{ff0b}' | '\u{ff0d}' | '\u{ff20}')
    );
    begins || text.starts_with(['\t', '\r', '\n'])
}

/// A word of the program's own, as the JSON has it.
fn word(word: impl Serialize) -> String {
    match serde_json::to_value(word) {
        Ok(serde_json::Value::String(word)) => word,
        _ => String::new(),
    }
}

fn plain(value: Option<impl ToString>) -> String {
    value.map_or_else(String::new, |value| value.to_string())
}

/// A number that is none, which no reader of tables knows, is absent.
fn number(value: Option<f64>) -> String {
    plain(value.filter(|value| value.is_finite()))
}

fn instant(instant: Option<DateTime<Utc>>) -> String {
    plain(instant.map(|instant| instant.to_rfc3339_opts(SecondsFormat::AutoSi, true)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_text_is_a_formula() {
        for formula in [
            "=1+1",
            "+551199",
            "-2+3",
            "@SUM(A1)",
            "\t=1",
            "\rx",
            "\nx",
            " =1",
            "\u{feff}=1",
            "＝1",
            "＋1",
            "－1",
            "＠A",
        ] {
            assert_eq!(text(formula), format!("'{formula}"));
        }
        assert_eq!(text("x;=1;y; -2"), "x;'=1;y;' -2");
        for harmless in ["", "a=1", "a;b", "a,\"b", "x\ny", "'=1", "esc-1"] {
            assert_eq!(text(harmless), harmless);
        }
    }

    #[test]
    fn numbers_are_whole_or_absent() {
        assert_eq!(number(Some(1e16)), "10000000000000000");
        assert_eq!(number(Some(-3.0)), "-3");
        assert_eq!(number(Some(0.8)), "0.8");
        for none in [None, Some(f64::NAN), Some(f64::INFINITY)] {
            assert_eq!(number(none), "");
        }
        assert_eq!(plain(Some(u128::MAX)), "340282366920938463463374607431768211455");
        assert_eq!(plain(None::<u64>), "");
    }
}
