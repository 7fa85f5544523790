//! A Redis that speaks TLS, with a certificate of an authority made for the test.

use std::{
    fs,
    path::{Path, PathBuf},
};

use folga::servers::{PrivateRedis, free_port};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};

/// A running Redis with a TLS port.
pub struct TlsRedis {
    /// The authority's certificate.
    pub ca_file: PathBuf,
    redis: PrivateRedis,
    port: u16,
}

impl TlsRedis {
    /// Starts one that keeps its certificates in a folder which its account can enter.
    pub fn start(folder: &Path) -> Self {
        let mut authority = CertificateParams::new([]).expect("good parameters");
        authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let authority = CertifiedIssuer::self_signed(authority, KeyPair::generate().expect("a key"))
            .expect("an authority");
        let key = KeyPair::generate().expect("a key");
        let names = ["127.0.0.1".to_owned(), "localhost".to_owned()];
        let certificate = CertificateParams::new(names)
            .expect("good names")
            .signed_by(&key, &authority)
            .expect("a certificate");

        let ca_file = folder.join("ca.pem");
        let certificate_file = folder.join("redis.pem");
        let key_file = folder.join("redis.key");
        fs::write(&ca_file, authority.pem()).expect("writing");
        fs::write(&certificate_file, certificate.pem()).expect("writing");
        fs::write(&key_file, key.serialize_pem()).expect("writing");
        let port = free_port().expect("a port is free");
        let redis = PrivateRedis::start_with(&format!(
            "tls-port {port}\ntls-auth-clients no\ntls-ca-cert-file {}\ntls-cert-file {}\ntls-key-file {}",
            ca_file.display(),
            certificate_file.display(),
            key_file.display(),
        ))
        .expect("a Redis with TLS starts");
        Self { ca_file, redis, port }
    }

    /// Its TLS port under a scheme: `rediss`, or `redis` for the mistake of leaving out the s.
    pub fn url(&self, scheme: &str) -> String {
        format!(
            "{scheme}://default:{}@127.0.0.1:{}",
            self.redis.password(),
            self.port
        )
    }
}
