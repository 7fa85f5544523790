//! The figures that README states of reports: 25 and 1,000 limits over 90 days, against fetching the rows alone.
//!
//! `make bench` runs it. It starts a private Postgres and puts 90 days of aggregates into it, as drains would have left
//! them: 14 busy hours a day, each with a histogram and five top identities.

use std::{
    collections::BTreeSet,
    fmt::Write as _,
    path::Path,
    sync::Arc,
    time::{Duration, Instant},
};

use anyhow::{Context as _, Result, ensure};
use chrono::{DateTime, Days, Utc};
use chrono_tz::Tz;
use folga::{
    app::{self, App},
    catalog::Catalog,
    clock::Clock,
    fold::{Figures, Histogram, HourRow, Peak, TopIdentity},
    report::Period,
    servers::Private,
    store::{coverage, daily, hourly, shapes},
    time::{Day, Hour, Minute, day_of, day_start},
    worker,
};
use sqlx::{Connection as _, PgConnection};

const ZONE: Tz = chrono_tz::America::Sao_Paulo;
const DAYS: u64 = 90;
const RUNS: usize = 5;

#[tokio::main]
async fn main() -> Result<()> {
    // `cargo test --benches` passes no --bench: nothing to test here.
    if !std::env::args().any(|argument| argument == "--bench") {
        return Ok(());
    }
    let servers = Arc::new(tokio::task::spawn_blocking(Private::start).await??);
    println!(
        "{} cores; the best of {RUNS}, all of one run\n",
        std::thread::available_parallelism()?
    );
    for limits in [25, 1000] {
        measure(&servers, limits).await?;
    }
    Ok(())
}

async fn measure(servers: &Private, limits: usize) -> Result<()> {
    let database = format!("reports{limits}");
    let mut admin = PgConnection::connect(&servers.postgres_url("postgres")).await?;
    sqlx::raw_sql(sqlx::AssertSqlSafe(format!("CREATE DATABASE {database}")))
        .execute(&mut admin)
        .await?;
    let url = servers.postgres_url(&database);
    let catalog = catalog(limits, &servers.redis_url(), &url)?;
    app::migrate(&catalog).await?;
    let now: DateTime<Utc> = "2025-06-10T12:00:00Z".parse()?;
    let app = App::open(catalog, Clock::new(Some(now))).await?;
    let today = day_of(now, ZONE);
    let first = today - Days::new(DAYS);
    fill(&app, first, today).await?;
    let mut connection = PgConnection::connect(&url).await?;
    sqlx::raw_sql("VACUUM ANALYZE").execute(&mut connection).await?;

    let hour = |day: Day| Hour::containing(day_start(day, ZONE));
    let period = Period {
        from: hour(first),
        to: hour(today),
    };
    let (mut report, mut fetch, mut bytes) = (Duration::MAX, Duration::MAX, 0);
    for _ in 0..RUNS {
        fetch = fetch.min(fetch_rows(&mut connection, first, today).await?);
        let began = Instant::now();
        let made = worker::report::report(&app.folga, "prod", None, period).await?;
        bytes = serde_json::to_vec(&made)?.len();
        report = report.min(began.elapsed());
        let shown: usize = made.groups.iter().map(|group| group.limits.len()).sum();
        ensure!(shown == limits, "the report shows {shown} of {limits} limits");
        let limit = &made.groups[0].limits[0];
        ensure!(
            limit.readiness.ready,
            "evidence is missing: {:?}",
            limit.readiness
        );
    }
    println!(
        "{limits:>5} limits x {DAYS} days: {:>4} ms with JSON of {} kB, {:.2} x fetching the rows ({} ms)",
        report.as_millis(),
        bytes / 1000,
        report.as_secs_f64() / fetch.as_secs_f64(),
        fetch.as_millis(),
    );
    app.close().await
}

fn catalog(limits: usize, redis: &str, postgres: &str) -> Result<Catalog> {
    let mut text = String::from(
        r#"timezone = "America/Sao_Paulo"
[[environment]]
name = "prod"
prefix = "olp:"
[scope.usuario_id]
[[source]]
name = "gateway"
kind = "hash"
key = "{env}m:{endpoint}:{minute}"
field = "{scope}:{identity}"
ttl = "2h"
schedule = "0 */5 * * * *"
find = "scan"
[[group]]
id = "A"
name = "All"
"#,
    );
    for limit in 0..limits {
        let window = ["1m", "5m", "15m", "1h"][limit % 4];
        writeln!(
            text,
            "[[group.limit]]\nid = \"l{limit}\"\nendpoints = [\"endpoint-{limit}\"]\nscope = \"usuario_id\"\n\
             limit = 100\nwindow = \"{window}\""
        )?;
    }
    let variable = |name: &str| match name {
        "FOLGA_REDIS_URL" => Some(redis.to_owned()),
        "FOLGA_DATABASE_URL" => Some(postgres.to_owned()),
        "FOLGA_IDENTITY_KEY" => Some("a key for the bench only".to_owned()),
        _ => None,
    };
    Ok(Catalog::parse(&text, Path::new("bench.toml"), &variable, true)?)
}

/// Aggregates of every local day: what is busy differs by limit, day and hour, and follows no distribution in particular.
async fn fill(app: &App, first: Day, today: Day) -> Result<()> {
    let mut tx = app.folga.store.begin_write("prod").await?;
    let from = Minute::containing(day_start(first, ZONE));
    let minutes: BTreeSet<Minute> = (0..DAYS.cast_signed() * 24 * 60).map(|n| from.plus(n)).collect();
    let none = BTreeSet::new();
    let seen = coverage::Seen {
        covered: &minutes,
        doubtful: &none,
        settled: &minutes,
    };
    coverage::add(&mut tx, "prod", "gateway", &seen).await?;
    coverage::note_write(&mut tx, "prod", "gateway", Some(from)).await?;
    for (number, shape) in (0_u64..).zip(shapes::of_environment(&mut tx, "prod").await?) {
        let mut rows = Vec::new();
        for day in 0..DAYS {
            for busy in 8..22 {
                let hour = from.plus((day * 24 + busy).cast_signed() * 60).hour();
                rows.push((shape.id, row(hour, number, day, busy)));
            }
        }
        hourly::put(&mut tx, &rows).await?;
        let days = (0..DAYS).map(|day| (shape.id, first + Days::new(day))).collect();
        daily::derive(&mut tx, &days, ZONE).await?;
    }
    ensure!(first + Days::new(DAYS) == today, "the days end yesterday");
    tx.commit().await.context("filling the database")
}

fn row(hour: Hour, limit: u64, day: u64, busy: u64) -> HourRow {
    let peak = 20 + (limit * 7 + day * 13 + busy * 31) % 40;
    let top = (0..5).map(|place| TopIdentity {
        identity: ((limit + day * 3 + place * 17) % 97).cast_signed(),
        peak: peak - place,
        at: hour.first_minute().plus(place.cast_signed()),
    });
    let top: Vec<TopIdentity> = top.collect();
    HourRow {
        hour,
        figures: Figures {
            peak: Some(Peak {
                value: peak,
                at: top[0].at,
                identity: Some(top[0].identity),
            }),
            lower: peak.div_ceil(2),
            upper: peak + 3,
            total: u128::from(peak * 50),
            identities: 60,
            histogram: Histogram::new((1..=peak).step_by(2).map(|value| (value, 1 + peak - value))),
            top,
        },
    }
}

/// The least that a report has to do: the same columns of the same rows, fetched and dropped.
#[expect(
    clippy::disallowed_methods,
    reason = "no pooler stands before a private server"
)]
async fn fetch_rows(connection: &mut PgConnection, first: Day, today: Day) -> Result<Duration> {
    let began = Instant::now();
    let days = sqlx::query(
        "SELECT shape_id, day, peak, lower, upper, peak_at, peak_id, total::text, identities, histogram_values,
             histogram_windows, histogram_rounded, top_ids, top_peaks, top_at, active_hours, by_hour
         FROM daily WHERE day >= $1 AND day < $2",
    )
    .bind(first)
    .bind(today)
    .fetch_all(&mut *connection)
    .await?;
    let hours = sqlx::query("SELECT hour, covered, doubtful, settled FROM coverage")
        .fetch_all(connection)
        .await?;
    ensure!(!days.is_empty() && !hours.is_empty(), "there are rows");
    Ok(began.elapsed())
}
