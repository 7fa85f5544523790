//! Local days of the catalog's zone, through gaps and overlaps.

use chrono::{DateTime, Days, LocalResult, NaiveDate, NaiveTime, TimeDelta, TimeZone, Utc};
use chrono_tz::Tz;

/// A local calendar day.
pub type Day = NaiveDate;

/// The local day that holds an instant.
#[must_use]
pub fn day_of(instant: DateTime<Utc>, zone: Tz) -> Day {
    instant.with_timezone(&zone).date_naive()
}

/// The first instant of a local day. Where midnight does not exist the day starts when the clocks resume; where it
/// exists twice, at the first.
#[must_use]
pub fn day_start(day: Day, zone: Tz) -> DateTime<Utc> {
    let midnight = day.and_time(NaiveTime::MIN);
    match zone.from_local_datetime(&midnight) {
        LocalResult::Single(start) | LocalResult::Ambiguous(start, _) => start.to_utc(),
        LocalResult::None => {
            // Gaps are whole minutes and at most a day (a zone that skipped the date line lost a whole date): walk to
            // the first local minute that exists.
            (1..=26 * 60)
                .find_map(|n| {
                    zone.from_local_datetime(&(midnight + TimeDelta::minutes(n)))
                        .earliest()
                })
                .map_or_else(|| midnight.and_utc(), |start| start.to_utc())
        }
    }
}

/// The first instant after a local day.
#[must_use]
pub fn day_end(day: Day, zone: Tz) -> DateTime<Utc> {
    day_start(day + Days::new(1), zone)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_midnight_that_does_not_exist_starts_the_day_at_one() {
        // Sao Paulo, 2018-11-04: clocks went from 00:00 (UTC-3) to 01:00 (UTC-2).
        let day = NaiveDate::from_ymd_opt(2018, 11, 4).unwrap();
        let zone = chrono_tz::America::Sao_Paulo;
        assert_eq!(day_start(day, zone).to_rfc3339(), "2018-11-04T03:00:00+00:00");
        assert_eq!(day_end(day, zone).to_rfc3339(), "2018-11-05T02:00:00+00:00");
    }

    #[test]
    fn a_midnight_that_exists_twice_starts_the_day_at_the_first() {
        // Sao Paulo, 2018-02-18 00:00 -02 became 2018-02-17 23:00 -03: the day of the 17th has 25 hours.
        let day = NaiveDate::from_ymd_opt(2018, 2, 17).unwrap();
        let zone = chrono_tz::America::Sao_Paulo;
        assert_eq!((day_end(day, zone) - day_start(day, zone)).num_hours(), 25);
    }

    #[test]
    fn a_date_that_was_skipped_is_empty() {
        // Samoa had no 2011-12-30.
        let day = NaiveDate::from_ymd_opt(2011, 12, 30).unwrap();
        assert_eq!(
            day_start(day, chrono_tz::Pacific::Apia),
            day_end(day, chrono_tz::Pacific::Apia)
        );
    }
}
