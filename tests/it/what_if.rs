//! What other limits would have refused of the worked examples.

use serde_json::{Value, json};

use super::{
    support::Bench,
    worked::{DAY, NOON, ONE, TWO, days, midnight, minutes, quarters, seconds},
};

/// The answer for another value of a limit, but for what was asked.
async fn refused(bench: &Bench, id: &str, value: u64, [from, to]: [&str; 2]) -> Value {
    let value = value.to_string();
    let arguments = [
        "whatif", id, "--env", "prod", "--limit", &value, "--from", from, "--to", to, "--format", "json",
    ];
    let ran = bench.folga(&arguments).at("2025-03-12T00:00:00Z").run().await;
    let mut answer = ran.succeeded().json();
    let answer = answer.as_object_mut().unwrap();
    for (name, asked) in [
        ("id", json!(id)),
        ("environment", json!("prod")),
        ("from", json!(from)),
        ("to", json!(to)),
        ("limit", json!(value.parse::<u64>().unwrap())),
    ] {
        assert_eq!(answer.remove(name), Some(asked), "{name}");
    }
    Value::Object(std::mem::take(answer))
}

fn expected(alert_at: u64, requests: u64, identity_windows: u64, exact: bool) -> Value {
    json!({"alert_at": alert_at, "requests": requests, "identity_windows": identity_windows, "exact": exact})
}

#[tokio::test]
async fn another_limit_would_have_refused_what_its_windows_held_above_it() {
    // Minutes hold 1, 2, 3, 6, 7 and 7. Above 6: 1 + 1; above 2: 1 + 4 + 5 + 5. 70 % of 6 are 4.2, of 2 they are 1.4.
    let bench = minutes().await;
    let noon = [NOON, ONE];
    assert_eq!(refused(&bench, "minute", 6, noon).await, expected(5, 2, 2, false));
    assert_eq!(
        refused(&bench, "minute", 2, noon).await,
        expected(2, 15, 4, false)
    );
    assert_eq!(refused(&bench, "minute", 7, noon).await, expected(5, 0, 0, false));

    // Quarters hold 6, 6, 7 and 7, which is 1 + 1 above 6. The window of 12 alone has 6 above it, where windows are not
    // fixed.
    let (bench, hours) = (quarters().await, [NOON, TWO]);
    for id in ["anchored", "sliding"] {
        assert_eq!(
            refused(&bench, id, 6, hours).await,
            expected(5, 6, 2, false),
            "{id}"
        );
        assert_eq!(
            refused(&bench, id, 11, hours).await,
            expected(8, 1, 1, false),
            "{id}"
        );
    }
    assert_eq!(refused(&bench, "fixed", 6, hours).await, expected(5, 2, 2, true));
    assert_eq!(refused(&bench, "fixed", 11, hours).await, expected(8, 0, 0, true));
    // The hour of 12 has 6, 6 and 7, and no window of more.
    assert_eq!(
        refused(&bench, "sliding", 6, noon).await,
        expected(5, 1, 1, false)
    );

    // Hours hold 17 and 12, one window 22. Above 16: 1, yet 22 − 16 = 6. Above 10: 7 + 2 = 9, yet 22 − 10 = 12.
    let (bench, both) = (midnight().await, ["2025-03-10T00:00:00Z", "2025-03-12T00:00:00Z"]);
    assert_eq!(refused(&bench, "hour", 16, both).await, expected(12, 6, 1, false));
    assert_eq!(refused(&bench, "hour", 10, both).await, expected(7, 12, 2, false));
    assert_eq!(refused(&bench, "hour", 22, both).await, expected(16, 0, 0, false));

    // A day holds 11 and 8. Above 8: 3; above 7: 4 + 1.
    let bench = days().await;
    assert_eq!(refused(&bench, "day", 8, DAY).await, expected(6, 3, 1, true));
    assert_eq!(refused(&bench, "day", 7, DAY).await, expected(5, 5, 2, true));

    // Below a minute windows can't be seen.
    let bench = seconds().await;
    for id in ["anchored", "sliding", "fixed"] {
        let unknown = json!({"alert_at": 7, "requests": null, "identity_windows": null, "exact": false});
        assert_eq!(refused(&bench, id, 10, hours).await, unknown, "{id}");
    }
}
