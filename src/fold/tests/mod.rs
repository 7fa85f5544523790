//! The fold against worked examples and against a direct count.

mod direct;
mod examples;

use chrono_tz::{Tz, UTC};

use super::{Fold, HourRow, Rules};
use crate::time::{Algorithm, Hour, Minute, Window};

/// A count of an identity in a minute.
type Sample = (Minute, i64, i64);

fn rules(window: &str, algorithm: Algorithm) -> Rules {
    Rules {
        window: Window::parse(window).unwrap(),
        algorithm,
        shared: false,
        zone: UTC,
    }
}

fn in_zone(window: &str, zone: Tz) -> Rules {
    Rules {
        zone,
        ..rules(window, Algorithm::Fixed)
    }
}

/// Folds samples that lie in minute order, each in a row of its own, all windows being closed.
fn fold(rules: Rules, from: Hour, to: Hour, samples: &[Sample]) -> Vec<HourRow> {
    let mut fold = Fold::new(rules, from, to, to.first_minute());
    for (minute, identity, count) in samples {
        fold.add(*minute, &[*identity], &[*count]);
    }
    fold.finish()
}
