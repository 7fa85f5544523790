//! What a provider charges for Redis commands.

use toml::{Spanned, de::DeValue};

use super::{
    problem::{Place, Problems},
    section::{FromValue, Section},
};

/// What commands cost: nothing up to a number of them a month, and then so much for every 100,000.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tariff {
    /// For 100,000 commands, in whatever money the catalog's reader pays.
    pub price: f64,
    /// Commands of a month that cost nothing.
    pub free: u64,
}

/// Days of a month, for an estimate.
const MONTH: u64 = 30;

impl Tariff {
    pub(super) fn read(section: &mut Section<'_>, problems: &mut Problems) -> Option<Self> {
        let price = section.optional::<Price>("price_per_100k", problems);
        let free = section.optional::<u64>("free_per_month", problems);
        if let (Some(free), None) = (&free, &price) {
            problems.add(
                &free.place,
                "commands that are free, and no price of the others",
                "write price_per_100k = 0.20 as well",
            );
        }
        Some(Self {
            price: price?.value.0,
            free: free.map_or(0, |free| free.value),
        })
    }

    /// What a month costs with so many commands a day.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "an estimate")]
    pub fn monthly(&self, commands_a_day: u64) -> f64 {
        let charged = commands_a_day.saturating_mul(MONTH).saturating_sub(self.free);
        charged as f64 / 100_000.0 * self.price
    }
}

/// An amount of money, not below 0.
struct Price(f64);

impl FromValue for Price {
    fn from_value(value: Spanned<DeValue<'_>>, problems: &mut Problems) -> Option<Self> {
        let text = match value.get_ref() {
            DeValue::Integer(number) => number.as_str(),
            DeValue::Float(number) => number.as_str(),
            _ => "",
        };
        let price = text
            .parse()
            .ok()
            .filter(|price: &f64| price.is_finite() && *price >= 0.0);
        if price.is_none() {
            problems.add(
                &Place::Span(value.span()),
                "no price",
                "write a number from 0 on, such as 0.20",
            );
        }
        price.map(Self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_free_is_free_and_the_rest_has_its_price() {
        let tariff = Tariff {
            price: 0.2,
            free: 500_000,
        };
        // 16,000 a day are 480,000 a month.
        assert!(tariff.monthly(16_000).abs() < 1e-9);
        // 50,000 a day are a million more than is free.
        assert!((tariff.monthly(50_000) - 2.0).abs() < 1e-9);
    }
}
