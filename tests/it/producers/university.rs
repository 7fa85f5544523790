//! A university's asynchronous API, counting from its middleware.

use folga::servers::free_port;
use serde_json::{Value, json};

use super::{example, folga, lives, python, report, world, writer};
use crate::support::{Behaviour, Proxy, UpstashFront, catalogs::limit};

const SCRIPT: &str = "tests/producers/university.py";
const FOLDER: &str = "examples/producers";
const NOW: &str = "2025-03-10T12:15:00Z";

/// Requests that are alike: method and path, address, status, time and how many.
fn requests(kinds: &[(&str, &str, u16, &str, u32)]) -> Value {
    let requests = kinds.iter().map(|(request, client, status, time, times)| {
        let (method, path) = request.split_once(' ').expect("method and path");
        let at = format!("2025-03-10T{time}+00:00");
        json!({ "method": method, "path": path, "client": client, "status": status, "at": at, "times": times })
    });
    requests.collect()
}

#[tokio::test]
#[ignore = "needs what scripts/producers installs"]
async fn what_the_middleware_counts_is_drained_exactly() {
    let bench = world().await;
    let mut redis = writer(&bench).await;
    let front = UpstashFront::start(redis.clone()).await;
    let requests = requests(&[
        // As many as are allowed.
        ("GET /courses", "198.51.100.9", 200, "12:05:10", 600),
        // One more than that, by two addresses of one network.
        ("GET /courses", "2001:db8:7:1::a", 200, "12:06:00", 300),
        ("GET /grades", "2001:db8:7:1:ffff::b", 200, "12:06:59", 301),
        // Failed ones count, and one is too many.
        ("POST /auth/login", "198.51.100.9", 401, "12:07:00", 20),
        ("POST /auth/login", "::ffff:198.51.100.9", 200, "12:07:30", 11),
        // These use no quota.
        ("OPTIONS /courses", "198.51.100.10", 204, "12:05:10", 5),
        ("POST /jobs/nightly", "198.51.100.10", 200, "12:05:10", 4),
    ]);
    let asked =
        json!({ "url": front.url(), "token": UpstashFront::TOKEN, "prefix": "uni:", "requests": requests });
    let (happened, log) = python(SCRIPT, FOLDER, &asked).await;
    assert_eq!(log, "");
    // 600 + 601 + 31 + 9 were answered.
    let happened = happened.as_array().unwrap();
    assert_eq!(happened.iter().filter(|one| one.is_number()).count(), 1241);
    // One request each: two commands, and four for a login.
    let sent = front.commands();
    assert_eq!(
        (sent.len(), sent.iter().sum::<usize>()),
        (1232, 1201 * 2 + 31 * 4)
    );
    let lives = lives(&mut redis).await;
    let keys: Vec<&str> = lives.iter().map(|(key, _)| &**key).collect();
    let expected = [
        "uni:m:all:202503101205",
        "uni:m:all:202503101206",
        "uni:m:all:202503101207",
        "uni:m:login:202503101207",
    ];
    assert_eq!(keys, expected);
    assert!(
        lives.iter().all(|(_, left)| (7000..=7200).contains(left)),
        "{lives:?}"
    );
    let fields: Vec<String> = redis::cmd("HKEYS")
        .arg("uni:m:all:202503101206")
        .query_async(&mut redis)
        .await
        .unwrap();
    assert_eq!(fields, ["2001:db8:7:1::/64"]);

    let ran = folga(&bench, &example("university"), &["drain"])
        .at(NOW)
        .run()
        .await;
    assert!(
        ran.succeeded().stdout.contains("4 keys, 4 samples"),
        "one identity a key"
    );
    let report = report(
        &bench,
        &example("university"),
        ["2025-03-10T12:00:00Z", "2025-03-10T13:00:00Z"],
    )
    .await;
    // Fixed windows are exact: one of 601 is above 600, and one of 31 above 30, by one each.
    for (id, total, value, at) in [
        ("all.ip", 1232, 601, "2025-03-10T12:06:00Z"),
        ("login.ip", 31, 31, "2025-03-10T12:07:00Z"),
    ] {
        let found = limit(&report, id);
        assert_eq!(
            (&found["total"], &found["status"]),
            (&json!(total), &json!("over")),
            "{id}"
        );
        let peak = &found["peak"];
        assert_eq!(
            [&peak["value"], &peak["lower"], &peak["upper"]],
            [value; 3],
            "{id}"
        );
        assert_eq!(peak["at"], at, "{id}");
        let blocked = json!({ "requests": 1, "identity_windows": 1, "exact": true });
        assert_eq!(found["would_block"], blocked, "{id}");
    }
}

#[tokio::test]
#[ignore = "needs what scripts/producers installs"]
async fn the_api_answers_whatever_becomes_of_its_counts() {
    let bench = world().await;
    let front = UpstashFront::start(writer(&bench).await).await;
    let hanging = Proxy::start(front.port()).await;
    hanging.set(Behaviour::Hang);
    let nowhere = format!("http://127.0.0.1:{}", free_port().unwrap());
    for (url, client, name) in [
        (nowhere, "198.51.100.9", "ConnectError"),
        (hanging.url(&front.url()), "198.51.100.9", "TimeoutError"),
        // No address at all, as behind a local socket.
        (front.url(), "", "ValueError"),
    ] {
        let requests = requests(&[("GET /courses", client, 200, "12:05:00", 2)]);
        let asked =
            json!({ "url": url, "token": UpstashFront::TOKEN, "prefix": "uni:", "requests": requests });
        let (happened, log) = python(SCRIPT, FOLDER, &asked).await;
        let happened: Vec<&Value> = happened.as_array().unwrap().iter().collect();
        assert_eq!(happened.iter().filter(|one| ***one == 200).count(), 2);
        assert_eq!(happened.last(), Some(&&json!("done")));
        // That is all: no address is logged.
        assert_eq!(log, format!("rate_limit.unavailable {name}\n").repeat(2));
    }
    assert_eq!(lives(&mut writer(&bench).await).await, []);
}
