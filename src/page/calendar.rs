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
pub(super) fn weeks(days: &[DayView], words: Words) -> Vec<Week> {
    let week = |days: &[DayView]| {
        let mut cells = vec![None; 7];
        for day in days {
            cells[day.day.weekday().num_days_from_monday() as usize] = Some(cell(day, words));
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

fn cell(day: &DayView, words: Words) -> Cell {
    let [covered, minutes] = [day.covered, day.minutes].map(|count| count.max(0).cast_unsigned());
    let share = words
        .language
        .percent(covered, minutes)
        .unwrap_or_else(|| "–".to_owned());
    let named = ("day", words.day(day.day));
    // 99 % are enough to be counted as a covered day.
    let is_full = minutes > 0 && u128::from(covered) * 100 >= u128::from(minutes) * 99;
    let (kind, text) = match (covered, day.total) {
        (0, 0) => ("gap", words.with("calendar-gap", [named])),
        (_, 0) => (
            if is_full { "quiet" } else { "part" },
            words.with("calendar-quiet", [named, ("share", share.clone())]),
        ),
        _ => (
            if is_full { "full" } else { "part" },
            words.with(
                "calendar-day",
                [
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
            words.with("calendar-ignored", [("what", text)])
        } else {
            text
        },
        share: (kind == "part").then_some(share),
    }
}
