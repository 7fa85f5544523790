//! What is known of a source in the period of a report, worked out once for all limits.

use std::{borrow::Cow, collections::BTreeMap};

use chrono_tz::Tz;

use super::Period;
use crate::{
    calibration::{Coverage, DayCoverage, Vouched},
    time::Day,
};

/// What is known of a source in a period.
pub(super) struct SourceFacts<'a> {
    pub(super) vouched: Cow<'a, Vouched>,
    pub(super) coverage: Coverage,
    /// The local days of the period.
    pub(super) days: BTreeMap<Day, DayCoverage>,
}

impl<'a> SourceFacts<'a> {
    pub(super) fn new(vouched: Cow<'a, Vouched>, period: Period, zone: Tz) -> Self {
        let days = vouched.days(period.from, period.to, zone);
        Self {
            coverage: vouched.coverage(period.from, period.to, zone),
            days: days.into_iter().map(|day| (day.day, day)).collect(),
            vouched,
        }
    }
}
