//! Windows of an hour and of a day.

use serde_json::{Value, json};

use super::{blocked, figures, peak, percentiles, what_if, world};
use crate::support::{
    Bench,
    catalogs::{limit, report_at},
};

const TENTH: &str = "2025-03-10T00:00:00Z";
const ELEVENTH: &str = "2025-03-11T00:00:00Z";
const TWELFTH: &str = "2025-03-12T00:00:00Z";

/// esc-1's hour from 23:00Z holds 2 + 8 + 7 = 17, that from 00:00Z 6 + 3 + 5 = 14, and esc-2's holds 9; together 40.
async fn hours() -> Bench {
    let own = ["anchored", "sliding", "fixed"].map(|algorithm| (algorithm, 20, "1h", algorithm));
    let counts = [
        ("202503102319", "esc-1", 2),
        ("202503102320", "esc-1", 8),
        ("202503102355", "esc-1", 7),
        ("202503110010", "esc-1", 6),
        ("202503110010", "esc-2", 9),
        ("202503110019", "esc-1", 3),
        ("202503110054", "esc-1", 5),
    ];
    world("UTC", &own, &counts, TWELFTH).await
}

#[tokio::test]
async fn an_hour_over_midnight() {
    let bench = hours().await;
    // An hour to 23:55 holds 2 + 8 + 7 = 17; to 00:10, from 23:11 on, 2 + 8 + 7 + 6 = 23; to 00:19, from 23:20 on,
    // 8 + 7 + 6 + 3 = 24, with the 2 of 23:19 in 61 minutes 26; to 00:54, from 23:55 on, 7 + 6 + 3 + 5 = 21. The aligned
    // ones hold 9, 14 and 17: none is above 20, that of 24 is by 4.
    let (before, after) = ("2025-03-10T23:55:00Z", "2025-03-11T00:19:00Z");
    let whole = report_at(&bench, TENTH, TWELFTH, TWELFTH).await;
    let first = report_at(&bench, TENTH, ELEVENTH, TWELFTH).await;
    let second = report_at(&bench, ELEVENTH, TWELFTH, TWELFTH).await;
    for (id, lower, lower_before) in [("anchored", 12, 9), ("sliding", 24, 17)] {
        let most = peak(24, lower, 26, after, "esc-1");
        let blocked = blocked(4, 1, false);
        let expected = json!([most, "over", 40, blocked, percentiles(14, 17)]);
        assert_eq!(figures(&whole, id), expected, "{id}");
        // The second day begins with what the first one held.
        let expected = json!([most, "over", 23, blocked, percentiles(9, 14)]);
        assert_eq!(figures(&second, id), expected, "{id}");
        let expected = json!([
            peak(17, lower_before, 17, before, "esc-1"),
            "near",
            17,
            super::blocked(0, 0, false),
            percentiles(17, 17)
        ]);
        assert_eq!(figures(&first, id), expected, "{id}");
        let by_hour = &limit(&whole, id)["by_hour"];
        assert_eq!((&by_hour[23], &by_hour[0]), (&json!(17), &json!(24)), "{id}");
        let top = json!([
            {"identity": "esc-1", "peak": 24, "at": after},
            {"identity": "esc-2", "peak": 9, "at": "2025-03-11T00:10:00Z"},
        ]);
        assert_eq!(limit(&whole, id)["top_identities"], top, "{id}");
    }
    let none = blocked(0, 0, true);
    let most = peak(17, 17, 17, before, "esc-1");
    let expected = json!([most, "near", 40, none, percentiles(14, 17)]);
    assert_eq!(figures(&whole, "fixed"), expected);
    // 6, 9 and 14 at last, 70 % of 20.
    let most = peak(14, 14, 14, "2025-03-11T00:54:00Z", "esc-1");
    let expected = json!([most, "near", 23, none, percentiles(9, 14)]);
    assert_eq!(figures(&second, "fixed"), expected);
}

#[tokio::test]
async fn an_hour_with_other_values() {
    let bench = hours().await;
    let expected = [
        // Above 13 lie 1 and 4, above 8 lie 1, 6 and 9; the window of 24 has 11 and 16 above them.
        ("fixed", 13, 10, 5, 2, true),
        ("sliding", 13, 10, 11, 2, false),
        ("anchored", 13, 10, 11, 2, false),
        ("fixed", 8, 6, 16, 3, true),
        ("sliding", 8, 6, 16, 3, false),
        ("sliding", 23, 17, 1, 1, false),
        ("sliding", 24, 17, 0, 0, false),
    ];
    what_if(&bench, [TENTH, TWELFTH], TWELFTH, &expected).await;
    // 17 alone on the first day; 9, 14 and the 24 on the second.
    let first = [("fixed", 13, 10, 4, 1, true), ("sliding", 13, 10, 4, 1, false)];
    what_if(&bench, [TENTH, ELEVENTH], TWELFTH, &first).await;
    let second = [("fixed", 13, 10, 1, 1, true), ("sliding", 13, 10, 11, 1, false)];
    what_if(&bench, [ELEVENTH, TWELFTH], TWELFTH, &second).await;
}

/// Days of Sao Paulo start at 03:00Z. On the 9th esc-1 counts 4 + 5 = 9 and esc-2 8, on the 10th 7 + 6 = 13 and 2;
/// together 32. By UTC all but nothing would be the 10th's.
async fn local_days() -> Bench {
    let own = [("day", 10, "1d", "fixed"), ("hours", 10, "24h", "sliding")];
    let counts = [
        ("202503100100", "esc-1", 4),
        ("202503100259", "esc-1", 5),
        ("202503100259", "esc-2", 8),
        ("202503100300", "esc-1", 7),
        ("202503101530", "esc-1", 6),
        ("202503101600", "esc-2", 2),
    ];
    world("America/Sao_Paulo", &own, &counts, LATER).await
}

const LATER: &str = "2025-03-11T12:00:00Z";
const DAYS: [&str; 3] = [
    "2025-03-09T03:00:00Z",
    "2025-03-10T03:00:00Z",
    "2025-03-11T03:00:00Z",
];

#[tokio::test]
async fn a_local_day() {
    let bench = local_days().await;
    let whole = report_at(&bench, DAYS[0], DAYS[2], LATER).await;
    // In order the days hold 2, 8, 9, 13. Above 10 are 3.
    let expected = json!([
        peak(13, 13, 13, "2025-03-10T15:30:00Z", "esc-1"),
        "over",
        32,
        blocked(3, 1, true),
        percentiles(8, 13)
    ]);
    assert_eq!(figures(&whole, "day"), expected);
    // 22:00, 23:59, 00:00, 12:30 and 13:00 local: 4, then 4 + 5, then 7, 7 + 6, and 2 of the other.
    let by_hour = &limit(&whole, "day")["by_hour"];
    let found = [22, 23, 0, 12, 13].map(|hour| by_hour[hour].clone());
    assert_eq!(Value::from(found.to_vec()), json!([4, 9, 7, 13, 2]));
    // The ninth alone holds 8 and 9.
    let ninth = report_at(&bench, DAYS[0], DAYS[1], LATER).await;
    let expected = json!([
        peak(9, 9, 9, "2025-03-10T02:59:00Z", "esc-1"),
        "near",
        17,
        blocked(0, 0, true),
        percentiles(8, 9)
    ]);
    assert_eq!(figures(&ninth, "day"), expected);
    // 24 hours to 15:30Z hold 4 + 5 + 7 + 6 = 22. The aligned ones are UTC's: all the 22, and 8 + 2 = 10.
    let expected = json!([
        peak(22, 22, 22, "2025-03-10T15:30:00Z", "esc-1"),
        "over",
        32,
        blocked(12, 1, false),
        percentiles(10, 22)
    ]);
    assert_eq!(figures(&whole, "hours"), expected);
}

#[tokio::test]
async fn a_local_day_with_other_values() {
    let bench = local_days().await;
    let whole = [
        // 1 + 7 + 8 + 12, 1 + 5, and what is above 22 and 10 less 8.
        ("day", 1, 1, 28, 4, true),
        ("day", 8, 6, 6, 2, true),
        ("day", 13, 10, 0, 0, true),
        ("hours", 8, 6, 16, 2, false),
        ("hours", 22, 16, 0, 0, false),
    ];
    what_if(&bench, [DAYS[0], DAYS[2]], LATER, &whole).await;
    what_if(&bench, [DAYS[0], DAYS[1]], LATER, &[("day", 8, 6, 1, 1, true)]).await;
}
