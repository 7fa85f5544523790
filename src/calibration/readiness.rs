//! Whether there is enough evidence to decide on.

use serde::Serialize;
use utoipa::ToSchema;

/// Days with traffic that a value has to rest on.
pub const ACTIVE_DAYS: u32 = 20;

/// How much evidence there is for a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct Readiness {
    /// Whether there is enough of both.
    pub ready: bool,
    /// Local days in a row, up to the last full one, of which 99 % can be vouched for.
    pub covered_days: u32,
    /// How many of them there have to be.
    pub required_days: u32,
    /// Local days of the period with traffic on the limit.
    pub active_days: u32,
}

impl Readiness {
    /// Ready are enough covered days in a row with [`ACTIVE_DAYS`] of traffic.
    #[must_use]
    pub const fn new(covered_days: u32, required_days: u32, active_days: u32) -> Self {
        Self {
            ready: covered_days >= required_days && active_days >= ACTIVE_DAYS,
            covered_days,
            required_days,
            active_days,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_kinds_of_days_have_to_be_enough() {
        let ready = |covered, active| Readiness::new(covered, 28, active).ready;
        assert_eq!(
            [ready(28, 20), ready(27, 20), ready(28, 19), ready(90, 90)],
            [true, false, false, true]
        );
    }
}
