//! The record of what each drain did.

use std::fmt;

use chrono::{DateTime, SecondsFormat, TimeDelta, Utc};
use serde::Serialize;
use utoipa::ToSchema;

use super::{StoreError, Tx};

/// How a drain ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum RunOutcome {
    /// All of it.
    Done,
    /// Something was refused, or a gap was found that can no longer be filled.
    Partial,
    /// It could not be finished.
    Failed,
}

impl RunOutcome {
    const fn text(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Partial => "partial",
            Self::Failed => "failed",
        }
    }

    fn parse(text: &str) -> Self {
        match text {
            "done" => Self::Done,
            "partial" => Self::Partial,
            _ => Self::Failed,
        }
    }
}

/// Something that was refused.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct RunReject {
    /// The Redis key, unprintable bytes escaped and what looks personal masked.
    pub key: String,
    /// Why.
    pub reason: String,
    /// How many cells of the key.
    pub count: i64,
}

/// Minutes nobody can vouch for: from the first instant up to, not including, the second.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct RunGap {
    /// Start of the first minute.
    pub from: DateTime<Utc>,
    /// End of the last minute.
    pub to: DateTime<Utc>,
}

/// One drain of one source in one environment.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct Run {
    /// Its number; 0 before it is kept.
    pub id: i64,
    /// The source.
    pub source: String,
    /// The environment.
    pub environment: String,
    /// When it began.
    pub started_at: DateTime<Utc>,
    /// When it ended.
    pub finished_at: DateTime<Utc>,
    /// How it ended.
    pub outcome: RunOutcome,
    /// Redis keys read.
    pub keys: i64,
    /// Samples read.
    pub samples: i64,
    /// Minutes that can be vouched for since this run.
    pub minutes_covered: i64,
    /// Redis commands sent, handshake apart.
    pub commands: i64,
    /// Bytes received from Redis.
    pub bytes: i64,
    /// What was refused.
    pub rejects: Vec<RunReject>,
    /// Gaps found that can no longer be filled, and minutes of which counts were lost.
    pub gaps: Vec<RunGap>,
    /// Why it failed.
    pub error: Option<String>,
}

/// In words: a line, and one more for everything that was refused, is missing or failed.
impl fmt::Display for Run {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} {}: {} keys, {} samples, {} minutes covered, {} commands, {} bytes",
            self.environment,
            self.source,
            self.keys,
            self.samples,
            self.minutes_covered,
            self.commands,
            self.bytes
        )?;
        for RunReject { key, reason, count } in &self.rejects {
            write!(f, "\n  refused {key}: {reason} ({count})")?;
        }
        for RunGap { from, to } in &self.gaps {
            let text = |instant: &DateTime<Utc>| instant.to_rfc3339_opts(SecondsFormat::Secs, true);
            write!(f, "\n  not covered: {} to {}", text(from), text(to))?;
        }
        self.error
            .as_ref()
            .map_or(Ok(()), |error| write!(f, "\n  failed: {error}"))
    }
}

/// Keeps a run.
///
/// # Errors
/// The database failed.
pub async fn keep(tx: &mut Tx, run: &Run) -> Result<i64, StoreError> {
    let keys: Vec<_> = run.rejects.iter().map(|reject| reject.key.clone()).collect();
    let reasons: Vec<_> = run.rejects.iter().map(|reject| reject.reason.clone()).collect();
    let counts: Vec<_> = run.rejects.iter().map(|reject| reject.count).collect();
    let gaps_from: Vec<_> = run.gaps.iter().map(|gap| gap.from).collect();
    let gaps_to: Vec<_> = run.gaps.iter().map(|gap| gap.to).collect();
    sqlx::query_scalar!(
        "INSERT INTO runs (environment, source, started_at, finished_at, outcome, keys, samples, minutes_covered,
             commands, bytes, reject_keys, reject_reasons, reject_counts, gaps_from, gaps_to, error)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16)
         RETURNING id",
        run.environment,
        run.source,
        run.started_at,
        run.finished_at,
        run.outcome.text(),
        run.keys,
        run.samples,
        run.minutes_covered,
        run.commands,
        run.bytes,
        &keys,
        &reasons,
        &counts,
        &gaps_from,
        &gaps_to,
        run.error
    )
    .fetch_one(&mut *tx)
    .await
}

/// The most recent runs, the newest first.
///
/// # Errors
/// The database failed.
pub async fn recent(tx: &mut Tx, most: i64) -> Result<Vec<Run>, StoreError> {
    let rows = sqlx::query!(
        "SELECT * FROM runs ORDER BY started_at DESC, id DESC LIMIT $1",
        most
    )
    .fetch_all(&mut *tx)
    .await?;
    Ok(rows
        .into_iter()
        .map(|row| Run {
            id: row.id,
            source: row.source,
            environment: row.environment,
            started_at: row.started_at,
            finished_at: row.finished_at,
            outcome: RunOutcome::parse(&row.outcome),
            keys: row.keys,
            samples: row.samples,
            minutes_covered: row.minutes_covered,
            commands: row.commands,
            bytes: row.bytes,
            rejects: (row
                .reject_keys
                .into_iter()
                .zip(row.reject_reasons)
                .zip(row.reject_counts))
            .map(|((key, reason), count)| RunReject { key, reason, count })
            .collect(),
            gaps: (row.gaps_from.into_iter().zip(row.gaps_to))
                .map(|(from, to)| RunGap { from, to })
                .collect(),
            error: row.error,
        })
        .collect())
}

/// When a source of an environment was last drained without failing.
///
/// # Errors
/// The database failed.
pub async fn last_successes(tx: &mut Tx) -> Result<Vec<(String, String, DateTime<Utc>)>, StoreError> {
    let rows = sqlx::query!(
        r#"SELECT environment, source, max(finished_at) AS "finished_at!" FROM runs
           WHERE outcome <> 'failed' GROUP BY environment, source"#
    )
    .fetch_all(&mut *tx)
    .await?;
    Ok(rows
        .into_iter()
        .map(|row| (row.environment, row.source, row.finished_at))
        .collect())
}

/// What the drains of one source in one environment have cost in a time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spent {
    /// The environment.
    pub environment: String,
    /// The source.
    pub source: String,
    /// Drains.
    pub runs: u64,
    /// Commands that they sent.
    pub commands: u64,
    /// Over how long; 0 where they have not gone on for so long yet.
    pub over: TimeDelta,
}

/// What the drains of sources, each an environment and a source, that began between two instants have cost.
///
/// # Errors
/// The database failed.
pub async fn spent(
    tx: &mut Tx,
    lines: &[(String, String)],
    from: DateTime<Utc>,
    to: DateTime<Utc>,
) -> Result<Vec<Spent>, StoreError> {
    let (environments, sources): (Vec<_>, Vec<_>) = lines.iter().cloned().unzip();
    let rows = sqlx::query!(
        r#"SELECT line.environment AS "environment!", line.source AS "source!", count(runs.id) AS "runs!",
               coalesce(sum(runs.commands), 0)::bigint AS "commands!",
               EXISTS (
                   SELECT FROM runs AS earlier
                   WHERE earlier.environment = line.environment AND earlier.source = line.source
                     AND earlier.finished_at < $3
               ) AS "has_earlier!"
           FROM unnest($1::text[], $2::text[]) AS line (environment, source)
           LEFT JOIN runs ON runs.environment = line.environment AND runs.source = line.source
               AND runs.started_at >= $3 AND runs.started_at <= $4
           GROUP BY line.environment, line.source"#,
        &environments,
        &sources,
        from,
        to
    )
    .fetch_all(&mut *tx)
    .await?;
    Ok(rows
        .into_iter()
        .map(|row| Spent {
            environment: row.environment,
            source: row.source,
            runs: row.runs.max(0).cast_unsigned(),
            commands: row.commands.max(0).cast_unsigned(),
            over: if row.has_earlier {
                to - from
            } else {
                TimeDelta::zero()
            },
        })
        .collect())
}

/// Commands that drains have sent to Redis since an instant.
///
/// # Errors
/// The database failed.
pub async fn commands_since(tx: &mut Tx, since: DateTime<Utc>) -> Result<u64, StoreError> {
    let sum = sqlx::query_scalar!(
        r#"SELECT coalesce(sum(commands), 0)::bigint AS "sum!" FROM runs WHERE started_at >= $1"#,
        since
    )
    .fetch_one(&mut *tx)
    .await?;
    Ok(sum.max(0).cast_unsigned())
}
