//! What the server's answers mean: pure.

use chrono::{DateTime, TimeDelta, Utc};
use serde::Deserialize;

use super::{Delivered, Failure};

/// An answer that is no success.
pub(super) struct Answer<'a> {
    pub(super) status: u16,
    pub(super) retry_after: Option<&'a str>,
    pub(super) body: &'a [u8],
    pub(super) now: DateTime<Utc>,
}

#[derive(Deserialize)]
struct Published {
    id: String,
    event: String,
    topic: String,
    sequence_id: Option<String>,
}

/// What ntfy says of a request that it does not take.
#[derive(Default, Deserialize)]
struct Complaint {
    code: Option<u32>,
    error: Option<String>,
}

/// Reads the answer to a message. A login page or a proxy's greeting, which come with 200 too, are no delivery.
pub(super) fn delivered(body: &[u8], topic: &str, sequence: &str) -> Result<Delivered, Failure> {
    let published: Option<Published> = serde_json::from_slice(body).ok();
    published
        .filter(|own| !own.id.is_empty() && own.event == "message" && own.topic == topic)
        .map(|own| Delivered {
            updates: own.sequence_id.is_some_and(|echo| echo == sequence),
            id: own.id,
        })
        .ok_or_else(|| Failure::NotNtfy(beginning(body)))
}

/// Whether an answer is one of ntfy's at all.
pub(super) fn is_json(body: &[u8]) -> Result<(), Failure> {
    let object: Result<serde_json::Map<String, serde_json::Value>, _> = serde_json::from_slice(body);
    object.map(drop).map_err(|_| Failure::NotNtfy(beginning(body)))
}

/// Reads an answer that is no success.
pub(super) fn refused(answer: &Answer<'_>) -> Failure {
    let complaint: Complaint = serde_json::from_slice(answer.body).unwrap_or_default();
    let reason = complaint.error.unwrap_or_else(|| beginning(answer.body));
    let status = answer.status;
    match status {
        429 => Failure::TooMany {
            code: complaint.code,
            retry_after: answer.retry_after.and_then(|text| wait(text, answer.now)),
            reason,
        },
        300..400 | 401 | 403 | 404 => Failure::Refused { status, reason },
        400..500 if complaint.code.is_some() => Failure::Message { status, reason },
        // Something in between does not let requests through.
        400..500 => Failure::NotNtfy(format!("status {status}, {reason}")),
        _ => Failure::Server { status, reason },
    }
}

/// `Retry-After`: seconds, or a date.
fn wait(text: &str, now: DateTime<Utc>) -> Option<TimeDelta> {
    let text = text.trim();
    if let Ok(seconds) = text.parse::<u32>() {
        return Some(TimeDelta::seconds(seconds.into()));
    }
    let until = DateTime::parse_from_rfc2822(text).ok()?;
    Some((until.to_utc() - now).max(TimeDelta::zero()))
}

/// Enough of a body to recognise it by.
fn beginning(body: &[u8]) -> String {
    let text = String::from_utf8_lossy(body);
    let words: Vec<&str> = text.split_whitespace().collect();
    let words = words.join(" ");
    if words.is_empty() {
        return "nothing".to_owned();
    }
    words
        .chars()
        .filter(|letter| !letter.is_control())
        .take(80)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TAKEN: &str =
        r#"{"id":"x1","time":1,"event":"message","topic":"limits","message":"m","sequence_id":"s"}"#;

    #[test]
    fn only_the_servers_own_word_is_delivery() {
        let read = |body: &str| delivered(body.as_bytes(), "limits", "s");
        let own = |updates| Delivered {
            id: "x1".to_owned(),
            updates,
        };
        assert_eq!(read(TAKEN), Ok(own(true)));
        assert_eq!(read(&TAKEN.replace(r#","sequence_id":"s""#, "")), Ok(own(false)));
        assert_eq!(read(&TAKEN.replace(r#""s""#, r#""other""#)), Ok(own(false)));
        for other in [
            "<html><body>Please log in</body></html>",
            "",
            "{}",
            "[]",
            &TAKEN.replace("x1", ""),
            &TAKEN.replace("limits", "others"),
            &TAKEN.replace("\"event\":\"message\"", "\"event\":\"open\""),
        ] {
            assert!(matches!(read(other), Err(Failure::NotNtfy(_))), "{other}");
        }
    }

    #[test]
    fn refusals_are_told_apart() {
        let now = "2025-03-10T12:00:00Z".parse().unwrap();
        let read = |status, retry_after, body: &str| {
            refused(&Answer {
                status,
                retry_after,
                body: body.as_bytes(),
                now,
            })
        };
        let daily = r#"{"code":42908,"http":429,"error":"limit reached: daily message quota reached"}"#;
        let too_many = |retry_after| Failure::TooMany {
            code: Some(42908),
            retry_after,
            reason: "limit reached: daily message quota reached".to_owned(),
        };
        assert_eq!(read(429, None, daily), too_many(None));
        assert_eq!(
            read(429, Some("120"), daily),
            too_many(Some(TimeDelta::seconds(120)))
        );
        let date = Some("Mon, 10 Mar 2025 12:01:30 GMT");
        assert_eq!(read(429, date, daily), too_many(Some(TimeDelta::seconds(90))));
        assert_eq!(read(429, Some("soon"), daily), too_many(None));
        for status in [301, 307, 401, 403, 404] {
            assert!(
                matches!(read(status, None, ""), Failure::Refused { .. }),
                "{status}"
            );
        }
        for status in [400, 405, 407, 413] {
            assert!(
                matches!(read(status, None, "<html>blocked</html>"), Failure::NotNtfy(_)),
                "{status}"
            );
        }
        for status in [400, 413] {
            assert!(
                matches!(
                    read(status, None, r#"{"code":40007,"error":"invalid"}"#),
                    Failure::Message { .. }
                ),
                "{status}"
            );
        }
        for status in [500, 502, 507] {
            assert!(
                matches!(read(status, None, ""), Failure::Server { .. }),
                "{status}"
            );
        }
    }
}
