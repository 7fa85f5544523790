//! The report of a small catalog, field by field.

use std::{
    collections::{BTreeMap, HashMap},
    net::SocketAddr,
    path::PathBuf,
    time::Duration,
};

use chrono::{DateTime, TimeDelta, Utc};
use serde_json::json;

use super::{LimitData, LimitView, Period, Report, ReportInput, build, table};
use crate::{
    calibration::Vouched,
    catalog::{
        Catalog, Constants, Counts, Environment, Find, Group, HttpSettings, Ignored, Limit, Mode, Pattern,
        PerEnvironment, PostgresSettings, RedisSettings, Schedule, Scope, Secret, Source, SourceKind,
    },
    fold::{Figures, Histogram, HourRow, Merged, Peak, TopIdentity},
    time::{Algorithm, Hour, Minute, MinuteFormat, Window},
};

fn at(text: &str) -> DateTime<Utc> {
    text.parse().unwrap()
}

fn minute(text: &str) -> Minute {
    Minute::containing(at(text))
}

fn schedule() -> Schedule {
    Schedule::parse("0 */5 * * * *").unwrap()
}

fn source(name: &str) -> Source {
    Source {
        name: name.to_owned(),
        kind: SourceKind::Hash,
        key: Pattern::parse("{env}m:{endpoint}:{minute}").unwrap(),
        field: Some(Pattern::parse("{scope}:{identity}").unwrap()),
        constants: Constants::default(),
        minute: MinuteFormat::Compact,
        ttl: TimeDelta::hours(2),
        schedule: schedule(),
        grace: TimeDelta::seconds(5),
        lateness: TimeDelta::minutes(10),
        find: Find::Scan,
        environments: vec!["prod".to_owned()],
        counts: Counts::Attempts,
        rejected: Vec::new(),
    }
}

fn limit(id: &str, value: u64, window: &str) -> Limit {
    Limit {
        id: id.to_owned(),
        sources: vec!["gateway".to_owned()],
        endpoints: vec!["send-otp".to_owned()],
        scope: "escola_id".to_owned(),
        value: PerEnvironment::All(value),
        window: Window::parse(window).unwrap(),
        algorithm: Algorithm::Anchored,
        mode: PerEnvironment::All(Mode::Observe),
        shared: false,
        outcomes: None,
        watch_alert: None,
        hypothetical_peak: None,
        ceiling: None,
    }
}

fn catalog(limits: Vec<Limit>) -> Catalog {
    let group = |id: &str, limits| Group {
        id: id.to_owned(),
        name: "Critical\nauth".to_owned(),
        limits,
    };
    Catalog {
        path: PathBuf::from("folga.toml"),
        timezone: chrono_tz::America::Sao_Paulo,
        alert_percent: 70,
        retention_days: 90,
        minute_retention: TimeDelta::days(8),
        retention_schedule: schedule(),
        required_days: 28,
        hourly_limits_after_days: 30,
        redis: RedisSettings {
            url: Secret::new("redis://127.0.0.1".to_owned()),
            username: None,
            password: None,
            ca_file: None,
            connect_timeout: Duration::from_secs(2),
            response_timeout: Duration::from_secs(10),
        },
        postgres: PostgresSettings {
            url: None,
            max_connections: 5,
            data_dir: PathBuf::from("folga-data"),
        },
        ntfy: None,
        http: HttpSettings {
            listen: SocketAddr::from(([127, 0, 0, 1], 8080)),
            base_url: None,
            api_token: None,
        },
        identity_key: None,
        environments: vec![Environment {
            name: "prod".to_owned(),
            prefix: "olp:".to_owned(),
        }],
        scopes: [(
            "escola_id".to_owned(),
            Scope {
                ip: false,
                public: true,
            },
        )]
        .into(),
        sources: vec![source("gateway"), source("portal")],
        groups: vec![group("A", limits), group("B", vec![limit("other", 1, "1m")])],
        ignored: vec![Ignored {
            environment: "prod".to_owned(),
            from: at("2025-03-10T13:10:00Z"),
            to: at("2025-03-10T13:20:00Z"),
            reason: "load test".to_owned(),
        }],
    }
}

/// The peak of 4 at 12:03Z, of identity 1, with a total that passes 2^64.
fn figures() -> Figures {
    Figures {
        peak: Some(Peak {
            value: 4,
            at: minute("2025-03-10T12:03:00Z"),
            identity: Some(1),
        }),
        lower: 2,
        upper: 5,
        total: 1 << 65,
        identities: 2,
        histogram: Histogram::new([(1, 98), (3, 2)]),
        top: vec![
            TopIdentity {
                identity: 1,
                peak: 4,
                at: minute("2025-03-10T12:03:00Z"),
            },
            TopIdentity {
                identity: -2,
                peak: 1,
                at: minute("2025-03-10T12:04:00Z"),
            },
        ],
    }
}

/// From 12:00Z to 14:00Z with all minutes from 12:00Z to 13:29Z covered.
fn report(limits: Vec<Limit>, data: &[(&str, Figures)], now: &str) -> Report {
    let catalog = catalog(limits);
    let noon = minute("2025-03-10T12:00:00Z").hour();
    let limits: HashMap<_, _> = data
        .iter()
        .map(|(id, figures)| {
            let row = HourRow {
                hour: noon,
                figures: figures.clone(),
            };
            let merged = Merged::of_hours(&[row], catalog.timezone);
            let history_from = None;
            ((*id).to_owned(), LimitData { merged, history_from })
        })
        .collect();
    let gateway = Vouched {
        first: Some(noon.first_minute()),
        masks: BTreeMap::from([(noon, u64::MAX), (noon.next(), (1 << 30) - 1)]),
        closed_before: Minute::containing(at(now) - TimeDelta::seconds(5)),
    };
    build(&ReportInput {
        catalog: &catalog,
        environment: "prod",
        group: Some("A"),
        period: Period {
            from: noon,
            to: Hour::from_index(noon.index() + 2),
        },
        generated_at: at(now),
        limits: &limits,
        sources: &BTreeMap::from([("gateway".to_owned(), gateway)]),
        labels: &HashMap::from([(("escola_id".to_owned(), 1), "escola-\u{1b}[2J1".to_owned())]),
    })
}

#[test]
fn every_field_is_there_and_integers_are_exact() {
    let limit = Limit {
        hypothetical_peak: Some(40),
        ..limit("send-otp.escola", 5, "15m")
    };
    let report = report(
        vec![limit],
        &[("send-otp.escola", figures())],
        "2025-03-10T13:40:30Z",
    );
    let text = serde_json::to_string(&report).unwrap();
    // 2^65, which no 64-bit integer holds.
    assert!(text.contains("\"total\":36893488147419103232,"), "{text}");
    let mut found: serde_json::Value =
        serde_json::from_str(&text.replace("36893488147419103232", "0")).unwrap();
    // 12:03Z is 09:03 local: 4. 13:00Z to 13:29Z is 10:00 to 10:29 local, covered and quiet: 0.
    let mut by_hour = vec![json!(null); 24];
    (by_hour[9], by_hour[10]) = (json!(4), json!(0));
    assert_eq!(found["groups"][0]["limits"][0]["by_hour"].take(), json!(by_hour));
    // 70 % of 5 is 3.5: near from 4. 4 / 5 = 0.8. Of 100 windows, 98 hold 1: rank 50 and 95 are 1, rank 99 is 3, and
    // 99.9 is rank 100. 12:00 to 13:39 is closed at 13:40:25: 100 minutes, of which 10 are missing.
    assert_eq!(
        found,
        json!({
            "environment": "prod", "from": "2025-03-10T12:00:00Z", "to": "2025-03-10T14:00:00Z",
            "timezone": "America/Sao_Paulo", "alert_percent": 70, "generated_at": "2025-03-10T13:40:30Z",
            "coverage": [
                {"source": "gateway", "minutes": 100, "covered": 90, "consecutive_days": 0,
                 "gaps": [{"from": "2025-03-10T13:30:00Z", "to": "2025-03-10T13:40:00Z"}]},
                {"source": "portal", "minutes": 100, "covered": 0, "consecutive_days": 0, "gaps": []}
            ],
            "ignored": [{"from": "2025-03-10T13:00:00Z", "to": "2025-03-10T14:00:00Z", "reason": "load test"}],
            "groups": [{"id": "A", "name": "Critical\nauth", "limits": [{
                "id": "send-otp.escola", "source": "gateway", "endpoints": ["send-otp"], "scope": "escola_id",
                "limit": 5, "window": "15m", "algorithm": "anchored", "shared": false, "mode": "observe",
                "alert_at": 4, "status": "near",
                "peak": {"value": 4, "lower": 2, "upper": 5, "at": "2025-03-10T12:03:00Z",
                         "identity": "escola-\u{1b}[2J1"},
                "utilization": 0.8, "total": 0, "history_from": null, "partial": true,
                "would_block": {"requests": 0, "identity_windows": 0, "exact": false},
                "percentiles": {"p50": 1, "p95": 1, "p99": 3, "p999": 3},
                "top_identities": [
                    {"identity": "escola-\u{1b}[2J1", "peak": 4, "at": "2025-03-10T12:03:00Z"},
                    {"identity": "fffffffffffffffe", "peak": 1, "at": "2025-03-10T12:04:00Z"}
                ],
                "hypothetical_peak": 40, "by_hour": null
            }]}]
        })
    );
}

#[test]
fn what_is_unknown_is_null_and_what_is_quiet_is_zero() {
    let portal = Limit {
        sources: vec!["portal".to_owned()],
        ..limit("unread", 5, "15m")
    };
    let both = Limit {
        sources: vec!["gateway".to_owned(), "portal".to_owned()],
        ..limit("both", 5, "15m")
    };
    let burst = Figures {
        peak: None,
        histogram: Histogram::default(),
        top: Vec::new(),
        ..figures()
    };
    let watched = Limit {
        mode: PerEnvironment::All(Mode::Watch),
        ..limit("watched", 5, "1m")
    };
    let limits = vec![
        limit("quiet", 5, "15m"),
        portal,
        both,
        limit("burst", 5, "5s"),
        watched,
    ];
    let report = report(
        limits,
        &[("burst", burst), ("watched", figures())],
        "2025-03-10T14:00:05Z",
    );
    let seen = |limit: &LimitView| {
        let would_block = limit.would_block.is_some();
        let nine = limit.by_hour.map(|by_hour| by_hour[9]);
        json!([
            limit.status,
            limit.peak,
            limit.utilization,
            would_block,
            nine,
            limit.partial
        ])
    };
    let json: Vec<_> = report.groups[0].limits.iter().map(seen).collect();
    let bounds =
        |value: Option<u64>| json!({"value": value, "lower": 0, "upper": 0, "at": null, "identity": null});
    assert_eq!(json[0], json!(["ok", bounds(Some(0)), 0.0, true, 0, false]));
    assert_eq!(json[1], json!(["no-data", null, null, false, null, false]));
    assert_eq!(json[2], json!(["ok", bounds(Some(0)), 0.0, true, 0, false]));
    // 2 to 5 in 5 s against 5: near from 4, so the bounds leave it open.
    let open = json!({"value": null, "lower": 2, "upper": 5, "at": null, "identity": null});
    assert_eq!(json[3], json!(["unmeasurable", open, null, false, null, false]));
    assert_eq!(
        (&json[4][0], &json[4][2], &json[4][3]),
        (&json!("watch"), &json!(null), &json!(false))
    );
    let sources = |n: usize| serde_json::to_value(&report.groups[0].limits[n].source).unwrap();
    assert_eq!(
        (sources(1), sources(2)),
        (json!("portal"), json!(["gateway", "portal"]))
    );
}

#[test]
fn the_table_shows_every_limit_and_lets_no_text_break_it() {
    let shared = Limit {
        shared: true,
        ..limit("quiet", 23, "1h")
    };
    let limits = vec![
        limit("send-otp.escola", 5, "15m"),
        shared,
        limit("burst", 150, "5s"),
    ];
    let burst = Figures {
        peak: None,
        ..figures()
    };
    let data = [("send-otp.escola", figures()), ("burst", burst)];
    let printed = table(
        &report(limits, &data, "2025-03-10T13:40:30Z"),
        chrono_tz::America::Sao_Paulo,
    );
    assert!(
        printed
            .chars()
            .all(|letter| letter == '\n' || !letter.is_control()),
        "{printed}"
    );
    let words = |start: &str| {
        let line = printed
            .lines()
            .find(|line| line.trim_start().starts_with(start))
            .unwrap_or_default();
        line.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    assert_eq!(
        words("prod"),
        "prod: 2025-03-10 09:00 to 2025-03-10 11:00, times of America/Sao_Paulo; near from 70 % of a limit"
    );
    assert_eq!(
        words("gateway"),
        "gateway: 90 of 100 minutes covered, 0 full days in a row; gaps: 2025-03-10 10:30 (10 min)"
    );
    assert_eq!(
        words("left out"),
        "left out 2025-03-10 10:00 to 2025-03-10 11:00: load test"
    );
    assert_eq!(words("A "), "A Critical\\nauth");
    assert_eq!(
        words("send-otp.escola"),
        "send-otp.escola 5 / 15m observe 4 (≥2 ≤5) 2025-03-10 09:03 escola-\\u{1b}[2J1 80.0 % near, partial 36893488147419103232"
    );
    assert_eq!(
        words("quiet"),
        "quiet 23 / 1h observe 0 – all 0.0 % ok, partial 0"
    );
    assert_eq!(
        words("burst"),
        "burst 150 / 5s observe ≥2 ≤5 – – – ok, partial 36893488147419103232"
    );
}
