//! What people see of alerts: the command line, the API, the page and health.

use folga::catalog::Catalog;
use serde_json::{Value, json};

use super::support::{
    Bench, Serving,
    catalogs::{THIRTY, drain, messages, put},
    wait_until,
};

/// Before the alert has ended.
const NOW: &str = "2025-03-10T12:10:00Z";
/// Where alerts go: to nobody.
const NTFY: &str = "[ntfy]\nurl = \"http://127.0.0.1:9\"\ntopic = \"limits\"\n";

/// Two environments. In production one tenant sent 21 of 30 messages within a minute, and 31 of them two minutes later.
async fn alerted() -> Bench {
    let catalog = messages(&[("messages", THIRTY), ("other", &THIRTY.replace("30", "900"))]);
    let staging = "[[environment]]\nname = \"staging\"\nprefix = \"PREFIX-stg:\"\n[scope.tenant]";
    let bench = Bench::new(&catalog.replace("[scope.tenant]", staging)).await;
    for (minute, count, drained) in [("1201", "21", "12:02:10"), ("1203", "31", "12:04:10")] {
        let key = bench.key(&format!("m:messages:20250310{minute}"));
        put(&bench, key, &[(b"esc-1", count.as_bytes())]).await;
        drain(&bench, &format!("2025-03-10T{drained}Z")).await.succeeded();
    }
    bench
}

async fn serve(bench: &Bench) -> Serving {
    Serving::start(bench.folga(&["--log-format", "json", "serve"]).at(NOW)).await
}

/// Silences the messages of production.
async fn silence(bench: &Bench) {
    let arguments = [
        "alerts",
        "silence",
        "messages",
        "--env",
        "prod",
        "--for",
        "2h",
        "--reason",
        " load test ",
    ];
    let ran = bench.folga(&arguments).at(NOW).run().await.succeeded();
    assert_eq!(
        squeezed(&ran.stdout),
        [
            "times of UTC",
            "",
            "silenced",
            "environment limit until reason",
            "prod messages 2025-03-10 14:10 load test"
        ]
    );
}

/// Lines with their columns apart by one blank.
fn squeezed(text: &str) -> Vec<String> {
    let columns = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
    text.lines().map(columns).collect()
}

/// What `folga alerts list` prints.
async fn list(bench: &Bench, more: &[&str]) -> String {
    let arguments = [&["alerts", "list"][..], more].concat();
    bench.folga(&arguments).at(NOW).run().await.succeeded().stdout
}

/// The same as JSON.
async fn listed(bench: &Bench) -> Value {
    serde_json::from_str(&list(bench, &["--format", "json"]).await).expect("JSON")
}

#[tokio::test]
async fn what_is_alerted_is_listed() {
    let bench = alerted().await;
    silence(&bench).await;
    assert_eq!(
        squeezed(&list(&bench, &[]).await),
        [
            "times of UTC",
            "",
            "alerted now",
            "environment what level since peak at silenced",
            "prod messages over 2025-03-10 12:01 31 2025-03-10 12:03 until 2025-03-10 14:10",
            "",
            "silenced",
            "environment limit until reason",
            "prod messages 2025-03-10 14:10 load test",
            "",
            "alerts are only recorded: the catalog has no [ntfy]",
            "",
            "newest alerts",
            "created environment what kind level state sent at held by",
            "2025-03-10 12:04 prod messages raised over unsent – –",
            "2025-03-10 12:02 prod messages raised near unsent – –",
        ]
    );
    let staging = list(&bench, &["--env", "staging"]).await;
    assert_eq!(
        squeezed(&staging),
        [
            "times of UTC",
            "nothing is alerted",
            "",
            "alerts are only recorded: the catalog has no [ntfy]"
        ]
    );

    let lift = ["alerts", "unsilence", "messages", "--env", "prod"];
    let ran = bench.folga(&lift).at(NOW).run().await.succeeded();
    assert_eq!(ran.stdout, "times of UTC\n\nnothing is silenced\n");
    let ran = bench.folga(&lift).at(NOW).run().await.succeeded();
    assert!(
        ran.stdout.starts_with("messages in prod was not silenced\n"),
        "{}",
        ran.stdout
    );
}

#[tokio::test]
async fn the_api_says_the_same_as_the_command_line() {
    let bench = alerted().await;
    silence(&bench).await;
    let printed = listed(&bench).await;
    let serving = serve(&bench).await;
    let served = serving.get("/v1/alerts").await;
    assert_eq!((served.status, served.json()), (200, printed));
    let alerts = serving.get("/v1/alerts?env=prod").await.json();
    assert_eq!(alerts, served.json());
    assert_eq!(
        alerts["standings"],
        json!([{"environment": "prod", "key": "messages", "limit": "messages", "level": "over",
                "since": "2025-03-10T12:01:00Z", "peak": {"count": 31, "at": "2025-03-10T12:03:00Z"},
                "last_high": "2025-03-10T12:03:00Z"}])
    );
    assert_eq!(
        alerts["silences"],
        json!([{"environment": "prod", "limit": "messages", "until": "2025-03-10T14:10:00Z", "reason": "load test"}])
    );
    assert_eq!(
        alerts["delivery"],
        json!({"configured": false, "waiting": 0, "closed_until": null, "failures": 0, "error": null})
    );
    let newest = &alerts["alerts"][0];
    assert_eq!(
        (&newest["level"], &newest["state"], &newest["title"]),
        (
            &json!("over"),
            &json!("unsent"),
            &json!("prod: messages is over its limit with 31 of 30 (103.3 %)")
        )
    );
    let staging = serving.get("/v1/alerts?env=staging").await.json();
    assert_eq!(
        (&staging["standings"], &staging["silences"], &staging["alerts"]),
        (&json!([]), &json!([]), &json!([]))
    );
    for (query, status, detail) in [
        ("env=nope", 404, "give one of prod, staging"),
        ("days=1", 400, "there is no parameter \"days\" here; known: env"),
    ] {
        let answer = serving.get(&format!("/v1/alerts?{query}")).await;
        let problem = answer.json();
        assert_eq!(answer.status, status, "{problem}");
        assert!(problem["detail"].as_str().unwrap().contains(detail), "{problem}");
    }
}

#[tokio::test]
async fn what_is_no_silence_is_refused_with_the_remedy() {
    let bench = alerted().await;
    let silence = ["alerts", "silence"];
    for (arguments, remedy) in [
        (
            &["messages", "--env", "prd", "--for", "2h", "--reason", "x"][..],
            "give one of prod, staging",
        ),
        (
            &["message", "--env", "prod", "--for", "2h", "--reason", "x"],
            "give one of messages, other",
        ),
        (
            &["messages", "--env", "prod", "--for", "2 hours", "--reason", "x"],
            "write a whole number and a unit",
        ),
        (
            &[
                "messages",
                "--env",
                "prod",
                "--until",
                "2025-03-10T12:10:00Z",
                "--reason",
                "x",
            ],
            "give an end that lies ahead",
        ),
        (
            &["messages", "--env", "prod", "--for", "91d", "--reason", "x"],
            "within 90 days",
        ),
        (
            &[
                "messages",
                "--env",
                "prod",
                "--for",
                "2h",
                "--reason",
                &"x".repeat(201),
            ],
            "longer than 200 characters",
        ),
        (
            &["messages", "--env", "prod", "--for", "2h", "--reason", " "],
            "say why",
        ),
        (&["messages", "--env", "prod", "--for", "2h"], "--reason <TEXT>"),
        (
            &["messages", "--env", "prod", "--reason", "x"],
            "--until <RFC3339>|--for <SPAN>",
        ),
    ] {
        let ran = bench
            .folga(&[&silence, arguments].concat())
            .at(NOW)
            .run()
            .await
            .exited(2);
        assert!(ran.stderr.contains(remedy), "{}", ran.stderr);
    }
    for arguments in [
        &["alerts", "unsilence", "message", "--env", "prod"][..],
        &["alerts", "list", "--env", "prd"],
    ] {
        let ran = bench.folga(arguments).at(NOW).run().await.exited(2);
        assert!(ran.stderr.contains("give one of"), "{}", ran.stderr);
    }
    assert_eq!(listed(&bench).await["silences"], json!([]));
}

#[tokio::test]
async fn the_page_says_what_is_alerted() {
    let bench = alerted().await;
    silence(&bench).await;
    let serving = serve(&bench).await;
    let html = "Accept: text/html\r\n";
    let page = serving.ask("GET", "/?env=prod", html).await;
    for piece in [
        "<li data-alerted=\"messages\"><a href=\"/limits/messages?env=prod\">",
        "<span class=\"pill over\">",
        "silenced until <time datetime=\"2025-03-10T14:10:00Z\">",
        "<span lang=\"en\"><bdi>prod: messages is over its limit with 31 of 30 (103.3 %)</bdi></span>",
        "recorded only",
    ] {
        assert!(page.body.contains(piece), "{piece}: {}", page.body);
    }
    let page = serving
        .ask("GET", "/limits/messages?env=prod&lang=pt-BR", html)
        .await;
    assert!(
        page.body.contains("Em alerta agora: <span class=\"pill over\">"),
        "{}",
        page.body
    );
    assert!(page.body.contains("silenciado até"), "{}", page.body);
    for quiet in ["/?env=staging", "/limits/other?env=prod"] {
        let page = serving.ask("GET", quiet, html).await;
        assert!(!page.body.contains("class=\"alerted\""), "{}", page.body);
    }
}

#[tokio::test]
async fn health_and_metrics_tell_of_deliveries_that_fail() {
    let bench = alerted().await;
    let serving = serve(&bench).await;
    let calm = async |serving: &Serving| {
        wait_until("the first drain ends", async || {
            serving.source().await["last_run"].is_string()
        })
        .await;
        serving.get("/health").await.json()
    };
    let health = calm(&serving).await;
    assert_eq!(
        health["alerts"],
        json!({"configured": false, "waiting": 0, "last_error": null, "closed_until": null})
    );
    serving.end().await;

    let before = std::fs::read_to_string(bench.folder.join("folga.toml")).unwrap();
    let with_ntfy = before.replacen("[[environment]]", &format!("{NTFY}[[environment]]"), 1);
    bench.write_catalog(&with_ntfy);
    let lookup = |name: &str| (name == "FOLGA_REDIS_URL").then(|| bench.redis_url.clone());
    let catalog = Catalog::load(&bench.folder.join("folga.toml"), &lookup, false).unwrap();
    // As a sender leaves it whose server answers nothing.
    let failing = format!(
        "UPDATE delivery SET closed_until = '2125-01-01', planned_at = '2025-03-10', failures = 3,
             error = 'no answer', settings = '{}';
         UPDATE alerts SET state = 'pending' WHERE level = 'over';",
        catalog.ntfy.unwrap().fingerprint()
    );
    sqlx::raw_sql(sqlx::AssertSqlSafe(failing))
        .execute(&bench.pool)
        .await
        .unwrap();
    // Without [ntfy] nothing is sent, so that nothing fails.
    bench.write_catalog(&before);
    let serving = serve(&bench).await;
    assert_ne!(calm(&serving).await["status"], "degraded");
    serving.end().await;

    bench.write_catalog(&with_ntfy);
    let serving = serve(&bench).await;
    let health = calm(&serving).await;
    assert_eq!(health["status"], "degraded", "{health}");
    let alerts = &health["alerts"];
    assert_eq!(
        (&alerts["configured"], &alerts["waiting"], &alerts["last_error"]),
        (&json!(true), &json!(1), &json!("no answer"))
    );
    assert_eq!(alerts["closed_until"], "2125-01-01T00:00:00Z");
    let metrics = serving.get("/metrics").await.body;
    for line in [
        "folga_alerts_waiting 1",
        "folga_alert_messages_total 0",
        "folga_alert_failures_total 0",
    ] {
        assert!(metrics.lines().any(|own| own == line), "{line}\n{metrics}");
    }
    let waiting = "1 alert waits to be sent; the server is not asked before 2125-01-01 00:00; 3 failed in a row: no answer";
    let printed = list(&bench, &[]).await;
    assert!(printed.lines().any(|line| line == waiting), "{printed}");
}
