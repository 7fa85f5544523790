//! What the service answers over HTTP.
//!
//! [`edge`] stands around every route, [`guard`] before those that show data; every error is a [`problem`].

mod alerts;
mod asked;
mod calibration;
mod edge;
mod format;
mod guard;
mod health;
mod kept;
mod limits;
mod metrics;
mod openapi;
mod pages;
mod problem;
mod pulse;
mod query;
mod runs;
mod session;
mod visit;

use std::sync::Arc;

use axum::{
    Json, Router,
    extract::DefaultBodyLimit,
    middleware,
    routing::{get, post},
};
use utoipa_axum::{router::OpenApiRouter, routes};

use self::{kept::Kept, problem::Problem, pulse::Pulses};
use crate::worker::{Folga, board::Board, post::Post};

/// What the routes work on.
#[derive(Clone)]
pub struct Site {
    folga: Folga,
    board: Arc<Board>,
    post: Arc<Post>,
    pulses: Arc<Pulses>,
    kept: Arc<Kept>,
}

impl Site {
    /// A site that shows how drains and deliveries go.
    #[must_use]
    pub fn new(folga: Folga, board: Arc<Board>, post: Arc<Post>) -> Self {
        Self {
            pulses: Arc::new(Pulses::new(&folga)),
            kept: Arc::default(),
            folga,
            board,
            post,
        }
    }
}

/// Whether the process is alive.
#[utoipa::path(
    get,
    path = "/livez",
    responses((status = 200, description = "It is", body = String, content_type = "text/plain; charset=utf-8"))
)]
async fn livez() -> &'static str {
    "alive\n"
}

/// All routes. Where a token is set, whatever shows data wants it; `/livez`, `/health` and `/openapi.json` answer
/// anybody. Routes for machines are added with their descriptions, which `/openapi.json` shows.
pub fn router(site: Site) -> Router {
    let (api, api_routes) = OpenApiRouter::new()
        .routes(routes!(calibration::calibration))
        .routes(routes!(limits::limits))
        .routes(routes!(limits::hours))
        .routes(routes!(limits::what_if))
        .routes(routes!(alerts::alerts))
        .routes(routes!(runs::runs))
        .routes(routes!(metrics::metrics))
        .split_for_parts();
    let guarded = api
        .route("/", get(pages::overview))
        .route("/limits/{id}", get(pages::limit))
        .route_layer(middleware::from_fn_with_state(site.clone(), guard::guard));
    let (open, open_routes) = OpenApiRouter::with_openapi(openapi::begin())
        .routes(routes!(livez))
        .routes(routes!(health::health))
        .split_for_parts();
    let described = open_routes.merge_from(openapi::guarded(api_routes));
    let described = Arc::new(openapi::finished(described));
    open.merge(guarded)
        .route("/assets/{name}", get(pages::asset))
        .route(
            "/sign-in",
            get(session::begin)
                .post(session::sign_in)
                .layer(DefaultBodyLimit::max(session::LONGEST)),
        )
        .route("/sign-out", post(session::sign_out))
        .route(
            "/openapi.json",
            get(move || async move { Json(Arc::clone(&described)) }),
        )
        .fallback(async || Problem::NotFound("there is no such route".to_owned()))
        .method_not_allowed_fallback(async || Problem::MethodNotAllowed)
        .layer(middleware::from_fn(edge::edge))
        .with_state(site)
}
