//! When in a day and in a week a limit is busy.
//!
//! Hours are put into a frame and grouped by local hour and by weekday. A frame says that in two lines for any column
//! and any statistic; the figures of a report, which are merged from sparse histograms and exact at any size, are
//! better off without.

use chrono::{Datelike as _, Timelike as _};
use chrono_tz::Tz;
use polars::prelude::{DataFrame, IntoLazy as _, PolarsResult, col, df, len};

use super::view::{HourView, Profile, Span};

/// The profile of hours of which something is known; ignored ones are left out, and so are windows that can't be seen.
#[must_use]
pub(super) fn profile(hours: &[HourView], zone: Tz) -> Profile {
    let known = || {
        let seen = hours.iter().filter(|hour| !hour.ignored);
        seen.filter_map(|hour| Some((hour.hour.with_timezone(&zone), hour.peak.as_ref()?.value?)))
    };
    let frame = df!(
        "hour" => known().map(|(local, _)| local.hour()).collect::<Vec<_>>(),
        "weekday" => known().map(|(local, _)| local.weekday().num_days_from_monday()).collect::<Vec<_>>(),
        "peak" => known().map(|(_, peak)| peak).collect::<Vec<_>>(),
    )
    .expect("columns of one length");
    Profile {
        by_hour: grouped(&frame, "hour").expect("known types"),
        by_weekday: grouped(&frame, "weekday").expect("known types"),
    }
}

/// The largest and the median peak of the rows that share a key, in the places of the keys.
fn grouped<const PLACES: usize>(frame: &DataFrame, key: &str) -> PolarsResult<[Option<Span>; PLACES]> {
    let peak = || col("peak");
    let groups = frame
        .clone()
        .lazy()
        .group_by([col(key)])
        .agg([
            peak().max().alias("largest"),
            peak().median().alias("typical"),
            len().alias("hours"),
        ])
        .collect()?;
    let mut places = [None; PLACES];
    let (keys, largest) = (groups.column(key)?.u32()?, groups.column("largest")?.u64()?);
    let (typical, hours) = (groups.column("typical")?.f64()?, groups.column("hours")?.u32()?);
    for (((key, largest), typical), hours) in (keys.iter().zip(largest.iter()))
        .zip(typical.iter())
        .zip(hours.iter())
    {
        if let (Some(key), Some(largest), Some(typical), Some(hours)) = (key, largest, typical, hours) {
            places[key as usize] = Some(Span {
                largest,
                typical,
                hours,
            });
        }
    }
    Ok(places)
}

#[cfg(test)]
mod tests {
    use chrono::{DateTime, TimeDelta, Utc};

    use super::*;
    use crate::report::PeakView;

    fn hour(start: &str, plus: i64, value: Option<u64>) -> HourView {
        HourView {
            hour: start.parse::<DateTime<Utc>>().unwrap() + TimeDelta::hours(plus),
            peak: value.map(|value| PeakView {
                value: Some(value),
                lower: value,
                upper: Some(value),
                at: None,
                identity: None,
            }),
            total: 0,
            identities: 0,
            covered_minutes: 60,
            partial: false,
            ignored: false,
            samples: None,
        }
    }

    #[test]
    fn hours_are_grouped_by_local_hour_and_weekday() {
        // 15:00Z is 12:00 in Sao Paulo. 2026-03-09 is a Monday; 02:00Z on the 10th is still Monday, 23:00.
        let monday = "2026-03-09T15:00:00Z";
        let hours = [
            hour(monday, 0, Some(4)),
            hour(monday, 24, Some(9)),
            hour(monday, 48, Some(u64::MAX)),
            hour(monday, 11, Some(0)),
            hour(monday, 72, None),
            HourView {
                ignored: true,
                ..hour(monday, 96, Some(99))
            },
        ];
        let profile = profile(&hours, chrono_tz::America::Sao_Paulo);
        let noon = profile.by_hour[12].unwrap();
        assert_eq!((noon.largest, noon.hours), (u64::MAX, 3));
        assert!((noon.typical - 9.0).abs() < f64::EPSILON);
        assert_eq!(profile.by_hour[23].unwrap().largest, 0);
        assert_eq!(profile.by_hour.iter().flatten().count(), 2);
        let monday = profile.by_weekday[0].unwrap();
        // 4 and 0: the median of two is their mean.
        assert_eq!((monday.largest, monday.hours), (4, 2));
        assert!((monday.typical - 2.0).abs() < f64::EPSILON);
        assert_eq!(profile.by_weekday.iter().flatten().count(), 3);
    }

    #[test]
    fn nothing_known_makes_an_empty_profile() {
        let profile = profile(&[], chrono_tz::UTC);
        assert!(
            profile
                .by_hour
                .iter()
                .chain(&profile.by_weekday)
                .all(Option::is_none)
        );
    }
}
