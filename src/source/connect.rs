//! How a connection to Redis is opened.

use std::{fs, io, path::Path, sync::Arc};

use redis::{ConnectionAddr, IntoConnectionInfo as _};
use rustls::{
    ClientConfig, RootCertStore,
    crypto::ring,
    pki_types::{CertificateDer, ServerName, pem::PemObject as _},
};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

use crate::catalog::{RedisSettings, Secret};

use super::{
    ConnectError,
    wire::{Commands, Reply, Stream, Wire},
};

const MAY_NEED_TLS: &str = "if the server takes TLS only, write rediss:// in place of redis://";
const MAY_BE_PLAIN: &str = "if the server has no TLS, write redis:// in place of rediss://";

/// Opens a connection, logs in and gets a first answer, all within `connect_timeout`.
pub(super) async fn connect(settings: &RedisSettings) -> Result<Wire, ConnectError> {
    let place = Place::of(settings)?;
    tokio::time::timeout(settings.connect_timeout, place.open(settings))
        .await
        .unwrap_or_else(|_| {
            Err(ConnectError::Silent {
                address: place.address(),
                limit: settings.connect_timeout,
                remedy: place.other_scheme(),
            })
        })
}

/// Where Redis is and as whom to log in.
struct Place {
    host: String,
    port: u16,
    tls: bool,
    username: Option<String>,
    password: Option<String>,
    database: i64,
}

impl Place {
    fn of(settings: &RedisSettings) -> Result<Self, ConnectError> {
        let unusable = |reason: &str| ConnectError::Url(reason.to_owned());
        let info = settings
            .url
            .reveal()
            .into_connection_info()
            .map_err(|error| unusable(&error.to_string()))?;
        let (host, port, tls) = match info.addr() {
            ConnectionAddr::Tcp(host, port) => (host, port, false),
            ConnectionAddr::TcpTls { insecure: true, .. } => {
                return Err(unusable(
                    "certificates are always checked, name a private authority as `ca_file`",
                ));
            }
            ConnectionAddr::TcpTls { host, port, .. } => (host, port, true),
            _ => return Err(unusable("it names no host")),
        };
        let login = info.redis_settings();
        let apart = settings.password.as_ref().map(Secret::reveal);
        Ok(Self {
            host: host.clone(),
            port: *port,
            tls,
            username: settings
                .username
                .as_deref()
                .or(login.username())
                .map(str::to_owned),
            password: apart
                .or(login.password())
                .filter(|password| !password.is_empty())
                .map(str::to_owned),
            database: login.db(),
        })
    }

    async fn open(&self, settings: &RedisSettings) -> Result<Wire, ConnectError> {
        // The files are looked at first: they may be wrong whatever the server does.
        let tls = self
            .tls
            .then(|| connector(settings.ca_file.as_deref()))
            .transpose()?;
        let tcp = TcpStream::connect((self.host.as_str(), self.port))
            .await
            .and_then(|tcp| tcp.set_nodelay(true).map(|()| tcp))
            .map_err(|error| ConnectError::Unreachable {
                address: self.address(),
                reason: error.to_string(),
            })?;
        let stream: Box<dyn Stream> = match tls {
            Some(connector) => {
                let name = ServerName::try_from(self.host.clone())
                    .map_err(|error| ConnectError::Url(error.to_string()))?;
                let encrypted = connector.connect(name, tcp).await;
                Box::new(encrypted.map_err(|error| self.no_tls(&error))?)
            }
            None => Box::new(tcp),
        };
        let mut wire = Wire::new(stream, settings.response_timeout);
        self.greet(&mut wire).await?;
        Ok(wire)
    }

    /// Logs in, chooses the database, and gets an answer in any case: a server that speaks only TLS shows here.
    async fn greet(&self, wire: &mut Wire) -> Result<(), ConnectError> {
        let mut greeting = Commands::default();
        let password = self.password.as_deref().unwrap_or_default().as_bytes();
        match &self.username {
            Some(username) => greeting.push(&[b"AUTH", username.as_bytes(), password]),
            None if self.password.is_some() => greeting.push(&[b"AUTH", password]),
            None => {}
        }
        if self.database != 0 {
            greeting.push(&[b"SELECT", self.database.to_string().as_bytes()]);
        }
        greeting.push(&[b"PING"]);
        wire.send(&greeting).await.map_err(|error| self.broken(&error))?;
        for _ in 0..greeting.count() {
            if let Reply::Error(words) = wire.receive().await.map_err(|error| self.broken(&error))? {
                return Err(ConnectError::refused(
                    self.address(),
                    words,
                    self.password.as_deref(),
                ));
            }
        }
        Ok(())
    }

    fn no_tls(&self, error: &io::Error) -> ConnectError {
        match error
            .get_ref()
            .and_then(|inner| inner.downcast_ref::<rustls::Error>())
        {
            Some(rustls::Error::InvalidCertificate(reason)) => {
                ConnectError::certificate(self.address(), reason)
            }
            _ => self.broken(error),
        }
    }

    fn broken(&self, error: &io::Error) -> ConnectError {
        ConnectError::Broken {
            address: self.address(),
            reason: error.to_string(),
            remedy: self.other_scheme(),
        }
    }

    fn address(&self) -> String {
        format!("{}:{}", self.host, self.port)
    }

    const fn other_scheme(&self) -> &'static str {
        if self.tls { MAY_BE_PLAIN } else { MAY_NEED_TLS }
    }
}

/// What checks the server's certificate: against the private authority where there is one, else the machine's own.
fn connector(ca_file: Option<&Path>) -> Result<TlsConnector, ConnectError> {
    let mut roots = RootCertStore::empty();
    match ca_file {
        Some(path) => {
            let unusable = |reason: String| ConnectError::CaFile {
                path: path.to_owned(),
                reason,
            };
            let pem = fs::read(path).map_err(|error| unusable(error.to_string()))?;
            for certificate in CertificateDer::pem_slice_iter(&pem) {
                let certificate = certificate.map_err(|error| unusable(error.to_string()))?;
                roots
                    .add(certificate)
                    .map_err(|error| unusable(error.to_string()))?;
            }
            if roots.is_empty() {
                return Err(unusable("it holds no certificate in PEM form".to_owned()));
            }
        }
        // Some of a machine's authorities may be unreadable; a server that needs one of them is told by its name.
        None => {
            roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        }
    }
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(|error| ConnectError::Url(error.to_string()))?
        .with_root_certificates(roots)
        .with_no_client_auth();
    Ok(TlsConnector::from(Arc::new(config)))
}
