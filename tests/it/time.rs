//! Hours, days and windows: what is open, what has closed, and where one ends.

use chrono::TimeDelta;
use serde_json::{Value, json};

use super::{
    source::MESSAGING,
    support::{
        Bench, Serving, at,
        catalogs::{HEAD, THIRTY, drain, limit, limits, messages, put, report, report_at},
        wait_until,
    },
};

async fn increment(bench: &Bench, key: &str, by: i64) {
    redis::cmd("HINCRBY")
        .arg(bench.key(key))
        .arg("esc-1")
        .arg(by)
        .exec_async(&mut bench.redis().await)
        .await
        .unwrap();
}

/// Counts `count` for one identity in a minute, given as in keys.
async fn count(bench: &Bench, minute: &str, count: &str) {
    let key = bench.key(&format!("m:messages:{minute}"));
    put(bench, key, &[(b"esc-1", count.as_bytes())]).await;
}

#[tokio::test]
async fn keys_that_live_five_minutes_are_all_read_by_a_drain_every_two() {
    let sent = "source = \"messaging\"\nscope = \"session\"\nendpoints = [\"wasender\"]\nlimit = 60\nwindow = \"1m\"";
    let bench = Bench::new(&[HEAD, MESSAGING, &limits(&[("sent", sent)])].concat()).await;
    let noon = at("2025-03-10T12:00:00Z");
    // The schedule is `20 */2 * * * *`. The last drain of the hour's minutes is that of 13:02:20.
    for drained in 1..=31 {
        let now = noon + TimeDelta::minutes(2 * drained) + TimeDelta::seconds(20);
        let mut minute = noon;
        while minute <= now && minute < noon + TimeDelta::hours(1) {
            let key = bench.key(&format!("wa:metrics:s1:{}", minute.format("%Y%m%d%H%M")));
            bench
                .hash(
                    &key,
                    &[("wasender:ok", "1")],
                    minute + TimeDelta::seconds(300),
                    now,
                )
                .await;
            minute += TimeDelta::minutes(1);
        }
        drain(&bench, &now.to_rfc3339()).await.succeeded();
    }
    let (from, to) = ("2025-03-10T12:00:00Z", "2025-03-10T13:00:00Z");
    let report = report_at(&bench, from, to, "2025-03-10T13:02:20Z").await;
    assert_eq!(limit(&report, "sent")["total"], 60);
    let coverage = &report["coverage"][0];
    assert_eq!(
        (&coverage["covered"], &coverage["gaps"]),
        (&json!(60), &json!([]))
    );
}

#[tokio::test]
async fn a_running_minute_is_not_read_and_a_running_hour_is_partial() {
    let bench = Bench::new(&messages(&[("messages", THIRTY)])).await;
    let hour = async |now| {
        let report = report_at(&bench, "2025-03-10T12:00:00Z", "2025-03-10T13:00:00Z", now).await;
        let limit = limit(&report, "messages");
        (limit["peak"]["value"].clone(), limit["partial"].clone())
    };
    count(&bench, "202503101230", "2").await;
    drain(&bench, "2025-03-10T12:30:20Z").await.succeeded();
    let stored: i64 = sqlx::query_scalar("SELECT count(*) FROM minute_counts")
        .fetch_one(&bench.pool)
        .await
        .unwrap();
    assert_eq!(stored, 0);
    increment(&bench, "m:messages:202503101230", 20).await;
    drain(&bench, "2025-03-10T12:31:05Z").await.succeeded();
    assert_eq!(hour("2025-03-10T12:31:05Z").await, (json!(22), json!(true)));
    assert_eq!(hour("2025-03-10T13:00:04Z").await, (json!(22), json!(true)));
    assert_eq!(hour("2025-03-10T13:00:30Z").await, (json!(22), json!(false)));
}

#[tokio::test]
async fn minutes_ahead_wait_until_they_are_due_and_impossible_ones_are_refused() {
    let bench = Bench::new(&messages(&[("messages", THIRTY)])).await;
    for (minute, value) in [
        ("202503101231", "3"),
        ("202503101240", "5"),
        ("203001010000", "1"),
    ] {
        count(&bench, minute, value).await;
    }
    let refused = format!("refused {}", bench.key("m:messages:203001010000"));
    for (now, total) in [("12:30:10", 0), ("12:32:10", 3), ("12:39:50", 3), ("12:41:10", 8)] {
        let now = format!("2025-03-10T{now}Z");
        let ran = drain(&bench, &now).await.exited(3);
        assert_eq!(ran.stdout.matches("refused").count(), 1, "{}", ran.stdout);
        assert!(ran.stdout.contains(&refused), "{}", ran.stdout);
        let report = report_at(&bench, "2025-03-10T12:00:00Z", "2025-03-10T13:00:00Z", &now).await;
        assert_eq!(limit(&report, "messages")["total"], total, "{now}");
    }
    for table in ["hourly", "series_hourly"] {
        let query = sqlx::AssertSqlSafe(format!(
            "SELECT count(*) FROM {table} WHERE hour > '2025-03-10T12:00:00Z'"
        ));
        let later: i64 = sqlx::query_scalar(query).fetch_one(&bench.pool).await.unwrap();
        assert_eq!(later, 0, "{table}");
    }
}

#[tokio::test]
async fn metrics_tell_how_far_ahead_a_producer_is() {
    let bench = Bench::new(&messages(&[("messages", THIRTY)])).await;
    count(&bench, "202503101231", "3").await;
    count(&bench, "202503101240", "5").await;
    let folga = bench.folga(&["--log-format", "json", "serve"]);
    let serving = Serving::start(folga.at("2025-03-10T12:30:10Z")).await;
    // 12:40:00 lies 9 min 50 s ahead.
    let line = "folga_clock_skew_seconds{source=\"gateway\",environment=\"prod\"} 590";
    wait_until(line, async || serving.get("/metrics").await.body.contains(line)).await;
}

#[tokio::test]
async fn retention_cuts_at_the_same_instant_whatever_zone_anything_is_in() {
    for zone in ["UTC", "America/Sao_Paulo", "Asia/Tokyo"] {
        let catalog = messages(&[("messages", THIRTY)]).replace("\"UTC\"", &format!("{zone:?}"));
        let bench = Bench::new(&catalog).await;
        let statement = format!("ALTER DATABASE {} SET timezone = 'Asia/Tokyo'", bench.prefix);
        sqlx::raw_sql(sqlx::AssertSqlSafe(statement))
            .execute(&bench.pool)
            .await
            .unwrap();
        for (minute, value) in [
            ("202503101159", "1"),
            ("202503101200", "2"),
            ("202503101300", "4"),
        ] {
            count(&bench, minute, value).await;
        }
        let run = async |arguments: &[&str], now: &str| {
            bench
                .folga(arguments)
                .env("TZ", "America/Sao_Paulo")
                .at(now)
                .run()
                .await
                .succeeded()
        };
        run(&["drain"], "2025-03-10T13:10:00Z").await;
        // On the way, so that this run finds nothing but old rows.
        run(&["retention"], "2025-05-01T00:00:00Z").await;
        // 90 × 24 h after noon of 10 March: 21 + 30 + 31 + 8 days.
        run(&["retention"], "2025-06-08T12:00:00Z").await;
        let hours: Vec<String> = sqlx::query_scalar(
            "SELECT to_char(hour AT TIME ZONE 'UTC', 'MM-DD HH24:MI') FROM hourly ORDER BY hour",
        )
        .fetch_all(&bench.pool)
        .await
        .unwrap();
        assert_eq!(hours, ["03-10 12:00", "03-10 13:00"], "{zone}");
        // What is left is reported by the hour and by the day.
        for (from, to) in [
            ("2025-03-10T12:00:00Z", "2025-03-10T14:00:00Z"),
            ("2025-03-10T00:00:00Z", "2025-03-11T15:00:00Z"),
        ] {
            let report = report_at(&bench, from, to, "2025-06-08T12:00:00Z").await;
            assert_eq!(limit(&report, "messages")["total"], 6, "{zone} {from}");
        }
    }
}

#[tokio::test]
async fn months_end_and_begin_without_a_seam() {
    let bench = Bench::new(&messages(&[("messages", THIRTY)])).await;
    count(&bench, "202503312359", "3").await;
    count(&bench, "202504010000", "4").await;
    drain(&bench, "2025-03-31T23:58:00Z").await.succeeded();
    drain(&bench, "2025-04-01T00:02:00Z").await.succeeded();
    // Three months on, nobody having looked after anything.
    count(&bench, "202507010000", "5").await;
    let ran = drain(&bench, "2025-07-01T00:02:00Z").await.exited(3);
    assert!(
        ran.stdout.contains("not covered: 2025-04-02T00:02:00Z"),
        "{}",
        ran.stdout
    );
    for (from, to, total) in [
        ("2025-03-31T23:00:00Z", "2025-04-01T00:00:00Z", 3),
        ("2025-04-01T00:00:00Z", "2025-04-01T01:00:00Z", 4),
        ("2025-03-31T00:00:00Z", "2025-04-02T00:00:00Z", 7),
        ("2025-07-01T00:00:00Z", "2025-07-01T01:00:00Z", 5),
    ] {
        let report = report(&bench, from, to).await;
        assert_eq!(limit(&report, "messages")["total"], total, "{from}");
    }
}

/// Value, lower, upper and time of a limit's peak.
fn peak(report: &Value) -> [Value; 4] {
    let peak = &limit(report, "messages")["peak"];
    ["value", "lower", "upper", "at"].map(|name| peak[name].clone())
}

#[tokio::test]
async fn windows_reach_back_over_the_hour_through_earlier_drains() {
    let bench = Bench::new(&messages(&[("messages", &THIRTY.replace("1m", "15m"))])).await;
    for (minute, value, now) in [
        ("202503101250", "3", "12:52:00"),
        ("202503101258", "4", "12:59:30"),
        ("202503101302", "5", "13:03:30"),
        ("202503101306", "1", "13:07:30"),
    ] {
        count(&bench, minute, value).await;
        drain(&bench, &format!("2025-03-10T{now}Z")).await.succeeded();
    }
    let hours = async || {
        let now = "2025-03-10T13:10:00Z";
        let first = report_at(&bench, "2025-03-10T12:00:00Z", "2025-03-10T13:00:00Z", now).await;
        let second = report_at(&bench, "2025-03-10T13:00:00Z", "2025-03-10T14:00:00Z", now).await;
        [peak(&first), peak(&second)]
    };
    let (at_58, at_02) = (json!("2025-03-10T12:58:00Z"), json!("2025-03-10T13:02:00Z"));
    // At 12:58: 3 + 4. At 13:02, from 12:48 on: 3 + 4 + 5. At 13:06, from 12:52 on: 4 + 5 + 1 = 10.
    // Sixteen minutes hold no more; an anchored limiter may have split them in halves.
    assert_eq!(
        hours().await,
        [
            [json!(7), json!(4), json!(7), at_58.clone()],
            [json!(12), json!(6), json!(12), at_02.clone()],
        ]
    );
    // Two more, late, before the hour: both hours rise.
    increment(&bench, "m:messages:202503101258", 2).await;
    drain(&bench, "2025-03-10T13:08:30Z").await.succeeded();
    assert_eq!(
        hours().await,
        [
            [json!(9), json!(5), json!(9), at_58],
            [json!(14), json!(7), json!(14), at_02],
        ]
    );
}

#[tokio::test]
async fn a_local_day_runs_over_midnight_of_utc_and_ends_at_its_own() {
    let daily = "endpoints = [\"messages\"]\nlimit = 10\nwindow = \"1d\"";
    let catalog = messages(&[("messages", daily)]).replace("\"UTC\"", "\"America/Sao_Paulo\"");
    let bench = Bench::new(&catalog).await;
    let day = ["2025-03-09T03:00:00Z", "2025-03-10T03:00:00Z"];
    count(&bench, "202503092200", "4").await;
    drain(&bench, "2025-03-09T22:10:00Z").await.succeeded();
    count(&bench, "202503100100", "5").await;
    // The minutes from 22:10 to 23:10 were never read.
    drain(&bench, "2025-03-10T01:10:00Z").await.exited(3);
    let open = report_at(&bench, day[0], day[1], "2025-03-10T01:10:00Z").await;
    assert_eq!(peak(&open)[0], 9);
    assert_eq!(limit(&open, "messages")["percentiles"], Value::Null);
    count(&bench, "202503100259", "6").await;
    count(&bench, "202503100300", "7").await;
    drain(&bench, "2025-03-10T03:08:30Z").await.succeeded();

    // UTC-3. The day of the 9th runs up to 02:59Z: 4, 4 + 5, 4 + 5 + 6; 03:00Z is the 10th's first minute.
    for (hour, value, minute) in [
        ("2025-03-09T22", 4, "00"),
        ("2025-03-10T01", 9, "00"),
        ("2025-03-10T02", 15, "59"),
        ("2025-03-10T03", 7, "00"),
    ] {
        let (from, to) = (
            format!("{hour}:00:00Z"),
            at(&format!("{hour}:00:00Z")) + TimeDelta::hours(1),
        );
        let report = report_at(&bench, &from, &to.to_rfc3339(), "2025-03-10T03:08:30Z").await;
        let expected = [
            json!(value),
            json!(value),
            json!(value),
            json!(format!("{hour}:{minute}:00Z")),
        ];
        assert_eq!(peak(&report), expected, "{hour}");
    }
    let whole = report_at(&bench, day[0], day[1], "2025-03-10T03:08:30Z").await;
    let whole = limit(&whole, "messages");
    assert_eq!(
        (&whole["total"], &whole["percentiles"]["p50"]),
        (&json!(15), &json!(15))
    );
    assert_eq!(
        whole["would_block"],
        json!({"requests": 5, "identity_windows": 1, "exact": true})
    );
}

#[tokio::test]
async fn windows_close_though_nothing_new_arrives() {
    for algorithm in ["fixed", "anchored"] {
        let own =
            format!("endpoints = [\"messages\"]\nlimit = 5\nwindow = \"15m\"\nalgorithm = \"{algorithm}\"");
        let bench = Bench::new(&messages(&[("messages", &own)])).await;
        count(&bench, "202503101203", "9").await;
        count(&bench, "202503101218", "8").await;
        let figures = async |now: &str| {
            drain(&bench, now).await.succeeded();
            let report = report_at(&bench, "2025-03-10T12:00:00Z", "2025-03-10T13:00:00Z", now).await;
            let limit = limit(&report, "messages").clone();
            let blocked = &limit["would_block"];
            let [requests, windows] =
                ["requests", "identity_windows"].map(|name| blocked[name].as_u64().unwrap());
            (limit["percentiles"]["p999"].as_u64(), requests, windows)
        };
        // The first window is closed, the second one is not; then it is. Above 5 are 4, and 3 more.
        assert_eq!(
            figures("2025-03-10T12:20:00Z").await,
            (Some(9), 4, 1),
            "{algorithm}"
        );
        assert_eq!(
            figures("2025-03-10T12:31:00Z").await,
            (Some(9), 7, 2),
            "{algorithm}"
        );
    }
}
