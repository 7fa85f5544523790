//! Limits, reports and frames for tests.

use chrono::{DateTime, Utc};

use super::{Address, Frame, Words};
use crate::{
    alert::{Kind, Level},
    calibration::{Readiness, Status},
    catalog::Mode,
    language::Language,
    report::{Alerts, Detail, GroupView, HourView, LimitView, PeakView, Profile, Report, SourceNames},
    store::{
        alerts::{Alert, AlertPeak, Alerted},
        silences::Silence,
    },
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
            upper: Some(upper),
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

/// A report of one group with these limits.
pub(super) fn report(limits: Vec<LimitView>) -> Report {
    Report {
        environment: "prod".to_owned(),
        from: at("2026-03-01T03:00:00Z"),
        to: at("2026-03-03T03:00:00Z"),
        timezone: "America/Sao_Paulo".to_owned(),
        alert_percent: 70,
        generated_at: at("2026-03-03T12:00:00Z"),
        coverage: Vec::new(),
        ignored: Vec::new(),
        groups: vec![GroupView {
            id: "A".to_owned(),
            name: "Critical".to_owned(),
            limits,
        }],
    }
}

/// A limit of whose hours nothing is known.
pub(super) fn detail(limit: LimitView) -> Detail {
    Detail {
        limit,
        group: ("A".to_owned(), "Critical".to_owned()),
        closed_before: DateTime::<Utc>::MAX_UTC,
        days: Vec::new(),
        hours: Vec::new(),
        profile: Profile {
            by_hour: [None; 24],
            by_weekday: [None; 7],
        },
        histogram: Vec::new(),
    }
}

/// A limit that is over since 12:00 in Sao Paulo, and that it was told; both with a text in them.
pub(super) fn alerts(text: &str) -> Alerts {
    Alerts {
        standings: vec![Alerted {
            environment: "prod".to_owned(),
            key: "send-otp.ip".to_owned(),
            limit: Some("send-otp.ip".to_owned()),
            level: Level::Over,
            since: Some(at("2026-03-02T15:00:00Z")),
            peak: Some(AlertPeak {
                count: 1024,
                at: at("2026-03-02T15:04:00Z"),
            }),
            last_high: Some(at("2026-03-02T15:04:00Z")),
        }],
        silences: vec![Silence {
            environment: "prod".to_owned(),
            limit: "send-otp.ip".to_owned(),
            until: at("2026-03-04T03:00:00Z"),
            reason: text.to_owned(),
        }],
        alerts: vec![Alert {
            id: 1,
            environment: "prod".to_owned(),
            key: "send-otp.ip".to_owned(),
            kind: Kind::Raised,
            level: Level::Over,
            title: text.to_owned(),
            message: text.to_owned(),
            created_at: at("2026-03-02T15:05:00Z"),
            state: "pending".to_owned(),
            sent_at: None,
            next_attempt_at: None,
            held_by: Some(text.to_owned()),
        }],
        ..Alerts::default()
    }
}

/// Two local days of Sao Paulo.
pub(super) fn period() -> (DateTime<Utc>, DateTime<Utc>) {
    (at("2026-03-01T03:00:00Z"), at("2026-03-03T03:00:00Z"))
}

/// An hour with a peak of (value, upper) and its covered minutes.
pub(super) fn hour(start: &str, peak: Option<(u64, u64)>, covered_minutes: u32) -> HourView {
    HourView {
        hour: at(start),
        peak: peak.map(|(value, upper)| PeakView {
            value: Some(value),
            lower: value,
            upper: Some(upper),
            at: None,
            identity: None,
        }),
        total: 0,
        identities: 0,
        covered_minutes,
        partial: false,
        ignored: false,
        samples: None,
    }
}

pub(super) fn words(language: Language) -> Words {
    Words {
        language,
        zone: chrono_tz::America::Sao_Paulo,
    }
}

/// A frame around a page of production.
pub(super) fn frame(language: Language) -> Frame {
    Frame {
        words: words(language),
        address: Address {
            environment: "prod".to_owned(),
            ..Address::default()
        },
        environments: vec!["prod".to_owned(), "staging".to_owned()],
        most_days: 90,
        signed_in: true,
    }
}

pub(super) fn at(text: &str) -> DateTime<Utc> {
    text.parse().unwrap()
}
