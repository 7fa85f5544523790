//! Errors as a client sees them: `application/problem+json`. What only the operator may see is in the log.

use axum::{
    Json,
    http::{HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use tokio::task::JoinError;

use super::openapi::{PROBLEM, ProblemView};
use crate::{
    catalog::Refusal,
    store::{StoreError, explain},
};

/// Why a request is not answered as it was meant to be.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Problem {
    /// The request contradicts itself or names something wrongly.
    BadRequest(String),
    /// The token is missing or wrong.
    Unauthorised,
    /// What it asks for is not there.
    NotFound(String),
    /// The route takes no such method.
    MethodNotAllowed,
    /// What it accepts is not to be had.
    NotAcceptable(String),
    /// It may work later.
    Busy(&'static str),
    /// A fault of the service or of the database.
    Internal,
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let (status, detail) = match self {
            Self::BadRequest(detail) => (StatusCode::BAD_REQUEST, detail),
            Self::Unauthorised => (
                StatusCode::UNAUTHORIZED,
                "send the API token: Authorization: Bearer …".to_owned(),
            ),
            Self::NotFound(detail) => (StatusCode::NOT_FOUND, detail),
            Self::MethodNotAllowed => (
                StatusCode::METHOD_NOT_ALLOWED,
                "this route takes no such method: the Allow header names those it takes".to_owned(),
            ),
            Self::NotAcceptable(detail) => (StatusCode::NOT_ACCEPTABLE, detail),
            Self::Busy(detail) => (StatusCode::SERVICE_UNAVAILABLE, detail.to_owned()),
            Self::Internal => (
                StatusCode::INTERNAL_SERVER_ERROR,
                "something failed inside; the service's log says what".to_owned(),
            ),
        };
        let body = ProblemView {
            kind: "about:blank",
            title: status.canonical_reason().unwrap_or_default(),
            status: status.as_u16(),
            detail,
        };
        let mut response = (status, Json(body)).into_response();
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(PROBLEM));
        match status {
            StatusCode::UNAUTHORIZED => {
                headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
            }
            StatusCode::SERVICE_UNAVAILABLE => {
                headers.insert(header::RETRY_AFTER, HeaderValue::from_static("5"));
            }
            _ => {}
        }
        response
    }
}

impl From<Refusal> for Problem {
    fn from(refusal: Refusal) -> Self {
        Self::BadRequest(refusal.to_string())
    }
}

impl From<StoreError> for Problem {
    fn from(error: StoreError) -> Self {
        match &error {
            StoreError::PoolTimedOut => {
                Self::Busy("all connections to the database are in use, or it is down")
            }
            StoreError::Io(_) => Self::Busy("the database is not reachable"),
            other => {
                tracing::error!(error = explain(other), "a request failed");
                Self::Internal
            }
        }
    }
}

impl From<serde_json::Error> for Problem {
    fn from(error: serde_json::Error) -> Self {
        tracing::error!(%error, "an answer can't be written");
        Self::Internal
    }
}

/// A panic has told of itself in the log.
impl From<JoinError> for Problem {
    fn from(_: JoinError) -> Self {
        Self::Internal
    }
}
