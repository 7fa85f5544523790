//! Secrets show up nowhere.

use sqlx::{Connection as _, PgConnection};

use super::{
    http::CATALOG,
    support::{Bench, Folga, SERVERS, Serving, wait_until},
};

const SENTINEL: &str = "S3NTINEL";

/// Everything secret there is holds the sentinel, and everything is logged.
pub fn loud(folga: Folga, redis: &str, postgres: &str) -> Folga {
    folga
        .env("FOLGA_REDIS_URL", redis)
        .env("FOLGA_DATABASE_URL", postgres)
        .env("FOLGA_NTFY_TOPIC", "alerts")
        .env("FOLGA_NTFY_TOKEN", "tk_S3NTINEL")
        .env("FOLGA_API_TOKEN", "token S3NTINEL")
        .env("FOLGA_IDENTITY_KEY", "an identity key S3NTINEL")
        .env("RUST_LOG", "trace")
}

#[tokio::test]
async fn secrets_are_in_no_log_and_no_answer() {
    let bench = Bench::with_own_redis(CATALOG).await;
    let login = ["SETUSER", "worker", "on", ">S3NTINEL\"/1", "~*", "+@all"];
    redis::cmd("ACL")
        .arg(&login)
        .exec_async(&mut bench.redis().await)
        .await
        .unwrap();
    let mut admin = PgConnection::connect(&SERVERS.postgres_url("postgres"))
        .await
        .unwrap();
    sqlx::raw_sql("CREATE ROLE sentinel SUPERUSER LOGIN PASSWORD 'S3NTINEL%2'")
        .execute(&mut admin)
        .await
        .unwrap();
    let with_login = |url: &str, user: &str, password: &str| {
        let mut url = url::Url::parse(url).unwrap();
        url.set_username(user).unwrap();
        url.set_password(Some(password)).unwrap();
        String::from(url)
    };
    let redis = with_login(&bench.redis_url, "worker", "S3NTINEL%22%2F1");
    let postgres = with_login(&bench.database_url, "sentinel", "S3NTINEL%252");
    let nowhere = |url: &str| {
        let mut url = url::Url::parse(url).unwrap();
        url.set_port(Some(folga::servers::free_port().unwrap())).unwrap();
        String::from(url)
    };

    let arguments = ["--log-format", "json", "serve"];
    for redis in [&redis, &nowhere(&redis), &redis.replace("S3", "wrong-S3")] {
        let serving = Serving::start(loud(bench.folga(&arguments), redis, &postgres)).await;
        let token = "Authorization: Bearer token S3NTINEL\r\n";
        wait_until("a drain ends", async || {
            let health = serving.ask("GET", "/health", token).await.json();
            health["sources"][0]["last_run"].is_string()
        })
        .await;
        for path in [
            "/health",
            "/metrics",
            "/v1/runs",
            "/v1/alerts",
            "/v1/calibration?env=prod",
            "/v1/calibration?env=S3",
        ] {
            let answer = serving.ask("GET", path, token).await;
            assert!(!answer.body.contains(SENTINEL), "{answer:?}");
        }
        let (code, log, _) = serving.end().await;
        assert_eq!(code, Some(0), "{log}");
        assert!(log.contains("DEBUG"), "{log}");
        assert!(!log.contains(SENTINEL), "{}", shown(&log));
    }
    for postgres in [nowhere(&postgres), postgres.replace("S3", "wrong-S3")] {
        for arguments in [&["serve"][..], &["drain"], &["migrate"]] {
            let folga = loud(bench.folga(arguments), &redis, &postgres).env("FOLGA_LISTEN", "127.0.0.1:0");
            let ran = folga.run().await.exited(1);
            assert!(!(ran.stderr + &ran.stdout).contains(SENTINEL));
        }
    }
}

/// The lines that tell too much.
fn shown(log: &str) -> String {
    log.lines()
        .filter(|line| line.contains(SENTINEL))
        .collect::<Vec<_>>()
        .join("\n")
}
