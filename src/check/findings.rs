//! What `folga check` finds in a sound catalog and in what is stored, and what it could not look at.

use std::{collections::BTreeMap, fmt, time::Duration};

use anyhow::Context as _;
use tokio::time::timeout;

use crate::{
    catalog::{Catalog, Secret},
    source::{Personal, looks_personal},
    store::{Probe, Store, StoreError, in_words, labels, migrate},
};

/// Longest wait for a server: a check is of use without any.
const CONNECTING: Duration = Duration::from_secs(2);
/// Longest look at what is stored.
const LOOKING: Duration = Duration::from_secs(10);

/// What was found, each with its remedy, and what was not looked at, each with the reason.
#[derive(Debug, Default)]
pub struct Findings {
    found: Vec<String>,
    unseen: Vec<String>,
}

impl Findings {
    /// Looks at the catalog and, where it can be reached, at what is stored. Never shows what looks personal.
    pub async fn of(catalog: &Catalog) -> Self {
        let mut findings = Self::default();
        findings.look_at_scopes(catalog);
        findings.look_at_labels(catalog).await;
        findings
    }

    /// Whether there is something to mend.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.found.is_empty()
    }

    fn look_at_scopes(&mut self, catalog: &Catalog) {
        for (name, scope) in &catalog.scopes {
            if scope.public && scope.ip {
                self.found.push(format!(
                    "scope {name} is public, and its identities are IP addresses, whose text is never kept: take \
                     `public` away"
                ));
            }
        }
    }

    async fn look_at_labels(&mut self, catalog: &Catalog) {
        let public = catalog.public_scopes();
        if public.is_empty() {
            return;
        }
        let counted = match &catalog.postgres.url {
            None => Err(anyhow::anyhow!("the private Postgres is not started for this")),
            Some(url) => personal_labels(url, &public).await,
        };
        match counted {
            Err(error) => self.unseen.push(format!("labels of public scopes ({error:#})")),
            Ok(counts) => self.found.extend(counts.into_iter().map(|((scope, kind), count)| {
                format!(
                    "{count} stored {} of public scope {scope} looking like {kind}: declare the scope without `public`, \
                     and its labels are dropped at the next start",
                    if count == 1 { "label" } else { "labels" }
                )
            })),
        }
    }
}

/// How many stored labels look personal, by scope and by what they look like.
async fn personal_labels(
    url: &Secret,
    public: &[String],
) -> anyhow::Result<BTreeMap<(String, Personal), u64>> {
    let store = Store::new(url, 1, CONNECTING).map_err(|error| in_words(&error))?;
    timeout(CONNECTING, Probe::new(&store).ask())
        .await
        .with_context(|| format!("Postgres does not answer within {} s", CONNECTING.as_secs()))?
        .map_err(|error| in_words(&error))?;
    migrate::check(&store).await?;
    let counting = async {
        let mut counts = BTreeMap::new();
        let mut tx = store.begin_snapshot().await?;
        for scope in public {
            let mut from = Some(i64::MIN);
            while let Some(next) = from {
                let page = labels::page(&mut tx, scope, next).await?;
                for kind in page
                    .iter()
                    .filter_map(|(_, label)| looks_personal(label.as_bytes()))
                {
                    *counts.entry((scope.clone(), kind)).or_default() += 1;
                }
                from = page.last().and_then(|(id, _)| id.checked_add(1));
            }
        }
        tx.rollback().await?;
        Ok::<_, StoreError>(counts)
    };
    timeout(LOOKING, counting)
        .await
        .with_context(|| format!("they were not read within {} s", LOOKING.as_secs()))?
        .map_err(|error| in_words(&error))
}

/// In words: a section for what there is of each, nothing where there is nothing.
impl fmt::Display for Findings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (title, lines) in [("Findings", &self.found), ("Not looked at", &self.unseen)] {
            if !lines.is_empty() {
                writeln!(f, "\n{title}")?;
            }
            for line in lines {
                writeln!(f, "  {line}")?;
            }
        }
        Ok(())
    }
}
