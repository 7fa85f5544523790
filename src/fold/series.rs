//! The counts of one endpoint and scope by hour and identity, without any window.

use std::cmp::Reverse;

use super::identities::IdMap;
use crate::time::{Hour, Minute};

/// One hour of one endpoint and scope: the arrays hold one place per identity, ascending by identity.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SeriesHour {
    /// The hour.
    pub hour: Hour,
    /// All that was counted in it.
    pub total: u128,
    /// The identities.
    pub identities: Vec<i64>,
    /// What was counted of each; `i64::MAX` stands for anything larger.
    pub totals: Vec<i64>,
    /// The count of its largest minute.
    pub peaks: Vec<i64>,
    /// Which minute of the hour that was, 0 to 59; the earliest among equals.
    pub peak_minutes: Vec<i16>,
}

impl SeriesHour {
    /// The largest minute of any identity: its count, which minute it was, and whose; among equals the earliest
    /// minute, then the smallest identity.
    #[must_use]
    pub fn largest(&self) -> (i64, i16, i64) {
        let minutes = self.peaks.iter().zip(&self.peak_minutes).zip(&self.identities);
        minutes
            .map(|((peak, minute), id)| (*peak, *minute, *id))
            .min_by_key(|(peak, minute, id)| (Reverse(*peak), *minute, *id))
            .unwrap_or_default()
    }
}

/// Folds the counts of one endpoint and scope, given in minute order, into hours.
#[derive(Debug, Default)]
pub struct SeriesFold {
    hour: Option<(Hour, u128)>,
    identities: IdMap<Counted>,
    rows: Vec<SeriesHour>,
}

/// What was counted of one identity in the hour at hand.
#[derive(Debug)]
struct Counted {
    total: i64,
    minute: Minute,
    in_minute: i64,
    peak: i64,
    peak_minute: Minute,
}

impl SeriesFold {
    /// Takes a row of counts above 0: one count for each identity. Rows come in ascending order of their minutes;
    /// several rows of one minute are summed.
    pub fn add(&mut self, minute: Minute, identities: &[i64], counts: &[i64]) {
        if identities.is_empty() {
            return;
        }
        if self.hour.is_some_and(|(hour, _)| hour != minute.hour()) {
            self.end_hour();
        }
        let (_, total) = self.hour.get_or_insert((minute.hour(), 0));
        for (identity, count) in identities.iter().zip(counts) {
            *total += u128::from(count.cast_unsigned());
            let counted = self.identities.entry(*identity).or_insert(Counted {
                total: 0,
                minute,
                in_minute: 0,
                peak: 0,
                peak_minute: minute,
            });
            if counted.minute != minute {
                (counted.minute, counted.in_minute) = (minute, 0);
            }
            counted.total = counted.total.saturating_add(*count);
            counted.in_minute = counted.in_minute.saturating_add(*count);
            if counted.in_minute > counted.peak {
                (counted.peak, counted.peak_minute) = (counted.in_minute, minute);
            }
        }
    }

    /// The hours that have samples, in order.
    #[must_use]
    pub fn finish(mut self) -> Vec<SeriesHour> {
        self.end_hour();
        self.rows
    }

    fn end_hour(&mut self) {
        let Some((hour, total)) = self.hour.take() else {
            return;
        };
        let mut counted: Vec<_> = self.identities.drain().collect();
        counted.sort_unstable_by_key(|(identity, _)| *identity);
        self.rows.push(SeriesHour {
            hour,
            total,
            identities: counted.iter().map(|(identity, _)| *identity).collect(),
            totals: counted.iter().map(|(_, counted)| counted.total).collect(),
            peaks: counted.iter().map(|(_, counted)| counted.peak).collect(),
            peak_minutes: counted
                .iter()
                .map(|(_, counted)| i16::from(counted.peak_minute.of_hour()))
                .collect(),
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_identity_has_its_total_and_its_largest_minute() {
        let hour = Hour::from_index(1000);
        let minute = |n| hour.first_minute().plus(n);
        let mut fold = SeriesFold::default();
        // Identity 7: 2 and 3 in two rows of minute 5, again 5 in minute 6: total 10, peak 5, first reached in minute 5.
        // Identity -1: 1 in minute 5, 4 in minute 59: total 5, peak 4 in minute 59.
        fold.add(minute(5), &[-1, 7], &[1, 2]);
        fold.add(minute(5), &[7], &[3]);
        fold.add(minute(6), &[7], &[5]);
        fold.add(minute(59), &[-1], &[4]);
        fold.add(minute(60), &[7], &[i64::MAX]);
        fold.add(minute(60), &[7], &[1]);
        assert_eq!(
            fold.finish(),
            [
                SeriesHour {
                    hour,
                    total: 15,
                    identities: vec![-1, 7],
                    totals: vec![5, 10],
                    peaks: vec![4, 5],
                    peak_minutes: vec![59, 5],
                },
                SeriesHour {
                    hour: hour.next(),
                    total: 1 << 63,
                    identities: vec![7],
                    totals: vec![i64::MAX],
                    peaks: vec![i64::MAX],
                    peak_minutes: vec![0],
                },
            ]
        );
    }
}
