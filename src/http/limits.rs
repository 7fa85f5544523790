//! `/v1/limits`: the limits of an environment, and one of them closer up.

use axum::{
    Json,
    extract::{Path, RawQuery, State, rejection::PathRejection},
};

use super::{
    Site,
    asked::{self, PERIOD},
    problem::Problem,
    query::Query,
};
use crate::{
    catalog::Limit,
    report::{Hours, Limits, Period, WhatIf},
    worker::report,
};

/// How the limits of an environment stand now.
pub(super) async fn limits(
    State(site): State<Site>,
    RawQuery(query): RawQuery,
) -> Result<Json<Limits>, Problem> {
    let query = Query::read(query.as_deref(), &["env"])?;
    let environment = asked::environment(&site.folga.catalog, &query)?;
    let limits = asked::work_out(&site, move |folga| async move {
        report::limit_states(&folga, &environment).await
    });
    Ok(Json(limits.await?))
}

/// What is known of every hour of a limit.
pub(super) async fn hours(
    State(site): State<Site>,
    id: Result<Path<String>, PathRejection>,
    RawQuery(query): RawQuery,
) -> Result<Json<Hours>, Problem> {
    let query = Query::read(query.as_deref(), &[&["env"], &PERIOD[..]].concat())?;
    let Asked {
        environment,
        limit,
        period,
    } = Asked::read(&site, id, &query)?;
    let hours = asked::work_out(&site, move |folga| async move {
        report::limit_hours(&folga, &environment, &limit, period).await
    });
    Ok(Json(hours.await?))
}

/// What another value of a limit would have refused.
pub(super) async fn what_if(
    State(site): State<Site>,
    id: Result<Path<String>, PathRejection>,
    RawQuery(query): RawQuery,
) -> Result<Json<WhatIf>, Problem> {
    let query = Query::read(query.as_deref(), &[&["env", "limit"], &PERIOD[..]].concat())?;
    let Asked {
        environment,
        limit,
        period,
    } = Asked::read(&site, id, &query)?;
    let value = value(&query)?;
    let what_if = asked::work_out(&site, move |folga| async move {
        report::limit_what_if(&folga, &environment, &limit, value, period).await
    });
    Ok(Json(what_if.await?))
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
