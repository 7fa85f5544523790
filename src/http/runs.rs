//! `/v1/runs`: what the last drains did.

use axum::{
    Json,
    extract::{RawQuery, State},
};
use serde::Serialize;

use super::{Site, problem::Problem, query::Query};
use crate::store::runs::{self, Run};

/// Runs that are shown.
const MOST: i64 = 100;

#[derive(Serialize)]
pub(super) struct Runs {
    runs: Vec<Run>,
}

pub(super) async fn runs(State(site): State<Site>, RawQuery(query): RawQuery) -> Result<Json<Runs>, Problem> {
    Query::read(query.as_deref(), &[])?;
    let mut tx = site.folga.store.begin().await?;
    let runs = runs::recent(&mut tx, MOST).await?;
    tx.rollback().await?;
    Ok(Json(Runs { runs }))
}
