//! What the environment of the process says: secrets and addresses, which outrank the file.

use super::{
    Secret,
    problem::{Located, Place, Problems},
};

/// The variables that outrank the file, or give what no file should hold.
#[derive(Debug)]
pub(super) struct Overrides {
    pub redis_url: Option<Located<String>>,
    pub database_url: Option<Located<String>>,
    pub ntfy_url: Option<Located<String>>,
    pub ntfy_topic: Option<Located<String>>,
    pub ntfy_token: Option<Located<Secret>>,
    pub listen: Option<Located<String>>,
    pub api_token: Option<Located<Secret>>,
    pub identity_key: Option<Located<Secret>>,
}

/// The name of the variable that gives the identity key.
pub(super) const IDENTITY_KEY: &str = "FOLGA_IDENTITY_KEY";

/// A variable of the process's environment: the one place that reads it. Bytes that are no UTF-8 come as U+FFFD.
#[must_use]
#[expect(clippy::disallowed_methods, reason = "the one place")]
pub fn variable(name: &str) -> Option<String> {
    std::env::var_os(name).map(|value| value.to_string_lossy().into_owned())
}

impl Overrides {
    /// Reads all of them. One that is set but empty counts as absent, as container tools leave it.
    pub fn read(lookup: &dyn Fn(&str) -> Option<String>, problems: &mut Problems) -> Self {
        let mut get = |name: &'static str| {
            let value = lookup(name).filter(|value| !value.is_empty())?;
            let place = Place::Variable(name);
            if value.contains('\u{FFFD}') {
                problems.add(&place, "the value is not UTF-8", "write it in UTF-8");
            }
            Some(Located { value, place })
        };
        let secret = |text: Option<Located<String>>| {
            text.map(|Located { value, place }| Located {
                value: Secret::new(value),
                place,
            })
        };
        Self {
            redis_url: get("FOLGA_REDIS_URL"),
            database_url: get("FOLGA_DATABASE_URL"),
            ntfy_url: get("FOLGA_NTFY_URL"),
            ntfy_topic: get("FOLGA_NTFY_TOPIC"),
            ntfy_token: secret(get("FOLGA_NTFY_TOKEN")),
            listen: get("FOLGA_LISTEN"),
            api_token: secret(get("FOLGA_API_TOKEN")),
            identity_key: secret(get(IDENTITY_KEY)),
        }
    }
}
