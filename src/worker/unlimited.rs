//! Reads what was counted of endpoints that no limit names.

use std::{
    cmp::Reverse,
    collections::{BTreeMap, BTreeSet, HashMap},
};

use super::{Folga, aggregate::ActiveShape};
use crate::{
    fold::Peak,
    report::{LeftOut, Period, UnlimitedData},
    store::{StoreError, Tx, series, unlimited},
    time::{Day, Hour},
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
    let (hours, zone) = ((period.from, period.to), folga.catalog.timezone);
    let ids: Vec<i32> = rest.keys().copied().collect();
    let mut found: BTreeMap<Name<'_>, Found> = BTreeMap::new();
    for counted in unlimited::totals(tx, &ids, hours, &left_out, zone).await? {
        let Some(series) = rest.get(&counted.series) else {
            continue;
        };
        let name = (&*series.source, &*series.endpoint, &*series.scope);
        let own = found.entry(name).or_default();
        own.total = own.total.saturating_add(counted.total);
        let source = folga
            .catalog
            .sources
            .iter()
            .find(|source| source.name == series.source);
        let accepted = source.and_then(|source| source.tells_accepted(&series.outcome));
        if let Some(is_accepted) = accepted {
            let more = if is_accepted { counted.total } else { 0 };
            own.accepted = Some(own.accepted.unwrap_or(0).saturating_add(more));
        }
        own.days.extend(counted.days);
        own.series.push(counted.series);
    }
    let mut found: Vec<(Name<'_>, Found)> = found.into_iter().collect();
    found.sort_by_key(|(_, own)| Reverse(own.total));
    found.truncate(SHOWN);
    let ids: Vec<i32> = found.iter().flat_map(|(_, own)| own.series.clone()).collect();
    let peaks: HashMap<i32, Peak> = (unlimited::peaks(tx, &ids, hours, &left_out).await?)
        .into_iter()
        .collect();
    let data = found
        .into_iter()
        .map(|((source, endpoint, scope), own)| UnlimitedData {
            source: source.to_owned(),
            endpoint: endpoint.to_owned(),
            scope: scope.to_owned(),
            total: own.total,
            accepted: own.accepted,
            active_days: u32::try_from(own.days.len()).unwrap_or(u32::MAX),
            peaks: (own.series.iter())
                .filter_map(|series| peaks.get(series).copied())
                .collect(),
        });
    Ok(data.collect())
}

/// Source, endpoint and scope.
type Name<'a> = (&'a str, &'a str, &'a str);

/// What was counted under a name, whatever the outcome.
#[derive(Default)]
struct Found {
    total: u128,
    accepted: Option<u128>,
    days: BTreeSet<Day>,
    series: Vec<i32>,
}
