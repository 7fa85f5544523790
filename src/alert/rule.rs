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
        now.judged_before = before.judged_before.max(Some(news.closed_before));
        let mut worst: Option<Turn> = None;
        for high in news.highs {
            let level = self.lines.level(high.count);
            if self.was_known(&before, high, level, news) {
                continue;
            }
            if now.level > Level::Ok && self.has_ended(&now, high.minute, news) {
                now.level = Level::Ok;
            }
            if now.level == Level::Ok {
                if level == Level::Ok {
                    continue;
                }
                (now.since, now.last_high, now.peak) = (Some(high.minute), None, None);
            }
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
                });
            }
        }
        let ended = now.level > Level::Ok && self.has_ended(&now, news.closed_before, news);
        let told = now;
        if ended {
            now.level = Level::Ok;
        }
        let turn = match worst {
            Some(worst) if worst.level > before.level => Some(Turn { ended, ..worst }),
            _ if now.level == Level::Ok && before.level > Level::Ok => {
                told.peak.zip(told.since).map(|(peak, since)| Turn {
                    level: before.level,
                    ended: true,
                    peak,
                    since,
                })
            }
            _ => None,
        };
        (now, turn)
    }

    /// Whether a minute is old, and no worse than what was known of its hour. Minutes as late as an alert takes to end
    /// can't have been told and forgotten, so that they are judged like new ones.
    fn was_known(&self, before: &Standing, high: &High, level: Level, news: &News<'_>) -> bool {
        let recent_from = (before.judged_before).map(|judged| judged.plus(-self.clear_after.num_minutes()));
        recent_from.is_some_and(|from| high.minute < from)
            && level <= self.lines.level((news.known)(high.minute.hour()))
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
