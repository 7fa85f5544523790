//! How the servers around the service are reached.

use std::{fmt::Write as _, net::SocketAddr, path::PathBuf, time::Duration};

use chrono::TimeDelta;
use sha2::{Digest as _, Sha256};
use toml::{Spanned, de::DeValue};

use super::{
    Refusal, Secret,
    overrides::Overrides,
    problem::{Located, Place, Problems},
    section::{FromValue, Section, text_as},
    tariff::Tariff,
    url::{check_http, check_postgres, check_redis},
};

/// How Redis is reached.
#[derive(Clone, Debug)]
pub struct RedisSettings {
    /// A checked `redis://` or `rediss://` URL, password included.
    pub url: Secret,
    /// User name given apart from the URL.
    pub username: Option<String>,
    /// Password given apart from the URL.
    pub password: Option<Secret>,
    /// PEM file of the authority that signed the server's certificate, where it is a private one.
    pub ca_file: Option<PathBuf>,
    /// Longest wait for a connection, handshake included.
    pub connect_timeout: Duration,
    /// Longest wait for one reply or pipeline of replies.
    pub response_timeout: Duration,
    /// Commands that all clients together should send a day at most.
    pub daily_commands: u64,
    /// What commands cost.
    pub tariff: Option<Tariff>,
}

/// How Postgres is reached.
#[derive(Clone, Debug)]
pub struct PostgresSettings {
    /// A checked `postgres://` URL; without one a private server is kept under `data_dir`.
    pub url: Option<Secret>,
    /// Most connections of the pool.
    pub max_connections: u32,
    /// Folder of the private server.
    pub data_dir: PathBuf,
}

/// Where alerts go.
#[derive(Clone, Debug)]
pub struct NtfySettings {
    /// Root URL of the ntfy server.
    pub url: String,
    /// Topic.
    pub topic: String,
    /// Access token.
    pub token: Option<Secret>,
    /// Most messages a day.
    pub daily_budget: u32,
    /// Time between two messages of one alert key and level.
    pub cooldown: TimeDelta,
    /// How long a value must stay low before its alert ends.
    pub clear_after: TimeDelta,
}

/// How the HTTP side listens.
#[derive(Clone, Debug)]
pub struct HttpSettings {
    /// Address to bind.
    pub listen: SocketAddr,
    /// Public address of the page, for links in alerts.
    pub base_url: Option<String>,
    /// Token that requests must carry; mandatory beyond loopback.
    pub api_token: Option<Secret>,
}

impl HttpSettings {
    /// Whether it may be served: beyond loopback only with a token.
    ///
    /// # Errors
    /// An address that others reach, without a token.
    pub fn check_serving(&self) -> Result<(), Refusal> {
        if self.listen.ip().to_canonical().is_loopback() || self.api_token.is_some() {
            return Ok(());
        }
        Err(Refusal::new(
            format!(
                "{} is reachable from other machines and no API token is set",
                self.listen
            ),
            "set FOLGA_API_TOKEN, or listen on 127.0.0.1",
        ))
    }
}

/// Any text at all: passwords may begin with a blank.
impl FromValue for Secret {
    fn from_value(value: Spanned<DeValue<'_>>, problems: &mut Problems) -> Option<Self> {
        text_as(&value, "text in quotes", problems, |text| {
            if text.is_empty() {
                return Err(Refusal::new("the secret is empty", "leave the key out"));
            }
            Ok(Self::new(text.to_owned()))
        })
    }
}

fn timeout(section: &mut Section<'_>, key: &'static str, default: u64, problems: &mut Problems) -> Duration {
    let Some(Located { value, place }) = section.optional::<TimeDelta>(key, problems) else {
        return Duration::from_secs(default);
    };
    let span = value.to_std().unwrap_or_default();
    if span.is_zero() {
        problems.add(
            &place,
            "a wait of 0 would never succeed",
            format!("write \"{default}s\""),
        );
    }
    span
}

impl RedisSettings {
    pub(super) fn read(section: Option<Section<'_>>, over: &mut Overrides, problems: &mut Problems) -> Self {
        let mut section = section.unwrap_or_else(Section::empty);
        let url = over.redis_url.take().or(section.optional("url", problems));
        let username = section.optional::<String>("username", problems);
        let password = section.optional::<Secret>("password", problems);
        if let Some(url) = &url {
            match check_redis(&url.value) {
                Err(refusal) => problems.refused(&url.place, refusal),
                Ok(parsed) => {
                    let remedy = "write it in one place";
                    if let Some(username) = username.as_ref().filter(|_| !parsed.username().is_empty()) {
                        problems.add(&username.place, "the user name stands in the URL too", remedy);
                    }
                    if let Some(password) = password.as_ref().filter(|_| parsed.password().is_some()) {
                        problems.add(&password.place, "the password stands in the URL too", remedy);
                    }
                }
            }
        }
        if let (Some(username), None) = (&username, &password) {
            problems.add(
                &username.place,
                "a user name without a password",
                "write password = \"…\" as well",
            );
        }
        let settings = Self {
            url: Secret::new(url.map_or_else(|| "redis://127.0.0.1:6379".to_owned(), |url| url.value)),
            username: username.map(|username| username.value),
            password: password.map(|password| password.value),
            ca_file: section
                .optional::<String>("ca_file", problems)
                .map(|file| file.value.into()),
            connect_timeout: timeout(&mut section, "connect_timeout", 2, problems),
            response_timeout: timeout(&mut section, "response_timeout", 10, problems),
            daily_commands: section.or("daily_commands", 500_000, problems),
            tariff: Tariff::read(&mut section, problems),
        };
        section.finish(problems);
        settings
    }
}

impl PostgresSettings {
    pub(super) fn read(section: Option<Section<'_>>, over: &mut Overrides, problems: &mut Problems) -> Self {
        let mut section = section.unwrap_or_else(Section::empty);
        let url = over.database_url.take().or(section.optional("url", problems));
        if let Some(url) = &url
            && let Err(refusal) = check_postgres(&url.value)
        {
            problems.refused(&url.place, refusal);
        }
        let settings = Self {
            url: url.map(|url| Secret::new(url.value)),
            max_connections: section.or("max_connections", 5, problems),
            data_dir: section.or("data_dir", "folga-data".to_owned(), problems).into(),
        };
        section.finish(problems);
        settings
    }
}

impl NtfySettings {
    /// Cooldown, and time after which an alert ends, where nothing is said.
    pub const QUARTER: TimeDelta = TimeDelta::minutes(15);

    /// What tells these settings of a server from others, without saying them.
    #[must_use]
    pub fn fingerprint(&self) -> String {
        let token = self.token.as_ref().map_or("", Secret::reveal);
        let digest = Sha256::digest([&self.url, &self.topic, token].join("\n"));
        digest[..8].iter().fold(String::new(), |mut text, byte| {
            _ = write!(text, "{byte:02x}");
            text
        })
    }

    pub(super) fn read(
        section: Option<Section<'_>>,
        over: &mut Overrides,
        problems: &mut Problems,
    ) -> Option<Self> {
        let (url, topic, token) = (
            over.ntfy_url.take(),
            over.ntfy_topic.take(),
            over.ntfy_token.take(),
        );
        let first = url.as_ref().or(topic.as_ref()).map(|text| &text.place);
        let asked = first.or(token.as_ref().map(|token| &token.place)).cloned();
        let place = section.as_ref().map(|section| section.place.clone()).or(asked)?;

        let mut section = section.unwrap_or_else(Section::empty);
        let url = url.or(section.optional("url", problems));
        let topic = topic.or(section.optional("topic", problems));
        if let Some(url) = &url {
            match check_http(&url.value, "https://ntfy.sh") {
                Err(refusal) => problems.refused(&url.place, refusal),
                Ok(parsed) if parsed.path() != "/" => {
                    problems.add(
                        &url.place,
                        "the URL has a path",
                        "write the server alone, and the topic apart",
                    );
                }
                Ok(_) => {}
            }
        }
        match &topic {
            None => problems.add(
                &place,
                "alerts have no topic",
                "write topic = \"…\" in [ntfy], or set FOLGA_NTFY_TOPIC",
            ),
            Some(topic) if !is_topic(&topic.value) => {
                let remedy = "write 1 to 64 letters, digits, - or _";
                problems.add(&topic.place, "ntfy takes no such topic", remedy);
            }
            Some(_) => {}
        }
        let file_token = section.optional::<Secret>("token", problems);
        let settings = Self {
            url: url.map_or_else(|| "https://ntfy.sh".to_owned(), |url| url.value),
            topic: topic.map(|topic| topic.value).unwrap_or_default(),
            token: token.or(file_token).map(|token| token.value),
            daily_budget: section.or("daily_budget", 250, problems),
            cooldown: section.or("cooldown", Self::QUARTER, problems),
            clear_after: section.or("clear_after", Self::QUARTER, problems),
        };
        section.finish(problems);
        Some(settings)
    }
}

fn is_topic(text: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
    (1..=64).contains(&text.len()) && text.bytes().all(plain)
}

impl HttpSettings {
    pub(super) fn read(section: Option<Section<'_>>, over: &mut Overrides, problems: &mut Problems) -> Self {
        let mut section = section.unwrap_or_else(Section::empty);
        let listen = over.listen.take().or(section.optional("listen", problems));
        let base_url = section.optional::<String>("base_url", problems);
        if let Some(url) = &base_url
            && let Err(refusal) = check_http(&url.value, "https://folga.example.org")
        {
            problems.refused(&url.place, refusal);
        }
        let settings = Self {
            listen: listen.map_or(SocketAddr::from(([127, 0, 0, 1], 8080)), |text| {
                address(&text, problems)
            }),
            base_url: base_url.map(|url| url.value.trim_end_matches('/').to_owned()),
            api_token: over.api_token.take().map(|token| token.value),
        };
        section.finish(problems);
        settings
    }
}

fn address(text: &Located<String>, problems: &mut Problems) -> SocketAddr {
    text.value.parse().unwrap_or_else(|_| {
        let what = format!("`{}` is no address and port", text.value);
        problems.add(
            &text.place,
            what,
            "write an IP address and a port: 127.0.0.1:8080 or [::1]:8080",
        );
        SocketAddr::from(([127, 0, 0, 1], 0))
    })
}

impl Section<'_> {
    /// Stands for a table that was left out.
    fn empty() -> Self {
        Self::root(toml::de::DeTable::new())
    }
}

/// The key that identities are hashed under.
pub(super) fn identity_key(over: &mut Overrides, needed: bool, problems: &mut Problems) -> Option<Secret> {
    let key = over.identity_key.take();
    let place = Place::Variable(super::overrides::IDENTITY_KEY);
    let remedy =
        "set it to a random text of 16 characters or more, and keep it: another key makes other identities";
    match &key {
        None if needed => problems.add(
            &place,
            "identities are stored hashed, and there is no key for it",
            remedy,
        ),
        Some(key) if key.value.reveal().chars().count() < 16 => {
            problems.add(&place, "the key is shorter than 16 characters", remedy);
        }
        _ => {}
    }
    key.map(|key| key.value)
}
