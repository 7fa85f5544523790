//! Whatever goes wrong on the way to the notification server: nothing is lost, and nobody is pestered.

use chrono::{DateTime, TimeDelta, Utc};
use folga::clock::Clock;
use serde_json::Value;

use super::support::{
    Bench, Manner, NtfyServer, Serving, Watch, at,
    catalogs::{HEAD, MESSAGES, THIRTY, limits, messages, put},
    wait_until,
};

fn catalog() -> String {
    messages(&[("messages", THIRTY)])
}

/// Limits on endpoints of their own: `e000`, `e001` and so on.
fn many(count: usize) -> String {
    let own: Vec<(String, String)> = (0..count)
        .map(|n| {
            let lines = format!("endpoints = [\"e{n:03}\"]\nlimit = 30\nwindow = \"1m\"");
            (format!("limit-{n:03}"), lines)
        })
        .collect();
    let own: Vec<(&str, &str)> = own.iter().map(|(id, lines)| (&**id, &**lines)).collect();
    [HEAD, MESSAGES, &limits(&own)].concat()
}

/// One tenant's count on the first endpoints in a minute.
async fn many_counts(bench: &Bench, endpoints: usize, minute: &str, count: u64) {
    for n in 0..endpoints {
        let key = bench.key(&format!("m:e{n:03}:{minute}"));
        put(bench, key, &[(b"esc-1", count.to_string().as_bytes())]).await;
    }
}

async fn count(bench: &Bench, minute: &str, count: u64) {
    let key = bench.key(&format!("m:messages:{minute}"));
    put(bench, key, &[(b"esc-1", count.to_string().as_bytes())]).await;
}

/// Noon and so many minutes.
fn noon(minutes: i64) -> DateTime<Utc> {
    at("2025-03-10T12:00:06Z") + TimeDelta::minutes(minutes)
}

#[tokio::test]
async fn a_used_up_day_is_waited_for_and_everything_told_once_after_it() {
    // Until midnight of UTC where nothing else is said, else as long as is asked for, and longer each time.
    for (wait, attempts, over) in [
        (None, 1, "2025-03-11T00:00:06Z"),
        (Some(120), 3, "2025-03-10T12:19:06Z"),
    ] {
        let watch = Watch::new(&many(5), "").await;
        watch.server.set(Manner::TooMany(42908, wait));
        many_counts(&watch.bench, 5, "202503101203", 35).await;
        for minutes in 5..15 {
            for run in watch.run(noon(minutes)).await {
                assert_eq!(run.error, None);
            }
        }
        assert_eq!(watch.server.requests().len(), attempts, "{wait:?}");
        watch.server.set(Manner::Proper);
        watch.send(at(over)).await;
        watch.send(at(over) + TimeDelta::minutes(5)).await;
        assert_eq!(watch.server.taken().len(), 5, "{wait:?}");
    }
}

#[tokio::test]
async fn a_wrong_token_is_tried_a_few_times_an_hour_and_told_loudly() {
    let watch = Watch::new(&catalog(), "token = \"tk_wrong\"").await;
    watch.server.want("tk_right");
    count(&watch.bench, "202503101203", 35).await;
    for minutes in (5..=125).step_by(5) {
        watch.run(noon(minutes)).await;
    }
    // At 5, 35, 65, 95 and 125 minutes.
    assert_eq!(watch.server.requests().len(), 5);
    let ran = watch
        .bench
        .folga(&["drain"])
        .at("2025-03-10T14:40:06Z")
        .run()
        .await;
    assert!(
        ran.stderr.contains("FOLGA_NTFY_TOKEN") && ran.stderr.contains("ERROR"),
        "{}",
        ran.stderr
    );
    assert!(!ran.stderr.contains("tk_wrong"));
}

#[tokio::test]
async fn a_login_page_is_no_delivery() {
    let watch = Watch::new(&catalog(), "").await;
    watch.server.set(Manner::LoginPage);
    count(&watch.bench, "202503101203", 35).await;
    let round = {
        watch.drain(noon(5)).await;
        watch.send(noon(5)).await
    };
    assert!(round.failure.unwrap().contains("no ntfy server"));
    assert_eq!(watch.states().await, [("pending".to_owned(), String::new(), 1)]);
    watch.server.set(Manner::Proper);
    watch.send(noon(6)).await;
    assert_eq!(watch.server.taken().len(), 1);
}

#[tokio::test]
async fn an_end_that_comes_before_the_beginning_was_told_is_told_all_the_same() {
    let watch = Watch::new(&catalog(), "").await;
    watch.server.set(Manner::Status(502));
    count(&watch.bench, "202503101203", 35).await;
    for minutes in [5, 10, 15, 20, 25] {
        watch.run(noon(minutes)).await;
    }
    watch.server.set(Manner::Proper);
    watch.run(noon(45)).await;
    assert_eq!(
        watch.server.titles(),
        ["prod: messages is ok again, was over with 35 of 30 (116.7 %)"]
    );
}

#[tokio::test]
async fn four_hundred_limits_at_once_are_one_message_that_fits() {
    let watch = Watch::new(&many(400), "").await;
    many_counts(&watch.bench, 400, "202503101203", 35).await;
    watch.run(noon(5)).await;
    let [message] = &watch.server.taken()[..] else {
        panic!("{:?}", watch.server.titles())
    };
    assert_eq!(message["title"], "400 alerts: 400 over");
    let text = message["message"].as_str().unwrap();
    assert!(
        text.starts_with("prod: limit-000 is over its limit with 35 of 30 (116.7 %)\n"),
        "{text}"
    );
    assert!(text.ends_with(" more"), "{text}");
    for minutes in [10, 15, 20, 25] {
        watch.run(noon(minutes)).await;
    }
    assert_eq!(watch.server.titles()[1..], ["400 alerts: 400 ok again"]);
}

#[tokio::test]
async fn a_storm_of_three_hours_never_meets_a_limit_of_the_server() {
    // Forty limits, each of which is high for a while and low for a while, out of step.
    let watch = Watch::new(&many(40), "clear_after = \"5m\"").await;
    watch
        .play("2025-03-10T12:00:00Z", 180, 5, async |bench, minute, text| {
            for n in 0..40 {
                if (minute + n) % 40 < 10 {
                    let key = bench.key(&format!("m:e{n:03}:{text}"));
                    put(bench, key, &[(b"esc-1", b"35")]).await;
                }
            }
        })
        .await;
    let (requests, taken) = (watch.server.requests().len(), watch.server.taken().len());
    assert!(requests <= 240, "{requests}");
    assert_eq!(
        requests,
        taken + watch.server.cleared().len(),
        "each was accepted"
    );
    // Whatever began is over, and was told.
    for minutes in [190, 200, 210, 220, 230, 240] {
        watch.run(noon(minutes)).await;
    }
    assert_eq!(
        watch
            .states()
            .await
            .iter()
            .filter(|(state, ..)| state == "pending")
            .count(),
        0
    );
}

#[tokio::test]
async fn two_workers_send_one_message() {
    let watch = Watch::new(&many(3), "").await;
    many_counts(&watch.bench, 3, "202503101203", 35).await;
    watch.drain(noon(5)).await;
    tokio::join!(watch.send(noon(5)), watch.send(noon(5)), watch.send(noon(5)));
    assert_eq!(watch.server.taken().len(), 3);
}

#[tokio::test]
async fn a_kill_before_an_answer_costs_at_most_a_duplicate() {
    // Killed before the message was taken, and after.
    for (manner, copies) in [(Manner::Hang, 1), (Manner::HangOnceTaken, 2)] {
        let watch = Watch::new(&catalog(), "").await;
        watch.server.echo(false);
        watch.server.set(manner);
        count(&watch.bench, "202503101203", 35).await;
        let mut child = watch.bench.folga(&["drain"]).at("2025-03-10T12:05:06Z").spawn();
        wait_until("it asks the server", async || !watch.server.requests().is_empty()).await;
        child.kill().await.unwrap();
        watch.server.set(Manner::Proper);
        watch.run(noon(10)).await;
        watch.run(noon(11)).await;
        assert_eq!(watch.server.taken().len(), copies, "{manner:?}");
    }
}

#[tokio::test]
async fn a_clock_that_is_set_back_neither_silences_nor_repeats() {
    let watch = Watch::new(&catalog(), "").await;
    // Put off until midnight, and then it is yesterday.
    watch.server.set(Manner::TooMany(42908, None));
    count(&watch.bench, "202503101203", 35).await;
    watch.run(noon(5)).await;
    watch.server.set(Manner::Proper);
    let yesterday = TimeDelta::hours(-24);
    watch.send(noon(6) + yesterday).await;
    assert_eq!(watch.server.taken().len(), 1);
    watch.send(noon(7) + yesterday).await;
    watch.send(noon(8)).await;
    assert_eq!(watch.server.taken().len(), 1);
}

#[tokio::test]
async fn a_clock_that_was_ahead_leaves_the_cooldown_as_it_is() {
    // Told at an hour that has not come yet, by a clock that is set back then.
    let watch = Watch::new(&catalog(), "clear_after = \"1m\"").await;
    for minute in ["202503101203", "202503101207", "202503101211"] {
        count(&watch.bench, minute, 25).await;
    }
    watch.drain(noon(4)).await;
    watch.send(noon(64)).await;
    for minutes in 5..14 {
        watch.run(noon(minutes)).await;
    }
    // Once by the clock that was ahead, and once by the one that is right.
    assert_eq!(watch.server.taken().len(), 2, "{:?}", watch.server.titles());
}

#[tokio::test]
async fn an_account_that_may_only_read_keeps_its_cooldown_in_postgres() {
    let mut watch = Watch::with_own_redis(&catalog(), "clear_after = \"1m\"").await;
    for key in ["202503101203", "202503101207", "202503101222"] {
        count(&watch.bench, key, 25).await;
    }
    let user = "ACL SETUSER reader on >secret ~* +@read +@connection";
    let mut command = redis::Cmd::new();
    for word in user.split(' ') {
        command.arg(word);
    }
    command.exec_async(&mut watch.bench.redis().await).await.unwrap();
    watch.login("reader", "secret");
    for minutes in 4..26 {
        watch.run(noon(minutes)).await;
    }
    let keys: Vec<String> = redis::cmd("KEYS")
        .arg("*ac:folga*")
        .query_async(&mut watch.bench.redis().await)
        .await
        .unwrap();
    assert_eq!(keys, [""; 0]);
    // At 4 minutes, and at 19, when the cooldown is over: what was at 7 is over by then. What is at 22 waits again.
    assert_eq!(
        watch.server.titles(),
        [
            "prod: messages is near its limit with 25 of 30 (83.3 %)",
            "prod: messages is ok again, was near with 25 of 30 (83.3 %)",
        ]
    );
}

#[tokio::test]
async fn a_hanging_server_holds_up_neither_drains_nor_health() {
    let server = NtfyServer::start().await;
    server.set(Manner::Hang);
    let every_second = MESSAGES.replace("0 */5 * * * *", "* * * * * *");
    let catalog = [
        HEAD,
        &every_second,
        &limits(&[("messages", THIRTY)]),
        &server.section(""),
    ]
    .concat();
    let bench = Bench::new(&catalog).await;
    let minute = (Clock::new(None).now() - TimeDelta::minutes(2))
        .format("%Y%m%d%H%M")
        .to_string();
    count(&bench, &minute, 35).await;
    let serving = Serving::start(bench.folga(&["serve", "--log-format", "json"])).await;
    wait_until("the server is asked", async || !server.requests().is_empty()).await;
    let before = serving.source().await["last_success"].clone();
    wait_until("drains go on", async || {
        serving.source().await["last_success"] != before
    })
    .await;
    wait_until("the failure shows", async || {
        let health = serving.get("/health").await.json();
        health["status"] == "degraded" && health["alerts"]["last_error"] != Value::Null
    })
    .await;
    server.set(Manner::Proper);
    assert_eq!(serving.end().await.0, Some(0));
}

#[tokio::test]
async fn a_server_that_was_mended_is_asked_at_once() {
    // By other settings, or by a test that it took.
    for by_settings in [true, false] {
        let mut watch = Watch::new(&catalog(), "").await;
        watch.server.want("tk_right");
        count(&watch.bench, "202503101203", 35).await;
        watch.run(noon(5)).await;
        watch.run(noon(6)).await;
        assert_eq!(watch.server.requests().len(), 1);
        if by_settings {
            watch.show_token("tk_right");
        } else {
            // The server lets the others in.
            watch.server.want_nothing();
            let test = watch.bench.folga(&["alerts", "test"]).run().await;
            assert!(test.succeeded().stdout.contains("has taken it"));
        }
        watch.send(noon(8)).await;
        assert_eq!(
            watch.server.titles().last().unwrap(),
            "prod: messages is over its limit with 35 of 30 (116.7 %)"
        );
    }
}
