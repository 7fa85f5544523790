//! IPv4 and IPv6 addresses.

use std::net::{Ipv4Addr, Ipv6Addr};

use super::{Personal, Span, run_from};

/// An address has no more groups between colons than this: eight, and an empty one where it begins or ends in two colons.
const MOST_GROUPS: usize = 9;

/// With fewer groups than this, only a whole text is taken for an address: in a key, `a::b` are two parts and an empty one.
const SURE_GROUPS: usize = 3;

pub(super) fn spans(text: &[u8]) -> Vec<Span> {
    let mut spans = Vec::new();
    let mut at = 0;
    while at < text.len() {
        let length = run_from(text, at, |byte| {
            byte.is_ascii_hexdigit() || matches!(byte, b':' | b'.')
        });
        if length > 0 {
            in_run(text, at, at + length, &mut spans);
        }
        at += length.max(1);
    }
    spans
}

/// Finds the addresses in a run of hexadecimal digits, colons and dots.
fn in_run(text: &[u8], start: usize, end: usize, spans: &mut Vec<Span>) {
    // Where the groups begin, and one more for the end; a group that goes on as a word outside the run is none.
    let mut bounds = vec![start];
    bounds.extend((start..end).filter(|at| text[*at] == b':').map(|colon| colon + 1));
    bounds.push(end + 1);
    let is_word = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_alphanumeric);
    if is_word(text[..start].last()) {
        bounds.remove(0);
    }
    if is_word(text.get(end)) {
        bounds.pop();
    }
    let mut from = 0;
    while from + 1 < bounds.len() {
        let last = (from + MOST_GROUPS).min(bounds.len() - 1);
        let longest = (from + 1..=last)
            .rev()
            .find(|to| is_address(text, bounds[from], bounds[*to] - 1));
        match longest {
            Some(to) => {
                spans.push((bounds[from]..bounds[to] - 1, Personal::Ip));
                from = to;
            }
            None => from += 1,
        }
    }
}

fn is_address(text: &[u8], start: usize, end: usize) -> bool {
    let address = str::from_utf8(&text[start..end]).unwrap_or_default();
    if address.parse::<Ipv4Addr>().is_ok() {
        return true;
    }
    let groups = address.split(':').filter(|group| !group.is_empty()).count();
    // A network counts like its addresses.
    let is_whole = start == 0 && (end == text.len() || text[end] == b'/');
    (groups >= SURE_GROUPS || is_whole) && address.parse::<Ipv6Addr>().is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<&str> {
        let spans = spans(text.as_bytes()).into_iter();
        spans.map(|(span, _)| &text[span]).collect()
    }

    #[test]
    fn addresses_are_found_alone_and_in_keys() {
        for (text, addresses) in [
            ("10.0.0.1", vec!["10.0.0.1"]),
            ("ip:10.0.0.1:202503101205", vec!["10.0.0.1"]),
            ("rate:10.0.0.1:10.0.0.2", vec!["10.0.0.1", "10.0.0.2"]),
            ("::ffff:10.0.0.1", vec!["::ffff:10.0.0.1"]),
            ("2001:db8::", vec!["2001:db8::"]),
            ("2001:db8::/64", vec!["2001:db8::"]),
            ("fe80::1%eth0", vec![]),
            ("rate:2001:db8::1:202503101205", vec!["2001:db8::1"]),
            ("m:2001:db8:0:0:1:2:3:4:5:6", vec!["2001:db8:0:0:1:2:3:4"]),
        ] {
            assert_eq!(found(text), addresses, "{text}");
        }
    }

    #[test]
    fn versions_times_and_keys_are_none() {
        for text in [
            "v1.2.3.4",
            "1.2.3",
            "1.2.3.4.5",
            "256.1.1.1",
            "12:05:00",
            "m:a::202503101205",
            "m:a::b:x",
            "t1:cafe:beef",
        ] {
            assert!(found(text).is_empty(), "{text}");
        }
    }
}
