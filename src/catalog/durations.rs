//! Spans of time as the catalog writes them.

use chrono::TimeDelta;

use super::Refusal;

/// Reads a whole number and a unit: `250ms`, `5s`, `10m`, `2h`, `8d`.
///
/// # Errors
/// It is no span of time, has no unit, or is longer than a hundred years.
pub fn duration(text: &str) -> Result<TimeDelta, Refusal> {
    // A hundred years: nothing longer means anything here, and no sum of a few of them overflows.
    const MOST_DAYS: i64 = 36_500;
    let refuse = |what: &str| {
        Refusal::new(
            format!("`{text}` {what}"),
            "write a whole number and a unit: 5s, 10m, 2h or 8d",
        )
    };
    let unit_at = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (digits, unit) = text.split_at(unit_at);
    let number: i64 = match digits.parse() {
        Ok(number) => number,
        Err(_) if digits.is_empty() => return Err(refuse("is no span of time")),
        Err(_) => return Err(refuse("is too long")),
    };
    let span = match unit {
        "ms" => TimeDelta::try_milliseconds(number),
        "s" => TimeDelta::try_seconds(number),
        "m" => TimeDelta::try_minutes(number),
        "h" => TimeDelta::try_hours(number),
        "d" => TimeDelta::try_days(number),
        "" => return Err(refuse("has no unit")),
        _ => return Err(refuse("is no span of time")),
    };
    span.filter(|span| *span <= TimeDelta::days(MOST_DAYS))
        .ok_or_else(|| refuse("is too long"))
}

/// Writes a span of time as the catalog would, in the largest unit that divides it.
#[must_use]
pub fn spelt(span: TimeDelta) -> String {
    let millis = span.num_milliseconds();
    let units = [
        (86_400_000, "d"),
        (3_600_000, "h"),
        (60_000, "m"),
        (1000, "s"),
        (1, "ms"),
    ];
    let (unit, name) = units
        .into_iter()
        .find(|(unit, _)| millis % unit == 0)
        .unwrap_or((1, "ms"));
    if millis == 0 {
        "0s".to_owned()
    } else {
        format!("{}{name}", millis / unit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_are_read_and_written_the_same() {
        for (text, seconds) in [("0s", 0), ("5s", 5), ("10m", 600), ("2h", 7200), ("8d", 691_200)] {
            assert_eq!(duration(text), Ok(TimeDelta::seconds(seconds)));
            assert_eq!(spelt(TimeDelta::seconds(seconds)), text);
        }
        assert_eq!(duration("300s").map(spelt), Ok("5m".to_owned()));
        assert_eq!(duration("90s").map(spelt), Ok("90s".to_owned()));
        assert_eq!(duration("250ms").map(spelt), Ok("250ms".to_owned()));
    }

    #[test]
    fn other_texts_are_refused() {
        for bad in [
            "",
            "5",
            "s",
            "-5s",
            "+5s",
            "1.5h",
            "5 m",
            "5M",
            "5w",
            "٥s",
            "99999999d",
            "99999999999999999999s",
        ] {
            let refusal = duration(bad).unwrap_err();
            assert!(
                refusal.what.contains(&format!("`{bad}`")) && refusal.remedy.contains("5s"),
                "{bad}"
            );
        }
    }
}
