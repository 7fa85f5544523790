//! What stands around every route: the log, a limit of time, a net for panics, and headers.

use std::{
    panic::AssertUnwindSafe,
    time::{Duration, Instant},
};

use axum::{
    extract::Request,
    http::{HeaderValue, header},
    middleware::Next,
    response::{IntoResponse, Response},
};
use futures_util::FutureExt as _;
use tracing::Instrument as _;

use super::problem::Problem;

/// No answer takes longer.
const LIMIT: Duration = Duration::from_secs(10);

pub(super) async fn edge(request: Request, next: Next) -> Response {
    let path = request.uri().path();
    let span = tracing::info_span!("http.request", method = %request.method(), path);
    // Asked every few seconds by machines.
    let routine = matches!(path, "/livez" | "/health" | "/metrics");
    answer(request, next, routine).instrument(span).await
}

async fn answer(request: Request, next: Next, routine: bool) -> Response {
    let start = Instant::now();
    let answer = tokio::time::timeout(LIMIT, next.run(request));
    let mut response = match AssertUnwindSafe(answer).catch_unwind().await {
        Ok(Ok(response)) => response,
        Ok(Err(_)) => Problem::Busy("the answer takes too long").into_response(),
        Err(_) => Problem::Internal.into_response(),
    };
    for (name, value) in [
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::CACHE_CONTROL, "no-store"),
        (header::REFERRER_POLICY, "no-referrer"),
        (
            header::CONTENT_SECURITY_POLICY,
            "default-src 'none'; frame-ancestors 'none'",
        ),
    ] {
        response
            .headers_mut()
            .entry(name)
            .or_insert(HeaderValue::from_static(value));
    }
    let (status, took_ms) = (response.status().as_u16(), start.elapsed().as_millis());
    if routine {
        tracing::debug!(status, took_ms, "answered");
    } else {
        tracing::info!(status, took_ms, "answered");
    }
    response
}
