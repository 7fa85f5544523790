//! `/v1/calibration`: the report.

use axum::{
    Json,
    extract::{RawQuery, State},
};

use super::{
    Site,
    asked::{self, PERIOD},
    problem::Problem,
    query::Query,
};
use crate::{catalog::Catalog, report::Report, worker::report};

pub(super) async fn calibration(
    State(site): State<Site>,
    RawQuery(query): RawQuery,
) -> Result<Json<Report>, Problem> {
    let query = Query::read(query.as_deref(), &[&["env", "group"], &PERIOD[..]].concat())?;
    let catalog = &site.folga.catalog;
    let environment = asked::environment(catalog, &query)?;
    let group = group(catalog, &query)?;
    let period = asked::period(&site, &query)?;
    let report = asked::work_out(&site, move |folga| async move {
        report::report(&folga, &environment, group.as_deref(), period).await
    });
    Ok(Json(report.await?))
}

fn group(catalog: &Catalog, query: &Query<'_>) -> Result<Option<String>, Problem> {
    let ids = || catalog.groups.iter().map(|group| &*group.id);
    match query.get("group") {
        Some(id) if ids().all(|known| known != id) => {
            let known = ids().collect::<Vec<_>>().join(", ");
            Err(Problem::NotFound(format!(
                "there is no group {id:?}: give one of {known}"
            )))
        }
        id => Ok(id.map(str::to_owned)),
    }
}
