//! Alerts of limits: when they begin, get worse and end, and what reaches a phone of it.

use chrono::{DateTime, TimeDelta, Utc};
use serde_json::Value;

use super::{
    source::MESSAGING,
    support::{
        Bench, Manner, Watch, at,
        catalogs::{HEAD, THIRTY, limits, messages, put},
    },
};

fn catalog() -> String {
    messages(&[("messages", THIRTY)])
}

/// Counts of one tenant in a minute.
async fn count(bench: &Bench, minute: &str, count: u64) {
    let key = bench.key(&format!("m:messages:{minute}"));
    put(bench, key, &[(b"esc-1", count.to_string().as_bytes())]).await;
}

/// Noon and so many minutes.
fn noon(minutes: i64) -> DateTime<Utc> {
    at("2025-03-10T12:00:06Z") + TimeDelta::minutes(minutes)
}

fn text(message: &Value, field: &str) -> String {
    message[field].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn seventy_percent_is_told_and_less_is_not() {
    for (peak, limit, is_told) in [(20, 30, false), (21, 30, true), (22, 30, true), (16, 23, false)] {
        let lines = THIRTY.replace("limit = 30", &format!("limit = {limit}"));
        let watch = Watch::new(&messages(&[("messages", &lines)]), "").await;
        count(&watch.bench, "202503101203", peak).await;
        watch.run(noon(5)).await;
        assert_eq!(
            watch.server.taken().len(),
            usize::from(is_told),
            "{peak} of {limit}"
        );
    }
}

#[tokio::test]
async fn what_is_told_names_limit_peak_time_and_who() {
    let home = "\"America/Sao_Paulo\"\n[http]\nbase_url = \"https://folga.example.org/\"";
    let watch = Watch::new(&catalog().replace("\"UTC\"", home), "").await;
    let key = watch.bench.key("m:messages:202503101203");
    let fields: [(&[u8], &[u8]); 3] = [
        ("Escola São João".as_bytes(), b"24"),
        (b"esc-2", b"21"),
        (b"esc-3", b"9"),
    ];
    put(&watch.bench, key, &fields).await;
    watch.run(noon(5)).await;
    let [message] = &watch.server.taken()[..] else {
        panic!()
    };
    assert_eq!(
        message["title"],
        "prod: messages is near its limit with 24 of 30 (80 %)"
    );
    assert_eq!(
        message["message"],
        "24 of 30 (80 %) within 1m at 09:03 on 10 Mar.\n\
         2 identities (tenant) reached the alert at 21: Escola São João 24, esc-2 21"
    );
    assert_eq!(
        message["click"],
        "https://folga.example.org/limits/messages?env=prod"
    );
    assert_eq!(
        (&message["priority"], &message["tags"][0]),
        (&4.into(), &"warning".into())
    );
}

#[tokio::test]
async fn an_alert_gets_worse_in_place_and_is_taken_back_at_its_end() {
    let watch = Watch::new(&catalog(), "").await;
    watch
        .play("2025-03-10T12:00:00Z", 40, 5, async |bench, minute, text| {
            let peak = match minute {
                3 => 22,
                12 => 33,
                _ => 5,
            };
            count(bench, &text, peak).await;
        })
        .await;
    assert_eq!(
        watch.server.titles(),
        [
            "prod: messages is near its limit with 22 of 30 (73.3 %)",
            "prod: messages is over its limit with 33 of 30 (110 %)",
        ]
    );
    let taken = watch.server.taken();
    assert_eq!(taken[0]["sequence_id"], taken[1]["sequence_id"]);
    assert_eq!(taken[1]["priority"], 5);
    assert_eq!(watch.server.cleared(), [text(&taken[0], "sequence_id")]);
    assert!(watch.server.open().is_empty());
}

#[tokio::test]
async fn an_older_server_is_told_of_the_end() {
    let watch = Watch::new(&catalog(), "").await;
    watch.server.echo(false);
    count(&watch.bench, "202503101203", 22).await;
    for minutes in [5, 10, 15, 20, 25, 30] {
        watch.run(noon(minutes)).await;
    }
    assert_eq!(
        watch.server.titles(),
        [
            "prod: messages is near its limit with 22 of 30 (73.3 %)",
            "prod: messages is ok again, was near with 22 of 30 (73.3 %)",
        ]
    );
    assert_eq!(watch.server.taken()[1]["priority"], 2);
}

#[tokio::test]
async fn hovering_about_the_line_for_half_an_hour_is_one_alert() {
    let watch = Watch::new(&catalog(), "").await;
    watch
        .play("2025-03-10T12:00:00Z", 30, 1, async |bench, minute, text| {
            count(bench, &text, if minute % 2 == 0 { 21 } else { 20 }).await;
        })
        .await;
    assert_eq!(
        watch.server.titles(),
        ["prod: messages is near its limit with 21 of 30 (70 %)"]
    );
    assert!(watch.server.cleared().is_empty());
}

#[tokio::test]
async fn flapping_for_three_hours_is_told_once_a_cooldown() {
    // High for a minute, low for two, and so on; an alert ends after one low minute.
    let watch = Watch::new(&catalog(), "clear_after = \"1m\"").await;
    watch
        .play("2025-03-10T12:00:00Z", 180, 1, async |bench, minute, text| {
            if minute % 3 == 0 {
                count(bench, &text, 25).await;
            }
        })
        .await;
    // 180 minutes have 12 cooldowns of 15.
    let told = watch.server.taken().len();
    assert!((10..=12).contains(&told), "{told}");
    assert!(watch.server.cleared().len() <= told);
}

#[tokio::test]
async fn what_rose_and_fell_within_a_run_is_told_once_and_as_over() {
    let watch = Watch::new(&catalog(), "").await;
    count(&watch.bench, "202503101110", 40).await;
    watch.run(noon(0)).await;
    let [message] = &watch.server.taken()[..] else {
        panic!()
    };
    assert_eq!(
        message["title"],
        "prod: messages is ok again, was over with 40 of 30 (133.3 %)"
    );
    // Nobody knew of it.
    assert_eq!(message["priority"], 3);
    assert_eq!(
        message["message"],
        "40 of 30 (133.3 %) within 1m at 11:10 on 10 Mar.\n\
         1 identity (tenant) reached the alert at 21: esc-1 40\n\
         It began at 11:10 on 10 Mar and is over.\n\
         These are late data: they were read 49m after they were counted."
    );
}

#[tokio::test]
async fn two_hours_read_late_are_one_message() {
    let watch = Watch::new(&catalog(), "").await;
    for minute in 0..60 {
        count(&watch.bench, &format!("2025031011{minute:02}"), 35).await;
    }
    watch.run(noon(0)).await;
    assert_eq!(
        watch.server.titles(),
        ["prod: messages is over its limit with 35 of 30 (116.7 %)"]
    );
}

#[tokio::test]
async fn a_day_that_fills_up_is_told_once_and_ends_with_the_day() {
    let lines = "endpoints = [\"messages\"]\nlimit = 100\nwindow = \"1d\"";
    let watch = Watch::new(&messages(&[("daily", lines)]), "").await;
    // Ten at each full hour from noon on: at 18 h there are 70, at 22 h 110.
    watch
        .play(
            "2025-03-10T12:00:00Z",
            13 * 60,
            30,
            async |bench, minute, text| {
                if minute % 60 == 0 && minute < 12 * 60 {
                    count(bench, &text, 10).await;
                }
            },
        )
        .await;
    assert_eq!(
        watch.server.titles(),
        [
            "prod: daily is near its limit with 70 of 100 (70 %)",
            "prod: daily is over its limit with 110 of 100 (110 %)",
        ]
    );
    assert_eq!(watch.server.cleared().len(), 1);
}

#[tokio::test]
async fn windows_below_a_minute_are_told_by_what_is_certain() {
    // 150 in 5 s: 1,260 in a minute are at least 105 in one of its twelve windows.
    let lines = "endpoints = [\"messages\"]\nlimit = 150\nwindow = \"5s\"";
    let watch = Watch::new(&messages(&[("burst", lines)]), "").await;
    count(&watch.bench, "202503101201", 1248).await;
    watch.run(noon(2)).await;
    assert!(watch.server.taken().is_empty());
    count(&watch.bench, "202503101203", 1260).await;
    watch.run(noon(5)).await;
    assert_eq!(
        watch.server.titles(),
        ["prod: burst is near its limit with at least 105 of 150 (70 %)"]
    );
}

#[tokio::test]
async fn what_is_only_watched_is_told_at_its_own_count() {
    let watched = "endpoints = [\"messages\"]\nmode = \"watch\"\nwatch_alert = 500";
    let exempt = "endpoints = [\"messages\"]\nmode = \"exempt\"";
    let watch = Watch::new(&messages(&[("watched", watched), ("exempt", exempt)]), "").await;
    count(&watch.bench, "202503101203", 510).await;
    watch.run(noon(5)).await;
    assert_eq!(watch.server.titles(), ["prod: watched reached 510, alert at 500"]);
}

#[tokio::test]
async fn hours_that_are_left_out_are_not_told() {
    let ignored = "[[ignore]]\nenvironment = \"prod\"\nfrom = \"2025-03-10T11:30:00Z\"\nto = \"2025-03-10T12:00:00Z\"\n\
                   reason = \"load test\"\n";
    let watch = Watch::new(&[&*catalog(), ignored].concat(), "").await;
    count(&watch.bench, "202503101140", 500).await;
    watch.run(noon(5)).await;
    assert!(watch.server.taken().is_empty());
    count(&watch.bench, "202503101206", 50).await;
    watch.run(noon(10)).await;
    assert_eq!(watch.server.taken().len(), 1);
}

#[tokio::test]
async fn refused_requests_are_told_apart_from_the_peak() {
    let lines = "source = \"messaging\"\nscope = \"session\"\nendpoints = [\"wasender\"]\nlimit = 60\nwindow = \"1m\"";
    let watch = Watch::new(&[HEAD, MESSAGING, &limits(&[("wasender", lines)])].concat(), "").await;
    let key = watch.bench.key("wa:metrics:s1:202503101203");
    let fields: [(&[u8], &[u8]); 3] = [
        (b"wasender:ok", b"40"),
        (b"wasender:rate_limited", b"25"),
        (b"twilio:ok", b"3"),
    ];
    put(&watch.bench, key, &fields).await;
    watch.run(noon(5)).await;
    let mut titles = watch.server.titles();
    titles.sort();
    assert_eq!(
        titles,
        [
            "prod: 25 requests of wasender were refused",
            "prod: wasender is over its limit with 65 of 60 (108.3 %)",
        ]
    );
}

#[tokio::test]
async fn a_limit_that_leaves_the_catalog_is_told_no_more() {
    let watch = Watch::new(&catalog(), "").await;
    watch.server.echo(false);
    count(&watch.bench, "202503101203", 22).await;
    watch.run(noon(5)).await;
    let lines = THIRTY.replace("limit = 30", "limit = 300");
    let catalog = [messages(&[("others", &lines)]), watch.server.section("")].concat();
    watch.bench.write_catalog(&catalog);
    watch
        .bench
        .folga(&["drain"])
        .at("2025-03-10T12:10:06Z")
        .run()
        .await
        .succeeded();
    assert_eq!(
        watch.server.titles()[1],
        "prod: messages is no longer alerted, was near"
    );
}

#[tokio::test]
async fn a_cooldown_starts_when_something_was_delivered() {
    let watch = Watch::new(&catalog(), "").await;
    watch.server.set(Manner::Status(500));
    count(&watch.bench, "202503101203", 22).await;
    watch.run(noon(5)).await;
    let key = watch.bench.key("ac:folga:messages:near");
    let life = async || -> i64 {
        let mut redis = watch.bench.redis().await;
        redis::cmd("PTTL")
            .arg(&key)
            .query_async(&mut redis)
            .await
            .unwrap()
    };
    assert_eq!(life().await, -2);
    watch.server.set(Manner::Proper);
    watch.run(noon(6)).await;
    assert_eq!(
        (watch.server.requests().len(), watch.server.taken().len()),
        (2, 1)
    );
    let left = life().await;
    assert!((800_000..=900_000).contains(&left), "{left}");
    let value: String = redis::cmd("GET")
        .arg(&key)
        .query_async(&mut watch.bench.redis().await)
        .await
        .unwrap();
    assert_eq!(value, "1");
}

#[tokio::test]
async fn a_silenced_limit_is_told_when_the_silence_ends_and_it_still_lasts() {
    for (lasts, told) in [(true, 1), (false, 0)] {
        let watch = Watch::new(&catalog(), "").await;
        let silence = [
            "alerts",
            "silence",
            "messages",
            "--env",
            "prod",
            "--until",
            "2025-03-10T13:00:00Z",
            "--reason",
            "load test",
        ];
        watch
            .bench
            .folga(&silence)
            .at("2025-03-10T12:00:00Z")
            .run()
            .await
            .succeeded();
        watch
            .play("2025-03-10T12:00:00Z", 65, 5, async |bench, minute, text| {
                count(bench, &text, if lasts || minute < 10 { 25 } else { 1 }).await;
                assert!(minute >= 60 || watch.server.taken().is_empty(), "{minute}");
            })
            .await;
        assert_eq!(watch.server.taken().len(), told, "lasts: {lasts}");
    }
}

#[tokio::test]
async fn what_got_worse_and_ended_within_one_drain_is_told() {
    let watch = Watch::new(&catalog(), "").await;
    count(&watch.bench, "202503101200", 25).await;
    watch.run(noon(1)).await;
    count(&watch.bench, "202503101210", 95).await;
    watch.run(noon(60)).await;
    assert_eq!(
        watch.server.titles(),
        [
            "prod: messages is near its limit with 25 of 30 (83.3 %)",
            "prod: messages is ok again, was over with 95 of 30 (316.7 %)",
        ]
    );
}

#[tokio::test]
async fn a_limit_that_is_passed_every_hour_is_told_every_hour() {
    let watch = Watch::new(&catalog(), "").await;
    for hour in 0..4 {
        count(&watch.bench, &format!("202503101{}50", hour + 2), 40 + hour).await;
        watch.run(noon(hour.cast_signed() * 60 + 61)).await;
    }
    let peaks: Vec<_> = (watch.server.titles().iter())
        .map(|title| title.split(" with ").last().unwrap().to_owned())
        .collect();
    assert_eq!(
        peaks,
        [
            "40 of 30 (133.3 %)",
            "41 of 30 (136.7 %)",
            "42 of 30 (140 %)",
            "43 of 30 (143.3 %)"
        ]
    );
}

#[tokio::test]
async fn the_worst_that_nobody_heard_of_outlives_what_comes_after_it() {
    let watch = Watch::new(&catalog(), "").await;
    watch.server.set(Manner::Status(503));
    count(&watch.bench, "202503101203", 95).await;
    watch.run(noon(5)).await;
    watch.run(noon(30)).await;
    count(&watch.bench, "202503101240", 22).await;
    watch.run(noon(45)).await;
    watch.server.set(Manner::Proper);
    watch.run(noon(62)).await;
    let [message] = &watch.server.taken()[..] else {
        panic!()
    };
    assert!(
        text(message, "message").contains("95 of 30 (316.7 %)"),
        "{message}"
    );
}

#[tokio::test]
async fn what_began_before_there_was_anybody_to_tell_is_told_while_it_lasts() {
    let watch = Watch::new(&catalog(), "").await;
    count(&watch.bench, "202503101203", 25).await;
    watch.drain(noon(5)).await;
    // As it is kept where the catalog names no server.
    sqlx::raw_sql("UPDATE alerts SET state = 'unsent'")
        .execute(&watch.bench.pool)
        .await
        .unwrap();
    watch.send(noon(6)).await;
    watch.send(noon(7)).await;
    assert_eq!(watch.server.taken().len(), 1);
}

#[tokio::test]
async fn a_clock_that_was_ahead_silences_nothing_once_it_is_set_back() {
    let watch = Watch::new(&catalog(), "").await;
    count(&watch.bench, "202503101200", 5).await;
    watch.run(noon(1)).await;
    watch.run(noon(90)).await;
    watch.run(noon(3)).await;
    count(&watch.bench, "202503101204", 40).await;
    watch.run(noon(6)).await;
    assert_eq!(
        watch.server.titles(),
        ["prod: messages is over its limit with 40 of 30 (133.3 %)"]
    );
}
