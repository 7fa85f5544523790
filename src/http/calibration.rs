//! `/v1/calibration`: the report.

use axum::{
    extract::{RawQuery, State},
    http::HeaderMap,
    response::Response,
};

use super::{
    Site,
    asked::{self, PERIOD, PeriodParams},
    format::Format,
    kept::{self, Question},
    openapi::{PROBLEM, ProblemView},
    problem::Problem,
    query::Query,
};
use crate::{
    catalog::{Catalog, UNLIMITED},
    report::{Report, csv, markdown},
    worker::{Folga, report},
};

/// What was measured against the limits of an environment, and what to do with them.
///
/// `format` outranks `Accept`.
#[utoipa::path(
    get,
    path = "/v1/calibration",
    params(
        ("env" = String, Query, description = "The environment"),
        ("group" = Option<String>, Query, description = "One group of limits; `unlimited` are endpoints without a limit"),
        ("format" = inline(Option<Format>), Query, description = "The form of the report"),
        PeriodParams,
    ),
    responses(
        (status = 200, description = "The report", content(
            (Report = "application/json"),
            (String = "text/csv"),
            (String = "text/markdown"),
        ), headers(("ETag" = String, description = "Stands for exactly these bytes"))),
        (status = 304, description = "The client has this answer already (If-None-Match)"),
        (status = 400, description = "A parameter is wrong: the detail names the remedy", body = ProblemView, content_type = PROBLEM),
        (status = 404, description = "There is no such environment, group or limit", body = ProblemView, content_type = PROBLEM),
        (status = 406, description = "Nothing that is accepted can be served", body = ProblemView, content_type = PROBLEM)
    )
)]
pub(super) async fn calibration(
    State(site): State<Site>,
    headers: HeaderMap,
    RawQuery(query): RawQuery,
) -> Result<Response, Problem> {
    let known = [&["env", "group", "format"], &PERIOD[..]].concat();
    let query = Query::read(query.as_deref(), &known)?;
    let catalog = &site.folga.catalog;
    let environment = asked::environment(catalog, &query)?;
    let group = group(catalog, &query)?;
    let period = asked::period(&site, &query)?;
    let format = Format::wanted(&query, &headers)?;
    let question = Question {
        what: format!("{:?}", ("calibration", &environment, &group, period, format)),
        environment: &environment.clone(),
        period,
        content_type: format.content_type(),
    };
    let zone = catalog.timezone;
    let make = move |folga: Folga| async move {
        let report = report::report(&folga, &environment, group.as_deref(), period).await?;
        Ok(match format {
            Format::Json => serde_json::to_string(&report)?,
            Format::Csv => csv(&report),
            Format::Markdown => markdown(&report, zone),
        })
    };
    kept::answer(&site, &headers, question, make).await
}

fn group(catalog: &Catalog, query: &Query<'_>) -> Result<Option<String>, Problem> {
    let ids = || (catalog.groups.iter().map(|group| &*group.id)).chain([UNLIMITED]);
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
