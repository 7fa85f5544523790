//! The front that the producers count through answers their client as a hosted Redis would.

use serde_json::json;

use super::{node, world, writer};
use crate::support::UpstashFront;

#[tokio::test]
#[ignore = "needs what scripts/producers installs"]
async fn the_front_keeps_what_the_client_relies_on() {
    let bench = world().await;
    let front = UpstashFront::start(writer(&bench).await).await;
    let asked = json!({ "url": front.url(), "token": UpstashFront::TOKEN });
    let client = "target/producers/node_modules/@upstash/redis/nodejs.mjs";
    let (found, log) = node("tests/producers/contract.mjs", client, &asked).await;
    let wrong = "WRONGTYPE Operation against a key holding the wrong kind of value";
    let results = json!([
        { "result": "OK" },
        // One bad command costs no other.
        { "error": wrong },
        { "result": "São João" },
        { "result": 1 },
    ]);
    assert_eq!(
        (&found["single"], &found["pipeline"]),
        (&json!(null), &results),
        "{log}"
    );
    assert_eq!(found["multi"], json!([2, 1, ["é"], 1]));
    let refused = found["refused"].as_str().unwrap();
    assert!(refused.starts_with(wrong), "{refused}");
    let stranger = found["stranger"].as_str().unwrap();
    assert!(stranger.starts_with("Unauthorized"), "{stranger}");
}
