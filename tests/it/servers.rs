//! Private servers start, are cleaned up however their owner ends, and the kept one is shared and taken over.

use std::{
    env, fs,
    io::{self, BufRead as _, BufReader, Read as _},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
};

use folga::servers::{Embedded, Private, PrivatePostgres};
use sqlx::{Connection as _, PgConnection};

use super::support::{SERVERS, is_alive, signal, wait_until};

/// Another process of this test binary that runs one of the ignored tests below, and what it said first.
struct Owner {
    process: Child,
    said: Vec<String>,
}

impl Owner {
    fn start(test: &str, folder: &Path) -> Self {
        let mut process = Command::new(env::current_exe().unwrap())
            .args(["--ignored", "--exact", "--nocapture", test])
            .current_dir(folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let output = BufReader::new(process.stdout.take().unwrap());
        let line = output
            .lines()
            .map(Result::unwrap)
            .find_map(|line| Some(line.split_once("owner: ")?.1.to_owned()));
        let said = line
            .expect("the owner says what it owns")
            .split(' ')
            .map(str::to_owned)
            .collect();
        Self { process, said }
    }

    fn end(mut self, with: &str) {
        signal(with, self.process.id());
        self.process.wait().unwrap();
    }
}

fn wait_for_the_end() {
    _ = io::stdin().read(&mut [0]);
}

#[test]
#[ignore = "other tests run it as a process of its own"]
fn owner_of_private_servers() {
    let servers = Private::start().unwrap();
    let (redis, postgres) = (servers.redis.pid().unwrap(), servers.postgres.pid().unwrap());
    println!(
        "owner: {redis} {postgres} {}",
        servers.postgres.folder().display()
    );
    wait_for_the_end();
}

#[test]
#[ignore = "other tests run it as a process of its own"]
fn owner_of_the_kept_server() {
    let kept = Embedded::open(Path::new("kept")).unwrap();
    println!("owner: {}", kept.url());
    wait_for_the_end();
    kept.close().unwrap();
}

#[tokio::test]
async fn private_servers_are_gone_however_their_owner_ends() {
    for with in ["KILL", "INT"] {
        let owner = Owner::start("servers::owner_of_private_servers", Path::new("/"));
        let [redis, postgres] = [0, 1].map(|n| owner.said[n].parse().unwrap());
        let folder = PathBuf::from(&owner.said[2]);
        assert!(is_alive(redis) && is_alive(postgres) && folder.exists());
        // Not even a server that hears nothing is left behind.
        signal("STOP", redis);
        owner.end(with);
        wait_until("servers and folder are gone", async || {
            !is_alive(redis) && !is_alive(postgres) && !folder.exists()
        })
        .await;
    }
}

#[tokio::test]
async fn private_servers_are_gone_when_dropped_and_ask_for_their_password() {
    let servers = Private::start().unwrap();
    let folder = servers.postgres.folder().to_owned();
    let postgres = servers.postgres_url("postgres");
    PgConnection::connect(&postgres)
        .await
        .unwrap()
        .close()
        .await
        .unwrap();
    let wrong = postgres.replace('@', "x@");
    assert!(PgConnection::connect(&wrong).await.is_err());
    let no_password = format!("redis://127.0.0.1:{}", servers.redis.port());
    let mut redis = redis::Client::open(no_password)
        .unwrap()
        .get_multiplexed_async_connection()
        .await
        .unwrap();
    let refused = redis::cmd("GET")
        .arg("x")
        .exec_async(&mut redis)
        .await
        .unwrap_err();
    assert!(refused.to_string().contains("NOAUTH"), "{refused}");
    let redis = servers.redis.pid().unwrap();
    drop(servers);
    assert!(!folder.exists() && !is_alive(redis));
    assert!(PgConnection::connect(&postgres).await.is_err());
}

#[tokio::test]
async fn a_private_postgres_keeps_port_and_data_when_it_stops_and_starts_again() {
    let mut server = PrivatePostgres::start().unwrap();
    let url = server.url("postgres");
    execute(&url, "CREATE TABLE kept (id bigint)").await.unwrap();
    server.stop().unwrap();
    assert_eq!(server.pid(), None);
    assert!(execute(&url, "SELECT FROM kept").await.is_err());
    server.restart().unwrap();
    execute(&url, "SELECT FROM kept").await.unwrap();
}

#[tokio::test]
async fn the_kept_server_is_shared_and_stopped_by_the_last_who_leaves() {
    let folder = folder("shared");
    let first = Embedded::open(&folder.join("kept")).unwrap();
    execute(&first.url(), "CREATE TABLE kept (id bigint)")
        .await
        .unwrap();
    let second = Owner::start("servers::owner_of_the_kept_server", &folder);
    assert_eq!(second.said[0], first.url());
    first.close().unwrap();
    execute(&second.said[0], "SELECT FROM kept").await.unwrap();

    // A killed user leaves it running: the next takes it over with all it holds, and stops it as the last one.
    let url = second.said[0].clone();
    second.end("KILL");
    execute(&url, "SELECT FROM kept").await.unwrap();
    let next = Embedded::open(&folder.join("kept")).unwrap();
    assert_eq!(next.url(), url);
    next.close().unwrap();
    assert!(execute(&url, "SELECT FROM kept").await.is_err());

    let again = Embedded::open(&folder.join("kept")).unwrap();
    execute(&again.url(), "SELECT FROM kept").await.unwrap();
    // Dropping is closing.
    let url = again.url();
    drop(again);
    assert!(execute(&url, "SELECT FROM kept").await.is_err());
}

#[tokio::test]
async fn the_kept_server_starts_after_a_crash_though_its_process_number_has_a_new_bearer() {
    let folder = folder("crashed").join("kept");
    let kept = Embedded::open(&folder).unwrap();
    execute(&kept.url(), "CREATE TABLE kept (id bigint)")
        .await
        .unwrap();
    let pid_file = folder.join("postgres/data/postmaster.pid");
    let text = fs::read_to_string(&pid_file).unwrap();
    let pid = text.lines().next().unwrap();
    signal("KILL", pid.parse().unwrap());
    wait_until("Postgres is gone", async || {
        execute(&kept.url(), "SELECT").await.is_err()
    })
    .await;
    kept.close().unwrap();
    // As after a reboot: some other process has the number, here a child of this one that the same user owns.
    let mut bearer = Command::new("sleep").arg("60").spawn().unwrap();
    fs::write(&pid_file, text.replacen(pid, &bearer.id().to_string(), 1)).unwrap();

    let again = Embedded::open(&folder).unwrap();
    execute(&again.url(), "SELECT FROM kept").await.unwrap();
    again.close().unwrap();
    bearer.kill().unwrap();
    bearer.wait().unwrap();
}

#[test]
fn a_folder_that_the_servers_account_cannot_enter_is_refused_with_the_remedy() {
    if fs::metadata("/proc/self")
        .map(|us| std::os::unix::fs::MetadataExt::uid(&us))
        .unwrap()
        != 0
    {
        return; // Only where we are root is that another account than ours.
    }
    let closed = folder("closed");
    fs::set_permissions(&closed, std::os::unix::fs::PermissionsExt::from_mode(0o700)).unwrap();
    let error = format!("{:#}", Embedded::open(&closed.join("kept")).unwrap_err());
    assert!(
        error.contains(&format!("can't enter {}", closed.display())),
        "{error}"
    );
    assert!(error.contains("set `data_dir` of [postgres]"), "{error}");
}

/// A folder that is gone at the end of the run, with every server in it.
fn folder(name: &str) -> PathBuf {
    let folder = SERVERS.postgres.folder().join(name);
    fs::create_dir(&folder).unwrap();
    folder
}

async fn execute(url: &str, statement: &'static str) -> sqlx::Result<()> {
    let mut connection = PgConnection::connect(url).await?;
    sqlx::raw_sql(statement).execute(&mut connection).await?;
    connection.close().await
}
