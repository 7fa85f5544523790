//! What a report has to say, counted minute by minute and identity by identity, as slowly as the definitions read.

use std::{
    cmp::Reverse,
    collections::{BTreeMap, BTreeSet, HashMap},
};

use chrono::{DateTime, Datelike, Timelike, Utc};
use chrono_tz::Tz;
use serde_json::{Value, json};

use super::worlds::Sample;

/// What is counted.
pub const FIGURES: [&str; 6] = [
    "peak",
    "total",
    "would_block",
    "percentiles",
    "top_identities",
    "by_hour",
];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Window {
    Seconds(u64),
    LocalDay,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Algorithm {
    Anchored,
    Sliding,
    Fixed,
}

#[derive(Clone, Copy, Debug)]
pub struct Limit {
    pub window: Window,
    pub algorithm: Algorithm,
    pub shared: bool,
}

/// The counts of one identity, or of all together, by minute.
type Counts = BTreeMap<i64, u64>;

/// The largest value, then the earliest minute, then the smallest identity.
type Rank = (Reverse<u64>, i64, i64);

/// All that was counted by a drain.
pub struct Counted {
    by_identity: BTreeMap<i64, Counts>,
    labels: HashMap<i64, String>,
    zone: Tz,
    first: i64,
    closed_before: i64,
}

fn sum(counts: &Counts, first: i64, last: i64) -> u64 {
    (first..=last).filter_map(|minute| counts.get(&minute)).sum()
}

fn instant(minute: i64) -> DateTime<Utc> {
    DateTime::from_timestamp(minute * 60, 0).unwrap()
}

fn shown(minute: i64) -> String {
    instant(minute).format("%Y-%m-%dT%H:%M:%SZ").to_string()
}

impl Counted {
    /// Takes the samples of alpha and beta, and with them when the source began to count. A minute is closed 65 seconds
    /// after its start.
    pub fn new(
        samples: &BTreeMap<Sample, u64>,
        ids: &HashMap<String, i64>,
        zone: Tz,
        now: DateTime<Utc>,
    ) -> Self {
        let mut by_identity = BTreeMap::<i64, Counts>::new();
        for (sample, count) in samples.iter().filter(|(sample, _)| sample.endpoint != "gamma") {
            let counts = by_identity.entry(ids[sample.identity]).or_default();
            *counts.entry(sample.minute).or_default() += count;
        }
        Self {
            by_identity,
            labels: ids.iter().map(|(label, id)| (*id, label.clone())).collect(),
            zone,
            first: samples.keys().map(|sample| sample.minute).min().unwrap(),
            closed_before: (now.timestamp() - 5) / 60,
        }
    }

    /// The series a limit is held against.
    fn series(&self, limit: &Limit) -> BTreeMap<i64, Counts> {
        if !limit.shared {
            return self.by_identity.clone();
        }
        let mut all = Counts::new();
        for (minute, count) in self.by_identity.values().flatten() {
            *all.entry(*minute).or_default() += count;
        }
        BTreeMap::from([(0, all)])
    }

    /// Which aligned window a minute lies in: any number that only its minutes have.
    fn aligned(&self, limit: &Limit, minute: i64) -> i64 {
        match limit.window {
            Window::Seconds(seconds) => minute * 60 / i64::try_from(seconds).unwrap(),
            Window::LocalDay => instant(minute)
                .with_timezone(&self.zone)
                .num_days_from_ce()
                .into(),
        }
    }

    /// The first minute of what a limit counts at a minute.
    fn start(&self, limit: &Limit, minute: i64) -> i64 {
        if limit.algorithm != Algorithm::Fixed {
            return minute + 1 - width(limit);
        }
        let mut start = minute;
        while self.aligned(limit, start - 1) == self.aligned(limit, minute) {
            start -= 1;
        }
        start
    }

    /// A limit's figures in the hours of `[from, to)`.
    pub fn figures(&self, limit: &Limit, from: DateTime<Utc>, to: DateTime<Utc>) -> Value {
        let (from, to) = (from.timestamp() / 60, to.timestamp() / 60);
        let series = self.series(limit);
        let in_period = |counts: &Counts| -> Vec<i64> {
            let minutes = counts.keys().copied();
            minutes.filter(|minute| (from..to).contains(minute)).collect()
        };
        let total: u64 = series.values().map(|counts| sum(counts, from, to - 1)).sum();
        if let Window::Seconds(seconds @ ..60) = limit.window {
            let (mut largest, mut pair) = (0, 0);
            for counts in series.values() {
                for minute in in_period(counts) {
                    largest = largest.max(counts[&minute]);
                    pair = pair.max(sum(counts, minute - 1, minute));
                }
            }
            let upper = if limit.algorithm == Algorithm::Fixed {
                largest
            } else {
                pair
            };
            let lower = largest.div_ceil(60 / seconds);
            return json!({
                "peak": {"value": null, "lower": lower, "upper": upper, "at": null, "identity": null},
                "total": total, "would_block": null, "percentiles": null, "top_identities": [], "by_hour": null,
            });
        }

        let mut best = BTreeMap::<i64, Rank>::new();
        let mut by_hour = self.quiet_hours(from, to);
        let mut upper = 0;
        for (identity, counts) in &series {
            for minute in in_period(counts) {
                let start = self.start(limit, minute);
                let value = sum(counts, start, minute);
                let rank = (Reverse(value), minute, *identity);
                best.entry(*identity)
                    .and_modify(|own| *own = rank.min(*own))
                    .or_insert(rank);
                let hidden = i64::from(limit.algorithm != Algorithm::Fixed);
                upper = upper.max(sum(counts, start - hidden, minute));
                let hour = &mut by_hour[self.hour_of_day(minute)];
                *hour = (*hour).max(Some(value));
            }
        }
        let mut best: Vec<Rank> = best.into_values().collect();
        best.sort_unstable();
        let (Reverse(value), at, identity) = best[0];
        let lower = if limit.algorithm == Algorithm::Anchored {
            value.div_ceil(2)
        } else {
            value
        };
        let kept = if limit.shared { 0 } else { 5 };
        let top = best.iter().take(kept).map(|(Reverse(peak), at, identity)| {
            json!({"identity": self.labels[identity], "peak": peak, "at": shown(*at)})
        });
        let windows = self.closed_windows(limit, &series, from, to);
        json!({
            "peak": {
                "value": value, "lower": lower, "upper": upper, "at": shown(at),
                "identity": (!limit.shared).then(|| &self.labels[&identity]),
            },
            "total": total,
            "would_block": would_block(limit, value, &windows),
            "percentiles": percentiles(&windows),
            "top_identities": top.collect::<Vec<_>>(),
            "by_hour": by_hour,
        })
    }

    /// What the aligned windows held that ended in the period and have closed, in order.
    fn closed_windows(&self, limit: &Limit, series: &BTreeMap<i64, Counts>, from: i64, to: i64) -> Vec<u64> {
        let fixed = Limit {
            algorithm: Algorithm::Fixed,
            ..*limit
        };
        let ends = |minute: &i64| self.aligned(limit, *minute) != self.aligned(limit, minute + 1);
        let mut windows = Vec::new();
        for last in (from..to.min(self.closed_before)).filter(ends) {
            let start = self.start(&fixed, last);
            windows.extend(series.values().map(|counts| sum(counts, start, last)));
        }
        windows.retain(|held| *held > 0);
        windows.sort_unstable();
        windows
    }

    /// By local hour of day 0 where a minute of the period was read, nothing where none was.
    fn quiet_hours(&self, from: i64, to: i64) -> [Option<u64>; 24] {
        let read = from.max(self.first)..to.min(self.closed_before);
        let hours: BTreeSet<usize> = read.map(|minute| self.hour_of_day(minute)).collect();
        std::array::from_fn(|hour| hours.contains(&hour).then_some(0))
    }

    /// The local hour of day in which the UTC hour of a minute starts.
    fn hour_of_day(&self, minute: i64) -> usize {
        let hour = instant(minute - minute % 60).with_timezone(&self.zone).hour();
        usize::try_from(hour).unwrap()
    }
}

/// Whole minutes of a window that is not a local day.
fn width(limit: &Limit) -> i64 {
    match limit.window {
        Window::Seconds(seconds) => i64::try_from(seconds / 60).unwrap(),
        Window::LocalDay => unreachable!("a day is fixed"),
    }
}

fn would_block(limit: &Limit, peak: u64, windows: &[u64]) -> Value {
    let (limited, exact) = (limit.value(), limit.algorithm == Algorithm::Fixed);
    let over = windows.iter().filter(|held| **held > limited);
    let requests: u64 = over.clone().map(|held| held - limited).sum();
    let windows = over.count();
    // The peak is a real window that aligned ones may have cut in two.
    let least = if exact { 0 } else { peak.saturating_sub(limited) };
    json!({
        "requests": requests.max(least),
        "identity_windows": windows.max(usize::from(least > 0)),
        "exact": exact,
    })
}

/// Nearest ranks: the smallest value that this share of all windows do not pass.
fn percentiles(windows: &[u64]) -> Value {
    let ranked = |per_mille: usize| {
        let enough = |value: &&u64| {
            let held = windows.iter().filter(|other| other <= value).count();
            held * 1000 >= windows.len() * per_mille
        };
        windows.iter().find(enough)
    };
    if windows.is_empty() {
        return Value::Null;
    }
    json!({"p50": ranked(500), "p95": ranked(950), "p99": ranked(990), "p999": ranked(999)})
}
