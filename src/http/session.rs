//! Signing in: a browser shows the API token once and gets a cookie for it.

use std::time::Duration;

use axum::{
    body::Bytes,
    extract::{Request, State, rejection::BytesRejection},
    http::{HeaderMap, header},
    response::{IntoResponse as _, Redirect, Response},
};
use axum_extra::extract::{
    SignedCookieJar,
    cookie::{Cookie, Key, SameSite},
};
use chrono::{DateTime, Utc};
use hkdf::Hkdf;
use sha2::Sha256;
use url::form_urlencoded;

use super::{Site, guard::is_token, pages};
use crate::catalog::Secret;

pub(super) const COOKIE: &str = "folga-session";
/// The longest form that is read.
pub(super) const LONGEST: usize = 8192;
/// A month of reviews without signing in again.
const LIFE: Duration = Duration::from_hours(30 * 24);

/// Whether a request carries a cookie of [`sign_in`] that has not expired. It holds its own end and is signed with a key
/// that follows from the token: another token ends all sessions, and nothing has to be stored.
pub(super) fn is_signed_in(headers: &HeaderMap, token: &Secret, now: DateTime<Utc>) -> bool {
    let jar = SignedCookieJar::from_headers(headers, key(token));
    let end = jar
        .get(COOKIE)
        .and_then(|cookie| cookie.value().parse::<i64>().ok());
    end.is_some_and(|end| now.timestamp() < end)
}

/// The form, in place of a page that only those who are signed in may see.
pub(super) fn sign_in_page(site: &Site, request: &Request) -> Response {
    let address = request
        .uri()
        .path_and_query()
        .map_or("/", |address| address.as_str());
    pages::sign_in(site, request.headers(), address, false)
}

/// The form by itself. Whoever needs none is led to the overview.
pub(super) async fn begin(State(site): State<Site>, headers: HeaderMap) -> Response {
    if site.admits(&headers) {
        return Redirect::to("/").into_response();
    }
    pages::sign_in(&site, &headers, "/", false)
}

/// Takes the form.
pub(super) async fn sign_in(
    State(site): State<Site>,
    headers: HeaderMap,
    body: Result<Bytes, BytesRejection>,
) -> Response {
    // What is too long for a token is none.
    let body = body.unwrap_or_default();
    let field = |name: &str| {
        let mut fields = form_urlencoded::parse(&body);
        fields
            .find(|(key, _)| key == name)
            .map(|(_, value)| value.into_owned())
    };
    let next = field("next")
        .filter(|next| is_local(next))
        .unwrap_or_else(|| "/".to_owned());
    let http = &site.folga.catalog.http;
    let Some(token) = &http.api_token else {
        return Redirect::to(&next).into_response();
    };
    if !field("token").is_some_and(|given| is_token(given.as_bytes(), token)) {
        tracing::warn!("somebody tried to sign in with a wrong token");
        return pages::sign_in(&site, &headers, &next, true);
    }
    let end = site.folga.clock.now() + LIFE;
    let cookie = Cookie::build((COOKIE, end.timestamp().to_string()))
        .path("/")
        .http_only(true)
        .same_site(SameSite::Strict)
        .secure(is_over_https(&headers, http.base_url.as_deref()))
        .max_age(LIFE.try_into().unwrap_or_default());
    (SignedCookieJar::new(key(token)).add(cookie), Redirect::to(&next)).into_response()
}

/// Forgets the cookie.
pub(super) async fn sign_out() -> Response {
    let gone = Cookie::build((COOKIE, ""))
        .path("/")
        .http_only(true)
        .max_age(Duration::ZERO.try_into().unwrap_or_default());
    ([(header::SET_COOKIE, gone.to_string())], Redirect::to("/")).into_response()
}

fn key(token: &Secret) -> Key {
    let mut bytes = [0; 64];
    let derived = Hkdf::<Sha256>::new(None, token.reveal().trim().as_bytes())
        .expand(b"folga session cookie", &mut bytes);
    debug_assert!(derived.is_ok(), "64 bytes are fewer than HKDF gives");
    Key::from(&bytes)
}

/// Whether an address leads to this service: `//elsewhere` and `/\elsewhere` do not.
fn is_local(address: &str) -> bool {
    address.starts_with('/')
        && !address.starts_with("//")
        && address.is_ascii()
        // Browsers drop tabs and line ends from addresses: what follows one may make a second slash.
        && !address.contains(|letter: char| letter == '\\' || letter.is_ascii_control())
}

/// Whether the browser came over TLS, which ends before folga.
fn is_over_https(headers: &HeaderMap, base_url: Option<&str>) -> bool {
    let forwarded = headers
        .get("x-forwarded-proto")
        .is_some_and(|proto| proto == "https");
    forwarded || base_url.is_some_and(|url| url.starts_with("https://"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn token(text: &str) -> Secret {
        Secret::new(text.to_owned())
    }

    /// The headers of a browser that was given a cookie at an instant.
    fn signed_in(token: &Secret, end: DateTime<Utc>) -> HeaderMap {
        let jar = SignedCookieJar::new(key(token)).add(Cookie::new(COOKIE, end.timestamp().to_string()));
        let set = jar.into_response().headers()[header::SET_COOKIE].clone();
        let pair = set.to_str().unwrap().split(';').next().unwrap().to_owned();
        HeaderMap::from_iter([(header::COOKIE, pair.parse().unwrap())])
    }

    #[test]
    fn a_session_ends_in_time_and_with_its_token() {
        let now: DateTime<Utc> = "2026-03-10T12:00:00Z".parse().unwrap();
        let (token, other) = (token("open sesame"), token("open sesamo"));
        let headers = signed_in(&token, now + LIFE);
        assert!(is_signed_in(&headers, &token, now));
        assert!(!is_signed_in(&headers, &other, now));
        assert!(!is_signed_in(&headers, &token, now + LIFE));
        assert!(!is_signed_in(&HeaderMap::new(), &token, now));
        // Nobody moves the end.
        let text = headers[header::COOKIE].to_str().unwrap();
        let end = (now + LIFE).timestamp();
        let moved = text.replace(&end.to_string(), &(end + 86_400).to_string());
        assert_ne!(moved, text);
        let moved = HeaderMap::from_iter([(header::COOKIE, moved.parse().unwrap())]);
        assert!(!is_signed_in(&moved, &token, now));
    }

    #[test]
    fn one_is_sent_nowhere_else() {
        for local in ["/", "/limits/send-otp.ip?env=prod&days=7"] {
            assert!(is_local(local), "{local}");
        }
        for elsewhere in [
            "",
            "//evil.example",
            "/\\evil.example",
            "https://evil.example",
            "/a\r\nSet-Cookie: x",
            "/\t/evil.example",
        ] {
            assert!(!is_local(elsewhere), "{elsewhere}");
        }
    }
}
