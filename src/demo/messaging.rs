//! The messaging queue's last two days: one account per school, fewer messages than the daily quota.

use chrono::{DateTime, TimeDelta, Timelike as _, Utc};
use chrono_tz::Tz;

use super::{random::Random, session::PREFIX, traffic::Counters};
use crate::time::{Minute, MinuteFormat};

/// How many days of messages there are.
pub(super) const DAYS: i64 = 2;

/// Counts the messages that go out between 8 and 18 h; half past noon the provider refuses some, and the other
/// provider takes them over.
pub(super) fn count(counters: &mut Counters, now: DateTime<Utc>, zone: Tz) {
    let mut random = Random::new(2);
    let end = Minute::containing(now);
    let start = Minute::containing(now - TimeDelta::days(DAYS));
    for minute in (start.index()..end.index()).map(Minute::from_index) {
        let local = minute.start().with_timezone(&zone);
        for account in ["conta-1", "conta-2"] {
            let sent = if random.percent(10) {
                random.between(1, 2)
            } else {
                0
            };
            if !(8..18).contains(&local.hour()) {
                continue;
            }
            let mut add = |outcome: &str, count| {
                let key = format!(
                    "{PREFIX}wa:metrics:{account}:{}",
                    minute.text(MinuteFormat::Compact)
                );
                counters.add(minute, key, outcome.to_owned(), count);
            };
            add("wasender:ok", sent);
            if (local.hour(), local.minute()) == (12, 30) {
                add("wasender:ok", 8);
                add("wasender:rate_limited", 3);
                add("wasender:failure", 1);
                add("twilio:ok", 3);
            }
        }
    }
}
