//! Who was counted, as a keyed 64-bit hash: what is stored says nothing about a person.

use std::{
    borrow::Cow,
    fmt::Write as _,
    hash::Hasher as _,
    net::{IpAddr, Ipv6Addr},
    ops::Range,
};

use hkdf::Hkdf;
use sha2::Sha256;
use siphasher::{sip::SipHasher24, sip128};

use crate::catalog::{Scope, Secret};

/// The hash keys derived from the catalog's identity key.
#[derive(Clone)]
pub struct Identities {
    identity: [u8; 16],
    stem: [u8; 16],
    fingerprint: [u8; 16],
}

impl Identities {
    /// Derives the keys. Each use has its own, so none tells anything about another.
    #[must_use]
    pub fn new(key: &Secret) -> Self {
        let source = Hkdf::<Sha256>::new(None, key.reveal().as_bytes());
        Self {
            identity: derive(&source, "folga identity v1"),
            stem: derive(&source, "folga key stem v1"),
            fingerprint: derive(&source, "folga fingerprint v1"),
        }
    }

    /// What tells two identity keys, or two ways of normalising, apart. It can be stored: it leads back to neither.
    #[must_use]
    pub fn fingerprint(&self) -> String {
        hex(&self.fingerprint)
    }

    /// The id of an identity of a scope: SipHash-2-4 over both. The identity is normalised already.
    #[must_use]
    pub fn id(&self, scope: &str, identity: &[u8]) -> i64 {
        let mut hasher = SipHasher24::new_with_key(&self.identity);
        // The length keeps ("ab", "c") apart from ("a", "bc").
        hasher.write(&(scope.len() as u64).to_le_bytes());
        hasher.write(scope.as_bytes());
        hasher.write(identity);
        hasher.finish().cast_signed()
    }

    /// What all minutes of one series of keys share: the hash of the key with its minute cut out.
    #[must_use]
    pub(super) fn stem(&self, key: &[u8], minute: &Range<usize>) -> i64 {
        let mut hasher = SipHasher24::new_with_key(&self.stem);
        hasher.write(&(minute.start as u64).to_le_bytes());
        hasher.write(&key[..minute.start]);
        hasher.write(&key[minute.end..]);
        hasher.finish().cast_signed()
    }

    /// A hash of a raw field, wide enough to stand for it while one hash is read.
    pub(super) fn mark(&self, field: &[u8]) -> u128 {
        sip128::SipHasher24::new_with_key(&self.stem)
            .hash(field)
            .as_u128()
    }
}

/// Brings the spellings of one identity together: an IPv4-mapped IPv6 address is its IPv4 address, any other IPv6
/// address its /64. What is no address stays as it is, and so does every identity of a scope that isn't `ip`.
#[must_use]
pub fn normalise(scope: Scope, raw: &[u8]) -> Cow<'_, [u8]> {
    if !scope.ip {
        return Cow::Borrowed(raw);
    }
    let text = str::from_utf8(raw).unwrap_or_default();
    match text.strip_suffix("/64").unwrap_or(text).parse::<IpAddr>() {
        Ok(IpAddr::V6(address)) => Cow::Owned(network(address).into_bytes()),
        // An IPv4 address has one spelling.
        Ok(IpAddr::V4(_)) | Err(_) => Cow::Borrowed(raw),
    }
}

fn network(address: Ipv6Addr) -> String {
    if let Some(mapped) = address.to_ipv4_mapped() {
        return mapped.to_string();
    }
    let bits = address.to_bits() >> 64 << 64;
    format!("{}/64", Ipv6Addr::from_bits(bits))
}

fn derive(source: &Hkdf<Sha256>, context: &str) -> [u8; 16] {
    let mut key = [0; 16];
    source
        .expand(context.as_bytes(), &mut key)
        .expect("HKDF-SHA256 gives up to 8160 bytes");
    key
}

fn hex(bytes: &[u8]) -> String {
    bytes
        .iter()
        .fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
            // Writing to a String cannot fail.
            let _ = write!(text, "{byte:02x}");
            text
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn identities(key: &str) -> Identities {
        Identities::new(&Secret::new(key.to_owned()))
    }

    #[test]
    fn ids_depend_on_key_scope_and_identity_and_on_nothing_else() {
        let one = identities("0123456789abcdef");
        assert_eq!(
            one.id("ip", b"1.2.3.4"),
            identities("0123456789abcdef").id("ip", b"1.2.3.4")
        );
        assert_ne!(
            one.id("ip", b"1.2.3.4"),
            identities("0123456789abcdeg").id("ip", b"1.2.3.4")
        );
        assert_ne!(one.id("ab", b"c"), one.id("a", b"bc"));
        assert_ne!(one.id("a", b"c"), one.id("b", b"c"));
    }

    #[test]
    fn the_stored_ids_and_the_fingerprint_never_change() {
        // Worked out in Python: HKDF from `hmac` and `hashlib`, SipHash-2-4 written from its paper (its test vector held).
        let one = identities("0123456789abcdef");
        assert_eq!(one.fingerprint(), "e2745798f80dbb4f7589f8fbd8586287");
        assert_eq!(one.id("usuario_id", b"42"), -1_785_913_248_848_247_172);
    }

    #[test]
    fn keys_that_differ_only_in_their_minute_share_a_stem() {
        let one = identities("0123456789abcdef");
        let stem = one.stem(b"m:a:202503101205", &(4..16));
        assert_eq!(stem, one.stem(b"m:a:202503101206", &(4..16)));
        assert_ne!(stem, one.stem(b"m:b:202503101205", &(4..16)));
        assert_ne!(
            one.stem(b"202503101205:a", &(0..12)),
            one.stem(b":a202503101205", &(2..14))
        );
    }

    #[test]
    fn addresses_are_brought_together_and_nothing_else_is() {
        let ip = Scope {
            ip: true,
            public: false,
        };
        for (raw, normal) in [
            ("10.0.0.1", "10.0.0.1"),
            ("::ffff:10.0.0.1", "10.0.0.1"),
            ("::FFFF:0A00:0001", "10.0.0.1"),
            ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
            ("2001:0DB8:0001:0002::", "2001:db8:1:2::/64"),
            ("2001:db8:1:2::/64", "2001:db8:1:2::/64"),
            ("::1", "::/64"),
            ("10.0.0.1 ", "10.0.0.1 "),
            ("010.0.0.1", "010.0.0.1"),
            ("esc-1", "esc-1"),
            ("", ""),
        ] {
            assert_eq!(normalise(ip, raw.as_bytes()).as_ref(), normal.as_bytes(), "{raw}");
            assert_eq!(
                normalise(Scope::default(), raw.as_bytes()).as_ref(),
                raw.as_bytes()
            );
        }
        assert_eq!(normalise(ip, b"\xff\xfe").as_ref(), b"\xff\xfe");
    }
}
