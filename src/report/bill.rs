//! What drains cost in Redis commands: pure.

use chrono::TimeDelta;

use crate::{catalog::Tariff, store::runs::Spent};

const DAY: TimeDelta = TimeDelta::days(1);
/// A shorter time says nothing of a day.
const LEAST: TimeDelta = TimeDelta::hours(1);

/// What drains cost.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Bill {
    /// By source and environment.
    pub lines: Vec<BillLine>,
    /// Commands a day, of all of them; none where not all are known.
    pub per_day: Option<u64>,
    /// What they cost a month by the catalog's tariff.
    pub monthly: Option<f64>,
}

/// What the drains of one source in one environment cost.
#[derive(Clone, Debug, PartialEq)]
pub struct BillLine {
    /// The environment.
    pub environment: String,
    /// The source.
    pub source: String,
    /// Commands of a drain, in the mean.
    pub per_run: f64,
    /// Commands a day; none before an hour has been seen.
    pub per_day: Option<u64>,
}

impl Bill {
    /// The bill of what was spent.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "figures to read")]
    pub fn new(spent: &[Spent], tariff: Option<Tariff>) -> Self {
        let lines: Vec<BillLine> = (spent.iter().filter(|spent| spent.runs > 0))
            .map(|spent| BillLine {
                environment: spent.environment.clone(),
                source: spent.source.clone(),
                per_run: spent.commands as f64 / spent.runs as f64,
                per_day: (spent.over >= LEAST).then(|| per_day(spent.commands, spent.over)),
            })
            .collect();
        let total: Option<u64> = lines.iter().map(|line| line.per_day).sum();
        let per_day = total.filter(|_| !lines.is_empty());
        Self {
            monthly: per_day
                .zip(tariff)
                .map(|(per_day, tariff)| tariff.monthly(per_day)),
            per_day,
            lines,
        }
    }
}

/// Commands of a day, where so many were sent over another time.
fn per_day(commands: u64, over: TimeDelta) -> u64 {
    let [day, over] = [DAY, over].map(|span| u128::from(span.num_seconds().unsigned_abs().max(1)));
    u64::try_from(u128::from(commands) * day / over).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spent(runs: u64, commands: u64, minutes: i64) -> Spent {
        Spent {
            environment: "prod".to_owned(),
            source: "gateway".to_owned(),
            runs,
            commands,
            over: TimeDelta::minutes(minutes),
        }
    }

    #[test]
    fn whatever_was_seen_is_reckoned_to_a_day() {
        let tariff = Tariff { price: 0.2, free: 0 };
        let bill = |spent: &[Spent]| Bill::new(spent, Some(tariff));
        // A whole day of drains.
        let whole = bill(&[spent(288, 4032, 1440)]);
        assert_eq!(whole.per_day, Some(4032));
        assert!((whole.lines[0].per_run - 14.0).abs() < 1e-9);
        // 4,032 × 30 = 120,960 commands a month.
        assert!((whole.monthly.unwrap() - 0.24192).abs() < 1e-9);
        // Six hours, two days, and half an hour.
        assert_eq!(bill(&[spent(72, 1008, 360)]).per_day, Some(4032));
        assert_eq!(bill(&[spent(576, 8064, 2880)]).per_day, Some(4032));
        let young = bill(&[spent(288, 4032, 1440), spent(6, 84, 30)]);
        assert_eq!((young.per_day, young.monthly), (None, None));
        assert_eq!(young.lines[1].per_day, None);
        assert_eq!(bill(&[]), Bill::default());
        assert_eq!(bill(&[spent(0, 0, 1440)]), Bill::default());
    }
}
