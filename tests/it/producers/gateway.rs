//! A school platform's gateway, counting from a serverless worker.

use folga::servers::free_port;
use serde_json::{Value, json};

use super::{example, folga, lives, node, report, world, writer};
use crate::support::{
    Behaviour, Proxy, UpstashFront,
    catalogs::{commands, limit, reset_commands},
};

const SCRIPT: &str = "tests/producers/gateway.mjs";
const MODULE: &str = "target/producers/gateway.js";
const NOW: &str = "2025-03-10T12:11:00Z";

/// A request: its endpoint, its identities by scope, and its instant.
fn request(endpoint: &str, identities: &Value, time: &str) -> Value {
    json!({ "endpoint": endpoint, "identities": identities, "at": format!("2025-03-10T{time}Z") })
}

/// Eight requests: six of three identities, two of two.
fn requests() -> Vec<Value> {
    let one = json!({ "usuario_id": "u1", "ip": "203.0.113.7", "escola_id": "esc-1" });
    // Two addresses of one network.
    let two = json!({ "usuario_id": "u2", "ip": "2001:db8:1:2::5", "escola_id": "esc-1" });
    let three = json!({ "usuario_id": "u3", "ip": "2001:db8:1:2::6", "escola_id": "esc-1" });
    let nobody = json!({ "ip": "203.0.113.7", "escola_id": "esc-1" });
    vec![
        request("send-otp", &one, "12:05:00"),
        request("send-otp", &one, "12:05:01"),
        request("send-otp", &one, "12:05:59.999"),
        request("lookup_escola", &nobody, "12:05:30"),
        request("lookup_escola", &nobody, "12:05:30"),
        request("send-otp", &one, "12:09:00"),
        request("send-otp", &two, "12:09:30"),
        request("send-otp", &three, "12:09:31"),
    ]
}

#[tokio::test]
#[ignore = "needs what scripts/producers installs"]
async fn what_the_worker_counts_is_drained_exactly() {
    let bench = world().await;
    let mut redis = writer(&bench).await;
    let front = UpstashFront::start(redis.clone()).await;
    let asked =
        json!({ "url": front.url(), "token": UpstashFront::TOKEN, "prefix": "olp:", "requests": requests() });
    let (happened, log) = node(SCRIPT, MODULE, &asked).await;
    assert_eq!(
        happened,
        json!([vec!["answered"; 8], vec!["counted"; 8]].concat()),
        "{log}"
    );
    assert_eq!(log, "");
    // One request each: its identities and three more.
    let mut sent = front.commands();
    sent.sort_unstable();
    assert_eq!(sent, [5, 5, 6, 6, 6, 6, 6, 6]);
    let lives = lives(&mut redis).await;
    let keys: Vec<&str> = lives.iter().map(|(key, _)| &**key).collect();
    let expected = [
        "olp:m:lookup_escola:202503101205",
        "olp:m:send-otp:202503101205",
        "olp:m:send-otp:202503101209",
        "olp:midx:202503101205",
        "olp:midx:202503101209",
    ];
    assert_eq!(keys, expected);
    assert!(
        lives.iter().all(|(_, left)| (7000..=7200).contains(left)),
        "{lives:?}"
    );

    // What else lives in the same database: the older portal's counters, the limiter's own, sessions.
    for (key, life) in [
        ("olp:metrics:login:esc-1:202503101205", 172_800),
        ("olp:rl:burst:203.0.113.7", 5),
        ("olp:rl:lookup:escola:esc-1", 60),
        ("olp:rl:otp:ip:203.0.113.7", 900),
        ("olp:bl:jti-1", 900),
        ("olp:sess:jti-1", 28_800),
        ("olp:lo:u1", 86_400),
    ] {
        let mut command = redis::cmd("SET");
        let command = command.arg(key).arg(7).arg("EX").arg(life);
        command.exec_async(&mut redis).await.unwrap();
    }

    // Of 12:05 the hash of send-otp has three identities and that of lookup_escola two; of 12:09 three users, an address,
    // a network and a school.
    reset_commands(&mut redis).await;
    let arguments = ["drain", "--source", "gateway", "--env", "prod"];
    let ran = folga(&bench, &example("gateway"), &arguments)
        .at(NOW)
        .run()
        .await
        .succeeded();
    assert!(ran.stdout.contains("3 keys, 11 samples"), "{}", ran.stdout);
    let sent = commands(&mut redis).await;
    assert!(sent.values().sum::<u64>() <= 3 + 2, "{sent:?}");
    assert_eq!(sent["hgetall"], 3);
    folga(&bench, &example("gateway"), &["drain"])
        .at(NOW)
        .run()
        .await
        .succeeded();

    let report = report(
        &bench,
        &example("gateway"),
        ["2025-03-10T12:00:00Z", "2025-03-10T13:00:00Z"],
    )
    .await;
    let figures = |id: &str| {
        let found = limit(&report, id);
        ["total", "status"].map(|name| found[name].clone())
    };
    let peak = |id: &str| limit(&report, id)["peak"].clone();
    // u1: 3 at 12:05 and 1 at 12:09 are 4 in a quarter of an hour, of 5; an anchored window may have split them.
    let of_user = peak("send-otp.usuario");
    assert_eq!(figures("send-otp.usuario"), [json!(6), json!("near")]);
    assert_eq!(
        [&of_user["value"], &of_user["lower"], &of_user["upper"]],
        [4, 2, 4]
    );
    assert_eq!(of_user["at"], "2025-03-10T12:09:00Z");
    // The same 4 by address, of 20; the network has 2.
    assert_eq!(figures("send-otp.ip"), [json!(6), json!("ok")]);
    let top = limit(&report, "send-otp.ip")["top_identities"]
        .as_array()
        .unwrap();
    assert_eq!(
        top.iter().map(|one| &one["peak"]).collect::<Vec<_>>(),
        [&json!(4), &json!(2)]
    );
    assert_eq!(figures("lookup.escola"), [json!(2), json!("ok")]);
    assert_eq!(peak("lookup.escola")["identity"], "esc-1");
    assert_eq!(
        figures("portal/login/escola_id"),
        [json!(7), json!("watch")],
        "{report:#}"
    );
}

#[tokio::test]
#[ignore = "needs what scripts/producers installs"]
async fn the_worker_answers_whatever_becomes_of_its_counts() {
    let bench = world().await;
    let front = UpstashFront::start(writer(&bench).await).await;
    let hanging = Proxy::start(front.port()).await;
    hanging.set(Behaviour::Hang);
    let nowhere = format!("http://127.0.0.1:{}", free_port().unwrap());
    for (url, token, name) in [
        (nowhere, UpstashFront::TOKEN, "TypeError"),
        (hanging.url(&front.url()), UpstashFront::TOKEN, "TimeoutError"),
        (front.url(), "another token", "UpstashError"),
    ] {
        let requests = &requests()[..2];
        let asked = json!({ "url": url, "token": token, "prefix": "olp:", "requests": requests });
        let (happened, log) = node(SCRIPT, MODULE, &asked).await;
        assert_eq!(
            happened,
            json!(["answered", "answered", "counted", "counted"]),
            "{log}"
        );
        // That is all: no identity is logged.
        assert_eq!(log, format!("rate_limit.uncounted {name}\n").repeat(2));
    }
    assert_eq!(lives(&mut writer(&bench).await).await, []);
}
