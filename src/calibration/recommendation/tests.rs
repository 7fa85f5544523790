use chrono::{DateTime, Utc};

use super::*;
use crate::{calibration::Method, time::Minute};

fn day(n: u32) -> Day {
    Day::from_ymd_opt(2025, 3, n).unwrap()
}

fn minute() -> Minute {
    Minute::containing("2025-03-10T12:00:00Z".parse::<DateTime<Utc>>().unwrap())
}

/// Peaks of identities 1, 2, …, which need not be in order.
fn top(peaks: &[u64]) -> Vec<TopIdentity> {
    let mut top: Vec<_> = (1..)
        .zip(peaks)
        .map(|(identity, peak)| TopIdentity {
            identity,
            peak: *peak,
            at: minute(),
        })
        .collect();
    top.sort_by_key(|top| std::cmp::Reverse(top.peak));
    top
}

struct Case {
    limit: u64,
    ceiling: Option<u64>,
    ready: bool,
    censored: bool,
    bounds: Option<(u64, u64)>,
    /// The identities' peaks of each day.
    days: Vec<Vec<u64>>,
}

fn of_days(limit: u64, days: &[&[u64]]) -> Case {
    Case {
        limit,
        ceiling: None,
        ready: true,
        censored: false,
        bounds: None,
        days: days.iter().map(|day| day.to_vec()).collect(),
    }
}

impl Case {
    fn recommend(&self) -> Recommendation {
        let tops: Vec<Vec<TopIdentity>> = self.days.iter().map(|peaks| top(peaks)).collect();
        let days: Vec<ActiveDay<'_>> = (1..)
            .zip(&tops)
            .map(|(n, top)| ActiveDay {
                day: day(n),
                peak: top[0].peak,
                top,
            })
            .collect();
        let most = self.days.iter().map(Vec::len).max().unwrap_or(0);
        let best = (0..most).map(|identity| {
            let peaks = self.days.iter().filter_map(|day| day.get(identity).copied());
            peaks.max().unwrap_or(0)
        });
        Recommendation::new(&Evidence {
            limit: self.limit,
            alert_at: crate::catalog::alert_at(self.limit, 70),
            percent: 70,
            ceiling: self.ceiling,
            readiness: Readiness::new(if self.ready { 28 } else { 27 }, 28, 20),
            bounds: self.bounds,
            censored: self.censored,
            days: &days,
            known_days: 28,
            top: &top(&best.collect::<Vec<_>>()),
        })
    }

    fn comes_to(&self, action: Action, limit: Option<u64>) -> Recommendation {
        let recommendation = self.recommend();
        assert_eq!(
            (
                recommendation.action,
                recommendation.sizing.map(|sizing| sizing.limit)
            ),
            (action, limit),
            "{recommendation:?}"
        );
        recommendation
    }
}

#[test]
fn the_projected_peak_decides_between_raise_keep_and_lower() {
    // The peak is 20: projected 25, and 25 is at most 70 % of 36 (25.2), not of 35 (24.5).
    let days: &[&[u64]] = &[&[20, 18], &[12, 19]];
    let tight = of_days(35, days).comes_to(Action::Raise, Some(36));
    assert_eq!(tight.reason, Reason::Tight);
    assert_eq!(tight.sizing.unwrap().projection.method, Method::ObservedMargin);
    of_days(36, days).comes_to(Action::Keep, Some(36));
    // 36 is more than half of 71, and half of 72.
    of_days(71, days).comes_to(Action::Keep, Some(36));
    of_days(72, days).comes_to(Action::Lower, Some(36));
}

#[test]
fn without_evidence_the_figures_are_shown_and_nothing_is_decided() {
    let case = Case {
        ready: false,
        ..of_days(30, &[&[20, 18]])
    };
    let recommendation = case.comes_to(Action::Wait, Some(36));
    assert_eq!(
        recommendation.reason,
        Reason::Evidence(Readiness::new(27, 28, 20))
    );
    let empty = Case {
        ready: false,
        ..of_days(30, &[])
    };
    empty.comes_to(Action::Wait, None);
    // What dominates is told apart, and counts until it can be reviewed: 41 needs 74, without it 20 needs 36.
    let dominated = Case {
        ready: false,
        ..of_days(30, &[&[41, 20], &[3, 12]])
    };
    let waiting = dominated.comes_to(Action::Wait, Some(74));
    assert_eq!(waiting.dominated.unwrap().without.unwrap().limit, 36);
}

#[test]
fn one_identity_does_not_set_a_limit() {
    // 41 is more than twice 20. Without it the daily maxima are 20 and 12: 20 needs 36. With it 41 × 1.25 = 51.25
    // needs 73.2, so 74.
    let dominated = of_days(30, &[&[41, 20], &[3, 12]]).comes_to(Action::Review, Some(36));
    assert_eq!(
        dominated.reason,
        Reason::Identity {
            identity: 1,
            peak: 41,
            next: 20
        }
    );
    assert_eq!(dominated.dominated.unwrap().with.unwrap().limit, 74);
    // Twice is not more than twice.
    of_days(30, &[&[40, 20], &[39, 12]]).comes_to(Action::Raise, Some(72));
}

#[test]
fn an_identity_that_is_alone_dominates_nobody() {
    of_days(30, &[&[20], &[18]]).comes_to(Action::Raise, Some(36));
}

#[test]
fn one_day_does_not_set_a_limit() {
    // Several identities at once on the second day: 60 is more than twice the next day's 20. Without it 20 needs 36,
    // with it 60 × 1.25 = 75 needs 107.1, so 110.
    let dominated = of_days(30, &[&[20, 18], &[60, 58], &[9, 8]]).comes_to(Action::Review, Some(36));
    assert_eq!(
        dominated.reason,
        Reason::Day {
            day: day(2),
            peak: 60,
            next: 20
        }
    );
    assert_eq!(dominated.dominated.unwrap().with.unwrap().limit, 110);
}

#[test]
fn at_least_is_no_evidence_to_keep_or_lower() {
    let censored = |limit, ceiling| Case {
        censored: true,
        ceiling,
        ..of_days(limit, &[&[20, 20], &[18, 17]])
    };
    // What was reached under a limit of 20 asks for more; what was reached under a former, smaller limit as well.
    censored(20, None).comes_to(Action::Raise, Some(36));
    let kept = censored(50, None).comes_to(Action::Review, Some(36));
    assert_eq!(kept.reason, Reason::Censored { peak: 20 });
    censored(100, None).comes_to(Action::Review, Some(36));
}

#[test]
fn no_more_than_the_ceiling_is_recommended() {
    let capped = |limit, ceiling| Case {
        ceiling: Some(ceiling),
        ..of_days(limit, &[&[20, 18], &[18, 17]])
    };
    let raise = capped(20, 30).comes_to(Action::Raise, Some(30));
    let (needed, ceiling) = (36, 30);
    assert_eq!(raise.reason, Reason::Ceiling { needed, ceiling });
    // The limit is at the ceiling already, or above it: a person has to decide.
    capped(30, 30).comes_to(Action::Review, Some(30));
    capped(80, 30).comes_to(Action::Review, Some(30));
    capped(35, 36).comes_to(Action::Raise, Some(36));
}

#[test]
fn bounds_can_only_show_that_a_limit_holds() {
    let bounded = |lower, upper| Case {
        bounds: Some((lower, upper)),
        ..of_days(150, &[])
    };
    // 150 is near from 105.
    let kept = bounded(9, 104).comes_to(Action::Keep, None);
    assert_eq!(kept.reason, Reason::WithinBounds { upper: 104 });
    bounded(9, 105).comes_to(Action::Review, None);
    let review = bounded(160, 900).comes_to(Action::Review, None);
    let (lower, upper) = (160, 900);
    assert_eq!(review.reason, Reason::Bounds { lower, upper });
    let censored = Case {
        censored: true,
        ..bounded(9, 104)
    };
    censored.comes_to(Action::Review, None);
}
