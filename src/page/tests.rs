//! Whole pages: their words, and labels that would like to be more than that.

use chrono::TimeDelta;

use super::{
    sample::{alerts, detail, frame, limit, period, report},
    *,
};
use crate::{
    calibration::{Action, Method, Reason, Status},
    catalog::Tariff,
    language::Language,
    report::{Alerts, Bill, CoverageView, Detail, LimitView, RecommendationView, TopView, WhatIf},
    store::runs::Spent,
};

const HOSTILE: &str = "</script><script>alert(1)</script>\"'&\u{202e}\u{1b}[2J";

/// A limit every label of which is hostile.
fn hostile() -> LimitView {
    let mut limit = limit(20, 14, Some((Some(16), 8, 21)));
    HOSTILE.clone_into(&mut limit.scope);
    limit.endpoints = vec![HOSTILE.to_owned()];
    limit.top_identities = vec![TopView {
        identity: HOSTILE.to_owned(),
        peak: 16,
        at: period().0,
    }];
    if let Some(peak) = &mut limit.peak {
        peak.identity = Some(HOSTILE.to_owned());
    }
    limit.recommendation = Some(RecommendationView {
        action: Action::Raise,
        limit: Some(36),
        projected_peak: Some(25.0),
        interval: Some([20.0, 25.0]),
        method: Some(Method::ObservedMargin),
        reason: String::new(),
        dominated: None,
        why: Reason::Identity {
            identity: 1,
            peak: 16,
            next: 3,
        },
    });
    limit
}

fn limit_page(detail: &Detail, language: Language, value: u64, requests: Option<u128>) -> String {
    let tried = Tried {
        what_if: WhatIf {
            id: detail.limit.id.clone(),
            environment: "prod".to_owned(),
            from: period().0,
            to: period().1,
            limit: value,
            alert_at: 14,
            requests,
            identity_windows: requests.map(|_| 1),
            exact: false,
        },
        wrong: false,
    };
    LimitPage::new(frame(language), detail, &tried, period(), 70, &alerts(HOSTILE)).html()
}

fn pages(language: Language) -> Vec<String> {
    let mut report = report(vec![hostile()]);
    HOSTILE.clone_into(&mut report.groups[0].name);
    HOSTILE.clone_into(&mut report.environment);
    vec![
        Overview::new(frame(language), &report, &alerts(HOSTILE), &Bill::default()).html(),
        limit_page(&detail(hostile()), language, 20, Some(1)),
        ProblemPage::new(frame(language), "problem-limit", HOSTILE).html(),
        document(&report, chrono_tz::America::Sao_Paulo, language),
    ]
}

#[test]
fn labels_stay_labels() {
    for language in Language::ALL {
        for page in pages(language) {
            for piece in ["<script>alert", "</script><script>", "\u{202e}", "\u{1b}"] {
                assert!(!page.contains(piece), "{piece:?} in {page}");
            }
            assert!(!page.contains(" style="), "{page}");
        }
    }
}

#[test]
fn every_word_is_there() {
    for language in Language::ALL {
        for page in pages(language) {
            assert!(!page.contains("Unknown localization"), "{page}");
            assert!(page.contains(&format!("lang=\"{}\"", language.tag())), "{page}");
        }
    }
}

#[test]
fn figures_are_there_without_a_script() {
    // 16 of 20 are 80 %.
    let [overview, limit, ..] = &pages(Language::Portuguese)[..] else {
        panic!("fewer pages")
    };
    for piece in [
        "16, no máximo 21",
        "80,0\u{a0}%",
        "subir para 36",
        "12 de 28 dias",
    ] {
        assert!(overview.contains(piece), "{piece} in {overview}");
    }
    assert!(
        limit.contains("id=\"what-if-requests\" class=\"figure\" data-value=\"1\""),
        "{limit}"
    );
    assert!(limit.contains("25, entre 20 e 25"), "{limit}");
}

#[test]
fn windows_that_can_not_be_seen_say_so() {
    let page = limit_page(&detail(hostile()), Language::English, 20, None);
    assert!(
        page.contains("Minute counts can’t show windows this short"),
        "{page}"
    );
    assert!(!page.contains("what-if-requests"), "{page}");
}

#[test]
fn what_is_alerted_is_said_with_its_silence() {
    let overview = |alerts: &Alerts, language| {
        let page = Overview::new(
            frame(language),
            &report(vec![hostile()]),
            alerts,
            &Bill::default(),
        )
        .html();
        page.split("class=\"alerts").nth(1).unwrap().to_owned()
    };
    let english = overview(&alerts("load test"), Language::English);
    for piece in [
        "<h2 id=\"alerts\">Alerted now</h2>",
        "<a href=\"/limits/send-otp.ip?env=prod\"><bdi>send-otp.ip</bdi></a> <span class=\"pill over\">",
        "since <time datetime=\"2026-03-02T15:00:00Z\">2026-03-02 12:00</time>",
        "peak 1,024 <span class=\"quiet\">· <time datetime=\"2026-03-02T15:04:00Z\">2026-03-02 12:04</time>",
        "silenced until <time datetime=\"2026-03-04T03:00:00Z\">2026-03-04 00:00</time>: <bdi>load test</bdi>",
        "<span lang=\"en\"><bdi>load test</bdi></span> <span class=\"quiet\">waits: <bdi lang=\"en\">load test</bdi>",
    ] {
        assert!(english.contains(piece), "{piece} in {english}");
    }
    let portuguese = overview(&alerts("load test"), Language::Portuguese);
    assert!(portuguese.contains("pico 1.024"), "{portuguese}");

    let limit = limit_page(&detail(hostile()), Language::English, 20, Some(1));
    assert!(
        limit.contains("Alerted now: <span class=\"pill over\">"),
        "{limit}"
    );
    assert!(limit.contains("silenced until <time"), "{limit}");
}

#[test]
fn where_nothing_is_alerted_a_line_says_so() {
    let lone = |alerts: &Alerts| {
        Overview::new(
            frame(Language::English),
            &report(Vec::new()),
            alerts,
            &Bill::default(),
        )
        .html()
    };
    let nothing = lone(&Alerts::default());
    assert!(
        nothing.contains("<p class=\"alerts quiet\">Nothing is alerted now.</p>"),
        "{nothing}"
    );
    let mut past = alerts("load test");
    past.standings.clear();
    assert!(
        lone(&past).contains("<summary>Nothing is alerted now. Last alerts</summary>"),
        "{}",
        lone(&past)
    );
}

#[test]
fn only_some_limits_are_shown_where_that_was_asked_for() {
    let mut over = limit(20, 14, Some((Some(24), 12, 24)));
    over.status = Status::Over;
    "other".clone_into(&mut over.id);
    let mut frame = frame(Language::English);
    frame.address.filter = Some(Filter::Over);
    let page = Overview::new(
        frame,
        &report(vec![hostile(), over]),
        &Alerts::default(),
        &Bill::default(),
    )
    .html();
    assert!(
        page.contains("data-limit=\"other\" data-status=\"over\""),
        "{page}"
    );
    assert!(!page.contains("data-limit=\"send-otp.ip\""), "{page}");
    assert!(
        page.contains("more than the limit was seen within one window"),
        "{page}"
    );
}

#[test]
fn a_document_stands_alone() {
    let page = document(&report(vec![hostile()]), chrono_tz::UTC, Language::English);
    for piece in ["href=", "src=", "<script", "<form", "<nav"] {
        assert!(!page.contains(piece), "{piece} in {page}");
    }
    assert!(page.contains("<style>/* The look"), "{page}");
    // echo -n "…" | openssl dgst -sha256 -binary | base64 has as many letters.
    assert_eq!(style_hash().len(), "sha256-".len() + 44);
}

#[test]
fn an_asset_is_found_by_its_hash_alone() {
    let page = &pages(Language::English)[1];
    let path = page
        .split("src=\"")
        .nth(1)
        .and_then(|rest| rest.split('"').next())
        .unwrap();
    let found = asset(path).unwrap();
    assert_eq!(found.content_type, "text/javascript; charset=utf-8");
    assert!(found.body.contains("uPlot"));
    assert!(asset("/assets/uplot.js").is_none());
    assert!(asset(&path.replace("uplot-", "uplot-0")).is_none());
}

#[test]
fn the_overview_says_what_drains_cost() {
    let mut report = report(Vec::new());
    report.coverage = vec![CoverageView {
        source: "gateway".to_owned(),
        minutes: 60,
        covered: 60,
        gaps: Vec::new(),
        consecutive_days: 0,
    }];
    let spent = Spent {
        environment: report.environment.clone(),
        source: "gateway".to_owned(),
        runs: 288,
        commands: 4032,
        over: TimeDelta::days(1),
    };
    let html = |tariff| {
        let bill = Bill::new(std::slice::from_ref(&spent), tariff);
        Overview::new(frame(Language::English), &report, &Alerts::default(), &bill).html()
    };
    let priced = html(Some(Tariff { price: 0.2, free: 0 }));
    assert!(
        priced.contains("14 Redis commands a drain, about 4,032 a day"),
        "{priced}"
    );
    assert!(
        priced.contains("about 4,032 Redis commands a day. About 0.24 a month by the tariff."),
        "{priced}"
    );
    assert!(!html(None).contains("tariff"));
}
