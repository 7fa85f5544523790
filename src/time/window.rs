//! A limit's window and how its limiter counts it.

use std::fmt;

/// The span over which a limit counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
#[serde(into = "String", try_from = "String")]
pub enum Window {
    /// Shorter than a minute; divides 60 seconds. Not observable from minute counts, only bounded.
    Seconds(u32),
    /// Whole minutes, 1 to 1440.
    Minutes(u32),
    /// One local day of the catalog's zone, always fixed.
    LocalDay,
}

/// How a limiter opens its windows.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    serde::Serialize,
    utoipa::ToSchema,
    serde::Deserialize,
)]
#[serde(rename_all = "lowercase")]
pub enum Algorithm {
    /// A window opens at an identity's first request.
    #[default]
    Anchored,
    /// The last W are counted at every request.
    Sliding,
    /// Windows are aligned to the epoch, or to local midnight for a day.
    Fixed,
    /// Not told by the catalog: its sources are gauges, of which every minute shows what a sample found.
    Sampled,
}

/// A text that is no window.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct WindowError(String);

impl Window {
    /// Reads `5s`, `15m`, `2h` or `1d`.
    ///
    /// # Errors
    /// Anything else, with what to write instead.
    pub fn parse(text: &str) -> Result<Self, WindowError> {
        let split = text.len()
            - text
                .bytes()
                .last()
                .filter(u8::is_ascii_alphabetic)
                .map_or(0, |_| 1);
        let (digits, unit) = text.split_at(split);
        let plain = !digits.is_empty() && digits.len() <= 4 && digits.bytes().all(|b| b.is_ascii_digit());
        let number: u32 = digits.parse().ok().filter(|n| plain && *n > 0).ok_or_else(|| {
            WindowError("a window is a whole number above 0 and a unit: 5s, 15m, 2h or 1d".to_owned())
        })?;
        let refuse = |what: &str| Err(WindowError(what.to_owned()));
        match (unit, number) {
            ("s", 60) => Ok(Self::Minutes(1)),
            ("s", n) if n < 60 && 60 % n == 0 => Ok(Self::Seconds(n)),
            ("s", _) => {
                refuse("a window in seconds divides a minute: 1, 2, 3, 4, 5, 6, 10, 12, 15, 20 or 30 s")
            }
            ("m", n) if n <= 60 => Ok(Self::Minutes(n)),
            ("m", _) => refuse("a window in minutes is at most 60m: write longer ones in whole hours"),
            ("h", n) if n <= 24 => Ok(Self::Minutes(n * 60)),
            ("h", _) => refuse("a window in hours is at most 24h"),
            ("d", 1) => Ok(Self::LocalDay),
            ("d", _) => refuse("the only window in days is 1d, the local day"),
            _ => refuse("a window's unit is s, m, h or d: 5s, 15m, 2h or 1d"),
        }
    }

    /// The number of whole minutes that a fold must look back over, itself included: a day has up to 25 hours.
    #[must_use]
    pub const fn reach_minutes(self) -> i64 {
        match self {
            Self::Seconds(_) => 1,
            Self::Minutes(n) => n as i64,
            Self::LocalDay => 25 * 60,
        }
    }
}

impl fmt::Display for Window {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Seconds(n) => write!(f, "{n}s"),
            Self::Minutes(n) if n % 60 == 0 => write!(f, "{}h", n / 60),
            Self::Minutes(n) => write!(f, "{n}m"),
            Self::LocalDay => f.write_str("1d"),
        }
    }
}

impl From<Window> for String {
    fn from(window: Window) -> Self {
        window.to_string()
    }
}

impl TryFrom<String> for Window {
    type Error = WindowError;

    fn try_from(text: String) -> Result<Self, WindowError> {
        Self::parse(&text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_read_and_print_the_same() {
        for text in ["5s", "1m", "15m", "1h", "24h", "1d"] {
            assert_eq!(Window::parse(text).unwrap().to_string(), text);
        }
        assert_eq!(Window::parse("60m"), Ok(Window::Minutes(60)));
        assert_eq!(Window::parse("60s"), Ok(Window::Minutes(1)));
    }

    #[test]
    fn other_texts_are_refused() {
        for bad in [
            "", "m", "0m", "7s", "61m", "25h", "2d", "15", "1.5h", "+5m", "5 m", "15M", "5µ", "99999m",
        ] {
            assert!(Window::parse(bad).is_err(), "{bad:?}");
        }
    }
}
