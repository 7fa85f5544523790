//! What drains cost in Redis commands: pure.

use chrono::TimeDelta;

use crate::{catalog::Tariff, store::runs::Spent};

const DAY: TimeDelta = TimeDelta::days(1);
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
    /// Commands of a drain, in the mean; none where there was no drain.
    pub per_run: Option<f64>,
    /// Commands a day; none before a day has been seen, as a part of one has a run more or less.
    pub per_day: Option<u64>,
}

impl Bill {
    /// The bill of what was spent.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "figures to read")]
    pub fn new(spent: &[Spent], tariff: Option<Tariff>) -> Self {
        let lines: Vec<BillLine> = (spent.iter())
            .map(|spent| BillLine {
                environment: spent.environment.clone(),
                source: spent.source.clone(),
                per_run: (spent.runs > 0).then(|| spent.commands as f64 / spent.runs as f64),
                per_day: (spent.over >= DAY).then(|| per_day(spent.commands, spent.over)),
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
        assert!((whole.lines[0].per_run.unwrap() - 14.0).abs() < 1e-9);
        // 4,032 × 30 = 120,960 commands a month.
        assert!((whole.monthly.unwrap() - 0.24192).abs() < 1e-9);
        assert_eq!(bill(&[spent(576, 8064, 2880)]).per_day, Some(4032));
        // One that has not been seen for a day leaves the whole open; one that runs once a week counts nothing today.
        let young = bill(&[spent(288, 4032, 1440), spent(6, 84, 1439)]);
        assert_eq!((young.per_day, young.monthly), (None, None));
        let weekly = bill(&[spent(288, 4032, 1440), spent(0, 0, 1440)]);
        assert_eq!((weekly.per_day, weekly.lines[1].per_run), (Some(4032), None));
        assert_eq!(bill(&[]), Bill::default());
    }
}
