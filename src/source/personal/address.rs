//! E-mail addresses and accounts of messaging services: what stands around an `@`, and `whatsapp:+…`.

use super::{Personal, Span, run_before, run_from};

/// The servers of WhatsApp's ids: people, people as older programs write them, groups, people without their number.
/// <https://baileys.wiki/concepts/jids>
const SERVERS: [&str; 4] = ["s.whatsapp.net", "c.us", "g.us", "lid"];

/// How an `@` is written; the second is the one of URLs.
const SIGNS: [&str; 2] = ["@", "%40"];

/// What an account starts with where a gateway names it by its number.
const NUMBERED: &str = "whatsapp:";

/// The longest number of a device in `user:device@server`.
const LONGEST_DEVICE: usize = 4;

pub(super) fn spans(text: &[u8]) -> Vec<Span> {
    (0..text.len())
        .filter_map(|at| around(text, at).or_else(|| numbered(text, at)))
        .collect()
}

/// The address whose `@` is at a position.
fn around(text: &[u8], at: usize) -> Option<Span> {
    let sign = SIGNS
        .iter()
        .find(|sign| text[at..].starts_with(sign.as_bytes()))?;
    let local = run_before(text, at, |byte| {
        is_name(byte) || matches!(byte, b'_' | b'+' | b'%')
    });
    if local == 0 {
        return None;
    }
    let (start, domain) = (at - local, at + sign.len());
    let rest = &text[domain..];
    if let Some(server) = SERVERS.iter().find(|server| is_server(rest, server)) {
        let start = start - device(text, start, at);
        return Some((start..domain + server.len(), Personal::MessagingId));
    }
    let length = domain_length(&rest[..run_from(rest, 0, is_name)])?;
    Some((start..domain + length, Personal::Email))
}

/// Bytes of names on either side of an `@`, letters of every alphabet among them.
fn is_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-') || !byte.is_ascii()
}

fn is_server(rest: &[u8], server: &str) -> bool {
    rest.len() >= server.len()
        && rest[..server.len()].eq_ignore_ascii_case(server.as_bytes())
        && !rest.get(server.len()).is_some_and(u8::is_ascii_alphanumeric)
}

/// The length of the user in front of a device: of `5511999990000:` in `5511999990000:12@s.whatsapp.net`.
fn device(text: &[u8], start: usize, at: usize) -> usize {
    let is_device = at - start <= LONGEST_DEVICE && text[start..at].iter().all(u8::is_ascii_digit);
    if !is_device || !text[..start].ends_with(b":") {
        return 0;
    }
    match run_before(text, start - 1, |byte| byte.is_ascii_digit()) {
        0 => 0,
        digits => digits + 1,
    }
}

/// The length of the domain that a text begins with: labels up to the last one that can be a top-level domain. What
/// follows, a minute after a dot or a hyphen say, is something else.
fn domain_length(text: &[u8]) -> Option<usize> {
    let labels: Vec<&[u8]> = text.split(|byte| *byte == b'.').collect();
    let known = labels.iter().take_while(|label| !label.is_empty()).count();
    let (last, top) = (1..known)
        .rev()
        .find_map(|last| Some((last, top(labels[last])?)))?;
    // `logo@2x.png` is a picture for dense screens.
    let is_scale = matches!(labels[0], [digit, b'x'] if digit.is_ascii_digit());
    let before: usize = labels[..last].iter().map(|label| label.len() + 1).sum();
    (!is_scale).then_some(before + top)
}

/// The length of the top-level domain that a label is, or is in front of a hyphen or something that is no ASCII.
fn top(label: &[u8]) -> Option<usize> {
    if label.starts_with(b"xn--") {
        return Some(label.len());
    }
    let letters = run_from(label, 0, |byte| byte.is_ascii_alphabetic());
    let is_whole = label
        .get(letters)
        .is_none_or(|byte| *byte == b'-' || !byte.is_ascii());
    (letters >= 2 && is_whole).then_some(letters)
}

/// `whatsapp:` at a position, with the number behind it.
fn numbered(text: &[u8], at: usize) -> Option<Span> {
    let head = text.get(at..at + NUMBERED.len())?;
    if !head.eq_ignore_ascii_case(NUMBERED.as_bytes()) {
        return None;
    }
    let phone = super::number::international(text, at + NUMBERED.len())?;
    Some((at..phone.end, Personal::MessagingId))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is found, as kind and text.
    fn found(text: &str) -> Vec<(Personal, &str)> {
        let spans = spans(text.as_bytes()).into_iter();
        spans.map(|(span, kind)| (kind, &text[span])).collect()
    }

    #[test]
    fn addresses_are_found_wherever_they_stand() {
        for (text, address) in [
            ("maria@example.org", "maria@example.org"),
            (
                "user/Maria.Silva+x@mail.example.com.br:7",
                "Maria.Silva+x@mail.example.com.br",
            ),
            ("?email=maria%40example.org&x", "maria%40example.org"),
            ("x:joão.conceição@exemplo.com", "joão.conceição@exemplo.com"),
            ("maria@coração.example.org", "maria@coração.example.org"),
            ("maria@example.org、x", "maria@example.org"),
            ("m.maria@example.org.202503101205", "m.maria@example.org"),
            ("maria@example.org-device2", "maria@example.org"),
            ("<maria@163.com>", "maria@163.com"),
        ] {
            assert_eq!(found(text), [(Personal::Email, address)], "{text}");
        }
        for text in [
            "@example.org",
            "maria@",
            "maria@localhost",
            "maria@.org",
            "a@b.c",
            "a@b..org",
            "x@1.2",
        ] {
            assert!(found(text).is_empty(), "{text}");
        }
    }

    #[test]
    fn messaging_ids_are_told_from_addresses() {
        for (text, id) in [
            (
                "wa:5511999990000@s.whatsapp.net:1",
                "5511999990000@s.whatsapp.net",
            ),
            (
                "wa:5511999990000:12@s.whatsapp.net",
                "5511999990000:12@s.whatsapp.net",
            ),
            ("5511999990000@C.US", "5511999990000@C.US"),
            (
                "120363001234567890-1700000000@g.us.202503101205",
                "120363001234567890-1700000000@g.us",
            ),
            ("998877665544332@lid", "998877665544332@lid"),
            ("to:whatsapp:+14155550100", "whatsapp:+14155550100"),
        ] {
            assert_eq!(found(text), [(Personal::MessagingId, id)], "{text}");
        }
        for text in ["7@lidl", "whatsapp:202503101205", "whatsapp:+123"] {
            assert!(found(text).is_empty(), "{text}");
        }
    }
}
