//! Bytes from Redis as text that a page, a log line and Postgres can hold.

use std::fmt::Write as _;

use super::{Personal, looks_personal, personal::masked};

/// The longest name of an endpoint, scope or outcome in bytes: it becomes part of database keys, whose size is bounded.
const LONGEST_NAME: usize = 512;

/// Writes bytes as text. Invalid UTF-8 and control characters become `\xff`, a backslash two, so that different bytes
/// always give different texts.
#[must_use]
pub fn printable(raw: &[u8]) -> String {
    let mut text = String::with_capacity(raw.len());
    for chunk in raw.utf8_chunks() {
        for c in chunk.valid().chars() {
            match c {
                '\\' => text.push_str("\\\\"),
                c if c.is_control() => escape(&mut text, c.encode_utf8(&mut [0; 4]).as_bytes()),
                c => text.push(c),
            }
        }
        escape(&mut text, chunk.invalid());
    }
    text
}

fn escape(text: &mut String, bytes: &[u8]) {
    for byte in bytes {
        // Writing to a String cannot fail.
        let _ = write!(text, "\\x{byte:02x}");
    }
}

/// A key as it is shown: as text, with a mark in place of whatever in it looks personal.
#[must_use]
pub fn shown_key(raw: &[u8]) -> String {
    printable(&masked(raw))
}

/// Reads the name of an endpoint, scope or outcome; `what` says which.
///
/// # Errors
/// A name that is no printable text, longer than a database key may be, or personal: names are stored as they are. A
/// network address may be that of a server.
pub fn name<'t>(what: &str, raw: &'t [u8]) -> Result<&'t str, String> {
    let Ok(text) = str::from_utf8(raw) else {
        return Err(format!("the {what} is not UTF-8"));
    };
    if text.chars().any(char::is_control) {
        return Err(format!("the {what} holds control characters"));
    }
    if text.len() > LONGEST_NAME {
        return Err(format!("the {what} is longer than {LONGEST_NAME} bytes"));
    }
    if let Some(kind) = looks_personal(raw).filter(|kind| *kind != Personal::Ip) {
        return Err(format!(
            "the {what} looks like {kind}, and would be stored as it is: that part belongs into the identity, or nowhere"
        ));
    }
    Ok(text)
}

/// Cuts a text to at most `bytes` bytes on a character boundary and says so with an ellipsis.
#[must_use]
pub fn shortened(mut text: String, bytes: usize) -> String {
    if text.len() > bytes {
        text.truncate(text.floor_char_boundary(bytes));
        text.push('…');
    }
    text
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn odd_bytes_are_escaped_and_others_are_not() {
        for (raw, text) in [
            (b"esc-1".as_slice(), "esc-1"),
            ("São João".as_bytes(), "São João"),
            (b"\xff\xfe", "\\xff\\xfe"),
            (b"a\\xff", "a\\\\xff"),
            (b"a\0\n\x7f", "a\\x00\\x0a\\x7f"),
            // U+0085, a control character of two bytes.
            (b"\xc2\x85", "\\xc2\\x85"),
            (b"\xc3(", "\\xc3("),
        ] {
            assert_eq!(printable(raw), text);
        }
    }

    #[test]
    fn names_are_printable_text_of_bounded_length() {
        assert_eq!(
            name("endpoint", "mensagens/áudio".as_bytes()),
            Ok("mensagens/áudio")
        );
        for bad in [
            b"\xc3(".as_slice(),
            b"a\0",
            b"a\nb",
            &[b'a'; 513],
            b"user/maria@example.org",
        ] {
            assert!(name("endpoint", bad).is_err());
        }
        assert_eq!(name("endpoint", b"proxy/10.0.0.1"), Ok("proxy/10.0.0.1"));
    }

    #[test]
    fn a_cut_keeps_whole_characters() {
        assert_eq!(shortened("áá".to_owned(), 3), "á…");
        assert_eq!(shortened("áá".to_owned(), 4), "áá");
    }

    /// Undoes `printable`, written apart from it.
    fn bytes(text: &str) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut rest = text.as_bytes();
        while let Some((first, tail)) = rest.split_first() {
            let (byte, tail) = match (first, tail.first()) {
                (b'\\', Some(b'x')) => {
                    let digits = str::from_utf8(&tail[1..3]).unwrap();
                    (u8::from_str_radix(digits, 16).unwrap(), &tail[3..])
                }
                (b'\\', _) => (b'\\', &tail[1..]),
                _ => (*first, tail),
            };
            bytes.push(byte);
            rest = tail;
        }
        bytes
    }

    proptest! {
        #[test]
        fn the_bytes_can_be_had_back(raw: Vec<u8>) {
            prop_assert_eq!(bytes(&printable(&raw)), raw);
        }
    }
}
