//! The count by the definitions: slow and plain.

use std::{
    cmp::Reverse,
    collections::{BTreeMap, BTreeSet, HashMap},
};

use chrono::{DateTime, Datelike as _, Timelike as _};
use chrono_tz::Tz;
use serde_json::{Value, json};

use super::{Counts, Limit};

/// One identity, or all of them together, by minute.
pub type Series = BTreeMap<i64, u64>;

/// The count by the definitions.
pub struct Direct<'a> {
    pub limit: &'a Limit,
    pub zone: Tz,
    /// Identities in the order of their ids.
    pub series: Vec<(String, Series)>,
    /// The minutes of the period.
    pub from: i64,
    pub to: i64,
    /// Minutes from here on are not known yet; before `first` nothing was.
    pub closed_before: i64,
    pub first: i64,
}

impl Direct<'_> {
    fn is_fixed(&self) -> bool {
        self.limit.algorithm == "fixed"
    }

    /// Which of the aligned windows a minute is in.
    fn aligned(&self, minute: i64) -> i64 {
        if self.limit.window == "1d" {
            self.local(minute).num_days_from_ce().into()
        } else {
            minute.div_euclid(self.limit.width)
        }
    }

    fn local(&self, minute: i64) -> DateTime<Tz> {
        DateTime::from_timestamp(minute * 60, 0)
            .unwrap()
            .with_timezone(&self.zone)
    }

    /// What the window holds that ends with a minute; with `more` minutes before it.
    fn held(&self, series: &Series, minute: i64, more: i64) -> u64 {
        let in_window = |other: i64| {
            if self.is_fixed() {
                self.aligned(other) == self.aligned(minute)
            } else {
                other > minute - self.limit.width - more
            }
        };
        let earlier = series.iter().filter(|(other, _)| **other <= minute);
        earlier
            .filter(|(other, _)| in_window(**other))
            .map(|(_, count)| count)
            .sum()
    }

    /// The minutes of the period in which a series was counted.
    fn counted<'s>(&self, series: &'s Series) -> impl Iterator<Item = i64> + use<'s> {
        series.range(self.from..self.to).map(|(minute, _)| *minute)
    }

    /// The best of each series, best first: value, minute, identity.
    fn best(&self) -> Vec<(u64, i64, &str)> {
        let mut best = Vec::new();
        for (place, (who, series)) in self.series.iter().enumerate() {
            let values = self
                .counted(series)
                .map(|minute| (self.held(series, minute, 0), minute));
            if let Some((value, minute)) = values.min_by_key(|(value, minute)| (Reverse(*value), *minute)) {
                best.push((Reverse(value), minute, place, &**who));
            }
        }
        best.sort_unstable();
        best.iter()
            .map(|(value, minute, _, who)| (value.0, *minute, *who))
            .collect()
    }

    /// What the closed aligned windows hold that end in the period, ascending.
    fn windows(&self) -> Vec<u64> {
        let mut windows = Vec::new();
        for (_, series) in &self.series {
            let starts: BTreeSet<i64> = series.keys().map(|minute| self.aligned(*minute)).collect();
            for window in starts {
                let counts = series
                    .iter()
                    .filter(|(minute, _)| self.aligned(**minute) == window);
                let (minutes, counts): (Vec<i64>, Vec<u64>) = counts.unzip();
                let last = (minutes[0]..)
                    .find(|minute| self.aligned(minute + 1) != window)
                    .unwrap();
                if (self.from..self.to).contains(&last) && last < self.closed_before {
                    windows.push(counts.iter().sum());
                }
            }
        }
        windows.sort_unstable();
        windows
    }

    /// The largest by local hour; 0 where it was quiet.
    fn by_hour(&self) -> [Option<u64>; 24] {
        let mut by_hour = [None; 24];
        for hour in (self.from..self.to).step_by(60) {
            let place = self.local(hour).hour() as usize;
            if hour + 60 > self.first && hour < self.closed_before {
                by_hour[place] = by_hour[place].max(Some(0));
            }
            for (_, series) in &self.series {
                for minute in self
                    .counted(series)
                    .filter(|minute| minute.div_euclid(60) == hour / 60)
                {
                    by_hour[place] = by_hour[place].max(Some(self.held(series, minute, 0)));
                }
            }
        }
        by_hour
    }

    /// Peak, total, what would have been refused, percentiles, top identities, the largest by hour, status.
    pub fn expected(&self) -> Value {
        let limit = self.limit;
        let text = |minute: i64| {
            let instant = DateTime::from_timestamp(minute * 60, 0).unwrap();
            json!(instant.format("%Y-%m-%dT%H:%M:%SZ").to_string())
        };
        let best = self.best();
        let (value, at, who) = best[0];
        let upper = (self.series.iter())
            .flat_map(|(_, series)| self.counted(series).map(|minute| self.held(series, minute, 1)))
            .max();
        let counts = self
            .series
            .iter()
            .flat_map(|(_, series)| series.range(self.from..self.to));
        let total: u64 = counts.map(|(_, count)| count).sum();
        // Below a minute both bounds have to say the same.
        let bounds = if limit.window == "5s" {
            (value.div_ceil(12), upper.unwrap())
        } else {
            (value, value)
        };
        let alert_at = (limit.value * 70).div_ceil(100);
        let status = match bounds {
            (low, _) if low > limit.value => "over",
            (_, high) if high < alert_at => "ok",
            (low, high) if low >= alert_at && high <= limit.value => "near",
            _ => "unmeasurable",
        };
        if limit.window == "5s" {
            let peak = json!({"value": null, "lower": value.div_ceil(12), "upper": upper, "at": null, "identity": null});
            return json!([peak, total, null, null, [], null, status]);
        }
        let lower = if limit.algorithm == "anchored" {
            value.div_ceil(2)
        } else {
            value
        };
        let who = (!limit.shared).then_some(who);
        let peak = json!({"value": value, "lower": lower, "upper": upper, "at": text(at), "identity": who});
        let windows = self.windows();
        let mut requests: u64 = windows.iter().map(|held| held.saturating_sub(limit.value)).sum();
        let mut over = windows.iter().filter(|held| **held > limit.value).count();
        if !self.is_fixed() && value > limit.value {
            (requests, over) = (requests.max(value - limit.value), over.max(1));
        }
        let refused = json!({"requests": requests, "identity_windows": over, "exact": self.is_fixed()});
        let rank = |per_mille: usize| windows[(windows.len() * per_mille).div_ceil(1000) - 1];
        let percentiles = json!({"p50": rank(500), "p95": rank(950), "p99": rank(990), "p999": rank(999)});
        let top: Vec<Value> = (best.iter().take(if limit.shared { 0 } else { 5 }))
            .map(|(peak, at, who)| json!({"identity": who, "peak": peak, "at": text(*at)}))
            .collect();
        json!([peak, total, refused, percentiles, top, self.by_hour(), status])
    }
}

/// By limit, its series as it counts them, identities in the order of their ids.
pub fn series(limit: &Limit, counts: &Counts, ids: &HashMap<String, i64>) -> Vec<(String, Series)> {
    let mut series: BTreeMap<(i64, String), Series> = BTreeMap::new();
    for ((endpoint, who, minute), count) in counts {
        if limit.endpoints.1(endpoint) {
            let key = if limit.shared {
                (0, String::new())
            } else {
                (ids[who], who.clone())
            };
            *series.entry(key).or_default().entry(*minute).or_default() += count;
        }
    }
    series
        .into_iter()
        .map(|((_, who), series)| (who, series))
        .collect()
}
