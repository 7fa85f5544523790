//! What hourly and daily rows share: figures as parallel columns on their way in, and back on their way out.

use chrono::{DateTime, Utc};

use super::StoreError;
use crate::{
    fold::{Figures, Histogram, Peak, TopIdentity},
    time::Minute,
};

/// Arrays of different lengths, end to end: row n's slice begins at its first, counted from 1, and has its size.
#[derive(Debug, Default)]
pub(super) struct Ragged {
    pub(super) firsts: Vec<i32>,
    pub(super) sizes: Vec<i32>,
    next: i32,
}

impl Ragged {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_possible_wrap,
        reason = "batches are far below 2^31"
    )]
    pub(super) fn push(&mut self, size: usize) {
        self.firsts.push(self.next + 1);
        self.sizes.push(size as i32);
        self.next += size as i32;
    }
}

/// Figures as parallel columns.
#[derive(Debug, Default)]
pub(super) struct Columns {
    pub(super) peaks: Vec<Option<i64>>,
    pub(super) lowers: Vec<i64>,
    pub(super) uppers: Vec<i64>,
    pub(super) peak_ats: Vec<Option<DateTime<Utc>>>,
    pub(super) peak_ids: Vec<Option<i64>>,
    pub(super) totals: Vec<String>,
    pub(super) identities: Vec<i64>,
    pub(super) histograms: Ragged,
    pub(super) histogram_values: Vec<i64>,
    pub(super) histogram_windows: Vec<i64>,
    pub(super) rounded: Vec<bool>,
    pub(super) tops: Ragged,
    pub(super) top_ids: Vec<i64>,
    pub(super) top_peaks: Vec<i64>,
    pub(super) top_ats: Vec<DateTime<Utc>>,
}

/// No count passes the largest bigint: folds saturate there.
pub(super) fn bigint(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

impl Columns {
    pub(super) fn push(&mut self, figures: &Figures) {
        self.peaks.push(figures.peak.map(|peak| bigint(peak.value)));
        self.lowers.push(bigint(figures.lower));
        self.uppers.push(bigint(figures.upper));
        self.peak_ats.push(figures.peak.map(|peak| peak.at.start()));
        self.peak_ids.push(figures.peak.and_then(|peak| peak.identity));
        self.totals.push(figures.total.to_string());
        self.identities.push(bigint(figures.identities));
        self.histograms.push(figures.histogram.entries().len());
        for (value, windows) in figures.histogram.entries() {
            self.histogram_values.push(bigint(*value));
            self.histogram_windows.push(bigint(*windows));
        }
        self.rounded.push(figures.histogram.is_rounded());
        self.tops.push(figures.top.len());
        for top in &figures.top {
            self.top_ids.push(top.identity);
            self.top_peaks.push(bigint(top.peak));
            self.top_ats.push(top.at.start());
        }
    }
}

/// Figures as the macros read them.
#[derive(Debug)]
pub(super) struct Record {
    pub(super) peak: Option<i64>,
    pub(super) lower: i64,
    pub(super) upper: i64,
    pub(super) peak_at: Option<DateTime<Utc>>,
    pub(super) peak_id: Option<i64>,
    pub(super) total: String,
    pub(super) identities: i64,
    pub(super) histogram_values: Vec<i64>,
    pub(super) histogram_windows: Vec<i64>,
    pub(super) histogram_rounded: bool,
    pub(super) top_ids: Vec<i64>,
    pub(super) top_peaks: Vec<i64>,
    pub(super) top_at: Vec<DateTime<Utc>>,
}

impl Record {
    pub(super) fn figures(self) -> Result<Figures, StoreError> {
        let count = |number: i64| number.max(0).cast_unsigned();
        let peak = self.peak.zip(self.peak_at).map(|(value, at)| Peak {
            value: count(value),
            at: Minute::containing(at),
            identity: self.peak_id,
        });
        let windows = self.histogram_values.into_iter().zip(self.histogram_windows);
        let top = self.top_ids.into_iter().zip(self.top_peaks).zip(self.top_at);
        Ok(Figures {
            peak,
            lower: count(self.lower),
            upper: count(self.upper),
            total: self
                .total
                .parse()
                .map_err(|error| StoreError::Decode(Box::new(error)))?,
            identities: count(self.identities),
            histogram: Histogram::new(windows.map(|(value, windows)| (count(value), count(windows))))
                .or_rounded(self.histogram_rounded),
            top: top
                .map(|((identity, peak), at)| TopIdentity {
                    identity,
                    peak: count(peak),
                    at: Minute::containing(at),
                })
                .collect(),
        })
    }
}

/// The figures of a row that a macro has read, whatever its type is called.
macro_rules! figures {
    ($row:ident) => {
        Record {
            peak: $row.peak,
            lower: $row.lower,
            upper: $row.upper,
            peak_at: $row.peak_at,
            peak_id: $row.peak_id,
            total: $row.total,
            identities: $row.identities,
            histogram_values: $row.histogram_values,
            histogram_windows: $row.histogram_windows,
            histogram_rounded: $row.histogram_rounded,
            top_ids: $row.top_ids,
            top_peaks: $row.top_peaks,
            top_at: $row.top_at,
        }
        .figures()
    };
}
pub(super) use figures;
