//! Makes reports of what an environment holds, and looks at single limits closer up.

use super::{
    Folga,
    read::{Asked, Read},
};
use crate::{
    catalog::{Limit, UNLIMITED},
    report::{
        Detail, Hours, LimitView, Limits, Period, Report, WhatIf, build, detail, hours, states, what_if,
    },
    store::StoreError,
    time::Hour,
};

/// Makes the report of an environment, or of one group of it.
///
/// # Errors
/// The database failed.
pub async fn report(
    folga: &Folga,
    environment: &str,
    group: Option<&str>,
    period: Period,
) -> Result<Report, StoreError> {
    let asked = Asked {
        environment,
        period,
        group,
        limit: None,
        wants_unlimited: group.is_none_or(|group| group == UNLIMITED),
    };
    let read = Read::of(folga, &asked).await?;
    Ok(build(&read.input(folga, &asked)))
}

/// How the limits of an environment stand now: by the last 24 hours and the running one.
///
/// # Errors
/// The database failed.
pub async fn limit_states(folga: &Folga, environment: &str) -> Result<Limits, StoreError> {
    let to = Hour::containing(folga.clock.now()).next();
    let from = Hour::from_index(to.index() - 25);
    Ok(states(
        &report(folga, environment, None, Period { from, to }).await?,
    ))
}

/// Looks at one limit closer up, and at what a value would have refused that is chosen in view of it.
///
/// # Errors
/// The database failed.
pub async fn limit_page(
    folga: &Folga,
    environment: &str,
    limit: &Limit,
    period: Period,
    value: impl FnOnce(&LimitView) -> u64,
) -> Result<(Detail, WhatIf), StoreError> {
    let asked = Asked::one(environment, limit, period);
    let read = Read::of(folga, &asked).await?;
    let input = read.input(folga, &asked);
    let detail = detail(&input, limit, &read.rows);
    let what_if = what_if(&input, limit, value(&detail.limit));
    Ok((detail, what_if))
}

/// The hours of a limit.
///
/// # Errors
/// The database failed.
pub async fn limit_hours(
    folga: &Folga,
    environment: &str,
    limit: &Limit,
    period: Period,
) -> Result<Hours, StoreError> {
    let asked = Asked::one(environment, limit, period);
    let read = Read::of(folga, &asked).await?;
    Ok(hours(
        &read.input(folga, &asked),
        limit,
        &read.rows,
        &read.samples,
    ))
}

/// What another value of a limit would have refused.
///
/// # Errors
/// The database failed.
pub async fn limit_what_if(
    folga: &Folga,
    environment: &str,
    limit: &Limit,
    value: u64,
    period: Period,
) -> Result<WhatIf, StoreError> {
    let asked = Asked::one(environment, limit, period);
    let read = Read::of(folga, &asked).await?;
    Ok(what_if(&read.input(folga, &asked), limit, value))
}
