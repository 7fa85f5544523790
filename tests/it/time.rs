//! Hours, days and windows: what is open, what has closed, and where one ends.

use chrono::TimeDelta;
use serde_json::{Value, json};

use super::{
    source::MESSAGING,
    support::{
        Bench, at,
        catalogs::{HEAD, THIRTY, drain, limit, limits, messages, put, report},
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

/// A report of a period as of an instant.
async fn report_at(bench: &Bench, from: &str, to: &str, now: &str) -> Value {
    let arguments = [
        "report", "--env", "prod", "--format", "json", "--from", from, "--to", to,
    ];
    bench.folga(&arguments).at(now).run().await.succeeded().json()
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
    let report = report(&bench, "2025-03-10T12:00:00Z", "2025-03-10T13:00:00Z").await;
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
    assert!(ran.stdout.contains("not covered: 2025-06-23T"), "{}", ran.stdout);
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
