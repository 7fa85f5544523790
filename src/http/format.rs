//! Which form of the report somebody wants.

use std::str::FromStr as _;

use axum::http::{HeaderMap, header};
use headers_accept::Accept;
use mediatype::{
    MediaType,
    names::{APPLICATION, CSV, JSON, MARKDOWN, TEXT},
};

use super::{problem::Problem, query::Query};

/// A form of the report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, utoipa::ToSchema)]
#[schema(rename_all = "lowercase")]
pub(super) enum Format {
    Json,
    Csv,
    #[schema(rename = "md")]
    Markdown,
}

impl Format {
    /// What is served first comes first.
    const ALL: [Self; 3] = [Self::Json, Self::Csv, Self::Markdown];

    /// What `format` names, else what `Accept` prefers.
    pub(super) fn wanted(query: &Query<'_>, headers: &HeaderMap) -> Result<Self, Problem> {
        match query.get("format") {
            Some(name) => Self::ALL
                .into_iter()
                .find(|format| format.name() == name)
                .ok_or_else(|| {
                    let names = Self::ALL.map(Self::name).join(", ");
                    Problem::BadRequest(format!("there is no format {name:?}: give one of {names}"))
                }),
            None => Self::negotiated(headers).ok_or_else(|| {
                let types = Self::ALL.map(Self::content_type).join("; or ");
                Problem::NotAcceptable(format!("accept one of: {types}"))
            }),
        }
    }

    /// What `Accept` prefers; JSON where it is missing or can't be read.
    fn negotiated(headers: &HeaderMap) -> Option<Self> {
        let lines = headers.get_all(header::ACCEPT).iter();
        let lines: Vec<_> = lines.filter_map(|line| line.to_str().ok()).collect();
        let accept = Accept::from_str(&lines.join(","));
        let Some(accept) = accept.ok().filter(|accept| accept.media_types().next().is_some()) else {
            return Some(Self::Json);
        };
        let served = Self::ALL.map(Self::media_type);
        let found = accept.negotiate(&served)?;
        Self::ALL.into_iter().find(|format| format.media_type() == *found)
    }

    const fn name(self) -> &'static str {
        match self {
            Self::Json => "json",
            Self::Csv => "csv",
            Self::Markdown => "md",
        }
    }

    const fn media_type(self) -> MediaType<'static> {
        match self {
            Self::Json => MediaType::new(APPLICATION, JSON),
            Self::Csv => MediaType::new(TEXT, CSV),
            Self::Markdown => MediaType::new(TEXT, MARKDOWN),
        }
    }

    /// The `Content-Type` of an answer.
    pub(super) const fn content_type(self) -> &'static str {
        match self {
            Self::Json => "application/json",
            Self::Csv => "text/csv; charset=utf-8; header=present",
            Self::Markdown => "text/markdown; charset=utf-8",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wanted(raw: &str, accept: &[&'static str]) -> Result<Format, Problem> {
        let mut headers = HeaderMap::new();
        for line in accept {
            headers.append(header::ACCEPT, line.parse().unwrap());
        }
        Format::wanted(&Query::read(Some(raw), &["format"]).unwrap(), &headers)
    }

    #[test]
    fn the_most_wanted_form_is_served() {
        for (accept, format) in [
            (&[][..], Format::Json),
            (&[""], Format::Json),
            (&["*/*"], Format::Json),
            (&["text/*"], Format::Csv),
            (&["text/markdown;q=0.5, text/csv;q=0.4"], Format::Markdown),
            (&["text/csv;q=0.4", "text/markdown;q=0.5"], Format::Markdown),
            (&["text/csv;q=0, */*;q=0.1"], Format::Json),
            (&["application/json;q=0, text/*"], Format::Csv),
            (&["TEXT/CSV"], Format::Csv),
            (&["no media type"], Format::Json),
        ] {
            assert_eq!(wanted("", accept), Ok(format), "{accept:?}");
        }
        for nothing in ["image/png", "application/json;q=0", "*/*;q=0"] {
            assert!(
                matches!(wanted("", &[nothing]), Err(Problem::NotAcceptable(_))),
                "{nothing}"
            );
        }
    }

    #[test]
    fn a_format_that_is_named_outranks_what_is_accepted() {
        assert_eq!(wanted("format=md", &["application/json"]), Ok(Format::Markdown));
        assert_eq!(wanted("format=csv", &["image/png"]), Ok(Format::Csv));
        assert_eq!(
            wanted("format=pdf", &[]),
            Err(Problem::BadRequest(
                "there is no format \"pdf\": give one of json, csv, md".to_owned()
            ))
        );
    }
}
