//! When an alert begins, gets worse and ends: pure, in the time of the data.
//!
//! An alert is as bad as its worst minute until it ends. It ends when the windows that made it have passed and the
//! limit was seen low for long enough after them: minutes that nobody read don't count.

use chrono::TimeDelta;

use super::{Level, Lines};
use crate::{
    fold::Rules,
    time::{Hour, Minute},
};

/// How a limit stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Standing {
    /// As what it was told last.
    pub level: Level,
    /// The minute that began it.
    pub since: Option<Minute>,
    /// The last minute that kept it from ending.
    pub last_high: Option<Minute>,
    /// Its largest count, and when.
    pub peak: Option<High>,
    /// Minutes before this one have been judged.
    pub judged_before: Option<Minute>,
}

/// A minute with a window that held much.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct High {
    /// The minute.
    pub minute: Minute,
    /// The largest count of a window then.
    pub count: u64,
}

/// What a drain brought.
pub struct News<'a> {
    /// The minutes whose windows have changed and hold at least [`Lines::clear_at`], ascending.
    pub highs: &'a [High],
    /// The first minute that is not closed.
    pub closed_before: Minute,
    /// Whether a minute can be vouched for.
    pub covered: &'a dyn Fn(Minute) -> bool,
    /// The largest count that was known of an hour before.
    pub known: &'a dyn Fn(Hour) -> u64,
}

/// What has to be told of a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Turn {
    /// The worst that came up, or what has ended.
    pub level: Level,
    /// Whether it is over.
    pub ended: bool,
    /// Its largest count, and when.
    pub peak: High,
    /// The minute that began it.
    pub since: Minute,
    /// Whether the count came up just now; else it was told before.
    pub is_new: bool,
}

/// How a limit is judged.
#[derive(Clone, Copy, Debug)]
pub struct Rule {
    /// What its windows are held against.
    pub lines: Lines,
    /// Its windows.
    pub rules: Rules,
    /// How long it must be low before an alert ends.
    pub clear_after: TimeDelta,
}

impl Rule {
    /// Judges what a drain brought. There is at most one thing to tell, however much came at once.
    #[must_use]
    pub fn judge(&self, before: Standing, news: &News<'_>) -> (Standing, Option<Turn>) {
        let mut now = before;
        // A clock that was ahead and was set back takes this with it: else nothing would be new for as long.
        now.judged_before = Some(news.closed_before);
        // What is allowed may have been raised since it was judged.
        if let Some(peak) = before.peak {
            now.level = now.level.min(self.lines.level(peak.count));
        }
        let mut told_level = now.level;
        let mut worst: Option<Turn> = None;
        for high in news.highs {
            let level = self.lines.level(high.count);
            if now.level > Level::Ok && self.has_ended(&now, high.minute, news) {
                (now.level, told_level) = (Level::Ok, Level::Ok);
            }
            if self.was_known(&before, high, level, news) {
                if now.level > Level::Ok && now.since.is_some_and(|since| since <= high.minute) {
                    now.last_high = now.last_high.max(Some(high.minute));
                }
                continue;
            }
            if now.level == Level::Ok {
                if level == Level::Ok {
                    continue;
                }
                (now.since, now.last_high, now.peak) = (Some(high.minute), None, None);
            }
            // Late data may tell of an earlier beginning.
            now.since = now.since.min(Some(high.minute));
            let risen = level > now.level;
            now.level = now.level.max(level);
            now.last_high = now.last_high.max(Some(high.minute));
            if now.peak.is_none_or(|peak| high.count > peak.count) {
                now.peak = Some(*high);
            }
            let is_worst = worst.is_none_or(|worst| level > worst.level || high.count > worst.peak.count);
            if (risen || worst.is_some()) && is_worst {
                worst = Some(Turn {
                    level: worst.map_or(now.level, |worst| worst.level.max(level)),
                    ended: false,
                    peak: *high,
                    since: now.since.unwrap_or(high.minute),
                    is_new: true,
                });
            }
        }
        let ended = now.level > Level::Ok && self.has_ended(&now, news.closed_before, news);
        let told = now;
        if ended {
            now.level = Level::Ok;
        }
        let turn = match worst {
            Some(worst) if worst.level > told_level => Some(Turn { ended, ..worst }),
            _ if now.level == Level::Ok && before.level > Level::Ok => {
                told.peak.zip(told.since).map(|(peak, since)| Turn {
                    level: before.level,
                    ended: true,
                    peak,
                    since,
                    is_new: false,
                })
            }
            _ => None,
        };
        (now, turn)
    }

    /// Whether a minute is old, and no worse than what was known of its hour. Minutes as late as an alert takes to end
    /// can't have been told and forgotten, so that they are judged like new ones.
    fn was_known(&self, before: &Standing, high: &High, level: Level, news: &News<'_>) -> bool {
        let recent_from =
            (before.judged_before).map(|judged| self.recent_from(judged.min(news.closed_before)));
        recent_from.is_some_and(|from| high.minute < from)
            && level <= self.lines.level((news.known)(high.minute.hour()))
    }

    /// From where minutes are judged like new ones, where all before `judged_before` were judged.
    #[must_use]
    pub fn recent_from(&self, judged_before: Minute) -> Minute {
        judged_before.plus(-self.clear_after.num_minutes())
    }

    /// Whether an alert has ended by a minute.
    fn has_ended(&self, standing: &Standing, by: Minute, news: &News<'_>) -> bool {
        let Some(last_high) = standing.last_high else {
            return true;
        };
        let free_from = self.rules.free_from(last_high);
        let wanted = usize::try_from(self.clear_after.num_minutes().max(1)).unwrap_or(usize::MAX);
        (free_from.index()..by.index())
            .map(Minute::from_index)
            .filter(|minute| (news.covered)(*minute))
            .take(wanted)
            .count()
            == wanted
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::{Algorithm, Window};

    fn rule(window: &str) -> Rule {
        Rule {
            lines: Lines {
                alert_at: 21,
                reached: Level::Near,
                limit: Some(30),
            },
            rules: Rules {
                window: Window::parse(window).unwrap(),
                algorithm: Algorithm::Anchored,
                shared: false,
                zone: chrono_tz::UTC,
            },
            clear_after: TimeDelta::minutes(15),
        }
    }

    /// A minute after noon of some day.
    fn minute(past: i64) -> Minute {
        Minute::from_index(29_000_160 + past)
    }

    /// A world in which a limit is drained, and what was told of it.
    struct World {
        rule: Rule,
        standing: Standing,
        gaps: Vec<i64>,
        known: u64,
    }

    impl World {
        fn new(window: &str) -> Self {
            Self {
                rule: rule(window),
                standing: Standing::default(),
                gaps: Vec::new(),
                known: 0,
            }
        }

        /// A drain at a minute that brings these counts.
        fn drain(&mut self, at: i64, counts: &[(i64, u64)]) -> Option<(Level, bool, u64, i64)> {
            let least = self.rule.lines.clear_at();
            let highs: Vec<High> = (counts.iter())
                .filter(|(_, count)| *count >= least)
                .map(|(past, count)| High {
                    minute: minute(*past),
                    count: *count,
                })
                .collect();
            let news = News {
                highs: &highs,
                closed_before: minute(at),
                covered: &|own| !self.gaps.contains(&(own.index() - minute(0).index())),
                known: &|_| self.known,
            };
            let (standing, turn) = self.rule.judge(self.standing, &news);
            self.standing = standing;
            turn.map(|turn| {
                let at = turn.peak.minute.index() - minute(0).index();
                (turn.level, turn.ended, turn.peak.count, at)
            })
        }
    }

    #[test]
    fn it_begins_gets_worse_and_ends_once() {
        let mut world = World::new("1m");
        assert_eq!(world.drain(5, &[(4, 20)]), None);
        assert_eq!(
            world.drain(10, &[(6, 21), (7, 22)]),
            Some((Level::Near, false, 22, 7))
        );
        assert_eq!(world.drain(15, &[(12, 25)]), None);
        assert_eq!(world.drain(20, &[(16, 31)]), Some((Level::Over, false, 31, 16)));
        // The minutes from 17 to 31 are low.
        assert_eq!(world.drain(31, &[]), None);
        assert_eq!(world.drain(32, &[]), Some((Level::Over, true, 31, 16)));
        assert_eq!(world.drain(40, &[]), None);
    }

    #[test]
    fn hovering_about_the_line_is_one_alert() {
        let mut world = World::new("1m");
        let mut told = 0;
        for drain in 0_i64..36 {
            let counts: Vec<(i64, u64)> = (drain * 5..drain * 5 + 5)
                .map(|past| (past, 20 + (past.cast_unsigned() % 2)))
                .collect();
            told += usize::from(world.drain(drain * 5 + 5, &counts).is_some());
        }
        assert_eq!(told, 1);
    }

    #[test]
    fn what_rose_and_fell_within_a_drain_is_told_once_as_over() {
        let mut world = World::new("1m");
        assert_eq!(
            world.drain(60, &[(10, 35), (30, 22)]),
            Some((Level::Over, true, 35, 10))
        );
        assert_eq!(world.standing.level, Level::Ok);
        // The second one goes on.
        let mut world = World::new("1m");
        assert_eq!(
            world.drain(60, &[(10, 35), (50, 22)]),
            Some((Level::Over, false, 35, 10))
        );
        assert_eq!(world.standing.level, Level::Near);
    }

    #[test]
    fn minutes_that_nobody_read_prove_nothing() {
        let mut world = World::new("1m");
        world.drain(5, &[(4, 25)]);
        world.gaps = (10..15).collect();
        assert_eq!(world.drain(20, &[]), None);
        assert_eq!(world.drain(24, &[]), None);
        assert!(world.drain(25, &[]).is_some());
    }

    #[test]
    fn a_window_is_full_until_it_has_passed() {
        // Its 15 minutes end with minute 18, and 15 more have to be low.
        let mut world = World::new("15m");
        world.drain(5, &[(4, 25)]);
        assert_eq!(world.drain(33, &[]), None);
        assert_eq!(world.drain(34, &[]), Some((Level::Near, true, 25, 4)));
    }

    #[test]
    fn a_new_alert_after_one_that_ended_within_the_drain_is_told() {
        let mut world = World::new("1m");
        for hour in 0..4 {
            let at = hour * 60;
            assert_eq!(
                world.drain(at + 60, &[(at + 50, 35)]),
                Some((Level::Over, false, 35, at + 50))
            );
        }
    }

    #[test]
    fn a_limit_that_was_raised_is_judged_anew() {
        let mut world = World::new("1m");
        assert_eq!(world.drain(5, &[(4, 35)]), Some((Level::Over, false, 35, 4)));
        world.rule.lines = Lines {
            alert_at: 28,
            reached: Level::Near,
            limit: Some(40),
        };
        assert_eq!(world.drain(8, &[]), None);
        assert_eq!(world.standing.level, Level::Near);
        assert_eq!(world.drain(12, &[(10, 45)]), Some((Level::Over, false, 45, 10)));
    }

    #[test]
    fn a_clock_that_was_ahead_makes_nothing_old() {
        let mut world = World::new("1m");
        world.drain(5, &[(4, 5)]);
        world.drain(500, &[]);
        world.known = 100;
        assert_eq!(world.drain(10, &[(8, 35)]), Some((Level::Over, false, 35, 8)));
        // What is known keeps an alert from ending.
        world.drain(500, &[]);
        world.standing.level = Level::Over;
        assert_eq!(world.drain(20, &[(18, 35)]), None);
        assert_eq!(world.standing.last_high, Some(minute(18)));
    }

    #[test]
    fn late_data_tell_only_what_was_not_known() {
        let mut world = World::new("1m");
        world.drain(120, &[(100, 5)]);
        // An hour ago there was more than was known of that hour.
        assert_eq!(
            world.drain(125, &[(60, 24), (61, 24)]),
            Some((Level::Near, true, 24, 60))
        );
        // Now it is known.
        world.known = 24;
        assert_eq!(world.drain(130, &[(60, 26), (62, 22)]), None);
        assert_eq!(world.drain(135, &[(60, 31)]), Some((Level::Over, true, 31, 60)));
        // Minutes that can't have been forgotten are judged like new ones.
        world.known = 100;
        assert_eq!(
            world.drain(140, &[(130, 22)]),
            Some((Level::Near, false, 22, 130))
        );
    }
}
