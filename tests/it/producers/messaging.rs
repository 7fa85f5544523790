//! A messaging queue, whose counts live for five minutes.

use std::{fs, path::Path};

use chrono::TimeDelta;
use redis::aio::MultiplexedConnection;
use serde_json::{Value, json};

use super::{example, folga, report, world, writer};
use crate::support::{Bench, at, catalogs::limit};

/// What a session asked of its providers in a minute, by outcome.
struct Sent {
    session: &'static str,
    minute: &'static str,
    outcomes: &'static [(&'static str, u32)],
}

/// The local day ends at 03:00Z.
const SENT: [Sent; 6] = [
    Sent {
        session: "conta-1",
        minute: "2025-03-11T02:51:00Z",
        outcomes: &[
            ("wasender:ok", 40),
            ("wasender:rate_limited", 25),
            ("twilio:ok", 3),
            ("twilio:error:429", 2),
        ],
    },
    Sent {
        session: "conta-1",
        minute: "2025-03-11T02:54:00Z",
        outcomes: &[("wasender:ok", 10), ("wasender:failure", 1)],
    },
    Sent {
        session: "conta-2",
        minute: "2025-03-11T02:54:00Z",
        outcomes: &[("wasender:ok", 5)],
    },
    Sent {
        session: "conta-3",
        minute: "2025-03-11T02:54:00Z",
        outcomes: &[("wasender:ok", 7)],
    },
    Sent {
        session: "conta-1",
        minute: "2025-03-11T02:58:00Z",
        outcomes: &[("twilio:ok", 150)],
    },
    Sent {
        session: "conta-1",
        minute: "2025-03-11T03:01:00Z",
        outcomes: &[("twilio:ok", 120)],
    },
];

/// When the schedule runs, from before the first message on.
const RUNS: [&str; 8] = [
    "2025-03-11T02:50:20Z",
    "2025-03-11T02:52:20Z",
    "2025-03-11T02:54:20Z",
    "2025-03-11T02:56:20Z",
    "2025-03-11T02:58:20Z",
    "2025-03-11T03:00:20Z",
    "2025-03-11T03:02:20Z",
    "2025-03-11T03:04:20Z",
];

impl Sent {
    fn key(&self) -> String {
        format!(
            "olp:wa:metrics:{}:{}",
            self.session,
            at(self.minute).format("%Y%m%d%H%M")
        )
    }

    /// Writes as the queue does: for every message its count and the key's life, and when the session sent last.
    async fn write(&self, redis: &mut MultiplexedConnection) {
        let mut pipe = redis::pipe();
        for (field, count) in self.outcomes {
            for _ in 0..*count {
                pipe.cmd("HINCRBY").arg(self.key()).arg(field).arg(1);
                pipe.cmd("EXPIRE").arg(self.key()).arg(300);
            }
        }
        let bucket = format!("olp:wa:bucket:{}", self.session);
        let sent = at(self.minute).timestamp_millis();
        pipe.cmd("SET").arg(bucket).arg(sent).arg("EX").arg(60);
        pipe.exec_async(redis).await.expect("it writes");
    }
}

/// Lets the queue send and the schedule run, each at its time: what was printed.
async fn drained(bench: &Bench, catalog: &Path) -> String {
    let mut redis = writer(bench).await;
    let mut before = at("2025-03-11T02:50:00Z");
    let mut printed = String::new();
    for run in RUNS {
        let now = at(run);
        for sent in SENT {
            // Messages go out half way through a minute.
            let half = at(sent.minute) + TimeDelta::seconds(30);
            if before < half && half <= now {
                sent.write(&mut redis).await;
            }
            let left = (half + TimeDelta::seconds(300) - now).num_seconds();
            let mut command = redis::cmd("EXPIRE");
            command.arg(sent.key()).arg(left);
            command.exec_async(&mut redis).await.expect("EXPIRE");
        }
        let ran = folga(bench, catalog, &["drain"]).at(run).run().await;
        // No minute is missed, and nothing is odd.
        printed += &ran.succeeded().stdout;
        before = now;
    }
    printed
}

#[tokio::test]
async fn what_the_queue_counts_for_five_minutes_is_drained_exactly() {
    let bench = world().await;
    let catalog = example("messaging");
    let printed = drained(&bench, &catalog).await;
    assert!(!printed.contains("conta-"), "{printed}");
    let report = report(&bench, &catalog, ["2025-03-10T03:00:00Z", "2025-03-11T04:00:00Z"]).await;
    let figures = |id: &str| {
        let found = limit(&report, id);
        let peak = &found["peak"];
        [
            &found["total"],
            &found["accepted"],
            &peak["value"],
            &peak["at"],
            &found["status"],
        ]
        .map(Value::clone)
    };
    // Asked of wasender: 40 + 25, 10 + 1, 5 and 7; accepted 40 + 10 + 5 + 7; at most 65 in a minute, of 60.
    let first = "2025-03-11T02:51:00Z";
    assert_eq!(
        figures("wasender.session"),
        [json!(88), json!(62), json!(65), json!(first), json!("over")]
    );
    assert_eq!(limit(&report, "wasender.session")["accepted_peak"]["value"], 40);
    // Limited: 25.
    assert_eq!(
        figures("wasender-limited.session"),
        [json!(25), json!(0), json!(25), json!(first), json!("watch")]
    );
    // Asked of twilio, whatever came of it: 3 + 2, 150 and 120; it took all but the two.
    let twilio = figures("twilio.session");
    assert_eq!(twilio[..3], [json!(275), json!(273), json!(150)]);
    // conta-1's local day of the 10th accepted 40 + 3 + 10 + 150 = 203, three more than 200; that of the 11th 120.
    let quota = limit(&report, "quota.session");
    assert_eq!(
        figures("quota.session")[2..],
        [json!(203), json!("2025-03-11T02:58:00Z"), json!("over")]
    );
    assert_eq!(quota["total"], 335);
    let blocked = json!({ "requests": 3, "identity_windows": 1, "exact": true });
    assert_eq!(quota["would_block"], blocked);
}

#[tokio::test]
async fn with_a_table_of_sessions_the_quota_is_one_of_schools() {
    let bench = world().await;
    let example = fs::read_to_string(example("messaging")).unwrap();
    // The lines that are left out of the example.
    let is_left_out = |line: &&str| line.starts_with('#') && !line.starts_with("# ");
    let lines = (example.lines()).map(|line| if is_left_out(&line) { &line[1..] } else { line });
    let catalog = bench.folder.join("folga.toml");
    fs::write(&catalog, lines.collect::<Vec<_>>().join("\n")).unwrap();
    let printed = drained(&bench, &catalog).await;
    // Read at 02:56:20, and again when all its late writes must have come.
    let stranger = "  session conta-3 is part of no escola_id: it counts as itself\n";
    assert!(printed.contains(stranger), "{printed}");
    assert_eq!(
        printed.matches("part of no").count(),
        printed.matches(stranger).count()
    );
    let report = report(&bench, &catalog, ["2025-03-10T03:00:00Z", "2025-03-11T04:00:00Z"]).await;
    // conta-1 and conta-2 together on the 10th: 203 + 5, eight more than 200. conta-3 has 7 of its own.
    let quota = limit(&report, "quota.escola");
    assert_eq!((&quota["total"], &quota["status"]), (&json!(335), &json!("over")));
    let peak = json!({
        "value": 208, "lower": 208, "upper": 208, "at": "2025-03-11T02:58:00Z", "identity": "escola-7"
    });
    assert_eq!(quota["peak"], peak);
    let blocked = json!({ "requests": 8, "identity_windows": 1, "exact": true });
    assert_eq!(quota["would_block"], blocked);
    let tops = quota["top_identities"].as_array().unwrap();
    let peaks: Vec<&Value> = tops.iter().map(|top| &top["peak"]).collect();
    assert_eq!(peaks, [208, 7]);
    // Sessions have the quota of sessions beside.
    assert_eq!(limit(&report, "quota.session")["peak"]["value"], 203);
}
