//! Logs: to stderr, for people or as JSON, without secrets.

use std::{
    io::{self, IsTerminal as _, Write},
    panic::{self, PanicHookInfo},
    sync::Arc,
};

use clap::ValueEnum;
use percent_encoding::{NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use tracing_subscriber::{EnvFilter, fmt::MakeWriter};
use url::Url;

use crate::catalog::{Catalog, Refusal, Secret, variable};

/// What is logged where `RUST_LOG` says nothing.
const FILTER: &str = "warn,folga=info";

/// A text shorter than this is hidden only where it stands for the password of a URL: hidden everywhere, it would
/// leave nothing readable.
const SHORTEST: usize = 4;

/// How logs are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum LogFormat {
    /// For people.
    #[default]
    Text,
    /// One JSON object a line.
    Json,
}

/// Begins to log. Dependencies log too, and what they say at `RUST_LOG=trace` is not ours to choose: the catalog's
/// secrets are taken out of every line before it is written.
///
/// # Errors
/// `RUST_LOG` is no filter.
pub fn start(format: LogFormat, catalog: &Catalog) -> Result<(), Refusal> {
    let filter = variable("RUST_LOG").filter(|text| !text.is_empty());
    let filter = EnvFilter::try_new(filter.as_deref().unwrap_or(FILTER)).map_err(|error| {
        Refusal::new(
            format!("RUST_LOG is no filter ({error})"),
            format!("write it like {FILTER}"),
        )
    })?;
    let builder = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(Veiled {
            veil: Arc::new(Veil::over(catalog)),
        });
    match format {
        LogFormat::Text => builder.with_ansi(io::stderr().is_terminal()).init(),
        LogFormat::Json => builder.json().flatten_event(true).init(),
    }
    panic::set_hook(Box::new(panicked));
    Ok(())
}

/// A panic is logged like everything else, with the spans it happened in.
fn panicked(info: &PanicHookInfo<'_>) {
    let place = info.location().map(ToString::to_string).unwrap_or_default();
    tracing::error!(
        place,
        reason = info.payload_as_str(),
        "a fault in folga: please report it"
    );
}

/// Texts that must never be written.
#[derive(Debug, Default)]
struct Veil {
    /// Longest first: one may hold another.
    texts: Vec<String>,
}

impl Veil {
    fn over(catalog: &Catalog) -> Self {
        let mut veil = Self::default();
        let postgres = catalog.postgres.url.as_ref();
        for url in [Some(&catalog.redis.url), postgres].into_iter().flatten() {
            veil.hide_url(url);
        }
        let token = catalog.ntfy.as_ref().and_then(|ntfy| ntfy.token.as_ref());
        let (password, api_token) = (catalog.redis.password.as_ref(), catalog.http.api_token.as_ref());
        for secret in [password, token, api_token, catalog.identity_key.as_ref()]
            .into_iter()
            .flatten()
        {
            veil.hide(secret.reveal());
        }
        veil.texts
            .sort_unstable_by_key(|text| std::cmp::Reverse(text.len()));
        veil.texts.dedup();
        veil
    }

    fn hide_url(&mut self, url: &Secret) {
        let Ok(url) = Url::parse(url.reveal()) else { return };
        if let Some(password) = url.password() {
            self.texts.push(format!("{}:{password}@", url.username()));
            self.hide(password);
            self.hide(&percent_decode_str(password).decode_utf8_lossy());
        }
        for (_, value) in url.query_pairs().filter(|(key, _)| key.contains("password")) {
            self.hide(&value);
        }
    }

    /// Hides a text as it is, in an address, and as it comes out of `Debug` and JSON.
    fn hide(&mut self, text: &str) {
        if text.len() < SHORTEST {
            return;
        }
        let quoted = |text: &str| {
            let json = serde_json::Value::from(text).to_string();
            json[1..json.len() - 1].to_owned()
        };
        let debug = text.escape_debug().to_string();
        self.texts.extend([
            utf8_percent_encode(text, NON_ALPHANUMERIC).to_string(),
            quoted(text),
            quoted(&debug),
        ]);
        self.texts.extend([text.to_owned(), debug]);
    }

    fn apply(&self, line: &str) -> String {
        self.texts.iter().fold(line.to_owned(), |line, text| {
            if line.contains(text) {
                line.replace(text, "***")
            } else {
                line
            }
        })
    }
}

/// Writes to stderr what the veil lets through.
#[derive(Clone)]
struct Veiled {
    veil: Arc<Veil>,
}

impl<'a> MakeWriter<'a> for Veiled {
    type Writer = Self;

    fn make_writer(&'a self) -> Self {
        self.clone()
    }
}

impl Write for Veiled {
    /// Each call brings one whole line.
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        let veiled = self.veil.apply(&String::from_utf8_lossy(line));
        io::stderr().lock().write_all(veiled.as_bytes())?;
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        io::stderr().lock().flush()
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn veil(variables: &'static [(&str, &str)]) -> Veil {
        let variable = |name: &str| {
            let found = variables.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| (*value).to_owned())
        };
        let catalog = Catalog::parse(
            include_str!("../folga.toml"),
            Path::new("folga.toml"),
            &variable,
            false,
        );
        Veil::over(&catalog.unwrap())
    }

    #[test]
    fn a_secret_is_hidden_in_every_spelling() {
        let veil = veil(&[
            ("FOLGA_REDIS_URL", "redis://u:p%40%22w%2Fone@h:6379/0"),
            ("FOLGA_DATABASE_URL", "postgres://u@h/db?password=two%25two"),
            ("FOLGA_API_TOKEN", "three\"three"),
        ]);
        for (line, hidden) in [
            ("url=redis://u:p%40%22w%2Fone@h:6379/0", "url=redis://***h:6379/0"),
            ("password p@\"w/one.", "password ***."),
            ("password=\"p@\\\"w/one\"", "password=\"***\""),
            (
                "{\"args\":\"[\\\"p@\\\\\\\"w/one\\\"]\"}",
                "{\"args\":\"[\\\"***\\\"]\"}",
            ),
            ("two%two, two%25two", "***, ***"),
            ("{\"token\":\"three\\\"three\"}", "{\"token\":\"***\"}"),
            ("a harmless line", "a harmless line"),
        ] {
            assert_eq!(veil.apply(line), hidden);
        }
    }

    #[test]
    fn a_short_password_is_hidden_in_its_url_alone() {
        let veil = veil(&[("FOLGA_REDIS_URL", "redis://u:pw@h:6379/0")]);
        assert_eq!(veil.apply("redis://u:pw@h:6379/0 pwd"), "redis://***h:6379/0 pwd");
    }
}
