//! One count as a producer wrote it.

/// Reads a count: an optional `+`, ASCII digits with any number of leading zeros, at most 2^63 − 1. Nothing is trimmed
/// or rounded.
///
/// # Errors
/// Any other text, with the kind of oddity it is. The text itself is not repeated: it may be anything.
pub fn parse_count(text: &[u8]) -> Result<i64, &'static str> {
    let digits = text.strip_prefix(b"+").unwrap_or(text);
    if !digits.is_empty() && digits.iter().all(u8::is_ascii_digit) {
        return digits
            .iter()
            .try_fold(0_i64, |sum, digit| {
                sum.checked_mul(10)?.checked_add(i64::from(digit - b'0'))
            })
            .ok_or("the count is larger than 2^63 - 1");
    }
    Err(oddity(text))
}

fn oddity(text: &[u8]) -> &'static str {
    let unsigned = text
        .strip_prefix(b"-")
        .or(text.strip_prefix(b"+"))
        .unwrap_or(text);
    let all = |allowed: fn(&u8) -> bool| !unsigned.is_empty() && unsigned.iter().all(allowed);
    if text.is_empty() {
        "the count is empty"
    } else if text.iter().any(u8::is_ascii_whitespace) {
        "the count has blanks"
    } else if text[0] == b'-' && all(u8::is_ascii_digit) {
        "the count is negative"
    } else if text.contains(&b'_') && all(|byte| byte.is_ascii_digit() || *byte == b'_') {
        "the count has underscores"
    } else if unsigned.starts_with(b"0x") || unsigned.starts_with(b"0X") {
        "the count is hexadecimal"
    } else if unsigned
        .first()
        .is_some_and(|byte| byte.is_ascii_digit() || *byte == b'.')
        && all(|byte| matches!(byte, b'0'..=b'9' | b'.' | b'e' | b'E' | b'+' | b'-'))
    {
        "the count is not a whole number"
    } else {
        "the count is not a number"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_whole_numbers_are_read_exactly() {
        for (text, count) in [
            ("4", 4),
            ("007", 7),
            ("+5", 5),
            ("0", 0),
            ("+0", 0),
            ("9223372036854775807", i64::MAX),
            ("00000000000000000000000000000012", 12),
        ] {
            assert_eq!(parse_count(text.as_bytes()), Ok(count), "{text}");
        }
    }

    #[test]
    fn other_texts_are_refused_by_kind() {
        for (text, kind) in [
            ("", "empty"),
            (" 12", "blanks"),
            ("12\n", "blanks"),
            ("-3", "negative"),
            ("-0", "negative"),
            ("1_000", "underscores"),
            ("0x10", "hexadecimal"),
            ("3.1", "not a whole number"),
            ("1e21", "not a whole number"),
            ("-1.5", "not a whole number"),
            ("1000000000000000000000", "larger than"),
            ("9223372036854775808", "larger than"),
            ("NaN", "not a number"),
            ("inf", "not a number"),
            ("+", "not a number"),
            ("-", "not a number"),
            ("++5", "not a number"),
            ("٣", "not a number"),
            ("5\0", "not a number"),
        ] {
            let refused = parse_count(text.as_bytes()).unwrap_err();
            assert!(refused.contains(kind), "{text:?}: {refused}");
        }
    }
}
