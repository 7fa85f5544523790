//! What a catalog is read as, and what is refused with which words.

use std::path::Path;

use super::*;
use crate::time::{Algorithm, MinuteFormat, Window};

mod refusals;

/// Mode and value of a limit in an environment where it exists.
fn in_force(limit: &Limit, environment: &str) -> Option<(Mode, Option<u64>)> {
    limit
        .exists_in(environment)
        .then(|| (limit.mode_in(environment), limit.value_in(environment)))
}

/// A small catalog: two environments, one source of each kind, one limit.
const SMALL: &str = r#"
[[environment]]
name = "prod"
prefix = "olp:"
[[environment]]
name = "staging"
prefix = "olp-stg:"
[scope.ip]
kind = "ip"
[scope.tenant]
public = true
[[source]]
name = "gateway"
kind = "hash"
key = "{env}m:{endpoint}:{minute}"
field = "{scope}:{identity}"
ttl = "2h"
schedule = "0 */5 * * * *"
find = { index = "{env}midx:{minute}" }
[[source]]
name = "plain"
kind = "counter"
key = "old:{endpoint}:{identity}:{minute}"
scope = "tenant"
minute = "epoch-min"
ttl = "1d"
schedule = "0 0 * * * *"
grace = "1m"
lateness = "0s"
find = "scan"
environments = ["prod"]
counts = "accepted"
[[group]]
id = "A"
name = "Group"
[[group.limit]]
id = "login.ip"
endpoints = ["login", "v1/*"]
scope = "ip"
limit = 30
window = "60m"
"#;

const KEY: &str = "0123456789abcdef";

fn env(name: &str) -> Option<String> {
    (name == "FOLGA_IDENTITY_KEY").then(|| KEY.to_owned())
}

fn parse(text: &str) -> Result<Catalog, CatalogError> {
    Catalog::parse(text, Path::new("folga.toml"), &env, true)
}

fn only_limit(text: &str) -> Limit {
    parse(text).unwrap().groups[0].limits[0].clone()
}

#[test]
fn the_shipped_catalog_is_sound() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("folga.toml");
    let catalog = Catalog::load(&path, &env, true).unwrap();
    assert_eq!(catalog.path, path);
    let prefixes: Vec<&str> = catalog
        .environments
        .iter()
        .map(|one| one.prefix.as_str())
        .collect();
    assert_eq!(prefixes, ["olp:", "olp-stg:", "olp-dev:"]);
    let limits: Vec<usize> = catalog.groups.iter().map(|group| group.limits.len()).collect();
    assert_eq!(limits, [4, 5, 6, 9, 1, 1]);
    let send_otp = &catalog.groups[0].limits[0];
    assert_eq!(in_force(send_otp, "staging"), Some((Mode::Block, Some(5))));
    assert_eq!(in_force(send_otp, "dev"), Some((Mode::Observe, Some(5))));
    let quota = &catalog.groups[5].limits[0];
    assert_eq!(
        (quota.window, quota.algorithm),
        (Window::LocalDay, Algorithm::Fixed)
    );
    assert_eq!(in_force(quota, "dev"), None, "messaging does not exist there");
}

#[test]
fn the_examples_are_sound_and_the_gateway_s_limits_are_those_of_the_shipped_catalog() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let load = |file: &str| Catalog::load(&root.join(file), &env, true).unwrap();
    let limits = |catalog: &Catalog| -> Vec<String> {
        let limits = catalog.limits().filter(|(group, _)| group.id != "messaging");
        limits.map(|(_, limit)| format!("{limit:?}")).collect()
    };
    assert_eq!(
        limits(&load("examples/gateway.toml")),
        limits(&load("folga.toml"))
    );
    load("examples/messaging.toml");
    load("examples/university.toml");
}

#[test]
fn what_is_left_out_has_its_default() {
    let catalog = parse(SMALL).unwrap();
    assert_eq!(catalog.timezone, Tz::UTC);
    assert_eq!((catalog.alert_percent, catalog.retention_days), (70, 90));
    assert_eq!(
        (catalog.required_days, catalog.hourly_limits_after_days),
        (28, 30)
    );
    assert_eq!(catalog.minute_retention, TimeDelta::days(8));
    assert_eq!(catalog.retention_schedule.to_string(), "0 30 3 * * *");
    assert_eq!(catalog.redis.url.reveal(), "redis://127.0.0.1:6379");
    assert_eq!(
        (
            catalog.redis.connect_timeout.as_secs(),
            catalog.redis.response_timeout.as_secs()
        ),
        (2, 10)
    );
    assert!(catalog.postgres.url.is_none());
    assert_eq!(
        (
            catalog.postgres.max_connections,
            catalog.postgres.data_dir.to_str()
        ),
        (5, Some("folga-data"))
    );
    assert!(catalog.ntfy.is_none());
    assert_eq!(catalog.http.listen.to_string(), "127.0.0.1:8080");
    let [gateway, plain] = &catalog.sources[..] else {
        panic!("two sources")
    };
    assert_eq!(gateway.environments, ["prod", "staging"]);
    assert_eq!(
        (gateway.grace, gateway.lateness),
        (TimeDelta::seconds(5), TimeDelta::minutes(10))
    );
    assert_eq!(
        (gateway.counts, gateway.minute),
        (Counts::Attempts, MinuteFormat::Compact)
    );
    assert_eq!(
        (plain.counts, plain.minute),
        (Counts::Accepted, MinuteFormat::EpochMinutes)
    );
    assert_eq!(
        (plain.grace, plain.lateness),
        (TimeDelta::minutes(1), TimeDelta::zero())
    );
    let limit = &catalog.groups[0].limits[0];
    assert_eq!(limit.sources, ["gateway"], "the one source that has scope ip");
    assert_eq!(
        (limit.window, limit.algorithm),
        (Window::Minutes(60), Algorithm::Anchored)
    );
    assert_eq!(in_force(limit, "prod"), Some((Mode::Observe, Some(30))));
    assert_eq!(in_force(limit, "nowhere"), None);
}

#[test]
fn the_environment_outranks_the_file_and_empty_means_absent() {
    let text = format!("[redis]\nurl = \"redis://file\"\n[http]\nlisten = \"127.0.0.1:1\"\n{SMALL}");
    let lookup = |name: &str| {
        let value = match name {
            "FOLGA_REDIS_URL" => "rediss://default:p%40ss@cloud:6380",
            "FOLGA_DATABASE_URL" => "postgres://u:pw@db/folga",
            "FOLGA_NTFY_TOPIC" => "olp-limits",
            "FOLGA_NTFY_TOKEN" => "tk_S3NTINEL",
            "FOLGA_LISTEN" => "0.0.0.0:9000",
            "FOLGA_API_TOKEN" => "",
            "FOLGA_IDENTITY_KEY" => KEY,
            _ => return None,
        };
        Some(value.to_owned())
    };
    let catalog = Catalog::parse(&text, Path::new("folga.toml"), &lookup, true).unwrap();
    assert_eq!(catalog.redis.url.reveal(), "rediss://default:p%40ss@cloud:6380");
    assert_eq!(
        catalog.postgres.url.as_ref().unwrap().reveal(),
        "postgres://u:pw@db/folga"
    );
    let ntfy = catalog.ntfy.as_ref().unwrap();
    assert_eq!(
        (ntfy.url.as_str(), ntfy.topic.as_str()),
        ("https://ntfy.sh", "olp-limits")
    );
    assert_eq!((ntfy.daily_budget, ntfy.cooldown), (250, TimeDelta::minutes(15)));
    assert_eq!(catalog.http.listen.to_string(), "0.0.0.0:9000");
    let refusal = catalog.http.check_serving().unwrap_err();
    assert!(refusal.remedy.contains("FOLGA_API_TOKEN"), "{refusal}");
    let shown = format!("{catalog:?}");
    assert!(
        !shown.contains("S3NTINEL") && !shown.contains("p%40ss") && !shown.contains(KEY),
        "{shown}"
    );
}

#[test]
fn loopback_may_be_served_without_a_token() {
    let catalog = parse(SMALL).unwrap();
    assert_eq!(catalog.http.check_serving(), Ok(()));
    let with_token = |name: &str| (name == "FOLGA_API_TOKEN").then(|| "token".to_owned());
    let text = format!("[http]\nlisten = \"[::]:0\"\n{SMALL}");
    let catalog = Catalog::parse(&text, Path::new("folga.toml"), &with_token, false).unwrap();
    assert_eq!(catalog.http.check_serving(), Ok(()));
}

#[test]
fn a_limit_exists_where_it_has_a_value_or_needs_none() {
    let limit = only_limit(&SMALL.replace("limit = 30", "limit = { prod = 5 }"));
    assert_eq!(in_force(&limit, "prod"), Some((Mode::Observe, Some(5))));
    assert_eq!(in_force(&limit, "staging"), None);

    let watch = "limit = { prod = 5 }\nmode = { prod = \"block\", staging = \"watch\" }\nwatch_alert = 9";
    let limit = only_limit(&SMALL.replace("limit = 30", watch));
    assert_eq!(in_force(&limit, "prod"), Some((Mode::Block, Some(5))));
    assert_eq!(in_force(&limit, "staging"), Some((Mode::Watch, None)));
    assert_eq!(limit.watch_alert, Some(9));

    let exempt = SMALL.replace("limit = 30\nwindow = \"60m\"", "mode = \"exempt\"");
    let limit = only_limit(&exempt);
    assert_eq!(in_force(&limit, "staging"), Some((Mode::Exempt, None)));
    assert_eq!(limit.window, Window::Minutes(1));
}

#[test]
fn globs_take_any_character() {
    let shape = only_limit(SMALL).shape(Tz::UTC);
    let counts = |endpoint: &str| shape.counts("gateway", endpoint, "ip", "");
    assert!(counts("login") && counts("v1/messages:send/x"));
    assert!(!counts("login2") && !counts("v2/a"));
}

#[test]
fn a_shape_is_what_decides_the_counts() {
    let zone = chrono_tz::America::Sao_Paulo;
    let shape = |text: &str| only_limit(text).shape(zone);
    let small = shape(SMALL);
    assert_eq!(
        small.definition(),
        r#"{"endpoints":["login","v1/*"],"scope":"ip","window":"1h","algorithm":"anchored","sources":["gateway"],"outcomes":null,"shared":false,"zone":null}"#
    );
    assert_eq!(serde_json::from_str::<Shape>(&small.definition()).unwrap(), small);
    for same in [
        ("limit = 30", "limit = 31\nmode = \"block\""),
        ("login.ip", "other"),
        ("60m", "1h"),
        ("[\"login\", \"v1/*\"]", "[\"v1/*\", \"login\", \"v1/*\"]"),
        ("limit = 30", "limit = 30\nsource = [\"gateway\"]"),
    ] {
        assert_eq!(shape(&SMALL.replace(same.0, same.1)), small, "{same:?}");
    }
    for other in [
        ("limit = 30", "limit = 30\nshared = true"),
        ("limit = 30", "limit = 30\nalgorithm = \"sliding\""),
        ("60m", "59m"),
        ("\"login\", ", ""),
    ] {
        assert_ne!(shape(&SMALL.replace(other.0, other.1)), small, "{other:?}");
    }
    let day = shape(&SMALL.replace("60m", "1d"));
    assert_eq!(day.zone.as_deref(), Some("America/Sao_Paulo"));
    assert_ne!(day, only_limit(&SMALL.replace("60m", "1d")).shape(Tz::UTC));
}

#[test]
fn a_limit_counts_the_members_of_its_scope_where_a_source_tells_of_them_alone() {
    let table = "[scope.school]\n[scope.tenant.part_of.school]\n\"a.b:c\" = \"school-1\"\n[[group]]";
    let text = SMALL.replace("[[group]]", table);
    assert_eq!(only_limit(&text).shape(Tz::UTC), only_limit(SMALL).shape(Tz::UTC));
    let shape =
        only_limit(&text.replace("scope = \"ip\"", "scope = \"school\"\nsource = \"plain\"")).shape(Tz::UTC);
    assert_eq!(shape.members, ["tenant"]);
    assert!(shape.counts("plain", "login", "tenant", "") && shape.counts("plain", "login", "school", ""));
    assert!(!shape.counts("plain", "login", "ip", "") && !shape.counts("gateway", "login", "tenant", ""));
    assert_eq!(serde_json::from_str::<Shape>(&shape.definition()).unwrap(), shape);
    // What tells of several scopes counts a request under each of them.
    let both = "scope = \"school\"\nsource = \"gateway\"";
    assert!(
        only_limit(&text.replace("scope = \"ip\"", both))
            .members
            .is_empty()
    );
}

#[test]
fn a_shape_counts_its_own_sources_scope_and_outcomes() {
    let shape = only_limit(SMALL).shape(Tz::UTC);
    assert!(shape.counts("gateway", "login", "ip", "") && shape.counts("gateway", "login", "ip", "ok"));
    assert!(!shape.counts("plain", "login", "ip", "") && !shape.counts("gateway", "login", "tenant", ""));
    let some = Shape {
        outcomes: Some(vec!["ok".to_owned()]),
        ..shape
    };
    assert!(some.counts("gateway", "login", "ip", "ok"));
    assert!(!some.counts("gateway", "login", "ip", "failure") && !some.counts("gateway", "login", "ip", ""));
}

#[test]
fn windows_line_ends_are_fine() {
    assert!(parse(&SMALL.replace('\n', "\r\n")).is_ok());
}
