//! `/metrics`: board and post in OpenMetrics text.

use std::sync::atomic::AtomicU64;

use axum::{
    extract::State,
    http::header,
    response::{IntoResponse, Response},
};
use chrono::{DateTime, Utc};
use prometheus_client::{
    encoding::text::encode,
    metrics::{counter::Counter, family::Family, gauge::Gauge, info::Info},
    registry::{Registry, Unit},
};

use super::{Site, problem::Problem};
use crate::{
    catalog::Tariff,
    report::Bill,
    worker::{
        board::{Board, Totals},
        post::Post,
    },
};

const CONTENT_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

type Labels = Vec<(&'static str, String)>;

/// The work of the drains, and what became of alerts, in OpenMetrics text.
#[utoipa::path(
    get,
    path = "/metrics",
    responses((status = 200, description = "The metrics", body = String, content_type = CONTENT_TYPE))
)]
pub(super) async fn metrics(State(site): State<Site>) -> Result<Response, Problem> {
    let mut text = String::new();
    encode(
        &mut text,
        &registry(
            &site.board,
            &site.post,
            site.folga.catalog.redis.tariff,
            site.folga.clock.now(),
        ),
    )
    .map_err(|_| Problem::Internal)?;
    Ok(([(header::CONTENT_TYPE, CONTENT_TYPE)], text).into_response())
}

/// What board and post say now. They count, so a registry lives for one answer.
fn registry(board: &Board, post: &Post, tariff: Option<Tariff>, now: DateTime<Utc>) -> Registry {
    let mut registry = Registry::with_prefix("folga");
    registry.register(
        "build",
        "The program",
        Info::new(vec![("version", env!("CARGO_PKG_VERSION"))]),
    );
    runs(&mut registry, board);
    counters(&mut registry, board);
    gauges(&mut registry, board, now);
    alerts(&mut registry, post);
    bill(&mut registry, &Bill::new(&board.spent(now), tariff));
    registry
}

fn labels(source: &str, environment: &str) -> Labels {
    vec![
        ("source", source.to_owned()),
        ("environment", environment.to_owned()),
    ]
}

fn runs(registry: &mut Registry, board: &Board) {
    let runs = Family::<Labels, Counter>::default();
    for line in &board.lines {
        let totals = line.standing().totals;
        for (outcome, count) in [
            ("done", totals.done),
            ("partial", totals.partial),
            ("failed", totals.failed),
        ] {
            let mut labels = labels(&line.source, &line.environment);
            labels.push(("outcome", outcome.to_owned()));
            runs.get_or_create(&labels).inc_by(count);
        }
    }
    registry.register("runs", "Drains that have ended", runs);
}

fn counters(registry: &mut Registry, board: &Board) {
    type Count = fn(&Totals) -> u64;
    let counts: [(&str, &str, Option<Unit>, Count); 7] = [
        (
            "skipped_runs",
            "Drains left out because the last one was still running",
            None,
            |totals| totals.skipped,
        ),
        ("keys", "Redis keys read", None, |totals| totals.keys),
        ("samples", "Samples read", None, |totals| totals.samples),
        ("rejects", "Keys and fields refused", None, |totals| {
            totals.rejects
        }),
        ("minutes_covered", "Minutes covered", None, |totals| {
            totals.minutes_covered
        }),
        ("redis_commands", "Commands sent to Redis", None, |totals| {
            totals.commands
        }),
        (
            "redis_received",
            "Received from Redis",
            Some(Unit::Bytes),
            |totals| totals.bytes,
        ),
    ];
    for (name, help, unit, count) in counts {
        let family = Family::<Labels, Counter>::default();
        for line in &board.lines {
            let labels = labels(&line.source, &line.environment);
            family
                .get_or_create(&labels)
                .inc_by(count(&line.standing().totals));
        }
        match unit {
            Some(unit) => registry.register_with_unit(name, help, unit, family),
            None => registry.register(name, help, family),
        }
    }
}

fn gauges(registry: &mut Registry, board: &Board, now: DateTime<Utc>) {
    let success = Family::<Labels, Gauge>::default();
    let lag = Family::<Labels, Gauge>::default();
    let skew = Family::<Labels, Gauge>::default();
    let running = Family::<Labels, Gauge<u64, AtomicU64>>::default();
    for line in &board.lines {
        let (labels, standing) = (labels(&line.source, &line.environment), line.standing());
        if let Some(instant) = standing.last_success {
            success.get_or_create(&labels).set(instant.timestamp());
            lag.get_or_create(&labels).set((now - instant).num_seconds());
        }
        skew.get_or_create(&labels).set(standing.ahead_seconds);
        running
            .get_or_create(&labels)
            .set(standing.running_since.is_some().into());
    }
    registry.register_with_unit(
        "last_success_timestamp",
        "When a drain last succeeded",
        Unit::Seconds,
        success,
    );
    registry.register_with_unit("lag", "Since a drain last succeeded", Unit::Seconds, lag);
    let help = "How far a producer's clock ran ahead of this one, as the last drain saw it";
    registry.register_with_unit("clock_skew", help, Unit::Seconds, skew);
    registry.register("running", "Whether a drain is running", running);
}

/// What drains cost a day, once one has been seen, and a month where the catalog names a tariff.
fn bill(registry: &mut Registry, bill: &Bill) {
    let per_day = Family::<Labels, Gauge<u64, AtomicU64>>::default();
    for line in &bill.lines {
        if let Some(commands) = line.per_day {
            let labels = labels(&line.source, &line.environment);
            per_day.get_or_create(&labels).set(commands);
        }
    }
    let help = "Commands that drains send to Redis a day, as measured since the start";
    registry.register("redis_commands_per_day", help, per_day);
    if let Some(price) = bill.monthly {
        let monthly = Gauge::<f64, AtomicU64>::default();
        monthly.set(price);
        let help = "What the commands of drains cost a month by the catalog's tariff";
        registry.register("redis_monthly_price", help, monthly);
    }
}

fn alerts(registry: &mut Registry, post: &Post) {
    let waiting = Gauge::<u64, AtomicU64>::default();
    waiting.set(post.standing().waiting);
    registry.register("alerts_waiting", "Alerts that wait to be sent", waiting);
    let counts = post.counts();
    for (name, help, count) in [
        (
            "alert_messages",
            "Messages that the notification server took",
            counts.sent,
        ),
        (
            "alert_failures",
            "Attempts to send a message that failed",
            counts.failed,
        ),
    ] {
        let counter = Counter::<u64>::default();
        counter.inc_by(count);
        registry.register(name, help, counter);
    }
}
