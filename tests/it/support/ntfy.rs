//! A notification server that keeps ntfy's documented rules, and misbehaves on demand.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
    time::Duration,
};

use axum::{
    Router,
    body::{Body, Bytes},
    extract::State,
    http::{HeaderMap, HeaderValue, Method, StatusCode, Uri, header},
    response::{IntoResponse as _, Response},
};
use chrono::{DateTime, NaiveDate, TimeDelta, Utc};
use serde_json::{Value, json};
use tokio::net::TcpListener;

/// What it does with the next requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Manner {
    /// Keeps the rules.
    Proper,
    /// Answers everything with this status.
    Status(u16),
    /// Answers 429 with this code, and how long to wait where that is said.
    TooMany(u32, Option<u32>),
    /// Answers 200 with a login page.
    LoginPage,
    /// Sends everybody elsewhere.
    Redirect,
    /// Takes requests and never answers.
    Hang,
    /// Takes messages, shows them, and never answers.
    HangOnceTaken,
}

/// A request, as it came.
#[derive(Clone, Debug)]
pub struct Request {
    /// The method.
    pub method: String,
    /// The path.
    pub path: String,
    /// Header names and the bytes of their values.
    pub headers: Vec<(String, Vec<u8>)>,
    /// The bytes of the body.
    pub body: Vec<u8>,
}

/// The server.
#[derive(Clone)]
pub struct NtfyServer {
    port: u16,
    shared: Arc<Mutex<Shared>>,
}

struct Shared {
    manner: Manner,
    echo: bool,
    token: Option<String>,
    now: Option<DateTime<Utc>>,
    /// When the burst was full, reckoned from what was taken of it.
    bucket: (f64, Option<DateTime<Utc>>),
    day: (NaiveDate, u32),
    requests: Vec<Request>,
    taken: Vec<Value>,
    open: BTreeMap<String, Value>,
    cleared: Vec<String>,
}

const TOPIC: &str = "limits";
const BURST: f64 = 60.0;
const REFILL_SECONDS: f64 = 5.0;
const DAILY: u32 = 250;

impl NtfyServer {
    /// Starts one that updates notifications in place. It lives as long as the test's runtime.
    pub async fn start() -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.expect("a port is free");
        let port = listener.local_addr().expect("a bound socket").port();
        let shared = Arc::new(Mutex::new(Shared {
            manner: Manner::Proper,
            echo: true,
            token: None,
            now: None,
            bucket: (BURST, None),
            day: (NaiveDate::MIN, 0),
            requests: Vec::new(),
            taken: Vec::new(),
            open: BTreeMap::new(),
            cleared: Vec::new(),
        }));
        let router = Router::new().fallback(answer).with_state(Arc::clone(&shared));
        tokio::spawn(async move { axum::serve(listener, router).await });
        Self { port, shared }
    }

    /// What a catalog says of it, with further lines.
    pub fn section(&self, more: &str) -> String {
        format!(
            "\n[ntfy]\nurl = \"http://127.0.0.1:{}\"\ntopic = \"{TOPIC}\"\n{more}\n",
            self.port
        )
    }

    /// From now on behaves like this.
    pub fn set(&self, manner: Manner) {
        self.lock().manner = manner;
    }

    /// Whether it repeats sequences and updates in place; an older server ignores them.
    pub fn echo(&self, echo: bool) {
        self.lock().echo = echo;
    }

    /// Lets only those in who carry this token.
    pub fn want(&self, token: &str) {
        self.lock().token = Some(token.to_owned());
    }

    /// Lets everybody in.
    pub fn want_nothing(&self) {
        self.lock().token = None;
    }

    /// Takes an instant for now. Before the first, it takes any number of messages.
    pub fn set_now(&self, now: DateTime<Utc>) {
        self.lock().now = Some(now);
    }

    /// All requests so far.
    pub fn requests(&self) -> Vec<Request> {
        self.lock().requests.clone()
    }

    /// The messages that were taken so far.
    pub fn taken(&self) -> Vec<Value> {
        self.lock().taken.clone()
    }

    /// The titles of the messages that were taken so far.
    pub fn titles(&self) -> Vec<String> {
        let title = |message: &Value| message["title"].as_str().expect("a title").to_owned();
        self.taken().iter().map(title).collect()
    }

    /// What a phone shows, by sequence.
    pub fn open(&self) -> BTreeMap<String, Value> {
        self.lock().open.clone()
    }

    /// The sequences that were taken back so far.
    pub fn cleared(&self) -> Vec<String> {
        self.lock().cleared.clone()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Shared> {
        self.shared.lock().expect("nobody panicked")
    }
}

async fn answer(
    State(shared): State<Arc<Mutex<Shared>>>,
    method: Method,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let (reply, hangs) = {
        let mut shared = shared.lock().expect("nobody panicked");
        shared.requests.push(Request {
            method: method.to_string(),
            path: uri.path().to_owned(),
            headers: (headers.iter())
                .map(|(name, value)| (name.to_string(), value.as_bytes().to_vec()))
                .collect(),
            body: body.to_vec(),
        });
        let manner = shared.manner;
        let reply = match manner {
            Manner::Proper | Manner::HangOnceTaken => shared.take(&method, uri.path(), &headers, &body),
            Manner::Status(status) => complain(status, status.into(), "on demand"),
            Manner::TooMany(code, wait) => {
                let mut reply = complain(429, code, "limit reached: see https://ntfy.sh/docs");
                if let Some(wait) = wait {
                    reply
                        .headers_mut()
                        .insert(header::RETRY_AFTER, HeaderValue::from(wait));
                }
                reply
            }
            Manner::LoginPage => {
                ([(header::CONTENT_TYPE, "text/html")], "<html><body>Please log in").into_response()
            }
            Manner::Redirect => (StatusCode::FOUND, [(header::LOCATION, "/login")]).into_response(),
            Manner::Hang => StatusCode::OK.into_response(),
        };
        (reply, matches!(manner, Manner::Hang | Manner::HangOnceTaken))
    };
    if hangs {
        tokio::time::sleep(Duration::from_mins(10)).await;
    }
    reply
}

fn complain(status: u16, code: u32, error: &str) -> Response {
    let status = StatusCode::from_u16(status).expect("a status");
    let body = json!({ "code": code, "http": status.as_u16(), "error": error });
    (status, Body::from(body.to_string())).into_response()
}

fn is_name(text: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
    (1..=64).contains(&text.len()) && text.bytes().all(plain)
}

impl Shared {
    fn take(&mut self, method: &Method, path: &str, headers: &HeaderMap, body: &[u8]) -> Response {
        if let Some(token) = &self.token {
            match headers.get(header::AUTHORIZATION) {
                None => return complain(403, 40301, "forbidden"),
                Some(given) if *given != format!("Bearer {token}") => {
                    return complain(401, 40101, "unauthorized");
                }
                Some(_) => {}
            }
        }
        if let Some(refusal) = self.visit() {
            return refusal;
        }
        let parts: Vec<&str> = path.trim_matches('/').split('/').collect();
        match (method, &parts[..]) {
            (&Method::POST, [""]) => self.publish(body),
            (&Method::PUT, [TOPIC, sequence, "clear"]) if self.echo && is_name(sequence) => {
                self.open.remove(*sequence);
                self.cleared.push((*sequence).to_owned());
                let answer = json!({ "id": "cleared", "event": "message_clear", "topic": TOPIC,
                    "sequence_id": sequence });
                Body::from(answer.to_string()).into_response()
            }
            _ => complain(404, 40401, "page not found"),
        }
    }

    /// A burst of 60, one more every 5 s, and 250 a day.
    fn visit(&mut self) -> Option<Response> {
        let now = self.now?;
        let (level, at) = self.bucket;
        let passed = at
            .map_or(TimeDelta::zero(), |at| now - at)
            .as_seconds_f64()
            .max(0.0);
        let level = (level + passed / REFILL_SECONDS).min(BURST);
        if level < 1.0 {
            return Some(complain(429, 42901, "limit reached: too many requests"));
        }
        self.bucket = (level - 1.0, Some(now));
        if self.day.0 != now.date_naive() {
            self.day = (now.date_naive(), 0);
        }
        if self.day.1 >= DAILY {
            return Some(complain(429, 42908, "limit reached: daily message quota reached"));
        }
        self.day.1 += 1;
        None
    }

    fn publish(&mut self, body: &[u8]) -> Response {
        if body.len() > 8192 {
            return complain(413, 41302, "request entity too large");
        }
        let Ok(message) = serde_json::from_slice::<Value>(body) else {
            return complain(400, 40024, "invalid request: request body must be message JSON");
        };
        let sequence = message["sequence_id"].as_str();
        if message["topic"] != TOPIC {
            return complain(404, 40401, "no such topic here");
        }
        if message["message"].as_str().is_none_or(|text| text.len() > 4096) {
            return complain(413, 41301, "attachments are not allowed");
        }
        if message["priority"]
            .as_u64()
            .is_some_and(|priority| !(1..=5).contains(&priority))
        {
            return complain(400, 40007, "invalid request: priority invalid");
        }
        if message["actions"]
            .as_array()
            .is_some_and(|actions| actions.len() > 3)
        {
            return complain(400, 40018, "invalid request: actions invalid");
        }
        if self.echo && !sequence.is_none_or(is_name) {
            return complain(400, 40049, "invalid request: sequence ID invalid");
        }
        self.taken.push(message.clone());
        let mut answer = json!({ "id": format!("m{}", self.taken.len()), "time": 1, "event": "message",
            "topic": TOPIC, "title": message["title"], "message": message["message"] });
        if let Some(sequence) = sequence.filter(|_| self.echo) {
            answer["sequence_id"] = sequence.into();
            self.open.insert(sequence.to_owned(), message);
        }
        Body::from(answer.to_string()).into_response()
    }
}
