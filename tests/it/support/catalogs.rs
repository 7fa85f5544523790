//! Catalogs that tests put together, and what they do with them.

use std::collections::BTreeMap;

use redis::aio::MultiplexedConnection;
use serde_json::Value;

use super::{Bench, binary::Ran};

/// What a catalog begins with: UTC, one environment, and a scope whose labels are kept.
pub const HEAD: &str = r#"
timezone = "UTC"
[[environment]]
name = "prod"
prefix = "PREFIX:"
[scope.tenant]
public = true
"#;

/// Hashes of counts by tenant, found by scan.
pub const MESSAGES: &str = r#"
[[source]]
name = "gateway"
kind = "hash"
key = "{env}m:{endpoint}:{minute}"
field = "{identity}"
scope = "tenant"
ttl = "2h"
schedule = "0 */5 * * * *"
find = "scan"
"#;

/// Thirty messages a minute for each tenant.
pub const THIRTY: &str = r#"endpoints = ["messages"]
limit = 30
window = "1m""#;

/// A group of limits on the gateway's tenants: the id of each, and its further lines.
pub fn limits(limits: &[(&str, &str)]) -> String {
    let mut parts = vec!["[[group]]\nid = \"A\"\nname = \"All\"".to_owned()];
    for (id, lines) in limits {
        parts.push(format!("[[group.limit]]\nid = \"{id}\""));
        for (key, default) in [("source", "gateway"), ("scope", "tenant")] {
            let given = lines.lines().any(|line| line.starts_with(&format!("{key} =")));
            if !given {
                parts.push(format!("{key} = \"{default}\""));
            }
        }
        parts.push((*lines).to_owned());
    }
    parts.join("\n") + "\n"
}

/// The catalog of most tests: the gateway's messages with these limits.
pub fn messages(own: &[(&str, &str)]) -> String {
    [HEAD, MESSAGES, &limits(own)].concat()
}

/// Sets fields of a hash that lives long enough for any test.
pub async fn put<K: redis::ToRedisArgs>(bench: &Bench, key: K, fields: &[(&[u8], &[u8])]) {
    redis::pipe()
        .cmd("HSET")
        .arg(&key)
        .arg(fields)
        .cmd("EXPIRE")
        .arg(&key)
        .arg(3600)
        .exec_async(&mut bench.redis().await)
        .await
        .expect("HSET");
}

/// Sets a counter that lives long enough for any test.
pub async fn put_counter(bench: &Bench, key: &str, count: &str) {
    redis::cmd("SET")
        .arg(key)
        .arg(count)
        .arg("EX")
        .arg(3600)
        .exec_async(&mut bench.redis().await)
        .await
        .expect("SET");
}

/// Drains everything as of an instant.
pub async fn drain(bench: &Bench, now: &str) -> Ran {
    bench.folga(&["drain"]).at(now).run().await
}

/// Reports the production environment between two instants as of the second.
pub async fn report(bench: &Bench, from: &str, to: &str) -> Value {
    report_at(bench, from, to, to).await
}

/// Reports the production environment between two instants as of a third.
pub async fn report_at(bench: &Bench, from: &str, to: &str, now: &str) -> Value {
    let arguments = [
        "report", "--env", "prod", "--format", "json", "--from", from, "--to", to,
    ];
    bench.folga(&arguments).at(now).run().await.succeeded().json()
}

/// One limit of a report.
#[track_caller]
pub fn limit<'r>(report: &'r Value, id: &str) -> &'r Value {
    let groups = report["groups"].as_array().expect("groups");
    groups
        .iter()
        .flat_map(|group| group["limits"].as_array().expect("limits"))
        .find(|limit| limit["id"] == id)
        .unwrap_or_else(|| panic!("the report has no limit {id}: {report:#}"))
}

/// How often a Redis was sent each command since its statistics were reset, the handshake and this very look apart.
pub async fn commands(redis: &mut MultiplexedConnection) -> BTreeMap<String, u64> {
    let text: String = redis::cmd("INFO")
        .arg("commandstats")
        .query_async(redis)
        .await
        .expect("INFO");
    let calls = text.lines().filter_map(|line| {
        let (name, figures) = line.strip_prefix("cmdstat_")?.split_once(":calls=")?;
        Some((name.to_owned(), figures.split(',').next()?.parse().ok()?))
    });
    let apart = ["auth", "select", "ping", "info", "hello"];
    calls
        .filter(|(name, _): &(String, u64)| {
            !apart.contains(&&**name) && !name.starts_with("config") && !name.starts_with("client")
        })
        .collect()
}

/// Forgets how often which command was sent.
pub async fn reset_commands(redis: &mut MultiplexedConnection) {
    redis::cmd("CONFIG")
        .arg("RESETSTAT")
        .exec_async(redis)
        .await
        .expect("CONFIG RESETSTAT");
}
