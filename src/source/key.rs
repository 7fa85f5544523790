//! What one key says by its name.

use std::{collections::BTreeMap, ops::Range};

use crate::{
    catalog::{Captures, Catalog, Environment, Find, Pattern, Scope, Source},
    time::Minute,
};

use super::text::{name, shortened, shown_key};

/// One source in one environment.
#[derive(Clone, Copy, Debug)]
pub struct Target<'c> {
    /// The catalog that both stand in.
    pub catalog: &'c Catalog,
    /// The source.
    pub source: &'c Source,
    /// The environment.
    pub environment: &'c Environment,
}

/// A key to read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundKey {
    /// The key itself.
    pub raw: Vec<u8>,
    /// Its minute.
    pub minute: Minute,
    /// Where in the key the minute stands; at its end and empty where its spelling is one of several.
    pub(super) minute_at: Range<usize>,
    /// What the key says beside the minute.
    pub(super) parts: Parts,
}

/// What a key says beside its minute, checked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Parts {
    pub endpoint: Option<String>,
    pub scope: Option<String>,
    pub identity: Option<Vec<u8>>,
    pub outcome: Option<String>,
}

impl Target<'_> {
    /// Splits a key of this target.
    pub(super) fn captures<'t>(&self, key: &'t [u8]) -> Option<Captures<'t>> {
        self.source
            .key
            .captures(&self.environment.prefix, key, self.source.minute)
    }

    /// Why a key is none of this target's, unless it is another's.
    pub(super) fn misfit(&self, key: &[u8]) -> Option<String> {
        if self.belongs_elsewhere(key) {
            None
        } else if self.source.key.fits_but_for_minute(&self.environment.prefix, key) {
            // The reason is the same for every text that is no minute.
            Minute::parse(b"", self.source.minute)
                .err()
                .map(|error| error.to_string())
        } else {
            Some("it does not fit the key pattern".to_owned())
        }
    }

    /// The other sources and environments that read a key as one of theirs, in words.
    pub(super) fn readers(&self, key: &[u8]) -> Vec<String> {
        let mut readers = Vec::new();
        for source in &self.catalog.sources {
            let here = |environment: &&Environment| source.environments.contains(&environment.name);
            for environment in self.catalog.environments.iter().filter(here) {
                let is_own = source.name == self.source.name && environment.name == self.environment.name;
                let target = Target {
                    source,
                    environment,
                    ..*self
                };
                if !is_own
                    && target
                        .captures(key)
                        .is_some_and(|captures| source.asks_for(&captures))
                {
                    readers.push(format!("source {} of {}", source.name, environment.name));
                }
            }
        }
        readers
    }

    /// Whether a key is an index, or a key of another source or environment.
    fn belongs_elsewhere(&self, key: &[u8]) -> bool {
        self.catalog.sources.iter().any(|source| {
            self.catalog
                .environments
                .iter()
                .filter(|environment| source.environments.contains(&environment.name))
                .any(|environment| {
                    let fits = |pattern: &Pattern| {
                        pattern
                            .captures(&environment.prefix, key, source.minute)
                            .is_some()
                    };
                    fits(&source.key) || matches!(&source.find, Find::Index(index) if fits(index))
                })
        })
    }
}

impl Parts {
    pub(super) fn new(captures: &Captures<'_>, scopes: &BTreeMap<String, Scope>) -> Result<Self, String> {
        let owned = |what, raw: Option<&[u8]>| raw.map(|raw| name(what, raw).map(str::to_owned)).transpose();
        let parts = Self {
            endpoint: owned("endpoint", captures.endpoint)?,
            scope: owned("scope", captures.scope)?,
            identity: captures.identity.map(<[u8]>::to_vec),
            outcome: owned("outcome", captures.outcome)?,
        };
        match &parts.scope {
            Some(scope) if !scopes.contains_key(scope) => Err(undeclared(scope)),
            _ => Ok(parts),
        }
    }
}

/// The reason to refuse a scope that the catalog does not declare.
pub(super) fn undeclared(scope: &str) -> String {
    format!(
        "scope \"{}\" is not declared",
        shortened(shown_key(scope.as_bytes()), 64)
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::fixture::{catalog, hashes, pattern};

    #[test]
    fn only_keys_of_nobody_are_misfits() {
        let mut gateway = hashes("gateway", "{env}m:{endpoint}:{minute}", "{scope}:{identity}");
        gateway.find = Find::Index(pattern("{env}m:index:{minute}:all"));
        let other = hashes("other", "{env}m:{endpoint}:{minute}:{_}", "{identity}");
        let catalog = catalog(vec![gateway, other]);
        let target = Target {
            catalog: &catalog,
            source: &catalog.sources[0],
            environment: &catalog.environments[0],
        };
        let misfit = |key: &str| target.misfit(key.as_bytes());
        assert_eq!(misfit("olp:m:index:202503101205:all"), None);
        assert_eq!(misfit("olp:m:send-otp:202503101205:x"), None);
        assert_eq!(misfit("olp-stg:m:send-otp:202503101205"), None);
        assert_eq!(
            misfit("olp:m:send-otp:20250310120").unwrap(),
            "the minute is not 12 digits YYYYMMDDHHmm of a real UTC minute since 1970"
        );
        assert_eq!(misfit("olp:m:x").unwrap(), "it does not fit the key pattern");
    }

    #[test]
    fn a_key_with_an_odd_name_is_refused() {
        let scopes = [("ip".to_owned(), Scope::default())].into();
        let refused = |endpoint: &[u8], scope: &[u8]| {
            let captures = Captures {
                endpoint: Some(endpoint),
                scope: Some(scope),
                ..Captures::default()
            };
            Parts::new(&captures, &scopes).err()
        };
        assert_eq!(refused(b"send-otp", b"ip"), None);
        assert_eq!(refused(b"\xc3(", b"ip").unwrap(), "the endpoint is not UTF-8");
        assert_eq!(
            refused(b"user/maria@example.org", b"ip").unwrap(),
            "the endpoint looks like an e-mail address, and would be stored as it is: that part belongs \
             into the identity, or nowhere"
        );
        assert_eq!(
            refused(b"x", b"10.0.0.1").unwrap(),
            "scope \"‹ip›\" is not declared"
        );
        assert_eq!(
            refused(b"x", b"i\\p").unwrap(),
            "scope \"i\\\\p\" is not declared"
        );
    }
}
