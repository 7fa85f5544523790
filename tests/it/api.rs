//! What the routes about limits answer, and the command lines that say the same.

use serde_json::{Value, json};

use super::support::{
    Bench, Serving,
    catalogs::{THIRTY, drain, messages, put},
};

const NOW: &str = "2025-03-10T14:05:00Z";

/// Three hours of messages of one tenant: 1, 2 and 4. `other` is only in staging; `burst` can't be seen.
async fn three_hours() -> Bench {
    let catalog = messages(&[
        ("messages", THIRTY),
        ("other", &THIRTY.replace("limit = 30", "limit = { staging = 30 }")),
        ("burst", &THIRTY.replace("1m", "5s")),
    ]);
    let staging = "[[environment]]\nname = \"staging\"\nprefix = \"PREFIX-stg:\"\n[scope.tenant]";
    let bench = Bench::new(&catalog.replace("[scope.tenant]", staging)).await;
    for (minute, count) in [("1105", "1"), ("1205", "2"), ("1305", "4")] {
        let key = bench.key(&format!("m:messages:20250310{minute}"));
        put(&bench, key, &[(b"esc-1", count.as_bytes())]).await;
    }
    drain(&bench, "2025-03-10T12:30:00Z").await.succeeded();
    drain(&bench, NOW).await.succeeded();
    bench
}

async fn serve(bench: &Bench) -> Serving {
    Serving::start(bench.folga(&["--log-format", "json", "serve"]).at(NOW)).await
}

#[tokio::test]
async fn limits_hours_and_what_if_are_served() {
    let bench = three_hours().await;
    let serving = serve(&bench).await;

    let limits = serving.get("/v1/limits?env=prod").await.json();
    assert_eq!(limits["environment"], "prod");
    assert_eq!(
        limits["limits"][0],
        json!({"id": "messages", "group": "A", "limit": 30, "alert_at": 21, "status": "ok", "value": 4,
               "at": "2025-03-10T13:05:00Z", "mode": "observe"})
    );
    assert_eq!(limits["limits"].as_array().unwrap().len(), 2, "{limits:#}");

    let period = "env=prod&from=2025-03-10T12:00:00Z&to=2025-03-10T14:00:00Z";
    let hours = serving
        .get(&format!("/v1/limits/messages/hours?{period}"))
        .await
        .json();
    let hour = |start: &str, count: u64, at: &str| {
        json!({"hour": start, "peak": {"value": count, "lower": count.div_ceil(2), "upper": count, "at": at,
               "identity": "esc-1"}, "total": count, "identities": 1, "covered_minutes": 60, "partial": false,
               "ignored": false})
    };
    assert_eq!(
        hours,
        json!({"id": "messages", "environment": "prod", "hours": [
            hour("2025-03-10T12:00:00Z", 2, "2025-03-10T12:05:00Z"),
            hour("2025-03-10T13:00:00Z", 4, "2025-03-10T13:05:00Z"),
        ]})
    );

    // Windows of 2 and 4 have 1 and 3 above 1. 70 % of 1 is reached by 1.
    let what_if = json!({"id": "messages", "environment": "prod", "from": "2025-03-10T12:00:00Z",
        "to": "2025-03-10T14:00:00Z", "limit": 1, "alert_at": 1, "requests": 4, "identity_windows": 2, "exact": false});
    let served = serving
        .get(&format!("/v1/limits/messages/whatif?{period}&limit=1"))
        .await;
    assert_eq!(served.json(), what_if);
    let unseen = serving
        .get(&format!("/v1/limits/burst/whatif?{period}&limit=1"))
        .await
        .json();
    assert_eq!(
        (&unseen["requests"], &unseen["identity_windows"]),
        (&Value::Null, &Value::Null)
    );

    // Nobody knows what came before the first sample: that is not nothing.
    let unknown = "env=prod&from=2025-03-09T12:00:00Z&to=2025-03-09T14:00:00Z";
    let unknown = serving
        .get(&format!("/v1/limits/messages/whatif?{unknown}&limit=1"))
        .await
        .json();
    assert_eq!(
        (
            &unknown["requests"],
            &unknown["identity_windows"],
            &unknown["exact"]
        ),
        (&Value::Null, &Value::Null, &json!(false))
    );

    let arguments = [
        "whatif",
        "messages",
        "--env",
        "prod",
        "--limit",
        "1",
        "--from",
        "2025-03-10T12:00:00Z",
        "--to",
        "2025-03-10T14:00:00Z",
    ];
    let ran = bench.folga(&arguments).at(NOW).run().await.succeeded();
    assert_eq!(
        ran.stdout,
        "messages in prod, 2025-03-10 12:00 to 2025-03-10 14:00, times of UTC\n\
         a limit of 1 would have refused 4 requests, in 2 windows of single identities (an estimate); near from 1\n"
    );
    let arguments = [&arguments[..], &["--format", "json"]].concat();
    let ran = bench.folga(&arguments).at(NOW).run().await.succeeded();
    assert_eq!(ran.json(), what_if);
}

#[tokio::test]
async fn adjacent_periods_share_no_hour() {
    let bench = three_hours().await;
    let serving = serve(&bench).await;
    let total = async |from: &str, to: &str| {
        let path = format!("/v1/calibration?env=prod&from=2025-03-10T{from}Z&to=2025-03-10T{to}Z");
        serving.get(&path).await.json()["groups"][0]["limits"][0]["total"].clone()
    };
    assert_eq!(total("12:00:00", "13:00:00").await, 2);
    assert_eq!(total("13:00:00", "14:00:00").await, 4);
    assert_eq!(total("12:00:00", "14:00:00").await, 6);
    assert_eq!(total("12:00:00", "12:00:00").await, 0);
    // Both ends are rounded down to their hour.
    assert_eq!(total("12:30:00", "13:30:00").await, 2);
}

#[tokio::test]
async fn what_is_asked_wrongly_is_a_problem_that_names_the_remedy() {
    let bench = three_hours().await;
    let serving = serve(&bench).await;
    let no_value = "give a whole number from 1 to 18446744073709551615";
    for (path, status, detail) in [
        ("/v1/limits", 400, "env is missing: give one of prod, staging"),
        ("/v1/limits?env=prd", 404, "there is no environment \"prd\""),
        (
            "/v1/limits?env=prod&days=3",
            400,
            "there is no parameter \"days\" here; known: env",
        ),
        (
            "/v1/limits/message/hours?env=prod",
            404,
            "the catalog has no limit \"message\": /v1/limits?env=prod lists those of prod",
        ),
        (
            "/v1/limits/other/hours?env=prod",
            404,
            "prod has no limit \"other\"",
        ),
        (
            "/v1/limits/%FF/hours?env=prod",
            400,
            "the limit's id is not UTF-8",
        ),
        (
            "/v1/limits/messages/hours?env=prod&days=91",
            400,
            "ask for 1 to 90 days",
        ),
        (
            "/v1/limits/messages/hours?env=prod&limit=3",
            400,
            "there is no parameter \"limit\"",
        ),
        ("/v1/limits/messages/whatif?env=prod", 400, "limit is missing"),
        ("/v1/limits/messages/whatif?env=prod&limit=0", 400, no_value),
        ("/v1/limits/messages/whatif?env=prod&limit=-1", 400, no_value),
        ("/v1/limits/messages/whatif?env=prod&limit=abc", 400, no_value),
        ("/v1/limits/messages/whatif?env=prod&limit=30.5", 400, no_value),
        ("/v1/limits/messages/whatif?env=prod&limit=", 400, no_value),
        // 2^64.
        (
            "/v1/limits/messages/whatif?env=prod&limit=18446744073709551616",
            400,
            no_value,
        ),
        ("/v1/limits/messages", 404, "there is no such route"),
    ] {
        let answer = serving.get(path).await;
        let problem = answer.json();
        assert_eq!(
            (answer.status, &problem["status"]),
            (status, &json!(status)),
            "{path}"
        );
        assert!(problem["detail"].as_str().unwrap().contains(detail), "{problem}");
    }
    // 2^64 - 1 is a value like any other.
    let path = "/v1/limits/messages/whatif?env=prod&limit=18446744073709551615";
    let what_if = serving.get(path).await.json();
    assert_eq!(what_if["limit"].as_u64(), Some(u64::MAX));
    for (arguments, remedy) in [
        (
            ["whatif", "nope", "--env", "prod", "--limit", "1"],
            "give one of messages, burst",
        ),
        (
            ["whatif", "other", "--env", "prod", "--limit", "1"],
            "give one of messages, burst",
        ),
        (
            ["whatif", "messages", "--env", "prd", "--limit", "1"],
            "give one of prod, staging",
        ),
        (
            ["whatif", "messages", "--env", "prod", "--limit", "0"],
            "0 is not in 1..18446744073709551615",
        ),
    ] {
        let ran = bench.folga(&arguments).run().await.exited(2);
        assert!(ran.stderr.contains(remedy), "{}", ran.stderr);
    }
}

#[tokio::test]
async fn every_route_and_what_it_answers_is_described() {
    let bench = three_hours().await;
    let serving = serve(&bench).await;
    let document = serving.get("/openapi.json").await.json();
    assert_eq!(document["openapi"], "3.1.0");
    let paths: Vec<&String> = document["paths"].as_object().unwrap().keys().collect();
    assert_eq!(
        paths,
        [
            "/health",
            "/livez",
            "/metrics",
            "/v1/alerts",
            "/v1/calibration",
            "/v1/limits",
            "/v1/limits/{id}/hours",
            "/v1/limits/{id}/whatif",
            "/v1/runs"
        ]
    );
    for (path, query, statuses) in [
        ("/livez", "", vec!["200"]),
        ("/health", "", vec!["200", "503"]),
        ("/metrics", "", vec!["200", "401", "500", "503"]),
        ("/v1/runs", "", vec!["200", "400", "401", "500", "503"]),
        (
            "/v1/alerts",
            "?env=prod",
            vec!["200", "400", "401", "404", "500", "503"],
        ),
        (
            "/v1/calibration",
            "?env=prod",
            vec!["200", "304", "400", "401", "404", "406", "500", "503"],
        ),
        (
            "/v1/limits",
            "?env=prod",
            vec!["200", "304", "400", "401", "404", "500", "503"],
        ),
        (
            "/v1/limits/{id}/hours",
            "?env=prod",
            vec!["200", "304", "400", "401", "404", "500", "503"],
        ),
        (
            "/v1/limits/{id}/whatif",
            "?env=prod&limit=3",
            vec!["200", "304", "400", "401", "404", "500", "503"],
        ),
    ] {
        let responses = &document["paths"][path]["get"]["responses"];
        let described: Vec<&String> = responses.as_object().unwrap().keys().collect();
        assert_eq!(described, statuses, "{path}");
        let answer = serving.get(&(path.replace("{id}", "messages") + query)).await;
        assert_eq!(answer.status, 200, "{answer:?}");
        let types = responses["200"]["content"].as_object().unwrap();
        assert!(
            types
                .keys()
                .any(|kind| answer.head.contains(&format!("content-type: {kind}"))),
            "{path}: {types:?} {answer:?}"
        );
    }
    // Whatever the size, a count is an integer.
    let total = &document["components"]["schemas"]["LimitView"]["properties"]["total"];
    assert_eq!(
        (&total["type"], &total["minimum"]),
        (&json!("integer"), &json!(0)),
        "{total}"
    );
    let schemes = document["components"]["securitySchemes"].as_object().unwrap();
    assert_eq!(schemes.keys().collect::<Vec<_>>(), ["bearer", "cookie"]);
}
