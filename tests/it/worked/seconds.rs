//! Windows below a minute: bounds, and no value.

use serde_json::{Value, json};

use super::{NOON, ONE, TWO, ask, figures, world};
use crate::support::catalogs::{limit, report_at};

#[tokio::test]
async fn five_seconds_have_bounds() {
    let own = [
        ("over", 50, "5s", "anchored"),
        ("tight", 51, "5s", "sliding"),
        ("open", 1028, "5s", "sliding"),
        ("ok", 1029, "5s", "sliding"),
        ("fixed", 859, "5s", "fixed"),
        ("ten", 100, "10s", "anchored"),
        ("half", 300, "30s", "fixed"),
    ];
    let counts = [
        ("202503101205", "esc-1", 601),
        ("202503101206", "esc-1", 90),
        ("202503101259", "esc-2", 300),
        ("202503101300", "esc-2", 420),
    ];
    let bench = world("UTC", &own, &counts, TWO).await;
    let whole = report_at(&bench, NOON, TWO, TWO).await;
    // 601 ÷ 12 = 50.08: some five seconds hold 51. At most 300 + 420 lie in the two minutes they touch; an aligned
    // window touches one. 70 % of 1028 are 719.6, of 1029 are 720.3, of 859 are 601.3. ÷ 6 = 100.2, ÷ 2 = 300.5.
    for (id, lower, upper, status) in [
        ("over", 51, 720, "over"),
        ("tight", 51, 720, "unmeasurable"),
        ("open", 51, 720, "unmeasurable"),
        ("ok", 51, 720, "ok"),
        ("fixed", 51, 601, "ok"),
        ("ten", 101, 720, "over"),
        ("half", 301, 601, "over"),
    ] {
        let bounds = json!({"value": null, "lower": lower, "upper": upper, "at": null, "identity": null});
        assert_eq!(
            figures(&whole, id),
            json!([bounds, status, 1411, null, null]),
            "{id}"
        );
    }
    // The pair of 12:59 and 13:00 belongs to the later hour: 601 + 90 before, ⌈420 ÷ 12⌉ after.
    for (from, to, lower, upper) in [(NOON, ONE, 51, 691), (ONE, TWO, 35, 720)] {
        let part = report_at(&bench, from, to, TWO).await;
        let found = &limit(&part, "ok")["peak"];
        assert_eq!(
            (&found["lower"], &found["upper"]),
            (&json!(lower), &json!(upper)),
            "{from}"
        );
    }
}

#[tokio::test]
async fn five_seconds_with_other_values_tell_nothing() {
    let bench = world(
        "UTC",
        &[("burst", 50, "5s", "anchored")],
        &[("202503101205", "esc-1", 601)],
        ONE,
    )
    .await;
    let found = ask(&bench, "burst", "10", [NOON, ONE], ONE).await;
    assert_eq!(
        (&found["requests"], &found["identity_windows"]),
        (&Value::Null, &Value::Null)
    );
    assert_eq!((&found["limit"], &found["alert_at"]), (&json!(10), &json!(7)));
}
