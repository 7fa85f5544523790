//! Ends what is alerted of sources and environments that are no longer in the catalog: no drain will.

use super::{Folga, targets};
use crate::{
    alert::{Kind, Standing, key, service_words},
    store::{StoreError, alerts, outbox, standings},
};

/// Ends it, and says so where somebody was told of it.
///
/// # Errors
/// The database failed.
pub(super) async fn end_what_is_gone(folga: &Folga) -> Result<(), StoreError> {
    let mut tx = folga.store.begin().await?;
    let mut all = alerts::alerted(&mut tx, None).await?;
    // Locked in one order.
    all.sort_by(|one, other| one.environment.cmp(&other.environment));
    for alerted in all {
        let (environment, key) = (&*alerted.environment, &*alerted.key);
        if environment == key::EVERYWHERE {
            continue;
        }
        let is_here = match key::source(key) {
            Some(name) => {
                targets(&folga.catalog).any(|(source, own)| source.name == name && own.name == environment)
            }
            // Drains end limits that left an environment.
            None => folga
                .catalog
                .environments
                .iter()
                .any(|own| own.name == environment),
        };
        if is_here {
            continue;
        }
        outbox::lock(&mut tx, environment).await?;
        standings::put(&mut tx, environment, &[(key.to_owned(), Standing::default())]).await?;
        let news = outbox::News {
            environment,
            key,
            kind: Kind::Ended,
            level: alerted.level,
            words: &service_words::gone(environment, key),
        };
        outbox::put(&mut tx, &news, folga.catalog.ntfy.is_some(), folga.clock.now()).await?;
    }
    tx.commit().await
}
