//! Speaks to the notification server.
//!
//! A message goes as JSON to the server's root, where its text may be any UTF-8; headers could carry ASCII only. Only an
//! answer that the server itself would give counts as delivery. See <https://docs.ntfy.sh/publish/>.

mod answer;
mod failure;
mod message;

use std::time::Duration;

use anyhow::Context as _;
use chrono::{DateTime, Utc};
use reqwest::{Client, RequestBuilder, header, redirect::Policy};

pub use failure::Failure;
pub use message::{Message, sequence};

use self::answer::{Answer, delivered, refused};
use crate::catalog::{NtfySettings, Secret};

/// Longest wait for a connection, and for an answer in all.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(3);
const TIMEOUT: Duration = Duration::from_secs(10);

/// What an answer may hold at most: whatever else comes is no answer of ntfy's.
const LONGEST_ANSWER: usize = 64 * 1024;

/// A topic of a notification server.
#[derive(Clone, Debug)]
pub struct Ntfy {
    client: Client,
    url: String,
    topic: String,
    token: Option<Secret>,
}

/// A message that the server has taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Delivered {
    /// The server's name for it.
    pub id: String,
    /// Whether the server updates notifications in place: it repeated the sequence of this one.
    pub updates: bool,
}

impl Ntfy {
    /// A client of the server that the catalog names.
    ///
    /// # Errors
    /// The system has no certificates that could be trusted.
    pub fn new(settings: &NtfySettings) -> anyhow::Result<Self> {
        // The one crypto provider; a second install, by whomever, changes nothing.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let mut client = Client::builder()
            .user_agent(concat!("folga/", env!("CARGO_PKG_VERSION")))
            .connect_timeout(CONNECT_TIMEOUT)
            .timeout(TIMEOUT)
            // A redirected POST arrives as a GET, whose page would pass for an answer.
            .redirect(Policy::none());
        if settings.url.starts_with("http:") {
            // No certificate is needed, and a small system may have none.
            client = client.tls_certs_only([]);
        }
        let client = client.build().context(
            "sending to ntfy over TLS: where the system has no certificates, install them (on Debian: ca-certificates)",
        )?;
        Ok(Self {
            client,
            url: settings.url.trim_end_matches('/').to_owned(),
            topic: settings.topic.clone(),
            token: settings.token.clone(),
        })
    }

    /// Sends a message.
    ///
    /// # Errors
    /// Anything but the server's word that it has taken it.
    pub async fn publish(&self, message: &Message, now: DateTime<Utc>) -> Result<Delivered, Failure> {
        let request = (self.client.post(&self.url))
            .header(header::CONTENT_TYPE, "application/json")
            .body(message.body(&self.topic));
        delivered(&self.ask(request, now).await?, &self.topic, &message.sequence)
    }

    /// Takes the notification of a sequence back.
    ///
    /// # Errors
    /// Anything but the server's word that it has.
    pub async fn clear(&self, sequence: &str, now: DateTime<Utc>) -> Result<(), Failure> {
        let url = format!("{}/{}/{sequence}/clear", self.url, self.topic);
        let answer = self.ask(self.client.put(url), now).await?;
        answer::is_json(&answer)
    }

    /// Sends a request, and gives the body of an answer that says all is well.
    async fn ask(&self, request: RequestBuilder, now: DateTime<Utc>) -> Result<Vec<u8>, Failure> {
        let request = match &self.token {
            // Marked as sensitive by the library.
            Some(token) => request.bearer_auth(token.reveal()),
            None => request,
        };
        let unreachable = |error: reqwest::Error| Failure::unreachable(&error.without_url());
        let mut response = request.send().await.map_err(unreachable)?;
        let (status, headers) = (response.status(), response.headers().clone());
        let mut body = Vec::new();
        while let Some(part) = response.chunk().await.map_err(unreachable)? {
            body.extend_from_slice(&part);
            if body.len() > LONGEST_ANSWER {
                break;
            }
        }
        if status.is_success() {
            return Ok(body);
        }
        Err(refused(&Answer {
            status: status.as_u16(),
            retry_after: headers
                .get(header::RETRY_AFTER)
                .and_then(|value| value.to_str().ok()),
            body: &body,
            now,
        }))
    }
}
