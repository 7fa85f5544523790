//! Answers are told apart by their tags, and not sent to those who have them.

use super::support::{
    Bench, Serving,
    catalogs::{THIRTY, drain, messages, put},
};

const NOW: &str = "2025-03-10T14:05:00Z";
const REPORT: &str = "/v1/calibration?env=prod&from=2025-03-10T12:00:00Z&to=2025-03-10T14:00:00Z";

async fn bench() -> Bench {
    let catalog = messages(&[("messages", THIRTY)]);
    let staging = "[[environment]]\nname = \"staging\"\nprefix = \"PREFIX-stg:\"\n[scope.tenant]";
    let bench = Bench::new(&catalog.replace("[scope.tenant]", staging)).await;
    count(&bench, "", "1205", "2").await;
    // The first minutes can no longer be covered.
    drain(&bench, NOW).await.exited(3);
    bench
}

async fn count(bench: &Bench, environment: &str, minute: &str, count: &str) {
    let key = format!("{}{environment}:m:messages:20250310{minute}", bench.prefix);
    put(bench, key, &[(b"esc-1", count.as_bytes())]).await;
}

async fn drain_one(bench: &Bench, environment: &str) {
    let arguments = ["drain", "--env", environment];
    bench.folga(&arguments).at(NOW).run().await.succeeded();
}

/// Tag and body of an answer.
async fn tagged(serving: &Serving, path: &str) -> (String, String) {
    let answer = serving.get(path).await;
    assert_eq!(answer.status, 200, "{answer:?}");
    assert!(
        answer.head.contains("cache-control: private, no-cache"),
        "{answer:?}"
    );
    let tag = answer.head.lines().find_map(|line| line.strip_prefix("etag: "));
    (tag.expect("a tag").to_owned(), answer.body)
}

/// The service, with its drain at the start behind it.
async fn serve(bench: &Bench) -> Serving {
    // Its clock stands, so it is not due to drain again.
    let serving = Serving::start(bench.folga(&["--log-format", "json", "serve"]).at(NOW)).await;
    super::support::wait_until("the drains at the start end", async || {
        let health = serving.get("/health").await.json();
        let sources = health["sources"].as_array().unwrap();
        sources.iter().all(|source| source["last_run"].is_string())
    })
    .await;
    serving
}

#[tokio::test]
async fn one_tag_means_the_same_bytes_until_the_environment_changes() {
    let bench = bench().await;
    let serving = serve(&bench).await;
    let paths = [
        REPORT.to_owned(),
        format!("{REPORT}&format=csv"),
        format!("{REPORT}&group=A"),
        "/v1/limits?env=prod".to_owned(),
        REPORT.replace("calibration", "limits/messages/hours"),
        REPORT.replace("calibration", "limits/messages/whatif") + "&limit=1",
    ];
    let mut first = Vec::new();
    for path in &paths {
        let answer = tagged(&serving, path).await;
        assert_eq!(tagged(&serving, path).await, answer, "{path}");
        first.push(answer);
    }

    count(&bench, "-stg", "1358", "9").await;
    drain_one(&bench, "staging").await;
    for (path, answer) in paths.iter().zip(&first) {
        assert_eq!(tagged(&serving, path).await, *answer, "{path}");
    }

    count(&bench, "", "1358", "9").await;
    drain_one(&bench, "prod").await;
    for (path, (tag, body)) in paths.iter().zip(&first) {
        let (new_tag, new_body) = tagged(&serving, path).await;
        assert!(new_tag != *tag && new_body != *body, "{path}: {new_body}");
    }
}

#[tokio::test]
async fn who_has_an_answer_is_not_sent_it_again() {
    let bench = bench().await;
    let serving = serve(&bench).await;
    let (tag, _) = tagged(&serving, REPORT).await;
    let ask = async |known: String| {
        let header = format!("If-None-Match: {known}\r\n");
        serving.ask("GET", REPORT, &header).await
    };
    for known in [
        tag.clone(),
        format!("W/{tag}"),
        format!("\"other\", {tag}"),
        "*".to_owned(),
    ] {
        let answer = ask(known).await;
        assert_eq!((answer.status, &*answer.body), (304, ""), "{answer:?}");
        assert!(answer.head.contains(&format!("etag: {tag}")), "{answer:?}");
        assert!(answer.head.contains("vary: accept"), "{answer:?}");
    }
    for unknown in ["\"other\"".to_owned(), tag.replace('"', "")] {
        assert_eq!(ask(unknown.clone()).await.status, 200, "{unknown}");
    }
    // Another form is another answer.
    let csv = format!("{REPORT}&format=csv");
    let answer = serving
        .ask("GET", &csv, &format!("If-None-Match: {tag}\r\n"))
        .await;
    assert_eq!(answer.status, 200);

    count(&bench, "", "1358", "9").await;
    drain_one(&bench, "prod").await;
    assert_eq!(ask(tag).await.status, 200);
}
