//! `/v1/calibration`: the report.

use axum::{
    Json,
    extract::{RawQuery, State},
};
use tokio_util::sync::CancellationToken;

use super::{Site, problem::Problem, query::Query};
use crate::{
    catalog::Catalog,
    report::{Period, PeriodChoice, Report},
    worker::{apart::apart, report},
};

pub(super) async fn calibration(
    State(site): State<Site>,
    RawQuery(query): RawQuery,
) -> Result<Json<Report>, Problem> {
    let query = Query::read(query.as_deref(), &["env", "group", "days", "from", "to"])?;
    let catalog = &site.folga.catalog;
    let environment = environment(catalog, &query)?;
    let group = group(catalog, &query)?;
    let days = query.get("days").map(days).transpose()?;
    let (from, to) = (query.instant("from"), query.instant("to"));
    let choice = PeriodChoice {
        days,
        from: from.as_deref(),
        to: to.as_deref(),
    };
    let period = Period::choose(
        choice,
        site.folga.clock.now(),
        catalog.timezone,
        catalog.retention_days,
    )?;

    let given_up = CancellationToken::new();
    let _guard = given_up.clone().drop_guard();
    let folga = site.folga.clone();
    let work = move || async move { report::report(&folga, &environment, group.as_deref(), period).await };
    let report = apart(given_up, work).await?.ok_or(Problem::Internal)??;
    Ok(Json(report))
}

fn environment(catalog: &Catalog, query: &Query<'_>) -> Result<String, Problem> {
    let names = || catalog.environments.iter().map(|environment| &*environment.name);
    let known = || names().collect::<Vec<_>>().join(", ");
    match query.get("env") {
        None => Err(Problem::BadRequest(format!(
            "env is missing: give one of {}",
            known()
        ))),
        Some(name) if names().any(|known| known == name) => Ok(name.to_owned()),
        Some(name) => Err(Problem::NotFound(format!(
            "there is no environment {name:?}: give one of {}",
            known()
        ))),
    }
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

fn days(text: &str) -> Result<u32, Problem> {
    text.parse()
        .map_err(|_| Problem::BadRequest(format!("days is no whole number: {text:?}")))
}
