//! Windows aligned to the epoch or to local midnight.

use chrono_tz::Tz;

use crate::time::{Minute, Window, day_end, day_of, day_start};

/// One aligned window: its first minute and the first minute after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Aligned {
    pub(super) start: Minute,
    pub(super) end: Minute,
}

impl Aligned {
    /// The aligned window that holds a minute. Windows below a minute are told apart no finer than by minutes.
    pub(super) fn holding(minute: Minute, window: Window, zone: Tz) -> Self {
        match window {
            Window::Seconds(_) => Self {
                start: minute,
                end: minute.plus(1),
            },
            Window::Minutes(width) => {
                let width = i64::from(width);
                let start = Minute::from_index(minute.index().div_euclid(width) * width);
                Self {
                    start,
                    end: start.plus(width),
                }
            }
            Window::LocalDay => {
                let day = day_of(minute.start(), zone);
                Self {
                    start: Minute::containing(day_start(day, zone)),
                    end: Minute::containing(day_end(day, zone)),
                }
            }
        }
    }

    /// Its last minute.
    pub(super) const fn last(self) -> Minute {
        self.end.plus(-1)
    }
}
