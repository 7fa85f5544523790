//! `/v1/alerts`: what is alerted and what was told.

use axum::{
    Json,
    extract::{RawQuery, State},
};

use super::{
    Site, asked,
    openapi::{PROBLEM, ProblemView},
    problem::Problem,
    query::Query,
};
use crate::{report::Alerts, worker};

/// What is alerted now, which limits are silenced, how deliveries go, and the last fifty alerts.
#[utoipa::path(
    get,
    path = "/v1/alerts",
    params(
        ("env" = Option<String>, Query, description = "One environment, and what concerns all of them; everything where absent")
    ),
    responses(
        (status = 200, description = "How alerts stand", body = Alerts),
        (status = 400, description = "A parameter is wrong: the detail names the remedy", body = ProblemView, content_type = PROBLEM),
        (status = 404, description = "There is no such environment", body = ProblemView, content_type = PROBLEM)
    )
)]
pub(super) async fn alerts(
    State(site): State<Site>,
    RawQuery(query): RawQuery,
) -> Result<Json<Alerts>, Problem> {
    let query = Query::read(query.as_deref(), &["env"])?;
    let environment = asked::any_environment(&site.folga.catalog, &query)?;
    Ok(Json(
        worker::alerts::read(&site.folga, environment.as_deref()).await?,
    ))
}
