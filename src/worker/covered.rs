//! Which minutes can be vouched for, for those who judge what they hold.

use std::collections::HashMap;

use crate::{
    catalog::Catalog,
    store::{
        StoreError, Tx,
        coverage::{self, Coverage, holds},
    },
    time::{Hour, Minute},
};

/// Which minutes can be vouched for, by source.
pub(super) struct Covered(HashMap<String, Coverage>);

impl Covered {
    /// Reads the hours of `[from, to)`, of every source of an environment that has had a sample: one without says nothing
    /// of a limit.
    pub(super) async fn read(
        tx: &mut Tx,
        catalog: &Catalog,
        environment: &str,
        from: Hour,
        to: Hour,
    ) -> Result<Self, StoreError> {
        let mut covered = HashMap::new();
        for source in &catalog.sources {
            let is_here = source.environments.iter().any(|own| own == environment);
            if is_here
                && coverage::state(tx, environment, &source.name)
                    .await?
                    .first_minute
                    .is_some()
            {
                let masks = coverage::read(tx, environment, &source.name, from, to).await?;
                covered.insert(source.name.clone(), masks);
            }
        }
        Ok(Self(covered))
    }

    /// Whether all of some sources can vouch for a minute.
    pub(super) fn holds(&self, sources: &[String], minute: Minute) -> bool {
        let mut known = sources.iter().filter_map(|source| self.0.get(source)).peekable();
        known.peek().is_some()
            && known.all(|masks| {
                let masks = masks.get(&minute.hour()).copied().unwrap_or_default();
                holds(masks.covered & !masks.doubtful, minute)
            })
    }
}
