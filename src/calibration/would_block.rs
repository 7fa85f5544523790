//! What the histogram of closed windows says about a limit.

use serde::Serialize;
use utoipa::ToSchema;

use crate::fold::{Figures, Histogram, Rules};

/// What a limit would have refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct WouldBlock {
    /// Requests.
    pub requests: u128,
    /// Windows of single identities in which it would have.
    pub identity_windows: u64,
    /// Whether that is exact: it is for fixed windows. For others the aligned windows stand in for the real ones.
    pub exact: bool,
}

/// What windows with traffic hold, by nearest rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct Percentiles {
    /// Half of all windows hold this much or less.
    pub p50: u64,
    /// 95 % do.
    pub p95: u64,
    /// 99 % do.
    pub p99: u64,
    /// 99.9 % do.
    pub p999: u64,
}

impl WouldBlock {
    /// What `limit` would have refused; none where windows can't be seen.
    ///
    /// Aligned windows can cut a burst in two that a sliding or anchored window holds whole. The peak is such a
    /// window, so what it has above the limit is the least that would have been refused.
    #[must_use]
    pub fn new(figures: &Figures, rules: &Rules, limit: u64) -> Option<Self> {
        if !rules.is_observable() || rules.is_sampled() {
            return None;
        }
        let over = figures.histogram.over(limit);
        let fixed = rules.is_fixed();
        let beyond = figures.peak.map_or(0, |peak| peak.value.saturating_sub(limit));
        let least = if fixed { 0 } else { beyond };
        Some(Self {
            requests: over.requests.max(least.into()),
            identity_windows: over.identity_windows.max(u64::from(least > 0)),
            exact: fixed && !figures.histogram.is_rounded(),
        })
    }
}

impl Percentiles {
    /// The percentiles of a histogram; none of an empty one.
    #[must_use]
    pub fn new(histogram: &Histogram) -> Option<Self> {
        Some(Self {
            p50: histogram.quantile(500)?,
            p95: histogram.quantile(950)?,
            p99: histogram.quantile(990)?,
            p999: histogram.quantile(999)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        fold::Peak,
        time::{Algorithm, Minute, Window},
    };

    fn rules(window: Window, algorithm: Algorithm) -> Rules {
        Rules {
            window,
            algorithm,
            shared: false,
            zone: chrono_tz::UTC,
        }
    }

    fn figures(peak: u64, histogram: &[(u64, u64)]) -> Figures {
        let at = Minute::from_index(29_000_000);
        Figures {
            peak: Some(Peak {
                value: peak,
                at,
                identity: Some(1),
            }),
            histogram: Histogram::new(histogram.iter().copied()),
            ..Figures::default()
        }
    }

    #[test]
    fn fixed_windows_are_counted_exactly() {
        // Against 5: one window of 7 and two of 6 have 2 + 1 + 1 = 4 above it. The peak of 9 is of an open window.
        let fixed = rules(Window::Minutes(15), Algorithm::Fixed);
        assert_eq!(
            WouldBlock::new(&figures(9, &[(3, 9), (6, 2), (7, 1)]), &fixed, 5),
            Some(WouldBlock {
                requests: 4,
                identity_windows: 3,
                exact: true
            })
        );
    }

    #[test]
    fn an_estimate_is_never_less_than_what_the_peak_has_above_the_limit() {
        // A burst of 12 that lies over two aligned windows as 5 and 7: the windows show 2 above 5, the peak shows 7.
        let anchored = rules(Window::Minutes(15), Algorithm::Anchored);
        let burst = figures(12, &[(5, 1), (7, 1)]);
        assert_eq!(
            WouldBlock::new(&burst, &anchored, 5),
            Some(WouldBlock {
                requests: 7,
                identity_windows: 1,
                exact: false
            })
        );
        // Against 8 no aligned window is over, and yet one window was: 12 − 8 = 4.
        assert_eq!(
            WouldBlock::new(&burst, &anchored, 8),
            Some(WouldBlock {
                requests: 4,
                identity_windows: 1,
                exact: false
            })
        );
        assert_eq!(
            WouldBlock::new(&burst, &anchored, 12),
            Some(WouldBlock {
                requests: 0,
                identity_windows: 0,
                exact: false
            })
        );
    }

    #[test]
    fn below_a_minute_nothing_can_be_said() {
        assert_eq!(
            WouldBlock::new(&figures(9, &[]), &rules(Window::Seconds(5), Algorithm::Fixed), 5),
            None
        );
        assert_eq!(Percentiles::new(&Histogram::default()), None);
    }

    #[test]
    fn percentiles_are_nearest_ranks() {
        // A thousand windows: 950 of 1, 40 of 2, 9 of 3, 1 of 8. Ranks 500 and 950 are 1, 990 is 2, 999 is 3.
        let histogram = Histogram::new([(1, 950), (2, 40), (3, 9), (8, 1)]);
        assert_eq!(
            Percentiles::new(&histogram),
            Some(Percentiles {
                p50: 1,
                p95: 1,
                p99: 2,
                p999: 3
            })
        );
    }
}
