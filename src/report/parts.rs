//! Which rows hold the figures of a period.

use std::ops::Range;

use chrono::TimeDelta;
use chrono_tz::Tz;

use super::{Period, period::first_hour, view::IgnoredView};
use crate::{
    catalog::Ignored,
    time::{Day, Hour, Minute, Window, day_of},
};

/// The hours of a period that the catalog leaves out in an environment: every hour that an ignored span touches.
#[must_use]
pub fn ignored_hours(ignored: &[Ignored], environment: &str, period: Period) -> Vec<IgnoredView> {
    touched_hours(ignored, environment)
        .map(|(hours, span)| (hours.start.max(period.from)..hours.end.min(period.to), span))
        .filter(|(hours, _)| hours.start < hours.end)
        .map(|(hours, span)| IgnoredView {
            from: hours.start.start(),
            to: hours.end.start(),
            reason: span.reason.clone(),
        })
        .collect()
}

/// The hours that every ignored span of an environment touches.
fn touched_hours<'a>(
    ignored: &'a [Ignored],
    environment: &'a str,
) -> impl Iterator<Item = (Range<Hour>, &'a Ignored)> {
    let spans = ignored
        .iter()
        .filter(move |span| span.environment == environment && span.from < span.to);
    spans.map(|span| {
        let past = Hour::containing(span.to + TimeDelta::hours(1) - TimeDelta::nanoseconds(1));
        (Hour::containing(span.from)..past, span)
    })
}

/// The hours that the catalog leaves out in an environment, whatever the period.
#[derive(Clone, Debug, Default)]
pub struct LeftOut(Vec<Range<Hour>>);

impl LeftOut {
    /// The hours that ignored spans touch.
    #[must_use]
    pub fn new(ignored: &[Ignored], environment: &str) -> Self {
        Self(
            touched_hours(ignored, environment)
                .map(|(hours, _)| hours)
                .collect(),
        )
    }

    /// Whether an hour is left out.
    #[must_use]
    pub fn holds(&self, hour: Hour) -> bool {
        self.0.iter().any(|span| span.contains(&hour))
    }

    /// The first minute from which a window that ends in an hour holds nothing of an hour that is left out before it;
    /// none where no window of the hour reaches back so far.
    #[must_use]
    pub fn clean_from(&self, hour: Hour, window: Window) -> Option<Minute> {
        let back = hour.first_minute().plus(1 - window.reach_minutes()).hour();
        let reached = self.0.iter().filter(|span| span.start < hour && span.end > back);
        reached
            .map(|span| span.end.first_minute().plus(window.reach_minutes() - 1))
            .max()
    }

    /// Whether hours of `[from, to)` are left out or may be reached by windows from ones that are.
    fn touches(&self, from: Hour, to: Hour) -> bool {
        let back = from.first_minute().plus(-Window::LocalDay.reach_minutes()).hour();
        self.0.iter().any(|span| span.start < to && span.end > back)
    }
}

/// The rows to merge: daily ones for local days that lie in the period as a whole, hourly ones for the rest.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Parts {
    /// Runs of days, first and last.
    pub days: Vec<(Day, Day)>,
    /// Runs of hours.
    pub hours: Vec<Range<Hour>>,
}

impl Parts {
    /// The rows that hold a period without the hours that are ignored.
    #[must_use]
    pub fn new(period: Period, left_out: &LeftOut, zone: Tz) -> Self {
        let mut parts = Self::default();
        let mut from = period.from;
        while from < period.to {
            let day = day_of(from.start(), zone);
            let Some(next) = day.succ_opt() else { break };
            let end = first_hour(next, zone);
            let touched = left_out.touches(from, end);
            if from == first_hour(day, zone) && end <= period.to && !touched {
                parts.add_day(day);
            } else {
                let hours = (from.index()..end.min(period.to).index()).map(Hour::from_index);
                hours
                    .filter(|hour| !left_out.holds(*hour))
                    .for_each(|hour| parts.add_hour(hour));
            }
            from = end;
        }
        parts
    }

    fn add_day(&mut self, day: Day) {
        match self.days.last_mut() {
            Some((_, last)) if last.succ_opt() == Some(day) => *last = day,
            _ => self.days.push((day, day)),
        }
    }

    fn add_hour(&mut self, hour: Hour) {
        match self.hours.last_mut() {
            Some(hours) if hours.end == hour => hours.end = hour.next(),
            _ => self.hours.push(hour..hour.next()),
        }
    }
}

#[cfg(test)]
mod tests {
    use chrono::{DateTime, Utc};
    use chrono_tz::{America::Sao_Paulo, Asia::Kolkata};

    use super::*;

    fn at(text: &str) -> DateTime<Utc> {
        text.parse().unwrap()
    }

    fn hours(from: &str, to: &str) -> Range<Hour> {
        Hour::containing(at(from))..Hour::containing(at(to))
    }

    fn parts(from: &str, to: &str, ignored: &[Ignored], zone: Tz) -> Parts {
        let Range { start, end } = hours(from, to);
        let period = Period { from: start, to: end };
        Parts::new(period, &LeftOut::new(ignored, "prod"), zone)
    }

    fn days(from: &str, to: &str) -> (Day, Day) {
        (from.parse().unwrap(), to.parse().unwrap())
    }

    fn load_test(environment: &str, from: &str, to: &str) -> Ignored {
        Ignored {
            environment: environment.to_owned(),
            from: at(from),
            to: at(to),
            reason: "load test".to_owned(),
        }
    }

    #[test]
    fn whole_days_come_from_daily_rows_and_edges_from_hourly_ones() {
        // Days of Sao Paulo start at 03:00Z. From 22:00Z on the 1st to 05:00Z on the 4th: five hours, two days, two.
        assert_eq!(
            parts("2025-03-01T22:00:00Z", "2025-03-04T05:00:00Z", &[], Sao_Paulo),
            Parts {
                days: vec![days("2025-03-02", "2025-03-03")],
                hours: vec![
                    hours("2025-03-01T22:00:00Z", "2025-03-02T03:00:00Z"),
                    hours("2025-03-04T03:00:00Z", "2025-03-04T05:00:00Z"),
                ],
            }
        );
        // Kolkata's hours of 2025-03-02 start from 19:00Z to 18:00Z.
        assert_eq!(
            parts("2025-03-01T19:00:00Z", "2025-03-02T19:00:00Z", &[], Kolkata),
            Parts {
                days: vec![days("2025-03-02", "2025-03-02")],
                hours: Vec::new(),
            }
        );
        assert_eq!(
            parts("2025-03-01T19:00:00Z", "2025-03-01T19:00:00Z", &[], Kolkata),
            Parts::default()
        );
    }

    #[test]
    fn a_day_with_ignored_hours_is_read_by_the_hour() {
        // 13:59 to 15:01 on the 2nd touches the hours of 13, 14 and 15; another environment's span touches nothing.
        let ignored = [
            load_test("prod", "2025-03-02T13:59:00Z", "2025-03-02T15:01:00Z"),
            load_test("staging", "2025-03-01T13:00:00Z", "2025-03-01T14:00:00Z"),
        ];
        assert_eq!(
            parts(
                "2025-03-01T00:00:00Z",
                "2025-03-04T00:00:00Z",
                &ignored,
                chrono_tz::UTC
            ),
            Parts {
                // Windows of up to a day reach back from the 3rd.
                days: vec![days("2025-03-01", "2025-03-01")],
                hours: vec![
                    hours("2025-03-02T00:00:00Z", "2025-03-02T13:00:00Z"),
                    hours("2025-03-02T16:00:00Z", "2025-03-04T00:00:00Z"),
                ],
            }
        );
    }

    #[test]
    fn ignored_hours_are_whole_and_lie_in_the_period() {
        let ignored = [load_test("prod", "2025-03-02T13:00:00Z", "2025-03-02T14:00:00Z")];
        let listed = |from, to| {
            let Range { start, end } = hours(from, to);
            let listed = ignored_hours(&ignored, "prod", Period { from: start, to: end });
            listed.iter().map(|span| (span.from, span.to)).collect::<Vec<_>>()
        };
        let hour = (at("2025-03-02T13:00:00Z"), at("2025-03-02T14:00:00Z"));
        assert_eq!(listed("2025-03-02T00:00:00Z", "2025-03-03T00:00:00Z"), [hour]);
        assert_eq!(listed("2025-03-02T14:00:00Z", "2025-03-03T00:00:00Z"), []);
    }
}
