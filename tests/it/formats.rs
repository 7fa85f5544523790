//! The forms of a report, and what hostile identities can't do to them.

use serde_json::{Value, json};

use super::support::{
    Bench, Serving,
    catalogs::{THIRTY, drain, limit, messages, put, report},
};

const FROM: &str = "2025-03-10T12:00:00Z";
const TO: &str = "2025-03-10T13:00:00Z";

/// Identities from outside, each the largest of an endpoint of its own.
const HOSTILE: [&str; 9] = [
    "=HYPERLINK(\"http://x\",\"y\")",
    "+551199",
    "-2+3",
    "@SUM(A1)",
    "\t=1",
    "a,\"b",
    "x\ny",
    "=1+1",
    "|`<b>[x](y)",
];

async fn hostile() -> Bench {
    let limits: Vec<(String, String)> = (0..HOSTILE.len())
        .map(|n| (format!("l{n}"), THIRTY.replace("messages", &format!("e{n}"))))
        .collect();
    let limits: Vec<_> = limits
        .iter()
        .map(|(id, lines)| (id.as_str(), lines.as_str()))
        .collect();
    let bench = Bench::new(&messages(&limits)).await;
    for (n, identity) in HOSTILE.iter().enumerate() {
        let key = bench.key(&format!("m:e{n}:202503101205"));
        // The largest count there is, for what a spreadsheet would round.
        let count = if n == 0 { "9007199254740993" } else { "7" };
        put(&bench, key, &[(identity.as_bytes(), count.as_bytes())]).await;
    }
    drain(&bench, TO).await.succeeded();
    bench
}

fn arguments(format: &str) -> [&str; 9] {
    [
        "report", "--env", "prod", "--from", FROM, "--to", TO, "--format", format,
    ]
}

/// Rows and cells by RFC 4180, read by hand.
fn parse_csv(text: &str) -> Vec<Vec<String>> {
    let (mut rows, mut row, mut cell, mut quoted) = (Vec::new(), Vec::new(), String::new(), false);
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '"' if quoted && letters.peek() == Some(&'"') => cell.extend(letters.next()),
            '"' => quoted = !quoted,
            ',' if !quoted => row.push(std::mem::take(&mut cell)),
            '\r' if !quoted => {
                assert_eq!(letters.next(), Some('\n'), "a line ends with CRLF");
                row.push(std::mem::take(&mut cell));
                rows.push(std::mem::take(&mut row));
            }
            letter => {
                assert!(quoted || letter != '\n', "a bare line feed");
                cell.push(letter);
            }
        }
    }
    assert!(row.is_empty() && cell.is_empty(), "the last line ends too");
    rows
}

#[tokio::test]
async fn no_identity_is_a_formula_or_breaks_a_table() {
    let bench = hostile().await;
    let ran = bench.folga(&arguments("csv")).at(TO).run().await.succeeded();
    let rows = parse_csv(&ran.stdout);
    assert_eq!(rows.len(), 1 + HOSTILE.len());
    let column = |name: &str| rows[0].iter().position(|own| own == name).unwrap();
    assert!(rows.iter().all(|row| row.len() == rows[0].len()));
    let cells = |name: &str| -> Vec<&str> {
        let at = column(name);
        rows[1..].iter().map(|row| &*row[at]).collect()
    };
    // Labels are kept with what is unprintable escaped.
    assert_eq!(
        cells("peak_identity"),
        [
            "'=HYPERLINK(\"http://x\",\"y\")",
            "'+551199",
            "'-2+3",
            "'@SUM(A1)",
            "\\x09=1",
            "a,\"b",
            "x\\x0ay",
            "'=1+1",
            "|`<b>[x](y)"
        ]
    );
    assert_eq!(cells("top_1_identity"), cells("peak_identity"));
    assert_eq!(cells("peak")[..2], ["9007199254740993", "7"]);
    assert_eq!(cells("total")[..2], ["9007199254740993", "7"]);
    assert_eq!(cells("peak_at")[0], "2025-03-10T12:05:00Z");
    assert_eq!(cells("accepted")[0], "");
    // 7 of 30.
    assert!(
        cells("utilization")[1].starts_with("0.2333"),
        "{}",
        cells("utilization")[1]
    );
    assert_eq!(
        (cells("limit")[0], cells("window")[0], cells("status")[1]),
        ("30", "1m", "ok")
    );
    assert!(
        !ran.stdout.contains("NaN") && !ran.stdout.contains("e+"),
        "{}",
        ran.stdout
    );

    let ran = bench.folga(&arguments("md")).at(TO).run().await.succeeded();
    let table: Vec<_> = ran.stdout.lines().filter(|line| line.starts_with('|')).collect();
    // Head, rule and a row for each; every row has the bars of the head.
    assert_eq!(table.len(), 2 + HOSTILE.len());
    let bars = |line: &&str| line.replace("\\|", "").matches('|').count();
    assert!(
        table.iter().all(|line| bars(line) == bars(&table[0])),
        "{}",
        ran.stdout
    );
    assert!(
        ran.stdout.starts_with("## Rate limits of prod\n"),
        "{}",
        ran.stdout
    );
    assert!(table[3].starts_with(
        "| l1 | 30 / 1m | observe | 7 (≥4) | 23.3 % | ok, partial | ≈0 in ≈0 | 0/28 | wait 0/28 |"
    ));

    let ran = bench.folga(&arguments("table")).at(TO).run().await.succeeded();
    assert!(
        ran.stdout.lines().all(|line| line.chars().count() < 190),
        "{}",
        ran.stdout
    );
}

#[tokio::test]
async fn every_form_is_served_to_those_who_want_it() {
    let bench = hostile().await;
    let serving = Serving::start(bench.folga(&["--log-format", "json", "serve"]).at(TO)).await;
    let path = format!("/v1/calibration?env=prod&from={FROM}&to={TO}");
    for (query, accept, content_type, start) in [
        ("", "", "application/json", "{"),
        (
            "",
            "Accept: text/csv\r\n",
            "text/csv; charset=utf-8; header=present",
            "environment,from,to,",
        ),
        (
            "",
            "Accept: text/csv;q=0.1, text/markdown\r\n",
            "text/markdown; charset=utf-8",
            "## ",
        ),
        (
            "&format=csv",
            "Accept: application/json\r\n",
            "text/csv; charset=utf-8; header=present",
            "environment,",
        ),
        (
            "",
            "Accept: text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8\r\n",
            "text/html; charset=utf-8",
            "<!",
        ),
        ("&format=md", "", "text/markdown; charset=utf-8", "## "),
    ] {
        let answer = serving.ask("GET", &format!("{path}{query}"), accept).await;
        assert_eq!(answer.status, 200, "{answer:?}");
        assert!(
            answer.head.contains(&format!("content-type: {content_type}\r\n")),
            "{answer:?}"
        );
        assert!(answer.head.contains("vary: accept"), "{answer:?}");
        assert!(answer.body.starts_with(start), "{answer:?}");
    }
    let answer = serving.ask("GET", &path, "Accept: image/png\r\n").await;
    assert_eq!((answer.status, &answer.json()["status"]), (406, &json!(406)));
    let answer = serving.get(&format!("{path}&format=pdf")).await;
    assert_eq!(answer.status, 400);

    // What is served is what the command line prints.
    let served = serving.get(&format!("{path}&format=csv")).await;
    let ran = bench.folga(&arguments("csv")).at(TO).run().await.succeeded();
    assert_eq!(parse_csv(&served.body), parse_csv(&ran.stdout));
}

#[tokio::test]
async fn an_endpoint_without_a_limit_is_watched_in_every_form() {
    let bench = Bench::new(&messages(&[("messages", THIRTY)])).await;
    for endpoint in ["messages", "foo"] {
        let key = bench.key(&format!("m:{endpoint}:202503101205"));
        put(&bench, key, &[(b"esc-1", b"5")]).await;
    }
    drain(&bench, TO).await.succeeded();
    let report = report(&bench, FROM, TO).await;
    let foo = limit(&report, "gateway/foo/tenant");
    assert_eq!(
        (
            &foo["status"],
            &foo["utilization"],
            &foo["limit"],
            &foo["peak"]["value"]
        ),
        (&json!("watch"), &Value::Null, &Value::Null, &json!(5))
    );
    for format in ["table", "csv", "md"] {
        let ran = bench.folga(&arguments(format)).at(TO).run().await.succeeded();
        let line = ran
            .stdout
            .lines()
            .find(|line| line.contains("gateway/foo/tenant"))
            .unwrap();
        assert!(
            line.contains("watch") && !line.contains("NaN") && !line.contains("inf"),
            "{line}"
        );
    }
    let group = [
        "report",
        "--env",
        "prod",
        "--group",
        "unlimited",
        "--from",
        FROM,
        "--to",
        TO,
    ];
    let ran = bench.folga(&group).at(TO).run().await.succeeded();
    assert!(
        ran.stdout.contains("gateway/foo/tenant") && !ran.stdout.contains("30 / 1m"),
        "{}",
        ran.stdout
    );
}
