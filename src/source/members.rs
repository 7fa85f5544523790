//! Whose members identities are, by id.

use std::collections::HashMap;

use crate::catalog::Catalog;

use super::{Identities, Labels, label::label_of, normalise};

/// The tables of a catalog, hashed as identities are.
#[derive(Clone, Debug, Default)]
pub struct Membership {
    /// By the scope of the members and the other one.
    tables: HashMap<(String, String), HashMap<i64, i64>>,
    labels: Labels,
}

impl Membership {
    /// The tables of a catalog.
    #[must_use]
    pub fn new(catalog: &Catalog, identities: &Identities) -> Self {
        let mut own = Self::default();
        for members in &catalog.members {
            let Some(of) = catalog.scopes.get(&members.of) else {
                continue;
            };
            let table = members.table.iter().map(|(member, whole)| {
                let whole = normalise(*of, whole.as_bytes());
                let id = identities.id(&members.of, &whole);
                if of.public
                    && let Ok(label) = label_of(&whole)
                {
                    own.labels
                        .entry(members.of.clone())
                        .or_default()
                        .insert(id, label);
                }
                (identities.id(&members.scope, member.as_bytes()), id)
            });
            let table = table.collect();
            own.tables
                .insert((members.scope.clone(), members.of.clone()), table);
        }
        own
    }

    /// Whose members the identities of a scope are.
    #[must_use]
    pub fn of(&self, scope: &str, of: &str) -> Option<&HashMap<i64, i64>> {
        self.tables.get(&(scope.to_owned(), of.to_owned()))
    }

    /// The labels of those of public scopes that have members.
    #[must_use]
    pub const fn labels(&self) -> &Labels {
        &self.labels
    }
}
