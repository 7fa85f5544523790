//! The figures that README states: what a large drain costs, as ratios of simpler programs on the same servers.
//!
//! `make bench` runs it. It starts private servers, fills Redis with one hour of samples in 1,200 hashes, and drives the
//! program as cron would.

use std::{
    fmt::Write as _,
    fs::{self, File},
    path::Path,
    process::Command,
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context as _, Result, ensure};
use folga::{catalog::variable, servers::Private};
use sqlx::{Connection as _, PgConnection};

const ENDPOINTS: usize = 20;
const MINUTES: usize = 60;
const AT: &str = "2025-03-10T13:00:30Z";

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<()> {
    // `cargo test --benches` passes no --bench: nothing to test here.
    if !std::env::args().any(|argument| argument == "--bench") {
        return Ok(());
    }
    let servers = tokio::task::spawn_blocking(Private::start).await??;
    let folder = servers.postgres.folder().join("bench");
    std::fs::create_dir(&folder)?;
    std::fs::write(folder.join("folga.toml"), catalog()?)?;
    println!(
        "{} cores; every figure of one line is from one run\n",
        std::thread::available_parallelism()?
    );

    let mut small = None;
    for samples in [100_000_u32, 1_000_000, 10_000_000] {
        let per_hash = samples as usize / (ENDPOINTS * MINUTES);
        fill(&servers, per_hash).await?;
        let database = format!("d{samples}");
        let drain = drain(&servers, &folder, &database).await?;
        let per_sample = drain.took.as_secs_f64() / f64::from(samples);
        let small = *small.get_or_insert(per_sample);
        println!(
            "{samples:>10} samples: {:>6.2} s in all (read {:.2}, write {:.2}, fold {:.2}), {} commands for {} keys, \
             peak memory {} MB, {:.2} x the time per sample of 100,000",
            drain.took.as_secs_f64(),
            drain.read,
            drain.join,
            drain.fold,
            drain.commands,
            ENDPOINTS * MINUTES,
            drain.peak_kb / 1024,
            per_sample / small,
        );
        if samples == 1_000_000 {
            compare(&servers, &database, &drain).await?;
        }
    }
    Ok(())
}

/// 25 limits: windows of 1, 5, 15 and 60 minutes, and one local day.
fn catalog() -> Result<String> {
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
find = { index = "{env}midx:{minute}" }
[[group]]
id = "A"
name = "All"
"#,
    );
    for limit in 0..25 {
        let window = if limit == 24 {
            "1d"
        } else {
            ["1m", "5m", "15m", "1h"][limit % 4]
        };
        let endpoint = limit % ENDPOINTS;
        writeln!(
            text,
            "[[group.limit]]\nid = \"l{limit}\"\nendpoints = [\"endpoint-{endpoint}\"]\nscope = \"usuario_id\"\n\
             limit = 100\nwindow = \"{window}\""
        )?;
    }
    Ok(text)
}

fn key(endpoint: usize, minute: usize) -> String {
    format!("olp:m:endpoint-{endpoint}:2025031012{minute:02}")
}

/// One hour of samples: every hash has its own stretch of 100,000 identities, so most come back in other minutes.
async fn fill(servers: &Private, per_hash: usize) -> Result<()> {
    let client = redis::Client::open(servers.redis_url())?;
    let mut redis = client.get_multiplexed_async_connection().await?;
    redis.set_response_timeout(Duration::from_mins(1));
    redis::cmd("FLUSHALL").exec_async(&mut redis).await?;
    for minute in 0..MINUTES {
        for endpoint in 0..ENDPOINTS {
            let key = key(endpoint, minute);
            let start = (minute * 7_919 + endpoint * 104_729) % 100_000;
            let fields: Vec<(String, usize)> = (0..per_hash)
                .map(|n| {
                    (
                        format!("usuario_id:{}", (start + n * 7) % 100_003),
                        1 + (n * 31 + minute) % 19,
                    )
                })
                .collect();
            let index = format!("olp:midx:2025031012{minute:02}");
            redis::pipe()
                .cmd("HSET")
                .arg(&key)
                .arg(fields)
                .ignore()
                .cmd("SADD")
                .arg(index)
                .arg(&key)
                .ignore()
                .exec_async(&mut redis)
                .await?;
        }
    }
    Ok(())
}

struct Drain {
    took: Duration,
    read: f64,
    join: f64,
    fold: f64,
    commands: u64,
    peak_kb: u64,
}

async fn database(servers: &Private, name: &str) -> Result<PgConnection> {
    let mut admin = PgConnection::connect(&servers.postgres_url("postgres")).await?;
    sqlx::raw_sql(sqlx::AssertSqlSafe(format!("CREATE DATABASE {name}")))
        .execute(&mut admin)
        .await?;
    Ok(PgConnection::connect(&servers.postgres_url(name)).await?)
}

async fn drain(servers: &Private, folder: &Path, name: &str) -> Result<Drain> {
    database(servers, name).await?.close().await?;
    let run = |arguments: &[&str], output: &str| -> Result<(String, String, u64)> {
        let file = |name: &str| File::create(folder.join(format!("{output}.{name}")));
        let mut child = Command::new(env!("CARGO_BIN_EXE_folga"))
            .args(arguments)
            .env("FOLGA_CONFIG", folder.join("folga.toml"))
            .env("FOLGA_REDIS_URL", servers.redis_url())
            .env("FOLGA_DATABASE_URL", servers.postgres_url(name))
            .env("FOLGA_IDENTITY_KEY", "a key for the bench only")
            .env("RUST_LOG", "folga=debug")
            .stdout(file("out")?)
            .stderr(file("err")?)
            .spawn()?;
        let mut peak_kb = 0;
        let status = loop {
            // The largest memory so far, which only the living process tells.
            if let Ok(status) = fs::read_to_string(format!("/proc/{}/status", child.id())) {
                peak_kb = number(&status, "VmHWM:\t").unwrap_or(peak_kb).max(peak_kb);
            }
            if let Some(status) = child.try_wait()? {
                break status;
            }
            thread::sleep(Duration::from_millis(5));
        };
        let text = |name: &str| fs::read_to_string(folder.join(format!("{output}.{name}")));
        let (out, err) = (text("out")?, text("err")?);
        ensure!(status.success(), "{arguments:?} failed: {err}{out}");
        Ok((out, err, peak_kb))
    };
    run(&["migrate"], "migrate")?;
    let began = Instant::now();
    let (printed, logs, peak_kb) = run(&["--log-format", "json", "drain", "--at", AT], "drain")?;
    let took = began.elapsed();
    let seconds =
        |before: &str| Ok::<_, anyhow::Error>(Duration::from_millis(number(&logs, before)?).as_secs_f64());
    Ok(Drain {
        took,
        read: seconds("\"read_ms\":")?,
        join: seconds("\"join_ms\":")?,
        fold: seconds("\"fold_ms\":")?,
        commands: number(&printed, "minutes covered, ")?,
        peak_kb,
    })
}

/// The number that follows a text.
fn number(text: &str, before: &str) -> Result<u64> {
    let (_, rest) = text
        .split_once(before)
        .with_context(|| format!("no {before} in {text}"))?;
    let digits: String = rest
        .trim_start()
        .chars()
        .take_while(char::is_ascii_digit)
        .collect();
    Ok(digits.parse()?)
}

/// Against the least that reading and writing the same data takes, and against a row per sample.
async fn compare(servers: &Private, drained: &str, drain: &Drain) -> Result<()> {
    let read = discard(servers).await?;
    let copy = copy(servers, drained).await?;
    let floor = (read + copy).as_secs_f64();
    println!(
        "           read + write: {:.2} x pipelined HGETALL of the same keys, discarded ({:.2} s), and COPY of the \
         same rows ({:.2} s)",
        (drain.read + drain.join) / floor,
        read.as_secs_f64(),
        copy.as_secs_f64(),
    );
    database(servers, "rows").await?.close().await?;
    let began = Instant::now();
    let python = variable("BENCH_PYTHON").context("BENCH_PYTHON: run `make bench`")?;
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/benches/upsert_rows.py");
    let status = Command::new(python)
        .args([script, &servers.redis_url(), &servers.postgres_url("rows")])
        .status()?;
    ensure!(status.success(), "the script failed");
    let took = began.elapsed();
    println!(
        "           in all: {:.1} x as fast as a Python script with a row per sample ({:.1} s)",
        took.as_secs_f64() / drain.took.as_secs_f64(),
        took.as_secs_f64(),
    );
    Ok(())
}

async fn discard(servers: &Private) -> Result<Duration> {
    let client = redis::Client::open(servers.redis_url())?;
    let mut redis = client.get_multiplexed_async_connection().await?;
    redis.set_response_timeout(Duration::from_mins(1));
    let began = Instant::now();
    let keys: Vec<_> = (0..MINUTES)
        .flat_map(|minute| (0..ENDPOINTS).map(move |endpoint| key(endpoint, minute)))
        .collect();
    for keys in keys.chunks(60) {
        let mut pipe = redis::pipe();
        for key in keys {
            pipe.hgetall(key);
        }
        let replies: Vec<redis::Value> = pipe.query_async(&mut redis).await?;
        ensure!(replies.len() == keys.len(), "a reply is missing");
    }
    Ok(began.elapsed())
}

/// Series, minute in microseconds, stem, size, ids, counts.
type Row = (i32, i64, i64, i32, Vec<i64>, Vec<i64>);

/// The rows of the minute store, copied in binary into a table of the same layout.
async fn copy(servers: &Private, drained: &str) -> Result<Duration> {
    let mut connection = PgConnection::connect(&servers.postgres_url(drained)).await?;
    let rows: Vec<Row> = sqlx::query_as(
        "SELECT series_id, (extract(epoch FROM minute) * 1000000)::bigint, stem, size, ids, counts FROM minute_counts",
    )
    .fetch_all(&mut connection)
    .await?;
    sqlx::raw_sql("CREATE TABLE copied (LIKE minute_counts INCLUDING ALL)")
        .execute(&mut connection)
        .await?;
    let began = Instant::now();
    let mut copy = connection
        .copy_in_raw("COPY copied FROM STDIN (FORMAT binary)")
        .await?;
    let mut buffer = b"PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0".to_vec();
    for (series, minute, stem, size, ids, counts) in &rows {
        // Microseconds since 2000.
        let minute = minute - 946_684_800_000_000;
        buffer.extend(7_i16.to_be_bytes());
        field(&mut buffer, &series.to_be_bytes());
        field(&mut buffer, &minute.to_be_bytes());
        field(&mut buffer, &stem.to_be_bytes());
        field(&mut buffer, &size.to_be_bytes());
        field(&mut buffer, &[0]);
        array(&mut buffer, ids);
        array(&mut buffer, counts);
        if buffer.len() > 1 << 20 {
            copy.send(std::mem::take(&mut buffer)).await?;
        }
    }
    buffer.extend((-1_i16).to_be_bytes());
    copy.send(buffer).await?;
    copy.finish().await?;
    Ok(began.elapsed())
}

fn field(buffer: &mut Vec<u8>, bytes: &[u8]) {
    buffer.extend(i32::try_from(bytes.len()).expect("short").to_be_bytes());
    buffer.extend_from_slice(bytes);
}

/// A one-dimensional array of bigint without nulls, as Postgres sends it.
fn array(buffer: &mut Vec<u8>, values: &[i64]) {
    const BIGINT: i32 = 20;
    let length = i32::try_from(values.len()).expect("short");
    buffer.extend((20 + 12 * length).to_be_bytes());
    for header in [1, 0, BIGINT, length, 1] {
        buffer.extend(header.to_be_bytes());
    }
    for value in values {
        field(buffer, &value.to_be_bytes());
    }
}
