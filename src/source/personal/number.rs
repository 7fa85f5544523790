//! Telephone numbers and CPFs.

use std::ops::{Range, RangeInclusive};

use super::{Personal, Span, run_before, run_from};

/// How a plus is written; the second is the one of URLs.
const PLUS: [&str; 2] = ["+", "%2B"];

/// How CPFs are written: `d` is a digit, `.` a dot or nothing, `/` a hyphen, a slash, a dot or nothing.
const CPF: &str = "ddd.ddd.ddd/dd";

/// How Brazilian numbers are written, with the country's code or with brackets, or grouped as people write them; `_` is
/// a blank, a hyphen, a dot or nothing. A number of eleven bare digits is none: most are ids.
const BRAZILIAN: [&str; 8] = [
    "dd_dd_ddddd_dddd",
    "dd_dd_dddd_dddd",
    "dd_(dd)_ddddd_dddd",
    "dd_(dd)_dddd_dddd",
    "(dd)_ddddd_dddd",
    "(dd)_dddd_dddd",
    "dd ddddd-dddd",
    "dd-ddddd-dddd",
];

/// The area codes of Brazil by their first digit: which second digits are in use.
/// <https://www.gov.br/anatel/pt-br/regulado/numeracao/codigos-nacionais>
const AREAS: [&[u8]; 10] = [
    b"",
    b"123456789",
    b"12478",
    b"1234578",
    b"123456789",
    b"1345",
    b"123456789",
    b"134579",
    b"123456789",
    b"123456789",
];

/// The longest and shortest international numbers in digits. ITU-T E.164 allows no more than fifteen; fewer than eight
/// would be taken for anything.
const INTERNATIONAL: RangeInclusive<usize> = 8..=15;

pub(super) fn spans(text: &[u8]) -> Vec<Span> {
    (0..text.len()).filter_map(|at| number(text, at)).collect()
}

/// The number that begins at a position.
fn number(text: &[u8], at: usize) -> Option<Span> {
    let before = at.checked_sub(1).map(|before| text[before]);
    if before.is_some_and(|byte| byte.is_ascii_digit()) {
        return None;
    }
    match text[at] {
        b'+' | b'%' if !before.is_some_and(|byte| byte.is_ascii_alphanumeric()) => {
            international(text, at).map(|span| (span, Personal::Phone))
        }
        b'(' | b'0'..=b'9' => {
            let phones = BRAZILIAN.iter().filter_map(|shape| written(text, at, shape));
            let mut phones = phones.filter(|(_, digits)| is_brazilian(digits, text[at] == b'('));
            let cpf = || written(text, at, CPF).filter(|(_, digits)| is_cpf(digits));
            let phone = phones.next().map(|(span, _)| (span, Personal::Phone));
            phone.or_else(|| cpf().map(|(span, _)| (span, Personal::Cpf)))
        }
        _ => None,
    }
}

/// The number with a plus that begins at a position: the longest that is not too long, as something else may follow.
pub(super) fn international(text: &[u8], at: usize) -> Option<Range<usize>> {
    let rest = &text[at..];
    let plus = PLUS.iter().find(|plus| {
        let head = rest.get(..plus.len());
        head.is_some_and(|head| head.eq_ignore_ascii_case(plus.as_bytes()))
    })?;
    let start = at + plus.len();
    if !text.get(start).is_some_and(|digit| matches!(digit, b'1'..=b'9')) {
        return None;
    }
    let (mut end, mut digits, mut found) = (start, 0, None);
    loop {
        let group = run_from(text, end, |byte| byte.is_ascii_digit());
        digits += group;
        if group == 0 || digits > *INTERNATIONAL.end() {
            return found;
        }
        end += group;
        if INTERNATIONAL.contains(&digits) {
            found = Some(at..end);
        }
        // One separator, or a bracket and a blank.
        end += run_from(text, end, |byte| matches!(byte, b' ' | b'.' | b'-' | b'(' | b')')).min(2);
    }
}

/// The digits of a number that is written in a shape from a position on, and stands alone.
fn written(text: &[u8], at: usize, shape: &str) -> Option<(Range<usize>, Vec<u8>)> {
    let mut end = at;
    let mut digits = Vec::new();
    for part in shape.bytes() {
        let byte = text.get(end).copied();
        let fits = match part {
            b'd' => byte.is_some_and(|byte| byte.is_ascii_digit()),
            b'.' => byte == Some(b'.'),
            b'/' => matches!(byte, Some(b'-' | b'/' | b'.')),
            b'_' => matches!(byte, Some(b' ' | b'-' | b'.')),
            literal => byte == Some(literal),
        };
        match (fits, part) {
            (true, b'd') => digits.extend(byte),
            (true, _) => {}
            (false, b'.' | b'/' | b'_') => continue,
            (false, _) => return None,
        }
        end += 1;
    }
    stands_alone(text, at..end).then_some((at..end, digits))
}

/// Whether digits are a number of their own, words stuck to it apart (`tel5511…`), and no part of a hash or UUID.
fn stands_alone(text: &[u8], span: Range<usize>) -> bool {
    let is_letter = |byte: u8| byte.is_ascii_alphabetic();
    let before = span.start - run_before(text, span.start, is_letter);
    let after = span.end + run_from(text, span.end, is_letter);
    let is_digit = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_digit);
    !is_digit(text[..before].last()) && !is_digit(text.get(after)) && !ends_uuid(&text[..span.end])
}

fn ends_uuid(text: &[u8]) -> bool {
    text.last_chunk::<36>().is_some_and(|last| {
        last.iter().enumerate().all(|(at, byte)| match at {
            8 | 13 | 18 | 23 => *byte == b'-',
            _ => byte.is_ascii_hexdigit(),
        })
    })
}

/// Whether digits are a number of Brazil: the country's code unless it begins with brackets or has no more than eleven,
/// an area in use, and nine digits that begin with 9 or eight that begin with 2 to 9. No minute in twelve digits is one:
/// where it would begin with 55, its month, which begins with 0 or 1, would stand where the number begins.
fn is_brazilian(digits: &[u8], is_national: bool) -> bool {
    let national = match digits {
        [b'5', b'5', national @ ..] if !is_national && digits.len() > 11 => national,
        _ if is_national || digits.len() == 11 => digits,
        _ => return false,
    };
    let [first, second, number @ ..] = national else {
        return false;
    };
    let area = AREAS[usize::from(first - b'0')].contains(second);
    area && match number {
        [b'9', ..] => matches!(number.len(), 8 | 9),
        [b'2'..=b'8', ..] => number.len() == 8,
        _ => false,
    }
}

/// Whether eleven digits are a CPF: the last two are check digits, and not all are equal. Each check digit is the sum of
/// those before it, weighted 2, 3, 4 … from the right, taken from 11 modulo 11, and 0 where that would be more than 9.
/// <https://pt.wikipedia.org/wiki/Cadastro_de_Pessoas_Físicas>
fn is_cpf(digits: &[u8]) -> bool {
    let check = |length: usize| {
        let weighted = digits[..length].iter().rev().zip(2_u32..);
        let sum: u32 = weighted
            .map(|(digit, weight)| u32::from(digit - b'0') * weight)
            .sum();
        match sum % 11 {
            0 | 1 => 0,
            rest => 11 - rest,
        }
    };
    let holds = |at: usize| u32::from(digits[at] - b'0') == check(at);
    digits.len() == 11 && digits.iter().any(|digit| *digit != digits[0]) && holds(9) && holds(10)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<(Personal, &str)> {
        // A number with a plus is one without it too.
        let spans = super::super::spans(text.as_bytes()).into_iter();
        spans.map(|(span, kind)| (kind, &text[span])).collect()
    }

    #[test]
    fn a_cpf_has_its_check_digits() {
        // 529982247: 5×10 + 2×9 + 9×8 + 9×7 + 8×6 + 2×5 + 2×4 + 4×3 + 7×2 = 295 = 26×11 + 9, so 11 − 9 = 2.
        // With it: 5×11 + 2×10 + 9×9 + 9×8 + 8×7 + 2×6 + 2×5 + 4×4 + 7×3 + 2×2 = 347 = 31×11 + 6, so 11 − 6 = 5.
        // 000000019: 1×3 + 9×2 = 21 = 11 + 10, so 1; with it: 1×4 + 9×3 + 1×2 = 33 = 3×11, so 0.
        // 111444777: 10 + 9 + 8 + 28 + 24 + 20 + 28 + 21 + 14 = 162 = 14×11 + 8, so 3;
        // with it: 11 + 10 + 9 + 32 + 28 + 24 + 35 + 28 + 21 + 6 = 204 = 18×11 + 6, so 5.
        for (text, cpf) in [
            ("52998224725", "52998224725"),
            ("529.982.247-25", "529.982.247-25"),
            ("cpf:529982247-25:x", "529982247-25"),
            ("user52998224725", "52998224725"),
            ("00000001910", "00000001910"),
            ("111.444.777/35", "111.444.777/35"),
        ] {
            assert_eq!(found(text), [(Personal::Cpf, cpf)], "{text}");
        }
        for text in [
            "52998224735",
            "52998224724",
            "529.982.247-24",
            "152998224725",
            "529982247250",
            "99999999999",
            "5299822472",
            "529:982:247:25",
            "ab52998224725c0",
        ] {
            assert!(found(text).is_empty(), "{text}");
        }
    }

    #[test]
    fn phones_are_international_or_brazilian() {
        for (text, phone) in [
            ("+5511999990000", "+5511999990000"),
            ("tel:+1 (415) 555-0100", "+1 (415) 555-0100"),
            ("%2b4915112345678", "%2b4915112345678"),
            ("+5511999990000-202503101205", "+5511999990000"),
            ("5511999990000", "5511999990000"),
            ("wa-5511999990000-202503101205", "5511999990000"),
            ("551133334444", "551133334444"),
            ("tel5585988887777x", "5585988887777"),
            ("55 11 99999-0000", "55 11 99999-0000"),
            ("(11) 99999-0000", "(11) 99999-0000"),
            ("(11)33334444", "(11)33334444"),
            ("11 99999-0000", "11 99999-0000"),
        ] {
            assert_eq!(found(text), [(Personal::Phone, phone)], "{text}");
        }
        for text in [
            // No such area; a mobile number without its 9; a month where the number would begin.
            "5510999990000",
            "5511899990000",
            "551103101205",
            "11999990000",
            "5511999990000123",
            "+1234567",
            "+0511999990000",
            "a+5511",
            "2025-03-10 12:05",
            "55:11:999990000",
        ] {
            assert!(found(text).is_empty(), "{text}");
        }
    }
}
