//! The fold of one shape.

use std::{collections::VecDeque, mem};

use chrono_tz::Tz;

use super::{
    HourRow, Watch,
    aligned::Aligned,
    hour::HourFold,
    identities::{Identities, SHARED},
};
use crate::time::{Algorithm, Hour, Minute, Window};

/// The largest value that is stored; it stands for anything larger.
pub(super) const LARGEST: u64 = i64::MAX.cast_unsigned();

/// What decides the figures of a shape, its samples given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rules {
    /// The span over which the limit counts.
    pub window: Window,
    /// How the limiter opens its windows; a day is fixed whatever this says.
    pub algorithm: Algorithm,
    /// One limit for all identities together.
    pub shared: bool,
    /// Whose midnight a day starts at.
    pub zone: Tz,
}

impl Rules {
    /// Whether minute counts can show what a window holds. Below a minute they only bound it.
    #[must_use]
    pub const fn is_observable(&self) -> bool {
        self.is_sampled() || !matches!(self.window, Window::Seconds(_))
    }

    /// Whether minutes hold what samples of gauges found, rather than what came in. They are never added up.
    #[must_use]
    pub const fn is_sampled(&self) -> bool {
        matches!(self.algorithm, Algorithm::Sampled)
    }

    /// At least this much was in one window of the limiter, where `value` is the peak or, below a minute, the largest
    /// minute. A minute of 60 ÷ W windows has one with that share of it or more; a burst can have met the end of an
    /// anchored window and be split over two.
    #[must_use]
    pub const fn lower(&self, value: u64) -> u64 {
        match (self.window, self.algorithm) {
            (_, Algorithm::Sampled) => value,
            (Window::Seconds(seconds), _) => value.div_ceil(60 / seconds as u64),
            (Window::Minutes(_), Algorithm::Anchored) => value.div_ceil(2),
            _ => value,
        }
    }

    /// Whether windows are aligned, so that a count runs from a window's start.
    #[must_use]
    pub const fn is_fixed(&self) -> bool {
        matches!(self.window, Window::LocalDay)
            || matches!(self.algorithm, Algorithm::Fixed | Algorithm::Sampled)
    }

    /// What a window held for certain, where `sum` is what a window or, below a minute, a minute held.
    #[must_use]
    pub const fn certain(&self, sum: u64) -> u64 {
        if self.is_observable() {
            sum
        } else {
            self.lower(sum)
        }
    }

    /// The first minute at which no window is open any more that holds a minute.
    #[must_use]
    pub fn free_from(&self, minute: Minute) -> Minute {
        if self.is_fixed() {
            self.aligned(minute).end
        } else {
            minute.plus(self.width())
        }
    }

    /// The aligned window that holds a minute. A sample tells of its own minute alone.
    fn aligned(&self, minute: Minute) -> Aligned {
        let window = if self.is_sampled() {
            Window::Minutes(1)
        } else {
            self.window
        };
        Aligned::holding(minute, window, self.zone)
    }

    /// Minutes that a window is wide, where it is not fixed.
    const fn width(&self) -> i64 {
        match self.window {
            Window::Minutes(width) => width as i64,
            Window::Seconds(_) | Window::LocalDay => 1,
        }
    }
}

/// The counts of one minute, kept until they have left the window.
#[derive(Debug, Default)]
struct Counts {
    slots: Vec<u32>,
    counts: Vec<u64>,
}

/// Folds the counts of one shape, given in minute order, into hours.
#[derive(Debug)]
pub struct Fold {
    rules: Rules,
    from: Hour,
    to: Hour,
    closed_before: Minute,
    identities: Identities,
    /// The minute at hand, and who was counted in it.
    now: Option<Minute>,
    counted: Vec<u32>,
    /// The aligned window at hand, and who was counted in it.
    window: Aligned,
    held: Vec<u32>,
    /// The counts of the minute at hand, and of those before it that windows which are not fixed still hold.
    at_hand: Counts,
    past: VecDeque<(Minute, Counts)>,
    hour: Option<HourFold>,
    rows: Vec<HourRow>,
    watch: Option<Watch>,
}

impl Fold {
    /// A fold that reports the hours of `[from, to)`. Earlier minutes are only looked back at, later ones left out. An
    /// aligned window with a minute at or after `closed_before` is still open and left out of the histogram.
    #[must_use]
    pub fn new(rules: Rules, from: Hour, to: Hour, closed_before: Minute) -> Self {
        Self {
            rules,
            from,
            to,
            closed_before,
            identities: Identities::new(),
            now: None,
            counted: Vec::new(),
            window: rules.aligned(from.first_minute()),
            held: Vec::new(),
            at_hand: Counts::default(),
            past: VecDeque::new(),
            hour: None,
            rows: Vec::new(),
            watch: None,
        }
    }

    /// The same, with a look at which minutes had windows that held much.
    #[must_use]
    pub fn watched(mut self, watch: Watch) -> Self {
        self.watch = Some(watch);
        self
    }

    /// The first minute whose counts matter to the reported hours.
    #[must_use]
    pub fn needs_from(&self) -> Minute {
        let first = self.from.first_minute();
        if self.rules.is_fixed() {
            self.rules.aligned(first).start
        } else {
            first.plus(-self.rules.width())
        }
    }

    /// Takes a row of counts above 0 by identity. Rows come in ascending order of their minutes; several rows of one
    /// minute follow one another. Counts of one identity are summed, within a row too; of samples the larger counts, and
    /// the total is how many there are.
    pub fn add(&mut self, minute: Minute, identities: &[i64], counts: &[i64]) {
        if minute.hour() >= self.to || identities.is_empty() {
            return;
        }
        if self.now != Some(minute) {
            self.begin(minute);
        }
        let hour_start = minute.hour().first_minute();
        let (mut total, mut new) = (0_u128, 0);
        for (identity, count) in identities.iter().zip(counts) {
            let count = count.cast_unsigned();
            total += if self.rules.is_sampled() {
                1
            } else {
                u128::from(count)
            };
            let slot = self.identities.slot(*identity);
            let state = &mut self.identities.states[slot as usize];
            new += u64::from(state.last < hour_start);
            if self.rules.shared {
                state.last = minute;
            } else {
                self.count(slot, minute, count);
            }
        }
        if self.rules.shared && total > 0 {
            self.count(SHARED, minute, u64::try_from(total).unwrap_or(u64::MAX));
        }
        if minute.hour() >= self.from {
            let hour = self.enter(minute.hour());
            hour.total += total;
            hour.identities += new;
        }
    }

    /// The hours that have samples, or closed windows with samples, in order.
    #[must_use]
    pub fn finish(self) -> Vec<HourRow> {
        self.finish_watched().0
    }

    /// The same, and what was watched.
    #[must_use]
    pub fn finish_watched(mut self) -> (Vec<HourRow>, Option<Watch>) {
        self.end_minute();
        self.close_window();
        self.rows.extend(self.hour.map(|hour| hour.finish(&self.rules)));
        (self.rows, self.watch)
    }

    fn count(&mut self, slot: u32, minute: Minute, count: u64) {
        let state = &mut self.identities.states[slot as usize];
        if state.last < minute {
            self.counted.push(slot);
        }
        if state.last < self.window.start {
            self.held.push(slot);
        }
        state.last = minute;
        state.sum = if self.rules.is_sampled() {
            state.sum.max(u128::from(count))
        } else {
            state.sum + u128::from(count)
        };
        if !self.rules.is_fixed() {
            self.at_hand.slots.push(slot);
            self.at_hand.counts.push(count);
        }
    }

    fn begin(&mut self, minute: Minute) {
        let before = self.end_minute();
        if minute >= self.window.end || minute < self.window.start {
            self.close_window();
            self.window = self.rules.aligned(minute);
        }
        // The minute before the window stays until the upper bound is known.
        self.drop_until(minute.plus(-self.rules.width() - 1));
        if before.is_some_and(|before| before.hour() < minute.hour()) {
            self.identities.prune();
        }
        self.now = Some(minute);
    }

    /// Looks at what the windows hold now that the minute at hand is complete.
    fn end_minute(&mut self) -> Option<Minute> {
        let minute = self.now.take()?;
        let counted = mem::take(&mut self.counted);
        let largest = counted
            .iter()
            .map(|slot| self.identities.states[*slot as usize].sum)
            .max();
        if !self.rules.is_fixed() {
            self.past.push_back((minute, mem::take(&mut self.at_hand)));
            self.drop_until(minute.plus(-self.rules.width()));
        }
        if minute.hour() >= self.from {
            if let Some(watch) = self.watch.as_mut().filter(|watch| watch.looks_at(minute)) {
                for slot in &counted {
                    let state = &self.identities.states[*slot as usize];
                    watch.see(minute, state.identity, self.rules.certain(storable(state.sum)));
                }
            }
            self.enter(minute.hour());
            if let Some(hour) = &mut self.hour {
                hour.raise_upper(storable(largest.unwrap_or(0)));
                for slot in &counted {
                    let state = &self.identities.states[*slot as usize];
                    hour.offer(state.identity, minute, storable(state.sum));
                }
            }
        }
        self.counted = counted;
        self.counted.clear();
        Some(minute)
    }

    /// Takes minutes out of their windows, up to and with this one.
    fn drop_until(&mut self, last: Minute) {
        while let Some((_, gone)) = self.past.pop_front_if(|(minute, _)| *minute <= last) {
            for (slot, count) in gone.slots.iter().zip(&gone.counts) {
                self.identities.states[*slot as usize].sum -= u128::from(*count);
            }
        }
    }

    /// Counts the aligned window at hand into the hour of its last minute. A window that is not fixed holds the same
    /// as the aligned one when it ends with the same minute.
    fn close_window(&mut self) {
        let last = self.window.last();
        self.drop_until(last.plus(-self.rules.width()));
        let reported = (self.from..self.to).contains(&last.hour())
            && last < self.closed_before
            && self.rules.is_observable();
        if reported && !self.held.is_empty() {
            self.enter(last.hour());
            if let Some(hour) = &mut self.hour {
                for slot in &self.held {
                    hour.histogram
                        .add(storable(self.identities.states[*slot as usize].sum), 1);
                }
            }
        }
        for slot in self.held.drain(..) {
            if self.rules.is_fixed() {
                self.identities.states[slot as usize].sum = 0;
            }
        }
    }

    /// Makes an hour the one at hand, and ends the one before.
    fn enter(&mut self, hour: Hour) -> &mut HourFold {
        let done = self.hour.take_if(|at_hand| at_hand.hour != hour);
        self.rows.extend(done.map(|done| done.finish(&self.rules)));
        self.hour.get_or_insert_with(|| HourFold::new(hour))
    }
}

fn storable(sum: u128) -> u64 {
    u64::try_from(sum).unwrap_or(u64::MAX).min(LARGEST)
}
