//! The fold against a direct count of the definitions.

use std::collections::{BTreeMap, BTreeSet};

use chrono_tz::{America::Sao_Paulo, Asia::Kolkata};
use proptest::prelude::*;

use super::*;
use crate::{
    fold::{Figures, Histogram, Peak, TopIdentity},
    time::{day_of, day_start},
};

/// Counts by identity and minute.
type Counts = BTreeMap<i64, BTreeMap<i64, u64>>;

/// Hours are numbered from here: 2018-11-03T12:00Z, so that spans meet the short day of Sao Paulo.
const BASE: i64 = 428_076;

fn window_start(rules: &Rules, minute: i64) -> i64 {
    match rules.window {
        Window::Seconds(_) => minute,
        Window::Minutes(n) => minute - minute.rem_euclid(i64::from(n)),
        Window::LocalDay => {
            let day = day_of(Minute::from_index(minute).start(), rules.zone);
            Minute::containing(day_start(day, rules.zone)).index()
        }
    }
}

fn sum(counts: &BTreeMap<i64, u64>, from: i64, to: i64) -> u64 {
    counts.range(from..=to).map(|(_, count)| count).sum()
}

/// The rows by the definitions, minute by minute and identity by identity.
fn direct(rules: &Rules, from: Hour, to: Hour, closed_before: Minute, samples: &[Sample]) -> Vec<HourRow> {
    let mut by_identity = Counts::new();
    let mut distinct = BTreeMap::<i64, BTreeSet<i64>>::new();
    for (minute, identity, count) in samples {
        let series = if rules.shared { 0 } else { *identity };
        *by_identity
            .entry(series)
            .or_default()
            .entry(minute.index())
            .or_default() += count.cast_unsigned();
        distinct
            .entry(minute.hour().index())
            .or_default()
            .insert(*identity);
    }
    let fixed = rules.algorithm == Algorithm::Fixed || rules.window == Window::LocalDay;
    let width = if let Window::Minutes(n) = rules.window {
        i64::from(n)
    } else {
        1
    };
    let observable = !matches!(rules.window, Window::Seconds(_));
    let mut rows = Vec::new();
    for hour in (from.index()..to.index()).map(Hour::from_index) {
        let minutes = hour.index() * 60..hour.index() * 60 + 60;
        let mut best = BTreeMap::<i64, (u64, i64)>::new();
        let mut histogram = Vec::new();
        let (mut upper, mut total) = (0, 0);
        for (identity, counts) in &by_identity {
            for minute in minutes.clone() {
                let start = if fixed {
                    window_start(rules, minute)
                } else {
                    minute - width + 1
                };
                if let Some(count) = counts.get(&minute) {
                    total += u128::from(*count);
                    upper = upper.max(sum(counts, start - i64::from(!fixed), minute));
                    let value = sum(counts, start, minute);
                    let kept = best.entry(*identity).or_insert((value, minute));
                    if value > kept.0 {
                        *kept = (value, minute);
                    }
                }
                let aligned = window_start(rules, minute);
                let closes = window_start(rules, minute + 1) != aligned && minute < closed_before.index();
                if observable && closes {
                    histogram.push((sum(counts, aligned, minute), 1));
                }
            }
        }
        let mut top: Vec<_> = best
            .iter()
            .map(|(identity, (peak, at))| TopIdentity {
                identity: *identity,
                peak: *peak,
                at: Minute::from_index(*at),
            })
            .collect();
        top.sort_by_key(|top| (std::cmp::Reverse(top.peak), top.at, top.identity));
        let value = top.first().map_or(0, |top| top.peak);
        let lower = match rules.window {
            Window::Seconds(n) => value.div_ceil(u64::from(60 / n)),
            Window::Minutes(_) if rules.algorithm == Algorithm::Anchored => value.div_ceil(2),
            _ => value,
        };
        let peak = top.first().filter(|_| observable).map(|top| Peak {
            value: top.peak,
            at: top.at,
            identity: (!rules.shared).then_some(top.identity),
        });
        top.truncate(if observable && !rules.shared { 5 } else { 0 });
        let histogram = Histogram::new(histogram);
        let identities = distinct.get(&hour.index()).map_or(0, |ids| ids.len() as u64);
        if identities > 0 || !histogram.is_empty() {
            let figures = Figures {
                peak,
                lower,
                upper,
                total,
                identities,
                histogram,
                top,
            };
            rows.push(HourRow { hour, figures });
        }
    }
    rows
}

fn any_rules() -> impl Strategy<Value = Rules> {
    const WINDOWS: [&str; 9] = ["5s", "30s", "1m", "2m", "7m", "15m", "1h", "3h", "1d"];
    const ALGORITHMS: [Algorithm; 3] = [Algorithm::Anchored, Algorithm::Sliding, Algorithm::Fixed];
    (
        proptest::sample::select(WINDOWS.as_slice()),
        proptest::sample::select(ALGORITHMS.as_slice()),
        any::<bool>(),
        proptest::sample::select(&[UTC, Sao_Paulo, Kolkata]),
    )
        .prop_map(|(window, algorithm, shared, zone)| Rules {
            shared,
            zone,
            ..rules(window, algorithm)
        })
}

/// Dense enough that windows overlap, over up to 30 hours, in minute order, several rows to a minute.
fn any_samples() -> impl Strategy<Value = Vec<Sample>> {
    let sample = (0_i64..1800, -4_i64..5, 1_i64..9);
    let near = (0_i64..90, -2_i64..3, 1_i64..9);
    proptest::collection::vec(prop_oneof![sample, near], 0..160).prop_map(|mut samples| {
        samples.sort_by_key(|(minute, ..)| *minute);
        let minute = |n| Minute::from_index(BASE * 60 + n);
        samples
            .into_iter()
            .map(|(n, identity, count)| (minute(n), identity, count))
            .collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    #[test]
    fn the_fold_agrees_with_a_direct_count(
        rules in any_rules(),
        samples in any_samples(),
        from in 0_i64..4,
        hours in 0_i64..30,
        open in 0_i64..200,
    ) {
        let (from, to) = (Hour::from_index(BASE + from), Hour::from_index(BASE + from + hours));
        let closed_before = to.first_minute().plus(-open);
        let mut fold = Fold::new(rules, from, to, closed_before);
        let needed = fold.needs_from();
        for (minute, identity, count) in samples.iter().filter(|(minute, ..)| *minute >= needed) {
            fold.add(*minute, &[*identity], &[*count]);
        }
        prop_assert_eq!(fold.finish(), direct(&rules, from, to, closed_before, &samples));
    }
}
