//! Which folds share one pass over the minute store: pure.

use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Samples that the folds of one pass may change, roughly: what bounds the memory of a large drain.
const PASS_WEIGHT: usize = 250_000;

/// Puts tasks that read a common series together, so that every row is read once, and as many of the rest together as
/// `weights` allow, so that a small drain takes one pass. `tasks` are the series that each task reads; a series without
/// a weight is as heavy as a pass may be.
pub(super) fn passes(tasks: &[Vec<i32>], weights: &HashMap<i32, usize>) -> Vec<Vec<usize>> {
    let mut passes: Vec<Vec<usize>> = Vec::new();
    let mut filled = PASS_WEIGHT;
    for tasks_together in components(tasks) {
        let series: BTreeSet<i32> = tasks_together
            .iter()
            .flat_map(|task| &tasks[*task])
            .copied()
            .collect();
        let weight = series
            .iter()
            .map(|series| weights.get(series).copied().unwrap_or(PASS_WEIGHT))
            .fold(0, usize::saturating_add);
        match passes.last_mut() {
            Some(pass) if filled.saturating_add(weight) <= PASS_WEIGHT => {
                pass.extend(tasks_together);
                filled += weight;
            }
            _ => {
                passes.push(tasks_together);
                filled = weight;
            }
        }
    }
    passes
}

/// Tasks that read a common series, directly or through others.
fn components(tasks: &[Vec<i32>]) -> Vec<Vec<usize>> {
    let mut component_of: HashMap<i32, usize> = HashMap::new();
    let mut components: BTreeMap<usize, (Vec<usize>, Vec<i32>)> = BTreeMap::new();
    for (task, series) in tasks.iter().enumerate() {
        let joined: BTreeSet<usize> = series
            .iter()
            .filter_map(|series| component_of.get(series))
            .copied()
            .collect();
        let mut whole = (vec![task], series.clone());
        for old in joined {
            if let Some((tasks, series)) = components.remove(&old) {
                whole.0.extend(tasks);
                whole.1.extend(series);
            }
        }
        component_of.extend(whole.1.iter().map(|series| (*series, task)));
        components.insert(task, whole);
    }
    components.into_values().map(|(tasks, _)| tasks).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sorted(passes: Vec<Vec<usize>>) -> Vec<Vec<usize>> {
        let mut passes: Vec<Vec<usize>> = passes
            .into_iter()
            .map(|mut pass| {
                pass.sort_unstable();
                pass
            })
            .collect();
        passes.sort_unstable();
        passes
    }

    #[test]
    fn light_tasks_take_one_pass() {
        let tasks = [vec![1], vec![2], vec![1, 3]];
        let weights = HashMap::from([(1, 10), (2, 10), (3, 10)]);
        assert_eq!(sorted(passes(&tasks, &weights)), [vec![0, 1, 2]]);
    }

    #[test]
    fn heavy_tasks_take_a_pass_each_unless_they_share_a_series() {
        // 1 and 4 are chained through 3: tasks 0, 2 and 3 read common rows.
        let tasks = [vec![1], vec![2], vec![3, 4], vec![1, 4], vec![5]];
        let heavy = PASS_WEIGHT;
        let weights = HashMap::from([(1, heavy), (2, heavy), (3, heavy), (4, heavy)]);
        // Series 5 has no weight: it may be of any size.
        assert_eq!(
            sorted(passes(&tasks, &weights)),
            [vec![0, 2, 3], vec![1], vec![4]]
        );
    }
}
