//! The geometry of bars.

use std::fmt;

use crate::report::{LimitView, PeakView};

/// A place on a track or a part of it, in hundredths of a per cent; written as an SVG length.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Share(u16);

impl Share {
    const WHOLE: u16 = 10_000;

    /// How much of a scale something is, cut off at the scale's end; nothing of no scale.
    pub(super) fn of(part: u128, scale: u128) -> Self {
        let hundredths = part
            .min(scale)
            .saturating_mul(Self::WHOLE.into())
            .checked_div(scale);
        Self(hundredths.and_then(|share| share.try_into().ok()).unwrap_or(0))
    }

    /// How much of a scale that is logarithmic: each doubling of one more than the part adds the same.
    pub(super) fn of_logarithm(part: u64, scale: u64) -> Self {
        #[expect(clippy::cast_precision_loss, reason = "a length to look at")]
        let length = (part.min(scale) as f64).ln_1p() / (scale as f64).ln_1p() * f64::from(Self::WHOLE);
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "between 0 and the whole; nothing of no scale"
        )]
        Self(length as u16)
    }

    /// In hundredths of a per cent.
    pub(super) const fn units(self) -> u16 {
        self.0
    }

    /// What is left of the track.
    pub(super) const fn rest(self) -> Self {
        Self(Self::WHOLE - self.0)
    }

    /// From another place on to this one.
    pub(super) const fn beyond(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }
}

impl fmt::Display for Share {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{:02}%", self.0 / 100, self.0 % 100)
    }
}

/// A peak on its limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Bar {
    /// How far it is filled: the peak, or the least that it was.
    pub(super) peak: Share,
    /// How much more it may have been.
    pub(super) doubt: Share,
    /// Where the alert is.
    pub(super) alert: Share,
    /// Where the limit is.
    pub(super) limit: Share,
}

impl Bar {
    /// The bar of a limit: the track ends a fifth above the limit, or where the peak may have been, whichever is more.
    /// None where nothing is limited.
    pub(super) fn new(view: &LimitView) -> Option<Self> {
        let (limit, alert) = (u128::from(view.limit?), u128::from(view.alert_at?));
        let (least, most) = view.peak.as_ref().map_or((0, 0), least_and_most);
        // In tenths, so that a fifth is whole.
        let scale = (limit * 12).max(most * 10);
        let place = |value: u128| Share::of(value * 10, scale);
        Some(Self {
            peak: place(least),
            doubt: place(most).beyond(place(least)),
            alert: place(alert),
            limit: place(limit),
        })
    }
}

fn least_and_most(peak: &PeakView) -> (u128, u128) {
    (peak.least().into(), peak.most().into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn share(hundredths: u16) -> Share {
        Share(hundredths)
    }

    #[test]
    fn a_share_is_cut_off_and_written_as_a_length() {
        assert_eq!(Share::of(1, 3), share(3333));
        assert_eq!(Share::of(5, 3), share(10_000));
        assert_eq!(Share::of(1, 0), share(0));
        assert_eq!(
            Share::of(u128::from(u64::MAX) * 10, u128::from(u64::MAX) * 12),
            share(8333)
        );
        // 1 + 7 is three doublings, 1 + 63 is six.
        assert_eq!(Share::of_logarithm(7, 63), share(5000));
        assert_eq!(Share::of_logarithm(0, 0), share(0));
        assert_eq!(share(3305).to_string(), "33.05%");
        assert_eq!(share(3305).rest().to_string(), "66.95%");
        assert_eq!(share(10_000).to_string(), "100.00%");
    }

    #[test]
    fn the_track_ends_a_fifth_above_the_limit_or_at_the_bound() {
        use crate::page::sample::limit;
        // Limit 20, so the track is 24 long: 18 is 75 %, 21 is 12.5 % more, the alert at 14 is 58.33 %, the limit 83.33 %.
        assert_eq!(
            Bar::new(&limit(20, 14, Some((Some(18), 9, 21)))),
            Some(Bar {
                peak: share(7500),
                doubt: share(1250),
                alert: share(5833),
                limit: share(8333),
            })
        );
        // At most 40 were seen: that is the end. 23 is 57.5 %, 20 is half.
        assert_eq!(
            Bar::new(&limit(20, 14, Some((Some(23), 12, 40)))),
            Some(Bar {
                peak: share(5750),
                doubt: share(4250),
                alert: share(3500),
                limit: share(5000),
            })
        );
        // Below a minute it is filled to the least: 6 of 24 is 25 %, 12 is 25 % more.
        let bounds = Bar::new(&limit(20, 14, Some((None, 6, 12)))).unwrap();
        assert_eq!((bounds.peak, bounds.doubt), (share(2500), share(2500)));
        let unknown = Bar::new(&limit(20, 14, None)).unwrap();
        assert_eq!((unknown.peak, unknown.doubt), (share(0), share(0)));
    }
}
