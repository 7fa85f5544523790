//! A browser signs in with the API token.

use super::{
    http::CATALOG,
    support::{Bench, Serving},
};

const BROWSER: &str = "Accept: text/html,application/xhtml+xml,*/*;q=0.8\r\n";

async fn serving(bench: &Bench) -> Serving {
    let folga = bench.folga(&["--log-format", "json", "serve"]);
    Serving::start(folga.env("FOLGA_API_TOKEN", "open S3sam&")).await
}

#[tokio::test]
async fn a_browser_is_let_in_by_the_token_and_out_again() {
    let bench = Bench::new(CATALOG).await;
    let serving = serving(&bench).await;
    // It is shown the form, on which nothing of the catalog stands; a program is told in its own words.
    let shown = serving.ask("GET", "/limits/messages?env=prod", BROWSER).await;
    assert_eq!(shown.status, 401);
    assert!(
        shown.header("content-type").starts_with("text/html"),
        "{}",
        shown.head
    );
    assert!(shown.body.contains("action=\"/sign-in\""), "{}", shown.body);
    assert!(
        shown.body.contains("value=\"/limits/messages?env=prod\""),
        "{}",
        shown.body
    );
    assert!(
        !shown.body.contains("staging") && !shown.body.contains("<script"),
        "{}",
        shown.body
    );
    for (path, headers) in [
        ("/", ""),
        ("/v1/limits?env=prod", BROWSER),
        ("/v1/limits?env=prod", ""),
    ] {
        let told = serving.ask("GET", path, headers).await;
        assert_eq!(
            (told.status, told.header("content-type")),
            (401, "application/problem+json"),
            "{path}"
        );
    }

    let wrong = serving.post("/sign-in", "token=open+S3same&next=%2F").await;
    assert_eq!((wrong.status, wrong.header("set-cookie")), (401, ""));
    assert!(
        wrong.body.contains("role=\"alert\"") && !wrong.body.contains("S3same"),
        "{}",
        wrong.body
    );

    let right = serving
        .post(
            "/sign-in",
            "token=open+S3sam%26&next=%2Flimits%2Fmessages%3Fenv%3Dprod",
        )
        .await;
    assert_eq!(
        (right.status, right.header("location")),
        (303, "/limits/messages?env=prod")
    );
    let cookie = right.header("set-cookie").to_owned();
    for attribute in ["; httponly", "; samesite=strict", "; path=/", "; max-age=2592000"] {
        assert!(cookie.contains(attribute), "{cookie}");
    }
    assert!(
        !cookie.contains("; secure") && !cookie.contains("s3sam"),
        "{cookie}"
    );
}

#[tokio::test]
async fn the_cookie_opens_pages_and_routes() {
    let bench = Bench::new(CATALOG).await;
    let serving = serving(&bench).await;
    let signed_in = serving.post("/sign-in", "token=open+S3sam%26").await;
    // Headers are kept in small letters, which the signature is not: the raw answer has it.
    let pair = signed_in
        .raw_header("Set-Cookie")
        .split(';')
        .next()
        .unwrap_or_default()
        .to_owned();
    let cookie = format!("Cookie: {pair}\r\n");
    for path in [
        "/?env=prod",
        "/limits/messages?env=prod",
        "/v1/limits?env=prod",
        "/metrics",
    ] {
        let headers = format!("{BROWSER}{cookie}");
        assert_eq!(serving.ask("GET", path, &headers).await.status, 200, "{path}");
    }
    let forged = format!("{}1\r\n", cookie.trim_end());
    assert_eq!(
        serving.ask("GET", "/v1/limits?env=prod", &forged).await.status,
        401
    );
    let out = serving.post("/sign-out", "").await;
    assert_eq!((out.status, out.header("location")), (303, "/"));
    assert!(out.header("set-cookie").contains("max-age=0"), "{}", out.head);
}

#[tokio::test]
async fn one_is_led_to_no_other_site_and_over_tls_the_cookie_stays_there() {
    let bench = Bench::new(CATALOG).await;
    let serving = serving(&bench).await;
    for next in [
        "%2F%2Fevil.example",
        "https%3A%2F%2Fevil.example",
        "%2F%5Cevil.example",
        "x",
    ] {
        let led = serving
            .post("/sign-in", &format!("token=open+S3sam%26&next={next}"))
            .await;
        assert_eq!((led.status, led.header("location")), (303, "/"), "{next}");
    }
    let headers = "Content-Length: 19\r\nX-Forwarded-Proto: https\r\n";
    let secure = serving
        .ask_with("POST", "/sign-in", headers, "token=open+S3sam%26")
        .await;
    assert!(
        secure.header("set-cookie").contains("; secure"),
        "{}",
        secure.head
    );
    // A book is no token.
    let long = serving
        .post("/sign-in", &format!("token={}", "x".repeat(20_000)))
        .await;
    assert_eq!(long.status, 401);
}
