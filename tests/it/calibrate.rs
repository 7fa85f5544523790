//! A month of counts, drained day by day, and what is recommended after it.

use std::fmt::Write as _;

use chrono::{DateTime, Days, NaiveDate, TimeDelta, Utc};
use serde_json::{Value, json};

use super::support::{
    Bench,
    catalogs::{HEAD, limit},
};

/// Days of March 2025, a Saturday the first; they are drained half an hour after they end.
const DAYS: u32 = 30;
/// The nights on which the source `gappy` is not drained.
const MISSED: [u32; 3] = [10, 11, 12];

/// One source of hashes by tenant whose keys live two days.
fn source(name: &str, letter: &str, more: &str) -> String {
    format!(
        "[[source]]\nname = \"{name}\"\nkind = \"hash\"\nkey = \"{{env}}{letter}:{{endpoint}}:{{minute}}\"\n\
         field = \"{{identity}}\"\nscope = \"tenant\"\nttl = \"48h\"\nschedule = \"0 30 0 * * *\"\nfind = \"scan\"\n{more}\n"
    )
}

fn catalog() -> String {
    let mut text = HEAD.to_owned() + "[[environment]]\nname = \"staging\"\nprefix = \"PREFIX-stg:\"\n";
    text += &source("gateway", "m", "");
    text += &source("door", "d", "counts = \"accepted\"");
    text += &source("gappy", "g", "environments = [\"prod\"]");
    text += "[[group]]\nid = \"A\"\nname = \"All\"\n";
    for (id, source, endpoint, value, more) in [
        ("office-tight", "gateway", "office", 35, ""),
        ("office-fits", "gateway", "office", 36, ""),
        ("office-loose", "gateway", "office", 72, ""),
        ("office-capped", "gateway", "office", 20, "ceiling = 30"),
        ("busy", "gateway", "busy", 60, ""),
        ("abuse", "gateway", "abuse", 30, ""),
        ("storm", "gateway", "storm", 30, ""),
        ("door", "door", "door", 20, "mode = \"block\""),
        ("door-high", "door", "door", 72, "mode = \"block\""),
        (
            "door-capped",
            "door",
            "door",
            20,
            "mode = \"block\"\nceiling = 20",
        ),
        ("gappy", "gappy", "office", 30, ""),
    ] {
        writeln!(
            text,
            "[[group.limit]]\nid = \"{id}\"\nsource = \"{source}\"\nendpoints = [\"{endpoint}\"]\nscope = \"tenant\"\n\
             limit = {value}\nwindow = \"1m\"\n{more}"
        )
        .unwrap();
    }
    text
}

/// What is counted at noon of a day: key prefix and letter, endpoint, identity, count.
fn counts(day: u32) -> Vec<(&'static str, &'static str, &'static str, u64)> {
    // 30, 34, … by weekday, and up to 3 more: 35, 43, 31, 37, 46, … from the first on.
    let busy = [30, 34, 41, 28, 37, 45, 31][day as usize % 7] + u64::from(day * 5 % 4);
    let mut counts = vec![
        (":m", "busy", "a", busy),
        (":m", "busy", "b", busy - 5),
        (":d", "bell", "a", 1),
    ];
    if [1, 2, 8, 9, 15, 16, 22, 23, 29, 30].contains(&day) {
        return counts;
    }
    let office = |usual, once, best| if day == once { best } else { usual };
    for letter in [":m", ":g"] {
        counts.push((letter, "office", "a", office(10, 12, 20)));
        counts.push((letter, "office", "b", office(9, 13, 18)));
    }
    counts.extend([
        (":d", "door", "a", 20),
        (":d", "door", "b", 20),
        (":m", "abuse", "a", 10),
        (":m", "abuse", "b", 9),
        (":m", "storm", "a", 10),
        (":m", "storm", "b", 9),
    ]);
    if day == 20 {
        counts.push((":m", "abuse", "robot", 500));
        counts.extend(["c", "d", "e", "f"].map(|who| (":m", "storm", who, 500)));
    }
    if day % 7 == 4 {
        counts.push(("-stg:m", "busy", "a", 9999));
    }
    counts
}

async fn play(bench: &Bench) {
    let first: NaiveDate = "2025-03-01".parse().unwrap();
    let mut redis = bench.redis().await;
    for day in 1..=DAYS {
        let date = first + Days::new((day - 1).into());
        let now = (date + Days::new(1)).and_hms_opt(0, 30, 0).unwrap().and_utc();
        let mut write = redis::pipe();
        let mut forget = redis::pipe();
        for (prefix, endpoint, who, count) in counts(day) {
            let key = format!(
                "{}{prefix}:{endpoint}:{}1200",
                bench.prefix,
                date.format("%Y%m%d")
            );
            write.hset(&key, who, count).expire(&key, 3600);
            forget.del(&key);
        }
        write.exec_async(&mut redis).await.expect("HSET");
        let drains: &[&[&str]] = if MISSED.contains(&day) {
            &[&["drain", "--source", "gateway"], &["drain", "--source", "door"]]
        } else {
            &[&["drain"]]
        };
        for arguments in drains {
            let ran = bench.folga(arguments).at(&now.to_rfc3339()).run().await;
            // 3 where minutes that were missed can no longer be covered.
            assert!(matches!(ran.code, Some(0 | 3)), "{ran:?}");
        }
        // Keys of the last two days would be read again, and are there no longer; that they went before their time is
        // not told apart from the end of their life a day later.
        if day > 1 {
            forget.exec_async(&mut redis).await.expect("DEL");
        }
    }
}

async fn report(bench: &Bench, now: DateTime<Utc>) -> Value {
    let arguments = ["report", "--env", "prod", "--format", "json"];
    bench
        .folga(&arguments)
        .at(&now.to_rfc3339())
        .run()
        .await
        .succeeded()
        .json()
}

#[tokio::test]
async fn a_month_of_evidence_is_weighed() {
    let bench = Bench::new(&catalog()).await;
    play(&bench).await;
    let now: DateTime<Utc> = "2025-03-31T00:30:00Z".parse().unwrap();
    let report = report(&bench, now).await;
    let weighed = |id: &str| {
        let limit = limit(&report, id);
        assert_eq!(
            limit["readiness"]["active_days"],
            json!(if id == "busy" { 30 } else { 20 }),
            "{limit:#}"
        );
        let found = &limit["recommendation"];
        json!([
            found["action"],
            found["limit"],
            found["projected_peak"],
            found["method"],
            limit["censored"]
        ])
    };
    let margin = "observed-margin";
    // The first sample is at noon of the 1st, so the 2nd is the first whole day that can be vouched for.
    assert_eq!(
        limit(&report, "office-fits")["readiness"],
        json!({"ready": true, "covered_days": 29, "required_days": 28, "active_days": 20})
    );
    // 20 at most; a quarter on top is 25, which is at most 70 % of 36 (25.2) and not of 35 (24.5).
    assert_eq!(weighed("office-tight"), json!(["raise", 36, 25.0, margin, false]));
    assert_eq!(weighed("office-fits"), json!(["keep", 36, 25.0, margin, false]));
    assert_eq!(weighed("office-loose"), json!(["lower", 36, 25.0, margin, false]));
    assert_eq!(
        weighed("office-capped"),
        json!(["raise", 30, 25.0, margin, false])
    );
    // lmoments3: distr.gev(**distr.gev.lmom_fit(days)).ppf(1 - 1 / 90) of the 30 days is 53.9534; 53.96 is at most
    // 70 % of 78 (54.6) and not of 77 (53.9). What staging counted is staging's.
    assert_eq!(
        weighed("busy"),
        json!(["raise", 78, 53.96, "gev-return-level", false])
    );
    // Without the robot and without the storm 10 is the most: 12.5 is at most 70 % of 18 (12.6). With them 500 comes
    // to 625, which needs 892.9: 900.
    for id in ["abuse", "storm"] {
        assert_eq!(weighed(id), json!(["review", 18, 12.5, margin, false]), "{id}");
        let dominated = &limit(&report, id)["recommendation"]["dominated"];
        assert_eq!(
            (&dominated["with"]["limit"], &dominated["without"]["limit"]),
            (&json!(900), &json!(18))
        );
    }
    let reason = |id: &str| {
        limit(&report, id)["recommendation"]["reason"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    assert!(
        reason("abuse").starts_with("One identity (robot) peaks at 500"),
        "{}",
        reason("abuse")
    );
    assert!(
        reason("storm").starts_with("One day (2025-03-20) peaks at 500"),
        "{}",
        reason("storm")
    );
    // Accepted requests stop at the limit: 20 of 20 means at least 20, which can't keep a limit.
    assert_eq!(weighed("door"), json!(["raise", 36, 25.0, margin, true]));
    assert_eq!(weighed("door-capped"), json!(["review", 20, 25.0, margin, true]));
    assert_eq!(weighed("door-high"), json!(["lower", 36, 25.0, margin, false]));
    // Drained on the 14th at 00:30, the 12th is covered from 00:30 on: 97.9 %. From the 13th there are 18 days.
    assert_eq!(
        limit(&report, "gappy")["readiness"],
        json!({"ready": false, "covered_days": 18, "required_days": 28, "active_days": 17})
    );
    assert_eq!(limit(&report, "gappy")["recommendation"]["action"], "wait");
    let total = limit(&report, "door")["total"].clone();
    assert_eq!(
        (&total, &limit(&report, "door")["accepted"]),
        (&json!(800), &json!(800))
    );
    assert_eq!(limit(&report, "busy")["accepted"], Value::Null);

    // Three days earlier it was not enough.
    let earlier = self::report(&bench, now - TimeDelta::days(3)).await;
    assert_eq!(
        limit(&earlier, "office-tight")["recommendation"]["action"],
        "wait"
    );
}
