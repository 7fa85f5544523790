//! Staging's traffic: scripts that stress it, which says nothing about real demand.

use chrono::{Datelike as _, Weekday};
use chrono_tz::Tz;

use super::traffic::{Counters, at};
use crate::time::Day;

/// Its name in the catalog.
pub(super) const ENVIRONMENT: &str = "staging";
/// Its prefix.
const PREFIX: &str = "olp-stg:";

/// Counts forty minutes of ten virtual users every Tuesday and Thursday, and a smoke test every morning.
pub(super) fn count(counters: &mut Counters, days: impl Iterator<Item = Day>, zone: Tz) {
    for day in days {
        let tester = scopes(0);
        counters.request(PREFIX, at(day, zone, 7, 0), "send-otp", &tester, 1);
        counters.request(PREFIX, at(day, zone, 7, 0), "verify-otp", &tester, 1);
        counters.request(PREFIX, at(day, zone, 7, 1), "me", &tester, 1);
        if !matches!(day.weekday(), Weekday::Tue | Weekday::Thu) {
            continue;
        }
        for minute in 0..40 {
            for user in 1..=10 {
                let (minute, user) = (at(day, zone, 15, minute), scopes(user));
                counters.request(PREFIX, minute, "aluno-dashboard", &user, 150);
                counters.request(PREFIX, minute, "tarefas", &user, 70);
                counters.request(PREFIX, minute, "me", &user, 200);
            }
        }
    }
}

fn scopes(user: u64) -> Vec<String> {
    vec![
        format!("usuario_id:stress-{user}"),
        "ip:198.51.100.1".to_owned(),
        "escola_id:e-stress".to_owned(),
    ]
}
