//! What closed windows held, in bins that widen as counts grow.

use super::{Words, bar::Share};

/// Where bins begin within ten times as much.
const STARTS: [u64; 8] = [10, 15, 20, 30, 40, 50, 60, 80];

/// Windows that held about as much.
#[derive(Debug, PartialEq, Eq)]
struct Bin {
    first: u64,
    last: u64,
    windows: u64,
    /// Whether they are over the limit; the limit ends a bin.
    over: bool,
}

/// A bin, written.
#[derive(Debug)]
pub(super) struct BinRow {
    pub(super) values: String,
    pub(super) windows: String,
    pub(super) length: Share,
    pub(super) over: bool,
}

/// The bins of a histogram, each as long as the logarithm of its windows.
pub(super) fn rows(histogram: &[(u64, u64)], limit: Option<u64>, words: Words) -> Vec<BinRow> {
    let bins = bins(histogram, limit);
    let most = bins.iter().map(|bin| bin.windows).max().unwrap_or(0);
    let row = |bin: &Bin| {
        let first = words.number(bin.first);
        BinRow {
            values: if bin.first == bin.last {
                first
            } else {
                format!("{first}–{}", words.number(bin.last))
            },
            windows: words.number(bin.windows),
            length: Share::of_logarithm(bin.windows, most),
            over: bin.over,
        }
    };
    bins.iter().map(row).collect()
}

/// Puts a histogram of (value, windows), ascending, into bins. Empty bins between full ones are kept.
fn bins(histogram: &[(u64, u64)], limit: Option<u64>) -> Vec<Bin> {
    let Some((largest, _)) = histogram.last() else {
        return Vec::new();
    };
    let mut bins = Vec::new();
    let mut first = 1;
    while first <= *largest {
        let mut last = end(first);
        if let Some(limit) = limit.filter(|limit| (first..last).contains(limit)) {
            last = limit;
        }
        let from = histogram.partition_point(|(value, _)| *value < first);
        let to = histogram.partition_point(|(value, _)| *value <= last);
        let windows = histogram[from..to].iter().map(|(_, windows)| windows).sum();
        if windows > 0 || !bins.is_empty() {
            bins.push(Bin {
                first,
                last,
                windows,
                over: limit.is_some_and(|limit| first > limit),
            });
        }
        let Some(next) = last.checked_add(1) else { break };
        first = next;
    }
    bins
}

/// The last value of the bin that holds a value.
fn end(value: u64) -> u64 {
    let unit = 10_u64.pow(value.ilog10());
    let starts = STARTS
        .iter()
        .map(|start| u128::from(*start) * u128::from(unit) / 10);
    let next = starts
        .chain([u128::from(unit) * 10])
        .find(|start| *start > u128::from(value));
    next.and_then(|next| u64::try_from(next - 1).ok())
        .unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bin(first: u64, last: u64, windows: u64, over: bool) -> Bin {
        Bin {
            first,
            last,
            windows,
            over,
        }
    }

    #[test]
    fn bins_widen_and_end_at_the_limit() {
        // Below ten every value has a bin of its own but 6 and 7, 8 and 9. The limit of 17 cuts 15 to 19.
        let histogram = [(3, 5), (7, 2), (16, 1), (18, 4), (25, 1)];
        assert_eq!(
            bins(&histogram, Some(17)),
            [
                bin(3, 3, 5, false),
                bin(4, 4, 0, false),
                bin(5, 5, 0, false),
                bin(6, 7, 2, false),
                bin(8, 9, 0, false),
                bin(10, 14, 0, false),
                bin(15, 17, 1, false),
                bin(18, 19, 4, true),
                bin(20, 29, 1, true),
            ]
        );
        assert_eq!(bins(&[], Some(5)), []);
        assert_eq!(
            bins(&[(u64::MAX, 1)], None)
                .last()
                .map(|bin| (bin.last, bin.windows)),
            Some((u64::MAX, 1))
        );
        assert_eq!(bins(&[(100, 1)], None), [bin(100, 149, 1, false)]);
    }
}
