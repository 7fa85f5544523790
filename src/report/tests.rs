//! The report of a small catalog, field by field.

use std::{
    collections::{BTreeMap, HashMap},
    path::Path,
    sync::Arc,
};

use chrono::{DateTime, TimeDelta, Utc};
use serde_json::json;

use super::{LimitData, LimitView, Period, Report, ReportInput, ShapeData, build, detail, table, what_if};
use crate::{
    calibration::Vouched,
    catalog::Catalog,
    fold::{Figures, Histogram, HourRow, Merged, Peak, TopIdentity},
    time::{Hour, Minute, day_of},
};

fn at(text: &str) -> DateTime<Utc> {
    text.parse().unwrap()
}

fn minute(text: &str) -> Minute {
    Minute::containing(at(text))
}

/// A catalog of two sources, whose group A has these limits: id, source, value, window and further lines.
fn catalog(limits: &[(&str, &str, &str, &str, &str)]) -> Catalog {
    let mut text = r#"
        timezone = "America/Sao_Paulo"
        [redis]
        url = "redis://127.0.0.1"
        [[environment]]
        name = "prod"
        prefix = "olp:"
        [[environment]]
        name = "staging"
        prefix = "olp-stg:"
        [scope.escola_id]
        public = true
        [[source]]
        name = "gateway"
        kind = "hash"
        key = "{env}m:{endpoint}:{minute}"
        field = "{scope}:{identity}"
        ttl = "2h"
        schedule = "0 */5 * * * *"
        find = "scan"
        [[source]]
        name = "portal"
        kind = "hash"
        key = "{env}portal:{endpoint}:{minute}"
        field = "{scope}:{identity}"
        ttl = "2h"
        schedule = "0 */5 * * * *"
        find = "scan"
        [[ignore]]
        environment = "prod"
        from = "2025-03-10T13:10:00Z"
        to = "2025-03-10T13:20:00Z"
        reason = "load test"
        [[group]]
        id = "B"
        name = "Other"
        [[group.limit]]
        id = "other"
        source = "gateway"
        endpoints = ["other"]
        scope = "escola_id"
        limit = 1
        window = "1m"
        [[group]]
        id = "A"
        name = "Critical auth"
    "#
    .to_owned();
    text.extend(limits.iter().map(|(id, source, value, window, more)| {
        format!(
            "[[group.limit]]\nid = \"{id}\"\nsource = {source}\nlimit = {value}\nwindow = \"{window}\"\n\
             endpoints = [\"send-otp\"]\nscope = \"escola_id\"\n{more}\n"
        )
    }));
    Catalog::parse(&text, Path::new("folga.toml"), &|_| None, false).unwrap()
}

const GATEWAY: &str = r#""gateway""#;

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
fn report(limits: &[(&str, &str, &str, &str, &str)], data: &[(&str, Figures)], now: &str) -> Report {
    with_input(&catalog(limits), data, now, build)
}

/// What is made of the same.
fn with_input<T>(
    catalog: &Catalog,
    data: &[(&str, Figures)],
    now: &str,
    make: impl FnOnce(&ReportInput<'_>) -> T,
) -> T {
    let noon = minute("2025-03-10T12:00:00Z").hour();
    let limits: HashMap<_, _> = data
        .iter()
        .map(|(id, figures)| {
            let row = HourRow {
                hour: noon,
                figures: figures.clone(),
            };
            let merged = Merged::of_hours(&[row], catalog.timezone);
            let day = day_of(noon.start(), catalog.timezone);
            let counted = ShapeData {
                merged: merged.clone(),
                days: BTreeMap::from([(day, merged)]),
                history_from: None,
            };
            let data = LimitData {
                counted: Arc::new(counted),
                ..LimitData::default()
            };
            ((*id).to_owned(), data)
        })
        .collect();
    let gateway = Vouched {
        first: Some(noon.first_minute()),
        masks: BTreeMap::from([(noon, u64::MAX), (noon.next(), (1 << 30) - 1)]),
        closed_before: Minute::containing(at(now) - TimeDelta::seconds(5)),
    };
    make(&ReportInput {
        catalog,
        environment: "prod",
        group: Some("A"),
        period: Period {
            from: noon,
            to: Hour::from_index(noon.index() + 2),
        },
        generated_at: at(now),
        limits: &limits,
        unlimited: &[],
        sources: &BTreeMap::from([("gateway".to_owned(), gateway)]),
        labels: &HashMap::from([(("escola_id".to_owned(), 1), "escola-\u{1b}[2J1".to_owned())]),
    })
}

#[test]
fn every_field_is_there_and_integers_are_exact() {
    let limits = [("send-otp.escola", GATEWAY, "5", "15m", "hypothetical_peak = 40")];
    let report = report(&limits, &[("send-otp.escola", figures())], "2025-03-10T13:40:30Z");
    let text = serde_json::to_string(&report).unwrap();
    // 2^65, which no 64-bit integer holds.
    assert!(text.contains("\"total\":36893488147419103232,"), "{text}");
    let mut found: serde_json::Value =
        serde_json::from_str(&text.replace("36893488147419103232", "0")).unwrap();
    // 12:03Z is 09:03 local: 4. 13:00Z to 13:29Z, 10:00 to 10:29 local, is covered, but its hour is ignored: null.
    let mut by_hour = vec![json!(null); 24];
    by_hour[9] = json!(4);
    assert_eq!(found["groups"][0]["limits"][0]["by_hour"].take(), json!(by_hour));
    assert_eq!(
        found["groups"][0]["limits"][0]["readiness"].take(),
        json!({"ready": false, "covered_days": 0, "required_days": 28, "active_days": 1})
    );
    // A quarter on top of 4 is 5, at most 70 % of 8 (5.6) and not of 7 (4.9); without the identity that has more than
    // twice the other's 1 it is 1.25, at most 70 % of 2 (1.4).
    assert_eq!(
        found["groups"][0]["limits"][0]["recommendation"].take(),
        json!({
            "action": "wait", "limit": 8, "projected_peak": 5.0, "interval": [4.0, 5.0], "method": "observed-margin",
            "reason": "Not enough evidence yet: 0 of 28 days in a row are covered, and 1 of 20 days have traffic.",
            "dominated": {
                "with": {"limit": 8, "projected_peak": 5.0}, "without": {"limit": 2, "projected_peak": 1.25}
            }
        })
    );
    // 70 % of 5 is 3.5: near from 4. 4 / 5 = 0.8. Of 100 windows, 98 hold 1: rank 50 and 95 are 1, rank 99 is 3, and
    // 99.9 is rank 100. 12:00 to 13:39 is closed at 13:40:25: 100 minutes, of which 10 are missing.
    assert_eq!(
        found,
        serde_json::from_str::<serde_json::Value>(
            r#"{
            "environment": "prod", "from": "2025-03-10T12:00:00Z", "to": "2025-03-10T14:00:00Z",
            "timezone": "America/Sao_Paulo", "alert_percent": 70, "generated_at": "2025-03-10T13:40:30Z",
            "coverage": [
                {"source": "gateway", "minutes": 100, "covered": 90, "consecutive_days": 0,
                 "gaps": [{"from": "2025-03-10T13:30:00Z", "to": "2025-03-10T13:40:00Z"}]},
                {"source": "portal", "minutes": 100, "covered": 0, "consecutive_days": 0, "gaps": []}
            ],
            "ignored": [{"from": "2025-03-10T13:00:00Z", "to": "2025-03-10T14:00:00Z", "reason": "load test"}],
            "groups": [{"id": "A", "name": "Critical auth", "limits": [{
                "id": "send-otp.escola", "source": "gateway", "endpoints": ["send-otp"], "scope": "escola_id",
                "limit": 5, "window": "15m", "algorithm": "anchored", "shared": false, "mode": "observe",
                "alert_at": 4, "status": "near",
                "peak": {"value": 4, "lower": 2, "upper": 5, "at": "2025-03-10T12:03:00Z",
                         "identity": "escola-\u001b[2J1"},
                "utilization": 0.8, "censored": false, "total": 0, "accepted": null, "accepted_peak": null,
                "history_from": null, "partial": true,
                "would_block": {"requests": 0, "identity_windows": 0, "exact": false},
                "percentiles": {"p50": 1, "p95": 1, "p99": 3, "p999": 3},
                "top_identities": [
                    {"identity": "escola-\u001b[2J1", "peak": 4, "at": "2025-03-10T12:03:00Z"},
                    {"identity": "fffffffffffffffe", "peak": 1, "at": "2025-03-10T12:04:00Z"}
                ],
                "readiness": null, "recommendation": null, "trend": null, "hypothetical_peak": 40, "by_hour": null,
                "limits_by_hour": null
            }]}]
        }"#
        )
        .unwrap()
    );
}

#[test]
fn what_is_unknown_is_null_and_what_is_quiet_is_zero() {
    let burst = Figures {
        peak: None,
        histogram: Histogram::default(),
        top: Vec::new(),
        ..figures()
    };
    let limits = [
        ("quiet", GATEWAY, "5", "15m", ""),
        ("unread", r#""portal""#, "5", "15m", ""),
        ("both", r#"["gateway", "portal"]"#, "5", "15m", ""),
        ("burst", GATEWAY, "5", "5s", ""),
        (
            "watched",
            GATEWAY,
            "5",
            "1m",
            r#"mode = { prod = "watch", staging = "block" }"#,
        ),
        ("elsewhere", GATEWAY, "{ staging = 5 }", "1m", ""),
    ];
    let data = [("burst", burst), ("watched", figures())];
    let report = report(&limits, &data, "2025-03-10T14:00:05Z");
    let ids: Vec<_> = report.groups[0]
        .limits
        .iter()
        .map(|limit| limit.id.as_str())
        .collect();
    assert_eq!(ids, ["quiet", "unread", "both", "burst", "watched"]);
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
    let limits = [
        ("send-otp.escola", GATEWAY, "5", "15m", ""),
        ("quiet", GATEWAY, "23", "1h", "shared = true"),
        ("burst", GATEWAY, "150", "5s", ""),
    ];
    let burst = Figures {
        peak: None,
        ..figures()
    };
    let data = [("send-otp.escola", figures()), ("burst", burst)];
    let printed = table(
        &report(&limits, &data, "2025-03-10T13:40:30Z"),
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
    assert_eq!(words("A "), "A Critical auth");
    assert_eq!(
        words("send-otp.escola"),
        "send-otp.escola 5 / 15m observe 4 (≥2 ≤5) 2025-03-10 09:03 escola-\\u{1b}[2J1 80.0 % near, partial 36893488147419103232 wait 0/28"
    );
    assert_eq!(
        words("quiet"),
        "quiet 23 / 1h observe 0 – all 0.0 % ok, partial 0 wait 0/28"
    );
    assert_eq!(
        words("burst"),
        "burst 150 / 5s observe ≥2 ≤5 – – – ok, partial 36893488147419103232 wait 0/28"
    );
}

#[test]
fn a_source_that_was_never_used_hides_nothing_and_left_out_hours_are_told() {
    let catalog = catalog(&[("both", r#"["gateway", "portal"]"#, "5", "15m", "")]);
    let (_, limit) = catalog.limits().find(|(_, limit)| limit.id == "both").unwrap();
    let noon = minute("2025-03-10T12:00:00Z").hour();
    let row = HourRow {
        hour: noon,
        figures: figures(),
    };
    let now = "2025-03-10T13:40:30Z";
    let detail = with_input(&catalog, &[("both", figures())], now, |input| {
        detail(input, limit, &[row])
    });
    // 12:00Z to 13:39Z has closed; portal never had a sample.
    let day = detail.days[0];
    assert_eq!(
        (detail.days.len(), day.minutes, day.covered, day.ignored),
        (1, 100, 90, true)
    );
    let hours: Vec<_> = (detail.hours.iter())
        .map(|hour| (hour.hour, hour.covered_minutes, hour.ignored, hour.partial))
        .collect();
    assert_eq!(
        hours,
        [
            (at("2025-03-10T12:00:00Z"), 60, false, false),
            (at("2025-03-10T13:00:00Z"), 30, true, true),
        ]
    );
    assert_eq!(detail.closed_before, at("2025-03-10T13:40:00Z"));
}

#[test]
fn what_is_unknown_would_have_refused_nobody_knows_what() {
    let catalog = catalog(&[
        ("unread", r#""portal""#, "5", "1d", ""),
        ("quiet", GATEWAY, "5", "1d", ""),
    ]);
    let requests = |id: &str| {
        let (_, limit) = catalog.limits().find(|(_, limit)| limit.id == id).unwrap();
        let tried = with_input(&catalog, &[], "2025-03-10T14:00:05Z", |input| {
            what_if(input, limit, 1)
        });
        (tried.requests, tried.exact)
    };
    assert_eq!(requests("unread"), (None, false));
    assert_eq!(requests("quiet"), (Some(0), true));
}
