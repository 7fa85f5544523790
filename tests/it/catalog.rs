//! What the command line refuses, and how: exit code 2, the place, the remedy.

use super::support::{
    Bench, Folga, SERVERS,
    catalogs::{HEAD, MESSAGES, THIRTY, limits, messages},
};

async fn check(bench: &Bench, catalog: &str) -> (Option<i32>, String) {
    bench.write_catalog(catalog);
    let ran = bench.folga(&["check"]).at("2025-03-08T12:00:00Z").run().await;
    (ran.code, ran.stdout + &ran.stderr)
}

/// A sound catalog with one line of it replaced.
fn but(line: &str, by: &str) -> String {
    let sound = messages(&[("messages", THIRTY)]);
    assert!(sound.contains(line), "{line}");
    sound.replace(line, by)
}

#[tokio::test]
async fn schedules_have_six_fields_and_sunday_is_zero() {
    let bench = Bench::new("").await;
    let with = |schedule: &str| {
        format!(
            "retention_schedule = \"{schedule}\"\n{}",
            messages(&[("messages", THIRTY)])
        )
    };
    // 8 March 2025 is a Saturday.
    for (schedule, next) in [
        ("0 0 3 * * 0", "2025-03-09T03:00:00Z"),
        ("0 0 3 * * SUN", "2025-03-09T03:00:00Z"),
        ("0 0 3 * * 1", "2025-03-10T03:00:00Z"),
        ("0 0 3 * * MON", "2025-03-10T03:00:00Z"),
        ("0 0 3 * * 6", "2025-03-15T03:00:00Z"),
        ("30 15 3 * * *", "2025-03-09T03:15:30Z"),
    ] {
        let (code, told) = check(&bench, &with(schedule)).await;
        assert_eq!(code, Some(0), "{told}");
        assert!(
            told.contains(&format!("retention runs next at {next}")),
            "{schedule}\n{told}"
        );
    }
    for (schedule, remedy) in [
        ("0 3 * * 1", "write 0 0 3 * * 1"),
        ("61 * * * *", "write 0 61 * * * *"),
        ("61 0 3 * * *", "write sec (0-59)"),
        ("0 0 24 * * *", "write sec (0-59)"),
        ("0 0 3 * * 8", "write sec (0-59)"),
        ("0 0 3 * * MONDAY", "write sec (0-59)"),
        ("0 0 3 30 2 *", "name a day that exists"),
        ("0 0 3 * * * 2025", "write six"),
        ("@daily", "write six"),
        ("", "write sec min hour day month weekday"),
        ("   ", "write sec min hour day month weekday"),
    ] {
        let (code, told) = check(&bench, &with(schedule)).await;
        assert_eq!(code, Some(2), "{schedule}\n{told}");
        assert!(
            told.contains(remedy) && told.contains(schedule),
            "{schedule}\n{told}"
        );
        assert!(told.contains("folga.toml:1:"), "{told}");
    }
}

#[tokio::test]
async fn a_schedule_that_would_miss_keys_is_refused_with_the_right_one() {
    let bench = Bench::new("").await;
    let with = |ttl: &str, schedule: &str| {
        but("ttl = \"2h\"", &format!("ttl = \"{ttl}\"")).replace("0 */5 * * * *", schedule)
    };
    // Grace is 5 s: 300 s - 60 s - 5 s - 10 s = 225 s is the longest gap.
    for (ttl, schedule, code) in [
        ("300s", "0 0 * * * *", 2),
        ("300s", "0 */5 * * * *", 2),
        ("300s", "0 */4 * * * *", 2),
        ("300s", "0 */3 * * * *", 0),
        // Seven does not divide 60: the gap over the full hour is shorter, the longest is 7 minutes.
        ("495s", "0 */7 * * * *", 0),
        ("494s", "0 */7 * * * *", 2),
        // Every five minutes, but not at night: 6 h 5 min.
        ("2h", "0 */5 6-23 * * *", 2),
        ("7h", "0 */5 6-23 * * *", 0),
        ("48h", "0 0 3 * * SUN", 2),
    ] {
        let (exit, told) = check(&bench, &with(ttl, schedule)).await;
        assert_eq!(exit, Some(code), "{ttl} {schedule}\n{told}");
        assert!(
            code == 0 || told.contains("minutes would vanish unread"),
            "{told}"
        );
    }
}

#[tokio::test]
async fn unknown_names_are_refused_with_those_that_are_known() {
    let elsewhere = r#"
[[environment]]
name = "staging"
prefix = "PREFIX-stg:"
[[source]]
name = "portal"
kind = "counter"
key = "{env}metrics:{endpoint}:{identity}:{minute}"
scope = "tenant"
ttl = "48h"
schedule = "0 */15 * * * *"
find = "scan"
environments = ["prod"]
"#;
    let own = limits(&[("messages", &format!("source = \"gateway\"\n{THIRTY}"))]);
    let bench = Bench::new(&[HEAD, elsewhere, MESSAGES, &own].concat()).await;
    let cases: [(&[&str], &str); 8] = [
        (
            &["drain", "--env", "production"],
            "no environment `production`: give one of prod, staging",
        ),
        (
            &["drain", "--source", "gatway"],
            "no source `gatway`: give one of portal, gateway",
        ),
        (
            &["drain", "--source", "portal", "--env", "staging"],
            "see `environments` of the source",
        ),
        (
            &["report", "--env", "Prod"],
            "no environment `Prod`: give one of prod, staging",
        ),
        (&["report", "--env", ""], "give one of prod, staging"),
        (
            &["report", "--env", "prod", "--group", "Z"],
            "no group `Z`: give one of A",
        ),
        (&["report", "--env", "prod", "--format", "xml"], "possible values"),
        (&["flush"], "unrecognized subcommand"),
    ];
    for (arguments, told) in cases {
        let ran = bench.folga(arguments).run().await.exited(2);
        assert!(
            ran.stderr.contains(told) && ran.stdout.is_empty(),
            "{arguments:?}\n{}",
            ran.stderr
        );
    }
}

#[tokio::test]
async fn periods_that_are_none_are_refused() {
    let bench = Bench::new(&messages(&[("messages", THIRTY)])).await;
    let noon = "2025-03-10T12:00:00Z";
    let cases: [(&[&str], &str); 9] = [
        (&["--days", "0"], "ask for 1 to 90 days"),
        (&["--days", "91"], "ask for 1 to 90 days"),
        (&["--days", "-1"], "-1"),
        (&["--days", "x"], "--days"),
        (&["--from", noon], "give to as well"),
        (&["--to", noon], "give from as well"),
        (&["--from", noon, "--to", "2025-03-10T11:00:00Z"], "swap them"),
        (
            &["--from", "2015-03-10T12:00:00Z", "--to", noon],
            "choose a shorter period",
        ),
        (&["--from", "yesterday", "--to", noon], "2025-03-10T12:00:00Z"),
    ];
    for (period, told) in cases {
        let arguments = [&["report", "--env", "prod"], period].concat();
        let ran = bench.folga(&arguments).at(noon).run().await.exited(2);
        assert!(ran.stderr.contains(told), "{period:?}\n{}", ran.stderr);
    }
    let ran = bench.folga(&["drain"]).at("noon").run().await.exited(2);
    assert!(ran.stderr.contains("--at"), "{}", ran.stderr);
    // Nothing at all is a period too, and so is one that has no hour yet.
    for period in [
        ["--from", noon, "--to", noon],
        ["--from", "2030-01-01T00:00:00Z", "--to", "2030-01-02T00:00:00Z"],
    ] {
        let arguments = [&["report", "--env", "prod", "--format", "json"], &period[..]].concat();
        let report = bench.folga(&arguments).at(noon).run().await.succeeded().json();
        let found = &report["groups"][0]["limits"][0];
        assert_eq!(
            (found["total"].as_u64(), found["status"].as_str()),
            (Some(0), Some("no-data"))
        );
        assert!(found["peak"].is_null());
    }
}

#[tokio::test]
async fn what_a_catalog_cannot_mean_is_refused_at_its_line() {
    let bench = Bench::new("").await;
    let limit = "limit = 30";
    let window = "window = \"1m\"";
    let kind = "kind = \"hash\"";
    for (line, by, told) in [
        (limit, "limit = 0", "limit"),
        (limit, "limit = -1", "limit"),
        (limit, "limit = 30.5", "30.5"),
        (limit, "limit = \"30\"", "\"30\""),
        (limit, "limit = 99999999999999999999", "9999"),
        (limit, "limit = { prod = 30, staging = 4 }", "staging"),
        (limit, "limit = 30\nlimt = 5", "limt"),
        (window, "window = \"7s\"", "7s"),
        (window, "window = \"61m\"", "61m"),
        (window, "window = \"1d\"\nalgorithm = \"sliding\"", "1d"),
        (window, "window = \"7m\"\nalgorithm = \"fixed\"", "7m"),
        (window, "window = \"25h\"", "25h"),
        (window, "window = 60", "60"),
        (window, "window = \"1m\"\nmode = \"blok\"", "blok"),
        (kind, "kind = \"gauge\"", "gauge"),
        (kind, "kind = \"set\"", "set"),
        ("find = \"scan\"", "", "find"),
        ("find = \"scan\"", "find = \"keys\"", "keys"),
        (
            "find = \"scan\"",
            "find = { index = \"{env}m:idx:{minute}\" }",
            "m:idx",
        ),
        ("scope = \"tenant\"\nttl", "scope = \"tenat\"\nttl", "tenat"),
        ("source = \"gateway\"", "source = \"gatway\"", "gatway"),
        (
            "{env}m:{endpoint}:{minute}",
            "{env}m:{endpoint}{minute}",
            "{minute}",
        ),
        ("{env}m:{endpoint}:{minute}", "{env}m:{endpoint}", "minute"),
        (
            "{env}m:{endpoint}:{minute}",
            "{env}m:{endpont}:{minute}",
            "{endpont}",
        ),
        ("timezone = \"UTC\"", "timezone = \"Sao_Paulo\"", "Sao_Paulo"),
        (
            "timezone = \"UTC\"",
            "timezone = \"UTC\"\nalert_percent = 0",
            "alert_percent",
        ),
        (
            "timezone = \"UTC\"",
            "timezone = \"UTC\"\nminute_retention = \"1h\"",
            "minute_retention",
        ),
        (
            "[[group]]",
            "[[ignore]]\nenvironment = \"prd\"\nfrom = \"2025-03-10T12:00:00Z\"\nto = \"2025-03-10T13:00:00Z\"\nreason = \"x\"\n[[group]]",
            "prd",
        ),
        (
            "[[group]]",
            "[[environment]]\nname = \"staging\"\nprefix = \"PREFIX:stg:\"\n[[group]]",
            "PREFIX:stg:",
        ),
        (
            "[[group]]",
            "[[environment]]\nname = \"prod\"\nprefix = \"x:\"\n[[group]]",
            "prod",
        ),
    ] {
        let (code, report) = check(&bench, &but(line, by)).await;
        assert_eq!(code, Some(2), "{by}\n{report}");
        let told = told.replace("PREFIX", &bench.prefix);
        assert!(
            report.contains(&told) && report.contains("help: "),
            "{by}\n{report}"
        );
        assert!(report.contains("folga.toml"), "{by}\n{report}");
    }
    // One id twice.
    let (code, report) = check(&bench, &messages(&[("messages", THIRTY), ("messages", THIRTY)])).await;
    assert!(code == Some(2) && report.contains("messages"), "{report}");
    // All that is wrong is told at once.
    let (code, report) = check(&bench, &but(limit, "limit = 0").replace("\"1m\"", "\"7s\"")).await;
    assert!(
        code == Some(2) && report.matches("help: ").count() == 2,
        "{report}"
    );
}

#[tokio::test]
async fn files_that_are_no_catalog_are_told_by_name() {
    let bench = Bench::new("").await;
    let file = bench.folder.join("odd.toml");
    let file = file.to_str().unwrap();
    for bytes in [
        &b"\xff\xfe"[..],
        b"timezone = \"\xff\"",
        b"[[source]",
        b"a = 1\na = 2\n",
        b"\0",
    ] {
        std::fs::write(file, bytes).unwrap();
        let ran = bench.folga(&["--config", file, "check"]).run().await.exited(2);
        assert!(ran.stderr.contains(file), "{bytes:?}\n{}", ran.stderr);
    }
    for missing in ["/nowhere/folga.toml", bench.folder.to_str().unwrap()] {
        let ran = bench.folga(&["--config", missing, "check"]).run().await.exited(2);
        assert!(ran.stderr.contains(missing), "{}", ran.stderr);
    }
    // An editor's mark of UTF-8 and carriage returns do no harm.
    let text = messages(&[("messages", THIRTY)])
        .replace('\n', "\r\n")
        .replace("PREFIX", &bench.prefix);
    std::fs::write(file, format!("\u{feff}{text}")).unwrap();
    bench.folga(&["--config", file, "check"]).run().await.succeeded();
    std::fs::write(file, "").unwrap();
    let ran = bench.folga(&["--config", file, "check"]).run().await.exited(2);
    assert!(ran.stderr.contains("environment"), "{}", ran.stderr);
}

#[tokio::test]
async fn without_a_sound_identity_key_nothing_is_read() {
    let bench = Bench::new(&messages(&[("messages", THIRTY)])).await;
    for key in ["", "fifteen letters"] {
        for arguments in [&["drain"][..], &["report", "--env", "prod"], &["check"]] {
            let ran = bench
                .folga(arguments)
                .env("FOLGA_IDENTITY_KEY", key)
                .run()
                .await
                .exited(2);
            assert!(
                ran.stderr.contains("FOLGA_IDENTITY_KEY") && ran.stderr.contains("16"),
                "{}",
                ran.stderr
            );
            assert!(!ran.stderr.contains("fifteen letters"), "{}", ran.stderr);
        }
    }
    bench
        .folga(&["drain"])
        .env("FOLGA_IDENTITY_KEY", "sixteen letters!")
        .run()
        .await
        .succeeded();
}

#[tokio::test]
async fn the_shipped_catalog_is_sound_and_drains() {
    let bench = Bench::new(include_str!("../../folga.toml")).await;
    let run = |arguments: &[&str]| -> Folga { bench.folga(arguments) };
    let checked = run(&["check"]).at("2025-03-08T12:00:00Z").run().await.succeeded();
    for named in [
        "gateway",
        "portal",
        "messaging",
        "send-otp.usuario",
        "messaging-quota.session",
    ] {
        assert!(checked.stdout.contains(named), "{named}\n{}", checked.stdout);
    }
    run(&["drain"]).run().await.succeeded();
    let table = run(&["report", "--env", "prod"]).run().await.succeeded();
    assert!(table.stdout.contains("send-otp.usuario"), "{}", table.stdout);
    // Without a file of its own, folga reads the one in its folder.
    let here =
        Folga::new(&["check"], &bench.folder).env("FOLGA_DATABASE_URL", SERVERS.postgres_url("postgres"));
    here.run().await.succeeded();
}
