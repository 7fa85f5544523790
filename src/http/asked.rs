//! What a request about limits asks for.

use std::future::Future;

use axum::extract::{Path, rejection::PathRejection};
use chrono::{DateTime, Utc};
use tokio_util::sync::CancellationToken;
use utoipa::IntoParams;

use super::{Site, problem::Problem, query::Query};
use crate::{
    catalog::{Catalog, Limit},
    report::{Period, PeriodChoice},
    worker::{Folga, apart::apart},
};

/// The parameters that choose a period.
pub(super) const PERIOD: [&str; 3] = ["days", "from", "to"];

/// Describes them: days, or from and to.
#[derive(IntoParams)]
#[into_params(parameter_in = Query)]
#[expect(dead_code, reason = "a description: parameters are read by name")]
pub(super) struct PeriodParams {
    /// The last so many full local days; 30 where nothing is said.
    #[param(minimum = 1)]
    days: Option<u32>,
    /// The first instant, rounded down to its hour. Wants `to`.
    from: Option<DateTime<Utc>>,
    /// The first instant after it, rounded likewise. Wants `from`.
    to: Option<DateTime<Utc>>,
}

/// The environment that is asked for.
pub(super) fn environment(catalog: &Catalog, query: &Query<'_>) -> Result<String, Problem> {
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

/// The environment that is asked for; none where all of them are.
pub(super) fn any_environment(catalog: &Catalog, query: &Query<'_>) -> Result<Option<String>, Problem> {
    query.get("env").map(|_| environment(catalog, query)).transpose()
}

/// The period that is asked for.
pub(super) fn period(site: &Site, query: &Query<'_>) -> Result<Period, Problem> {
    let catalog = &site.folga.catalog;
    let (from, to) = (query.instant("from"), query.instant("to"));
    let choice = PeriodChoice {
        days: query.get("days").map(days).transpose()?,
        from: from.as_deref(),
        to: to.as_deref(),
    };
    let now = site.folga.clock.now();
    Ok(Period::choose(
        choice,
        now,
        catalog.timezone,
        catalog.retention_days,
    )?)
}

pub(super) fn days(text: &str) -> Result<u32, Problem> {
    text.parse()
        .map_err(|_| Problem::BadRequest(format!("days is no whole number: {text:?}")))
}

/// The limit that a path names.
pub(super) fn limit<'c>(
    catalog: &'c Catalog,
    environment: &str,
    id: Result<Path<String>, PathRejection>,
) -> Result<&'c Limit, Problem> {
    let Ok(Path(id)) = id else {
        return Err(Problem::BadRequest("the limit's id is not UTF-8".to_owned()));
    };
    let limits = || catalog.limits().map(|(_, limit)| limit);
    limits()
        .find(|limit| limit.id == id && limit.exists_in(environment))
        .ok_or_else(|| {
            let elsewhere = limits().any(|limit| limit.id == id);
            let place = if elsewhere { environment } else { "the catalog" };
            Problem::NotFound(format!(
                "{place} has no limit {id:?}: /v1/limits?env={environment} lists those of {environment}"
            ))
        })
}

/// Works something out on a thread of its own, for as long as somebody waits for it.
pub(super) async fn work_out<T, F>(
    site: &Site,
    work: impl FnOnce(Folga) -> F + Send + 'static,
) -> Result<T, Problem>
where
    T: Send + 'static,
    F: Future<Output = Result<T, Problem>>,
{
    let given_up = CancellationToken::new();
    let _guard = given_up.clone().drop_guard();
    let folga = site.folga.clone();
    apart(given_up, move || work(folga))
        .await?
        .ok_or(Problem::Internal)?
}
