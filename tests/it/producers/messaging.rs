//! A messaging queue, whose counts live for five minutes.

use chrono::TimeDelta;
use redis::aio::MultiplexedConnection;
use serde_json::{Value, json};

use super::{folga, report, world, writer};
use crate::support::{Bench, at, catalogs::limit};

/// What a session asked of its providers in a minute, by outcome.
struct Sent {
    session: &'static str,
    minute: &'static str,
    outcomes: &'static [(&'static str, u32)],
}

/// The local day ends at 03:00Z.
const SENT: [Sent; 5] = [
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

/// Lets the queue send and the schedule run, each at its time.
async fn drained(bench: &Bench) {
    let mut redis = writer(bench).await;
    let mut before = at("2025-03-11T02:50:00Z");
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
        let ran = folga(bench, "messaging", &["drain"]).at(run).run().await;
        // No minute is missed, and nothing is odd.
        ran.succeeded();
        before = now;
    }
}

#[tokio::test]
async fn what_the_queue_counts_for_five_minutes_is_drained_exactly() {
    let bench = world().await;
    drained(&bench).await;
    let report = report(
        &bench,
        "messaging",
        ["2025-03-10T03:00:00Z", "2025-03-11T04:00:00Z"],
    )
    .await;
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
    // Asked of wasender: 40 + 25, 10 + 1 and 5; accepted 40 + 10 + 5; at most 65 in a minute, of 60.
    let first = "2025-03-11T02:51:00Z";
    assert_eq!(
        figures("wasender.session"),
        [json!(81), json!(55), json!(65), json!(first), json!("over")]
    );
    assert_eq!(limit(&report, "wasender.session")["accepted_peak"]["value"], 40);
    // Limited: 25.
    assert_eq!(
        figures("wasender-limited.session"),
        [json!(25), json!(0), json!(25), json!(first), json!("watch")]
    );
    // Asked of twilio, whatever came of it: 3 + 2, 150 and 120.
    let twilio = figures("twilio.session");
    assert_eq!([&twilio[0], &twilio[2]], [&json!(275), &json!(150)]);
    // conta-1's local day of the 10th accepted 40 + 3 + 10 + 150 = 203, three more than 200; that of the 11th 120.
    let quota = limit(&report, "quota.session");
    assert_eq!(
        figures("quota.session")[2..],
        [json!(203), json!("2025-03-11T02:58:00Z"), json!("over")]
    );
    assert_eq!(quota["total"], 328);
    let blocked = json!({ "requests": 3, "identity_windows": 1, "exact": true });
    assert_eq!(quota["would_block"], blocked);
}
