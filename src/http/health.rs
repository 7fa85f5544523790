//! `/health`: whether the service does its work.

use axum::{
    Json,
    extract::State,
    http::{HeaderMap, StatusCode},
    response::{IntoResponse, Response},
};
use chrono::{DateTime, Utc};
use serde::Serialize;
use utoipa::ToSchema;

use super::Site;
use crate::worker::board::{Board, Line, State as Standing};

#[derive(Serialize, ToSchema)]
pub(super) struct Health {
    status: Status,
    redis: Server,
    postgres: Server,
    /// For those who carry the token.
    #[serde(skip_serializing_if = "Option::is_none")]
    sources: Option<Vec<SourceHealth>>,
    /// For those who carry the token.
    #[serde(skip_serializing_if = "Option::is_none")]
    alerts: Option<AlertsHealth>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
#[schema(as = HealthStatus)]
enum Status {
    /// All is well.
    Ok,
    /// The work goes on, though something fails just now.
    Degraded,
    /// Postgres is down or a drain is overdue.
    Unhealthy,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
enum Server {
    Up,
    Down,
}

#[derive(Serialize, ToSchema)]
struct SourceHealth {
    name: String,
    env: String,
    last_success: Option<DateTime<Utc>>,
    next_run: Option<DateTime<Utc>>,
    /// Seconds since the last success.
    lag_seconds: Option<i64>,
    last_error: Option<String>,
    state: Standing,
    running_since: Option<DateTime<Utc>>,
    last_run: Option<DateTime<Utc>>,
    skipped_runs: u64,
}

#[derive(Serialize, ToSchema)]
struct AlertsHealth {
    /// Whether the catalog says where alerts go.
    configured: bool,
    /// Alerts that wait to be sent.
    waiting: u64,
    last_error: Option<String>,
    /// The notification server is not asked before.
    closed_until: Option<DateTime<Utc>>,
}

/// Whether the service does its work. Says less without the token.
///
/// 503 where Postgres is down or a drain is overdue, else 200.
#[utoipa::path(
    get,
    path = "/health",
    responses(
        (status = 200, description = "It does its work, though Redis may be down or alerts wait", body = Health),
        (status = 503, description = "Postgres is down or a drain is overdue", body = Health)
    )
)]
pub(super) async fn health(State(site): State<Site>, headers: HeaderMap) -> Response {
    let (redis, postgres) = site.pulses.are_up().await;
    let now = site.folga.clock.now();
    let drains: Vec<_> = site
        .board
        .lines
        .iter()
        .map(|line| site.board.state(line, now))
        .collect();
    let (configured, post) = (site.folga.catalog.ntfy.is_some(), site.post.standing());
    let status = judge(redis, postgres, &drains, configured && post.failures > 0);
    let code = if status == Status::Unhealthy {
        StatusCode::SERVICE_UNAVAILABLE
    } else {
        StatusCode::OK
    };
    let server = |is_up| if is_up { Server::Up } else { Server::Down };
    let is_admitted = site.admits(&headers);
    let sources = is_admitted.then(|| {
        let lines = site.board.lines.iter();
        lines
            .map(|line| SourceHealth::new(&site.board, line, now))
            .collect()
    });
    (
        code,
        Json(Health {
            status,
            redis: server(redis),
            postgres: server(postgres),
            sources,
            alerts: is_admitted.then(|| AlertsHealth {
                configured,
                waiting: post.waiting,
                last_error: post.last_error,
                closed_until: post.closed_until.filter(|until| *until > now),
            }),
        }),
    )
        .into_response()
}

fn judge(redis: bool, postgres: bool, states: &[Standing], alerts_fail: bool) -> Status {
    if !postgres || states.contains(&Standing::Overdue) {
        Status::Unhealthy
    } else if !redis || states.contains(&Standing::Failed) || alerts_fail {
        Status::Degraded
    } else {
        Status::Ok
    }
}

impl SourceHealth {
    fn new(board: &Board, line: &Line, now: DateTime<Utc>) -> Self {
        let standing = line.standing();
        Self {
            name: line.source.clone(),
            env: line.environment.clone(),
            last_success: standing.last_success,
            next_run: line.next_run(now),
            lag_seconds: standing.last_success.map(|success| (now - success).num_seconds()),
            last_error: standing.last_error,
            state: board.state(line, now),
            running_since: standing.running_since,
            last_run: standing.last_run.map(|(ended, _)| ended),
            skipped_runs: standing.totals.skipped,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn postgres_and_overdue_drains_are_what_counts() {
        for (redis, postgres, state, alerts_fail, status) in [
            (true, true, Standing::Ok, false, Status::Ok),
            (true, true, Standing::Waiting, false, Status::Ok),
            (false, true, Standing::Ok, false, Status::Degraded),
            (true, true, Standing::Failed, false, Status::Degraded),
            (true, true, Standing::Ok, true, Status::Degraded),
            (true, true, Standing::Overdue, true, Status::Unhealthy),
            (true, false, Standing::Ok, false, Status::Unhealthy),
        ] {
            assert_eq!(
                judge(redis, postgres, &[Standing::Ok, state], alerts_fail),
                status
            );
        }
    }
}
