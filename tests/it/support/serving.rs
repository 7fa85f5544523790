//! `folga serve`, running.

use std::{
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

use serde_json::Value;
use tokio::{
    io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader},
    net::TcpStream,
    process::Child,
    task::JoinHandle,
};

use super::{Folga, signal, wait_until};

/// A service that is up. It is killed when this is dropped.
pub struct Serving {
    child: Child,
    address: String,
    log: Arc<Mutex<String>>,
    reading: JoinHandle<()>,
}

/// What came back for a request.
#[derive(Debug)]
pub struct Answer {
    /// The status.
    pub status: u16,
    /// Status line and headers, in small letters.
    pub head: String,
    /// The same as they were sent.
    raw_head: String,
    /// The body.
    pub body: String,
    /// How long it took.
    pub took: Duration,
}

impl Serving {
    /// Starts one on a free port and waits until it listens.
    pub async fn start(folga: Folga) -> Self {
        let mut child = folga.env("FOLGA_LISTEN", "127.0.0.1:0").spawn();
        let mut lines = BufReader::new(child.stderr.take().expect("stderr is a pipe")).lines();
        let log = Arc::new(Mutex::new(String::new()));
        let written = Arc::clone(&log);
        let reading = tokio::spawn(async move {
            while let Ok(Some(line)) = lines.next_line().await {
                let mut log = written.lock().expect("nobody panicked");
                log.push_str(&line);
                log.push('\n');
            }
        });
        let mut serving = Self {
            child,
            address: String::new(),
            log,
            reading,
        };
        wait_until("the service listens", async || {
            let log = serving.log();
            let Some(line) = log.lines().find(|line| line.contains("\"listening\"")) else {
                assert!(!serving.reading.is_finished(), "the service ended:\n{log}");
                return false;
            };
            let line: Value = serde_json::from_str(line).expect("a JSON log");
            line["address"]
                .as_str()
                .expect("an address")
                .clone_into(&mut serving.address);
            true
        })
        .await;
        serving
    }

    /// What it has logged so far.
    pub fn log(&self) -> String {
        self.log.lock().expect("nobody panicked").clone()
    }

    /// Asks it, without a token.
    pub async fn get(&self, path: &str) -> Answer {
        self.ask("GET", path, "").await
    }

    /// Asks it with further header lines, each with its end.
    pub async fn ask(&self, method: &str, path: &str, headers: &str) -> Answer {
        self.ask_with(method, path, headers, "").await
    }

    /// Sends it a form.
    pub async fn post(&self, path: &str, form: &str) -> Answer {
        let headers = format!(
            "Content-Type: application/x-www-form-urlencoded\r\nContent-Length: {}\r\n",
            form.len()
        );
        self.ask_with("POST", path, &headers, form).await
    }

    /// Sends it a body.
    pub async fn ask_with(&self, method: &str, path: &str, headers: &str, body: &str) -> Answer {
        let start = Instant::now();
        let mut stream = TcpStream::connect(&self.address).await.expect("it listens");
        let request = format!(
            "{method} {path} HTTP/1.1\r\nHost: {}\r\n{headers}Connection: close\r\n\r\n{body}",
            self.address
        );
        stream.write_all(request.as_bytes()).await.expect("it reads");
        let mut answer = String::new();
        stream
            .read_to_string(&mut answer)
            .await
            .expect("it answers in UTF-8");
        let (head, body) = answer.split_once("\r\n\r\n").expect("an HTTP answer");
        let status = head
            .split(' ')
            .nth(1)
            .expect("a status")
            .parse()
            .expect("a number");
        Answer {
            status,
            head: head.to_lowercase(),
            raw_head: head.to_owned(),
            body: body.to_owned(),
            took: start.elapsed(),
        }
    }

    /// What `/health` says of its first source.
    pub async fn source(&self) -> Value {
        self.get("/health").await.json()["sources"][0].clone()
    }

    /// Sends it a signal.
    pub fn signal(&self, name: &str) {
        signal(name, self.child.id().expect("it runs"));
    }

    /// Asks it to end, and gives its exit code, its log and how long it took.
    pub async fn end(self) -> (Option<i32>, String, Duration) {
        self.signal("TERM");
        self.ended().await
    }

    /// Waits until it has ended.
    pub async fn ended(mut self) -> (Option<i32>, String, Duration) {
        let start = Instant::now();
        let status = tokio::time::timeout(Duration::from_secs(30), self.child.wait()).await;
        let status = status.expect("it ends within 30 s").expect("its status");
        let took = start.elapsed();
        self.reading.await.expect("its log is UTF-8");
        (
            status.code(),
            self.log.lock().expect("nobody panicked").clone(),
            took,
        )
    }
}

impl Answer {
    /// A header's value as it was sent.
    pub fn raw_header(&self, name: &str) -> &str {
        let start = format!("{name}: ").to_lowercase();
        let is_own = |line: &&str| line.to_lowercase().starts_with(&start);
        let line = self.raw_head.lines().find(is_own);
        line.map_or("", |line| &line[start.len()..])
    }

    /// A header's value, in small letters; empty where it is not there.
    pub fn header(&self, name: &str) -> &str {
        let start = format!("{name}: ");
        let line = self.head.lines().find_map(|line| line.strip_prefix(&start));
        line.unwrap_or_default()
    }

    /// The body as JSON.
    #[track_caller]
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }
}
