//! The pages, as a browser without scripts has them.

use chrono::{DateTime, TimeDelta, Utc};
use folga::clock::Clock;

use super::support::{
    Bench, Serving,
    catalogs::{HEAD, MESSAGES, THIRTY, limits},
    wait_until,
};

const HTML: &str = "Accept: text/html\r\n";
const HOSTILE: &str = "</script><script>alert(1)</script>\u{202e}";

/// A service that has counted 23 messages of one tenant within one minute, and the query of that time.
async fn counted(tenant: &str) -> (Bench, Serving, String) {
    let catalog = HEAD.to_owned() + MESSAGES + &limits(&[("messages", THIRTY)]);
    let bench = Bench::new(&catalog).await;
    let now = Clock::new(None).now();
    let minute = now - TimeDelta::minutes(2);
    let key = bench.key(&format!("m:messages:{}", minute.format("%Y%m%d%H%M")));
    bench
        .hash(&key, &[(tenant, "23")], now + TimeDelta::hours(1), now)
        .await;
    let serving = Serving::start(bench.folga(&["--log-format", "json", "serve"])).await;
    wait_until("the first drain ends", async || {
        serving.source().await["state"] == "ok"
    })
    .await;
    let time = |at: DateTime<Utc>| at.format("%Y-%m-%dT%H:%M:%SZ").to_string();
    let hours = TimeDelta::hours(2);
    let query = format!(
        "env=prod&from={}&to={}",
        time(minute - hours),
        time(minute + hours)
    );
    (bench, serving, query)
}

#[tokio::test]
async fn first_paint_shows_the_figures_in_both_languages() {
    let (_bench, serving, query) = counted("esc-1").await;
    let page = serving.ask("GET", &format!("/?{query}"), HTML).await;
    assert_eq!(page.status, 200);
    // 23 of 30 are 76.66…%, and 21 is where it is near.
    for piece in [
        "<html lang=\"en\">",
        "data-limit=\"messages\" data-status=\"near\"",
        "76.6\u{a0}%",
        "30 in 1 min",
        "alert at 21",
    ] {
        assert!(page.body.contains(piece), "{piece}: {}", page.body);
    }
    let portuguese = format!("{HTML}Accept-Language: de, pt;q=0.9\r\n");
    let page = serving.ask("GET", &format!("/?{query}"), &portuguese).await;
    assert!(page.body.contains("<html lang=\"pt-BR\">"), "{}", page.body);
    assert!(page.body.contains("76,6\u{a0}%"), "{}", page.body);

    // What was chosen outranks what the browser says, and is kept.
    let page = serving
        .ask("GET", &format!("/?{query}&lang=en"), &portuguese)
        .await;
    assert!(page.body.contains("<html lang=\"en\">"), "{}", page.body);
    assert!(
        page.head
            .contains("set-cookie: lang=en; httponly; samesite=lax; path=/"),
        "{}",
        page.head
    );
    assert!(page.body.contains("&#38;lang=en\""), "{}", page.body);
    let kept = format!("{portuguese}Cookie: lang=en\r\n");
    let page = serving.ask("GET", &format!("/?{query}"), &kept).await;
    assert!(page.body.contains("<html lang=\"en\">"), "{}", page.body);
}

#[tokio::test]
async fn a_limit_is_tried_without_a_script() {
    let (_bench, serving, query) = counted("esc-1").await;
    let what = |page: &str, id: &str| {
        let after = page.split(&format!("id=\"{id}\"")).nth(1).expect(id).to_owned();
        after
            .split("data-value=\"")
            .nth(1)
            .and_then(|rest| rest.split('"').next())
            .map(str::to_owned)
    };
    // One window of 23 has 12 above 11; 70 % of 11 is 7.7.
    let page = serving
        .ask("GET", &format!("/limits/messages?{query}&limit=11"), HTML)
        .await;
    assert_eq!(page.status, 200);
    for (id, value) in [
        ("what-if-requests", "12"),
        ("what-if-windows", "1"),
        ("what-if-alert", "8"),
    ] {
        assert_eq!(what(&page.body, id).as_deref(), Some(value), "{id}");
    }
    assert!(page.body.contains("<svg class=\"chart\""), "{}", page.body);
    // Without one the limit itself is tried; what is no value is said to be none.
    let page = serving
        .ask("GET", &format!("/limits/messages?{query}"), HTML)
        .await;
    assert_eq!(what(&page.body, "what-if-requests").as_deref(), Some("0"));
    assert!(page.body.contains("role=\"alert\" hidden"), "{}", page.body);
    for wrong in ["0", "-1", "abc", "18446744073709551616"] {
        let page = serving
            .ask("GET", &format!("/limits/messages?{query}&limit={wrong}"), HTML)
            .await;
        assert!(
            page.status == 200 && page.body.contains("role=\"alert\">"),
            "{wrong}: {}",
            page.body
        );
    }
}

#[tokio::test]
async fn what_is_not_there_gives_a_page_with_the_remedy() {
    let (_bench, serving, _) = counted("esc-1").await;
    for (path, status, remedy) in [
        ("/?env=nope", 404, "Choose one of: prod."),
        ("/?group=nope", 404, "Choose one of: A, unlimited."),
        ("/limits/nope?env=prod", 404, "The overview lists all of them."),
        ("/?env=prod&days=0", 400, "ask for 1 to 90 days"),
        ("/?env=prod&from=2026-03-01", 400, "give to as well"),
        ("/?env=prod&from=2026-03-02&to=2026-02-01", 400, "swap them"),
        (
            "/?env=prod&status=nope",
            400,
            "over, near, loose, unproven, unknowable",
        ),
        ("/?env=prod&lang=de", 400, "en, pt-BR"),
        ("/?env=prod&colour=red", 400, "known: env, days"),
    ] {
        let page = serving.ask("GET", path, HTML).await;
        assert_eq!(page.status, status, "{path}");
        assert!(page.body.contains(remedy), "{path}: {}", page.body);
        assert!(
            page.head.contains("content-type: text/html"),
            "{path}: {}",
            page.head
        );
    }
    let page = serving.ask("GET", "/limits/nope?env=prod&lang=pt-BR", HTML).await;
    assert!(page.body.contains("Esse limite não existe"), "{}", page.body);
}

#[tokio::test]
async fn labels_from_redis_stay_labels_under_a_strict_policy() {
    let (_bench, serving, query) = counted(HOSTILE).await;
    for path in ["/", "/limits/messages"] {
        let page = serving.ask("GET", &format!("{path}?{query}"), HTML).await;
        assert_eq!(page.status, 200);
        let policy = "content-security-policy: default-src 'none'; script-src 'self'; style-src 'self'; img-src data:; \
                      connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";
        assert!(page.head.contains(policy), "{}", page.head);
        for piece in ["<script>", "\u{202e}", " style=", " onclick="] {
            assert!(!page.body.contains(piece), "{piece:?}: {}", page.body);
        }
    }
    let page = serving
        .ask("GET", &format!("/limits/messages?{query}"), HTML)
        .await;
    assert!(
        page.body.contains("&#60;/script&#62;&#60;script&#62;alert(1)"),
        "{}",
        page.body
    );
}

#[tokio::test]
async fn assets_are_kept_for_good() {
    let (_bench, serving, query) = counted("esc-1").await;
    let page = serving
        .ask("GET", &format!("/limits/messages?{query}"), HTML)
        .await;
    let paths: Vec<&str> = page
        .body
        .split('"')
        .filter(|part| part.starts_with("/assets/"))
        .collect();
    assert_eq!(paths.len(), 4, "{paths:?}");
    for path in paths {
        let asset = serving.get(path).await;
        assert_eq!(asset.status, 200, "{path}");
        assert!(
            asset
                .head
                .contains("cache-control: public, max-age=31536000, immutable"),
            "{}",
            asset.head
        );
        let kind = if path.strip_suffix(".css").is_some() {
            "text/css"
        } else {
            "text/javascript"
        };
        assert!(
            asset
                .head
                .contains(&format!("content-type: {kind}; charset=utf-8")),
            "{}",
            asset.head
        );
        assert_eq!(serving.get(&path.replace('-', "-0")).await.status, 404, "{path}");
    }
}
