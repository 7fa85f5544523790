//! The pages, and the files they need.

use std::{borrow::Cow, time::Duration};

use axum::{
    extract::{Path, RawQuery, State},
    http::{HeaderMap, StatusCode, Uri, header},
    response::{Html, IntoResponse, Response},
};
use axum_extra::extract::{
    CookieJar,
    cookie::{Cookie, SameSite},
};
use chrono::{Days, NaiveDate};
use chrono_tz::Tz;
use tokio_util::sync::CancellationToken;
use url::form_urlencoded;

use super::{Site, problem::Problem, query::Query};
use crate::{
    catalog::{Catalog, Limit},
    language::Language,
    page::{self, Address, Filter, Frame, LimitPage, Overview, ProblemPage, SignInPage, Tried, Words},
    report::{Period, PeriodChoice},
    store::StoreError,
    time::day_start,
    worker::{apart::apart, report},
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
    Path(id): Path<String>,
    headers: HeaderMap,
    RawQuery(query): RawQuery,
) -> Response {
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
    let asked = Asked::read(site, frame, &Query::read(query, &known)?)?;
    let (folga, environment, group) = (
        site.folga.clone(),
        asked.address.environment.clone(),
        asked.address.group.clone(),
    );
    let period = asked.period;
    let report =
        work(move || async move { report::report(&folga, &environment, group.as_deref(), period).await })
            .await?;
    Ok(Overview::new(asked.frame(frame), &report).html())
}

async fn show_limit(site: &Site, frame: &Frame, query: Option<&str>) -> Result<String, Fault> {
    let known = ["env", "days", "from", "to", "group", "status", "lang", "limit"];
    let query = Query::read(query, &known)?;
    let asked = Asked::read(site, frame, &query)?;
    let limit = named_limit(&site.folga.catalog, &asked.address, frame.words)?.clone();
    let tried = query
        .get("limit")
        .map(|text| text.parse::<u64>().ok().filter(|value| *value > 0));
    let (folga, environment, period) = (
        site.folga.clone(),
        asked.address.environment.clone(),
        asked.period,
    );
    let (detail, tried) = work(move || async move {
        let detail = report::limit_detail(&folga, &environment, &limit, period).await?;
        let value = tried.flatten().unwrap_or_else(|| Tried::first(&detail.limit));
        let what_if = report::limit_what_if(&folga, &environment, &limit, value, period).await?;
        Ok((
            detail,
            Tried {
                what_if,
                wrong: tried == Some(None),
            },
        ))
    })
    .await?;
    let percent = site.folga.catalog.alert_percent;
    let asked_period = (period.from.start(), period.to.start());
    Ok(LimitPage::new(asked.frame(frame), &detail, &tried, asked_period, percent).html())
}

/// Reads from the database on a thread of its own, until whoever asked has gone.
async fn work<T, F>(read: impl FnOnce() -> F + Send + 'static) -> Result<T, Fault>
where
    T: Send + 'static,
    F: Future<Output = Result<T, StoreError>>,
{
    let given_up = CancellationToken::new();
    let _guard = given_up.clone().drop_guard();
    let done = apart(given_up, read).await.map_err(Problem::from)?;
    Ok(done.ok_or(Problem::Internal)?.map_err(Problem::from)?)
}

/// A page that can't be shown, and why.
enum Fault {
    /// The address names what is not there; title and detail are in the page's language.
    Page(StatusCode, &'static str, String),
    /// As the API has it.
    Api(Problem),
}

impl From<Problem> for Fault {
    fn from(problem: Problem) -> Self {
        Self::Api(problem)
    }
}

impl Fault {
    fn page(self, frame: Frame) -> (StatusCode, ProblemPage) {
        let own = |status, title: &'static str, detail: &str| {
            let detail = frame.words.language.text(detail);
            (status, title, detail, false)
        };
        let (status, title, detail, of_api) = match self {
            Self::Page(status, title, detail) => (status, title, detail, false),
            Self::Api(Problem::BadRequest(detail)) => {
                (StatusCode::BAD_REQUEST, "problem-address", detail, true)
            }
            Self::Api(Problem::NotFound(detail)) => (StatusCode::NOT_FOUND, "problem-address", detail, true),
            Self::Api(Problem::Busy(_)) => own(
                StatusCode::SERVICE_UNAVAILABLE,
                "problem-busy",
                "problem-busy-detail",
            ),
            Self::Api(_) => own(
                StatusCode::INTERNAL_SERVER_ERROR,
                "problem-internal",
                "problem-internal-detail",
            ),
        };
        let page = if of_api {
            ProblemPage::of_api
        } else {
            ProblemPage::new
        };
        (status, page(frame, title, &detail))
    }
}

/// What an address asks for.
struct Asked {
    address: Address,
    period: Period,
}

impl Asked {
    fn read(site: &Site, frame: &Frame, query: &Query<'_>) -> Result<Self, Fault> {
        let (catalog, words) = (&*site.folga.catalog, frame.words);
        let mut address = frame.address.clone();
        if let Some(name) = query.get("env") {
            address.environment = known(name, &frame.environments, words, "problem-environment")?;
        }
        if let Some(id) = query.get("group") {
            let ids: Vec<String> = catalog.groups.iter().map(|group| group.id.clone()).collect();
            address.group = Some(known(id, &ids, words, "problem-group")?);
        }
        if let Some(word) = query.get("status") {
            let wrong = || {
                one_of(
                    word,
                    &Filter::ALL.map(Filter::word),
                    words,
                    "problem-status-detail",
                )
            };
            address.filter = Some(Filter::of_word(word).ok_or_else(wrong)?);
        }
        if let Some(tag) = query.get("lang") {
            let wrong = || {
                one_of(
                    tag,
                    &Language::ALL.map(Language::tag),
                    words,
                    "problem-language-detail",
                )
            };
            address.language = Some(Language::of_tag(tag).ok_or_else(wrong)?);
        }
        address.days = query.get("days").map(days).transpose()?;
        address.from = query.instant("from").map(Cow::into_owned);
        address.to = query.instant("to").map(Cow::into_owned);
        let [from, to] = [(&address.from, 0), (&address.to, 1)]
            .map(|(text, more)| text.as_ref().map(|text| whole_day(text, more, catalog.timezone)));
        let choice = PeriodChoice {
            days: address.days,
            from: from.as_deref(),
            to: to.as_deref(),
        };
        let now = site.folga.clock.now();
        let period =
            Period::choose(choice, now, catalog.timezone, catalog.retention_days).map_err(Problem::from)?;
        Ok(Self { address, period })
    }

    fn frame(self, frame: &Frame) -> Frame {
        Frame {
            address: self.address,
            ..frame.clone()
        }
    }
}

/// A day is written as a date: its start, or where `more` days are added the start of a later one. Anything else is an
/// instant.
fn whole_day(text: &str, more: u64, zone: Tz) -> String {
    let day = NaiveDate::parse_from_str(text, "%Y-%m-%d").ok();
    let day = day
        .filter(|_| text.len() == 10)
        .and_then(|day| day.checked_add_days(Days::new(more)));
    day.map_or_else(|| text.to_owned(), |day| day_start(day, zone).to_rfc3339())
}

fn days(text: &str) -> Result<u32, Problem> {
    text.parse()
        .map_err(|_| Problem::BadRequest(format!("days is no whole number: {text:?}")))
}

/// A name, where it is one of those there are.
fn known(name: &str, names: &[String], words: Words, title: &'static str) -> Result<String, Fault> {
    if names.iter().any(|known| known == name) {
        return Ok(name.to_owned());
    }
    let detail = words.language.text_with(
        &format!("{title}-detail"),
        &[("name", name.to_owned()), ("known", names.join(", "))],
    );
    Err(Fault::Page(StatusCode::NOT_FOUND, title, detail))
}

fn one_of(name: &str, names: &[&str], words: Words, detail: &str) -> Fault {
    let put_in = [("name", name.to_owned()), ("known", names.join(", "))];
    let detail = words.language.text_with(detail, &put_in);
    Fault::Page(StatusCode::BAD_REQUEST, "problem-address", detail)
}

fn named_limit<'c>(catalog: &'c Catalog, address: &Address, words: Words) -> Result<&'c Limit, Fault> {
    let (environment, id) = (&address.environment, address.limit.as_deref().unwrap_or_default());
    let mut limits = catalog.limits().map(|(_, limit)| limit);
    limits
        .find(|limit| limit.id == id && limit.exists_in(environment))
        .ok_or_else(|| {
            let put_in = [("name", id.to_owned()), ("environment", environment.clone())];
            let detail = words.language.text_with("problem-limit-detail", &put_in);
            Fault::Page(StatusCode::NOT_FOUND, "problem-limit", detail)
        })
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
