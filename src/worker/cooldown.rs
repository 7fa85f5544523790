//! What was told lately, as Redis remembers it: the users' own place for that, which other programs may look at. The
//! database remembers too, so nothing is lost where Redis is down or the account may only read.

use std::collections::HashMap;

use chrono::TimeDelta;

use super::Folga;
use crate::{
    alert::{Due, key},
    source::{ReadError, Session},
};

/// For how long Redis still remembers that the same was told, by alert.
#[derive(Debug, Default)]
pub(super) struct Noted(HashMap<i64, TimeDelta>);

impl Noted {
    /// Asks Redis about alerts. An expiry runs by Redis' own clock, so where another instant is taken for now it says
    /// nothing.
    pub(super) async fn read(folga: &Folga, due: &[&Due]) -> Self {
        if due.is_empty() || folga.clock.stands() {
            return Self::default();
        }
        let keys: Vec<String> = due.iter().map(|alert| name(folga, alert)).collect();
        let ask = async {
            let session = Session::open(&folga.catalog.redis).await.ok()?;
            session.remaining(&keys).await.ok()
        };
        let lives = ask.await.unwrap_or_default();
        Self(
            (due.iter().zip(lives))
                .filter_map(|(alert, life)| Some((alert.id, life?)))
                .collect(),
        )
    }

    /// For how long the same as an alert is remembered.
    pub(super) fn of(&self, alert: i64) -> Option<TimeDelta> {
        self.0.get(&alert).copied()
    }

    /// Tells Redis what was told.
    pub(super) async fn write(folga: &Folga, told: &[Due], life: TimeDelta) {
        let keys: Vec<String> = told.iter().map(|alert| name(folga, alert)).collect();
        if keys.is_empty() || life <= TimeDelta::zero() {
            return;
        }
        let Ok(session) = Session::open(&folga.catalog.redis).await else {
            return;
        };
        match session.note(&keys, life).await {
            Ok(()) => {}
            Err(ReadError::Denied(_)) => {
                tracing::debug!("the Redis account may not write: cooldowns are kept in Postgres");
            }
            Err(error) => {
                tracing::debug!(%error, "a cooldown could not be noted in Redis: it is kept in Postgres");
            }
        }
    }
}

/// The key of an alert: what it is about and how bad it is.
fn name(folga: &Folga, alert: &Due) -> String {
    let environments = &folga.catalog.environments;
    let own = environments.iter().find(|own| own.name == alert.environment);
    // What concerns all is noted under the first.
    let prefix = own.or(environments.first()).map_or("", |own| &*own.prefix);
    key::noted(prefix, &alert.key, alert.level.name())
}
