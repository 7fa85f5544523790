//! Why Redis could not be reached, and what to do about it.

use std::{path::PathBuf, time::Duration};

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
    #[error("Redis at {address} is not reachable: {reason}")]
    Unreachable {
        /// Host and port.
        address: String,
        /// What the system says.
        reason: String,
    },
    /// No answer in time.
    #[error("Redis at {address} did not answer within {limit:?} (`connect_timeout`): {remedy}")]
    Silent {
        /// Host and port.
        address: String,
        /// How long it was waited for.
        limit: Duration,
        /// What to try.
        remedy: &'static str,
    },
    /// Something listens there that does not speak as expected.
    #[error("Redis at {address} broke off the connection ({reason}): {remedy}")]
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

impl ConnectError {
    /// What a server's words at login mean. A server that does not know AUTH repeats its arguments: the password is
    /// taken out.
    pub(super) fn refused(address: String, words: &[u8], password: Option<&str>) -> Self {
        let mut reason = String::from_utf8_lossy(words).into_owned();
        if let Some(password) = password.filter(|password| !password.is_empty()) {
            reason = reason.replace(password, "***");
        }
        if is_cap(&reason) {
            return Self::Capped { address, reason };
        }
        let remedy = match code(words) {
            b"NOAUTH" => {
                "it wants a password: give `username` and `password` in [redis], or put them into the URL"
            }
            b"WRONGPASS" => "check `username` and `password`, and that the user is enabled",
            b"NOPERM" => "the account needs the rights +@read +@connection",
            _ => return Self::Refused { address, reason },
        };
        let code = String::from_utf8_lossy(code(words)).into_owned();
        Self::Login {
            address,
            code,
            remedy,
        }
    }

    /// What a certificate's refusal means.
    pub(super) fn certificate(address: String, reason: &rustls::CertificateError) -> Self {
        use rustls::CertificateError as E;
        let remedy = match reason {
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
        };
        Self::Certificate {
            address,
            reason: reason.to_string(),
            remedy,
        }
    }
}

/// The first of a server's words, which says what kind of error it is.
pub(super) fn code(words: &[u8]) -> &[u8] {
    words.split(|byte| *byte == b' ').next().unwrap_or_default()
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

    #[test]
    fn a_refusal_never_repeats_the_password() {
        let words = b"ERR unknown command 'AUTH', with args beginning with: 'default' 'S3NTINEL' ";
        let refused = ConnectError::refused("h:6379".to_owned(), words, Some("S3NTINEL"));
        let text = format!("{refused} {refused:?}");
        assert!(text.contains("'***'") && !text.contains("S3NTINEL"), "{text}");
    }
}
