//! A limit for tests.

use crate::{
    calibration::{Readiness, Status},
    catalog::Mode,
    report::{LimitView, PeakView, SourceNames},
    time::Algorithm,
};

/// A limit with a value, its alert, and a peak of (value, lower, upper).
pub(super) fn limit(limit: u64, alert_at: u64, peak: Option<(Option<u64>, u64, u64)>) -> LimitView {
    LimitView {
        id: "send-otp.ip".to_owned(),
        source: SourceNames::One("gateway".to_owned()),
        endpoints: vec!["send-otp".to_owned()],
        scope: "ip".to_owned(),
        limit: Some(limit),
        window: "1h".to_owned(),
        algorithm: Algorithm::Anchored,
        shared: false,
        mode: Mode::Observe,
        alert_at: Some(alert_at),
        status: Status::Ok,
        peak: peak.map(|(value, lower, upper)| PeakView {
            value,
            lower,
            upper,
            at: None,
            identity: None,
        }),
        utilization: None,
        censored: false,
        total: 0,
        accepted: None,
        accepted_peak: None,
        history_from: None,
        partial: false,
        would_block: None,
        percentiles: None,
        top_identities: Vec::new(),
        readiness: Readiness::new(12, 28, 9),
        recommendation: None,
        trend: None,
        hypothetical_peak: None,
        by_hour: None,
        limits_by_hour: None,
    }
}
