//! Local days: where clocks are put forward at midnight or back, where midnight falls within an hour of UTC, and spans
//! of 24 hours, which no midnight ends.

use serde_json::{Value, json};

use super::support::{
    Bench,
    catalogs::{drain, limit, messages, put},
};

/// A limit of ten in a window, in a zone.
async fn world(zone: &str, window: &str) -> Bench {
    let own = format!("endpoints = [\"messages\"]\nlimit = 10\nwindow = \"{window}\"");
    let catalog = messages(&[("messages", &own)]).replace("\"UTC\"", &format!("{zone:?}"));
    Bench::new(&catalog).await
}

/// Counts for one identity in minutes, given as in keys.
async fn count(bench: &Bench, counts: &[(&str, &str)]) {
    for (minute, count) in counts {
        let key = bench.key(&format!("m:messages:{minute}"));
        put(bench, key, &[(b"esc-1", count.as_bytes())]).await;
    }
}

/// The last days as of an instant.
async fn days(bench: &Bench, days: &str, now: &str) -> Value {
    let arguments = ["report", "--env", "prod", "--format", "json", "--days", days];
    bench.folga(&arguments).at(now).run().await.succeeded().json()
}

/// Start and end of a report, the total, the largest count within a window and the windows that passed ten.
fn seen(report: &Value) -> [Value; 5] {
    let limit = limit(report, "messages");
    [
        report["from"].clone(),
        report["to"].clone(),
        limit["total"].clone(),
        limit["peak"]["value"].clone(),
        limit["would_block"]["identity_windows"].clone(),
    ]
}

#[tokio::test]
async fn a_day_whose_midnight_is_skipped_has_23_hours() {
    // On 4 November 2018 clocks in Sao Paulo went from 00:00 to 01:00, from UTC-3 to UTC-2. These are 23:30 and 01:30.
    let bench = world("America/Sao_Paulo", "1d").await;
    count(&bench, &[("201811040230", "10"), ("201811040330", "20")]).await;
    drain(&bench, "2018-11-04T04:00:00Z").await.succeeded();
    let now = "2018-11-05T12:00:00Z";
    drain(&bench, now).await.exited(3);
    let (before, day, after) = (
        "2018-11-03T03:00:00Z",
        "2018-11-04T03:00:00Z",
        "2018-11-05T02:00:00Z",
    );
    assert_eq!(
        seen(&days(&bench, "1", now).await),
        [json!(day), json!(after), json!(20), json!(20), json!(1)]
    );
    assert_eq!(
        seen(&days(&bench, "2", now).await),
        [json!(before), json!(after), json!(30), json!(20), json!(1)]
    );
    let by_hour = |report: &Value| limit(report, "messages")["by_hour"].clone();
    let report = by_hour(&days(&bench, "2", now).await);
    assert_eq!(
        (&report[23], &report[1], &report[0]),
        (&json!(10), &json!(20), &json!(null))
    );
}

#[tokio::test]
async fn a_day_whose_last_hour_comes_twice_has_25_hours() {
    // On 18 February 2018 clocks in Sao Paulo went from 00:00 back to 23:00 of the 17th, from UTC-2 to UTC-3. These
    // are 23:30, 23:30 again and 00:30.
    let bench = world("America/Sao_Paulo", "1d").await;
    count(
        &bench,
        &[
            ("201802180130", "6"),
            ("201802180230", "7"),
            ("201802180330", "8"),
        ],
    )
    .await;
    drain(&bench, "2018-02-18T03:40:00Z").await.exited(3);
    let now = "2018-02-18T12:00:00Z";
    let (day, next) = ("2018-02-17T02:00:00Z", "2018-02-18T03:00:00Z");
    assert_eq!(
        seen(&days(&bench, "1", now).await),
        [json!(day), json!(next), json!(13), json!(13), json!(1)]
    );
    assert_eq!(
        limit(&days(&bench, "1", now).await, "messages")["by_hour"][23],
        13
    );
}

#[tokio::test]
async fn a_day_that_ends_within_an_hour_of_utc_ends_there() {
    // Kolkata is UTC+5:30: the 10th of March ends at 18:30Z. An hour belongs to the day that holds its start, so that
    // of 18:00Z is the 10th's last one, whatever of it the 11th counts.
    let bench = world("Asia/Kolkata", "1d").await;
    count(&bench, &[("202503101755", "4"), ("202503101829", "8")]).await;
    drain(&bench, "2025-03-10T18:30:10Z").await.succeeded();
    let tenth = async |now: &str| {
        let period = ["--from", "2025-03-09T19:00:00Z", "--to", "2025-03-10T19:00:00Z"];
        let arguments = [&["report", "--env", "prod", "--format", "json"][..], &period].concat();
        let report = bench.folga(&arguments).at(now).run().await.succeeded().json();
        seen(&report)[2..].to_vec()
    };
    // Its window has closed: 4 + 8.
    assert_eq!(
        tenth("2025-03-10T18:30:10Z").await,
        [json!(12), json!(12), json!(1)]
    );
    count(&bench, &[("202503101830", "9"), ("202503101905", "3")]).await;
    drain(&bench, "2025-03-10T19:10:00Z").await.succeeded();
    assert_eq!(
        tenth("2025-03-10T19:10:00Z").await,
        [json!(21), json!(12), json!(1)]
    );
    // The 11th goes on from the 9 of 18:30Z to 12, and is over at 18:30Z.
    drain(&bench, "2025-03-11T18:40:00Z").await.exited(3);
    let now = "2025-03-12T00:00:00Z";
    assert_eq!(
        seen(&days(&bench, "1", now).await),
        [
            json!("2025-03-10T19:00:00Z"),
            json!("2025-03-11T19:00:00Z"),
            json!(3),
            json!(12),
            json!(1)
        ]
    );
}

#[tokio::test]
async fn no_midnight_ends_24_hours() {
    let bench = world("America/Sao_Paulo", "24h").await;
    // Midnight of UTC lies between the first two, local midnight before the third. The fourth comes 24 h after the
    // first, whose minute has just left: 6 + 7 + 8; with one minute more, 5 + 6 + 7 + 8.
    for (minute, value, now) in [
        ("202503102350", "5", "2025-03-10T23:52:00Z"),
        ("202503110010", "6", "2025-03-11T00:12:00Z"),
        ("202503110310", "7", "2025-03-11T03:12:00Z"),
        ("202503112350", "8", "2025-03-11T23:52:00Z"),
    ] {
        count(&bench, &[(minute, value)]).await;
        drain(&bench, now).await;
    }
    for (hour, value, upper) in [
        ("2025-03-10T23", 5, 5),
        ("2025-03-11T00", 11, 11),
        ("2025-03-11T03", 18, 18),
        ("2025-03-11T23", 21, 26),
    ] {
        let (from, to) = (format!("{hour}:00:00Z"), format!("{hour}:59:59Z"));
        let to = (super::support::at(&to) + chrono::TimeDelta::seconds(1)).to_rfc3339();
        let arguments = [
            "report", "--env", "prod", "--format", "json", "--from", &from, "--to", &to,
        ];
        let report = bench.folga(&arguments).at("2025-03-12T00:10:00Z").run().await;
        let report = report.succeeded().json();
        let peak = &limit(&report, "messages")["peak"];
        assert_eq!(
            (&peak["value"], &peak["upper"]),
            (&json!(value), &json!(upper)),
            "{hour}"
        );
    }
}
