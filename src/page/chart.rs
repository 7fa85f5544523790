//! The hourly peaks of a period, drawn: columns, lines, and what is not known.

use std::fmt::Write as _;

use chrono::{DateTime, TimeDelta, Timelike as _, Utc};

use super::{Words, bar::Share};
use crate::report::{Detail, HourView, PeakView};

/// Days are marked so far apart that no more marks than this stand side by side.
const MOST_MARKS: usize = 8;
/// Up to so many hours the marks are hours.
const HOURS_MARKED: usize = 72;
/// A quiet hour is drawn this high, in hundredths of a per cent, so that it can be told from one that is not known.
const GROUND: u16 = 80;

/// The drawing. Columns are one wide and 10,000 high, standing on the ground at 10,000.
#[derive(Debug)]
pub(super) struct Chart {
    pub(super) hours: usize,
    /// Outline of the peaks.
    pub(super) peaks: String,
    /// Outline of how much more they may have been.
    pub(super) doubt: String,
    /// Outline of the peaks that are left out.
    pub(super) ignored: String,
    /// Hours that are not known, from and how wide.
    pub(super) gaps: Vec<(Share, Share)>,
    /// Hours that are known in part.
    pub(super) parts: Vec<(Share, Share)>,
    /// Where the limit is, from above.
    pub(super) limit: Option<Share>,
    /// Where the alert is, from above.
    pub(super) alert: Option<Share>,
    pub(super) marks: Vec<(Share, String)>,
    /// The largest that may have been.
    pub(super) largest: u64,
    /// How many hours are not known.
    pub(super) unknown: usize,
}

/// What is known of an hour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Known {
    /// All of it.
    Whole,
    /// Some minutes.
    Part,
    /// Nothing.
    Gap,
    /// It has not come yet.
    Ahead,
}

/// The hours of a period, each with what is known of it.
pub(super) fn grid(
    detail: &Detail,
    (from, to): (DateTime<Utc>, DateTime<Utc>),
) -> Vec<(Known, Option<&HourView>)> {
    let count = usize::try_from((to - from).num_hours()).unwrap_or(0);
    let unseen = |place| {
        if from + TimeDelta::hours(place) < detail.closed_before {
            Known::Gap
        } else {
            Known::Ahead
        }
    };
    let mut grid: Vec<_> = (0..).take(count).map(|place| (unseen(place), None)).collect();
    for hour in &detail.hours {
        let place = usize::try_from((hour.hour - from).num_hours())
            .ok()
            .filter(|place| *place < count);
        let Some(place) = place else { continue };
        let known = match hour.covered_minutes {
            0 if !hour.partial => Known::Gap,
            1..60 if !hour.partial => Known::Part,
            _ => Known::Whole,
        };
        grid[place] = (known, Some(hour));
    }
    grid
}

impl Chart {
    pub(super) fn new(detail: &Detail, period: (DateTime<Utc>, DateTime<Utc>), words: Words) -> Self {
        let grid = grid(detail, period);
        let peaks = || grid.iter().filter_map(|(_, hour)| hour.as_ref()?.peak.as_ref());
        let largest = peaks().map(PeakView::most).max().unwrap_or(0);
        let scale = u128::from(largest.max(detail.limit.limit.unwrap_or(0)).max(1)) * 11;
        // A tenth is left above.
        let height = |value: u64| Share::of(u128::from(value) * 10, scale);
        let mut chart = Self {
            hours: grid.len(),
            peaks: String::new(),
            doubt: String::new(),
            ignored: String::new(),
            gaps: runs(&grid, Known::Gap),
            parts: runs(&grid, Known::Part),
            limit: detail.limit.limit.map(|limit| height(limit).rest()),
            alert: detail.limit.alert_at.map(|alert| height(alert).rest()),
            marks: marks(period.0, grid.len(), words),
            largest,
            unknown: grid.iter().filter(|(known, _)| *known == Known::Gap).count(),
        };
        for (place, (_, hour)) in grid.iter().enumerate() {
            let Some((hour, peak)) = hour.and_then(|hour| Some((hour, hour.peak.as_ref()?))) else {
                continue;
            };
            let least = height(peak.least()).units().max(GROUND);
            let most = height(peak.most()).units();
            let outline = if hour.ignored {
                &mut chart.ignored
            } else {
                &mut chart.peaks
            };
            column(outline, place, 0, least);
            if most > least && !hour.ignored {
                column(&mut chart.doubt, place, least, most);
            }
        }
        chart
    }
}

/// Adds a column from one height to another.
fn column(outline: &mut String, place: usize, from: u16, to: u16) {
    // Writing to a text can't fail.
    let _ = write!(
        outline,
        "M{place} {}V{}h1V{}z",
        10_000 - from,
        10_000 - to,
        10_000 - from
    );
}

/// The runs of hours of which so much is known, from and how wide.
fn runs(grid: &[(Known, Option<&HourView>)], wanted: Known) -> Vec<(Share, Share)> {
    let mut place = 0;
    let mut runs = Vec::new();
    for run in grid.chunk_by(|(one, _), (other, _)| one == other) {
        let (start, end) = (place, place + run.len());
        place = end;
        if run[0].0 == wanted {
            let [start, end] = [start, end].map(|place| Share::of(place as u128, grid.len() as u128));
            runs.push((start, end.beyond(start)));
        }
    }
    runs
}

/// Marks under the columns: days, or the hours of a short period.
fn marks(from: DateTime<Utc>, hours: usize, words: Words) -> Vec<(Share, String)> {
    let local = |place: usize| {
        let hours = TimeDelta::hours(i64::try_from(place).unwrap_or(0));
        (from + hours).with_timezone(&words.zone)
    };
    let is_short = hours <= HOURS_MARKED;
    let step = if is_short {
        6 * hours.div_ceil(48).max(1)
    } else {
        hours.div_ceil(24).div_ceil(MOST_MARKS)
    };
    let places: Vec<usize> = if is_short {
        (0..hours)
            .filter(|place| (local(*place).hour() as usize).is_multiple_of(step))
            .collect()
    } else {
        let starts = (0..hours)
            .filter(|place| *place == 0 || local(*place).date_naive() != local(place - 1).date_naive());
        starts.step_by(step).collect()
    };
    let label = |place: usize| {
        let local = local(place);
        if is_short {
            local.format("%H:%M").to_string()
        } else {
            words.language.short_day(local.date_naive())
        }
    };
    places
        .into_iter()
        .map(|place| (Share::of(place as u128, hours as u128), label(place)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        language::Language,
        page::sample::{detail, hour, limit, period, words},
    };

    #[test]
    fn what_is_not_known_is_no_quiet_hour() {
        // Of 48 hours the first is quiet, the second peaks at 11 and may have been 22, the third was read in part; the
        // others are not known. The scale is a tenth more than 22: 24.2. 11 is 45.45 % of it, 22 is 90.90 %.
        let mut detail = detail(limit(20, 14, None));
        detail.hours = vec![
            hour("2026-03-01T03:00:00Z", Some((0, 0)), 60),
            hour("2026-03-01T04:00:00Z", Some((11, 22)), 60),
            hour("2026-03-01T05:00:00Z", None, 7),
        ];
        let chart = Chart::new(&detail, period(), words(Language::English));
        assert_eq!(chart.peaks, "M0 10000V9920h1V10000zM1 10000V5455h1V10000z");
        assert_eq!(chart.doubt, "M1 5455V910h1V5455z");
        // From hour 3 of 48 on: 6.25 %, 93.75 % wide. Hour 2 is 4.16 % on and as wide as from there to 6.25 %.
        let spans = |spans: &[(Share, Share)]| {
            spans
                .iter()
                .map(|(x, width)| format!("{x} {width}"))
                .collect::<Vec<_>>()
        };
        assert_eq!(spans(&chart.gaps), ["6.25% 93.75%"]);
        assert_eq!(spans(&chart.parts), ["4.16% 2.09%"]);
        assert_eq!((chart.hours, chart.unknown, chart.largest), (48, 45, 22));
        // 20 of 24.2 is 82.64 % up, 14 is 57.85 %.
        assert_eq!(chart.limit.unwrap().to_string(), "17.36%");
        assert_eq!(chart.alert.unwrap().to_string(), "42.15%");
    }

    #[test]
    fn hours_to_come_are_no_gap() {
        let mut detail = detail(limit(20, 14, None));
        detail.closed_before = "2026-03-02T06:00:00Z".parse().unwrap();
        detail.hours = vec![hour("2026-03-02T03:00:00Z", Some((1, 1)), 60)];
        let chart = Chart::new(&detail, period(), words(Language::English));
        // The first day, half of the period, went unread, and so did the last two hours that have closed.
        let widths: Vec<_> = chart.gaps.iter().map(|gap| gap.1.to_string()).collect();
        assert_eq!(widths, ["50.00%", "4.17%"]);
        assert_eq!(chart.unknown, 26);
    }

    #[test]
    fn marks_are_local() {
        let names = |from: &str, hours| -> Vec<String> {
            let marks = marks(from.parse().unwrap(), hours, words(Language::Portuguese));
            marks.into_iter().map(|(_, name)| name).collect()
        };
        // 03:00Z is midnight in Sao Paulo.
        assert_eq!(
            names("2026-03-01T03:00:00Z", 24),
            ["00:00", "06:00", "12:00", "18:00"]
        );
        assert_eq!(
            names("2026-03-01T03:00:00Z", 96),
            ["01/03", "02/03", "03/03", "04/03"]
        );
        // 30 days in steps of four.
        assert_eq!(names("2026-03-01T03:00:00Z", 720).len(), 8);
    }
}
