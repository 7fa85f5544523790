//! What the address of a page asks for, and the page in its place where it can't be had.

use std::borrow::Cow;

use axum::http::StatusCode;
use chrono::{Datelike as _, Days, NaiveDate};
use chrono_tz::Tz;

use super::{Site, asked, problem::Problem, query::Query};
use crate::{
    catalog::{Catalog, Limit, UNLIMITED},
    language::Language,
    page::{Address, Filter, Frame, ProblemPage, Words},
    report::{Period, PeriodChoice, first_hour},
};

/// A page that can't be shown, and why.
pub(super) enum Fault {
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
    /// Its status and its page.
    pub(super) fn page(self, frame: Frame) -> (StatusCode, ProblemPage) {
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
pub(super) struct Visit {
    pub(super) address: Address,
    pub(super) period: Period,
}

impl Visit {
    /// Reads what stands behind the `?`.
    pub(super) fn read(site: &Site, frame: &Frame, query: &Query<'_>) -> Result<Self, Fault> {
        let (catalog, words) = (&*site.folga.catalog, frame.words);
        let mut address = frame.address.clone();
        if let Some(name) = query.get("env") {
            address.environment = known(name, &frame.environments, words, "problem-environment")?;
        }
        if let Some(id) = query.get("group") {
            let ids: Vec<String> = (catalog.groups.iter().map(|group| &*group.id))
                .chain([UNLIMITED])
                .map(str::to_owned)
                .collect();
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
        address.days = query.get("days").map(asked::days).transpose()?;
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

    /// The frame of the page that is visited.
    pub(super) fn frame(self, frame: &Frame) -> Frame {
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
        .and_then(|day| day.checked_add_days(Days::new(more)))
        .filter(|day| day.year() <= 9999);
    day.map_or_else(
        || text.to_owned(),
        |day| first_hour(day, zone).start().to_rfc3339(),
    )
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

/// The limit whose page is visited.
pub(super) fn named_limit<'c>(
    catalog: &'c Catalog,
    address: &Address,
    words: Words,
) -> Result<&'c Limit, Fault> {
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
