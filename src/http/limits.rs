//! `/v1/limits`: the limits of an environment, and one of them closer up.

use axum::{
    extract::{Path, RawQuery, State, rejection::PathRejection},
    http::HeaderMap,
    response::Response,
};

use super::{
    Site,
    asked::{self, PERIOD, PeriodParams},
    kept::{self, Question},
    openapi::{PROBLEM, ProblemView},
    problem::Problem,
    query::Query,
};
use crate::{
    catalog::Limit,
    report::{Hours, Limits, Period, WhatIf},
    time::Hour,
    worker::{Folga, report},
};

const JSON: &str = "application/json";

/// How the limits of an environment stand now: by the last 24 hours and the running one.
#[utoipa::path(
    get,
    path = "/v1/limits",
    params(
        ("env" = String, Query, description = "The environment")
    ),
    responses(
        (status = 200, description = "The limits", body = Limits, headers(("ETag" = String, description = "Stands for exactly these bytes"))),
        (status = 304, description = "The client has this answer already (If-None-Match)"),
        (status = 400, description = "A parameter is wrong: the detail names the remedy", body = ProblemView, content_type = PROBLEM),
        (status = 404, description = "There is no such environment, group or limit", body = ProblemView, content_type = PROBLEM)
    )
)]
pub(super) async fn limits(
    State(site): State<Site>,
    headers: HeaderMap,
    RawQuery(query): RawQuery,
) -> Result<Response, Problem> {
    let query = Query::read(query.as_deref(), &["env"])?;
    let environment = asked::environment(&site.folga.catalog, &query)?;
    let hour = Hour::containing(site.folga.clock.now());
    let question = Question {
        what: format!("{:?}", ("limits", &environment)),
        environment: &environment.clone(),
        period: Period {
            from: hour,
            to: hour.next(),
        },
        content_type: JSON,
    };
    let make = move |folga: Folga| async move {
        let limits = report::limit_states(&folga, &environment).await?;
        Ok(serde_json::to_string(&limits)?)
    };
    kept::answer(&site, &headers, question, make).await
}

/// What is known of every hour of a limit.
#[utoipa::path(
    get,
    path = "/v1/limits/{id}/hours",
    params(
        ("id" = String, Path, description = "The limit"),
        ("env" = String, Query, description = "The environment"),
        PeriodParams,
    ),
    responses(
        (status = 200, description = "The hours", body = Hours, headers(("ETag" = String, description = "Stands for exactly these bytes"))),
        (status = 304, description = "The client has this answer already (If-None-Match)"),
        (status = 400, description = "A parameter is wrong: the detail names the remedy", body = ProblemView, content_type = PROBLEM),
        (status = 404, description = "There is no such environment, group or limit", body = ProblemView, content_type = PROBLEM)
    )
)]
pub(super) async fn hours(
    State(site): State<Site>,
    id: Result<Path<String>, PathRejection>,
    headers: HeaderMap,
    RawQuery(query): RawQuery,
) -> Result<Response, Problem> {
    let query = Query::read(query.as_deref(), &[&["env"], &PERIOD[..]].concat())?;
    let Asked {
        environment,
        limit,
        period,
    } = Asked::read(&site, id, &query)?;
    let question = Question {
        what: format!("{:?}", ("hours", &environment, &limit.id, period)),
        environment: &environment.clone(),
        period,
        content_type: JSON,
    };
    let make = move |folga: Folga| async move {
        let hours = report::limit_hours(&folga, &environment, &limit, period).await?;
        Ok(serde_json::to_string(&hours)?)
    };
    kept::answer(&site, &headers, question, make).await
}

/// What another value of a limit would have refused.
#[utoipa::path(
    get,
    path = "/v1/limits/{id}/whatif",
    params(
        ("id" = String, Path, description = "The limit"),
        ("env" = String, Query, description = "The environment"),
        ("limit" = u64, Query, minimum = 1, description = "The value to try"),
        PeriodParams,
    ),
    responses(
        (status = 200, description = "What it would have refused", body = WhatIf, headers(("ETag" = String, description = "Stands for exactly these bytes"))),
        (status = 304, description = "The client has this answer already (If-None-Match)"),
        (status = 400, description = "A parameter is wrong: the detail names the remedy", body = ProblemView, content_type = PROBLEM),
        (status = 404, description = "There is no such environment, group or limit", body = ProblemView, content_type = PROBLEM)
    )
)]
pub(super) async fn what_if(
    State(site): State<Site>,
    id: Result<Path<String>, PathRejection>,
    headers: HeaderMap,
    RawQuery(query): RawQuery,
) -> Result<Response, Problem> {
    let query = Query::read(query.as_deref(), &[&["env", "limit"], &PERIOD[..]].concat())?;
    let Asked {
        environment,
        limit,
        period,
    } = Asked::read(&site, id, &query)?;
    let value = value(&query)?;
    let question = Question {
        what: format!("{:?}", ("whatif", &environment, &limit.id, period, value)),
        environment: &environment.clone(),
        period,
        content_type: JSON,
    };
    let make = move |folga: Folga| async move {
        let what_if = report::limit_what_if(&folga, &environment, &limit, value, period).await?;
        Ok(serde_json::to_string(&what_if)?)
    };
    kept::answer(&site, &headers, question, make).await
}

/// What both routes of one limit ask for.
struct Asked {
    environment: String,
    limit: Limit,
    period: Period,
}

impl Asked {
    fn read(
        site: &Site,
        id: Result<Path<String>, PathRejection>,
        query: &Query<'_>,
    ) -> Result<Self, Problem> {
        let catalog = &site.folga.catalog;
        let environment = asked::environment(catalog, query)?;
        Ok(Self {
            limit: asked::limit(catalog, &environment, id)?.clone(),
            period: asked::period(site, query)?,
            environment,
        })
    }
}

fn value(query: &Query<'_>) -> Result<u64, Problem> {
    let most = u64::MAX;
    match query.get("limit").map(str::parse) {
        Some(Ok(value @ 1..)) => Ok(value),
        None => Err(Problem::BadRequest(
            "limit is missing: give the value to try".to_owned(),
        )),
        Some(_) => Err(Problem::BadRequest(format!(
            "limit is no value to try: give a whole number from 1 to {most}"
        ))),
    }
}
