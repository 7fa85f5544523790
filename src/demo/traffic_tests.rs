use std::collections::BTreeSet;

use super::*;

const ZONE: Tz = chrono_tz::America::Sao_Paulo;

/// A Wednesday, 10:30 local time.
fn now() -> DateTime<Utc> {
    "2026-06-17T13:30:00Z".parse().unwrap()
}

/// Counts of one endpoint and one field in one minute.
fn counts<'a>(writes: &'a [Write], endpoint: &str, scope: &str) -> Vec<(Minute, &'a str, u64)> {
    let key = format!("olp:m:{endpoint}:");
    let of_scope = |write: &&Write| write.key.starts_with(&key) && write.field.starts_with(scope);
    writes
        .iter()
        .filter(of_scope)
        .map(|write| (write.minute, write.field.as_str(), write.count))
        .collect()
}

/// The largest sum that one identity reaches in so many minutes on end.
fn largest(counts: &[(Minute, &str, u64)], minutes: i64) -> u64 {
    let sum = |&(last, field, _): &(Minute, &str, u64)| {
        let inside = |other: &&(Minute, &str, u64)| {
            other.1 == field && (last.plus(1 - minutes)..=last).contains(&other.0)
        };
        counts
            .iter()
            .filter(inside)
            .map(|(_, _, count)| count)
            .sum::<u64>()
    };
    counts.iter().map(sum).max().unwrap_or(0)
}

#[test]
fn the_same_instant_gives_the_same_traffic_and_nothing_after_it() {
    let writes = traffic(now(), ZONE);
    assert_eq!(writes, traffic(now(), ZONE));
    assert!(writes.is_sorted_by_key(|write| write.minute));
    assert!(writes.iter().all(|write| write.minute.end() <= now()));
    // 35 days before the local day of now: it starts at 03:00Z on 13 May, and the first login is at 7 or later.
    assert_eq!(writes[0].minute.start().to_rfc3339()[..13], *"2026-05-13T10");
}

#[test]
fn logins_are_as_many_as_the_schools_have() {
    let writes = traffic(now(), ZONE);
    let logins = counts(&writes, "send-otp", "usuario_id");
    let of = |day: Day| -> u64 {
        logins
            .iter()
            .filter(|login| day_of(login.0.start(), ZONE) == day)
            .map(|login| login.2)
            .sum()
    };
    // 17 days before 17 June is Sunday 31 May: Friday 29 May. 8 days before is Tuesday 9 June.
    let (peak, burst) = ("2026-05-29".parse().unwrap(), "2026-06-09".parse().unwrap());
    for day in days(now(), ZONE).take(35) {
        let expected = match day {
            day if day == peak => 280..=280,
            day if day == burst => 34..=54,
            _ => 5..=30,
        };
        assert!(expected.contains(&of(day)), "{day}: {}", of(day));
    }
    let pupils: BTreeSet<&str> = logins.iter().map(|login| login.1).collect();
    assert_eq!(pupils.len(), 93);
    let noon = |login: &&(Minute, &str, u64)| {
        day_of(login.0.start(), ZONE) == peak
            && (15..16).contains(&login.0.start().format("%H").to_string().parse().unwrap())
    };
    // 37 % of 280 is 104; three standard deviations of a share drawn by lot are 24.
    let at_noon: u64 = logins.iter().filter(noon).map(|login| login.2).sum();
    assert!((80..=128).contains(&at_noon), "{at_noon}");
}

#[test]
fn the_burst_passes_70_percent_of_one_limit_and_all_of_another() {
    // Whatever day of the week the demo is shown on.
    for weekday in 0..7 {
        let writes = traffic(now() + TimeDelta::days(weekday), ZONE);
        // 24 logins, one every two minutes: all within an hour, over 20; 8 of them within 15 minutes, near 10.
        assert_eq!(largest(&counts(&writes, "send-otp", "ip:"), 60), 24);
        assert_eq!(largest(&counts(&writes, "verify-otp", "ip:"), 15), 8);
        // All others stay below 70 % of theirs.
        assert!(largest(&counts(&writes, "send-otp", "usuario_id:"), 15) < 4);
        assert!(largest(&counts(&writes, "tarefas", "usuario_id:"), 1) < 42);
        assert!(largest(&counts(&writes, "comunicacao-escola", "escola_id:"), 1) < 4);
        assert!(largest(&counts(&writes, "comunicacao-escola", "escola_id:"), 60) < 35);
    }
}

#[test]
fn keys_fields_and_lives_are_those_of_gateway_and_queue() {
    let writes = traffic(now(), ZONE);
    let me = writes
        .iter()
        .find(|write| write.key == "olp-stg:m:me:202606161001")
        .unwrap();
    assert_eq!((me.field.as_str(), me.count), ("escola_id:e-stress", 1));
    assert_eq!(me.index.as_deref(), Some("olp-stg:midx:202606161001"));
    assert_eq!(me.ttl, TimeDelta::hours(2));
    // Half past noon of the day before: 8 messages beside those of any minute.
    let key = "olp:wa:metrics:conta-1:202606161530";
    let refused = writes
        .iter()
        .find(|write| write.key == key && write.field == "wasender:rate_limited")
        .unwrap();
    assert_eq!(
        (refused.count, &refused.index, refused.ttl),
        (3, &None, TimeDelta::minutes(5))
    );
    let messages = writes
        .iter()
        .filter(|write| write.key.starts_with("olp:wa:metrics:conta-1:20260616"));
    let accepted: u64 = messages
        .filter(|write| write.field.ends_with(":ok"))
        .map(|write| write.count)
        .sum();
    assert!((60..140).contains(&accepted), "{accepted}");
}
