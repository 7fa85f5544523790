//! How a peak against a limit is shown: no value that divides by nothing, and nothing rounded up to the alert.

use serde_json::{Value, json};

use super::support::{
    Bench,
    catalogs::{HEAD, MESSAGES, THIRTY, drain, limit, limits, messages, put},
};

const NOON: &str = "2025-03-10T12:00:00Z";
const ONE: &str = "2025-03-10T13:00:00Z";

/// Counts of esc-1 at 12:05, by endpoint.
async fn count(bench: &Bench, counts: &[(&str, u64)]) {
    for (endpoint, count) in counts {
        let key = bench.key(&format!("m:{endpoint}:202503101205"));
        put(bench, key, &[(b"esc-1", count.to_string().as_bytes())]).await;
    }
    drain(bench, ONE).await.succeeded();
}

/// The report of the hour from noon on, as it is printed in a format.
async fn printed(bench: &Bench, format: &str) -> String {
    let arguments = [
        "report", "--env", "prod", "--from", NOON, "--to", ONE, "--format", format,
    ];
    bench.folga(&arguments).at(ONE).run().await.succeeded().stdout
}

async fn report(bench: &Bench) -> Value {
    serde_json::from_str(&printed(bench, "json").await).unwrap()
}

#[tokio::test]
async fn a_limit_that_is_no_count_is_refused_at_its_line() {
    let bench = Bench::new("").await;
    let sound = messages(&[("messages", THIRTY)]);
    let line = 1 + sound.lines().position(|line| line == "limit = 30").unwrap();
    let whole = "write a whole number from 1 on";
    for (value, remedy) in [
        ("0", whole),
        ("-1", whole),
        ("30.5", whole),
        ("nan", whole),
        ("inf", whole),
        ("{ prod = 0 }", whole),
        ("\"30\"", "write 30 without quotes"),
    ] {
        bench.write_catalog(&sound.replace("limit = 30", &format!("limit = {value}")));
        for arguments in [&["check"][..], &["drain"], &["report", "--env", "prod"]] {
            let ran = bench.folga(arguments).at(ONE).run().await.exited(2);
            let told = &ran.stderr;
            for part in [
                &*format!("folga.toml:{line}:"),
                &*format!("limit = {value}"),
                remedy,
            ] {
                assert!(told.contains(part), "{part}\n{told}");
            }
            assert!(ran.stdout.is_empty(), "{value}\n{}", ran.stdout);
        }
    }
}

/// Limits a minute on endpoints of their own names.
fn world(values: &[(&str, u64)]) -> String {
    let lines: Vec<_> = values
        .iter()
        .map(|(id, value)| {
            (
                *id,
                format!("endpoints = [\"{id}\"]\nlimit = {value}\nwindow = \"1m\""),
            )
        })
        .collect();
    let lines: Vec<_> = lines.iter().map(|(id, lines)| (*id, &**lines)).collect();
    [HEAD, MESSAGES, &limits(&lines)].concat()
}

#[tokio::test]
async fn seventy_percent_is_near_and_a_little_less_is_not() {
    let bench = Bench::new(&world(&[("a", 30), ("b", 30), ("c", 30), ("d", 23)])).await;
    count(&bench, &[("a", 20), ("b", 21), ("c", 22), ("d", 16)]).await;
    let report = report(&bench).await;
    // 21 is 70 % of 30; 70 % of 23 are 16.1.
    for (id, alert_at, status, share) in [
        ("a", 21, "ok", 20.0 / 30.0),
        ("b", 21, "near", 0.7),
        ("c", 21, "near", 22.0 / 30.0),
        ("d", 17, "ok", 16.0 / 23.0),
    ] {
        let found = limit(&report, id);
        assert_eq!(
            (&found["alert_at"], &found["status"]),
            (&json!(alert_at), &json!(status)),
            "{id}"
        );
        let used = found["utilization"].as_f64().unwrap();
        assert!((used - share).abs() < 1e-12, "{id} {used}");
    }
    let table = printed(&bench, "table").await;
    for (id, used, status) in [
        ("a", "66.6 %", "ok"),
        ("b", "70.0 %", "near"),
        ("c", "73.3 %", "near"),
        ("d", "69.5 %", "ok"),
    ] {
        let row = table
            .lines()
            .find(|line| line.trim_start().starts_with(id))
            .unwrap();
        assert!(row.contains(used) && row.contains(status), "{row}");
    }
}

/// What can be read of a format: of HTML the text.
fn readable(format: &str, text: String) -> String {
    if format != "html" {
        return text;
    }
    let mut readable = String::new();
    let mut hidden = "";
    for part in text.split('<').skip(1) {
        let (tag, shown) = part.split_once('>').unwrap_or((part, ""));
        match hidden {
            "" if tag.starts_with("style") => hidden = "/style",
            "" if tag.starts_with("script") => hidden = "/script",
            "" => {}
            end if tag.starts_with(end) => hidden = "",
            _ => continue,
        }
        if hidden.is_empty() {
            readable.push_str(shown);
            readable.push(' ');
        }
    }
    readable
}

/// 16 of 23 are 69.57 %, here with an alert at 71 %: 16.33. So nothing has reason to speak of 70.
async fn below_seventy(formats: &[&str]) {
    let bench = Bench::new(&format!("alert_percent = 71\n{}", world(&[("messages", 23)]))).await;
    count(&bench, &[("messages", 16)]).await;
    for format in formats {
        let text = readable(format, printed(&bench, format).await);
        assert!(text.contains("messages") && text.contains("16"), "{text}");
        for wrong in ["70 %", "70%", "70\u{a0}%", "70.0", "70,0", "0.7", "0,7"] {
            assert!(!text.contains(wrong), "{format} {wrong}\n{text}");
        }
    }
}

#[tokio::test]
async fn less_than_seventy_percent_is_never_shown_as_seventy() {
    below_seventy(&["table", "json"]).await;
}

#[tokio::test]
async fn less_than_seventy_percent_is_never_shown_as_seventy_in_other_formats() {
    below_seventy(&["csv", "md", "html"]).await;
}

/// Limits that have no share to show: watched, exempt, below a minute, and in an hour nothing is known of.
async fn no_shares() -> Bench {
    let own = limits(&[
        ("watched", "endpoints = [\"messages\"]\nmode = \"watch\""),
        (
            "alerting",
            "endpoints = [\"messages\"]\nmode = \"watch\"\nwatch_alert = 5",
        ),
        (
            "valued",
            "endpoints = [\"messages\"]\nlimit = 30\nwindow = \"1m\"\nmode = \"watch\"",
        ),
        ("exempt", "endpoints = [\"messages\"]\nmode = \"exempt\""),
        ("burst", "endpoints = [\"messages\"]\nlimit = 30\nwindow = \"5s\""),
        (
            "unread",
            "source = \"portal\"\nendpoints = [\"messages\"]\nlimit = 30\nwindow = \"1m\"",
        ),
    ]);
    let portal = MESSAGES
        .replace("\"gateway\"", "\"portal\"")
        .replace("}m:", "}p:");
    let bench = Bench::new(&[HEAD, MESSAGES, &portal, &own].concat()).await;
    count(&bench, &[("messages", 5)]).await;
    bench
}

#[tokio::test]
async fn what_has_no_share_shows_none() {
    let bench = no_shares().await;
    let report = report(&bench).await;
    for (id, status, limit_value, peak) in [
        ("watched", "watch", Value::Null, json!(5)),
        ("alerting", "watch", Value::Null, json!(5)),
        ("valued", "watch", Value::Null, json!(5)),
        ("exempt", "exempt", Value::Null, json!(5)),
        ("burst", "ok", json!(30), Value::Null),
        ("unread", "no-data", json!(30), Value::Null),
    ] {
        let found = limit(&report, id);
        assert_eq!(
            [
                &found["status"],
                &found["limit"],
                &found["peak"]["value"],
                &found["utilization"]
            ],
            [&json!(status), &limit_value, &peak, &Value::Null],
            "{id}"
        );
        // Nothing is blocked where nothing is limited, or where it can't be told.
        assert_eq!(found["would_block"], Value::Null, "{id}");
    }
    let table = printed(&bench, "table").await;
    for id in ["watched", "alerting", "valued", "exempt", "burst", "unread"] {
        let row = table
            .lines()
            .find(|line| line.trim_start().starts_with(id))
            .unwrap();
        assert!(!row.contains('%') && row.contains('–'), "{row}");
    }
}

/// No text shows what comes of a division by nothing.
async fn all_are_numbers(formats: &[&str]) {
    let bench = no_shares().await;
    for format in formats {
        let text = readable(format, printed(&bench, format).await);
        let mut words = text.split(|letter: char| !letter.is_ascii_alphanumeric());
        let wrong = words.find(|word| {
            let word = word.to_lowercase();
            ["nan", "inf", "infinity", "undefined", "9223372036854775807"].contains(&&*word)
        });
        assert_eq!(wrong, None, "{format}\n{text}");
    }
}

#[tokio::test]
async fn every_figure_is_a_number() {
    all_are_numbers(&["table", "json"]).await;
}

#[tokio::test]
async fn every_figure_is_a_number_in_other_formats() {
    all_are_numbers(&["csv", "md", "html"]).await;
}
