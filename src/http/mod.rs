//! What the service answers over HTTP.
//!
//! [`edge`] stands around every route, [`guard`] before those that show data; every error is a [`problem`].

mod asked;
mod calibration;
mod edge;
mod guard;
mod health;
mod limits;
mod metrics;
mod pages;
mod problem;
mod pulse;
mod query;
mod runs;
mod session;

use std::sync::Arc;

use axum::{
    Router, middleware,
    routing::{get, post},
};

use self::{problem::Problem, pulse::Pulses};
use crate::worker::{Folga, board::Board};

/// What the routes work on.
#[derive(Clone)]
pub struct Site {
    folga: Folga,
    board: Arc<Board>,
    pulses: Arc<Pulses>,
}

impl Site {
    /// A site that shows a board.
    #[must_use]
    pub fn new(folga: Folga, board: Arc<Board>) -> Self {
        Self {
            pulses: Arc::new(Pulses::new(&folga)),
            folga,
            board,
        }
    }
}

/// All routes. Where a token is set, whatever shows data wants it; `/livez` and `/health` answer anybody.
pub fn router(site: Site) -> Router {
    let guarded = Router::new()
        .route("/", get(pages::overview))
        .route("/limits/{id}", get(pages::limit))
        .route("/v1/calibration", get(calibration::calibration))
        .route("/v1/limits", get(limits::limits))
        .route("/v1/limits/{id}/hours", get(limits::hours))
        .route("/v1/limits/{id}/whatif", get(limits::what_if))
        .route("/v1/runs", get(runs::runs))
        .route("/metrics", get(metrics::metrics))
        .route_layer(middleware::from_fn_with_state(site.clone(), guard::guard));
    Router::new()
        .route("/livez", get("alive\n"))
        .route("/health", get(health::health))
        .route("/sign-in", post(session::sign_in))
        .route("/sign-out", post(session::sign_out))
        .route("/assets/{name}", get(pages::asset))
        .merge(guarded)
        .fallback(async || Problem::NotFound("there is no such route".to_owned()))
        .method_not_allowed_fallback(async || Problem::MethodNotAllowed)
        .layer(middleware::from_fn(edge::edge))
        .with_state(site)
}
