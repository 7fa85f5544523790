//! When in a day and in a week a limit is busy, drawn.

use super::{Words, bar::Share};
use crate::report::{LimitView, Profile, Span};

/// One column.
#[derive(Debug)]
pub(super) struct Column {
    pub(super) name: String,
    /// Whether the name stands under it where there is little room.
    pub(super) marked: bool,
    pub(super) text: String,
    pub(super) largest: Option<Share>,
    pub(super) typical: Share,
    pub(super) largest_text: String,
    pub(super) typical_text: String,
    /// The value that fits this hour alone.
    pub(super) fits: Option<String>,
}

/// The columns of the hours of a day.
pub(super) fn hours(profile: &Profile, limit: &LimitView, words: Words) -> Vec<Column> {
    let mut columns = columns(&profile.by_hour, words, |hour| {
        (format!("{hour:02}"), hour % 3 == 0)
    });
    let fitting = limit.limits_by_hour.iter().flatten();
    for (column, value) in columns.iter_mut().zip(fitting) {
        column.fits = Some(words.number_or_dash(*value));
    }
    columns
}

/// The columns of the days of a week.
pub(super) fn weekdays(profile: &Profile, words: Words) -> Vec<Column> {
    columns(&profile.by_weekday, words, |day| {
        (words.text(&format!("weekday-{day}")), true)
    })
}

fn columns(spans: &[Option<Span>], words: Words, name: impl Fn(usize) -> (String, bool)) -> Vec<Column> {
    let scale = spans.iter().flatten().map(|span| span.largest).max().unwrap_or(0);
    let column = |(place, span): (usize, &Option<Span>)| {
        let (name, marked) = name(place);
        let Some(span) = span else {
            return Column {
                text: words.with("profile-column-unknown", [("name", name.clone())]),
                name,
                marked,
                largest: None,
                typical: Share::default(),
                largest_text: words.number_or_dash(None),
                typical_text: words.number_or_dash(None),
                fits: None,
            };
        };
        let (largest, typical) = (words.number(span.largest), words.language.decimal(span.typical));
        Column {
            text: words.with(
                "profile-column",
                [
                    ("name", name.clone()),
                    ("largest", largest.clone()),
                    ("typical", typical.clone()),
                    ("hours", words.number(span.hours)),
                ],
            ),
            name,
            marked,
            largest: Some(Share::of(span.largest.into(), scale.into())),
            typical: Share::of(halves(span.typical), u128::from(scale) * 2),
            largest_text: largest,
            typical_text: typical,
            fits: None,
        }
    };
    spans.iter().enumerate().map(column).collect()
}

/// A median lies on a whole or a half.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a length to look at, never negative"
)]
fn halves(median: f64) -> u128 {
    (median * 2.0) as u128
}
