//! What is kept of the texts of identities of public scopes.

use std::{
    collections::{BTreeMap, HashMap},
    mem,
};

use super::{Personal, looks_personal, printable, text::shortened};

/// Labels of public scopes: scope, id, label.
pub type Labels = HashMap<String, HashMap<i64, String>>;

/// The longest label that is kept whole, in bytes.
const LONGEST_LABEL: usize = 512;

/// Identities of a scope without a label that are told apart, so that memory stays bounded.
const MOST_WITHHELD: usize = 100_000;

/// The identities of public scopes that were met, each with its label or with the reason why it has none.
#[derive(Debug, Default)]
pub struct Met {
    labels: Labels,
    withheld: HashMap<String, HashMap<i64, Personal>>,
}

/// What is kept of an identity, normalised already.
///
/// # Errors
/// It looks personal, so that nothing is kept but its hash.
pub(super) fn label_of(identity: &[u8]) -> Result<String, Personal> {
    match looks_personal(identity) {
        Some(kind) => Err(kind),
        None => Ok(shortened(printable(identity), LONGEST_LABEL)),
    }
}

impl Met {
    /// Notes an identity of a public scope, normalised already.
    pub fn note(&mut self, scope: &str, id: i64, identity: &[u8]) {
        if holds(&self.labels, scope, id) || holds(&self.withheld, scope, id) {
            return;
        }
        match label_of(identity) {
            Ok(label) => put(&mut self.labels, scope, id, label),
            Err(kind) if self.withheld.get(scope).map_or(0, HashMap::len) < MOST_WITHHELD => {
                put(&mut self.withheld, scope, id, kind);
            }
            Err(_) => {}
        }
    }

    /// Takes the labels that were noted since the last call.
    pub fn take_labels(&mut self) -> Labels {
        mem::take(&mut self.labels)
    }

    /// How many identities have no label, by scope and by what they look like; more than 100,000 of a scope are not told.
    #[must_use]
    pub fn withheld(&self) -> BTreeMap<(&str, Personal), usize> {
        let mut counts = BTreeMap::new();
        for (scope, kinds) in &self.withheld {
            for kind in kinds.values() {
                *counts.entry((&**scope, *kind)).or_default() += 1;
            }
        }
        counts
    }
}

fn holds<T>(known: &HashMap<String, HashMap<i64, T>>, scope: &str, id: i64) -> bool {
    known.get(scope).is_some_and(|known| known.contains_key(&id))
}

fn put<T>(known: &mut HashMap<String, HashMap<i64, T>>, scope: &str, id: i64, what: T) {
    known.entry(scope.to_owned()).or_default().insert(id, what);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_looks_personal_has_no_label_and_is_counted_once() {
        let mut met = Met::default();
        for (id, identity) in [
            (1, "esc-1"),
            (2, "maria@example.org"),
            (2, "maria@example.org"),
            (3, "joao@example.org"),
            (4, "wa:5511999990000:device2"),
        ] {
            met.note("tenant", id, identity.as_bytes());
        }
        let labels = HashMap::from([(1, "esc-1".to_owned())]);
        assert_eq!(met.take_labels(), HashMap::from([("tenant".to_owned(), labels)]));
        met.note("tenant", 3, b"joao@example.org");
        assert_eq!(met.take_labels(), HashMap::new());
        let counts = [(("tenant", Personal::Email), 2), (("tenant", Personal::Phone), 1)];
        assert_eq!(met.withheld(), counts.into());
    }

    #[test]
    fn a_long_label_is_cut_after_it_was_looked_at() {
        let long = "a/".repeat(300);
        assert_eq!(label_of(long.as_bytes()).unwrap().len(), 512 + '…'.len_utf8());
        // The cut would leave half of the number.
        let hidden = format!("{}:5511999990000", "a".repeat(505));
        assert_eq!(label_of(hidden.as_bytes()), Err(Personal::Phone));
    }
}
