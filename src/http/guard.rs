//! The API token.

use axum::{
    extract::{Request, State},
    http::{HeaderMap, header},
    middleware::Next,
    response::{IntoResponse as _, Response},
};
use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;

use super::{Site, problem::Problem};
use crate::catalog::Secret;

/// Lets nobody pass who lacks the token.
pub(super) async fn guard(State(site): State<Site>, request: Request, next: Next) -> Response {
    if site.admits(request.headers()) {
        next.run(request).await
    } else {
        Problem::Unauthorised.into_response()
    }
}

impl Site {
    /// Whether a request carries the token; without one there is nothing to carry.
    pub(super) fn admits(&self, headers: &HeaderMap) -> bool {
        self.folga
            .catalog
            .http
            .api_token
            .as_ref()
            .is_none_or(|token| carries(headers, token))
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
    let equal = Sha256::digest(given.trim_ascii()).ct_eq(&Sha256::digest(token.reveal().trim_ascii()));
    scheme.eq_ignore_ascii_case(b"bearer") && bool::from(equal)
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
