//! What can go wrong, and when to try again: pure.

use std::error::Error as _;

use chrono::{DateTime, Days, NaiveTime, TimeDelta, Utc};

/// Why a message was not taken. No variant holds the token.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Failure {
    /// There was no answer.
    #[error("ntfy can't be reached ({0}): check `url` in [ntfy], and that the server runs")]
    Unreachable(String),
    /// The server has a fault.
    #[error("ntfy has a fault ({status}: {reason})")]
    Server {
        /// The HTTP status.
        status: u16,
        /// The server's words.
        reason: String,
    },
    /// The server takes no more for now.
    #[error(
        "ntfy takes no more messages for now ({reason}): lower `daily_budget` in [ntfy], or use an account with more"
    )]
    TooMany {
        /// The server's own code: 42901 burst, 42908 day, 42909 failed logins.
        code: Option<u32>,
        /// How long it wants to be left alone.
        retry_after: Option<TimeDelta>,
        /// The server's words.
        reason: String,
    },
    /// The settings are wrong: it stays like this until somebody mends them.
    #[error("ntfy lets nobody in like this ({status}: {reason}): check `url`, `topic` and FOLGA_NTFY_TOKEN")]
    Refused {
        /// The HTTP status.
        status: u16,
        /// The server's words.
        reason: String,
    },
    /// Whoever answers is no ntfy.
    #[error(
        "what answers is no ntfy server (it says: {0}): check `url` in [ntfy], and for a login page in between"
    )]
    NotNtfy(String),
    /// This very message is not to its liking.
    #[error("ntfy does not take this message ({status}: {reason})")]
    Message {
        /// The HTTP status.
        status: u16,
        /// The server's words.
        reason: String,
    },
}

/// The server's codes.
const DAILY: u32 = 42908;
const LOGINS: u32 = 42909;

/// How long to wait after a failure, and at most. After the first fault nobody waits: it may be chance, and the next round
/// comes soon enough.
const FAULT: (TimeDelta, TimeDelta) = (TimeDelta::seconds(30), TimeDelta::minutes(15));
const TOO_MANY: (TimeDelta, TimeDelta) = (TimeDelta::minutes(1), TimeDelta::hours(1));
/// What only people can mend is tried rarely.
const PEOPLE: TimeDelta = TimeDelta::minutes(30);
/// Whatever a server asks for, a day is enough.
const LONGEST: TimeDelta = TimeDelta::hours(24);

impl Failure {
    pub(super) fn unreachable(error: &reqwest::Error) -> Self {
        if error.is_timeout() {
            return Self::Unreachable("it does not answer in time".to_owned());
        }
        // The last cause says most: the ones before only say that there was an error.
        let mut reason = error.to_string();
        let mut cause = error.source();
        while let Some(inner) = cause {
            reason = inner.to_string();
            cause = inner.source();
        }
        Self::Unreachable(reason)
    }

    /// Whether any other message would fail likewise.
    #[must_use]
    pub const fn concerns_all(&self) -> bool {
        !matches!(self, Self::Message { .. })
    }

    /// When to try again, after so many failures in a row before this one.
    #[must_use]
    pub fn retry_at(&self, failures: u32, now: DateTime<Utc>) -> DateTime<Utc> {
        match self {
            Self::Unreachable(_) | Self::Server { .. } | Self::NotNtfy(_) => {
                let again = failures.checked_sub(1);
                now + again.map_or(TimeDelta::zero(), |again| doubled(FAULT, again))
            }
            Self::TooMany {
                code: Some(DAILY),
                retry_after: None,
                ..
            } => midnight_after(now),
            Self::TooMany {
                code: Some(LOGINS), ..
            }
            | Self::Refused { .. }
            | Self::Message { .. } => now + PEOPLE,
            Self::TooMany { retry_after, .. } => {
                // Asking again as soon as it is allowed, over and over, gets an address banned.
                let asked = retry_after.map_or(TimeDelta::zero(), |wait| doubled((wait, LONGEST), failures));
                now + doubled(TOO_MANY, failures).max(asked)
            }
        }
    }
}

fn doubled((first, longest): (TimeDelta, TimeDelta), failures: u32) -> TimeDelta {
    let doubled = first.checked_mul(1 << failures.min(16));
    doubled.map_or(longest, |wait| wait.min(longest))
}

fn midnight_after(now: DateTime<Utc>) -> DateTime<Utc> {
    (now.date_naive() + Days::new(1))
        .and_time(NaiveTime::MIN)
        .and_utc()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The seconds after which a request goes out again, time after time.
    fn waits(failure: &Failure) -> [i64; 6] {
        let now = "2025-03-10T12:00:00Z".parse().unwrap();
        [0, 1, 2, 3, 4, 5].map(|failures| (failure.retry_at(failures, now) - now).num_seconds())
    }

    fn too_many(code: u32, retry_after: Option<i64>) -> Failure {
        Failure::TooMany {
            code: Some(code),
            retry_after: retry_after.map(TimeDelta::seconds),
            reason: String::new(),
        }
    }

    #[test]
    fn a_server_that_fails_is_asked_less_and_less() {
        let fault = Failure::Unreachable(String::new());
        assert_eq!(waits(&fault), [0, 30, 60, 120, 240, 480]);
        assert_eq!(fault.retry_at(u32::MAX, DateTime::UNIX_EPOCH).timestamp(), 900);
    }

    #[test]
    fn a_server_that_wants_quiet_gets_it() {
        assert_eq!(waits(&too_many(42901, None)), [60, 120, 240, 480, 960, 1920]);
        // Asked for two minutes: requests go out at 0, 2, 6 and 14 minutes.
        assert_eq!(
            waits(&too_many(42908, Some(120))),
            [120, 240, 480, 960, 1920, 3840]
        );
        assert_eq!(waits(&too_many(42901, Some(1))), [60, 120, 240, 480, 960, 1920]);
        // The day is over at midnight of UTC.
        assert_eq!(waits(&too_many(42908, None)), [43_200; 6]);
        assert_eq!(waits(&too_many(42901, Some(1_000_000))), [86_400; 6]);
    }

    #[test]
    fn what_people_have_to_mend_is_tried_rarely() {
        let refused = Failure::Refused {
            status: 403,
            reason: String::new(),
        };
        for failure in [&refused, &too_many(42909, Some(5))] {
            assert_eq!(waits(failure), [1800; 6]);
            assert!(failure.concerns_all());
        }
    }
}
