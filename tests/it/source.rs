//! What a drain makes of the keys that producers leave, however odd: one bad key never costs a good one.

use std::time::Duration;

use serde_json::json;

use super::support::{
    Behaviour, Bench, Proxy,
    catalogs::{
        HEAD, MESSAGES, THIRTY, commands, drain, limit, limits, messages, put, put_counter, report,
        reset_commands,
    },
};

const NOW: &str = "2025-03-10T12:10:00Z";
const HOUR: [&str; 2] = ["2025-03-10T12:00:00Z", "2025-03-10T13:00:00Z"];

async fn hour(bench: &Bench) -> serde_json::Value {
    report(bench, HOUR[0], HOUR[1]).await
}

#[tokio::test]
async fn empty_pages_of_a_scan_are_not_its_end() {
    let all = r#"endpoints = ["*"]
limit = 30
window = "1m""#;
    let bench = Bench::with_own_redis(&messages(&[("all", all)])).await;
    let mut redis = bench.redis().await;
    let mut noise = redis::pipe();
    for n in 0..5000 {
        noise.cmd("SET").arg(format!("noise:{n}")).arg(1);
    }
    noise.exec_async(&mut redis).await.unwrap();
    for endpoint in ["a", "b", "c", "d"] {
        let key = bench.key(&format!("m:{endpoint}:202503101205"));
        put(&bench, key, &[(b"esc-1", b"1")]).await;
    }
    reset_commands(&mut redis).await;
    let ran = drain(&bench, NOW).await.succeeded();
    assert!(ran.stdout.contains("4 keys, 4 samples"), "{}", ran.stdout);
    assert_eq!(limit(&hour(&bench).await, "all")["total"], 4);
    let sent = commands(&mut redis).await;
    assert!(sent["scan"] > 1 && sent["hgetall"] == 4, "{sent:?}");
}

#[tokio::test]
async fn glob_characters_of_a_prefix_match_only_themselves() {
    for (prefix, other) in [
        ("acme[1]:", "acme1:"),
        ("a*c:", "axxc:"),
        ("b?d:", "bxd:"),
        ("e\\f:", "ef:"),
        ("g[^h]:", "gx:"),
    ] {
        let head = HEAD.replace("\"PREFIX:\"", &format!("'{prefix}'"));
        let catalog = [&head, MESSAGES, &limits(&[("messages", THIRTY)])].concat();
        let bench = Bench::with_own_redis(&catalog).await;
        for (prefix, count) in [(prefix, b"10"), (other, b"99")] {
            put(
                &bench,
                format!("{prefix}m:messages:202503101205"),
                &[(b"77", count)],
            )
            .await;
        }
        let ran = drain(&bench, NOW).await.succeeded();
        assert!(
            ran.stdout.contains("1 keys, 1 samples"),
            "{prefix} {}",
            ran.stdout
        );
        let report = hour(&bench).await;
        let found = limit(&report, "messages");
        assert_eq!(
            (&found["total"], &found["peak"]["value"]),
            (&json!(10), &json!(10)),
            "{prefix}"
        );
    }
}

#[tokio::test]
async fn glob_characters_of_a_key_pattern_match_only_themselves() {
    let source = MESSAGES.replace("{env}m:", "{env}m[ab]*:");
    let catalog = [HEAD, &source, &limits(&[("messages", THIRTY)])].concat();
    let bench = Bench::new(&catalog).await;
    for (name, count) in [("m[ab]*", b"10"), ("ma", b"99"), ("m[ab]x", b"98")] {
        let key = bench.key(&format!("{name}:messages:202503101205"));
        put(&bench, key, &[(b"esc-1", count)]).await;
    }
    drain(&bench, NOW).await.succeeded();
    assert_eq!(limit(&hour(&bench).await, "messages")["total"], 10);
}

pub const MESSAGING: &str = r#"
[scope.session]
public = true
[[source]]
name = "messaging"
kind = "hash"
key = "{env}wa:metrics:{identity}:{minute}"
field = "{endpoint}:{outcome}"
scope = "session"
ttl = "300s"
schedule = "20 */2 * * * *"
lateness = "2m"
find = "scan"
rejected = ["rate_limited"]
"#;

const PORTAL: &str = r#"
[[source]]
name = "portal"
kind = "counter"
key = "{env}metrics:{endpoint}:{identity}:{minute}"
scope = "tenant"
ttl = "48h"
schedule = "0 */15 * * * *"
find = "scan"
"#;

#[tokio::test]
async fn delimiters_inside_names_stay_where_they_belong() {
    let own = limits(&[
        (
            "v1",
            "endpoints = [\"v1:messages:send\"]\nlimit = 30\nwindow = \"1m\"",
        ),
        (
            "errors",
            "source = \"messaging\"\nscope = \"session\"\nendpoints = [\"twilio\"]\noutcomes = [\"error:429\"]\n\
             limit = 60\nwindow = \"1m\"",
        ),
        (
            "sent",
            "source = \"messaging\"\nscope = \"session\"\nendpoints = [\"wasender\"]\nlimit = 60\nwindow = \"1m\"",
        ),
        (
            "portal",
            "source = \"portal\"\nendpoints = [\"msg\"]\nlimit = 30\nwindow = \"1m\"",
        ),
    ]);
    let bench = Bench::new(&[HEAD, MESSAGES, MESSAGING, PORTAL, &own].concat()).await;
    let key = bench.key("m:v1:messages:send:202503101205");
    put(&bench, key, &[(b"esc-1", b"3")]).await;
    let key = bench.key("wa:metrics:conta-7:device2:202503101205");
    put(
        &bench,
        key,
        &[(b"wasender:ok", b"4"), (b"twilio:error:429", b"2")],
    )
    .await;
    // Three free parts where the pattern has two: the first takes the shortest text, the last one keeps the rest.
    put_counter(&bench, &bench.key("metrics:msg:esc:9:202503101205"), "5").await;

    drain(&bench, "2025-03-10T12:07:00Z").await.succeeded();
    let report = hour(&bench).await;
    for (id, count, identity) in [
        ("v1", 3, "esc-1"),
        ("errors", 2, "conta-7:device2"),
        ("sent", 4, "conta-7:device2"),
        ("portal", 5, "esc:9"),
    ] {
        let peak = &limit(&report, id)["peak"];
        assert_eq!(
            (&peak["value"], &peak["identity"]),
            (&json!(count), &json!(identity)),
            "{id}"
        );
    }
}

#[tokio::test]
async fn keys_of_another_type_cost_only_themselves() {
    let all = "endpoints = [\"*\"]\nlimit = 30\nwindow = \"1m\"";
    let portal = "source = \"portal\"\nendpoints = [\"*\"]\nlimit = 30\nwindow = \"1m\"";
    let catalog = [
        HEAD,
        MESSAGES,
        PORTAL,
        &limits(&[("all", all), ("portal", portal)]),
    ]
    .concat();
    let bench = Bench::new(&catalog).await;
    let mut redis = bench.redis().await;
    for n in 0..50 {
        put(
            &bench,
            bench.key(&format!("m:e{n}:202503101205")),
            &[(b"esc-1", b"1")],
        )
        .await;
    }
    let odd = ["string", "list", "zset", "stream"].map(|kind| bench.key(&format!("m:{kind}:202503101206")));
    put_counter(&bench, &odd[0], "5").await;
    let mut keys = redis::pipe();
    keys.cmd("RPUSH").arg(&odd[1]).arg("esc-1").arg(5);
    keys.cmd("ZADD").arg(&odd[2]).arg(5).arg("esc-1");
    keys.cmd("XADD").arg(&odd[3]).arg("*").arg("esc-1").arg(5);
    keys.exec_async(&mut redis).await.unwrap();
    let hash = bench.key("metrics:msg:esc-1:202503101206");
    put(&bench, hash.as_str(), &[(b"esc-1", b"5")]).await;
    put_counter(&bench, &bench.key("metrics:msg:esc-2:202503101206"), "7").await;

    let ran = drain(&bench, NOW).await.exited(3);
    for key in odd.iter().chain([&hash]) {
        let line = format!("refused {key}: the key holds another type than the source says (1)");
        assert_eq!(ran.stdout.matches(&line).count(), 1, "{key}\n{}", ran.stdout);
    }
    let first = hour(&bench).await;
    assert_eq!(limit(&first, "all")["total"], 50);
    assert_eq!(limit(&first, "portal")["total"], 7);

    // The next run meets them again, and reads what is good.
    put(&bench, bench.key("m:e0:202503101207"), &[(b"esc-1", b"2")]).await;
    drain(&bench, "2025-03-10T12:11:00Z").await.exited(3);
    assert_eq!(limit(&hour(&bench).await, "all")["total"], 52);
    // Once they are gone all is well.
    redis::cmd("DEL")
        .arg(&odd)
        .arg(&hash)
        .exec_async(&mut redis)
        .await
        .unwrap();
    drain(&bench, "2025-03-10T12:12:00Z").await.succeeded();
}

#[tokio::test]
async fn a_huge_hash_behind_a_slow_link_is_read_whole_and_then_in_steps() {
    const FIELDS: usize = 200_000;
    let mut bench = Bench::with_own_redis(&messages(&[("messages", THIRTY)])).await;
    let mut redis = bench.redis().await;
    for minute in ["202503101205", "202503101206"] {
        let key = bench.key(&format!("m:messages:{minute}"));
        for from in (0..FIELDS).step_by(10_000) {
            let mut command = redis::cmd("HSET");
            command.arg(&key);
            for n in from..from + 10_000 {
                command.arg(format!("id-{n}")).arg(1);
            }
            command.exec_async(&mut redis).await.unwrap();
        }
        redis::cmd("EXPIRE")
            .arg(&key)
            .arg(3600)
            .exec_async(&mut redis)
            .await
            .unwrap();
        if minute == "202503101206" {
            break;
        }
        let proxy = Proxy::start(bench.own_redis.as_ref().unwrap().port()).await;
        proxy.set(Behaviour::Delay(Duration::from_millis(700)));
        let slow = proxy.url(&bench.redis_url);
        let direct = std::mem::replace(&mut bench.redis_url, slow);
        let ran = drain(&bench, "2025-03-10T12:06:10Z").await.succeeded();
        assert!(ran.stdout.contains("1 keys, 200000 samples"), "{}", ran.stdout);
        bench.redis_url = direct;
    }
    let report = hour(&bench).await;
    let found = limit(&report, "messages");
    assert_eq!(
        (&found["total"], &found["peak"]["value"]),
        (&json!(FIELDS), &json!(1))
    );
    // One identity-window each: all 200,000 are told apart.
    assert_eq!(found["would_block"]["identity_windows"], 0);
    assert_eq!(identities(&bench, "messages").await, 200_000);

    // From now on it is known to be large.
    reset_commands(&mut redis).await;
    drain(&bench, "2025-03-10T12:07:10Z").await.succeeded();
    let sent = commands(&mut redis).await;
    assert!(
        sent["hscan"] > 2 * 10 && !sent.contains_key("hgetall"),
        "{sent:?}"
    );
    assert_eq!(limit(&hour(&bench).await, "messages")["total"], 2 * FIELDS);
    assert_eq!(identities(&bench, "messages").await, 200_000);
}

/// How many different identities of an endpoint the minute store holds.
async fn identities(bench: &Bench, endpoint: &str) -> i64 {
    let query = "SELECT count(DISTINCT identity.id) FROM minute_counts JOIN series ON series.id = series_id, \
                 unnest(ids) AS identity (id) WHERE endpoint = $1";
    sqlx::query_scalar(query)
        .bind(endpoint)
        .fetch_one(&bench.pool)
        .await
        .unwrap()
}

#[tokio::test]
async fn bytes_that_are_no_text_are_kept_as_identities_and_refused_as_names() {
    let bench = Bench::new(&messages(&[("messages", THIRTY)])).await;
    let key = bench.key("m:messages:202503101205");
    let fields: [(&[u8], &[u8]); 5] = [
        (b"\xff\xfe", b"7"),
        (b"esc-1", b"3"),
        (b"a\0b", b"2"),
        (b"a\x1b[31m", b"1"),
        (b"\xff\xfe\\", b"4"),
    ];
    put(&bench, key, &fields).await;
    let key = |middle: &[u8]| [bench.prefix.as_bytes(), b":m:", middle, b":202503101205"].concat();
    put(&bench, key(b"\xc3\x28"), &[(b"esc-1", b"1")]).await;
    put(&bench, key(b"a\0b"), &[(b"esc-1", b"1")]).await;
    put(&bench, key(&[b'x'; 600]), &[(b"esc-1", b"1")]).await;

    let ran = drain(&bench, NOW).await.exited(3);
    for refused in [
        ":m:\\xc3(:202503101205: the endpoint is not UTF-8 (1)",
        ":m:a\\x00b:202503101205: the endpoint holds control characters (1)",
        "…: the endpoint is longer than 512 bytes (1)",
    ] {
        assert!(ran.stdout.contains(refused), "{refused}\n{}", ran.stdout);
    }
    let report = hour(&bench).await;
    let found = limit(&report, "messages");
    // 7 + 3 + 2 + 1 + 4
    assert_eq!(found["total"], 17);
    let top: Vec<_> = found["top_identities"].as_array().unwrap().iter().collect();
    let named: Vec<_> = top
        .iter()
        .map(|top| (top["identity"].as_str().unwrap(), &top["peak"]))
        .collect();
    let expected = [
        ("\\xff\\xfe", 7),
        ("\\xff\\xfe\\\\", 4),
        ("esc-1", 3),
        ("a\\x00b", 2),
        ("a\\x1b[31m", 1),
    ];
    assert_eq!(named.len(), 5);
    for (n, (name, peak)) in expected.into_iter().enumerate() {
        assert_eq!(named[n], (name, &json!(peak)));
    }
}

#[tokio::test]
async fn odd_counts_are_exact_by_rule_or_refused_each_with_its_reason() {
    let bench = Bench::new(&messages(&[("messages", THIRTY)])).await;
    let key = bench.key("m:messages:202503101208");
    let fields: [(&[u8], &[u8]); 14] = [
        (b"a", b"3.1"),
        (b"b", b"1000000000000000000000"),
        (b"c", b" 12"),
        (b"d", b"007"),
        (b"e", b"+5"),
        (b"f", b""),
        (b"g", b"1_000"),
        (b"h", b"0x10"),
        (b"i", b"NaN"),
        (b"j", b"-3"),
        (b"k", b"1e3"),
        (b"l", b"\xff"),
        (b"m", "٣".as_bytes()),
        (b"ok", b"4"),
    ];
    put(&bench, &*key, &fields).await;
    let ran = drain(&bench, NOW).await.exited(3);
    assert!(ran.stdout.contains("1 keys, 3 samples"), "{}", ran.stdout);
    for (reason, count) in [
        ("the count is not a whole number", 2),
        ("the count is larger than 2^63 - 1", 1),
        ("the count has blanks", 1),
        ("the count is empty", 1),
        ("the count has underscores", 1),
        ("the count is hexadecimal", 1),
        ("the count is not a number", 3),
        ("the count is negative", 1),
    ] {
        let line = format!("refused {key}: {reason} ({count})");
        assert!(ran.stdout.contains(&line), "{line}\n{}", ran.stdout);
    }
    let report = hour(&bench).await;
    let found = limit(&report, "messages");
    // d 7 + e 5 + ok 4
    assert_eq!(
        (&found["total"], &found["peak"]["value"]),
        (&json!(16), &json!(7))
    );
}

#[tokio::test]
async fn the_largest_counts_neither_overflow_nor_wrap() {
    let bench = Bench::new(&messages(&[
        ("messages", THIRTY),
        ("hour", "endpoints = [\"messages\"]\nlimit = 30\nwindow = \"1h\""),
    ]))
    .await;
    for minute in ["202503101205", "202503101206"] {
        let key = bench.key(&format!("m:messages:{minute}"));
        put(
            &bench,
            key,
            &[(b"esc-1", b"9223372036854775807"), (b"esc-2", b"1")],
        )
        .await;
    }
    drain(&bench, NOW).await.succeeded();
    let report = hour(&bench).await;
    let found = limit(&report, "messages");
    // 2 × (2^63 - 1) + 2 × 1 = 2^64 exactly, beyond any 64-bit integer: the text says it, this parser does not.
    let arguments = [
        "report", "--env", "prod", "--format", "json", "--from", HOUR[0], "--to", HOUR[1],
    ];
    let text = bench.folga(&arguments).at(HOUR[1]).run().await.stdout;
    assert!(text.contains("\"total\": 18446744073709551616,"), "{text}");
    assert_eq!(found["peak"]["value"].to_string(), "9223372036854775807");
    assert_eq!(limit(&report, "hour")["status"], "over");
}

#[tokio::test]
async fn only_a_real_minute_of_twelve_digits_is_a_minute() {
    let bench = Bench::new(&messages(&[("messages", THIRTY)])).await;
    let bad = [
        "20250310120",
        " 202503101205",
        "202503 10 1205",
        "2025031012059",
        "202502291200",
        "202503102400",
        "202503101260",
        "000001010000",
        "٢٠٢٥٠٣١٠١٢٠٥",
        "2024022912 0",
        "+20240229120",
        "20240229120a",
    ];
    for minute in bad {
        put(
            &bench,
            bench.key(&format!("m:messages:{minute}")),
            &[(b"esc-1", b"9")],
        )
        .await;
    }
    put(&bench, bench.key("m:messages:202402291200"), &[(b"esc-1", b"4")]).await;
    let ran = drain(&bench, "2024-02-29T12:10:00Z").await.exited(3);
    assert!(ran.stdout.contains("1 keys, 1 samples"), "{}", ran.stdout);
    for minute in bad {
        // What might be somebody's number is not shown.
        let minute = minute.replace("+20240229120", "‹phone›");
        let line = format!(
            "refused {}: the minute is not 12 digits",
            bench.key(&format!("m:messages:{minute}"))
        );
        assert_eq!(ran.stdout.matches(&line).count(), 1, "{line}\n{}", ran.stdout);
    }
    let report = report(&bench, "2024-02-29T00:00:00Z", "2024-03-01T00:00:00Z").await;
    let found = limit(&report, "messages");
    assert_eq!(
        (&found["total"], &found["peak"]["at"]),
        (&json!(4), &json!("2024-02-29T12:00:00Z"))
    );
    // No other hour has anything, in 2025 neither.
    let rows: i64 = sqlx::query_scalar("SELECT count(*) FROM minute_counts")
        .fetch_one(&bench.pool)
        .await
        .unwrap();
    assert_eq!(rows, 1);
}

const ADDRESSES: &str = r#"
[scope.ip]
kind = "ip"
[[source]]
name = "gateway"
kind = "hash"
key = "{env}m:{endpoint}:{minute}"
field = "{scope}:{identity}"
ttl = "2h"
schedule = "0 */5 * * * *"
find = "scan"
"#;

#[tokio::test]
async fn spellings_of_one_identity_in_one_hash_are_summed() {
    let by_ip = "scope = \"ip\"\nendpoints = [\"send-otp\"]\nlimit = 20\nwindow = \"1m\"";
    let bench = Bench::new(&[HEAD, ADDRESSES, &limits(&[("ip", by_ip)])].concat()).await;
    let key = bench.key("m:send-otp:202503101205");
    let fields: [(&[u8], &[u8]); 6] = [
        (b"ip:2001:db8:1:2::1", b"2"),
        (b"ip:2001:0DB8:1:2:ffff::2", b"3"),
        (b"ip:2001:db8:1:3::1", b"1"),
        (b"ip:10.0.0.1", b"2"),
        (b"ip:::ffff:10.0.0.1", b"2"),
        // No spelling of the others: identities are taken as they are.
        (b"ip:10.0.0.1 ", b"1"),
    ];
    put(&bench, key, &fields).await;
    for _ in 0..2 {
        drain(&bench, NOW).await.succeeded();
        let report = hour(&bench).await;
        let found = limit(&report, "ip");
        assert_eq!(found["total"], 11);
        let peaks: Vec<_> = found["top_identities"]
            .as_array()
            .unwrap()
            .iter()
            .map(|top| &top["peak"])
            .collect();
        assert_eq!(peaks, [5, 4, 1, 1]);
    }
}

#[tokio::test]
async fn texts_that_merely_resemble_each_other_are_two_identities() {
    let bench = Bench::new(&messages(&[("messages", THIRTY)])).await;
    let key = bench.key("m:messages:202503101205");
    put(&bench, key, &[(b"Esc-1", b"2"), (b"esc-1 ", b"3")]).await;
    drain(&bench, NOW).await.succeeded();
    let report = hour(&bench).await;
    let top = &limit(&report, "messages")["top_identities"];
    assert_eq!(
        (&top[0]["identity"], &top[0]["peak"]),
        (&json!("esc-1 "), &json!(3))
    );
    assert_eq!(
        (&top[1]["identity"], &top[1]["peak"]),
        (&json!("Esc-1"), &json!(2))
    );
}

#[tokio::test]
async fn keys_of_two_seconds_of_one_minute_both_count() {
    // 1709208000 s is 2024-02-29T12:00:00Z.
    for (format, keys) in [
        ("epoch-s", ["1709208000", "1709208030", "1709208059"]),
        ("epoch-ms", ["1709208000000", "1709208000001", "1709208059999"]),
    ] {
        let source = MESSAGES.replace("scope =", &format!("minute = \"{format}\"\nscope ="));
        let bench = Bench::new(&[HEAD, &source, &limits(&[("messages", THIRTY)])].concat()).await;
        for (key, count) in keys.into_iter().zip([b"2", b"3", b"4"]) {
            put(
                &bench,
                bench.key(&format!("m:messages:{key}")),
                &[(b"esc-1", count)],
            )
            .await;
        }
        for _ in 0..2 {
            let ran = drain(&bench, "2024-02-29T12:10:00Z").await.succeeded();
            assert!(ran.stdout.contains("3 keys, 3 samples"), "{}", ran.stdout);
            let report = report(&bench, "2024-02-29T12:00:00Z", "2024-02-29T13:00:00Z").await;
            let found = limit(&report, "messages");
            assert_eq!(
                (&found["total"], &found["peak"]["value"]),
                (&json!(9), &json!(9)),
                "{format}"
            );
        }
    }
}

#[tokio::test]
async fn keys_that_differ_only_in_an_ignored_part_are_summed() {
    let source = MESSAGES.replace("{env}m:", "{env}m:{_}:");
    let bench = Bench::new(&[HEAD, &source, &limits(&[("messages", THIRTY)])].concat()).await;
    for (instance, count) in [("web-1", b"10"), ("web-2", b"12")] {
        let key = bench.key(&format!("m:{instance}:messages:202503101205"));
        put(&bench, key, &[(b"esc-1", count)]).await;
    }
    for _ in 0..2 {
        drain(&bench, NOW).await.succeeded();
        let report = hour(&bench).await;
        let found = limit(&report, "messages");
        assert_eq!(
            (&found["total"], &found["peak"]["value"]),
            (&json!(22), &json!(22))
        );
    }
}

#[tokio::test]
async fn a_limit_on_outcomes_counts_those_alone() {
    let of = |more: &str| {
        format!(
            "source = \"messaging\"\nscope = \"session\"\nendpoints = [\"wasender\"]\nlimit = 60\nwindow = \"1m\"\n{more}"
        )
    };
    let own = limits(&[
        ("attempted", &of("")),
        ("accepted", &of("outcomes = [\"ok\"]")),
        ("two", &of("outcomes = [\"ok\", \"failure\"]")),
    ]);
    let bench = Bench::new(&[HEAD, MESSAGING, &own].concat()).await;
    let key = bench.key("wa:metrics:s1:202503101205");
    let fields: [(&[u8], &[u8]); 5] = [
        (b"wasender:ok", b"40"),
        (b"wasender:rate_limited", b"25"),
        (b"wasender:failure", b"1"),
        (b"twilio:ok", b"3"),
        // No outcome: no sample of this source.
        (b"foo", b"9"),
    ];
    put(&bench, &*key, &fields).await;
    let ran = drain(&bench, "2025-03-10T12:07:00Z").await.exited(3);
    let refused = format!("refused {key}: a field does not fit the field pattern (1)");
    assert!(ran.stdout.contains(&refused), "{}", ran.stdout);
    let report = hour(&bench).await;
    // 40 + 25 + 1 attempts; ⌈60 × 70 %⌉ = 42 is near.
    for (id, value, status) in [
        ("attempted", 66, "over"),
        ("accepted", 40, "ok"),
        ("two", 41, "ok"),
    ] {
        let found = limit(&report, id);
        assert_eq!(
            (&found["peak"]["value"], &found["status"]),
            (&json!(value), &json!(status)),
            "{id}"
        );
    }
}

#[tokio::test]
async fn a_minute_of_fifteen_thousand_identities_is_stored_in_one_run() {
    let bench = Bench::new(&messages(&[("messages", THIRTY)])).await;
    let names: Vec<String> = (0..15_000).map(|n| format!("esc-{n}")).collect();
    let fields: Vec<(&[u8], &[u8])> = names
        .iter()
        .map(|name| (name.as_bytes(), b"1".as_slice()))
        .collect();
    put(&bench, bench.key("m:messages:202503101205"), &fields).await;
    let ran = drain(&bench, NOW).await.succeeded();
    assert!(ran.stdout.contains("1 keys, 15000 samples"), "{}", ran.stdout);
    assert_eq!(limit(&hour(&bench).await, "messages")["total"], 15_000);
    assert_eq!(identities(&bench, "messages").await, 15_000);
}

#[tokio::test]
async fn fifteen_thousand_endpoints_of_one_minute_are_stored_in_one_run() {
    let all = "endpoints = [\"*\"]\nlimit = 30\nwindow = \"1m\"";
    let bench = Bench::new(&messages(&[("all", all)])).await;
    let mut keys = redis::pipe();
    for n in 0..15_000 {
        keys.cmd("HSET")
            .arg(bench.key(&format!("m:e{n}:202503101205")))
            .arg("esc-1")
            .arg(1);
    }
    keys.exec_async(&mut bench.redis().await).await.unwrap();
    let ran = drain(&bench, NOW).await.succeeded();
    assert!(ran.stdout.contains("15000 keys, 15000 samples"), "{}", ran.stdout);
    let report = hour(&bench).await;
    assert_eq!(limit(&report, "all")["peak"]["value"], 15_000);
}

#[tokio::test]
async fn an_index_costs_its_keys_and_two_commands_a_run() {
    let source = MESSAGES.replace("find = \"scan\"", "find = { index = \"{env}midx:{minute}\" }");
    let all = "endpoints = [\"*\"]\nlimit = 30\nwindow = \"1m\"";
    let bench = Bench::with_own_redis(&[HEAD, &source, &limits(&[("all", all)])].concat()).await;
    let mut redis = bench.redis().await;
    for minute in 1200..1209 {
        for endpoint in 0..20 {
            let key = bench.key(&format!("m:e{endpoint}:20250310{minute}"));
            put(&bench, &*key, &[(b"esc-1", b"1")]).await;
            let index = bench.key(&format!("midx:20250310{minute}"));
            redis::cmd("SADD")
                .arg(index)
                .arg(key)
                .exec_async(&mut redis)
                .await
                .unwrap();
        }
    }
    // Not in the index, so nobody knows of it; and in the index, but gone.
    put(&bench, bench.key("m:unlisted:202503101205"), &[(b"esc-1", b"1")]).await;
    let gone = bench.key("m:gone:202503101205");
    let index = bench.key("midx:202503101205");
    redis::cmd("SADD")
        .arg(index)
        .arg(gone)
        .exec_async(&mut redis)
        .await
        .unwrap();

    reset_commands(&mut redis).await;
    // What is gone is refused.
    let ran = drain(&bench, NOW).await.exited(3);
    let sent = commands(&mut redis).await;
    // 9 × 20 hashes and the one that is gone.
    assert_eq!(sent.get("hgetall"), Some(&181), "{sent:?}");
    assert_eq!(sent.get("sunion"), Some(&1), "{sent:?}");
    assert!(sent.values().sum::<u64>() <= 181 + 2, "{sent:?}");
    // What a run says of itself is what Redis says of it.
    assert!(
        ran.stdout
            .contains(&format!("{} commands", sent.values().sum::<u64>())),
        "{}",
        ran.stdout
    );
    assert_eq!(limit(&hour(&bench).await, "all")["total"], 180);

    // Ten minutes are read again for late writes, and not one key more. At 12:20 all are settled.
    drain(&bench, "2025-03-10T12:20:00Z").await.exited(3);
    reset_commands(&mut redis).await;
    drain(&bench, "2025-03-10T12:25:00Z").await.succeeded();
    let sent = commands(&mut redis).await;
    assert!(sent.values().sum::<u64>() <= 2, "{sent:?}");
}

#[tokio::test]
async fn what_an_index_names_is_checked_like_any_key() {
    let source = MESSAGES.replace("find = \"scan\"", "find = { index = \"{env}midx:{minute}\" }");
    let bench = Bench::new(&[HEAD, &source, &limits(&[("messages", THIRTY)])].concat()).await;
    let mut redis = bench.redis().await;
    let good = bench.key("m:messages:202503101205");
    put(&bench, &*good, &[(b"esc-1", b"3")]).await;
    let other = format!("other{}", bench.key("m:messages:202503101205"));
    put(&bench, &*other, &[(b"esc-1", b"99")]).await;
    let index = bench.key("midx:202503101205");
    redis::cmd("SADD")
        .arg(&index)
        .arg(&good)
        .arg(&other)
        .arg("")
        .arg(b"\xff")
        .exec_async(&mut redis)
        .await
        .unwrap();
    // Another minute's index names it too, and one index is no set.
    let index = bench.key("midx:202503101206");
    redis::cmd("SADD")
        .arg(&index)
        .arg(&good)
        .exec_async(&mut redis)
        .await
        .unwrap();
    let odd = bench.key("midx:202503101207");
    put_counter(&bench, &odd, "1").await;

    let ran = drain(&bench, NOW).await.exited(3);
    assert!(ran.stdout.contains("1 keys, 1 samples"), "{}", ran.stdout);
    for refused in [
        format!("refused {other}: it does not fit the key pattern (1)"),
        "refused : it does not fit the key pattern (1)".to_owned(),
        "refused \\xff: it does not fit the key pattern (1)".to_owned(),
        format!("refused {odd}: it is an index but no set (1)"),
    ] {
        assert!(ran.stdout.contains(&refused), "{refused}\n{}", ran.stdout);
    }
    assert_eq!(limit(&hour(&bench).await, "messages")["total"], 3);
}

#[tokio::test]
async fn endpoints_cost_their_keys_and_nothing_else() {
    let source = MESSAGES
        .replace("find = \"scan\"", "find = { endpoints = [\"messages\", \"me\"] }")
        .replace("\"2h\"", "\"10m\"")
        .replace("*/5", "*");
    let bench = Bench::with_own_redis(&[HEAD, &source, &limits(&[("messages", THIRTY)])].concat()).await;
    let mut redis = bench.redis().await;
    put(&bench, bench.key("m:messages:202503101205"), &[(b"esc-1", b"3")]).await;
    put(&bench, bench.key("m:other:202503101205"), &[(b"esc-1", b"3")]).await;
    reset_commands(&mut redis).await;
    drain(&bench, NOW).await.succeeded();
    let sent = commands(&mut redis).await;
    // Readable are 12:01 to 12:08: 8 minutes of 2 endpoints.
    assert_eq!(sent.get("hgetall"), Some(&16), "{sent:?}");
    assert!(sent.values().sum::<u64>() <= 16 + 2, "{sent:?}");
    assert_eq!(limit(&hour(&bench).await, "messages")["total"], 3);
}

#[tokio::test]
async fn two_sources_and_two_environments_of_one_redis_do_not_mix() {
    let staging = "[[environment]]\nname = \"staging\"\nprefix = \"PREFIX-stg:\"\n";
    let portal = "source = \"portal\"\nendpoints = [\"*\"]\nlimit = 30\nwindow = \"1m\"";
    let all = "endpoints = [\"*\"]\nlimit = 30\nwindow = \"1m\"";
    let own = limits(&[("all", all), ("portal", portal)]);
    let bench = Bench::new(&[HEAD, staging, MESSAGES, PORTAL, &own].concat()).await;
    put(&bench, bench.key("m:messages:202503101205"), &[(b"esc-1", b"3")]).await;
    put(
        &bench,
        format!("{}-stg:m:messages:202503101205", bench.prefix),
        &[(b"esc-1", b"20")],
    )
    .await;
    put_counter(&bench, &bench.key("metrics:messages:esc-1:202503101205"), "5").await;
    drain(&bench, NOW).await.succeeded();
    let report = hour(&bench).await;
    assert_eq!(limit(&report, "all")["total"], 3);
    assert_eq!(limit(&report, "portal")["total"], 5);
}
