//! The pages, and the files they need.

use std::time::Duration;

use axum::{
    extract::{Path, RawQuery, State, rejection::PathRejection},
    http::{HeaderMap, StatusCode, Uri, header},
    response::{Html, IntoResponse, Response},
};
use axum_extra::extract::{
    CookieJar,
    cookie::{Cookie, SameSite},
};
use url::form_urlencoded;

use super::{
    Site, asked,
    problem::Problem,
    query::Query,
    visit::{Fault, Visit, named_limit},
};
use crate::{
    language::Language,
    page::{self, Address, Frame, LimitPage, Overview, SignInPage, Tried, Words},
    report::LimitView,
    worker::{Folga, alerts, bill, report},
};

/// Everything from here and nothing inside of the page: no script, no style.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src data:; connect-src 'self'; \
                      form-action 'self'; base-uri 'none'; frame-ancestors 'none'";
/// An address names the hash of what it leads to.
const FOR_GOOD: &str = "public, max-age=31536000, immutable";

/// The cookie that a chosen language is kept in, and for how long.
const COOKIE: &str = "lang";
const LIFE: Duration = Duration::from_hours(365 * 24);

/// `/`: every limit of an environment.
pub(super) async fn overview(
    State(site): State<Site>,
    headers: HeaderMap,
    RawQuery(query): RawQuery,
) -> Response {
    let (frame, chosen) = frame(&site, &headers, query.as_deref(), None);
    let shown = show_overview(&site, &frame, query.as_deref()).await;
    answer(shown, frame, chosen)
}

/// `/limits/{id}`: one limit closer up.
pub(super) async fn limit(
    State(site): State<Site>,
    id: Result<Path<String>, PathRejection>,
    headers: HeaderMap,
    RawQuery(query): RawQuery,
) -> Response {
    // An id that is no text is none of the catalog's.
    let id = id.map_or_else(|_| "\u{fffd}".to_owned(), |Path(id)| id);
    let (frame, chosen) = frame(&site, &headers, query.as_deref(), Some(id));
    let shown = show_limit(&site, &frame, query.as_deref()).await;
    answer(shown, frame, chosen)
}

/// Where a browser shows the token, on its way to an address.
pub(super) fn sign_in(site: &Site, headers: &HeaderMap, next: &str, is_wrong: bool) -> Response {
    let query = next.split_once('?').map(|(_, query)| query);
    let (language, _) = language(headers, query);
    let words = Words {
        language,
        zone: site.folga.catalog.timezone,
    };
    let page = SignInPage::new(words, next.to_owned(), is_wrong).html();
    let policy = [(header::CONTENT_SECURITY_POLICY, POLICY)];
    (StatusCode::UNAUTHORIZED, policy, Html(page)).into_response()
}

/// `/assets/{name}`.
pub(super) async fn asset(uri: Uri) -> Response {
    page::asset(uri.path()).map_or_else(
        || {
            Problem::NotFound("there is no such file; the pages name those there are".to_owned())
                .into_response()
        },
        |asset| {
            let headers = [
                (header::CONTENT_TYPE, asset.content_type),
                (header::CACHE_CONTROL, FOR_GOOD),
            ];
            (headers, asset.body).into_response()
        },
    )
}

async fn show_overview(site: &Site, frame: &Frame, query: Option<&str>) -> Result<String, Fault> {
    let known = ["env", "days", "from", "to", "group", "status", "lang"];
    let visit = Visit::read(site, frame, &Query::read(query, &known)?)?;
    let (environment, group) = (visit.address.environment.clone(), visit.address.group.clone());
    let period = visit.period;
    let read = move |folga: Folga| async move {
        let alerts = alerts::read(&folga, Some(&environment)).await?;
        let report = report::report(&folga, &environment, group.as_deref(), period).await?;
        let bill = bill::read(&folga).await?;
        Ok((report, alerts, bill))
    };
    let (report, alerts, bill) = asked::work_out(site, read).await?;
    Ok(Overview::new(visit.frame(frame), &report, &alerts, &bill).html())
}

async fn show_limit(site: &Site, frame: &Frame, query: Option<&str>) -> Result<String, Fault> {
    let known = ["env", "days", "from", "to", "group", "status", "lang", "limit"];
    let query = Query::read(query, &known)?;
    let visit = Visit::read(site, frame, &query)?;
    let limit = named_limit(&site.folga.catalog, &visit.address, frame.words)?.clone();
    let tried = query
        .get("limit")
        .map(|text| text.parse::<u64>().ok().filter(|value| *value > 0));
    let (environment, period) = (visit.address.environment.clone(), visit.period);
    let read = move |folga: Folga| async move {
        let value = |limit: &LimitView| tried.flatten().unwrap_or_else(|| Tried::first(limit));
        let alerts = alerts::read(&folga, Some(&environment)).await?;
        let (detail, what_if) = report::limit_page(&folga, &environment, &limit, period, value).await?;
        Ok((detail, what_if, alerts))
    };
    let (detail, what_if, alerts) = asked::work_out(site, read).await?;
    let tried = Tried {
        what_if,
        wrong: tried == Some(None),
    };
    let percent = site.folga.catalog.alert_percent;
    let asked_period = (period.from.start(), period.to.start());
    let page = LimitPage::new(
        visit.frame(frame),
        &detail,
        &tried,
        asked_period,
        percent,
        &alerts,
    );
    Ok(page.html())
}

/// The frame of a page in the language that its reader chose: in the address, which is given back, or before, or as the
/// browser is set.
fn frame(
    site: &Site,
    headers: &HeaderMap,
    query: Option<&str>,
    limit: Option<String>,
) -> (Frame, Option<Language>) {
    let catalog = &site.folga.catalog;
    let (language, chosen) = language(headers, query);
    let environments: Vec<String> = catalog
        .environments
        .iter()
        .map(|known| known.name.clone())
        .collect();
    let frame = Frame {
        words: Words {
            language,
            zone: catalog.timezone,
        },
        address: Address {
            limit,
            environment: environments.first().cloned().unwrap_or_default(),
            ..Address::default()
        },
        environments,
        most_days: catalog.retention_days,
        signed_in: catalog.http.api_token.is_some(),
    };
    (frame, chosen)
}

/// The language of a page, and whether it was chosen in its address.
pub(super) fn language(headers: &HeaderMap, query: Option<&str>) -> (Language, Option<Language>) {
    let mut pairs = form_urlencoded::parse(query.unwrap_or_default().as_bytes());
    let chosen = pairs
        .find(|(name, _)| name == "lang")
        .and_then(|(_, tag)| Language::of_tag(&tag));
    let kept = || Language::of_tag(CookieJar::from_headers(headers).get(COOKIE)?.value());
    let accepted = headers
        .get(header::ACCEPT_LANGUAGE)
        .and_then(|value| value.to_str().ok());
    let language = chosen
        .or_else(kept)
        .unwrap_or_else(|| Language::negotiate(accepted.unwrap_or_default()));
    (language, chosen)
}

fn answer(shown: Result<String, Fault>, frame: Frame, chosen: Option<Language>) -> Response {
    let (status, html) = match shown {
        Ok(html) => (StatusCode::OK, html),
        Err(fault) => {
            let (status, page) = fault.page(frame);
            (status, page.html())
        }
    };
    let jar = chosen.map_or_else(CookieJar::new, |language| {
        let cookie = Cookie::build((COOKIE, language.tag()))
            .path("/")
            .http_only(true)
            .same_site(SameSite::Lax)
            .max_age(LIFE.try_into().unwrap_or_default());
        CookieJar::new().add(cookie)
    });
    (
        status,
        jar,
        [(header::CONTENT_SECURITY_POLICY, POLICY)],
        Html(html),
    )
        .into_response()
}
