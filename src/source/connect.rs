//! One connection to Redis: how it is opened, and what can be wrong with that.

use std::{error::Error, fs, io, path::PathBuf, sync::Arc, time::Duration};

use redis::{
    AsyncConnectionConfig, Client, ConnectionAddr, ConnectionInfo, IntoConnectionInfo as _, Pipeline,
    ProtocolVersion, RedisConnectionInfo, RedisError, ServerError, TlsCertificates, Value,
    aio::MultiplexedConnection,
};

use crate::catalog::RedisSettings;

use super::personal::masked;

/// Why Redis could not be reached. No variant holds the password.
#[derive(Debug, thiserror::Error)]
pub enum ConnectError {
    /// The URL does not say where Redis is.
    #[error("the Redis URL is not usable ({0}): write redis://host:port/db or rediss://host:port/db")]
    Url(String),
    /// The file of the private authority is of no use.
    #[error("`ca_file` {path} is not usable: {reason}")]
    CaFile {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// Nothing listens there, or the name leads nowhere.
    #[error("Redis at {address} is not reachable ({reason}): check that it runs, and `url` in [redis]")]
    Unreachable {
        /// Host and port.
        address: String,
        /// What the system says.
        reason: String,
    },
    /// No answer in time.
    #[error("Redis at {address} did not answer within {limit:?} (`connect_timeout`){remedy}")]
    Silent {
        /// Host and port.
        address: String,
        /// How long it was waited for.
        limit: Duration,
        /// What to try.
        remedy: &'static str,
    },
    /// Something listens there that does not speak as expected.
    #[error("Redis at {address} broke off the connection ({reason}){remedy}")]
    Broken {
        /// Host and port.
        address: String,
        /// How.
        reason: String,
        /// What to try.
        remedy: &'static str,
    },
    /// The certificate was not accepted.
    #[error("the certificate of Redis at {address} is not accepted ({reason}): {remedy}")]
    Certificate {
        /// Host and port.
        address: String,
        /// What is wrong with it.
        reason: String,
        /// What to try.
        remedy: &'static str,
    },
    /// The user or password is wrong or missing.
    #[error("Redis at {address} lets nobody in like this ({code}): {remedy}")]
    Login {
        /// Host and port.
        address: String,
        /// The server's word for it.
        code: String,
        /// What to try.
        remedy: &'static str,
    },
    /// The provider's cap on commands is reached.
    #[error(
        "Redis at {address} answers no command, its request limit is used up ({reason}): raise the plan or wait for the next period"
    )]
    Capped {
        /// Host and port.
        address: String,
        /// The server's words.
        reason: String,
    },
    /// Any other refusal.
    #[error("Redis at {address} refuses the connection: {reason}")]
    Refused {
        /// Host and port.
        address: String,
        /// The server's words.
        reason: String,
    },
}

const MAY_NEED_TLS: &str = ": if the server takes TLS only, write rediss:// in place of redis://";
const MAY_BE_PLAIN: &str = ": if the server has no TLS, write redis:// in place of rediss://";

/// Opens a connection on which every command waits at most the configured time.
pub(super) async fn connect(settings: &RedisSettings) -> Result<MultiplexedConnection, ConnectError> {
    let opening = Opening::new(settings)?;
    tokio::time::timeout(settings.connect_timeout, opening.run())
        .await
        .unwrap_or_else(|_| {
            Err(ConnectError::Silent {
                address: opening.address.clone(),
                limit: settings.connect_timeout,
                remedy: opening.other_scheme(),
            })
        })
}

/// What is needed to open a connection.
struct Opening {
    client: Client,
    config: AsyncConnectionConfig,
    address: String,
    tls: bool,
    username: Option<String>,
    password: Option<String>,
    database: i64,
}

impl Opening {
    fn new(settings: &RedisSettings) -> Result<Self, ConnectError> {
        let unusable = |error: &RedisError| ConnectError::Url(error.to_string());
        let info = settings
            .url
            .reveal()
            .into_connection_info()
            .map_err(|error| unusable(&error))?;
        let login = info.redis_settings();
        let username = settings.username.clone().or(login.username().map(str::to_owned));
        let password = settings
            .password
            .as_ref()
            .map(|secret| secret.reveal().to_owned())
            .or(login.password().map(str::to_owned))
            .filter(|password| !password.is_empty());
        let database = login.db();
        let (address, tls) = match info.addr() {
            ConnectionAddr::TcpTls { host, port, .. } => (format!("{host}:{port}"), true),
            other => (other.to_string(), false),
        };
        let client = if tls {
            // The one crypto provider; a second install, by whomever, changes nothing.
            let _ = rustls::crypto::ring::default_provider().install_default();
            tls_client(without_login(info), settings)?
        } else {
            Client::open(without_login(info)).map_err(|error| unusable(&error))?
        };
        let config = AsyncConnectionConfig::new()
            // The time limit around the whole opening covers this.
            .set_connection_timeout(None)
            .set_response_timeout(Some(settings.response_timeout));
        Ok(Self {
            client,
            config,
            address,
            tls,
            username,
            password,
            database,
        })
    }

    async fn run(&self) -> Result<MultiplexedConnection, ConnectError> {
        let mut connection = self
            .client
            .get_multiplexed_async_connection_with_config(&self.config)
            .await
            .map_err(|error| self.not_connected(&error))?;
        let replies = connection
            .send_packed_commands(&self.greeting(), 0, self.greeting().len())
            .await
            .map_err(|error| self.broken(error.to_string()))?;
        for reply in replies {
            if let Value::ServerError(error) = reply {
                return Err(self.refused(&error));
            }
        }
        Ok(connection)
    }

    /// Logs in, chooses the database, and gets an answer in any case: a server that speaks only TLS shows here.
    fn greeting(&self) -> Pipeline {
        let mut greeting = redis::pipe();
        if self.username.is_some() || self.password.is_some() {
            greeting.cmd("AUTH");
            if let Some(username) = &self.username {
                greeting.arg(username);
            }
            greeting.arg(self.password.as_deref().unwrap_or_default());
        }
        if self.database != 0 {
            greeting.cmd("SELECT").arg(self.database);
        }
        greeting.cmd("PING");
        greeting
    }

    fn not_connected(&self, error: &RedisError) -> ConnectError {
        let address = self.address.clone();
        // The library keeps the cause in an `Arc`, which is an error of its own.
        let cause = error
            .source()
            .and_then(|source| source.downcast_ref::<Arc<dyn Error + Send + Sync>>());
        let io = cause.and_then(|cause| cause.downcast_ref::<io::Error>());
        let tls = io
            .and_then(io::Error::get_ref)
            .and_then(|inner| inner.downcast_ref::<rustls::Error>());
        if let Some(rustls::Error::InvalidCertificate(reason)) = tls {
            return ConnectError::Certificate {
                address,
                reason: reason.to_string(),
                remedy: certificate_remedy(reason),
            };
        }
        let broken = io.is_some_and(|io| {
            matches!(
                io.kind(),
                io::ErrorKind::UnexpectedEof | io::ErrorKind::ConnectionReset | io::ErrorKind::InvalidData
            )
        });
        if tls.is_some() || broken {
            return self.broken(error.to_string());
        }
        ConnectError::Unreachable {
            address,
            reason: error.to_string(),
        }
    }

    fn broken(&self, reason: String) -> ConnectError {
        ConnectError::Broken {
            address: self.address.clone(),
            reason,
            remedy: self.other_scheme(),
        }
    }

    const fn other_scheme(&self) -> &'static str {
        if self.tls { MAY_BE_PLAIN } else { MAY_NEED_TLS }
    }

    fn refused(&self, error: &ServerError) -> ConnectError {
        let address = self.address.clone();
        let code = error.code().to_owned();
        let mut reason = words(error);
        // A server that does not know AUTH repeats its arguments.
        if let Some(password) = &self.password {
            reason = reason.replace(password, "***");
        }
        if is_cap(&reason) {
            return ConnectError::Capped { address, reason };
        }
        let remedy = match error.code() {
            "NOAUTH" => {
                "it wants a password: give `username` and `password` in [redis], or put them into the URL"
            }
            "WRONGPASS" => "check `username` and `password`, and that the user is enabled",
            "NOPERM" => "the account needs the rights +@read +@connection",
            _ => return ConnectError::Refused { address, reason },
        };
        ConnectError::Login {
            address,
            code,
            remedy,
        }
    }
}

/// The library's own login would hide the server's words; it is done here instead, in the protocol that all speak.
fn without_login(info: ConnectionInfo) -> ConnectionInfo {
    info.set_redis_settings(
        RedisConnectionInfo::default()
            .set_protocol(ProtocolVersion::RESP2)
            .set_skip_set_lib_name(),
    )
}

fn tls_client(info: ConnectionInfo, settings: &RedisSettings) -> Result<Client, ConnectError> {
    let root_cert = settings.ca_file.as_ref().map(|path| {
        let unusable = |reason: String| ConnectError::CaFile {
            path: path.clone(),
            reason,
        };
        let pem = fs::read(path).map_err(|error| unusable(error.to_string()))?;
        let marker = b"-----BEGIN CERTIFICATE-----";
        if pem.windows(marker.len()).any(|window| window == marker) {
            Ok(pem)
        } else {
            Err(unusable("it holds no certificate in PEM form".to_owned()))
        }
    });
    let certificates = TlsCertificates {
        client_tls: None,
        root_cert: root_cert.transpose()?,
    };
    Client::build_with_tls(info, certificates).map_err(|error| match &settings.ca_file {
        Some(path) => ConnectError::CaFile {
            path: path.clone(),
            reason: error.to_string(),
        },
        None => ConnectError::Url(error.to_string()),
    })
}

const fn certificate_remedy(reason: &rustls::CertificateError) -> &'static str {
    use rustls::CertificateError as E;
    match reason {
        E::UnknownIssuer | E::BadSignature => {
            "where a private authority signed it, name that authority's PEM file as `ca_file` in [redis]"
        }
        E::NotValidForName | E::NotValidForNameContext { .. } => {
            "the URL's host must be a name that the certificate is for"
        }
        E::Expired | E::ExpiredContext { .. } | E::NotValidYet | E::NotValidYetContext { .. } => {
            "renew it, or set this machine's clock right"
        }
        _ => "check the server's certificate, and `ca_file` in [redis]",
    }
}

/// A server's error as it wrote it, without what looks personal: it may repeat the key that it was asked for.
pub(super) fn words(error: &ServerError) -> String {
    match error.details() {
        Some(details) => {
            let details = masked(details.as_bytes());
            format!("{} {}", error.code(), String::from_utf8_lossy(&details))
        }
        None => error.code().to_owned(),
    }
}

/// Whether these are the words of a provider whose cap on commands is reached.
pub(super) fn is_cap(words: &str) -> bool {
    let words = words.to_ascii_lowercase();
    words.contains("max") && words.contains("request") && words.contains("limit exceeded")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cap_is_known_by_its_words() {
        assert!(is_cap("ERR max requests limit exceeded. Limit: 500000"));
        assert!(is_cap("ERR max daily request limit exceeded"));
        assert!(!is_cap("ERR max number of clients reached"));
        assert!(!is_cap("ERR max request size exceeded"));
    }
}
