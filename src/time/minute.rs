//! A whole UTC minute and the ways producers spell it in a key.

use std::fmt;

use chrono::{DateTime, NaiveDate, TimeDelta, Utc};

use super::Hour;

/// A whole UTC minute, counted from the Unix epoch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Minute(i64);

/// How a producer spells the minute in its keys.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MinuteFormat {
    /// `YYYYMMDDHHmm`, exactly 12 ASCII digits of a real UTC minute.
    #[default]
    Compact,
    /// Seconds since the Unix epoch, any second of the minute.
    EpochSeconds,
    /// Milliseconds since the Unix epoch, any millisecond of the minute.
    EpochMillis,
    /// Minutes since the Unix epoch.
    EpochMinutes,
}

/// A text that names no minute.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the minute is not {0}")]
pub struct MinuteError(&'static str);

/// The last minute of the year 9999: nothing later fits 12 digits.
const LAST: i64 = 4_223_371_679;

impl Minute {
    /// The minute that holds an instant.
    #[must_use]
    pub fn containing(instant: DateTime<Utc>) -> Self {
        Self(instant.timestamp().div_euclid(60))
    }

    /// The minute with this number of minutes since the epoch.
    #[must_use]
    pub const fn from_index(index: i64) -> Self {
        Self(index)
    }

    /// Minutes since the epoch.
    #[must_use]
    pub const fn index(self) -> i64 {
        self.0
    }

    /// The instant at which it starts.
    #[must_use]
    pub fn start(self) -> DateTime<Utc> {
        DateTime::UNIX_EPOCH + TimeDelta::minutes(self.0)
    }

    /// The instant at which it ends, which is the start of the next one.
    #[must_use]
    pub fn end(self) -> DateTime<Utc> {
        self.plus(1).start()
    }

    /// The hour it lies in.
    #[must_use]
    pub const fn hour(self) -> Hour {
        Hour::from_index(self.0.div_euclid(60))
    }

    /// Which minute of its hour it is, 0 to 59.
    #[must_use]
    #[expect(clippy::cast_possible_truncation, reason = "0 to 59")]
    pub const fn of_hour(self) -> u8 {
        self.0.rem_euclid(60) as u8
    }

    /// The minute `n` minutes later (earlier where negative).
    #[must_use]
    pub const fn plus(self, n: i64) -> Self {
        Self(self.0 + n)
    }

    /// Reads a minute as a key spells it. Nothing is trimmed, padded or guessed.
    ///
    /// # Errors
    /// Any text that is not exactly the format's spelling of a minute between 1970 and 9999.
    pub fn parse(text: &[u8], format: MinuteFormat) -> Result<Self, MinuteError> {
        let (unit, wanted) = match format {
            MinuteFormat::Compact => return Self::parse_compact(text),
            MinuteFormat::EpochMinutes => (1, "whole minutes since 1970"),
            MinuteFormat::EpochSeconds => (60, "whole seconds since 1970"),
            MinuteFormat::EpochMillis => (60_000, "whole milliseconds since 1970"),
        };
        let refused = MinuteError(wanted);
        if text.is_empty() || text.len() > 18 || (text[0] == b'0' && text.len() > 1) {
            return Err(refused);
        }
        let mut number = 0_i64;
        for byte in text {
            if !byte.is_ascii_digit() {
                return Err(refused);
            }
            number = number * 10 + i64::from(byte - b'0');
        }
        let minute = number / unit;
        if minute > LAST {
            Err(refused)
        } else {
            Ok(Self(minute))
        }
    }

    fn parse_compact(text: &[u8]) -> Result<Self, MinuteError> {
        let refused = MinuteError("12 digits YYYYMMDDHHmm of a real UTC minute since 1970");
        if text.len() != 12 || !text.iter().all(u8::is_ascii_digit) {
            return Err(refused);
        }
        let number = |from: usize, to: usize| {
            text[from..to]
                .iter()
                .fold(0_u32, |sum, byte| sum * 10 + u32::from(byte - b'0'))
        };
        #[expect(clippy::cast_possible_wrap, reason = "four digits")]
        let year = number(0, 4) as i32;
        let start = NaiveDate::from_ymd_opt(year, number(4, 6), number(6, 8))
            .and_then(|day| day.and_hms_opt(number(8, 10), number(10, 12), 0))
            .ok_or_else(|| refused.clone())?
            .and_utc();
        if start < DateTime::UNIX_EPOCH {
            Err(refused)
        } else {
            Ok(Self::containing(start))
        }
    }

    /// Spells a minute as a key does.
    #[must_use]
    pub fn text(self, format: MinuteFormat) -> String {
        match format {
            MinuteFormat::Compact => self.start().format("%Y%m%d%H%M").to_string(),
            MinuteFormat::EpochMinutes => self.0.to_string(),
            MinuteFormat::EpochSeconds => (self.0 * 60).to_string(),
            MinuteFormat::EpochMillis => (self.0 * 60_000).to_string(),
        }
    }
}

impl fmt::Display for Minute {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.start().format("%Y-%m-%dT%H:%MZ"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn compact(text: &str) -> Option<i64> {
        Minute::parse(text.as_bytes(), MinuteFormat::Compact)
            .ok()
            .map(Minute::index)
    }

    #[test]
    fn only_twelve_digits_of_a_real_minute_are_a_compact_minute() {
        // 2024-02-29T12:00Z: 1709208000 s / 60.
        assert_eq!(compact("202402291200"), Some(28_486_800));
        for bad in [
            "20250310120",
            " 202503101205",
            "202503 10 1205",
            "2025031012059",
            "202502291200",
            "202503102400",
            "202503101260",
            "000001010000",
            "196912312359",
            "٢٠٢٥٠٣١٠١٢٠٥",
            "+20250310120",
            "",
        ] {
            assert_eq!(compact(bad), None, "{bad:?}");
        }
    }

    #[test]
    fn epoch_spellings_floor_to_their_minute() {
        for (text, format) in [
            ("28486800", MinuteFormat::EpochMinutes),
            ("1709208059", MinuteFormat::EpochSeconds),
            ("1709208000123", MinuteFormat::EpochMillis),
        ] {
            assert_eq!(
                Minute::parse(text.as_bytes(), format).map(Minute::index),
                Ok(28_486_800)
            );
        }
        for bad in ["", "-5", "1e9", "007", "9999999999999999999", " 1", "12a"] {
            assert!(
                Minute::parse(bad.as_bytes(), MinuteFormat::EpochSeconds).is_err(),
                "{bad:?}"
            );
        }
    }

    #[test]
    fn last_is_the_last_minute_of_9999() {
        assert_eq!(compact("999912312359"), Some(LAST));
        assert_eq!(Minute(LAST).text(MinuteFormat::Compact), "999912312359");
    }
}
