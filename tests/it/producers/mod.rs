//! The shipped examples: what their producers write, drained through their catalogs, and the figures that come of it.

mod front;
mod gateway;
mod messaging;
mod university;

use std::{
    path::{Path, PathBuf},
    process::Stdio,
};

use redis::aio::MultiplexedConnection;
use serde_json::Value;
use tokio::{io::AsyncWriteExt as _, process::Command};

use super::support::{Bench, Folga};

/// A file of this repository.
fn file(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// A world with a Redis of its own, so that the examples keep their prefixes, and with an account that may only read.
async fn world() -> Bench {
    let mut bench = Bench::with_own_redis("").await;
    let reader = "ACL SETUSER reader on >secret ~* +@read +@connection";
    let mut words = reader.split(' ');
    let mut command = redis::cmd(words.next().expect("a command"));
    (command.arg(words.collect::<Vec<_>>()))
        .exec_async(&mut bench.redis().await)
        .await
        .expect("an account can be made");
    let port = bench.own_redis.as_ref().expect("its own Redis").port();
    bench.redis_url = format!("redis://reader:secret@127.0.0.1:{port}");
    bench
}

/// A connection that may write, as producers have.
async fn writer(bench: &Bench) -> MultiplexedConnection {
    let url = bench.own_redis.as_ref().expect("its own Redis").url();
    let client = redis::Client::open(url).expect("a good URL");
    (client.get_multiplexed_async_connection().await).expect("Redis is there")
}

/// The catalog of an example.
fn example(name: &str) -> PathBuf {
    file(&format!("examples/{name}.toml"))
}

/// The real binary with a catalog.
fn folga(bench: &Bench, catalog: &Path, arguments: &[&str]) -> Folga {
    let config = ["--config", catalog.to_str().expect("a path in UTF-8")];
    bench.folga(&[&config, arguments].concat())
}

/// What a catalog's report says of production between two instants, as of the second.
async fn report(bench: &Bench, catalog: &Path, [from, to]: [&str; 2]) -> Value {
    let arguments = [
        "report", "--env", "prod", "--format", "json", "--from", from, "--to", to,
    ];
    folga(bench, catalog, &arguments)
        .at(to)
        .run()
        .await
        .succeeded()
        .json()
}

/// All keys and the seconds they have left.
async fn lives(redis: &mut MultiplexedConnection) -> Vec<(String, i64)> {
    let mut keys: Vec<String> = redis::cmd("KEYS")
        .arg("*")
        .query_async(redis)
        .await
        .expect("KEYS");
    keys.sort_unstable();
    let mut lives = Vec::new();
    for key in keys {
        let left = redis::cmd("TTL").arg(&key).query_async(redis).await.expect("TTL");
        lives.push((key, left));
    }
    lives
}

/// Runs a script with Node.
async fn node(script: &str, module: &str, asked: &Value) -> (Value, String) {
    run(Path::new("node"), &[script, module], asked).await
}

/// Runs a script with the Python that has the producers' libraries.
async fn python(script: &str, folder: &str, asked: &Value) -> (Value, String) {
    run(
        &file("target/producers/python/bin/python"),
        &[script, folder],
        asked,
    )
    .await
}

/// Runs a program on files of this repository, with what it is asked on its standard input: what it prints, and its log.
async fn run(program: &Path, files: &[&str], asked: &Value) -> (Value, String) {
    let mut child = Command::new(program)
        .args(files.iter().map(|path| file(path)))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .unwrap_or_else(|error| panic!("{}: {error}: run scripts/producers first", program.display()));
    let mut input = child.stdin.take().expect("stdin is a pipe");
    let asked = asked.to_string();
    input.write_all(asked.as_bytes()).await.expect("it reads");
    drop(input);
    let output = child.wait_with_output().await.expect("it ends");
    let log = String::from_utf8(output.stderr).expect("a log in UTF-8");
    assert!(output.status.success(), "{}: {log}", output.status);
    let printed = serde_json::from_slice(&output.stdout).expect("JSON on its standard output");
    (printed, log)
}
