//! What looks as if it named a person: pure, on raw bytes.
//!
//! Identities are expected to be opaque ids or hashes. These rules find what slipped in all the same, wherever in a text it
//! stands. They look at spelling alone, so they may err: one in a hundred eleven-digit ids passes for a CPF. Where they
//! do, a text is shown less plainly than it could be; no count is lost.

mod address;
mod network;
mod number;

use std::{borrow::Cow, fmt, ops::Range};

/// A kind of personal data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Personal {
    /// A Brazilian taxpayer's number.
    Cpf,
    /// An e-mail address.
    Email,
    /// A telephone number.
    Phone,
    /// An account of a messaging service.
    MessagingId,
    /// A network address.
    Ip,
}

/// Where something personal stands.
type Span = (Range<usize>, Personal);

impl Personal {
    /// What stands in its place.
    const fn mark(self) -> &'static str {
        match self {
            Self::Cpf => "‹cpf›",
            Self::Email => "‹e-mail›",
            Self::Phone => "‹phone›",
            Self::MessagingId => "‹messaging id›",
            Self::Ip => "‹ip›",
        }
    }
}

/// In words, with its article.
impl fmt::Display for Personal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Cpf => "a CPF",
            Self::Email => "an e-mail address",
            Self::Phone => "a phone number",
            Self::MessagingId => "a messaging id",
            Self::Ip => "an IP address",
        })
    }
}

/// What in a text looks personal, the first thing where it is several.
#[must_use]
pub fn looks_personal(text: &[u8]) -> Option<Personal> {
    spans(text).first().map(|(_, kind)| *kind)
}

/// A text with a mark in place of whatever in it looks personal.
#[must_use]
pub fn masked(text: &[u8]) -> Cow<'_, [u8]> {
    let spans = spans(text);
    if spans.is_empty() {
        return Cow::Borrowed(text);
    }
    let mut shown = Vec::with_capacity(text.len());
    let mut at = 0;
    for (span, kind) in spans {
        shown.extend_from_slice(&text[at..span.start]);
        shown.extend_from_slice(kind.mark().as_bytes());
        at = span.end;
    }
    shown.extend_from_slice(&text[at..]);
    Cow::Owned(shown)
}

/// All that looks personal, left to right. What overlaps is one, of the kind that begins first; an address before a number,
/// as one may hold the other.
fn spans(text: &[u8]) -> Vec<Span> {
    let mut spans = address::spans(text);
    spans.extend(number::spans(text));
    spans.extend(network::spans(text));
    spans.sort_by_key(|(span, _)| span.start);
    let mut apart: Vec<Span> = Vec::new();
    for (span, kind) in spans {
        match apart.last_mut() {
            Some((last, _)) if span.start < last.end => last.end = last.end.max(span.end),
            _ => apart.push((span, kind)),
        }
    }
    apart
}

/// How many bytes up to a position are of a kind.
fn run_before(text: &[u8], at: usize, is_own: impl Fn(u8) -> bool) -> usize {
    text[..at].iter().rev().take_while(|byte| is_own(**byte)).count()
}

/// How many bytes from a position on are of a kind.
fn run_from(text: &[u8], at: usize, is_own: impl Fn(u8) -> bool) -> usize {
    text[at..].iter().take_while(|byte| is_own(**byte)).count()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn shown(text: &str) -> String {
        String::from_utf8(masked(text.as_bytes()).into_owned()).unwrap()
    }

    #[test]
    fn personal_parts_of_a_key_are_masked_and_the_rest_stays() {
        for (key, expected) in [
            (
                "wa:metrics:5511999990000:device2:202503101205",
                "wa:metrics:‹phone›:device2:202503101205",
            ),
            (
                "wa:metrics:5511999990000@s.whatsapp.net:202503101205",
                "wa:metrics:‹messaging id›:202503101205",
            ),
            (
                "olp:m:reset/maria@example.org:202503101205",
                "olp:m:reset/‹e-mail›:202503101205",
            ),
            ("rl|529.982.247-25|+14155550100|x", "rl|‹cpf›|‹phone›|x"),
            (
                "olp:ip:2001:db8::1:202503101205:10.0.0.1",
                "olp:ip:‹ip›:202503101205:‹ip›",
            ),
            ("to:(11)99999-0000@example.org:x", "to:‹phone›:x"),
            ("olp:m:send-otp:202503101205", "olp:m:send-otp:202503101205"),
        ] {
            assert_eq!(shown(key), expected);
        }
    }

    #[test]
    fn opaque_ids_and_names_are_nobodys() {
        for text in [
            "",
            "esc-1",
            "42",
            "send-otp",
            "v1/users:batch.get",
            // Seconds, milliseconds and minutes since 1970; a minute and a second in digits; dates.
            "1741608300",
            "1741608300000",
            "29026805",
            "202503101205",
            "20250310120530",
            "2025-03-10T12:05:00+00:00",
            // The year 5511, as twelve digits of a minute.
            "551103101205",
            "550e8400-e29b-41d4-a716-446655440000",
            "550e8400-e29b-41d4-a716-551199990000",
            "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
            "01ARZ3NDEKTSV4RRFFQ69G5FAV",
            "507f1f77bcf86cd799439011",
            "@everyone",
            "user@localhost",
            "logo@2x.png",
            "react@18.2.0",
            "1.2.3+20250310",
            "11144477734",
            "11111111111",
        ] {
            assert_eq!(looks_personal(text.as_bytes()), None, "{text}");
            assert_eq!(shown(text), text);
        }
    }

    proptest! {
        #[test]
        fn nothing_personal_is_left(text in "[a-z0-9@.:+() -]{0,60}|(:|-|x)(5511999990000|529[.]982[.]247-25|a@b[.]co|10[.]0[.]0[.]1)(:|x|,){1,3}") {
            prop_assert_eq!(looks_personal(&masked(text.as_bytes())), None);
        }

        #[test]
        fn what_was_text_stays_text(text: String) {
            prop_assert!(String::from_utf8(masked(text.as_bytes()).into_owned()).is_ok());
        }
    }
}
