//! Counts that a file brings: folded like drained ones, never twice, and in any order.

use std::{fmt::Write as _, fs, os::unix::fs::PermissionsExt as _, process::Stdio};

use serde_json::{Value, json};
use sqlx::{AssertSqlSafe, Connection as _, PgConnection};
use tokio::{io::AsyncWriteExt as _, process::Command};

use super::support::{
    Bench, Ran, at,
    catalogs::{HEAD, MESSAGES, THIRTY, drain, limit, limits, messages, put, report_at},
    wait_until,
};

const COLUMNS: &str = "environment,source,endpoint,scope,identity,outcome,minute,count\n";

/// Counts of the gateway's messages: the minute as in keys, who, and how often.
type Counts<'a> = &'a [(&'a str, &'a str, u64)];

fn csv(counts: Counts<'_>) -> String {
    let mut text = COLUMNS.to_owned();
    for (minute, who, count) in counts {
        writeln!(text, "prod,gateway,messages,tenant,{who},,{minute},{count}").unwrap();
    }
    text
}

async fn import(bench: &Bench, text: &str, now: &str) -> Ran {
    let file = bench.folder.join("history.csv");
    fs::write(&file, text).unwrap();
    let arguments = ["import", "--format", "csv", file.to_str().unwrap()];
    bench.folga(&arguments).at(now).run().await
}

async fn fill(bench: &Bench, counts: Counts<'_>) {
    for (minute, who, count) in counts {
        let key = bench.key(&format!("m:messages:{minute}"));
        put(bench, key, &[(who.as_bytes(), count.to_string().as_bytes())]).await;
    }
}

/// All that was folded, as text: whatever differs in ids alone is the same.
async fn folded(bench: &Bench) -> String {
    let shapes = ["hourly", "daily"].map(|table| {
        format!(
            "SELECT '{table} ' || definition || (to_jsonb(own) - 'shape_id')::text AS line
             FROM {table} AS own JOIN shapes ON id = shape_id"
        )
    });
    let parts = [
        shapes.join(" UNION ALL "),
        "SELECT (to_jsonb(series) - 'id')::text || (to_jsonb(own) - 'series_id')::text FROM series_hourly AS own
         JOIN series ON id = series_id"
            .to_owned(),
        "SELECT (to_jsonb(labels) - 'seen')::text FROM labels".to_owned(),
    ];
    lines(bench, &parts.join(" UNION ALL ")).await
}

/// What is covered, and what is known of sources.
async fn covered(bench: &Bench) -> String {
    let query = "SELECT to_jsonb(coverage)::text AS line FROM coverage
                 UNION ALL SELECT (to_jsonb(source_states) - 'writes')::text FROM source_states";
    lines(bench, query).await
}

async fn lines(bench: &Bench, query: &str) -> String {
    let query =
        format!("SELECT coalesce(string_agg(line, E'\\n' ORDER BY line), '') FROM ({query}) AS all_of_it");
    sqlx::query_scalar(AssertSqlSafe(query))
        .fetch_one(&bench.pool)
        .await
        .unwrap()
}

async fn minutes_left(bench: &Bench) -> i64 {
    sqlx::query_scalar("SELECT count(*) FROM minute_counts")
        .fetch_one(&bench.pool)
        .await
        .unwrap()
}

/// Windows of every length, with days of Sao Paulo.
fn windows() -> String {
    let of = |limit: u64, window: &str, more: &str| {
        format!("endpoints = [\"messages\"]\nlimit = {limit}\nwindow = \"{window}\"\n{more}")
    };
    let own = [
        ("quarter", of(20, "15m", "algorithm = \"sliding\"")),
        ("hour", of(30, "1h", "algorithm = \"sliding\"")),
        ("day", of(30, "1d", "")),
        ("shared", of(15, "1m", "shared = true")),
    ];
    let own: Vec<_> = own.iter().map(|(id, lines)| (*id, &**lines)).collect();
    let source = MESSAGES.replace("2h", "3d");
    [&HEAD.replace("UTC", "America/Sao_Paulo"), &*source, &limits(&own)].concat()
}

/// In Sao Paulo these are 22:00 and 23:59 of the 9th, and the 10th from midnight to 22:05. A day's transaction ends with
/// the hour of 00:00Z: the last minute is in the next one.
const TWO_DAYS: Counts<'_> = &[
    ("202503100100", "esc-1", 4),
    ("202503100259", "esc-1", 5),
    ("202503100259", "esc-2", 8),
    ("202503100300", "esc-1", 7),
    ("202503102358", "esc-1", 6),
    ("202503110020", "esc-1", 3),
    ("202503110055", "esc-1", 7),
    ("202503110105", "esc-1", 8),
    ("202503110105", "esc-2", 2),
];

/// 87 days after them.
const LATER: &str = "2025-06-05T12:00:00Z";

fn peak(limit: &Value) -> (u64, &str) {
    let peak = &limit["peak"];
    (peak["value"].as_u64().unwrap(), peak["at"].as_str().unwrap())
}

#[tokio::test]
async fn old_counts_are_folded_over_every_boundary() {
    let bench = Bench::new(&windows()).await;
    let ran = import(&bench, &csv(TWO_DAYS), LATER).await.succeeded();
    let expected = "prod gateway: 9 rows, from 2025-03-10T01:00Z to 2025-03-11T01:05Z\n";
    assert_eq!(ran.stdout, expected);
    let whole = report_at(&bench, "2025-03-09T03:00:00Z", "2025-03-12T03:00:00Z", LATER).await;
    let last = "2025-03-11T01:05:00Z";
    // To 01:05 a quarter of an hour holds 7 + 8, an hour 3 + 7 + 8, the local day 7 + 6 + 3 + 7 + 8; a minute of all held
    // 5 + 8 at most.
    for (id, value, at) in [
        ("quarter", 15, last),
        ("hour", 18, last),
        ("day", 31, last),
        ("shared", 13, "2025-03-10T02:59:00Z"),
    ] {
        let found = limit(&whole, id);
        assert_eq!((peak(found), &found["total"]), ((value, at), &json!(50)), "{id}");
        assert_eq!(found["history_from"], "2025-03-10T01:00:00Z", "{id}");
    }
    assert_eq!(limit(&whole, "hour")["peak"]["identity"], "esc-1");
    assert_eq!(limit(&whole, "shared")["peak"]["identity"], Value::Null);
    // Days hold 2, 8, 9 and 31: one is above 30, by 1.
    let blocked = json!({"requests": 1, "identity_windows": 1, "exact": true});
    assert_eq!(limit(&whole, "day")["would_block"], blocked);
    // The hour after midnight sees the 6 before it: 6 + 3 to 00:20, 6 + 3 + 7 to 00:55.
    let hour = report_at(&bench, "2025-03-11T00:00:00Z", "2025-03-11T01:00:00Z", LATER).await;
    assert_eq!(peak(limit(&hour, "hour")), (16, "2025-03-11T00:55:00Z"));
    let ninth = report_at(&bench, "2025-03-09T03:00:00Z", "2025-03-10T03:00:00Z", LATER).await;
    assert_eq!(peak(limit(&ninth, "day")), (9, "2025-03-10T02:59:00Z"));
    // Covered are the minutes from the first row to the last, 24 hours and 6 minutes.
    let coverage = &whole["coverage"][0];
    assert_eq!(coverage["covered"], 24 * 60 + 6);
    assert_eq!(coverage["gaps"][0]["from"], "2025-03-11T01:06:00Z");
    assert_eq!(minutes_left(&bench).await, 0);
    // A limit was exceeded long ago: that is no news.
    let alerts = "SELECT alert_key AS line FROM alerts UNION ALL SELECT alert_key FROM alert_states";
    assert_eq!(lines(&bench, alerts).await, "");
}

#[tokio::test]
async fn a_drain_after_an_import_tells_nothing_of_what_was_imported() {
    let bench = Bench::new(&windows()).await;
    import(&bench, &csv(TWO_DAYS), LATER).await.succeeded();
    // Limits were exceeded in the file, and nothing is known of the months since it ends. The drain brings one request.
    fill(&bench, &[("202506051158", "esc-1", 1)]).await;
    drain(&bench, LATER).await.succeeded();
    let alerts = "SELECT alert_key AS line FROM alerts";
    assert_eq!(lines(&bench, alerts).await, "");
    let report = report_at(&bench, "2025-03-09T03:00:00Z", "2025-06-05T12:00:00Z", LATER).await;
    assert_eq!(limit(&report, "day")["total"], 51);
    // What nobody read is a gap all the same.
    let gaps = report["coverage"][0]["gaps"].as_array().unwrap();
    assert_eq!(gaps[0]["from"], "2025-03-11T01:06:00Z");
}

#[tokio::test]
async fn an_import_and_drains_that_run_at_once_lose_nothing_and_count_nothing_twice() {
    let now = "2025-03-11T01:10:00Z";
    let (together, apart) = (Bench::new(&windows()).await, Bench::new(&windows()).await);
    let text = csv(TWO_DAYS);
    for bench in [&together, &apart] {
        fill(bench, TWO_DAYS).await;
    }
    drain(&apart, now).await.succeeded();
    let (imported, first, second) = tokio::join!(
        import(&together, &text, now),
        drain(&together, now),
        drain(&together, now)
    );
    for ran in [imported, first, second] {
        ran.succeeded();
    }
    assert_eq!(folded(&together).await, folded(&apart).await);
}

#[tokio::test]
async fn old_counts_come_to_what_drains_would_have_made_of_them() {
    let (imported, drained) = (Bench::new(&windows()).await, Bench::new(&windows()).await);
    import(&imported, &csv(TWO_DAYS), LATER).await.succeeded();
    fill(&drained, TWO_DAYS).await;
    drain(&drained, "2025-03-12T12:00:00Z").await.succeeded();
    assert_eq!(folded(&imported).await, folded(&drained).await);
}

#[tokio::test]
async fn order_format_and_spelling_do_not_matter_and_counts_add_up() {
    let (one, other) = (Bench::new(&windows()).await, Bench::new(&windows()).await);
    import(&one, &csv(TWO_DAYS), LATER).await.succeeded();
    let mut text = String::new();
    for (index, (minute, who, count)) in TWO_DAYS.iter().enumerate().rev() {
        let (year, month, day) = (&minute[..4], &minute[4..6], &minute[6..8]);
        let (hour, minute_of_hour) = (&minute[8..10], &minute[10..]);
        let instant = format!("{year}-{month}-{day}T{hour}:{minute_of_hour}:00Z");
        let minute = match index % 3 {
            0 => json!(instant),
            1 => json!(at(&instant).timestamp() + 59),
            _ => json!(minute.parse::<u64>().unwrap()),
        };
        // Two rows for most of them, and one that says nothing.
        for count in [json!(1), json!((count - 1).to_string()), json!(0)] {
            let row = json!({
                "count": count, "minute": minute, "identity": who, "scope": "tenant", "endpoint": "messages",
                "environment": "prod", "source": "gateway",
            });
            writeln!(text, "{row}").unwrap();
        }
    }
    let file = other.folder.join("history.jsonl");
    fs::write(&file, text).unwrap();
    let arguments = ["import", "--format", "jsonl", file.to_str().unwrap()];
    let ran = other.folga(&arguments).at(LATER).run().await.succeeded();
    assert!(
        ran.stdout
            .starts_with("prod gateway: 18 rows, from 2025-03-10T01:00Z"),
        "{}",
        ran.stdout
    );
    assert_eq!(folded(&one).await, folded(&other).await);
    assert_eq!(covered(&one).await, covered(&other).await);
}

#[tokio::test]
async fn what_was_imported_or_drained_and_sealed_is_refused() {
    let bench = Bench::new(&windows()).await;
    // Drained long ago: the hours of 12:00Z and 13:00Z, in which nothing was counted.
    fill(&bench, &[("202503101210", "esc-1", 5)]).await;
    drain(&bench, "2025-03-10T13:30:00Z").await.succeeded();
    let counts = [
        ("202503101150", "esc-1", 2),
        ("202503101205", "esc-1", 9),
        ("202503101310", "esc-2", 9),
        ("202503101401", "esc-1", 1),
    ];
    // Keys of two days' life are read from the 7th on, but coverage begins with the first sample.
    let ran = import(&bench, &csv(&counts), LATER).await.exited(3);
    let expected = "prod gateway: 2 rows, from 2025-03-10T11:50Z to 2025-03-10T14:01Z\n\
                    refused line 3: its hour is sealed: drains or an earlier import have counted it, and nothing can be \
                    added any more (2)\n";
    assert_eq!(ran.stdout, expected);
    let day = ["2025-03-10T03:00:00Z", "2025-03-11T03:00:00Z"];
    let report = report_at(&bench, day[0], day[1], LATER).await;
    // What was refused is not looked back at either: a window holds 2, 5 or 2 + 1.
    let found = limit(&report, "day");
    assert_eq!(
        (peak(found), &found["total"]),
        ((5, "2025-03-10T12:10:00Z"), &json!(2 + 5 + 1))
    );
    // The drain vouches for the minutes to 13:28, the file for those before 12:00 and from 14:00 on.
    let gaps = &report["coverage"][0]["gaps"];
    assert_eq!(
        gaps[0],
        json!({"from": "2025-03-10T13:29:00Z", "to": "2025-03-10T14:00:00Z"})
    );
    let (before, coverage) = (folded(&bench).await, covered(&bench).await);
    let ran = import(&bench, &csv(&counts), LATER).await.exited(3);
    assert!(
        ran.stdout
            .starts_with("nothing was imported\nrefused line 2: its hour is sealed"),
        "{}",
        ran.stdout
    );
    assert!(ran.stdout.ends_with("(4)\n"), "{}", ran.stdout);
    assert_eq!(folded(&bench).await, before);
    assert_eq!(covered(&bench).await, coverage);
}

const NOON: &str = "2025-03-10T12:00:00Z";
const EARLY: &str = "2025-03-10T12:03:00Z";
const SOON: &str = "2025-03-10T12:30:00Z";

#[tokio::test]
async fn recent_counts_are_the_same_from_a_file_from_redis_or_from_both() {
    let counts = [
        ("202503101158", "esc-1", 4),
        ("202503101159", "esc-1", 5),
        ("202503101201", "esc-1", 6),
        ("202503101201", "esc-2", 7),
    ];
    let worlds = [Bench::new(&windows()).await, Bench::new(&windows()).await];
    for bench in &worlds {
        fill(bench, &counts).await;
    }
    drain(&worlds[0], EARLY).await.succeeded();
    let drained = folded(&worlds[0]).await;
    // First one, then the other.
    import(&worlds[0], &csv(&counts), EARLY).await.succeeded();
    import(&worlds[1], &csv(&counts), EARLY).await.succeeded();
    assert_eq!(folded(&worlds[0]).await, drained);
    assert_eq!(folded(&worlds[1]).await, drained);
    drain(&worlds[1], EARLY).await.succeeded();
    assert_eq!(folded(&worlds[1]).await, drained);
    // The larger count of each identity holds, and a second import adds nothing.
    let more = [("202503101201", "esc-1", 8), ("202503101201", "esc-2", 1)];
    for bench in &worlds {
        for _ in 0..2 {
            import(bench, &csv(&more), EARLY).await.succeeded();
        }
        let report = report_at(bench, "2025-03-10T03:00:00Z", "2025-03-11T03:00:00Z", EARLY).await;
        assert_eq!(limit(&report, "day")["total"], 4 + 5 + 8 + 7);
        assert_eq!(
            peak(limit(&report, "quarter")),
            (4 + 5 + 8, "2025-03-10T12:01:00Z")
        );
        // Redis has the last word only where it has more.
        fill(bench, &[("202503101201", "esc-2", 9)]).await;
        drain(bench, "2025-03-10T12:03:30Z").await.succeeded();
    }
    assert_eq!(folded(&worlds[0]).await, folded(&worlds[1]).await);
    let report = report_at(&worlds[0], "2025-03-10T03:00:00Z", "2025-03-11T03:00:00Z", EARLY).await;
    assert_eq!(limit(&report, "shared")["peak"]["value"], 8 + 9);
}

#[tokio::test]
async fn windows_of_kept_minutes_see_what_was_imported_before_them() {
    // Minutes are kept from 2025-03-10T12:00Z on; the file ends there and drains begin.
    let now = "2025-03-18T12:00:00Z";
    let bench = Bench::new(&windows()).await;
    let counts = [
        ("202503101030", "esc-1", 1),
        ("202503101155", "esc-1", 2),
        ("202503101205", "esc-1", 4),
        ("202503111405", "esc-1", 8),
    ];
    import(&bench, &csv(&counts), now).await.succeeded();
    assert_eq!(minutes_left(&bench).await, 2);
    let report = report_at(&bench, "2025-03-10T03:00:00Z", "2025-03-12T03:00:00Z", now).await;
    assert_eq!(peak(limit(&report, "hour")), (8, "2025-03-11T14:05:00Z"));
    let report = report_at(&bench, "2025-03-10T03:00:00Z", "2025-03-11T03:00:00Z", now).await;
    assert_eq!(peak(limit(&report, "quarter")), (6, "2025-03-10T12:05:00Z"));
    assert_eq!(peak(limit(&report, "day")), (7, "2025-03-10T12:05:00Z"));
    // The same minutes again: those of the 10th are sealed, that of the 11th is not.
    let ran = import(&bench, &csv(&counts), now).await.exited(3);
    assert!(
        ran.stdout.contains("prod gateway: 1 row, from 2025-03-11T14:05Z"),
        "{}",
        ran.stdout
    );
    assert!(
        ran.stdout.contains("refused line 2: its hour is sealed"),
        "{}",
        ran.stdout
    );
}

#[tokio::test]
async fn a_bad_row_costs_only_itself_and_is_listed_by_kind() {
    let source = MESSAGES
        .replace("{env}m:", "{env}other:")
        .replace("gateway", "elsewhere")
        + "environments = [\"lab\"]\n";
    let gauge = "[[source]]\nname = \"level\"\nkind = \"gauge\"\nkey = \"{env}level:{identity}\"\nendpoint = \"level\"\n\
                 scope = \"tenant\"\nschedule = \"0 */20 * * * *\"\nfind = \"scan\"\n";
    let lab = "[[environment]]\nname = \"lab\"\nprefix = \"PREFIX-lab:\"\n";
    let bench = Bench::new(
        &[
            HEAD,
            lab,
            MESSAGES,
            &source,
            gauge,
            &limits(&[("messages", THIRTY)]),
        ]
        .concat(),
    )
    .await;
    let long = "x".repeat(70_000);
    let text = [
        COLUMNS,
        "prod,gateway,messages,tenant,esc-1,,202503101201,3\n",
        "test,gateway,messages,tenant,esc-1,,202503101201,3\n",
        "prod,door,messages,tenant,esc-1,,202503101201,3\n",
        "prod,elsewhere,messages,tenant,esc-1,,202503101201,3\n",
        "prod,gateway,messages,ip,esc-1,,202503101201,3\n",
        "prod,gateway,,tenant,esc-1,,202503101201,3\n",
        "prod,gateway,messages,tenant,,,202503101201,3\n",
        "prod,gateway,messages,tenant,esc-1,,202513101201,3\n",
        "prod,gateway,messages,tenant,esc-1,,202503101230,3\n",
        "prod,gateway,messages,tenant,esc-1,,203003101201,3\n",
        "prod,gateway,messages,tenant,esc-1,,202403101201,3\n",
        "prod,gateway,messages,tenant,esc-1,,202503101201,3.5\n",
        "prod,gateway,messages,tenant,esc-1,,202503101201,-1\n",
        "prod,gateway,messages,tenant,esc-1,,202503101201,9223372036854775808\n",
        "prod,gateway,messages,tenant,esc-1,,202503101201\n",
        "prod,gateway,messages,tenant,\"esc-1,,202503101201,3\n",
        &format!("prod,gateway,messages,tenant,{long},,202503101201,3\n"),
        "\n",
        "prod,gateway,messages,tenant,esc-1,,202503101201,4\n",
        "prod,level,level,tenant,esc-1,,202503101201,3\n",
    ]
    .concat();
    let ran = import(&bench, &text, SOON).await.exited(3);
    let expected = [
        "prod gateway: 2 rows, from 2025-03-10T12:01Z to 2025-03-10T12:01Z",
        "refused line 3: the catalog has no environment `test`: declare it, or write one of prod, lab (1)",
        "refused line 4: the catalog has no source `door`: declare it, or write one of gateway, elsewhere, level (1)",
        "refused line 5: source `elsewhere` does not exist in `prod`: see `environments` of the source (1)",
        "refused line 6: the catalog has no scope `ip`: declare it, or write one of tenant (1)",
        "refused line 7: the endpoint is empty: write what was counted, as limits name it (1)",
        "refused line 8: the identity is empty: write who was counted; one word for all where nobody is told apart (1)",
        "refused line 9: the minute is none: write 202503101205, 2025-03-10T12:05:00Z or seconds since 1970 (1)",
        "refused line 10: its minute is not over yet: import it later, or set the clock right that wrote it (2)",
        "refused line 12: it is older than 90 days: raise `retention_days` in the catalog, or leave it out (1)",
        "refused line 13: the count is not a whole number: write a whole number, such as 12 (1)",
        "refused line 14: the count is negative: write a whole number, such as 12 (1)",
        "refused line 15: the count is larger than 2^63 - 1: write a whole number, such as 12 (1)",
        "refused line 16: the row has more or fewer fields than the header: put fields with commas in quotes (1)",
        "refused line 17: a quote is not closed in its line: write a quote within quotes twice, and no line breaks (1)",
        "refused line 18: the line is longer than 64 KiB: write a row a line (1)",
        "refused line 21: source `level` samples gauges: leave it out: only counts can be imported (1)",
    ];
    assert_eq!(ran.stdout.lines().collect::<Vec<_>>(), expected);
    let report = report_at(&bench, NOON, "2025-03-10T13:00:00Z", SOON).await;
    assert_eq!(limit(&report, "messages")["total"], 7);
}

#[tokio::test]
async fn what_is_no_file_of_rows_is_bad_usage() {
    let bench = Bench::new(&messages(&[("messages", THIRTY)])).await;
    for packed in [
        b"\x1f\x8b\x08\0".as_slice(),
        b"\x28\xb5\x2f\xfd",
        b"PK\x03\x04",
        b"\xff\xfee\0",
    ] {
        for format in ["csv", "jsonl"] {
            let file = bench.folder.join("packed");
            fs::write(&file, packed).unwrap();
            let arguments = ["import", "--format", format, file.to_str().unwrap()];
            let ran = bench.folga(&arguments).run().await.exited(2);
            assert!(ran.stderr.contains("the file is "), "{}", ran.stderr);
        }
    }
    for (text, wrong) in [
        ("", "the first line is missing"),
        (
            "environment;source\n",
            "the first line has a column `environment;source`",
        ),
        (
            "environment,source,endpoint,scope,identity,minute\n",
            "lacks `count`",
        ),
    ] {
        let ran = import(&bench, text, SOON).await.exited(2);
        assert!(
            ran.stderr.contains(wrong) && ran.stderr.contains("write a header"),
            "{}",
            ran.stderr
        );
    }
    for file in ["none.csv", "."] {
        bench
            .folga(&["import", "--format", "csv", file])
            .run()
            .await
            .exited(2);
    }
    bench.folga(&["import", "history.csv"]).run().await.exited(2);
    let ran = import(&bench, COLUMNS, SOON).await.succeeded();
    assert_eq!(ran.stdout, "nothing was imported\n");
}

#[tokio::test]
async fn ninety_days_are_in_the_report_at_once() {
    let bench = Bench::new(&messages(&[("messages", THIRTY)])).await;
    // A row an hour, of the 90 days before.
    let (now, first) = (at("2025-06-01T00:00:00Z"), at("2025-03-03T00:30:00Z"));
    let mut text = COLUMNS.to_owned();
    for hour in 0..90 * 24 {
        let minute = (first + chrono::TimeDelta::hours(hour)).format("%Y%m%d%H%M");
        let count = if hour == 7 { 29 } else { 1 + hour % 3 };
        writeln!(text, "prod,gateway,messages,tenant,esc-1,,{minute},{count}").unwrap();
    }
    let now = now.to_rfc3339();
    import(&bench, &text, &now).await.succeeded();
    let arguments = ["report", "--env", "prod", "--format", "json", "--days", "90"];
    let report = bench.folga(&arguments).at(&now).run().await.succeeded().json();
    let found = limit(&report, "messages");
    // 720 times 1 + 2 + 3, but 29 instead of 2 in the eighth hour.
    assert_eq!(
        (peak(found), &found["total"]),
        ((29, "2025-03-03T07:30:00Z"), &json!(720 * 6 + 27))
    );
    assert_eq!(found["history_from"], "2025-03-03T00:30:00Z");
    // 30 minutes before the first row and 29 after the last are not.
    assert_eq!(report["coverage"][0]["covered"], 90 * 24 * 60 - 59);
    assert_eq!(minutes_left(&bench).await, 8 * 24);
}

#[tokio::test]
async fn an_import_that_ends_early_is_made_whole_by_the_same_file() {
    let (cut, whole) = (Bench::new(&windows()).await, Bench::new(&windows()).await);
    let later = [
        TWO_DAYS,
        &[("202503112355", "esc-1", 4), ("202503120010", "esc-1", 9)],
    ]
    .concat();
    import(&whole, &csv(&later), LATER).await.succeeded();
    // The second day's transaction waits for a row that somebody else writes.
    cut.folga(&["retention"]).at(LATER).run().await.succeeded();
    let mut other = PgConnection::connect(&cut.database_url).await.unwrap();
    let mut transaction = other.begin().await.unwrap();
    sqlx::raw_sql(
        "INSERT INTO hourly SELECT id, '2025-03-12T00:00:00Z', 1, 1, 1, NULL, NULL, 1, 1, '{}', '{}', false, '{}', '{}', '{}'
         FROM shapes",
    )
    .execute(&mut *transaction)
    .await
    .unwrap();
    let file = cut.folder.join("history.csv");
    fs::write(&file, csv(&later)).unwrap();
    let arguments = ["import", "--format", "csv", file.to_str().unwrap()];
    let mut running = cut.folga(&arguments).at(LATER).spawn();
    wait_until("the first day is in", async || !covered(&cut).await.is_empty()).await;
    running.kill().await.unwrap();
    transaction.rollback().await.unwrap();
    assert!(!folded(&cut).await.contains("2025-03-12T00:00:00"));
    let ran = import(&cut, &csv(&later), LATER).await.exited(3);
    assert!(
        ran.stdout.contains("refused line 2: its hour is sealed"),
        "{}",
        ran.stdout
    );
    assert_eq!(folded(&cut).await, folded(&whole).await);
    let query = "SELECT to_jsonb(coverage)::text AS line FROM coverage";
    assert_eq!(lines(&cut, query).await, lines(&whole, query).await);
    assert_eq!(minutes_left(&cut).await, 0);
}

#[tokio::test]
async fn an_import_that_retention_overtakes_while_it_reads_changes_nothing() {
    let bench = Bench::new(&windows()).await;
    fill(&bench, &[("202503111505", "esc-1", 5)]).await;
    drain(&bench, "2025-03-11T15:10:00Z").await.succeeded();
    // The hour of 15:00Z is still open when the import looks, and its minutes are gone when the file ends.
    let arguments = ["import", "--format", "csv", "-"];
    let folga = bench.folga(&arguments).at("2025-03-18T12:00:00Z");
    let mut running = folga.stdin(Stdio::piped()).spawn();
    let mut input = running.stdin.take().unwrap();
    let row = "prod,gateway,messages,tenant,esc-2,,202503111507,1\n";
    let part = COLUMNS.to_owned() + &row.repeat(100_001);
    input.write_all(part.as_bytes()).await.unwrap();
    let labels = "SELECT label AS line FROM labels";
    wait_until("a part was read", async || {
        lines(&bench, labels).await == "esc-1\nesc-2"
    })
    .await;
    let before = folded(&bench).await;
    let now = "2025-03-20T12:00:00Z";
    bench.folga(&["retention"]).at(now).run().await.succeeded();
    drop(input);
    let ended = running.wait_with_output().await.unwrap();
    let said = String::from_utf8_lossy(&ended.stderr);
    assert_eq!(ended.status.code(), Some(1), "{said}");
    assert!(said.contains("run the import again for the rest"), "{said}");
    assert_eq!(folded(&bench).await, before);
}

#[tokio::test]
async fn history_begins_with_what_was_imported_for_the_shapes_it_was_folded_for() {
    let hour = "endpoints = [\"messages\"]\nlimit = 30\nwindow = \"1h\"";
    let bench = Bench::new(&messages(&[("messages", THIRTY), ("hour", hour)])).await;
    // Minutes have been dropped before `late` is new; then `hour` leaves the catalog.
    bench
        .folga(&["retention"])
        .at("2025-04-01T00:00:00Z")
        .run()
        .await
        .succeeded();
    let late = "endpoints = [\"messages\"]\nlimit = 30\nwindow = \"5m\"";
    bench.write_catalog(&messages(&[("messages", THIRTY), ("late", late)]));
    let counts = [("202503101201", "esc-1", 3), ("202503201201", "esc-1", 4)];
    import(&bench, &csv(&counts), "2025-04-02T00:00:00Z")
        .await
        .succeeded();
    bench.write_catalog(&messages(&[("messages", THIRTY), ("late", late), ("hour", hour)]));
    let days = ["2025-03-10T00:00:00Z", "2025-03-31T00:00:00Z"];
    let report = report_at(&bench, days[0], days[1], "2025-04-02T00:00:00Z").await;
    for id in ["messages", "late"] {
        let found = limit(&report, id);
        assert_eq!(
            (&found["total"], &found["history_from"]),
            (&json!(7), &json!("2025-03-10T12:01:00Z")),
            "{id}"
        );
    }
    let found = limit(&report, "hour");
    assert_eq!(found["total"], 0);
    assert!(
        found["history_from"].as_str().unwrap() > "2025-03-20",
        "{found:#}"
    );
}

#[tokio::test]
async fn the_documented_line_turns_an_access_log_into_rows() {
    let source = MESSAGES
        .replace("gateway", "access")
        .replace("\"tenant\"", "\"ip\"");
    let ip = "[scope.ip]\nkind = \"ip\"\npublic = true\n";
    let own = "source = \"access\"\nscope = \"ip\"\nendpoints = [\"/api/*\"]\nlimit = 30\nwindow = \"1m\"";
    let bench = Bench::new(&[HEAD, ip, &source, &limits(&[("api", own)])].concat()).await;
    let log = r#"203.0.113.7 - - [10/Mar/2025:12:05:31 +0000] "GET /api/messages/17?x=1,2 HTTP/1.1" 200 512 "-" "curl/8.0"
2001:db8:1:2:3::9 - ana [10/Mar/2025:09:05:59 -0300] "POST /api/a,b HTTP/2.0" 429 0 "https://e/?a=\"b\"" "Mozilla/5.0 (X11)"
203.0.113.7 - - [10/Mar/2025:12:05:32 +0000] "GET /api/messages/18 HTTP/1.1" 200 512 "-" "curl/8.0"
198.51.100.1 - - [10/Mar/2025:12:06:00 +0000] "-" 400 0 "-" "-"
"#;
    fs::write(bench.folder.join("access.log"), log).unwrap();
    let folga = bench.folder.join("folga");
    let binary = env!("CARGO_BIN_EXE_folga");
    fs::write(&folga, format!("#!/bin/sh\nexec '{binary}' --at {SOON} \"$@\"\n")).unwrap();
    fs::set_permissions(&folga, fs::Permissions::from_mode(0o755)).unwrap();

    let page = include_str!("../../docs/import.md");
    let shown = page.lines().skip_while(|line| !line.starts_with("    awk "));
    let command: Vec<&str> = shown.take_while(|line| !line.is_empty()).collect();
    let output = Command::new("sh")
        .args(["-c", &format!("PATH=\"$PWD:$PATH\"\n{}", command.join("\n"))])
        .current_dir(&bench.folder)
        .env("FOLGA_CONFIG", bench.folder.join("folga.toml"))
        .env("FOLGA_DATABASE_URL", &bench.database_url)
        .env("FOLGA_IDENTITY_KEY", "an identity key for tests")
        .stdin(Stdio::null())
        .output()
        .await
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    let expected = "prod access: 3 rows, from 2025-03-10T12:05Z to 2025-03-10T12:05Z\n\
                    refused line 5: the endpoint is empty: write what was counted, as limits name it (1)\n";
    assert_eq!(said, expected, "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(output.status.code(), Some(3));
    let report = report_at(&bench, NOON, "2025-03-10T13:00:00Z", SOON).await;
    let found = limit(&report, "api");
    assert_eq!(
        (peak(found), &found["total"]),
        ((2, "2025-03-10T12:05:00Z"), &json!(3))
    );
    // Addresses are nobody's business, though the scope is public; whoever knows one finds it.
    for (index, address) in ["203.0.113.7", "2001:db8:1:2:9::1"].iter().enumerate() {
        let arguments = ["identity", "--scope", "ip", address];
        let id = bench.folga(&arguments).run().await.succeeded().stdout;
        assert_eq!(
            found["top_identities"][index]["identity"],
            id.trim_end(),
            "{address}"
        );
    }
    let endpoints = lines(&bench, "SELECT endpoint AS line FROM series").await;
    assert_eq!(endpoints, "/api/a,b\n/api/messages/N");
}

#[tokio::test]
async fn what_the_catalog_gives_may_be_spelt_out_or_left_empty() {
    let bench = Bench::new(&[HEAD, MESSAGES, &limits(&[("messages", THIRTY)])].concat()).await;
    let text = [
        COLUMNS,
        "prod,gateway,messages,,esc-1,,202501101201,3\n",
        "prod,gateway,messages,tenant,esc-1,,202501101201,4\n",
    ]
    .concat();
    import(&bench, &text, "2025-03-10T12:00:00Z").await.succeeded();
    let total = lines(&bench, "SELECT sum(total)::text AS line FROM hourly").await;
    assert_eq!(total, "7");
}
