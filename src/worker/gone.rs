//! Ends what is alerted of sources and environments that are no longer in the catalog: no drain will.

use super::{Folga, targets};
use crate::{
    alert::{Kind, Level, key, service_words},
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
        let is_fed_by = |name: &str| {
            targets(&folga.catalog).any(|(source, own)| source.name == name && own.name == environment)
        };
        let is_here = if let Some(name) = key::source(key) {
            is_fed_by(name)
        } else {
            // Drains end limits that left the catalog, where there are drains.
            let limit = folga
                .catalog
                .limits()
                .find(|(_, limit)| key::limit(key) == Some(&limit.id));
            match limit {
                Some((_, limit)) => limit.sources.iter().any(|name| is_fed_by(name)),
                None => targets(&folga.catalog).any(|(_, own)| own.name == environment),
            }
        };
        if is_here {
            continue;
        }
        outbox::lock(&mut tx, environment).await?;
        if standings::of(&mut tx, environment, key).await?.level == Level::Ok {
            // Another process has ended it.
            continue;
        }
        standings::forget(&mut tx, environment, key).await?;
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
