//! How deliveries go: what the sender notes and health and metrics show, so that neither has to ask the database.

use std::sync::{Mutex, MutexGuard, PoisonError};

use chrono::{DateTime, Utc};

use crate::{
    catalog::NtfySettings,
    store::{StoreError, Tx, delivery, outbox},
};

/// How the deliveries of this process go.
#[derive(Debug, Default)]
pub struct Post(Mutex<Noted>);

#[derive(Clone, Debug, Default)]
struct Noted {
    standing: PostStanding,
    counts: PostCounts,
}

/// How deliveries stand.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PostStanding {
    /// Alerts that wait to be sent.
    pub waiting: u64,
    /// The notification server is not asked before.
    pub closed_until: Option<DateTime<Utc>>,
    /// Failures in a row.
    pub failures: u32,
    /// What went wrong last; none once the server took something.
    pub last_error: Option<String>,
}

/// What the deliveries of this process add up to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PostCounts {
    /// Messages that the server took.
    pub sent: u64,
    /// Attempts that failed.
    pub failed: u64,
}

impl Post {
    /// As deliveries stood when the process started.
    #[must_use]
    pub fn new(standing: PostStanding) -> Self {
        Self(Mutex::new(Noted {
            standing,
            counts: PostCounts::default(),
        }))
    }

    /// Notes how deliveries stand.
    pub fn note(&self, standing: PostStanding) {
        self.lock().standing = standing;
    }

    /// Notes messages that the server took, and attempts that failed.
    pub fn count(&self, more: PostCounts) {
        let counts = &mut self.lock().counts;
        counts.sent += more.sent;
        counts.failed += more.failed;
    }

    /// A copy of how deliveries stand.
    #[must_use]
    pub fn standing(&self) -> PostStanding {
        self.lock().standing.clone()
    }

    /// What they add up to.
    #[must_use]
    pub fn counts(&self) -> PostCounts {
        self.lock().counts
    }

    fn lock(&self) -> MutexGuard<'_, Noted> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl PostStanding {
    /// How deliveries to a server stand in the database as of an instant.
    ///
    /// # Errors
    /// The database failed.
    pub async fn read(
        tx: &mut Tx,
        server: Option<&NtfySettings>,
        now: DateTime<Utc>,
    ) -> Result<Self, StoreError> {
        let delivery = delivery::read(
            tx,
            &server.map(NtfySettings::fingerprint).unwrap_or_default(),
            now,
        )
        .await?;
        Ok(Self {
            waiting: outbox::waiting(tx).await?.max(0).cast_unsigned(),
            closed_until: delivery.closed_until,
            failures: delivery.failures,
            last_error: delivery.error,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_add_up_whatever_the_standing() {
        let post = Post::new(PostStanding {
            waiting: 2,
            ..PostStanding::default()
        });
        let more = |sent, failed| PostCounts { sent, failed };
        post.count(more(3, 0));
        post.note(PostStanding::default());
        post.count(more(1, 2));
        assert_eq!(post.standing(), PostStanding::default());
        assert_eq!(post.counts(), more(4, 2));
    }
}
