//! A front that gives a real Redis the REST face of a hosted one: commands as JSON arrays over HTTP.

use std::sync::{Arc, Mutex};

use axum::{
    Json, Router,
    extract::State,
    http::{HeaderMap, StatusCode, Uri, header},
    response::{IntoResponse as _, Response},
};
use base64::{Engine as _, prelude::BASE64_STANDARD};
use redis::aio::MultiplexedConnection;
use serde_json::{Value, json};
use tokio::net::TcpListener;

/// The front.
pub struct UpstashFront {
    port: u16,
    shared: Arc<Shared>,
}

struct Shared {
    redis: MultiplexedConnection,
    /// Commands by request, as they came.
    requests: Mutex<Vec<Vec<Value>>>,
}

impl UpstashFront {
    /// Whom it lets in.
    pub const TOKEN: &str = "the token of the front";

    /// Starts one. It lives as long as the test's runtime.
    pub async fn start(redis: MultiplexedConnection) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.expect("a port is free");
        let port = listener.local_addr().expect("a bound socket").port();
        let shared = Arc::new(Shared {
            redis,
            requests: Mutex::default(),
        });
        let router = Router::new().fallback(answer).with_state(Arc::clone(&shared));
        tokio::spawn(async move { axum::serve(listener, router).await });
        Self { port, shared }
    }

    /// Where it is.
    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// Its port.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// How many commands each request so far had.
    pub fn commands(&self) -> Vec<usize> {
        let requests = self.shared.requests.lock().expect("nobody panicked");
        requests.iter().map(Vec::len).collect()
    }
}

async fn answer(
    State(shared): State<Arc<Shared>>,
    uri: Uri,
    headers: HeaderMap,
    Json(body): Json<Vec<Value>>,
) -> Response {
    let is_let_in = (headers.get(header::AUTHORIZATION))
        .is_some_and(|given| given.as_bytes() == format!("Bearer {}", UpstashFront::TOKEN).as_bytes());
    if !is_let_in {
        return complain(StatusCode::UNAUTHORIZED, "Unauthorized");
    }
    let encoded = headers
        .get("upstash-encoding")
        .is_some_and(|given| given == "base64");
    let commands = match uri.path() {
        "/" => vec![Value::Array(body)],
        "/pipeline" | "/multi-exec" => body,
        _ => return complain(StatusCode::NOT_FOUND, "Not Found"),
    };
    (shared.requests.lock().expect("nobody panicked")).push(commands.clone());
    let mut pipe = redis::pipe();
    for command in &commands {
        pipe.add_command(to_command(command));
    }
    pipe.ignore_errors();
    if uri.path() == "/multi-exec" {
        pipe.atomic();
    }
    let replies: Vec<redis::Value> = match pipe.query_async(&mut shared.redis.clone()).await {
        Ok(replies) => replies,
        Err(error) => return complain(StatusCode::BAD_REQUEST, &error.to_string()),
    };
    let mut answers: Vec<Value> = replies.into_iter().map(|reply| told(reply, encoded)).collect();
    if uri.path() != "/" {
        return Json(answers).into_response();
    }
    let answer = answers.remove(0);
    match answer["error"].as_str() {
        Some(error) => complain(StatusCode::BAD_REQUEST, error),
        None => Json(answer).into_response(),
    }
}

fn complain(status: StatusCode, error: &str) -> Response {
    (status, Json(json!({ "error": error }))).into_response()
}

fn to_command(command: &Value) -> redis::Cmd {
    let mut cmd = redis::Cmd::new();
    for part in command.as_array().expect("a command is an array") {
        match part {
            Value::String(text) => cmd.arg(text),
            other => cmd.arg(other.to_string()),
        };
    }
    cmd
}

/// One answer: a result, or an error as the server words it.
fn told(reply: redis::Value, encoded: bool) -> Value {
    match reply {
        redis::Value::ServerError(error) => {
            json!({ "error": format!("{} {}", error.code(), error.details().unwrap_or_default()) })
        }
        other => json!({ "result": result(other, encoded) }),
    }
}

fn result(reply: redis::Value, encoded: bool) -> Value {
    match reply {
        redis::Value::Nil => Value::Null,
        redis::Value::Int(number) => number.into(),
        redis::Value::Okay => "OK".into(),
        redis::Value::BulkString(bytes) if encoded => BASE64_STANDARD.encode(bytes).into(),
        redis::Value::BulkString(bytes) => String::from_utf8_lossy(&bytes).into(),
        redis::Value::Array(list) | redis::Value::Set(list) => {
            list.into_iter().map(|item| result(item, encoded)).collect()
        }
        other => panic!("no producer asks for {other:?}"),
    }
}
