//! The traffic of two schools with 93 pupils, as increments of Redis keys: pure, and the same for the same instant.

use std::collections::BTreeMap;

use chrono::{DateTime, Datelike as _, Days, TimeDelta, Utc, Weekday};
use chrono_tz::Tz;

use super::{messaging, random::Random, session, staging};
use crate::time::{Day, Minute, MinuteFormat, day_of, day_start};

/// Full local days before the running one.
pub(super) const DAYS: u64 = 35;
/// Pupils of both schools; the first 51 go to the first.
pub(super) const PUPILS: u64 = 93;
/// Logins of the peak day; all others have 5 to 30.
pub(super) const PEAK_LOGINS: u64 = 280;
/// Logins of the burst: one every two minutes in the computer room.
pub(super) const BURST_LOGINS: u64 = 24;

/// Share of the traffic by local hour, in percent.
const PROFILE: [(u64, u64); 14] = [
    (8, 5),
    (9, 6),
    (10, 8),
    (11, 10),
    (12, 37),
    (13, 15),
    (14, 8),
    (15, 5),
    (16, 1),
    (17, 1),
    (18, 1),
    (19, 1),
    (20, 1),
    (21, 1),
];

/// What is written to one field in one minute.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Write {
    /// The minute.
    pub minute: Minute,
    /// The hash.
    pub key: String,
    /// The set that names the minute's hashes, where there is one.
    pub index: Option<String>,
    /// The field.
    pub field: String,
    /// By how much it grows.
    pub count: u64,
    /// How long hash and set live, counted from the start of the minute.
    pub ttl: TimeDelta,
}

/// Increments on their way to [`Write`]s: of one field in one minute they add up.
#[derive(Debug, Default)]
pub(super) struct Counters(BTreeMap<(Minute, String, String), u64>);

impl Counters {
    /// Counts requests of an endpoint for every scope they have an identity of.
    pub(super) fn request(
        &mut self,
        prefix: &str,
        minute: Minute,
        endpoint: &str,
        scopes: &[String],
        count: u64,
    ) {
        let key = format!("{prefix}m:{endpoint}:{}", minute.text(MinuteFormat::Compact));
        for scope in scopes {
            self.add(minute, key.clone(), scope.clone(), count);
        }
    }

    /// Counts in a field of a key.
    pub(super) fn add(&mut self, minute: Minute, key: String, field: String, count: u64) {
        if count > 0 {
            *self.0.entry((minute, key, field)).or_default() += count;
        }
    }

    fn into_writes(self, ttl: TimeDelta, index: impl Fn(&str, Minute) -> Option<String>) -> Vec<Write> {
        let write = |((minute, key, field), count): ((Minute, String, String), u64)| {
            let index = index(&key, minute);
            Write {
                minute,
                key,
                index,
                field,
                count,
                ttl,
            }
        };
        self.0.into_iter().map(write).collect()
    }
}

/// All that is written in the 35 full days before the local day of `now` and on that day until `now`, by minute.
#[must_use]
pub fn traffic(now: DateTime<Utc>, zone: Tz) -> Vec<Write> {
    let mut gateway = Counters::default();
    schools(&mut gateway, now, zone);
    staging::count(&mut gateway, days(now, zone), zone);
    let mut writes = gateway.into_writes(TimeDelta::hours(2), |key, minute| {
        let prefix = key.split_once("m:")?.0;
        Some(format!("{prefix}midx:{}", minute.text(MinuteFormat::Compact)))
    });
    let mut queue = Counters::default();
    messaging::count(&mut queue, now, zone);
    writes.extend(queue.into_writes(TimeDelta::minutes(5), |_, _| None));
    writes.retain(|write| write.minute.end() <= now);
    writes.sort_by_key(|write| write.minute);
    writes
}

/// The local days of the play, the running one last.
fn days(now: DateTime<Utc>, zone: Tz) -> impl Iterator<Item = Day> {
    let today = day_of(now, zone);
    (0..=DAYS).rev().map(move |ago| today - Days::new(ago))
}

/// The last weekday at least so many days ago.
pub(super) fn weekday_ago(now: DateTime<Utc>, zone: Tz, days: u64) -> Day {
    let mut day = day_of(now, zone) - Days::new(days);
    while is_weekend(day) {
        day = day - Days::new(1);
    }
    day
}

fn is_weekend(day: Day) -> bool {
    matches!(day.weekday(), Weekday::Sat | Weekday::Sun)
}

/// Production: logins of pupils and staff by the hourly profile, a peak day, and a burst from one address.
fn schools(counters: &mut Counters, now: DateTime<Utc>, zone: Tz) {
    let peak = weekday_ago(now, zone, 17);
    let burst = weekday_ago(now, zone, 8);
    let mut random = Random::new(1);
    // Pupils log in by turns, in an order that is shuffled each time round: nobody logs in twice in a few minutes.
    let mut turn = Vec::new();
    for day in days(now, zone) {
        let logins = match day {
            day if day == peak => PEAK_LOGINS,
            day if is_weekend(day) => random.between(5, 8),
            _ => random.between(10, 30),
        };
        for _ in 0..logins {
            let pupil = turn.pop().unwrap_or_else(|| {
                turn = shuffled(&mut random);
                turn.pop().unwrap_or_default()
            });
            let minute = at(day, zone, hour_of(random.below(100)), random.below(60));
            session::count(
                counters,
                &mut random,
                minute,
                pupil,
                &session::home_address(pupil),
            );
        }
        if day == burst {
            for login in 0..BURST_LOGINS {
                let minute = at(day, zone, 12, 5 + 2 * login);
                session::count(counters, &mut random, minute, login, session::COMPUTER_ROOM);
            }
        }
    }
}

/// A minute of a local day.
#[expect(clippy::cast_possible_wrap, reason = "minutes of a day")]
pub(super) fn at(day: Day, zone: Tz, hour: u64, minute: u64) -> Minute {
    Minute::containing(day_start(day, zone)).plus((hour * 60 + minute) as i64)
}

fn hour_of(mut percent: u64) -> u64 {
    for (hour, share) in PROFILE {
        if percent < share {
            return hour;
        }
        percent -= share;
    }
    12
}

fn shuffled(random: &mut Random) -> Vec<u64> {
    let mut pupils: Vec<u64> = (0..PUPILS).collect();
    for end in (2..=PUPILS).rev() {
        // Both are below 93.
        let [one, other] = [end - 1, random.below(end)].map(|n| usize::try_from(n).unwrap_or_default());
        pupils.swap(one, other);
    }
    pupils
}

#[cfg(test)]
#[path = "traffic_tests.rs"]
mod tests;
