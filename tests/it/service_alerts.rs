//! Alerts of the service itself: Redis, Postgres, sources, the command budget.

use chrono::{DateTime, TimeDelta, Utc};
use folga::{
    servers::PrivatePostgres,
    worker::{board::Board, overdue::Overdue},
};

use super::support::{
    Bench, NtfyServer, Serving, Watch, at,
    catalogs::{HEAD, MESSAGES, THIRTY, limits, messages, put, reset_commands},
    wait_until,
};

fn catalog() -> String {
    messages(&[("messages", THIRTY)])
}

async fn count(bench: &Bench, minute: &str, count: u64) {
    let key = bench.key(&format!("m:messages:{minute}"));
    put(bench, key, &[(b"esc-1", count.to_string().as_bytes())]).await;
}

/// Noon and so many minutes.
fn noon(minutes: i64) -> DateTime<Utc> {
    at("2025-03-10T12:00:06Z") + TimeDelta::minutes(minutes)
}

#[tokio::test]
async fn an_hour_without_redis_is_one_alert_and_one_end_of_it() {
    // Two sources in two environments, so that four drains fail each time.
    let others = MESSAGES
        .replace("\"gateway\"", "\"portal\"")
        .replace("}m:", "}p:");
    let staging = "[[environment]]\nname = \"staging\"\nprefix = \"PREFIX-stg:\"\n";
    let catalog = [HEAD, staging, MESSAGES, &others, &limits(&[("messages", THIRTY)])].concat();
    let mut watch = Watch::with_own_redis(&catalog, "").await;
    count(&watch.bench, "202503101158", 3).await;
    watch.run(noon(0)).await;
    watch.bench.own_redis.as_mut().unwrap().stop().unwrap();
    for minutes in (5..=60).step_by(5) {
        for run in watch.run(noon(minutes)).await {
            assert!(run.error.is_some());
        }
    }
    let [down] = &watch.server.taken()[..] else {
        panic!("{:?}", watch.server.titles())
    };
    assert_eq!(
        (&down["title"], &down["priority"]),
        (&"folga can't reach Redis".into(), &5.into())
    );
    assert!(
        down["message"].as_str().unwrap().contains("check that it runs"),
        "{down}"
    );

    watch.bench.own_redis.as_mut().unwrap().restart().unwrap();
    // It kept nothing, and whoever writes to it went on.
    count(&watch.bench, "202503101158", 3).await;
    for minute in 0..60 {
        count(&watch.bench, &format!("2025031012{minute:02}"), 2).await;
    }
    watch.run(noon(65)).await;
    assert_eq!(watch.server.titles()[1..], ["folga reaches Redis again"]);
    assert_eq!(
        watch.server.taken()[1]["message"],
        "It could not be reached from 12:05 on 10 Mar to 13:05 on 10 Mar."
    );
    let total: i64 = sqlx::query_scalar("SELECT sum(total)::bigint FROM hourly")
        .fetch_one(&watch.bench.pool)
        .await
        .unwrap();
    assert_eq!(total, 123);
    watch.run(noon(70)).await;
    assert_eq!(watch.server.taken().len(), 2);
}

#[tokio::test]
async fn a_gap_that_can_no_longer_be_filled_is_told_with_its_minutes() {
    let watch = Watch::new(&catalog(), "").await;
    count(&watch.bench, "202503101158", 3).await;
    watch.run(noon(0)).await;
    // Two hours live the keys; five hours later three of them are out of reach.
    watch.run(noon(300)).await;
    let [gap] = &watch.server.taken()[..] else {
        panic!("{:?}", watch.server.titles())
    };
    // From 12:00 to 15:00: 15:00 was the last minute whose key had died by 17:00:06.
    assert_eq!(gap["title"], "prod: gateway has a gap of 181 min");
    assert!(
        gap["message"]
            .as_str()
            .unwrap()
            .contains("12:00 on 10 Mar to 15:01 on 10 Mar"),
        "{gap}"
    );
    watch.run(noon(305)).await;
    assert_eq!(watch.server.taken().len(), 1);
}

#[tokio::test]
async fn keys_that_are_refused_are_told_once_until_there_are_none() {
    let watch = Watch::new(&catalog(), "").await;
    for minutes in 0..4 {
        let minute = noon(minutes * 5 - 2).format("%Y%m%d%H%M");
        let key = watch.bench.key(&format!("m:messages:{minute}"));
        redis::cmd("SET")
            .arg(&key)
            .arg(5)
            .arg("EX")
            .arg(3600)
            .exec_async(&mut watch.bench.redis().await)
            .await
            .unwrap();
        watch.run(noon(minutes * 5)).await;
        redis::cmd("DEL")
            .arg(&key)
            .exec_async(&mut watch.bench.redis().await)
            .await
            .unwrap();
    }
    watch.run(noon(20)).await;
    // That their minutes are gaps is told as well.
    let titles: Vec<String> = (watch.server.titles().into_iter())
        .filter(|title| !title.contains("gap"))
        .collect();
    assert_eq!(
        titles,
        [
            "prod: gateway has keys that are refused",
            "prod: gateway has no more keys that are refused"
        ]
    );
}

#[tokio::test]
async fn a_new_reason_for_refused_keys_does_not_hide_behind_an_old_one() {
    let watch = Watch::new(&catalog(), "").await;
    // Texts that are no counts stay; an empty identity comes and goes.
    for minutes in 0..12 {
        let minute = noon(minutes * 5 - 2).format("%Y%m%d%H%M");
        let key = watch.bench.key(&format!("m:messages:{minute}"));
        let odd: &[u8] = if minutes >= 3 && minutes % 2 == 1 {
            b""
        } else {
            b"esc-2"
        };
        put(&watch.bench, &key, &[(b"esc-1", b"many"), (odd, b"3")]).await;
        watch.run(noon(minutes * 5)).await;
    }
    let taken = watch.server.taken();
    let told: Vec<_> = (taken.iter())
        .filter(|own| own["title"] == "prod: gateway has keys that are refused")
        .map(|own| own["message"].as_str().unwrap())
        .collect();
    let [first, second] = told[..] else {
        panic!("{told:?}")
    };
    assert!(!first.contains("does not fit"), "{first}");
    assert!(second.contains("does not fit"), "{second}");
}

#[tokio::test]
async fn a_redis_that_comes_and_goes_is_told_once_in_a_cooldown() {
    let mut watch = Watch::with_own_redis(&catalog(), "").await;
    watch.run(noon(0)).await;
    for minutes in 1..=60 {
        let redis = watch.bench.own_redis.as_mut().unwrap();
        if minutes % 2 == 1 {
            redis.stop().unwrap();
        } else {
            redis.restart().unwrap();
        }
        watch.run(noon(minutes)).await;
    }
    let titles = watch.server.titles();
    let count = |title: &str| titles.iter().filter(|own| **own == title).count();
    let (down, up) = (
        count("folga can't reach Redis"),
        count("folga reaches Redis again"),
    );
    assert_eq!((down, up, titles.len()), (4, 4, 8), "{titles:?}");
}

#[tokio::test]
async fn drains_are_overdue_only_by_their_own_fault() {
    let others = MESSAGES
        .replace("\"gateway\"", "\"portal\"")
        .replace("}m:", "}p:");
    let catalog = [HEAD, MESSAGES, &others, &limits(&[("messages", THIRTY)])].concat();
    let mut watch = Watch::with_own_redis(&catalog, "").await;
    let board = Board::new(watch.catalog(), noon(0), &[]);
    let mut overdue = Overdue::new(noon(0));
    // Redis is down for an hour: that is told, and nothing else.
    watch.bench.own_redis.as_mut().unwrap().stop().unwrap();
    for minutes in (5..=60).step_by(5) {
        watch.drain(noon(minutes)).await;
        overdue.look(&watch.jobs(noon(minutes)), &board).await.unwrap();
    }
    // The first run after it leaves the others their time.
    watch.bench.own_redis.as_mut().unwrap().restart().unwrap();
    watch.drain(noon(65)).await;
    overdue.look(&watch.jobs(noon(65)), &board).await.unwrap();
    // One that is being drained may still end.
    board.lines[1].begin(noon(65));
    overdue.look(&watch.jobs(noon(72)), &board).await.unwrap();
    watch.send(noon(72)).await;
    assert_eq!(
        watch.server.titles(),
        ["folga reaches Redis again", "prod: gateway has not been drained"]
    );
    overdue.look(&watch.jobs(noon(82)), &board).await.unwrap();
    watch.send(noon(82)).await;
    assert_eq!(watch.server.titles()[2..], ["prod: portal has not been drained"]);
    watch.run(noon(85)).await;
    assert_eq!(
        watch.server.titles()[3..],
        ["prod: gateway is drained again", "prod: portal is drained again"]
    );
}

#[tokio::test]
async fn a_source_that_fails_is_not_overdue_as_well() {
    let mut watch = Watch::with_own_redis(&catalog(), "").await;
    let board = Board::new(watch.catalog(), noon(0), &[]);
    let mut overdue = Overdue::new(noon(0));
    redis::cmd("ACL")
        .arg(&["SETUSER", "nobody", "on", ">secret", "+@connection"])
        .exec_async(&mut watch.bench.redis().await)
        .await
        .unwrap();
    watch.login("nobody", "secret");
    for minutes in (5..=30).step_by(5) {
        watch.run(noon(minutes)).await;
        overdue.look(&watch.jobs(noon(minutes)), &board).await.unwrap();
    }
    watch.send(noon(31)).await;
    let [failing] = &watch.server.taken()[..] else {
        panic!("{:?}", watch.server.titles())
    };
    assert_eq!(failing["title"], "prod: gateway can't be drained");
    assert!(
        failing["message"].as_str().unwrap().contains("+@read"),
        "{failing}"
    );
}

/// Has the database refuse the records of runs, or not.
async fn refuse_records(bench: &Bench, refuse: bool) {
    let text = if refuse {
        "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'refused'; END $$;
         CREATE TRIGGER refuse BEFORE INSERT ON runs EXECUTE FUNCTION refuse()"
    } else {
        "DROP TRIGGER refuse ON runs"
    };
    sqlx::raw_sql(text).execute(&bench.pool).await.unwrap();
}

#[tokio::test]
async fn a_gap_is_told_although_the_record_of_its_run_was_lost() {
    let watch = Watch::new(&catalog(), "").await;
    count(&watch.bench, "202503101158", 3).await;
    watch.run(noon(0)).await;
    refuse_records(&watch.bench, true).await;
    watch.run(noon(300)).await;
    assert_eq!(watch.server.taken().len(), 0);
    refuse_records(&watch.bench, false).await;
    watch.run(noon(301)).await;
    assert_eq!(watch.server.titles(), ["prod: gateway has a gap of 181 min"]);
}

#[tokio::test]
async fn lost_counts_are_told_although_the_record_of_their_run_was_lost() {
    let watch = Watch::new(&catalog(), "").await;
    count(&watch.bench, "202503101158", 3).await;
    watch.run(noon(0)).await;
    redis::cmd("DEL")
        .arg(watch.bench.key("m:messages:202503101158"))
        .exec_async(&mut watch.bench.redis().await)
        .await
        .unwrap();
    refuse_records(&watch.bench, true).await;
    watch.run(noon(1)).await;
    assert_eq!(watch.server.titles(), ["prod: gateway has a gap of 1 min"]);
    refuse_records(&watch.bench, false).await;
    watch.run(noon(2)).await;
    assert_eq!(watch.server.taken().len(), 1);
}

#[tokio::test]
async fn what_left_the_catalog_is_alerted_no_longer() {
    let others = MESSAGES
        .replace("\"gateway\"", "\"portal\"")
        .replace("}m:", "}p:");
    let staging = "[[environment]]\nname = \"staging\"\nprefix = \"PREFIX-stg:\"\n";
    let with = |more: &[&str]| {
        [&[HEAD], more, &[MESSAGES, &limits(&[("messages", THIRTY)])]]
            .concat()
            .concat()
    };
    let mut watch = Watch::new(&with(&[staging, &others]), "").await;
    let staged = format!("{}-stg:m:messages:202503101203", watch.bench.prefix);
    put(&watch.bench, staged, &[(b"esc-1", b"35")]).await;
    let odd = watch.bench.key("p:messages:202503101203");
    put(&watch.bench, odd, &[(b"esc-1", b"many")]).await;
    watch.run(noon(5)).await;
    let before = watch.server.titles().len();
    watch.change(&with(&[]));
    watch.run(noon(10)).await;
    watch.run(noon(15)).await;
    let mut titles = watch.server.titles()[before..].to_vec();
    titles.sort();
    assert_eq!(titles, ["prod: portal is no longer watched"]);
    // That of a limit is taken back.
    assert_eq!(watch.server.cleared().len(), 1);
}

#[tokio::test]
async fn keys_without_ttl_are_told() {
    let watch = Watch::new(&catalog(), "").await;
    // One that lives too long has a TTL all the same.
    for (minute, expires) in [("202503100900", false), ("202503100901", true)] {
        let key = watch.bench.key(&format!("m:messages:{minute}"));
        put(&watch.bench, &key, &[(b"esc-1", b"1")]).await;
        if !expires {
            redis::cmd("PERSIST")
                .arg(&key)
                .exec_async(&mut watch.bench.redis().await)
                .await
                .unwrap();
        }
    }
    watch.run(noon(0)).await;
    watch.run(noon(20)).await;
    // A sample of nine o'clock also tells that nobody read the hour after it.
    let taken = watch.server.taken();
    let own: Vec<_> = taken
        .iter()
        .filter(|own| own["title"] != "prod: gateway has a gap of 61 min")
        .collect();
    let [told] = own[..] else {
        panic!("{:?}", watch.server.titles())
    };
    assert_eq!(told["title"], "prod: gateway has keys without TTL");
    // Keys may name identities.
    assert_eq!(
        told["message"],
        "At least 1 never expire. Whoever writes them has to set an expiry."
    );
}

#[tokio::test]
async fn a_days_budget_of_commands_is_told_once() {
    let few = format!(
        "[redis]\ndaily_commands = 3\n{}",
        catalog().trim_start_matches("\ntimezone = \"UTC\"")
    );
    let watch = Watch::with_own_redis(&["timezone = \"UTC\"\n", &few].concat(), "").await;
    reset_commands(&mut watch.bench.redis().await).await;
    for minutes in (0..60).step_by(5) {
        count(
            &watch.bench,
            &noon(minutes - 2).format("%Y%m%d%H%M").to_string(),
            3,
        )
        .await;
        watch.run(noon(minutes)).await;
    }
    assert_eq!(watch.server.titles(), ["More than 3 Redis commands today"]);
    // The next day begins anew.
    let next = at("2025-03-11T00:05:06Z");
    watch.send(next).await;
    assert_eq!(watch.server.taken().len(), 1);
}

#[tokio::test]
async fn a_missing_postgres_is_told_without_it() {
    let server = NtfyServer::start().await;
    let mut bench = Bench::new(&[&*catalog(), &server.section("")].concat()).await;
    let mut postgres = PrivatePostgres::start().unwrap();
    bench.database_url = postgres.url("postgres");
    bench.folga(&["migrate"]).run().await.succeeded();
    postgres.stop().unwrap();
    // From cron: once, as Redis remembers it.
    for _ in 0..2 {
        bench.folga(&["drain"]).run().await.exited(1);
    }
    let [down] = &server.taken()[..] else {
        panic!("{:?}", server.titles())
    };
    assert_eq!(
        (&down["title"], &down["priority"]),
        (&"folga can't use its Postgres".into(), &5.into())
    );
    assert!(
        down["message"].as_str().unwrap().contains("check that it runs"),
        "{down}"
    );
    // A service that is started over and over tells it once too, and not at all where Redis can't remember it.
    redis::cmd("DEL")
        .arg(bench.key("ac:folga:service:postgres:critical"))
        .arg(bench.key("ac:folga:service:postgres:open"))
        .exec_async(&mut bench.redis().await)
        .await
        .unwrap();
    for _ in 0..2 {
        bench.folga(&["serve"]).run().await.exited(1);
    }
    assert_eq!(server.taken().len(), 2);
    let nowhere = bench
        .folga(&["serve"])
        .env("FOLGA_REDIS_URL", "redis://127.0.0.1:1");
    nowhere.run().await.exited(1);
    assert_eq!(server.taken().len(), 2);
    // The first run that finds it back says so.
    postgres.restart().unwrap();
    for _ in 0..2 {
        bench.folga(&["drain"]).run().await.succeeded();
    }
    assert_eq!(server.titles()[2..], ["folga uses its Postgres again"]);
}

#[tokio::test]
async fn a_database_that_is_there_but_not_as_it_should_be_is_no_outage() {
    let server = NtfyServer::start().await;
    let mut bench = Bench::new(&[&*catalog(), &server.section("")].concat()).await;
    let other_key = |arguments: &[&str]| {
        bench
            .folga(arguments)
            .env("FOLGA_IDENTITY_KEY", "quite another key")
    };
    bench.folga(&["drain"]).run().await.succeeded();
    for arguments in [&["serve"], &["drain"]] {
        let ran = other_key(arguments).run().await.exited(1);
        assert!(ran.stderr.contains("is not the key"), "{}", ran.stderr);
    }
    let postgres = PrivatePostgres::start().unwrap();
    bench.database_url = postgres.url("postgres");
    for arguments in [&["serve"], &["drain"]] {
        let ran = bench.folga(arguments).run().await.exited(1);
        assert!(ran.stderr.contains("run `folga migrate`"), "{}", ran.stderr);
    }
    assert_eq!(server.titles(), Vec::<String>::new());
}

#[tokio::test]
async fn a_service_tells_that_postgres_went_and_came_back() {
    let server = NtfyServer::start().await;
    let every_second = catalog().replace("0 */5 * * * *", "* * * * * *");
    let mut bench = Bench::new(&[&*every_second, &server.section("")].concat()).await;
    let mut postgres = PrivatePostgres::start().unwrap();
    bench.database_url = postgres.url("postgres");
    bench.folga(&["migrate"]).run().await.succeeded();
    let serving = Serving::start(bench.folga(&["--log-format", "json", "serve"])).await;
    wait_until("it has drained", async || serving.source().await["state"] == "ok").await;
    postgres.stop().unwrap();
    wait_until("it is told", async || {
        server.titles() == ["folga can't use its Postgres"]
    })
    .await;
    postgres.restart().unwrap();
    wait_until("the end is told", async || {
        server.titles() == ["folga can't use its Postgres", "folga uses its Postgres again"]
    })
    .await;
    assert_eq!(serving.end().await.0, Some(0));
}

#[tokio::test]
async fn a_test_message_says_what_the_server_can_do() {
    let server = NtfyServer::start().await;
    let bench = Bench::new(&[&*catalog(), &server.section("")].concat()).await;
    // A system without certificates will do, as no TLS is asked for.
    let test = async || {
        let bare = bench.folga(&["alerts", "test"]).env("SSL_CERT_FILE", "/nowhere");
        bare.env("SSL_CERT_DIR", "/nowhere").run().await
    };
    let ran = test().await.succeeded();
    assert!(
        ran.stdout
            .contains("has taken it as m1; it updates notifications in place"),
        "{}",
        ran.stdout
    );
    server.echo(false);
    assert!(test().await.succeeded().stdout.contains("can't update"));
    server.want("tk_right");
    let ran = test().await.exited(1);
    assert!(
        ran.stderr
            .contains("ntfy lets nobody in like this (403: forbidden)"),
        "{}",
        ran.stderr
    );
    let over_tls = bench
        .folga(&["alerts", "test"])
        .env("FOLGA_NTFY_URL", "https://127.0.0.1:1");
    let over_tls = over_tls
        .env("SSL_CERT_FILE", "/nowhere")
        .env("SSL_CERT_DIR", "/nowhere");
    let ran = over_tls.run().await.exited(1);
    assert!(ran.stderr.contains("ca-certificates"), "{}", ran.stderr);
    let bare = Bench::new(&catalog()).await;
    let ran = bare.folga(&["alerts", "test"]).run().await.exited(2);
    assert!(ran.stderr.contains("FOLGA_NTFY_TOPIC"), "{}", ran.stderr);
}

#[tokio::test]
async fn a_clock_that_is_behind_doubts_nothing_that_was_read_in_time() {
    let watch = Watch::new(&catalog(), "").await;
    for minute in 0..180 {
        let start = at("2025-03-10T12:00:00Z") + TimeDelta::minutes(minute);
        count(&watch.bench, &start.format("%Y%m%d%H%M").to_string(), 2).await;
        if minute % 5 == 0 {
            watch.run(start + TimeDelta::seconds(6)).await;
        }
    }
    // The keys of the first hour are gone: their life is over.
    for minute in 0..60 {
        let key = format!("m:messages:2025031012{minute:02}");
        redis::cmd("DEL")
            .arg(watch.bench.key(&key))
            .exec_async(&mut watch.bench.redis().await)
            .await
            .unwrap();
    }
    for minutes in (65..180).step_by(5) {
        watch.run(noon(minutes)).await;
    }
    assert_eq!(watch.server.titles(), Vec::<String>::new());
    let mut runs = watch.drain(noon(180)).await;
    assert_eq!(runs.remove(0).gaps.len(), 0);
    let doubt = sqlx::raw_sql("SELECT FROM coverage WHERE doubtful <> 0")
        .fetch_all(&watch.bench.pool)
        .await
        .unwrap();
    assert_eq!(doubt.len(), 0);
}
