//! How servers are reached: TLS, logins, secrets, poolers, and the Postgres that folga keeps itself.

use std::{
    fs,
    time::{Duration, Instant},
};

use folga::servers::free_port;
use serde_json::json;
use sqlx::{Connection as _, PgConnection};
use tokio::time::timeout;

use super::{
    secrets::loud,
    support::{
        Behaviour, Bench, Bouncer, Proxy, SERVERS, Serving, TlsRedis,
        catalogs::{HEAD, MESSAGES, THIRTY, drain, limit, limits, messages, put, put_counter, report},
        is_alive,
    },
};

const NOW: &str = "2025-03-10T12:10:00Z";
const HOUR: [&str; 2] = ["2025-03-10T12:00:00Z", "2025-03-10T13:00:00Z"];

/// A catalog with further keys of `[redis]`.
fn with_redis(keys: &str) -> String {
    format!("{}\n[redis]\n{keys}\n", messages(&[("messages", THIRTY)]))
}

async fn total(bench: &Bench) -> serde_json::Value {
    limit(&report(bench, HOUR[0], HOUR[1]).await, "messages")["total"].clone()
}

#[tokio::test]
async fn a_plain_url_to_a_tls_port_fails_soon_and_names_the_other_scheme() {
    let mut bench = Bench::new(&with_redis("")).await;
    let server = TlsRedis::start(&bench.folder);
    bench.redis_url = server.url("redis");
    let start = Instant::now();
    let ran = drain(&bench, NOW).await.exited(1);
    assert!(start.elapsed() < Duration::from_secs(5));
    assert!(ran.stdout.contains("rediss://"), "{}", ran.stdout);
}

#[tokio::test]
async fn a_tls_url_to_a_plain_port_fails_soon_and_names_the_other_scheme() {
    let mut bench = Bench::new(&with_redis("")).await;
    bench.redis_url = bench.redis_url.replace("redis://", "rediss://");
    let start = Instant::now();
    let ran = drain(&bench, NOW).await.exited(1);
    assert!(start.elapsed() < Duration::from_secs(5));
    assert!(
        ran.stdout.contains("write redis:// in place of rediss://"),
        "{}",
        ran.stdout
    );
}

#[tokio::test]
async fn a_private_authority_is_trusted_where_it_is_named_and_nowhere_else() {
    let mut bench = Bench::new(&with_redis("")).await;
    let server = TlsRedis::start(&bench.folder);
    bench.redis_url = server.url("rediss");
    let ran = drain(&bench, NOW).await.exited(1);
    assert!(
        ran.stdout.contains("certificate") && ran.stdout.contains("`ca_file` in [redis]"),
        "{}",
        ran.stdout
    );

    let ca_file = server.ca_file.display().to_string();
    bench.write_catalog(&with_redis(&format!("ca_file = \"{ca_file}\"")));
    let ran = drain(&bench, NOW).await.succeeded();
    assert!(ran.stdout.contains("0 keys"), "{}", ran.stdout);

    // Relative to the folder that folga works in.
    bench.write_catalog(&with_redis("ca_file = \"ca.pem\""));
    drain(&bench, NOW).await.succeeded();

    for (file, text) in [("no.pem", "not a certificate"), ("empty.pem", "")] {
        fs::write(bench.folder.join(file), text).unwrap();
        bench.write_catalog(&with_redis(&format!("ca_file = \"{file}\"")));
        let ran = drain(&bench, NOW).await.exited(1);
        let expected = format!("`ca_file` {file} is not usable: it holds no certificate in PEM form");
        assert!(ran.stdout.contains(&expected), "{}", ran.stdout);
    }
    bench.write_catalog(&with_redis("ca_file = \"nowhere.pem\""));
    let ran = drain(&bench, NOW).await.exited(1);
    assert!(
        ran.stdout
            .contains("`ca_file` nowhere.pem is not usable: No such file"),
        "{}",
        ran.stdout
    );
    // Another authority's certificate.
    let other = Bench::new("").await;
    let stranger = TlsRedis::start(&other.folder);
    bench.write_catalog(&with_redis(&format!(
        "ca_file = \"{}\"",
        stranger.ca_file.display()
    )));
    let ran = drain(&bench, NOW).await.exited(1);
    assert!(ran.stdout.contains("is not accepted"), "{}", ran.stdout);
}

#[tokio::test]
async fn certificate_checks_cannot_be_turned_off() {
    let mut bench = Bench::new(&with_redis("")).await;
    let server = TlsRedis::start(&bench.folder);
    for end in [
        "#insecure",
        "/0#insecure",
        "/?insecure=true",
        "/0?ssl_cert_reqs=none",
    ] {
        bench.redis_url = server.url("rediss") + end;
        let ran = drain(&bench, NOW).await;
        assert_ne!(ran.code, Some(0), "{end} {}", ran.stdout);
    }
}

#[tokio::test]
async fn a_server_that_says_nothing_is_given_up_in_time() {
    let mut bench = Bench::new(&with_redis("connect_timeout = \"1s\"")).await;
    let proxy = Proxy::start(SERVERS.redis.port()).await;
    proxy.set(Behaviour::Hang);
    bench.redis_url = proxy.url(&bench.redis_url);
    let start = Instant::now();
    let ran = drain(&bench, NOW).await.exited(1);
    assert!(start.elapsed() < Duration::from_secs(4));
    assert!(
        ran.stdout.contains("within 1s (`connect_timeout`)"),
        "{}",
        ran.stdout
    );
}

/// Every byte percent-encoded.
fn encoded(text: &str) -> String {
    let bytes: Vec<_> = text.bytes().map(|byte| format!("%{byte:02X}")).collect();
    bytes.concat()
}

#[tokio::test]
async fn passwords_of_any_characters_log_in() {
    let mut bench = Bench::with_own_redis(&with_redis("")).await;
    let port = bench.own_redis.as_ref().unwrap().port();
    put(&bench, bench.key("m:messages:202503101205"), &[(b"esc-1", b"3")]).await;
    for password in [
        "p@ss#w/rd",
        "100%",
        "a b",
        ":x:",
        "q?&=+",
        "çé€",
        "\"\\'",
        "abc=",
        "%41",
    ] {
        redis::cmd("CONFIG")
            .arg(&["SET", "requirepass", password])
            .exec_async(&mut bench.redis().await)
            .await
            .unwrap();
        for login in ["", "default"] {
            bench.redis_url = format!("redis://{login}:{}@127.0.0.1:{port}/0", encoded(password));
            let ran = drain(&bench, NOW).await.succeeded();
            assert!(ran.stdout.contains("1 keys"), "{password} {}", ran.stdout);
        }
        // Apart from the URL, as it is.
        let quoted = toml_text(password);
        let direct = std::mem::replace(&mut bench.redis_url, format!("redis://127.0.0.1:{port}"));
        for user in ["", "username = \"default\"\n"] {
            bench.write_catalog(&with_redis(&format!("{user}password = {quoted}")));
            let ran = drain(&bench, NOW).await.succeeded();
            assert!(ran.stdout.contains("1 keys"), "{password} {}", ran.stdout);
        }
        bench.write_catalog(&with_redis("password = \"wrong\""));
        let ran = drain(&bench, NOW).await.exited(1);
        assert!(
            ran.stdout.contains("check `username` and `password`"),
            "{}",
            ran.stdout
        );
        bench.write_catalog(&with_redis(""));
        let ran = drain(&bench, NOW).await.exited(1);
        assert!(ran.stdout.contains("it wants a password"), "{}", ran.stdout);
        bench.redis_url = direct;
    }
    assert_eq!(total(&bench).await, 3);
}

/// A text as a TOML string.
fn toml_text(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

#[tokio::test]
async fn a_raw_password_in_a_url_is_refused_and_no_other_host_is_asked() {
    let mut bench = Bench::new(&with_redis("")).await;
    // Where a lenient reader would take `ss` or `127.0.0.1` with a part of the password for the host.
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    for url in [
        "redis://:p@ss#w/rd@h:6379/0".to_owned(),
        format!("redis://:S3NTINEL@127.0.0.1:{port}#w@h:6379/0"),
        format!("redis://:S3NTINEL@127.0.0.1:{port}/w@h:6379/0"),
        format!("redis://S3NTINEL@127.0.0.1:{port}?w@h:6379/0"),
        format!("redis://:S3NTINEL\\@127.0.0.1:{port}/0"),
        format!("redis://:S3NTINEL%@127.0.0.1:{port}/0"),
    ] {
        bench.redis_url = url;
        let ran = drain(&bench, NOW).await.exited(2);
        assert!(ran.stderr.contains("percent-encode"), "{}", ran.stderr);
        assert!(ran.stderr.contains("FOLGA_REDIS_URL"), "{}", ran.stderr);
        assert!(
            !ran.stderr.contains("S3NTINEL") && !ran.stderr.contains("p@ss"),
            "{}",
            ran.stderr
        );
    }
    assert!(
        timeout(Duration::from_millis(50), listener.accept())
            .await
            .is_err()
    );
}

#[tokio::test]
async fn a_database_number_is_honoured() {
    let mut bench = Bench::with_own_redis(&messages(&[("messages", THIRTY)])).await;
    let direct = bench.redis_url.clone();
    for (database, count) in [("", b"3"), ("/2", b"5")] {
        bench.redis_url = format!("{direct}{database}");
        put(&bench, bench.key("m:messages:202503101205"), &[(b"esc-1", count)]).await;
    }
    drain(&bench, NOW).await.succeeded();
    assert_eq!(total(&bench).await, 5);
    bench.redis_url = format!("{direct}/99");
    let ran = drain(&bench, NOW).await.exited(1);
    assert!(ran.stdout.contains("DB index is out of range"), "{}", ran.stdout);
}

#[tokio::test]
async fn no_command_tells_a_secret_whatever_is_down() {
    let bench = Bench::with_own_redis(&messages(&[("messages", THIRTY)])).await;
    let login = ["SETUSER", "worker", "on", ">S3NTINEL", "~*", "+@all"];
    redis::cmd("ACL")
        .arg(&login)
        .exec_async(&mut bench.redis().await)
        .await
        .unwrap();
    execute(
        &SERVERS.postgres_url("postgres"),
        "CREATE ROLE commands SUPERUSER LOGIN PASSWORD 'S3NTINEL'",
    )
    .await;
    let with_login = |url: &str, user: &str| {
        let mut url = url::Url::parse(url).unwrap();
        url.set_username(user).unwrap();
        url.set_password(Some("S3NTINEL")).unwrap();
        String::from(url)
    };
    let nowhere = |url: &str| {
        let mut url = url::Url::parse(url).unwrap();
        url.set_port(Some(free_port().unwrap())).unwrap();
        String::from(url)
    };
    let redis = with_login(&bench.redis_url, "worker");
    let postgres = with_login(&bench.database_url, "commands");
    let (no_redis, no_postgres) = (nowhere(&redis), nowhere(&postgres));
    let (refused_redis, refused_postgres) = (
        redis.replace("S3", "wrong-S3"),
        postgres.replace("S3", "wrong-S3"),
    );
    let report = ["report", "--env", "prod", "--days", "1"];
    let commands: [&[&str]; 5] = [&["drain"], &report, &["check"], &["retention"], &["migrate"]];
    for (redis, postgres, drain_code, others_code) in [
        (&redis, &postgres, 0, 0),
        (&no_redis, &postgres, 1, 0),
        (&refused_redis, &postgres, 1, 0),
        (&redis, &no_postgres, 1, 1),
        (&redis, &refused_postgres, 1, 1),
    ] {
        for arguments in commands {
            for format in ["text", "json"] {
                let arguments = [&["--log-format", format], arguments].concat();
                let ran = loud(bench.folga(&arguments), redis, postgres).run().await;
                let expected = match arguments[2] {
                    "drain" => drain_code,
                    // It may look into servers or not: what it finds there is told by 0 or 3.
                    "check" => ran.code.filter(|code| [0, 3].contains(code)).unwrap_or(0),
                    _ => others_code,
                };
                let told = [&*ran.stdout, &*ran.stderr].concat();
                let ran = ran.exited(expected);
                assert!(
                    !told.contains("S3NTINEL"),
                    "{arguments:?}\n{}\n{}",
                    ran.stdout,
                    ran.stderr
                );
            }
        }
    }
}

#[tokio::test]
async fn no_refusal_of_a_catalog_quotes_a_secret() {
    let bench = Bench::new("").await;
    let sound = messages(&[("messages", THIRTY)]);
    for (text, variables) in [
        ("[redis]\nurl = \"redis://:S3NTINEL@x@h:6379\"", None),
        ("[redis]\nurl = \"redis://:S3NTINEL@h:port\"", None),
        ("[redis]\nurl = \"redis://:S3NTINEL@h:6379", None),
        ("[redis]\npassword = S3NTINEL", None),
        ("[redis]\npassword = \"S3NTINEL", None),
        ("[redis]\npasword = \"S3NTINEL\"", None),
        ("[redis]\npassword = [\"S3NTINEL\"]", None),
        ("[redis]\npassword = \"\"\"\nS3NTINEL\n\"\"\"\nurl = 5", None),
        ("redis = { url = 5, password = \"S3NTINEL\" }", None),
        ("[postgres]\nurl = \"postgres://u:S3NTINEL@x@h/d\"", None),
        ("[postgres]\nurl = \"postgres:/u:S3NTINEL@h/d\"", None),
        ("[postgres]\nurl = \"host=h password=S3NTINEL\"", None),
        (
            "[ntfy]\nurl = \"https://u:S3NTINEL@ntfy.sh\"\ntopic = \"t\"",
            None,
        ),
        (
            "[ntfy]\nurl = \"https://ntfy.sh/?auth=S3NTINEL\"\ntopic = \"t\"",
            None,
        ),
        ("[ntfy]\ntopic = \"t\"\ntoken = \"S3NTINEL\"\nwrong = 1", None),
        ("", Some(("FOLGA_REDIS_URL", "redis://:S3NTINEL@x@h"))),
        ("", Some(("FOLGA_DATABASE_URL", "host=h password=S3NTINEL"))),
        ("", Some(("FOLGA_NTFY_URL", "https://u:S3NTINEL@ntfy.sh"))),
        ("", Some(("FOLGA_IDENTITY_KEY", "S3NTINEL"))),
        ("", Some(("FOLGA_LISTEN", "S3NTINEL:x"))),
    ] {
        // Keys of no table come first.
        let catalog = if text.starts_with('[') {
            format!("{sound}\n{text}\n")
        } else {
            format!("{text}\n{sound}")
        };
        bench.write_catalog(&catalog);
        let mut folga = bench
            .folga(&["check"])
            .env("FOLGA_REDIS_URL", "")
            .env("FOLGA_DATABASE_URL", "");
        if let Some((name, value)) = variables {
            folga = folga.env(name, value);
        }
        let ran = folga.run().await.exited(2);
        // An address to listen on is no secret; the rest is.
        let is_secret = variables.is_none_or(|(name, _)| name != "FOLGA_LISTEN");
        assert!(
            !is_secret || !ran.stderr.contains("S3NTINEL"),
            "{text}\n{}",
            ran.stderr
        );
        assert!(ran.stderr.contains("help: "), "{}", ran.stderr);
    }
}

async fn execute(url: &str, statement: &'static str) {
    let mut connection = PgConnection::connect(url).await.unwrap();
    sqlx::raw_sql(statement).execute(&mut connection).await.unwrap();
    connection.close().await.unwrap();
}

#[tokio::test]
async fn behind_a_transaction_pooler_nothing_fails() {
    let mut bench = Bench::new(&messages(&[("messages", THIRTY)])).await;
    let bouncer = Bouncer::start();
    execute(&SERVERS.postgres_url("postgres"), "CREATE DATABASE pooled").await;
    bench.database_url = bouncer.url(&SERVERS.postgres_url("pooled"));
    for said in ["applied: the schema is up to date", "the schema is up to date"] {
        let ran = bench.folga(&["migrate"]).run().await.succeeded();
        assert!(ran.stdout.contains(said), "{}", ran.stdout);
    }

    let key = bench.key("m:messages:202503101205");
    put(&bench, &*key, &[(b"esc-1", b"1")]).await;
    let until = Instant::now() + Duration::from_secs(10);
    let worker = async || {
        let mut rounds = 0;
        while Instant::now() < until {
            redis::cmd("HINCRBY")
                .arg(&key)
                .arg("esc-1")
                .arg(1)
                .exec_async(&mut bench.redis().await)
                .await
                .unwrap();
            drain(&bench, NOW).await.succeeded();
            rounds += 1;
        }
        rounds
    };
    let reader = async || {
        while Instant::now() < until {
            report(&bench, HOUR[0], HOUR[1]).await;
            bench.folga(&["retention"]).at(NOW).run().await.succeeded();
        }
    };
    let serving = Serving::start(bench.folga(&["--log-format", "json", "serve"])).await;
    let asker = async || {
        while Instant::now() < until {
            for path in ["/health", "/v1/runs", "/v1/calibration?env=prod&days=1"] {
                let answer = serving.get(path).await;
                assert_eq!(answer.status, 200, "{}", answer.body);
            }
        }
    };
    let (one, other, (), (), ()) = tokio::join!(worker(), worker(), reader(), reader(), asker());
    let (code, log, _) = serving.end().await;
    assert!(code == Some(0) && !log.contains("prepared statement"), "{log}");
    drain(&bench, NOW).await.succeeded();
    assert_eq!(total(&bench).await, json!(1 + one + other));
    assert!(one + other > 4, "{one} + {other} rounds");
}

#[tokio::test]
async fn two_workers_on_the_same_hour_do_not_get_in_each_others_way() {
    const IDENTITIES: usize = 500;
    const ROUNDS: usize = 50;
    let bench = Bench::new(&messages(&[("messages", THIRTY)])).await;
    let mut redis = bench.redis().await;
    let key = bench.key("m:messages:202503101205");
    let names: Vec<String> = (0..IDENTITIES).map(|n| format!("esc-{n}")).collect();
    put(&bench, &*key, &[(b"esc-0", b"0")]).await;
    for _ in 0..ROUNDS {
        let mut counts = redis::pipe();
        for name in &names {
            counts.cmd("HINCRBY").arg(&key).arg(name).arg(1);
        }
        counts.exec_async(&mut redis).await.unwrap();
        let (one, other) = tokio::join!(drain(&bench, NOW), drain(&bench, NOW));
        one.succeeded();
        other.succeeded();
    }
    let report = report(&bench, HOUR[0], HOUR[1]).await;
    let found = limit(&report, "messages");
    assert_eq!(
        (&found["total"], &found["peak"]["value"]),
        (&json!(IDENTITIES * ROUNDS), &json!(ROUNDS))
    );
}

#[tokio::test]
async fn without_a_url_a_private_postgres_is_kept_and_stopped() {
    let catalog = format!(
        "{}\n[postgres]\ndata_dir = \"kept\"\n",
        messages(&[("messages", THIRTY)])
    );
    let bench = Bench::new(&catalog).await;
    let embedded = |arguments: &[&str]| bench.folga(arguments).env("FOLGA_DATABASE_URL", "");
    put(&bench, bench.key("m:messages:202503101205"), &[(b"esc-1", b"3")]).await;
    // No migration is needed, and a report may come first.
    let arguments = [
        "report", "--env", "prod", "--format", "json", "--from", HOUR[0], "--to", HOUR[1],
    ];
    let empty = embedded(&arguments).at(HOUR[1]).run().await.succeeded().json();
    assert_eq!(limit(&empty, "messages")["status"], "no-data");
    assert!(server(&bench).is_none());
    embedded(&["drain"]).at(NOW).run().await.succeeded();
    assert!(server(&bench).is_none());
    // Two at once share it.
    let (one, other) = tokio::join!(
        embedded(&arguments).at(HOUR[1]).run(),
        embedded(&["drain"]).at(NOW).run()
    );
    other.succeeded();
    assert_eq!(limit(&one.succeeded().json(), "messages")["total"], 3);
    assert!(server(&bench).is_none());
    // It does not outlive a failure either.
    let failed = embedded(&["drain"])
        .env("FOLGA_IDENTITY_KEY", "another key than before")
        .at(NOW)
        .run()
        .await;
    failed.exited(1);
    assert!(server(&bench).is_none());
    let failed = embedded(&["drain"])
        .env("FOLGA_REDIS_URL", "redis://127.0.0.1:1")
        .at(NOW)
        .run()
        .await;
    failed.exited(1);
    assert!(server(&bench).is_none());
}

/// The process id of the private Postgres, while it runs.
fn server(bench: &Bench) -> Option<u32> {
    let text = fs::read_to_string(bench.folder.join("kept/postgres/data/postmaster.pid")).ok()?;
    let pid = text.lines().next()?.trim().parse().ok()?;
    is_alive(pid).then_some(pid)
}

#[tokio::test]
async fn a_database_without_schema_is_told_how_to_get_it() {
    let mut bench = Bench::new(&messages(&[("messages", THIRTY)])).await;
    execute(&SERVERS.postgres_url("postgres"), "CREATE DATABASE bare").await;
    bench.database_url = SERVERS.postgres_url("bare");
    for arguments in [&["drain"][..], &["retention"], &["report", "--env", "prod"]] {
        let ran = bench.folga(arguments).run().await.exited(1);
        assert!(ran.stderr.contains("run `folga migrate`"), "{}", ran.stderr);
    }
    // A schema of a later version is left alone.
    bench.folga(&["migrate"]).run().await.succeeded();
    execute(
        &bench.database_url,
        "INSERT INTO _sqlx_migrations SELECT 99990101000000, 'later', now(), true, '\\x00', 0",
    )
    .await;
    for arguments in [&["migrate"][..], &["drain"]] {
        let ran = bench.folga(arguments).run().await.exited(1);
        assert!(ran.stderr.contains("run the newer folga"), "{}", ran.stderr);
    }
}

#[tokio::test]
async fn another_identity_key_is_refused_with_the_remedy() {
    let bench = Bench::new(&messages(&[("messages", THIRTY)])).await;
    put(&bench, bench.key("m:messages:202503101205"), &[(b"esc-1", b"3")]).await;
    drain(&bench, NOW).await.succeeded();
    for arguments in [&["drain"][..], &["report", "--env", "prod"], &["retention"]] {
        let other = bench
            .folga(arguments)
            .env("FOLGA_IDENTITY_KEY", "another key than before");
        let ran = other.at(NOW).run().await.exited(1);
        assert!(
            ran.stderr
                .contains("set the former key, or start with an empty database"),
            "{}",
            ran.stderr
        );
    }
    // Another way of normalising is no different.
    let head = HEAD.replace("[scope.tenant]\n", "[scope.tenant]\nkind = \"ip\"\n");
    bench.write_catalog(&[&head, MESSAGES, &limits(&[("messages", THIRTY)])].concat());
    let ran = drain(&bench, NOW).await.exited(1);
    assert!(
        ran.stderr.contains("scope tenant") && ran.stderr.contains("put `kind` back"),
        "{}",
        ran.stderr
    );
    bench.write_catalog(&messages(&[("messages", THIRTY)]));
    assert_eq!(total(&bench).await, 3);
}

#[tokio::test]
async fn an_account_that_may_not_read_everything_says_what_it_lacks() {
    let mut bench = Bench::with_own_redis(&messages(&[("messages", THIRTY)])).await;
    let port = bench.own_redis.as_ref().unwrap().port();
    put(&bench, bench.key("m:messages:202503101205"), &[(b"esc-1", b"3")]).await;
    put_counter(&bench, "other", "1").await;
    let mut redis = bench.redis().await;
    for (user, rules, code) in [
        ("reader", vec!["~*", "+@read", "+@connection"], 0),
        ("blind", vec!["~*", "+@connection"], 1),
        ("elsewhere", vec!["~other", "+@read", "+@connection"], 1),
        ("noscan", vec!["~*", "+@read", "-scan", "+@connection"], 1),
    ] {
        let mut command = redis::cmd("ACL");
        command
            .arg("SETUSER")
            .arg(user)
            .arg("on")
            .arg(">pw")
            .arg(rules)
            .exec_async(&mut redis)
            .await
            .unwrap();
        bench.redis_url = format!("redis://{user}:pw@127.0.0.1:{port}");
        let ran = drain(&bench, NOW).await.exited(code);
        if code != 0 {
            assert!(
                ran.stdout.contains("it needs the rights +@read +@connection"),
                "{user} {}",
                ran.stdout
            );
        }
    }
    assert_eq!(total(&bench).await, 3);
}
