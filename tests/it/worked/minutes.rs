//! Windows of a minute and of a quarter of an hour.

use serde_json::json;

use super::{NOON, ONE, TWO, blocked, figures, peak, percentiles, what_if, world};
use crate::support::{
    Bench,
    catalogs::{limit, report_at},
};

/// The windows of one minute hold 3, 4 and 7 of esc-1, 7 and 2 of esc-2; together 23.
async fn minutes() -> Bench {
    let own = ["anchored", "sliding", "fixed"].map(|algorithm| (algorithm, 5, "1m", algorithm));
    let counts = [
        ("202503101200", "esc-1", 3),
        ("202503101201", "esc-1", 4),
        ("202503101201", "esc-2", 7),
        ("202503101202", "esc-2", 2),
        ("202503101205", "esc-1", 7),
    ];
    world("UTC", &own, &counts, ONE).await
}

#[tokio::test]
async fn one_minute() {
    let bench = minutes().await;
    let report = report_at(&bench, NOON, ONE, ONE).await;
    // The 7 of 12:01 comes before that of 12:05. Two neighbouring minutes hold 3 + 4 or 7 + 2 = 9 at most. In order
    // the windows hold 2, 3, 4, 7, 7; above 5 are 2 + 2 in two of them. Halved and rounded up, 7 is 4.
    let at = "2025-03-10T12:01:00Z";
    for (id, lower, upper, exact) in [
        ("anchored", 4, 9, false),
        ("sliding", 7, 9, false),
        ("fixed", 7, 7, true),
    ] {
        let expected = json!([
            peak(7, lower, upper, at, "esc-2"),
            "over",
            23,
            blocked(4, 2, exact),
            percentiles(4, 7)
        ]);
        assert_eq!(figures(&report, id), expected, "{id}");
        let top = json!([
            {"identity": "esc-2", "peak": 7, "at": at},
            {"identity": "esc-1", "peak": 7, "at": "2025-03-10T12:05:00Z"},
        ]);
        assert_eq!(limit(&report, id)["top_identities"], top, "{id}");
    }
}

#[tokio::test]
async fn one_minute_with_other_values() {
    let bench = minutes().await;
    for (id, exact) in [("anchored", false), ("sliding", false), ("fixed", true)] {
        let expected = [
            // 1 + 2 + 3 + 6 + 6, 1 + 2 + 5 + 5, 1 + 4 + 4, 3 + 3, 1 + 1. 70 % of 1 to 7 are 0.7, 1.4, 2.1, 2.8, 4.2, 4.9.
            (id, 1, 1, 18, 5, exact),
            (id, 2, 2, 13, 4, exact),
            (id, 3, 3, 9, 3, exact),
            (id, 4, 3, 6, 2, exact),
            (id, 6, 5, 2, 2, exact),
            (id, 7, 5, 0, 0, exact),
        ];
        what_if(&bench, [NOON, ONE], ONE, &expected).await;
    }
}

/// The quarter from 12:45 holds 1 + 4 + 5 = 10, that from 13:00 holds 6 + 2 = 8; together 18.
async fn quarters() -> Bench {
    let own = ["anchored", "sliding", "fixed"].map(|algorithm| (algorithm, 10, "15m", algorithm));
    let counts = [
        ("202503101249", "esc-1", 1),
        ("202503101250", "esc-1", 4),
        ("202503101258", "esc-1", 5),
        ("202503101304", "esc-1", 6),
        ("202503101310", "esc-1", 2),
    ];
    world("UTC", &own, &counts, TWO).await
}

#[tokio::test]
async fn fifteen_minutes_over_the_hour() {
    let bench = quarters().await;
    // Fifteen minutes to 12:58 hold 1 + 4 + 5 = 10, to 13:04, from 12:50 on, 4 + 5 + 6 = 15, to 13:10, from 12:56 on,
    // 5 + 6 + 2 = 13. Sixteen to 13:04 hold the 1 of 12:49 as well. The aligned windows, 8 and 10, are not above 10;
    // that of 15 is, by 5.
    let (at, before) = ("2025-03-10T13:04:00Z", "2025-03-10T12:58:00Z");
    let whole = report_at(&bench, NOON, TWO, TWO).await;
    for (id, lower) in [("anchored", 8), ("sliding", 15)] {
        let expected = json!([
            peak(15, lower, 16, at, "esc-1"),
            "over",
            18,
            blocked(5, 1, false),
            percentiles(8, 10)
        ]);
        assert_eq!(figures(&whole, id), expected, "{id}");
    }
    let fixed = json!([
        peak(10, 10, 10, before, "esc-1"),
        "near",
        18,
        blocked(0, 0, true),
        percentiles(8, 10)
    ]);
    assert_eq!(figures(&whole, "fixed"), fixed);

    // By the hour: a window belongs to the hour it ends in.
    let first = report_at(&bench, NOON, ONE, TWO).await;
    let second = report_at(&bench, ONE, TWO, TWO).await;
    for (id, lower, exact) in [
        ("anchored", 5, false),
        ("sliding", 10, false),
        ("fixed", 10, true),
    ] {
        let expected = json!([
            peak(10, lower, 10, before, "esc-1"),
            "near",
            10,
            blocked(0, 0, exact),
            percentiles(10, 10)
        ]);
        assert_eq!(figures(&first, id), expected, "{id}");
    }
    let sliding = json!([
        peak(15, 15, 16, at, "esc-1"),
        "over",
        8,
        blocked(5, 1, false),
        percentiles(8, 8)
    ]);
    assert_eq!(figures(&second, "sliding"), sliding);
    let fixed = json!([
        peak(8, 8, 8, "2025-03-10T13:10:00Z", "esc-1"),
        "near",
        8,
        blocked(0, 0, true),
        percentiles(8, 8)
    ]);
    assert_eq!(figures(&second, "fixed"), fixed);
}

#[tokio::test]
async fn fifteen_minutes_with_other_values() {
    let bench = quarters().await;
    for id in ["anchored", "sliding"] {
        let expected = [
            // Aligned windows show 5 + 3 above 5, and 3 + 1 above 7; the window of 15 shows 10 and 8.
            (id, 5, 4, 10, 2, false),
            (id, 7, 5, 8, 2, false),
            (id, 9, 7, 6, 1, false),
            (id, 14, 10, 1, 1, false),
            (id, 15, 11, 0, 0, false),
        ];
        what_if(&bench, [NOON, TWO], TWO, &expected).await;
    }
    let fixed = [
        ("fixed", 5, 4, 8, 2, true),
        ("fixed", 7, 5, 4, 2, true),
        ("fixed", 9, 7, 1, 1, true),
        ("fixed", 14, 10, 0, 0, true),
    ];
    what_if(&bench, [NOON, TWO], TWO, &fixed).await;
    // Of the second hour alone: 8 in its aligned window.
    let second = [("sliding", 7, 5, 8, 1, false), ("fixed", 7, 5, 1, 1, true)];
    what_if(&bench, [ONE, TWO], TWO, &second).await;
}
