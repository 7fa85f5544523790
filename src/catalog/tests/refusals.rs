//! Each refusal names the place and the remedy.

use std::fs;

use super::*;

/// What is said about the small catalog with one text in it replaced by another.
fn refused(from: &str, to: &str) -> String {
    assert!(SMALL.contains(from), "{from} stands in the catalog");
    said(&SMALL.replacen(from, to, 1))
}

fn said(text: &str) -> String {
    match parse(text) {
        Ok(_) => panic!("read without complaint:\n{text}"),
        Err(error) => error.to_string(),
    }
}

/// One error, and every part of it.
#[track_caller]
fn one(report: &str, parts: &[&str]) {
    assert_eq!(
        report.lines().filter(|line| line.starts_with("error: ")).count(),
        1,
        "{report}"
    );
    all(report, parts);
}

#[track_caller]
fn all(report: &str, parts: &[&str]) {
    for part in parts {
        assert!(report.contains(part), "`{part}` is not in\n{report}");
    }
}

#[test]
fn file_line_mark_and_remedy_are_shown() {
    let report = refused("ttl = \"2h\"", "ttl = \"2 hours\"");
    // Line 17 of the small catalog, counted from the empty line before [[environment]].
    one(
        &report,
        &[
            "folga.toml:17:7",
            "17 | ttl = \"2 hours\"",
            "^^^^^^^^^",
            "`2 hours` is no span of time",
            "help: write",
            "2h",
        ],
    );
}

#[test]
fn everything_that_is_wrong_is_said_at_once() {
    let text = SMALL
        .replace("\"ip\"\n[scope", "\"mac\"\n[scope")
        .replace("limit = 30", "limit = 0")
        .replace("\"2h\"", "2");
    let report = said(&text);
    assert_eq!(
        report.lines().filter(|line| line.starts_with("error: ")).count(),
        3,
        "{report}"
    );
    all(
        &report,
        &[
            "`mac` is no kind of scope",
            "the number 2 in place of a text",
            "0 is not above 0",
        ],
    );
}

#[test]
fn unknown_keys_are_refused_everywhere() {
    for (from, to) in [
        ("[[environment]]", "colour = 1\n[[environment]]"),
        ("[[environment]]", "[colour]\n[[environment]]"),
        ("[[environment]]", "[redis]\ncolour = 1\n[[environment]]"),
        ("[[environment]]", "[postgres]\ncolour = 1\n[[environment]]"),
        (
            "[[environment]]",
            "[ntfy]\ntopic = \"t\"\ncolour = 1\n[[environment]]",
        ),
        ("[[environment]]", "[http]\ncolour = 1\n[[environment]]"),
        ("prefix = \"olp:\"", "prefix = \"olp:\"\ncolour = 1"),
        ("public = true", "public = true\ncolour = 1"),
        ("find = \"scan\"", "find = \"scan\"\ncolour = 1"),
        (
            "{ index = \"{env}midx:{minute}\" }",
            "{ index = \"{env}midx:{minute}\", colour = 1 }",
        ),
        ("id = \"A\"", "id = \"A\"\ncolour = 1"),
        ("limit = 30", "limit = 30\ncolour = 1"),
    ] {
        one(&refused(from, to), &["knows no key `colour`", "its keys are"]);
    }
}

#[test]
fn limits_are_whole_numbers_above_zero() {
    one(
        &refused("limit = 30", "limit = 0"),
        &["0 is not above 0", "limit = 0", "from 1 on"],
    );
    one(&refused("limit = 30", "limit = -5"), &["-5 is not above 0"]);
    one(
        &refused("limit = 30", "limit = 30.5"),
        &["30.5 is no whole number"],
    );
    one(
        &refused("limit = 30", "limit = \"30\""),
        &["\"30\" is a text", "write 30 without quotes"],
    );
    one(
        &refused("limit = 30", "limit = true"),
        &["true in place of a number"],
    );
    one(
        &refused("limit = 30", "limit = 9223372036854775808"),
        &["too large"],
    );
    one(&refused("limit = 30", "limit = {}"), &["names no environment"]);
    one(
        &refused("limit = 30", "limit = { prod = 0, staging = 4 }"),
        &["0 is not above 0"],
    );
    one(
        &refused("limit = 30", "limit = { prod = 1, qa = 4 }"),
        &["there is no environment `qa`", "prod, staging"],
    );
    one(
        &refused("limit = 30", ""),
        &[
            "the limit has no `limit`",
            "[[group.limit]]",
            "\"watch\" or \"exempt\"",
        ],
    );
    one(
        &refused("limit = 30", "mode = \"block\""),
        &["the limit has no `limit`"],
    );
}

#[test]
fn what_is_not_declared_is_refused() {
    one(
        &refused(
            "endpoints = [\"login\", \"v1/*\"]\nscope = \"ip\"",
            "endpoints = [\"a\"]\nscope = \"user\"",
        ),
        &["no scope `user`"],
    );
    one(
        &refused("scope = \"tenant\"\nminute", "scope = \"user\"\nminute"),
        &["no scope `user`", "ip, tenant"],
    );
    one(
        &refused("limit = 30", "limit = 30\nsource = \"gate\""),
        &["no source `gate`", "gateway, plain"],
    );
    one(
        &refused("limit = 30", "limit = 30\nmode = \"deny\""),
        &["`deny` is no mode", "\"observe\" or \"block\""],
    );
    one(
        &refused("limit = 30", "limit = 30\nmode = { qa = \"block\" }"),
        &["no environment `qa`"],
    );
    one(
        &refused("environments = [\"prod\"]", "environments = [\"qa\"]"),
        &["no environment `qa`"],
    );
    one(
        &refused("[[environment]]", "timezone = \"Mars/Base\"\n[[environment]]"),
        &["`Mars/Base` is no time zone", "IANA"],
    );
    let ignore = "[[ignore]]\nenvironment = \"qa\"\nfrom = \"2026-05-02T13:00:00Z\"\nto = 2026-05-02T14:00:00Z\nreason = \"r\"\n";
    one(&said(&format!("{SMALL}{ignore}")), &["no environment `qa`"]);
    let ignore = ignore.replace("qa", "prod");
    assert!(parse(&format!("{SMALL}{ignore}")).is_ok());
    one(
        &said(&format!("{SMALL}{}", ignore.replace("T14", "T13"))),
        &["ends before it starts"],
    );
    one(
        &said(&format!("{SMALL}{}", ignore.replace("T13:00:00Z", ""))),
        &["`2026-05-02` is no instant"],
    );
}

#[test]
fn names_stand_once() {
    let again = "[[group.limit]]\nid = \"login.ip\"\nendpoints = [\"x\"]\nscope = \"ip\"\nlimit = 1\nwindow = \"1m\"\n";
    one(
        &said(&format!("{SMALL}[[group]]\nid = \"B\"\nname = \"B\"\n{again}")),
        &["limit `login.ip` stands twice"],
    );
    one(
        &said(&format!("{SMALL}[[group]]\nid = \"A\"\nname = \"B\"\n")),
        &["group `A` stands twice"],
    );
    one(
        &said(&format!("{SMALL}[[group]]\nid = \"unlimited\"\nname = \"B\"\n")),
        &[
            "group `unlimited` is what reports call endpoints that no limit names",
            "give it another id",
        ],
    );
    one(
        &refused("name = \"plain\"", "name = \"gateway\""),
        &["source `gateway` stands twice"],
    );
    one(
        &refused("name = \"staging\"", "name = \"prod\""),
        &["environment `prod` stands twice"],
    );
    one(
        &refused("id = \"login.ip\"", "id = \"login ip\""),
        &["`login ip` is no id"],
    );
    one(
        &refused("name = \"prod\"", "name = \"prod\"\nname = \"prod\""),
        &["`name` stands twice"],
    );
}

#[test]
fn prefixes_do_not_start_one_another() {
    one(
        &refused("olp-stg:", "olp:stg:"),
        &["`olp:stg:`", "`olp:`", "start one another"],
    );
    one(&refused("\"olp:\"", "\"\""), &["start one another"]);
    one(&refused("\"olp-stg:\"", "\"olp:\""), &["start one another"]);
}

#[test]
fn a_schedule_reads_every_key_before_it_ends() {
    // Keys of 300 s leave 240 s, less 5 s grace and 10 s: 225 s between runs. An hour between runs needs
    // 3600 + 5 + 10 + 60 = 3675 s.
    let report = refused(
        "ttl = \"2h\"\nschedule = \"0 */5 * * * *\"",
        "ttl = \"300s\"\nschedule = \"0 0 * * * *\"",
    );
    one(
        &report,
        &[
            "keys live 5m",
            "`0 0 * * * *`",
            "1h apart",
            "at least every 225s",
            "3675s or longer",
        ],
    );
    // 225 s + 5 s + 10 s = 240 s is just enough; runs every 4 minutes are not.
    let ttl = "ttl = \"300s\"";
    assert!(
        parse(&SMALL.replacen(
            "ttl = \"2h\"\nschedule = \"0 */5",
            &format!("{ttl}\nschedule = \"0 */3"),
            1
        ))
        .is_ok()
    );
    one(
        &refused(
            "ttl = \"2h\"\nschedule = \"0 */5",
            &format!("{ttl}\nschedule = \"0 */4"),
        ),
        &["4m apart"],
    );
    one(
        &refused("0 */5 * * * *", "0 3 * * 1"),
        &["`0 3 * * 1`", "write 0 0 3 * * 1"],
    );
    one(&refused("0 */5 * * * *", "61 * * * * *"), &["`61 * * * * *`"]);
    one(&refused("0 */5 * * * *", ""), &["the schedule is empty"]);
    one(
        &refused(
            "[[environment]]",
            "retention_schedule = \"61 * * * *\"\n[[environment]]",
        ),
        &["`61 * * * *`"],
    );
}

#[test]
fn patterns_and_constants_tell_each_part_once() {
    one(
        &refused("{scope}:{identity}", "{scope}:{user}"),
        &["`{user}` is no placeholder", "field = "],
    );
    one(
        &refused("{scope}:{identity}", "{identity}"),
        &["tells no scope", "scope = \"…\""],
    );
    one(&refused("{scope}:{identity}", "{scope}"), &["tells no identity"]);
    one(
        &refused("{env}m:{endpoint}:{minute}", "{env}m:{minute}"),
        &["tells no endpoint"],
    );
    one(
        &refused("{scope}:{identity}", "{scope}:{endpoint}:{identity}"),
        &["{endpoint} stands in the key and in the field"],
    );
    one(
        &refused("{scope}:{identity}", "{scope}:{identity}:{minute}"),
        &["{minute} stands in a field"],
    );
    one(
        &refused("ttl = \"2h\"", "endpoint = \"login\"\nttl = \"2h\""),
        &["{endpoint} stands in a pattern"],
    );
    one(
        &refused("m:{endpoint}:{minute}\"\nfield", "m:{endpoint}\"\nfield"),
        &["the key has no {minute}"],
    );
    one(
        &refused(
            "field = \"{scope}:{identity}\"\n",
            "scope = \"ip\"\nidentity = \"all\"\n",
        ),
        &["a hash source has no `field`"],
    );
    one(
        &refused(
            "scope = \"tenant\"\nminute",
            "field = \"x\"\nscope = \"tenant\"\nminute",
        ),
        &["only hashes have fields"],
    );
    one(
        &refused("\"epoch-min\"", "\"epoch\""),
        &["`epoch` is no spelling of a minute", "12 digits"],
    );
    one(
        &refused("counts = \"accepted\"", "rejected = [\"no\"]"),
        &["tells no outcomes"],
    );
    one(
        &refused("kind = \"counter\"", "kind = \"set\""),
        &["`set` is no kind of source"],
    );
}

#[test]
fn a_key_without_env_belongs_to_one_environment() {
    one(
        &refused("environments = [\"prod\"]\n", ""),
        &["exactly one environment", "key = \"old:"],
    );
    one(
        &refused("[\"prod\"]", "[\"prod\", \"staging\"]"),
        &["exactly one environment", "environments = [\"prod\", "],
    );
    one(&refused("[\"prod\"]", "[]"), &["the list is empty"]);
}

#[test]
fn find_is_checked_against_the_key() {
    one(
        &refused("find = \"scan\"\n", ""),
        &["[[source]] has no `find`", "\"scan\""],
    );
    one(
        &refused("find = \"scan\"", "find = \"keys\""),
        &["`keys` is no way to find keys", "\"scan\""],
    );
    one(&refused("find = \"scan\"", "find = {}"), &["find names one way"]);
    one(
        &refused("{env}midx:{minute}", "{env}m:idx:{minute}"),
        &["would be taken for a key", "{env}midx:{minute}"],
    );
    one(
        &refused("{env}midx:{minute}", "{env}midx"),
        &["the index has no {minute}"],
    );
    one(
        &refused("{env}midx:{minute}", "midx:{minute}"),
        &["the key has {env} and the index has not"],
    );
    one(
        &refused("{env}midx:{minute}", "{env}midx:{endpoint}:{minute}"),
        &["{endpoint} stands in an index"],
    );
    one(
        &refused("find = \"scan\"", "find = { endpoints = [\"a\"] }"),
        &["{identity} differs from key to key"],
    );
    let endpoints = |list: &str| {
        refused(
            "{ index = \"{env}midx:{minute}\" }",
            &format!("{{ endpoints = {list} }}"),
        )
    };
    one(
        &endpoints("[\"login*\", \"login\"]"),
        &["`login*` is no exact name"],
    );
    one(
        &endpoints("[\"login\", \"login\"]"),
        &["endpoint `login` stands twice"],
    );
    one(
        &endpoints("[\"other\"]"),
        &["no source has scope `ip` and these endpoints"],
    );
}

#[test]
fn limits_name_their_source_where_it_is_not_plain() {
    let tenant = SMALL.replace("\"v1/*\"]\nscope = \"ip\"", "\"v1/*\"]\nscope = \"tenant\"");
    one(
        &said(&tenant),
        &[
            "several sources could feed this limit: gateway, plain",
            "source = ",
        ],
    );
    assert_eq!(
        only_limit(&tenant.replace("limit = 30", "limit = 30\nsource = [\"plain\", \"gateway\"]")).sources,
        ["gateway", "plain"]
    );
    one(
        &refused("limit = 30", "limit = 30\nsource = \"plain\""),
        &["`plain` can't feed this limit", "no scope `ip`"],
    );
    one(
        &refused("limit = 30", "limit = 30\noutcomes = [\"ok\"]"),
        &["no source has scope `ip`"],
    );
    one(
        &said(&tenant.replace(
            "limit = 30",
            "limit = { prod = 1, staging = 2 }\nsource = \"plain\"",
        )),
        &["no source of this limit exists in `staging`"],
    );
}

#[test]
fn windows_follow_their_rules() {
    one(
        &refused("\"60m\"", "\"90m\""),
        &["`90m` is no window", "whole hours"],
    );
    one(&refused("\"60m\"", "\"7s\""), &["`7s` is no window"]);
    one(
        &refused("window = \"60m\"", ""),
        &["[[group.limit]] has no `window`"],
    );
    one(
        &refused("\"60m\"", "\"1d\"\nalgorithm = \"sliding\""),
        &["always fixed", "24h"],
    );
    // 1440 / 7 leaves a rest; 6 and 8 divide it.
    one(
        &refused("\"60m\"", "\"7m\"\nalgorithm = \"fixed\""),
        &["do not divide a day", "write 6m or 8m"],
    );
    one(
        &refused("\"60m\"", "\"5h\"\nalgorithm = \"fixed\""),
        &["do not divide a day", "write 288m"],
    );
    one(
        &refused("limit = 30", "limit = 30\nalgorithm = \"bucket\""),
        &["`bucket` is no algorithm"],
    );
    one(
        &refused("limit = 30", "limit = 30\nwatch_alert = 3"),
        &["nothing watches here"],
    );
    one(&refused("\"v1/*\"", "\"v1/[\""), &["`v1/[` is no glob"]);
}

#[test]
fn minutes_are_kept_while_keys_and_windows_need_them() {
    // The longest TTL is 24 h, the longest window 1 h: 24 + 1 + 2 = 27 h.
    let with = |span: &str| format!("minute_retention = \"{span}\"\n{SMALL}");
    one(
        &said(&with("26h")),
        &["minute_retention = \"27h\" or longer", "folga.toml:1:"],
    );
    assert!(parse(&with("27h")).is_ok());
    // A local day has up to 25 hours: 24 + 25 + 2 = 51 h.
    one(&said(&with("50h").replace("60m", "1d")), &["\"51h\" or longer"]);
    one(&refused("ttl = \"1d\"", "ttl = \"8d\""), &["minutes are kept 8d"]);
    one(
        &said(&format!("retention_days = 0\n{SMALL}")),
        &["0 is not above 0"],
    );
    one(
        &said(&format!("alert_percent = 101\n{SMALL}")),
        &["101 % is more than a limit"],
    );
}

#[test]
fn secrets_are_never_shown() {
    for bad in [
        "[redis]\nurl = \"redis://:p@S3NTINEL#w/rd@h:6379/0\"\n",
        "[redis]\nurl = \"redis://:S3NTINEL%zz@h\"\n",
        "[redis]\nurl = \"redis://:a@h\"\npassword = \"S3NTINEL\"\n",
        "[redis]\npassword = S3NTINEL\n",
        "[redis]\nusername = \"u\"\ncolour = \"redis://:S3NTINEL@h\"\n",
        "[postgres]\nurl = \"postgres://u:S3NT@INEL@h/db\"\n",
        "[postgres]\nurl = \"host=h password=S3NTINEL\"\n",
        "[ntfy]\nurl = \"https://u:S3NTINEL@h\"\ntopic = \"t\"\n",
        "[ntfy]\ntopic = \"t\"\ntoken = [\"S3NTINEL\"]\n",
    ] {
        let report = said(&format!("{bad}{SMALL}"));
        assert!(!report.contains("S3N") && !report.contains("INEL"), "{report}");
        assert!(
            report.contains("folga.toml:") && report.contains("help: "),
            "{report}"
        );
    }
    let report = said(&format!(
        "[redis]\nurl = \"redis://:p@ss#w/rd@h:6379/0\"\n{SMALL}"
    ));
    one(&report, &["folga.toml:2:7", "percent-encode", "%40"]);
}

#[test]
fn what_the_environment_gives_is_named_by_its_variable() {
    let said = |name: &'static str, value: &'static str| {
        let lookup = move |asked: &str| {
            if asked == name {
                Some(value.to_owned())
            } else {
                env(asked)
            }
        };
        Catalog::parse(SMALL, Path::new("folga.toml"), &lookup, true)
            .unwrap_err()
            .to_string()
    };
    one(
        &said("FOLGA_REDIS_URL", "redis://:p@S3NTINEL@h"),
        &["FOLGA_REDIS_URL: ", "percent-encode"],
    );
    assert!(!said("FOLGA_REDIS_URL", "redis://:p@S3NTINEL@h").contains("S3NTINEL"));
    one(
        &said("FOLGA_DATABASE_URL", "mysql://h"),
        &["FOLGA_DATABASE_URL: ", "postgres://"],
    );
    one(
        &said("FOLGA_NTFY_TOKEN", "tk"),
        &["alerts have no topic", "FOLGA_NTFY_TOPIC"],
    );
    one(
        &said("FOLGA_NTFY_TOPIC", "a b"),
        &["FOLGA_NTFY_TOPIC: ", "1 to 64 letters"],
    );
    one(
        &said("FOLGA_LISTEN", "localhost:8080"),
        &["FOLGA_LISTEN: ", "127.0.0.1:8080"],
    );
    one(
        &said("FOLGA_IDENTITY_KEY", "S3NTINEL"),
        &["FOLGA_IDENTITY_KEY: ", "16 characters"],
    );
    one(
        &said("FOLGA_IDENTITY_KEY", "\u{FFFD}123456789abcdef0"),
        &["FOLGA_IDENTITY_KEY: ", "not UTF-8"],
    );
    one(
        &said("FOLGA_IDENTITY_KEY", ""),
        &["FOLGA_IDENTITY_KEY: ", "there is no key"],
    );
    assert!(
        Catalog::parse(SMALL, Path::new("folga.toml"), &|_| None, false).is_ok(),
        "the demo needs none"
    );
}

#[test]
fn files_that_are_no_catalog_are_told_apart() {
    let missing = Catalog::load(Path::new("/nowhere/folga.toml"), &env, true)
        .unwrap_err()
        .to_string();
    one(
        &missing,
        &[
            "there is no such file",
            "/nowhere/folga.toml",
            "--config FILE or FOLGA_CONFIG",
        ],
    );

    let path = std::env::temp_dir().join(format!("folga-catalog-{}.toml", std::process::id()));
    fs::write(&path, b"a = 1\nname = \"\xff\xfe\"\n").unwrap();
    let report = Catalog::load(&path, &env, true).unwrap_err().to_string();
    fs::remove_file(&path).unwrap();
    one(
        &report,
        &["the file is not UTF-8", ".toml:2:9", "save it as UTF-8"],
    );

    let report = said("a = \nb = x\n[c\n");
    all(
        &report,
        &[
            "folga.toml:1:",
            "folga.toml:2:",
            "folga.toml:3:",
            "this is no TOML",
            "help: ",
        ],
    );
    let report = said("");
    all(
        &report,
        &["there is no environment", "there is no source", "--> folga.toml"],
    );
    one(
        &said(&SMALL.replace(
            "[[environment]]\nname = \"staging\"\nprefix = \"olp-stg:\"\n",
            "source = 1\n",
        )),
        &["["],
    );
}

#[test]
fn a_tariff_has_a_price() {
    let with = |lines: &str| said(&[SMALL, "\n[redis]\n", lines, "\n"].concat());
    one(&with("price_per_100k = \"0.20\""), &["no price", "such as 0.20"]);
    one(&with("price_per_100k = -1"), &["no price", "from 0 on"]);
    one(
        &with("free_per_month = 500000"),
        &["price_per_100k = 0.20 as well"],
    );
}

#[test]
fn a_table_of_members_names_scopes_that_some_source_tells_of() {
    let tenant = "[scope.tenant]\npublic = true";
    let table = |of: &str, entry: &str| {
        let whole = "[scope.school]";
        let to = format!("{whole}\n{tenant}\n[scope.tenant.part_of.{of}]\n{entry}");
        refused(tenant, &to)
    };
    one(
        &table("chool", "\"a\" = \"x\""),
        &[
            "[scope.tenant.part_of.chool]",
            "there is no scope `chool`",
            "ip, school, tenant",
        ],
    );
    one(
        &table("tenant", "\"a\" = \"x\""),
        &["`tenant` is itself part of a scope", "at the end of the chain"],
    );
    one(
        &table("school", "\"a\" = 7"),
        &["\"a\" = 7", "the number 7 in place of a text"],
    );
    one(&table("school", "\"a\" = \"\""), &["the text is empty"]);
    one(
        &table("school", "a.b = \"x\""),
        &["`a` is a table in place of a text", "in quotes"],
    );
    one(
        &refused(
            "kind = \"ip\"",
            "kind = \"ip\"\n[scope.ip.part_of.tenant]\n\"::1\" = \"x\"",
        ),
        &["addresses are part of nothing"],
    );
    let both = "[scope.school]\n[scope.tenant.part_of.school]\n\"a\" = \"x\"\n[[group]]";
    let both = SMALL.replace("[[group]]", both).replace(
        "scope = \"ip\"",
        "scope = \"school\"\nsource = [\"gateway\", \"plain\"]",
    );
    one(
        &said(&both),
        &[
            "`gateway` tells scopes by itself",
            "tells of members alone",
            "a limit for each",
        ],
    );
    one(
        &refused(
            "[[group]]",
            "[scope.user.part_of.tenant]\n\"a\" = \"x\"\n[[group]]",
        ),
        &["no source tells of `user` alone", "write scope = \"user\""],
    );
}

/// A sound catalog of balances that are left of 100.
const BALANCES: &str = r#"
[[environment]]
name = "prod"
prefix = "olp:"
[scope.tenant]
[[source]]
name = "balances"
kind = "gauge"
key = "{env}{identity}:ratelimit:{endpoint}"
scope = "tenant"
schedule = "0 * * * * *"
find = "scan"
[[source]]
name = "counts"
kind = "counter"
key = "{env}c:{endpoint}:{identity}:{minute}"
scope = "tenant"
ttl = "2h"
schedule = "0 * * * * *"
find = "scan"
[[group]]
id = "A"
name = "Group"
[[group.limit]]
id = "balance"
source = "balances"
endpoints = ["*"]
scope = "tenant"
limit = 80
capacity = 100
"#;

#[test]
fn a_gauge_has_what_a_sample_can_show() {
    let catalog = parse(BALANCES).unwrap();
    let (_, limit) = catalog.limits().next().unwrap();
    assert_eq!(
        (limit.algorithm, limit.window, limit.capacity),
        (Algorithm::Sampled, Window::Minutes(1), Some(100))
    );
    let refused = |from: &str, to: &str| {
        assert!(BALANCES.contains(from), "{from} stands in the catalog");
        said(&BALANCES.replacen(from, to, 1))
    };
    let line = "kind = \"gauge\"";
    for (name, value) in [
        ("ttl", "\"2h\""),
        ("grace", "\"5s\""),
        ("lateness", "\"5s\""),
        ("minute", "\"epoch-s\""),
        ("outcome", "\"ok\""),
        ("counts", "\"accepted\""),
    ] {
        one(
            &refused(line, &format!("{line}\n{name} = {value}")),
            &[
                &format!("`{name}` is given for a gauge"),
                &format!("leave `{name}` out"),
            ],
        );
    }
    one(
        &refused(
            "{identity}:ratelimit:{endpoint}",
            "{identity}:{endpoint}:{minute}",
        ),
        &["the key of a gauge has {minute}", "kind = \"counter\""],
    );
    one(
        &refused("{env}{identity}:ratelimit", "{env}all:ratelimit"),
        &["the source tells no identity"],
    );
    one(
        &refused("c:{endpoint}:", "c:{window}:{endpoint}:"),
        &["{window} stands in the key of counts"],
    );
    one(
        &refused("source = \"balances\"", "source = \"counts\"\nwindow = \"1m\""),
        &["only a gauge can tell what is left", "leave `capacity` out"],
    );
    one(
        &refused("source = \"balances\"", "source = [\"balances\", \"counts\"]"),
        &["gauges and counts feed one limit"],
    );
    one(
        &refused("capacity = 100", "algorithm = \"fixed\""),
        &["leave `algorithm` out"],
    );
    one(
        &refused("capacity = 100", "shared = true"),
        &["leave `shared` out"],
    );
}
