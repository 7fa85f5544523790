//! Numbers as a language writes them.

use icu_decimal::{DecimalFormatter, input::Decimal};
use icu_locale_core::locale;

use super::Language;

impl Language {
    /// A whole number: 1,234 or 1.234.
    #[must_use]
    pub fn integer(self, number: u128) -> String {
        self.decimal_text(&number.to_string())
    }

    /// A number with up to two decimals, cut off at none where they are zero: 4.2 or 4,2.
    #[must_use]
    pub fn decimal(self, number: f64) -> String {
        let text = format!("{number:.2}");
        self.decimal_text(text.trim_end_matches('0').trim_end_matches('.'))
    }

    /// A share in percent with one digit, cut off and never rounded up: 16 of 23 are 69.5 %, since 70 % would mean the
    /// alert. None of nothing.
    #[must_use]
    pub fn percent(self, part: u64, whole: u64) -> Option<String> {
        let tenths = (u128::from(part) * 1000).checked_div(whole.into())?;
        let text = self.decimal_text(&format!("{}.{}", tenths / 10, tenths % 10));
        Some(format!("{text}\u{a0}%"))
    }

    /// Digits with a point, in the language's own marks.
    fn decimal_text(self, text: &str) -> String {
        let own = match self {
            Self::English => locale!("en"),
            Self::Portuguese => locale!("pt-BR"),
        };
        let formatter = DecimalFormatter::try_new(
            own.into(),
            icu_decimal::options::DecimalFormatterOptions::default(),
        );
        match (formatter, Decimal::try_from_str(text)) {
            (Ok(formatter), Ok(number)) => formatter.format(&number).to_string(),
            _ => text.to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_language_has_its_own_marks() {
        let [english, portuguese] = Language::ALL;
        assert_eq!(english.integer(1_234_567), "1,234,567");
        assert_eq!(portuguese.integer(1_234_567), "1.234.567");
        assert_eq!(english.decimal(1234.5), "1,234.5");
        assert_eq!(portuguese.decimal(1234.567), "1.234,57");
        assert_eq!(english.decimal(25.0), "25");
        // 1600 ÷ 23 = 69.56…
        assert_eq!(english.percent(16, 23).unwrap(), "69.5\u{a0}%");
        assert_eq!(portuguese.percent(16, 23).unwrap(), "69,5\u{a0}%");
        assert_eq!(portuguese.percent(25_000, 10).unwrap(), "250.000,0\u{a0}%");
        assert_eq!(english.percent(u64::MAX, u64::MAX).unwrap(), "100.0\u{a0}%");
        assert_eq!(english.percent(1, 0), None);
        assert_eq!(
            english.integer(u128::MAX),
            "340,282,366,920,938,463,463,374,607,431,768,211,455"
        );
    }
}
