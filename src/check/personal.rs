//! What is kept of persons and should not be. None of it is shown.

use std::collections::BTreeMap;

use super::finding::{About, Finding};
use crate::{
    catalog::Catalog,
    source::looks_personal,
    store::{StoreError, Tx, labels},
};

/// Scopes that are public and can have no labels.
pub(super) fn scopes(catalog: &Catalog) -> impl Iterator<Item = Finding> {
    let all = catalog
        .scopes
        .iter()
        .filter(|(_, scope)| scope.public && scope.ip);
    all.map(|(name, _)| {
        finding(format!(
            "scope {name} is public, and its identities are IP addresses, whose text is never kept: take `public` away"
        ))
    })
}

/// Stored labels that look personal, counted by scope and by what they look like.
pub(super) async fn stored_labels(tx: &mut Tx, catalog: &Catalog) -> Result<Vec<Finding>, StoreError> {
    let mut counts: BTreeMap<_, u64> = BTreeMap::new();
    for scope in catalog.public_scopes() {
        let mut from = Some(i64::MIN);
        while let Some(next) = from {
            let page = labels::page(tx, &scope, next).await?;
            let kinds = page
                .iter()
                .filter_map(|(_, label)| looks_personal(label.as_bytes()));
            for kind in kinds {
                *counts.entry((scope.clone(), kind)).or_default() += 1;
            }
            from = page.last().and_then(|(id, _)| id.checked_add(1));
        }
    }
    let found = counts.into_iter().map(|((scope, kind), count)| {
        let labels = if count == 1 { "label" } else { "labels" };
        finding(format!(
            "{count} stored {labels} of public scope {scope} looking like {kind}: declare the scope without `public`, and \
             its labels are dropped at the next start"
        ))
    });
    Ok(found.collect())
}

fn finding(what: String) -> Finding {
    Finding {
        about: About::Personal,
        source: None,
        environment: None,
        what,
        names: Vec::new(),
    }
}
