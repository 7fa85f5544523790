//! Reads what was counted of endpoints that no limit names.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::{Folga, aggregate::ActiveShape};
use crate::{
    report::{LeftOut, Period, UnlimitedData},
    store::{StoreError, Tx, series, unlimited},
    time::Hour,
};

/// At most so many are shown, those with the most traffic: endpoints may be named by anybody.
const SHOWN: usize = 100;

/// The endpoints of a source that none of an environment's shapes counts, whatever the scope; by traffic.
pub(super) async fn read(
    tx: &mut Tx,
    folga: &Folga,
    environment: &str,
    active: &[ActiveShape],
    period: Period,
) -> Result<Vec<UnlimitedData>, StoreError> {
    let all = series::of_environment(tx, environment).await?;
    let named: BTreeSet<(&str, &str)> = all
        .iter()
        .filter(|series| active.iter().any(|own| own.counts(series)))
        .map(|series| (&*series.source, &*series.endpoint))
        .collect();
    let rest: HashMap<i32, &series::Series> = all
        .iter()
        .filter(|series| !named.contains(&(&*series.source, &*series.endpoint)))
        .filter(|series| {
            folga
                .catalog
                .sources
                .iter()
                .any(|source| source.name == series.source)
        })
        .map(|series| (series.id, series))
        .collect();
    if rest.is_empty() {
        return Ok(Vec::new());
    }
    let left_out = LeftOut::new(&folga.catalog.ignored, environment);
    let left_out: Vec<_> = (period.from.index()..period.to.index())
        .map(Hour::from_index)
        .filter(|hour| left_out.holds(*hour))
        .map(Hour::start)
        .collect();
    let ids: Vec<i32> = rest.keys().copied().collect();
    let hours = (period.from, period.to);
    let mut found: BTreeMap<(&str, &str, &str), UnlimitedData> = BTreeMap::new();
    for counted in unlimited::read(tx, &ids, hours, &left_out, folga.catalog.timezone).await? {
        let Some(series) = rest.get(&counted.series) else {
            continue;
        };
        let data = found
            .entry((&series.source, &series.endpoint, &series.scope))
            .or_insert_with(|| UnlimitedData {
                source: series.source.clone(),
                endpoint: series.endpoint.clone(),
                scope: series.scope.clone(),
                total: 0,
                active_days: 0,
                peaks: Vec::new(),
            });
        data.total = data.total.saturating_add(counted.total);
        data.active_days = data.active_days.max(counted.active_days);
        data.peaks.push(counted.peak);
    }
    let mut found: Vec<UnlimitedData> = found.into_values().collect();
    found.sort_by_key(|data| std::cmp::Reverse(data.total));
    found.truncate(SHOWN);
    Ok(found)
}
