//! The API token.

use axum::{
    extract::{Request, State},
    http::{HeaderMap, header},
    middleware::Next,
    response::{IntoResponse as _, Response},
};
use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;

use super::{Site, problem::Problem, session};
use crate::catalog::Secret;

/// Lets nobody pass who lacks the token. A browser that asks for a page is shown where to sign in.
pub(super) async fn guard(State(site): State<Site>, request: Request, next: Next) -> Response {
    if site.admits(request.headers()) {
        next.run(request).await
    } else if wants_page(&request) {
        session::sign_in_page(&site, &request)
    } else {
        Problem::Unauthorised.into_response()
    }
}

/// Whether somebody looks at it: a page, asked for by a browser.
fn wants_page(request: &Request) -> bool {
    let accept = request.headers().get(header::ACCEPT);
    !request.uri().path().starts_with("/v1/")
        && accept.is_some_and(|accept| accept.as_bytes().windows(9).any(|word| word == b"text/html"))
}

impl Site {
    /// Whether a request carries the token or is signed in; without a token there is nothing to carry.
    pub(super) fn admits(&self, headers: &HeaderMap) -> bool {
        let http = &self.folga.catalog.http;
        (http.api_token.as_ref()).is_none_or(|token| {
            carries(headers, token) || session::is_signed_in(headers, token, self.folga.clock.now())
        })
    }
}

/// Hashes are compared, so that the time taken tells nothing of the token, its length included.
fn carries(headers: &HeaderMap, token: &Secret) -> bool {
    let Some(value) = headers.get(header::AUTHORIZATION) else {
        return false;
    };
    let value = value.as_bytes();
    let Some((scheme, given)) = value
        .iter()
        .position(|byte| *byte == b' ')
        .map(|at| value.split_at(at))
    else {
        return false;
    };
    scheme.eq_ignore_ascii_case(b"bearer") && is_token(given, token)
}

/// Whether a text is the token.
pub(super) fn is_token(given: &[u8], token: &Secret) -> bool {
    let equal = Sha256::digest(given.trim_ascii()).ct_eq(&Sha256::digest(token.reveal().trim_ascii()));
    bool::from(equal)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_whole_token_is_the_token() {
        let token = Secret::new("open sesame ä".to_owned());
        let with = |value: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(header::AUTHORIZATION, value.as_bytes().try_into().unwrap());
            carries(&headers, &token)
        };
        for good in [
            "Bearer open sesame ä",
            "bearer open sesame ä",
            "BEARER  open sesame ä ",
        ] {
            assert!(with(good), "{good}");
        }
        for bad in [
            "",
            "Bearer",
            "Bearer ",
            "Bearer open",
            "Bearer open sesame ä!",
            "Basic open sesame ä",
            "open sesame ä",
        ] {
            assert!(!with(bad), "{bad}");
        }
        assert!(!carries(&HeaderMap::new(), &token));
    }
}
