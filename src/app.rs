//! Opens what the jobs need: the database, in line with the catalog, and the hash of identities.

use std::{sync::Arc, time::Duration};

use anyhow::Context;

use crate::{
    catalog::{Catalog, Secret},
    clock::Clock,
    servers::Embedded,
    source::Identities,
    store::{self, Probe, Store, migrate},
    worker::{Folga, sync},
};

/// Longest wait for a connection to Postgres.
const ACQUIRE_TIMEOUT: Duration = Duration::from_secs(5);
/// Longest wait for the goodbye to Postgres.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(1);

/// An opened service.
pub struct App {
    /// What the jobs need.
    pub folga: Folga,
    embedded: Option<Embedded>,
}

impl App {
    /// Connects to the catalog's Postgres, or starts the private one, and brings it in line with the catalog.
    ///
    /// # Errors
    /// The database cannot be reached, lacks the schema, or was made with another identity key.
    pub async fn open(catalog: Catalog, clock: Clock) -> anyhow::Result<Self> {
        let opened = open_store(&catalog).await;
        let (store, embedded) = opened.map_err(|error| store::Unusable(format!("{error:#}")))?;
        if embedded.is_some() {
            // Nobody else looks after a private database.
            migrate::run(&store).await.map_err(explained)?;
        } else {
            migrate::check(&store).await.map_err(explained)?;
        }
        let key = catalog
            .identity_key
            .clone()
            .context("there is no identity key: set FOLGA_IDENTITY_KEY")?;
        let folga = Folga {
            identities: Arc::new(Identities::new(&key)),
            catalog: Arc::new(catalog),
            store,
            clock,
        };
        sync::sync(&folga).await.map_err(in_words)?;
        Ok(Self { folga, embedded })
    }

    /// Closes the database; a private one is stopped where nobody else uses it.
    ///
    /// # Errors
    /// The private server does not stop.
    pub async fn close(self) -> anyhow::Result<()> {
        close(&self.folga.store, self.embedded).await
    }
}

async fn close(store: &Store, embedded: Option<Embedded>) -> anyhow::Result<()> {
    // A database that hangs must not hold up the end.
    _ = tokio::time::timeout(CLOSE_TIMEOUT, store.close()).await;
    if let Some(embedded) = embedded {
        tokio::task::spawn_blocking(move || embedded.close()).await??;
    }
    Ok(())
}

/// Creates or upgrades the schema; says how many steps were applied.
///
/// # Errors
/// The database cannot be reached or has a newer schema.
pub async fn migrate(catalog: &Catalog) -> anyhow::Result<usize> {
    let (store, embedded) = open_store(catalog).await?;
    let applied = migrate::run(&store).await.map_err(explained);
    close(&store, embedded).await?;
    applied
}

fn explained(error: migrate::SchemaError) -> anyhow::Error {
    match error {
        migrate::SchemaError::Store(error) => store::in_words(&error),
        other => other.into(),
    }
}

/// A failure of the database, wherever it came from, with its remedy.
fn in_words(error: anyhow::Error) -> anyhow::Error {
    match error.downcast_ref() {
        Some(failure) => store::in_words(failure),
        None => error,
    }
}

async fn open_store(catalog: &Catalog) -> anyhow::Result<(Store, Option<Embedded>)> {
    let settings = &catalog.postgres;
    let (url, embedded) = if let Some(url) = &settings.url {
        (url.clone(), None)
    } else {
        let data_dir = settings.data_dir.clone();
        let embedded = tokio::task::spawn_blocking(move || Embedded::open(&data_dir)).await??;
        (Secret::new(embedded.url()), Some(embedded))
    };
    let store = Store::new(&url, settings.max_connections, ACQUIRE_TIMEOUT)
        .map_err(|error| store::in_words(&error))?;
    // A pool would go on trying and then not say why.
    match tokio::time::timeout(ACQUIRE_TIMEOUT, Probe::new(&store).ask()).await {
        Ok(Ok(())) => Ok((store, embedded)),
        Ok(Err(error)) => Err(store::in_words(&error)),
        Err(_) => Err(anyhow::anyhow!(
            "Postgres does not answer within {} s: check that it runs and is reachable",
            ACQUIRE_TIMEOUT.as_secs()
        )),
    }
}
