//! `folga check` with servers that it can look at.

use redis::aio::MultiplexedConnection;
use serde_json::{Value, json};

use super::support::{
    Bench, at,
    catalogs::{THIRTY, commands, messages, reset_commands},
};

const NOW: &str = "2025-03-10T12:30:10Z";

const CATALOG: &str = r#"
[[environment]]
name = "prod"
prefix = "olp:"
[scope.tenant]
[scope.ip]
kind = "ip"
[[source]]
name = "gateway"
kind = "hash"
key = "{env}m:{endpoint}:{minute}"
field = "{scope}:{identity}"
ttl = "2h"
schedule = "0 */5 * * * *"
find = { index = "{env}midx:{minute}" }
[[source]]
name = "copies"
kind = "hash"
key = "{env}m:{endpoint}:{minute}"
field = "{identity}"
scope = "tenant"
ttl = "2h"
schedule = "0 */5 * * * *"
find = { endpoints = ["login"] }
[[source]]
name = "old"
kind = "counter"
key = "{env}old:{endpoint}:{identity}:{minute}"
scope = "tenant"
ttl = "1d"
schedule = "0 0 * * * *"
find = "scan"
[[source]]
name = "queue"
kind = "hash"
key = "{env}wa:{identity}:{minute}"
field = "{endpoint}:{outcome}"
scope = "tenant"
ttl = "300s"
schedule = "0 */2 * * * *"
find = "scan"
[[group]]
id = "A"
name = "All"
[[group.limit]]
id = "login"
source = ["gateway", "copies", "old"]
endpoints = ["login", "list"]
scope = "tenant"
limit = 30
window = "1m"
[[group.limit]]
id = "never"
source = "gateway"
endpoints = ["never", "ever"]
scope = "tenant"
limit = 30
window = "1m"
[[group.limit]]
id = "queue"
source = "queue"
endpoints = ["*"]
scope = "tenant"
limit = 30
window = "1m"
"#;

/// A hash of the gateway, named by its minute's index, that lives longer than its catalog says.
async fn counted(bench: &Bench, endpoint: &str, minute: &str, fields: &[(&str, &str)]) {
    let key = format!("olp:m:{endpoint}:{minute}");
    bench
        .hash(&key, fields, at("2025-03-10T15:00:00Z"), at(NOW))
        .await;
    named(&mut bench.redis().await, &key, minute).await;
}

async fn named(redis: &mut MultiplexedConnection, key: &str, minute: &str) {
    let mut command = redis::cmd("SADD");
    command.arg(format!("olp:midx:{minute}")).arg(key);
    command.exec_async(redis).await.expect("SADD");
}

async fn set(redis: &mut MultiplexedConnection, key: &str, value: &str, seconds: i64) {
    let mut command = redis::cmd("SET");
    command.arg(key).arg(value).arg("EX").arg(seconds);
    command.exec_async(redis).await.expect("SET");
}

async fn checked(bench: &Bench, code: i32) -> Value {
    let ran = bench.folga(&["check", "--format", "json"]).at(NOW).run().await;
    ran.exited(code).json()
}

/// What was found about a source: what, and the names.
fn found<'f>(checked: &'f Value, source: &str, about: &str) -> Vec<(&'f str, Vec<&'f str>)> {
    let of = |finding: &&Value| finding["source"] == source && finding["about"] == about;
    let findings = checked["findings"].as_array().unwrap();
    let names = |finding: &'f Value| {
        let names = finding["names"].as_array().unwrap().iter();
        names.map(|name| name.as_str().unwrap()).collect()
    };
    (findings.iter().filter(of))
        .map(|finding| (finding["what"].as_str().unwrap(), names(finding)))
        .collect()
}

async fn write_odd_keys(bench: &Bench) {
    let mut redis = bench.redis().await;
    let fields = [
        ("tenant:a", "3"),
        ("ip:192.0.2.7", "1"),
        ("mac:x", "2"),
        ("odd", "1"),
    ];
    counted(bench, "login", "202503101229", &fields).await;
    counted(bench, "login", "202503101228", &[("tenant:a", "1")]).await;
    counted(bench, "me", "202503101228", &[("tenant:a", "1")]).await;
    // No limit names it, but it is not one of this hour.
    counted(bench, "past", "202503101129", &[("tenant:a", "1")]).await;
    set(&mut redis, "olp:m:list:202503101227", "5", 9000).await;
    named(&mut redis, "olp:m:list:202503101227", "202503101227").await;
    counted(bench, "login", "202503101226", &[("tenant:a", "1")]).await;
    let mut persist = redis::cmd("PERSIST");
    persist.arg("olp:m:login:202503101226");
    persist.exec_async(&mut redis).await.unwrap();
    // 12:25 lives 23 hours in place of 24, and the messages of 12:29 live 170 seconds in place of 300.
    set(&mut redis, "olp:old:login:a:202503101225", "7", 82_490).await;
    set(&mut redis, "olp:old:login:b:202503101226", "many", 90_000).await;
    set(&mut redis, "olp:old:login:b:202503101260", "7", 90_000).await;
    let queue = "olp:wa:a:202503101229";
    bench
        .hash(queue, &[("x:ok", "1")], at("2025-03-10T12:31:50Z"), at(NOW))
        .await;
}

#[tokio::test]
async fn a_check_finds_what_is_wrong_with_keys_limits_and_lives() {
    let bench = Bench::with_own_redis(CATALOG).await;
    write_odd_keys(&bench).await;
    let mut redis = bench.redis().await;
    reset_commands(&mut redis).await;
    let checked = checked(&bench, 3).await;
    let sent = commands(&mut redis).await;
    let names: Vec<&str> = sent.keys().map(String::as_str).collect();
    assert_eq!(names, ["dbsize", "getrange", "hscan", "pttl", "scan", "sunion"]);
    assert_eq!(checked["commands"], json!(sent.values().sum::<u64>()));

    let login = |minute: &str| format!("olp:m:login:2025031012{minute}");
    let (first, second, third) = (login("26"), login("28"), login("29"));
    let twice = "source copies of prod reads it too: it counts twice";
    assert_eq!(
        found(&checked, "gateway", "key"),
        [
            ("a field does not fit the field pattern", vec![&*third]),
            ("it never expires", vec![&*first]),
            ("scope \"mac\" is not declared", vec![&*third]),
            (twice, vec![&*first, &second, &third]),
            (
                "the key holds another type than the source says",
                vec!["olp:m:list:202503101227"]
            ),
        ]
    );
    let [(what, names)] = &found(&checked, "gateway", "endpoint")[..] else {
        panic!("{checked:#}");
    };
    assert!(what.starts_with("no limit names these endpoints"));
    assert_eq!(names, &["me"]);
    assert_eq!(
        found(&checked, "gateway", "scope"),
        [("no limit is of these scopes, though they are counted", vec!["ip"])]
    );
    assert_eq!(found(&checked, "gateway", "life"), []);
    let odd = found(&checked, "old", "key");
    assert_eq!(odd.len(), 2, "{odd:?}");
    assert!(
        odd.iter()
            .any(|(_, names)| *names == ["olp:old:login:b:202503101226"])
    );
    assert!(
        odd.iter()
            .any(|(_, names)| *names == ["olp:old:login:b:202503101260"])
    );
    for (source, part) in [
        ("old", " from the start of their minute, not 1d: "),
        // 120 s between runs, 5 s of grace, and 70 s.
        (
            "queue",
            "runs lie up to 2m apart: minutes vanish unread; let keys live 195s or longer",
        ),
    ] {
        let lives = found(&checked, source, "life");
        assert!(lives.len() == 1 && lives[0].0.contains(part), "{lives:?}");
    }
    let quiet = json!([{
        "about": "quiet",
        "source": null,
        "environment": "prod",
        "what": "there is no key, and nothing is stored, of any endpoint of these limits",
        "names": ["never"],
    }]);
    assert_eq!(checked["notes"], quiet);
    assert_eq!(checked["not_looked_at"], json!([]));
    // The gateway's index names 5 keys in 60 minutes: 120 a day, read three times, and 2 commands for each of 288 runs.
    // By name it would be 3 endpoints of 1440 minutes. Of the copies 3 keys exist in 60 minutes: 72 a day. The old
    // counters are 2 in 1439 minutes, read twice, and 24 scans of one step; the queue has one key in 4 minutes, 360 a
    // day, read six times, and 720 scans.
    let cost = json!([
        { "source": "gateway", "now": 936, "index": 936, "endpoints": 13_536 },
        { "source": "copies", "now": 4_896, "index": 792, "endpoints": 4_896 },
        { "source": "old", "now": 28, "index": 52, "endpoints": null },
        { "source": "queue", "now": 2_880, "index": 3_600, "endpoints": null },
    ]);
    assert_eq!(checked["cost"], cost);

    let table = bench.folga(&["check"]).at(NOW).run().await.exited(3).stdout;
    for line in [
        "is sound. Times are UTC.",
        "  gateway in prod: it never expires: olp:m:login:202503101226",
        "  prod: there is no key, and nothing is stored, of any endpoint of these limits: never",
    ] {
        assert!(table.contains(line), "{line}\n{table}");
    }
}

#[tokio::test]
async fn a_check_of_what_is_well_finds_nothing() {
    let bench = Bench::with_own_redis(&messages(&[("messages", THIRTY)])).await;
    let key = bench.key("m:messages:202503101229");
    let ends = at("2025-03-10T15:00:00Z");
    bench.hash(&key, &[("a", "3")], ends, at(NOW)).await;
    let all = checked(&bench, 0).await;
    for part in ["findings", "notes", "not_looked_at"] {
        assert_eq!(all[part], json!([]), "{all:#}");
    }
    // Where nothing is counted yet, that is worth a look at most.
    let mut command = redis::cmd("DEL");
    command
        .arg(&key)
        .exec_async(&mut bench.redis().await)
        .await
        .unwrap();
    let none = checked(&bench, 0).await;
    assert_eq!(
        none["notes"][0]["what"],
        "there is no key of the last 119 minutes"
    );

    let mut command = redis::cmd("ACL");
    command.arg(&[
        "SETUSER",
        "walker",
        "on",
        ">secret",
        "~*",
        "+@read",
        "+@connection",
        "-scan",
    ]);
    command.exec_async(&mut bench.redis().await).await.unwrap();
    let port = bench.own_redis.as_ref().unwrap().port();
    let denied = bench
        .folga(&["check", "--format", "json"])
        .env(
            "FOLGA_REDIS_URL",
            format!("redis://walker:secret@127.0.0.1:{port}"),
        )
        .run()
        .await
        .succeeded()
        .json();
    let unseen = denied["not_looked_at"][0].as_str().unwrap();
    assert!(
        unseen.starts_with("source gateway in prod: the Redis account may not do this (NOPERM"),
        "{unseen}"
    );

    let nobody = bench
        .folga(&["check"])
        .env("FOLGA_REDIS_URL", "redis://127.0.0.1:1")
        .env("FOLGA_DATABASE_URL", "postgres://127.0.0.1:1/none")
        .run()
        .await
        .succeeded();
    let (_, unseen) = nobody.stdout.split_once("\nNot looked at\n").unwrap();
    assert!(
        unseen.contains("  Redis: Redis at 127.0.0.1:1 is not reachable") && unseen.contains("  Postgres: "),
        "{unseen}"
    );
}

#[tokio::test]
async fn a_check_is_bounded_whatever_there_is() {
    let catalog = messages(&[("messages", THIRTY)]).replace("PREFIX:", "olp:");
    let bench = Bench::with_own_redis(&catalog).await;
    let mut redis = bench.redis().await;
    let fill = "for i = 1, 120000 do redis.call('SET', 'noise:' .. i, 1) end \
                for i = 1, 3000 do redis.call('HSET', 'olp:m:e' .. i .. ':202503101229', 'a', 1) end \
                return 0";
    let mut command = redis::cmd("EVAL");
    command.arg(fill).arg(0).exec_async(&mut redis).await.unwrap();
    reset_commands(&mut redis).await;
    let checked = checked(&bench, 3).await;
    let sent = commands(&mut redis).await;
    assert_eq!(
        (sent["scan"], sent["dbsize"], sent["pttl"], sent["hscan"]),
        (100, 1, 1000, 1000)
    );
    let reason = "all of source gateway in prod: the keyspace has more keys than 100 steps of a scan reach";
    assert_eq!(checked["not_looked_at"], json!([reason]));
    let endpoints = found(&checked, "gateway", "endpoint");
    assert!(endpoints[0].1.len() > 1000, "names cost nothing");
}
