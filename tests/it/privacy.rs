//! Personal data that slipped into keys and fields is counted, and shown and stored nowhere.

use std::{io::Write as _, process::Stdio};

use serde_json::json;
use sqlx::AssertSqlSafe;

use super::support::{
    Bench, Serving,
    catalogs::{HEAD, MESSAGES, THIRTY, drain, limit, limits, messages, put, put_counter, report},
};

const NOW: &str = "2025-03-10T12:10:00Z";

/// Identities that are nobody's business: of each, its digits or its name would give it away.
const PERSONAL: [&str; 6] = [
    "maria@example.org",
    "529.982.247-25",
    "+5511999990000",
    "5511988887777@s.whatsapp.net",
    "5521977776666:device2",
    "10.20.30.40",
];

/// What may be in no output and no row.
const TRACES: [&str; 6] = [
    "example.org",
    "529.982",
    "55119999",
    "55119888",
    "55219777",
    "10.20.30.40",
];

/// Sessions in keys; scopes in fields.
const MORE: &str = r#"
[scope.session]
[[source]]
name = "messaging"
kind = "hash"
key = "{env}wa:{identity}:{minute}"
field = "{endpoint}:{outcome}"
scope = "session"
ttl = "2h"
schedule = "0 */5 * * * *"
find = "scan"
[[source]]
name = "portal"
kind = "hash"
key = "{env}p:{endpoint}:{minute}"
field = "{scope}:{identity}"
ttl = "2h"
schedule = "0 */5 * * * *"
find = "scan"
"#;

/// A world in which every personal identity was counted in a public scope, the nth of them n times, and a school 9 times.
async fn counted(catalog: &str) -> Bench {
    let bench = Bench::new(catalog).await;
    let counts = ["1", "2", "3", "4", "5", "6"];
    let personal = PERSONAL.iter().zip(counts);
    let mut fields: Vec<_> = personal
        .map(|(identity, count)| (identity.as_bytes(), count.as_bytes()))
        .collect();
    fields.push((b"esc-1", b"9"));
    put(&bench, bench.key("m:messages:202503101205"), &fields).await;
    bench
}

#[track_caller]
fn assert_clean(what: &str, text: &str) {
    for trace in TRACES {
        let line = text.lines().find(|line| line.contains(trace));
        assert_eq!(line, None, "{what} holds {trace}");
    }
}

#[tokio::test]
async fn personal_identities_of_a_public_scope_count_without_their_label() {
    let bench = counted(&messages(&[("messages", THIRTY)])).await;
    let ran = drain(&bench, NOW).await.succeeded();
    assert_clean("the drain", &(ran.stdout + &ran.stderr));
    let warning = |kind: &str, identities: usize| {
        let fields = format!("scope=\"tenant\" looks_like={kind} identities={identities}");
        let is_own =
            |line: &&str| line.contains(&fields) && line.contains("source=\"gateway\" environment=\"prod\"");
        ran.stderr.lines().find(is_own).is_some()
    };
    for (kind, identities) in [
        ("a CPF", 1),
        ("an e-mail address", 1),
        ("a phone number", 2),
        ("a messaging id", 1),
        ("an IP address", 1),
    ] {
        assert!(warning(kind, identities), "{kind}\n{}", ran.stderr);
    }
    let labels: Vec<String> = sqlx::query_scalar("SELECT label FROM labels")
        .fetch_all(&bench.pool)
        .await
        .unwrap();
    assert_eq!(labels, ["esc-1"]);

    let report = report(&bench, "2025-03-10T12:00:00Z", "2025-03-10T13:00:00Z").await;
    let limit = limit(&report, "messages");
    // 1 + 2 + 3 + 4 + 5 + 6 + 9
    assert_eq!(limit["total"], 30);
    assert_eq!(
        (&limit["peak"]["value"], &limit["peak"]["identity"]),
        (&json!(9), &json!("esc-1"))
    );
}

#[tokio::test]
async fn an_identity_can_be_looked_up() {
    let bench = counted(
        &[
            HEAD,
            "[scope.ip]\nkind = \"ip\"",
            MESSAGES,
            &limits(&[("messages", THIRTY)]),
        ]
        .concat(),
    )
    .await;
    drain(&bench, NOW).await.succeeded();
    let of = async |scope: &str, value: &str| {
        let ran = bench.folga(&["identity", "--scope", scope, value]).run().await;
        let ran = ran.succeeded();
        (ran.stdout, ran.stderr)
    };
    // The six that have no label are listed by their ids, the largest first.
    let mut ids = Vec::new();
    for identity in PERSONAL.iter().rev() {
        let (id, said) = of("tenant", identity).await;
        assert!(said.contains("the scope is public"), "{said}");
        ids.push(id.trim_end().to_owned());
    }
    let report = report(&bench, "2025-03-10T12:00:00Z", "2025-03-10T13:00:00Z").await;
    let top = limit(&report, "messages")["top_identities"].as_array().unwrap();
    let shown: Vec<_> = top.iter().map(|top| top["identity"].as_str().unwrap()).collect();
    assert_eq!(shown[0], "esc-1");
    assert_eq!(shown[1..], ids[..shown.len() - 1]);
    assert!(shown.len() > 1, "{report:#}");

    // Addresses are spelt in many ways and stored in one.
    let (id, said) = of("ip", "2001:db8::1").await;
    assert_eq!((id.len(), &*said), (17, ""));
    assert_eq!(of("ip", "2001:0DB8:0:0:7::9").await.0, id);
    assert_eq!(of("ip", "::ffff:10.0.0.1").await.0, of("ip", "10.0.0.1").await.0);
    assert_ne!(of("tenant", "2001:db8::1").await.0, id);
}

#[tokio::test]
async fn an_id_is_the_same_looked_up_drained_or_imported() {
    let own = [
        "[scope.ip]\nkind = \"ip\"",
        "[scope.pupil]",
        MORE,
        &limits(&[
            (
                "ip",
                "source = \"portal\"\nscope = \"ip\"\nendpoints = [\"x\"]\nlimit = 30\nwindow = \"1m\"",
            ),
            (
                "pupil",
                "source = \"portal\"\nscope = \"pupil\"\nendpoints = [\"x\"]\nlimit = 30\nwindow = \"1m\"",
            ),
        ]),
    ];
    let bench = Bench::new(&[HEAD, MESSAGES, &own.join("\n")].concat()).await;
    // In one minute of Redis and in another one of a file, each spelt in its own way where it is an address. Letters that
    // differ in case or accent are others.
    let identities = [
        ("ip", "2001:db8:1:2::9", "2001:0DB8:1:2:3:4:5:6", "2001:db8:1:2::"),
        ("ip", "::ffff:10.0.0.1", "10.0.0.1", "::ffff:a00:1"),
        ("pupil", "São João", "São João", "São João"),
        ("pupil", "são joão", "são joão", "são joão"),
        ("pupil", "Sao Joao", "Sao Joao", "Sao Joao"),
        ("pupil", "52998224725", "52998224725", "52998224725"),
    ];
    let fields: Vec<_> = identities
        .map(|(scope, drained, ..)| format!("{scope}:{drained}"))
        .into();
    let fields: Vec<_> = fields
        .iter()
        .map(|field| (field.as_bytes(), b"3".as_slice()))
        .collect();
    put(&bench, bench.key("p:x:202503101205"), &fields).await;
    drain(&bench, NOW).await.succeeded();
    let rows = identities
        .map(|(scope, _, imported, _)| format!("prod,portal,x,{scope},{imported},,202503101207,4\n"));
    let file = bench.folder.join("history.csv");
    let text =
        "environment,source,endpoint,scope,identity,outcome,minute,count\n".to_owned() + &rows.concat();
    std::fs::write(&file, text).unwrap();
    let arguments = ["import", "--format", "csv", file.to_str().unwrap()];
    bench.folga(&arguments).at(NOW).run().await.succeeded();

    let report = report(&bench, "2025-03-10T12:00:00Z", "2025-03-10T13:00:00Z").await;
    for scope in ["ip", "pupil"] {
        let found = limit(&report, scope);
        let own: Vec<_> = identities.iter().filter(|identity| identity.0 == scope).collect();
        assert_eq!(found["total"], 7 * own.len(), "{scope}");
        let mut ids = Vec::new();
        for (_, _, _, asked) in own {
            let arguments = ["identity", "--scope", scope, asked];
            let id = bench.folga(&arguments).run().await.succeeded().stdout;
            ids.push(id.trim_end().to_owned());
        }
        let top = found["top_identities"].as_array().unwrap();
        let mut shown: Vec<_> = top.iter().map(|top| top["identity"].as_str().unwrap()).collect();
        shown.sort_unstable();
        ids.sort_unstable();
        assert_eq!(shown, ids, "{scope}");
    }
}

#[tokio::test]
async fn what_a_file_says_of_persons_is_counted_and_neither_shown_nor_stored() {
    let bench = Bench::new(&messages(&[("messages", THIRTY)])).await;
    let personal = PERSONAL.iter().zip(1..);
    let rows: Vec<_> = personal
        .map(|(identity, count)| format!("prod,gateway,messages,tenant,{identity},,202503101205,{count}\n"))
        .collect();
    let mut text = "environment,source,endpoint,scope,identity,outcome,minute,count\n".to_owned();
    text += &rows.concat();
    text += "prod,gateway,messages,tenant,esc-1,,202503101205,9\n\
             prod,gateway,reset/maria@example.org,tenant,esc-1,,202503101205,1\n\
             prod,gateway,messages,maria@example.org,esc-1,,202503101205,1\n\
             prod,529.982.247-25,messages,tenant,esc-1,,202503101205,1\n\
             +5511999990000,gateway,messages,tenant,esc-1,,202503101205,1\n";
    let file = bench.folder.join("history.csv");
    std::fs::write(&file, text).unwrap();
    let import = async |format: &str| {
        let arguments = ["import", "--format", format, file.to_str().unwrap()];
        let folga = bench.folga(&arguments).at(NOW).env("RUST_LOG", "trace");
        folga.run().await
    };
    let ran = import("csv").await.exited(3);
    assert_clean("the import", &(ran.stdout.clone() + &ran.stderr));
    for refused in [
        "refused line 9: the endpoint looks like an e-mail address, and would be stored as it is",
        "refused line 10: the scope looks like an e-mail address",
        "refused line 11: the catalog has no source `‹cpf›`",
        "refused line 12: the catalog has no environment `‹phone›`",
    ] {
        assert!(ran.stdout.contains(refused), "{refused}\n{}", ran.stdout);
    }
    let warned = "scope=\"tenant\" looks_like=a phone number identities=2";
    assert!(ran.stderr.contains(warned), "{}", ran.stderr);
    let labels: Vec<String> = sqlx::query_scalar("SELECT label FROM labels")
        .fetch_all(&bench.pool)
        .await
        .unwrap();
    assert_eq!(labels, ["esc-1"]);
    let report = report(&bench, "2025-03-10T12:00:00Z", "2025-03-10T13:00:00Z").await;
    assert_eq!(limit(&report, "messages")["total"], 30);
    // A file without a header begins with a row.
    std::fs::write(&file, "maria@example.org,prod,gateway\n").unwrap();
    let ran = import("csv").await.exited(2);
    assert!(ran.stderr.contains("has a column `‹e-mail›`"), "{}", ran.stderr);
    std::fs::write(&file, "{\"maria@example.org\":1}\n").unwrap();
    let ran = import("jsonl").await.exited(3);
    assert!(ran.stdout.contains("the row has `‹e-mail›`"), "{}", ran.stdout);
}

#[tokio::test]
async fn identities_are_looked_up_from_stdin_too() {
    let bench = Bench::new(&messages(&[("messages", THIRTY)])).await;
    let ask = async |input: &str| {
        let path = bench.folder.join("identities");
        std::fs::File::create(&path)
            .unwrap()
            .write_all(input.as_bytes())
            .unwrap();
        let input = Stdio::from(std::fs::File::open(&path).unwrap());
        bench
            .folga(&["identity", "--scope", "tenant", "-"])
            .stdin(input)
            .run()
            .await
    };
    let one = async |value: &str| {
        let ran = bench.folga(&["identity", "--scope", "tenant", value]).run().await;
        ran.succeeded().stdout
    };
    let both = one("esc-1").await + &one("esc 2").await;
    assert_eq!(ask("esc-1\nesc 2\n").await.succeeded().stdout, both);
    assert_eq!(ask("esc-1\r\nesc 2").await.succeeded().stdout, both);
    assert_eq!(ask("").await.succeeded().stdout, "");
    let refused = ask("esc-1\n\nesc-2\n").await.exited(2);
    assert!(
        refused.stderr.contains("no identity is empty"),
        "{}",
        refused.stderr
    );

    let unknown = bench
        .folga(&["identity", "--scope", "tenants", "x"])
        .run()
        .await
        .exited(2);
    assert!(
        unknown
            .stderr
            .contains("the catalog has no scope `tenants`: give one of tenant"),
        "{}",
        unknown.stderr
    );
    let keyless = bench
        .folga(&["identity", "--scope", "tenant", "x"])
        .env("FOLGA_IDENTITY_KEY", "");
    let keyless = keyless.run().await.exited(2);
    assert!(
        keyless.stderr.contains("FOLGA_IDENTITY_KEY"),
        "{}",
        keyless.stderr
    );
}

#[tokio::test]
async fn nothing_personal_is_shown_or_stored() {
    let bench = counted(&[HEAD, MESSAGES, MORE, &limits(&[("messages", THIRTY)])].concat()).await;
    let key = |rest: &str| bench.key(rest);
    // Endpoints that would be stored as they are, in a key and in a field.
    put(
        &bench,
        key("m:reset/maria@example.org:202503101206"),
        &[(b"esc-1", b"1")],
    )
    .await;
    put(
        &bench,
        key("wa:5521977776666:device2:202503101205"),
        &[
            (b"wasender:ok", b"4"),
            (b"5511999990000:ok", b"1"),
            (b"wasender:5511988887777@s.whatsapp.net", b"1"),
            (b"wasender:bad", b"x"),
        ],
    )
    .await;
    // A minute that is none, a key of another type, one that outlived its time, and a scope that nobody declared.
    put(
        &bench,
        key("wa:5511999990000:20250310120"),
        &[(b"wasender:ok", b"1")],
    )
    .await;
    put_counter(&bench, &key("wa:5511988887777@s.whatsapp.net:202503101205"), "1").await;
    redis::cmd("HSET")
        .arg(key("wa:5511999990000:202503100100"))
        .arg(&[("wasender:ok", "1")])
        .exec_async(&mut bench.redis().await)
        .await
        .unwrap();
    put(
        &bench,
        key("p:x:202503101205"),
        &[(b"maria@example.org:1", b"1"), (b"10.20.30.40:1", b"1")],
    )
    .await;

    let loud = |folga: super::support::Folga| folga.env("RUST_LOG", "trace");
    let ran = loud(bench.folga(&["drain"])).at(NOW).run().await.exited(3);
    assert_clean("the drain", &(ran.stdout.clone() + &ran.stderr));
    for refused in [
        "m:reset/‹e-mail›:202503101206: the endpoint looks like an e-mail address, and would be stored as it is: that \
         part belongs into the identity, or nowhere (1)",
        "wa:‹phone›:device2:202503101205: the endpoint looks like a phone number",
        "wa:‹phone›:device2:202503101205: the outcome looks like a messaging id",
        "wa:‹phone›:device2:202503101205: the count is not a number (1)",
        "wa:‹phone›:20250310120: the minute is not 12 digits",
        "wa:‹messaging id›:202503101205: the key holds another type",
        "p:x:202503101205: scope \"‹ip›\" is not declared (1)",
        "p:x:202503101205: the scope looks like an e-mail address",
    ] {
        assert!(ran.stdout.contains(refused), "{refused}\n{}", ran.stdout);
    }

    let serving = Serving::start(loud(bench.folga(&["--log-format", "json", "serve"])).at(NOW)).await;
    let query = "env=prod&from=2025-03-10T12:00:00Z&to=2025-03-10T13:00:00Z";
    for path in [
        "/health",
        "/metrics",
        "/v1/runs",
        "/v1/alerts",
        "/v1/limits?env=prod",
        &format!("/v1/calibration?{query}"),
        &format!("/v1/limits/messages/hours?{query}"),
        "/",
    ] {
        let answer = serving.get(path).await;
        assert_eq!(answer.status, 200, "{path}");
        assert_clean(path, &answer.body);
    }
    let runs = serving.get("/v1/runs").await.body;
    assert!(runs.contains("m:reset/‹e-mail›:202503101206"), "{runs}");
    let (_, log, _) = serving.end().await;
    assert_clean("the log of the service", &log);

    let tables: Vec<String> =
        sqlx::query_scalar("SELECT tablename::text FROM pg_tables WHERE schemaname = 'public'")
            .fetch_all(&bench.pool)
            .await
            .unwrap();
    assert!(tables.len() > 10, "{tables:?}");
    for table in tables {
        let rows: Vec<String> = sqlx::query_scalar(AssertSqlSafe(format!("SELECT t::text FROM {table} t")))
            .fetch_all(&bench.pool)
            .await
            .unwrap();
        assert_clean(&table, &rows.join("\n"));
    }
}

#[tokio::test]
async fn a_check_finds_what_is_stored_and_does_not_show_it() {
    let bench = Bench::new(&messages(&[("messages", THIRTY)])).await;
    let check = async || bench.folga(&["check"]).at(NOW).run().await;
    let clean = check().await.succeeded().stdout;
    assert!(!clean.contains("Findings"), "{clean}");
    let stored = format!(
        "INSERT INTO labels (scope, id, label, seen)
         SELECT 'tenant', id, label, '2025-03-10'
         FROM (VALUES ({}, 'maria@example.org'), (3, 'esc-1'), (5, 'joao@example.org'), ({}, '52998224725')) AS v (id, label)",
        i64::MIN,
        i64::MAX
    );
    sqlx::raw_sql(AssertSqlSafe(stored))
        .execute(&bench.pool)
        .await
        .unwrap();
    let found = check().await.exited(3).stdout;
    assert!(
        found.contains(
            "\nFindings\n  \
             1 stored label of public scope tenant looking like a CPF: declare the scope without `public`, and its \
             labels are dropped at the next start\n  \
             2 stored labels of public scope tenant looking like an e-mail address: declare the scope without `public`, \
             and its labels are dropped at the next start\n"
        ),
        "{found}"
    );
    assert_clean("the check", &found);
    // Nor does a report.
    put(
        &bench,
        bench.key("m:messages:202503101205"),
        &[(b"ana@example.org", b"1")],
    )
    .await;
    drain(&bench, NOW).await.succeeded();
    sqlx::raw_sql(
        "INSERT INTO labels SELECT 'tenant', identity, 'ana@example.org', '2025-03-10'
         FROM (SELECT DISTINCT unnest(ids) AS identity FROM minute_counts) AS met",
    )
    .execute(&bench.pool)
    .await
    .unwrap();
    let report = report(&bench, "2025-03-10T12:00:00Z", "2025-03-10T13:00:00Z").await;
    assert_eq!(limit(&report, "messages")["total"], 1);
    assert_clean("the report", &report.to_string());
    let public = messages(&[("messages", THIRTY)]).replace("public = true", "public = true\nkind = \"ip\"");
    bench.write_catalog(&public);
    let found = check().await.exited(3).stdout;
    assert!(
        found.contains("  scope tenant is public, and its identities are IP addresses"),
        "{found}"
    );
}
