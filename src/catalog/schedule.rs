//! Cron schedules: `sec min hour day month weekday`, UTC, weekday 0 or SUN = Sunday.

use std::fmt;

use chrono::{DateTime, Days, NaiveTime, SubsecRound as _, TimeDelta, Utc};
use croner::{
    Cron,
    parser::{CronParser, Seconds},
};

use super::Refusal;

/// When something runs. Six fields, seconds first, in UTC.
#[derive(Clone, Debug)]
pub struct Schedule {
    text: String,
    cron: Cron,
}

/// Days that are looked ahead for the longest gap: 29 February comes back after eight years at most.
const HORIZON_DAYS: i64 = 9 * 366;

impl Schedule {
    /// Reads six fields. Where both day and weekday are given, either of them is enough, as in POSIX cron.
    ///
    /// # Errors
    /// Another number of fields, a field out of range, or a date that never comes, with what to write instead.
    pub fn parse(text: &str) -> Result<Self, Refusal> {
        let fields: Vec<&str> = text.split_whitespace().collect();
        match fields.as_slice() {
            [] => {
                return Err(Refusal::new(
                    "the schedule is empty",
                    "write sec min hour day month weekday, such as 0 */5 * * * * for every five minutes",
                ));
            }
            [_, _, _, _, _] => {
                return Err(Refusal::new(
                    format!("`{text}` has five fields: schedules start with the second"),
                    format!("write 0 {}", fields.join(" ")),
                ));
            }
            [_, _, _, _, _, _] => {}
            _ => {
                return Err(Refusal::new(
                    format!("`{text}` has {} fields", fields.len()),
                    "write six: sec min hour day month weekday",
                ));
            }
        }
        let text = fields.join(" ");
        let cron = CronParser::builder().seconds(Seconds::Required).build().parse(&text).map_err(|error| {
            let reason = error.to_string();
            Refusal::new(
                format!("`{text}` is no schedule: {}", reason.trim_end_matches('.').to_lowercase()),
                "write sec (0-59) min (0-59) hour (0-23) day (1-31) month (1-12) weekday (0-6 or SUN-SAT), in UTC",
            )
        })?;
        let schedule = Self { text, cron };
        if schedule.next_after(DateTime::UNIX_EPOCH).is_none() {
            return Err(Refusal::new(
                format!("`{}` never comes", schedule.text),
                "name a day that exists",
            ));
        }
        Ok(schedule)
    }

    /// The next run after an instant; none for a date that never comes.
    #[must_use]
    pub fn next_after(&self, instant: DateTime<Utc>) -> Option<DateTime<Utc>> {
        // The parser's own search would carry fractions of a second over into the run's time.
        self.cron
            .find_next_occurrence(&instant.trunc_subsecs(0), false)
            .ok()
    }

    /// The schedule as text for a reader that takes day and weekday, where both are given, to be both needed: on any
    /// day. What it comes to is then to be looked up with [`next_after`](Self::next_after).
    #[must_use]
    pub fn on_any_day(&self) -> String {
        match self.text.split(' ').collect::<Vec<_>>().as_slice() {
            [second, minute, hour, day, month, weekday] if *day != "*" && *weekday != "*" => {
                format!("{second} {minute} {hour} * {month} *")
            }
            _ => self.text.clone(),
        }
    }

    /// The longest time between two successive runs, from the first run after an instant on.
    ///
    /// The times of day are the same on every day that has runs, so one such day is walked run by run, and from there
    /// on only the days.
    #[must_use]
    pub fn longest_gap(&self, from: DateTime<Utc>) -> TimeDelta {
        let midnight = |instant: DateTime<Utc>| instant.date_naive().and_time(NaiveTime::MIN).and_utc();
        // The first run at or after an instant.
        let first_from = |instant: DateTime<Utc>| self.next_after(instant - TimeDelta::seconds(1));
        let Some(mut first) = first_from(midnight(from) + Days::new(1)) else {
            return TimeDelta::MAX;
        };

        let mut longest = TimeDelta::zero();
        let mut last = first;
        while let Some(next) = self
            .next_after(last)
            .filter(|next| next.date_naive() == first.date_naive())
        {
            longest = longest.max(next - last);
            last = next;
        }
        let span = last - first;
        let horizon = first + TimeDelta::days(HORIZON_DAYS);
        while first < horizon {
            let Some(next) = first_from(midnight(first) + Days::new(1)) else {
                return TimeDelta::MAX;
            };
            longest = longest.max(next - (first + span));
            first = next;
        }
        longest
    }
}

impl fmt::Display for Schedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> DateTime<Utc> {
        text.parse().unwrap()
    }

    fn next(schedule: &str, after: &str) -> DateTime<Utc> {
        Schedule::parse(schedule).unwrap().next_after(at(after)).unwrap()
    }

    #[test]
    fn six_fields_in_utc_with_sunday_as_zero() {
        // 2025-03-08 is a Saturday.
        assert_eq!(
            next("0 0 3 * * 0", "2025-03-08T00:00:00Z"),
            at("2025-03-09T03:00:00Z")
        );
        assert_eq!(
            next("0 0 3 * * SUN", "2025-03-08T00:00:00Z"),
            at("2025-03-09T03:00:00Z")
        );
        assert_eq!(
            next("0 0 3 * * 1", "2025-03-08T00:00:00Z"),
            at("2025-03-10T03:00:00Z")
        );
        assert_eq!(
            next("0 */5 * * * *", "2025-03-08T00:00:00Z"),
            at("2025-03-08T00:05:00Z")
        );
        assert_eq!(
            next("0 */5 * * * *", "2025-03-08T00:00:00.500Z"),
            at("2025-03-08T00:05:00Z")
        );
    }

    #[test]
    fn other_dialects_are_refused_with_the_text_and_the_remedy() {
        let refused = |text: &str| Schedule::parse(text).unwrap_err().to_string();
        assert!(refused("0 3 * * 1").contains("`0 3 * * 1`"));
        assert!(refused("0 3 * * 1").contains("write 0 0 3 * * 1"));
        assert!(refused("61 * * * *").contains("`61 * * * *`"));
        assert!(refused("61 * * * * *").contains("`61 * * * * *`"));
        assert!(refused("").contains("empty"));
        assert!(refused("   ").contains("empty"));
        assert!(refused("0 0 3 * * 1 2030").contains("7 fields"));
        assert!(refused("@daily").contains("@daily"));
        assert!(refused("0 0 0 30 2 *").contains("never comes"));
    }

    #[test]
    fn the_longest_gap_is_found_within_and_between_days() {
        let gap = |text: &str| {
            Schedule::parse(text)
                .unwrap()
                .longest_gap(at("2025-03-08T12:34:56Z"))
        };
        assert_eq!(gap("* * * * * *"), TimeDelta::seconds(1));
        assert_eq!(gap("0 */5 * * * *"), TimeDelta::minutes(5));
        assert_eq!(gap("0 0 * * * *"), TimeDelta::hours(1));
        // 55 is followed by 0 of the next hour: 5 minutes; 0, 7, 14 … 56 leaves 4.
        assert_eq!(gap("0 */7 * * * *"), TimeDelta::minutes(7));
        // From 18:55 to 08:00: 13 h 5 min.
        assert_eq!(gap("0 */5 8-18 * * *"), TimeDelta::minutes(13 * 60 + 5));
        // Friday 00:00 to Monday 00:00.
        assert_eq!(gap("0 0 0 * * MON-FRI"), TimeDelta::days(3));
        // Every minute of Sundays: Sunday 23:59 to Sunday 00:00 is six days and a minute.
        assert_eq!(gap("0 * * * * SUN"), TimeDelta::days(6) + TimeDelta::minutes(1));
        // From 31 January to 31 March are 59 or 60 days, from 31 March to 31 May 30 + 31 = 61.
        assert_eq!(gap("0 0 0 31 * *"), TimeDelta::days(61));
        // 2028-02-29 to 2032-02-29: four years with one leap day.
        assert_eq!(gap("0 0 0 29 2 *"), TimeDelta::days(4 * 365 + 1));
    }

    #[test]
    fn days_are_left_open_only_where_both_are_given() {
        let open = |text: &str| Schedule::parse(text).unwrap().on_any_day();
        assert_eq!(open("0 0 3 1 2 MON"), "0 0 3 * 2 *");
        for same in ["0 */5 * * * *", "0 0 3 1 * *", "0 0 3 * * MON"] {
            assert_eq!(open(same), same);
        }
    }
}
