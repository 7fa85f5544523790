//! `/v1/runs`: what the last drains did.

use axum::{
    Json,
    extract::{RawQuery, State},
};
use serde::Serialize;
use utoipa::ToSchema;

use super::{
    Site,
    openapi::{PROBLEM, ProblemView},
    problem::Problem,
    query::Query,
};
use crate::store::runs::{self, Run};

/// Runs that are shown.
const MOST: i64 = 100;

#[derive(Serialize, ToSchema)]
pub(super) struct Runs {
    runs: Vec<Run>,
}

/// What the last hundred drains did.
#[utoipa::path(
    get,
    path = "/v1/runs",
    responses(
        (status = 200, description = "The drains, the newest first", body = Runs),
        (status = 400, description = "A parameter is wrong: the detail names the remedy", body = ProblemView, content_type = PROBLEM)
    )
)]
pub(super) async fn runs(State(site): State<Site>, RawQuery(query): RawQuery) -> Result<Json<Runs>, Problem> {
    Query::read(query.as_deref(), &[])?;
    let mut tx = site.folga.store.begin().await?;
    let runs = runs::recent(&mut tx, MOST).await?;
    tx.rollback().await?;
    Ok(Json(Runs { runs }))
}
