//! How many commands Redis was sent today.

use chrono::{DateTime, NaiveDate, NaiveTime, TimeDelta, Utc};
use serde::{Deserialize, Serialize};

use super::{Folga, findings};
use crate::{
    source::Session,
    store::{StoreError, runs, settings},
};

/// Looking costs a command too.
const PAUSE: TimeDelta = TimeDelta::hours(1);
const SETTING: &str = "redis commands";

/// What was last seen of the server's statistics.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Seen {
    looked_at: DateTime<Utc>,
    day: NaiveDate,
    /// What the server had answered since it started.
    base: u64,
    /// What it has answered on this day since the first look; none where the account may not look.
    today: Option<u64>,
}

/// Notes whether Redis was sent more commands today than it should: by folga, or by all where the server's statistics
/// may be read.
///
/// # Errors
/// The database failed.
pub async fn look(folga: &Folga) -> Result<(), StoreError> {
    let now = folga.clock.now();
    let mut tx = folga.store.begin().await?;
    let before = settings::get(&mut tx, SETTING).await?;
    let midnight = now.date_naive().and_time(NaiveTime::MIN).and_utc();
    let own = runs::commands_since(&mut tx, midnight).await?;
    tx.rollback().await?;

    let before: Option<Seen> = before.and_then(|text| serde_json::from_str(&text).ok());
    let seen = match before {
        Some(seen) if (seen.looked_at..seen.looked_at + PAUSE).contains(&now) => seen,
        before => {
            let seen = Seen::next(before.as_ref(), answered(folga).await, now);
            let mut tx = folga.store.begin().await?;
            let text = serde_json::to_string(&seen).map_err(|error| StoreError::Encode(Box::new(error)))?;
            settings::set(&mut tx, SETTING, &text).await?;
            tx.commit().await?;
            seen
        }
    };
    findings::commands(folga, own, seen.today).await
}

/// What the server has answered since it started; none where it is down or the account may not look.
async fn answered(folga: &Folga) -> Option<u64> {
    let session = Session::open(&folga.catalog.redis).await.ok()?;
    session.server_commands().await.ok()
}

impl Seen {
    /// A server that has answered less than before was restarted.
    fn next(before: Option<&Self>, answered: Option<u64>, now: DateTime<Utc>) -> Self {
        let day = now.date_naive();
        let before = before.filter(|before| before.day == day);
        let (base, today) = match (
            before.and_then(|before| Some((before.base, before.today?))),
            answered,
        ) {
            (Some((base, so_far)), Some(answered)) => {
                let since = if answered >= base {
                    answered - base
                } else {
                    answered
                };
                (answered, Some(so_far + since))
            }
            // It did not answer this time.
            (Some((base, so_far)), None) => (base, Some(so_far)),
            // The first look has nothing to count from.
            (None, answered) => (answered.unwrap_or(0), answered.map(|_| 0)),
        };
        Self {
            looked_at: now,
            day,
            base,
            today,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_day_is_counted_from_its_first_look_and_over_restarts() {
        let at = |text: &str| text.parse::<DateTime<Utc>>().unwrap();
        let first = Seen::next(None, Some(1_000), at("2025-03-10T08:00:00Z"));
        assert_eq!((first.base, first.today), (1_000, Some(0)));
        let second = Seen::next(Some(&first), Some(1_500), at("2025-03-10T09:00:00Z"));
        assert_eq!((second.base, second.today), (1_500, Some(500)));
        // Restarted: it begins again at 0.
        let third = Seen::next(Some(&second), Some(200), at("2025-03-10T10:00:00Z"));
        assert_eq!((third.base, third.today), (200, Some(700)));
        let next_day = Seen::next(Some(&third), Some(300), at("2025-03-11T00:30:00Z"));
        assert_eq!((next_day.base, next_day.today), (300, Some(0)));
        // A server that did not answer is counted on from where it was, or from its first answer.
        let silent = Seen::next(Some(&second), None, at("2025-03-10T10:00:00Z"));
        let again = Seen::next(Some(&silent), Some(1_600), at("2025-03-10T11:00:00Z"));
        assert_eq!((again.base, again.today), (1_600, Some(600)));
        let never = Seen::next(None, None, at("2025-03-10T08:00:00Z"));
        assert_eq!(never.today, None);
        let first = Seen::next(Some(&never), Some(9_000_000), at("2025-03-10T09:00:00Z"));
        assert_eq!((first.base, first.today), (9_000_000, Some(0)));
    }
}
