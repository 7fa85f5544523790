//! What is known of each day, as a calendar.

use chrono::Datelike as _;

use super::Words;
use crate::report::DayView;

/// A day of the calendar.
#[derive(Clone, Debug)]
pub(super) struct Cell {
    pub(super) number: u32,
    /// `full`, `part`, `quiet` or `gap`.
    pub(super) kind: &'static str,
    pub(super) ignored: bool,
    pub(super) text: String,
    /// What of a day that is known in part is shown.
    pub(super) share: Option<String>,
}

/// A week from Monday to Sunday; days outside of the period are missing.
#[derive(Clone, Debug)]
pub(super) struct Week {
    /// Its first day in the period.
    pub(super) name: String,
    pub(super) days: Vec<Option<Cell>>,
}

/// The weeks of a period.
pub(super) fn weeks(days: &[DayView], sampled: bool, words: Words) -> Vec<Week> {
    let week = |days: &[DayView]| {
        let mut cells = vec![None; 7];
        for day in days {
            cells[day.day.weekday().num_days_from_monday() as usize] = Some(cell(day, sampled, words));
        }
        Week {
            name: days
                .first()
                .map_or_else(String::new, |day| words.language.short_day(day.day)),
            days: cells,
        }
    };
    days.chunk_by(|one, other| one.day.iso_week() == other.day.iso_week())
        .map(week)
        .collect()
}

fn cell(day: &DayView, sampled: bool, words: Words) -> Cell {
    let [covered, minutes] = [day.covered, day.minutes].map(|count| count.max(0).cast_unsigned());
    let share = words
        .language
        .percent(covered, minutes)
        .unwrap_or_else(|| "–".to_owned());
    let named = ("day", words.day(day.day));
    // 99 % are enough to be counted as a covered day.
    let is_full = minutes > 0 && u128::from(covered) * 100 >= u128::from(minutes) * 99;
    let (kind, text) = match (covered, day.total) {
        (0, 0) if minutes == 0 => ("ahead", words.day(day.day)),
        (0, 0) => ("gap", words.with("calendar-gap", &[named])),
        (_, 0) => (
            if is_full { "quiet" } else { "part" },
            words.with("calendar-quiet", &[named, ("share", share.clone())]),
        ),
        _ => (
            if is_full { "full" } else { "part" },
            words.with(
                if sampled {
                    "calendar-day-sampled"
                } else {
                    "calendar-day"
                },
                &[
                    named,
                    ("share", share.clone()),
                    ("total", words.number(day.total)),
                    ("peak", words.number_or_dash(day.peak.or(Some(day.upper)))),
                ],
            ),
        ),
    };
    Cell {
        number: day.day.day(),
        kind,
        ignored: day.ignored,
        text: if day.ignored {
            words.with("calendar-ignored", &[("what", text)])
        } else {
            text
        },
        share: (kind == "part").then_some(share),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{language::Language, page::sample::words, time::Day};

    #[test]
    fn days_stand_in_their_weeks() {
        // The first of March 2026 is a Sunday.
        let day = |number, covered, total| DayView {
            day: Day::from_ymd_opt(2026, 3, number).unwrap(),
            peak: Some(3),
            upper: 3,
            total,
            minutes: 1440,
            covered,
            ignored: number == 3,
        };
        let days = [day(1, 1440, 9), day(2, 1430, 0), day(3, 720, 5), day(4, 0, 0)];
        let weeks = weeks(&days, false, words(Language::English));
        let kinds: Vec<Vec<_>> = (weeks.iter())
            .map(|week| {
                week.days
                    .iter()
                    .map(|cell| cell.as_ref().map_or("", |cell| cell.kind))
                    .collect()
            })
            .collect();
        // 1430 of 1440 minutes are 99.3 %.
        assert_eq!(
            kinds,
            [
                ["", "", "", "", "", "", "full"],
                ["quiet", "part", "gap", "", "", "", ""]
            ]
        );
        let cell = |week: usize, day: usize| weeks[week].days[day].clone().unwrap();
        assert_eq!(
            cell(0, 6).text,
            "2026-03-01: 100.0\u{a0}% read, 9 requests, peak 3"
        );
        assert_eq!(
            cell(1, 1).text,
            "2026-03-03: 50.0\u{a0}% read, 5 requests, peak 3; hours left out"
        );
        assert_eq!(cell(1, 2).text, "2026-03-04: nothing read");
    }
}
