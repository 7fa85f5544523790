//! A message, within the server's limits.

use serde::Serialize;
use sha2::{Digest as _, Sha256};

/// What the server takes at most, in bytes: of a text, and of a request.
const LONGEST_TEXT: usize = 4096;
const LONGEST_BODY: usize = 8192;
/// What still reads as a title.
const LONGEST_TITLE: usize = 250;

/// Something to show on a phone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// In a line.
    pub title: String,
    /// What there is to know.
    pub text: String,
    /// How urgent it is, from 1 to 5.
    pub priority: u8,
    /// Words that the server makes pictures of.
    pub tags: Vec<String>,
    /// The address that it leads to.
    pub click: Option<String>,
    /// Messages of one sequence are one notification, where the server can do that.
    pub sequence: String,
}

#[derive(Serialize)]
struct Body<'a> {
    topic: &'a str,
    title: &'a str,
    message: &'a str,
    priority: u8,
    tags: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    click: Option<&'a str>,
    sequence_id: &'a str,
}

impl Message {
    /// The request for a topic. What is too long is cut: what comes first says most.
    pub(super) fn body(&self, topic: &str) -> String {
        let title = cut(&line(&self.title), LONGEST_TITLE);
        let mut longest = LONGEST_TEXT;
        loop {
            let body = Body {
                topic,
                title: &title,
                message: &cut(&self.text, longest),
                priority: self.priority,
                tags: &self.tags,
                click: self.click.as_deref(),
                sequence_id: &self.sequence,
            };
            // Texts and numbers always have JSON.
            let body = serde_json::to_string(&body).unwrap_or_default();
            if body.len() <= LONGEST_BODY || longest == 0 {
                return body;
            }
            // Quotes and control characters are longer in JSON than they are.
            longest = longest.saturating_sub((body.len() - LONGEST_BODY).div_ceil(6).max(1));
        }
    }
}

/// The sequence of what an alert is about: the server takes letters and digits, and not many.
#[must_use]
pub fn sequence(environment: &str, alert_key: &str) -> String {
    let hash = Sha256::new()
        .chain_update(environment)
        .chain_update([0])
        .chain_update(alert_key)
        .finalize();
    let mut digits = [0; 16];
    digits.copy_from_slice(&hash[..16]);
    format!("folga-{:032x}", u128::from_be_bytes(digits))
}

/// A text in one line.
fn line(text: &str) -> String {
    text.chars()
        .map(|letter| if letter.is_control() { ' ' } else { letter })
        .collect::<String>()
        .trim()
        .to_owned()
}

/// The beginning of a text, of so many bytes at most.
fn cut(text: &str, longest: usize) -> String {
    if text.len() <= longest {
        return text.to_owned();
    }
    let room = longest.saturating_sub('…'.len_utf8());
    format!("{}…", &text[..text.floor_char_boundary(room)])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(title: &str, text: &str) -> Message {
        Message {
            title: title.to_owned(),
            text: text.to_owned(),
            priority: 4,
            tags: vec!["warning".to_owned()],
            click: None,
            sequence: "folga-1".to_owned(),
        }
    }

    fn sent(message: &Message) -> (String, serde_json::Value) {
        let body = message.body("limits");
        let json = serde_json::from_str(&body).unwrap();
        (body, json)
    }

    #[test]
    fn a_message_arrives_as_it_was_written() {
        let (_, json) = sent(&message(
            "⚠ Limite próximo: 72 %",
            "Escola São João\nmensagens/áudio",
        ));
        assert_eq!(json["title"], "⚠ Limite próximo: 72 %");
        assert_eq!(json["message"], "Escola São João\nmensagens/áudio");
        assert_eq!((&json["topic"], &json["priority"]), (&"limits".into(), &4.into()));
        assert_eq!(json.get("click"), None);
    }

    #[test]
    fn a_title_is_one_short_line() {
        let (_, json) = sent(&message("one\r\ntwo\u{7}", ""));
        assert_eq!(json["title"], "one  two");
        // 125 letters of two bytes would be 250; an ellipsis has three.
        let (_, json) = sent(&message(&"é".repeat(200), ""));
        assert_eq!(json["title"], format!("{}…", "é".repeat(123)));
    }

    #[test]
    fn a_text_is_cut_by_bytes_between_letters() {
        let (_, json) = sent(&message("", &"a".repeat(4096)));
        assert_eq!(json["message"].as_str().unwrap().len(), 4096);
        // 4093 bytes are left beside the ellipsis: 1023 pictures of four.
        let (_, json) = sent(&message("", &"🔥".repeat(1100)));
        assert_eq!(json["message"], format!("{}…", "🔥".repeat(1023)));
    }

    #[test]
    fn a_request_fits_whatever_is_in_it() {
        for text in ["\"".repeat(5000), "\u{1}".repeat(5000), "é\"\u{1}".repeat(2000)] {
            let (body, json) = sent(&message(&"\"".repeat(250), &text));
            assert!(body.len() <= LONGEST_BODY, "{}", body.len());
            // Not much shorter than it has to be.
            assert!(body.len() > LONGEST_BODY - 3000, "{}", body.len());
            assert!(json["message"].as_str().unwrap().ends_with('…'));
        }
    }

    #[test]
    fn sequences_tell_environments_and_keys_apart() {
        let one = sequence("prod", "a.b");
        assert_eq!(one, sequence("prod", "a.b"));
        assert_eq!((one.len(), one.starts_with("folga-")), (38, true));
        assert_ne!(one, sequence("staging", "a.b"));
        assert_ne!(sequence("a", "bc"), sequence("ab", "c"));
    }
}
