//! How much of a period can be vouched for.

use std::collections::BTreeMap;

use chrono::Timelike;
use chrono_tz::Tz;

use crate::time::{Day, Hour, Minute, day_of, day_start};

/// What is known of the minutes of one source in one environment.
#[derive(Clone, Debug)]
pub struct Vouched {
    /// The minute of its first sample, from which coverage counts; none where it never had one.
    pub first: Option<Minute>,
    /// The minutes of each hour that are covered and not doubtful: bit n is minute n.
    pub masks: BTreeMap<Hour, u64>,
    /// The first minute that has not closed.
    pub closed_before: Minute,
}

/// How much of a period can be vouched for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Coverage {
    /// The closed minutes of the period.
    pub minutes: i64,
    /// Those that can be vouched for.
    pub covered: i64,
    /// The local days in a row, up to the last full one of the period, of which 99 % can be vouched for. They may
    /// reach back before the period as far as the masks do.
    pub consecutive_days: u32,
    /// The closed minutes since the first sample that can't be vouched for, as runs.
    pub gaps: Vec<Gap>,
}

/// How much of a local day can be vouched for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DayCoverage {
    /// The day.
    pub day: Day,
    /// Its closed minutes.
    pub minutes: i64,
    /// Those that can be vouched for.
    pub covered: i64,
}

impl DayCoverage {
    /// Whether the day can be vouched for as a whole: 99 % of its minutes can.
    #[must_use]
    pub const fn is_covered(&self) -> bool {
        self.minutes > 0 && self.covered * 100 >= self.minutes * 99
    }
}

/// A run of minutes that can't be vouched for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gap {
    /// Its first minute.
    pub from: Minute,
    /// The first minute after it.
    pub to: Minute,
}

impl Vouched {
    /// How much of the hours of `[from, to)` can be vouched for.
    #[must_use]
    pub fn coverage(&self, from: Hour, to: Hour, zone: Tz) -> Coverage {
        let from = from.first_minute();
        let end = to.first_minute().min(self.closed_before);
        Coverage {
            minutes: (end.index() - from.index()).max(0),
            covered: self.covered(from, end),
            consecutive_days: self.consecutive_days(end, zone),
            gaps: self.gaps(from, end),
        }
    }

    /// How much of each local day with hours in `[from, to)` can be vouched for, as far as it lies in them. An hour
    /// belongs to the day that holds its start.
    #[must_use]
    pub fn days(&self, from: Hour, to: Hour, zone: Tz) -> Vec<DayCoverage> {
        let mut days: Vec<DayCoverage> = Vec::new();
        for hour in (from.index()..to.index()).map(Hour::from_index) {
            let (start, end) = (
                hour.first_minute(),
                hour.next().first_minute().min(self.closed_before),
            );
            let (minutes, covered) = (
                (end.index() - start.index()).max(0),
                self.covered(start, end.max(start)),
            );
            let day = day_of(hour.start(), zone);
            match days.last_mut() {
                Some(last) if last.day == day => {
                    last.minutes += minutes;
                    last.covered += covered;
                }
                _ => days.push(DayCoverage {
                    day,
                    minutes,
                    covered,
                }),
            }
        }
        days
    }

    /// The minutes of an hour that can be vouched for.
    #[must_use]
    pub fn covered_minutes(&self, hour: Hour) -> u32 {
        let (start, end) = (hour.first_minute(), hour.next().first_minute());
        u32::try_from(self.covered(start, end)).unwrap_or_default()
    }

    /// The hours of the day, in local time, in which an hour of `[from, to)` with a covered minute starts; hours that
    /// are left out tell nothing.
    #[must_use]
    pub fn hours_of_day(
        &self,
        from: Hour,
        to: Hour,
        zone: Tz,
        left_out: impl Fn(Hour) -> bool,
    ) -> [bool; 24] {
        let mut seen = [false; 24];
        for (hour, _) in self.hours(from.first_minute(), to.first_minute()) {
            if !left_out(hour) {
                seen[hour.start().with_timezone(&zone).hour() as usize] = true;
            }
        }
        seen
    }

    /// The hours with covered minutes in `[from, to)`, and these minutes.
    fn hours(&self, from: Minute, to: Minute) -> impl Iterator<Item = (Hour, u64)> {
        // Before the first sample nothing is vouched for, whatever was read.
        let from = self.first.map_or(to, |first| first.max(from));
        let to = to.min(self.closed_before).max(from);
        self.masks
            .range(from.hour()..=to.hour())
            .map(move |(hour, mask)| (*hour, mask & minutes_of(*hour, from, to)))
            .filter(|(_, mask)| *mask != 0)
    }

    fn covered(&self, from: Minute, to: Minute) -> i64 {
        self.hours(from, to)
            .map(|(_, mask)| i64::from(mask.count_ones()))
            .sum()
    }

    fn consecutive_days(&self, end: Minute, zone: Tz) -> u32 {
        let mut days = 0;
        let mut end = Minute::containing(day_start(day_of(end.start(), zone), zone));
        loop {
            let start = Minute::containing(day_start(day_of(end.plus(-1).start(), zone), zone));
            let coverage = DayCoverage {
                day: day_of(start.start(), zone),
                minutes: end.index() - start.index(),
                covered: self.covered(start, end),
            };
            if !coverage.is_covered() {
                return days;
            }
            (days, end) = (days + 1, start);
        }
    }

    fn gaps(&self, from: Minute, end: Minute) -> Vec<Gap> {
        let from = self.first.map_or(end, |first| first.max(from));
        let mut gaps: Vec<Gap> = Vec::new();
        for hour in (from.hour().index()..=end.hour().index()).map(Hour::from_index) {
            let missing = minutes_of(hour, from, end) & !self.masks.get(&hour).copied().unwrap_or(0);
            let bits = (0..60).filter(|bit| missing != 0 && missing >> bit & 1 == 1);
            for minute in bits.map(|bit| hour.first_minute().plus(bit)) {
                match gaps.last_mut() {
                    Some(gap) if gap.to == minute => gap.to = minute.plus(1),
                    _ => gaps.push(Gap {
                        from: minute,
                        to: minute.plus(1),
                    }),
                }
            }
        }
        gaps
    }
}

/// The minutes of an hour that lie in `[from, to)`, as a mask.
fn minutes_of(hour: Hour, from: Minute, to: Minute) -> u64 {
    let before = |minute: Minute| {
        let minutes = (minute.index() - hour.first_minute().index()).clamp(0, 60);
        (1_u64 << minutes) - 1
    };
    before(to) & !before(from)
}

#[cfg(test)]
mod tests {
    use chrono::{DateTime, Utc};
    use chrono_tz::America::Sao_Paulo;

    use super::*;

    const FULL: u64 = (1 << 60) - 1;

    fn at(text: &str) -> Minute {
        Minute::containing(text.parse::<DateTime<Utc>>().unwrap())
    }

    /// All minutes from one hour to another.
    fn whole(from: &str, to: &str) -> BTreeMap<Hour, u64> {
        let hours = at(from).hour().index()..at(to).hour().index();
        hours.map(|hour| (Hour::from_index(hour), FULL)).collect()
    }

    #[test]
    fn minutes_that_were_not_read_are_gaps_but_not_before_the_first_sample() {
        // From 10:00 to 14:00 at 13:20: 200 closed minutes. First sample at 10:30; covered are 10:00 to 10:59 and
        // 12:05 to 13:19 but for 13:10. That is 30 + 55 + 19 = 104; the reads before 10:30 don't count.
        let mut masks = whole("2025-03-10T10:00:00Z", "2025-03-10T14:00:00Z");
        masks.remove(&at("2025-03-10T11:00:00Z").hour());
        masks.insert(at("2025-03-10T12:00:00Z").hour(), FULL & !0b1_1111);
        masks.insert(at("2025-03-10T13:00:00Z").hour(), FULL & !(1 << 10));
        let closed_before = at("2025-03-10T13:20:00Z");
        let vouched = Vouched {
            first: Some(at("2025-03-10T10:30:00Z")),
            masks,
            closed_before,
        };
        let (from, to) = (
            at("2025-03-10T10:00:00Z").hour(),
            at("2025-03-10T14:00:00Z").hour(),
        );
        let coverage = vouched.coverage(from, to, chrono_tz::UTC);
        assert_eq!(
            (coverage.minutes, coverage.covered, coverage.consecutive_days),
            (200, 104, 0)
        );
        assert_eq!(
            coverage.gaps,
            [
                Gap {
                    from: at("2025-03-10T11:00:00Z"),
                    to: at("2025-03-10T12:05:00Z")
                },
                Gap {
                    from: at("2025-03-10T13:10:00Z"),
                    to: at("2025-03-10T13:11:00Z")
                },
            ]
        );
        // In UTC the hours of 10, 12 and 13, which start at 15:30, 17:30 and 18:30 in Kolkata.
        let seen = |zone| {
            let seen = vouched.hours_of_day(from, to, zone, |_| false);
            (0..24).filter(|hour| seen[*hour]).collect::<Vec<_>>()
        };
        assert_eq!(seen(chrono_tz::UTC), [10, 12, 13]);
        assert_eq!(seen(chrono_tz::Asia::Kolkata), [15, 17, 18]);
    }

    #[test]
    fn a_source_without_samples_has_no_coverage_and_no_gaps() {
        let masks = whole("2025-03-10T10:00:00Z", "2025-03-10T11:00:00Z");
        let vouched = Vouched {
            first: None,
            masks,
            closed_before: at("2025-03-10T11:00:00Z"),
        };
        let hour = at("2025-03-10T10:00:00Z").hour();
        assert_eq!(
            vouched.coverage(hour, hour.next(), chrono_tz::UTC),
            Coverage {
                minutes: 60,
                covered: 0,
                consecutive_days: 0,
                gaps: Vec::new(),
            }
        );
        let empty = vouched.coverage(hour, hour, chrono_tz::UTC);
        assert_eq!((empty.minutes, empty.covered), (0, 0));
    }

    #[test]
    fn days_in_a_row_are_local_and_full_and_may_miss_a_hundredth() {
        // Sao Paulo's 2018-11-04 has 23 hours, 1380 minutes: 13 may be missing (1367 / 1380 = 99.06 %), 14 may not
        // (98.99 %). The 3rd and the 5th have 24 hours. The 2nd starts with a whole day missing.
        let mut masks = whole("2018-11-03T03:00:00Z", "2018-11-06T12:00:00Z");
        let short = at("2018-11-04T10:00:00Z").hour();
        masks.insert(short, FULL & !0x1fff);
        let days = |masks: &BTreeMap<Hour, u64>, to: &str| {
            let first = Some(at("2018-10-01T00:00:00Z"));
            let vouched = Vouched {
                first,
                masks: masks.clone(),
                closed_before: at("2018-11-06T12:00:00Z"),
            };
            vouched
                .coverage(at("2018-11-05T00:00:00Z").hour(), at(to).hour(), Sao_Paulo)
                .consecutive_days
        };
        // The 6th is not over at its hour of 12:00Z; up to the 5th there are three.
        assert_eq!(days(&masks, "2018-11-07T00:00:00Z"), 3);
        // A period that ends within the 5th ends with the 4th.
        assert_eq!(days(&masks, "2018-11-05T20:00:00Z"), 2);
        assert_eq!(days(&masks, "2018-11-06T02:00:00Z"), 3);
        masks.insert(short, FULL & !0x3fff);
        assert_eq!(days(&masks, "2018-11-07T00:00:00Z"), 1);
    }
}
