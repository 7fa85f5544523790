//! The overview: every limit of an environment in a row.

use askama::Template;

use super::{Filter, Frame, Words, alerts::AlertsPanel, row::Row, words::Time};
use crate::{
    catalog::UNLIMITED,
    report::{Alerts, Bill, CoverageView, GroupView, IgnoredView, Report, printable},
};

/// How many gaps of a source are listed; the JSON has all of them.
const GAPS: usize = 12;

/// The overview.
#[derive(Debug, Template)]
#[template(path = "overview.html")]
pub struct Overview {
    frame: Frame,
    summary: Summary,
}

/// What a report says, written.
#[derive(Debug)]
pub(super) struct Summary {
    pub(super) words: Words,
    pub(super) environment: String,
    pub(super) from: Time,
    pub(super) to: Time,
    pub(super) zone: String,
    pub(super) generated: Time,
    pub(super) percent: String,
    /// How many limits are judged.
    pub(super) limits: String,
    pub(super) tallies: Vec<Tally>,
    /// Whether nothing is known of any limit.
    pub(super) nothing: bool,
    /// The way back to all limits, where only some are shown.
    pub(super) all: Option<String>,
    /// What is alerted now; none where the report stands alone.
    pub(super) alerts: Option<AlertsPanel>,
    pub(super) sections: Vec<Section>,
    pub(super) sources: Vec<Source>,
    /// What all drains cost in Redis commands, where it is known.
    pub(super) bill: Option<String>,
    pub(super) ignored: Vec<Span>,
}

/// How many limits have something in common.
#[derive(Debug)]
pub(super) struct Tally {
    pub(super) word: &'static str,
    pub(super) text: String,
    pub(super) meaning: String,
    pub(super) count: usize,
    pub(super) href: Option<String>,
    pub(super) chosen: bool,
}

/// A group of limits.
#[derive(Debug)]
pub(super) struct Section {
    pub(super) id: String,
    pub(super) name: String,
    pub(super) rows: Vec<Row>,
}

/// How far a source can be vouched for.
#[derive(Debug)]
pub(super) struct Source {
    pub(super) name: String,
    pub(super) share: String,
    pub(super) minutes: String,
    pub(super) days: String,
    /// What its drains cost in Redis commands, where there were any of late.
    pub(super) commands: Option<String>,
    pub(super) gaps: Vec<Span>,
    /// How many more there are.
    pub(super) more: Option<String>,
}

/// A span of time and what there is to say of it.
#[derive(Debug)]
pub(super) struct Span {
    pub(super) from: Time,
    pub(super) to: Time,
    pub(super) note: String,
}

impl Overview {
    /// The overview of a report, of how alerts stand, and of what drains cost.
    #[must_use]
    pub fn new(frame: Frame, report: &Report, alerts: &Alerts, bill: &Bill) -> Self {
        let mut summary = Summary::new(report, frame.words, Some(&frame));
        summary.alerts = Some(AlertsPanel::new(alerts, &frame));
        summary.add_bill(report, bill);
        Self { frame, summary }
    }
}

impl Summary {
    /// Written with links where there is a frame, and without where it stands alone.
    pub(super) fn new(report: &Report, words: Words, frame: Option<&Frame>) -> Self {
        let filter = frame.and_then(|frame| frame.address.filter);
        let limits = || report.groups.iter().flat_map(|group| &group.limits);
        let tally = |own: Filter| {
            let count = limits().filter(|limit| own.holds(limit)).count();
            let chosen = filter == Some(own);
            let target = (!chosen).then_some(own);
            Tally {
                word: own.word(),
                text: words
                    .language
                    .counted(&format!("tally-{}", own.word()), count as u64),
                meaning: words.text(&format!("tally-{}-meaning", own.word())),
                count,
                href: frame.map(|frame| frame.address.filter(target).href()),
                chosen,
            }
        };
        let judged = limits().filter(|limit| limit.limit.is_some()).count();
        Self {
            words,
            environment: printable(&report.environment),
            from: words.time(report.from),
            to: words.time(report.to),
            zone: report.timezone.clone(),
            generated: words.time(report.generated_at),
            percent: words.number(report.alert_percent),
            limits: words.language.counted("tally-limits", judged as u64),
            nothing: judged > 0 && limits().all(|limit| limit.peak.is_none()),
            tallies: Filter::ALL.map(tally).into(),
            all: filter.and(frame).map(|frame| frame.address.filter(None).href()),
            alerts: None,
            sections: (report.groups.iter())
                .map(|group| section(group, words, filter, frame))
                .filter(|section| !section.rows.is_empty())
                .collect(),
            sources: report
                .coverage
                .iter()
                .map(|coverage| source(coverage, words))
                .collect(),
            bill: None,
            ignored: report.ignored.iter().map(|span| ignored(span, words)).collect(),
        }
    }

    fn add_bill(&mut self, report: &Report, bill: &Bill) {
        let words = self.words;
        for (source, coverage) in self.sources.iter_mut().zip(&report.coverage) {
            let line = (bill.lines.iter())
                .find(|line| line.environment == report.environment && line.source == coverage.source);
            source.commands = line
                .and_then(|line| Some((line, line.per_run?)))
                .map(|(line, per_run)| {
                    let per_run = [("number", words.language.decimal(per_run))];
                    let mut text = words.with("bill-run", &per_run);
                    if let Some(per_day) = line.per_day {
                        text.push_str(", ");
                        text.push_str(&words.with("bill-day", &[("number", words.number(per_day))]));
                    }
                    text
                });
        }
        self.bill = bill.per_day.map(|per_day| {
            let all = words.with("bill-all", &[("number", words.number(per_day))]);
            match bill.monthly {
                None => all,
                Some(price) => {
                    let price = [("price", words.language.decimal((price * 100.0).round() / 100.0))];
                    format!("{all} {}", words.with("bill-price", &price))
                }
            }
        });
    }

    pub(super) fn text(&self, key: &str) -> String {
        self.words.text(key)
    }
}

fn section(group: &GroupView, words: Words, filter: Option<Filter>, frame: Option<&Frame>) -> Section {
    let shown = group
        .limits
        .iter()
        .filter(|limit| filter.is_none_or(|filter| filter.holds(limit)));
    Section {
        id: group.id.clone(),
        name: group_name(&group.id, &group.name, words),
        rows: shown
            .map(|limit| Row::new(limit, &group.id, words, frame.map(|frame| &frame.address)))
            .collect(),
    }
}

/// A group's name; that of the endpoints without a limit is ours and not the catalog's.
pub(super) fn group_name(id: &str, name: &str, words: Words) -> String {
    if id == UNLIMITED {
        words.text("group-unlimited")
    } else {
        printable(name)
    }
}

fn source(coverage: &CoverageView, words: Words) -> Source {
    let [covered, minutes] = [coverage.covered, coverage.minutes].map(|count| count.max(0).cast_unsigned());
    let gap = |gap: &crate::report::SpanView| Span {
        from: words.time(gap.from),
        to: words.time(gap.to),
        note: words.language.counted(
            "gap-minutes",
            (gap.to - gap.from).num_minutes().max(0).cast_unsigned(),
        ),
    };
    let more = coverage.gaps.len().saturating_sub(GAPS);
    Source {
        name: printable(&coverage.source),
        share: words
            .language
            .percent(covered, minutes)
            .unwrap_or_else(|| "–".to_owned()),
        minutes: words.with(
            "coverage-minutes",
            &[
                ("covered", words.number(covered)),
                ("minutes", words.number(minutes)),
            ],
        ),
        days: words
            .language
            .counted("coverage-days", coverage.consecutive_days.into()),
        commands: None,
        gaps: coverage.gaps.iter().take(GAPS).map(gap).collect(),
        more: (more > 0).then(|| words.language.counted("gap-more", more as u64)),
    }
}

fn ignored(span: &IgnoredView, words: Words) -> Span {
    Span {
        from: words.time(span.from),
        to: words.time(span.to),
        note: printable(&span.reason),
    }
}
