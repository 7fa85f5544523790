//! Samples in order, those of one identity and minute summed, in bounded memory.

use std::{cmp::Reverse, collections::BinaryHeap, io, vec};

use super::{Sample, spill};
use crate::time::Minute;

/// Samples that are sorted in memory.
pub(super) const HELD: usize = 1 << 20;

/// Takes samples in any order.
#[derive(Debug)]
pub(super) struct Sorter {
    held: Vec<Sample>,
    most: usize,
    taken: u64,
    spill: Option<spill::Spill>,
}

impl Sorter {
    /// One that holds at most so many samples at a time.
    pub(super) const fn new(most: usize) -> Self {
        Self {
            held: Vec::new(),
            most,
            taken: 0,
            spill: None,
        }
    }

    pub(super) fn push(&mut self, sample: Sample) -> io::Result<()> {
        self.held.push(sample);
        self.taken += 1;
        if self.held.len() < self.most {
            return Ok(());
        }
        sum(&mut self.held);
        // A log of requests has the same identity and minute many times over: often there is room again.
        if self.held.len() > self.most / 2 {
            let spill = match &mut self.spill {
                Some(spill) => spill,
                none => none.insert(spill::Spill::create()?),
            };
            spill.write(&self.held)?;
            self.held.clear();
        }
        Ok(())
    }

    pub(super) fn finish(mut self) -> io::Result<Sorted> {
        sum(&mut self.held);
        let spilt = self.spill.into_iter().flat_map(spill::Spill::runs);
        let runs = [Run::Held(self.held.into_iter())]
            .into_iter()
            .chain(spilt.map(Run::Spilt))
            .collect();
        Sorted::new(runs, self.taken)
    }
}

/// Sorts samples and adds up those that count the same.
fn sum(samples: &mut Vec<Sample>) {
    samples.sort_unstable();
    samples.dedup_by(|next, kept| {
        let is_same = next.is_same(kept);
        if is_same {
            kept.count = kept.count.saturating_add(next.count);
        }
        is_same
    });
}

#[derive(Debug)]
enum Run {
    Held(vec::IntoIter<Sample>),
    Spilt(spill::Run),
}

impl Run {
    fn next(&mut self) -> io::Result<Option<Sample>> {
        match self {
            Self::Held(samples) => Ok(samples.next()),
            Self::Spilt(run) => run.next(),
        }
    }
}

/// All samples of a file in order, each identity, minute and series once.
#[derive(Debug)]
pub struct Sorted {
    runs: Vec<Run>,
    /// The next of each run.
    heads: BinaryHeap<Reverse<(Sample, usize)>>,
    all: u64,
    gone: u64,
}

impl Sorted {
    fn new(runs: Vec<Run>, all: u64) -> io::Result<Self> {
        let mut sorted = Self {
            heads: BinaryHeap::with_capacity(runs.len()),
            runs,
            all,
            gone: 0,
        };
        for run in 0..sorted.runs.len() {
            sorted.refill(run)?;
        }
        Ok(sorted)
    }

    fn refill(&mut self, run: usize) -> io::Result<()> {
        let next = self.runs[run].next()?;
        self.heads.extend(next.map(|sample| Reverse((sample, run))));
        Ok(())
    }

    /// The next sample, its count perhaps not summed yet.
    #[must_use]
    pub fn peek(&self) -> Option<Sample> {
        self.heads.peek().map(|Reverse((sample, _))| *sample)
    }

    /// Takes at most so many samples of an environment and of minutes before one.
    ///
    /// # Errors
    /// The temporary file can't be read.
    pub fn take(&mut self, environment: u32, before: Minute, most: usize) -> io::Result<Vec<Sample>> {
        let mut taken: Vec<Sample> = Vec::new();
        while let Some(next) = self.peek() {
            let is_full = taken.len() == most;
            match taken.last_mut().filter(|last| last.is_same(&next)) {
                Some(last) => last.count = last.count.saturating_add(next.count),
                None if is_full || next.environment != environment || next.minute >= before => break,
                None => taken.push(next),
            }
            if let Some(Reverse((_, run))) = self.heads.pop() {
                self.refill(run)?;
            }
            self.gone += 1;
        }
        Ok(taken)
    }

    /// How much of it has been taken, and all there was.
    #[must_use]
    pub const fn progress(&self) -> (u64, u64) {
        // Some were summed while they were held.
        (self.gone, self.all)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn sample((environment, minute, series, id, count): (u32, i64, u32, i64, i64)) -> Sample {
        Sample {
            environment,
            minute: Minute::from_index(minute),
            series,
            id,
            count,
        }
    }

    /// Takes samples through a sorter that holds few, a few at a time.
    fn through(samples: &[Sample], most: usize, at_once: usize) -> Vec<Sample> {
        let mut sorter = Sorter::new(most);
        for sample in samples {
            sorter.push(*sample).unwrap();
            assert!(sorter.held.len() < most.max(2));
        }
        let mut all = sorter.finish().unwrap();
        let mut taken = Vec::new();
        while let Some(next) = all.peek() {
            let before = Minute::from_index(i64::MAX);
            let batch = all.take(next.environment, before, at_once).unwrap();
            assert!(batch.len() <= at_once);
            taken.extend(batch);
        }
        taken
    }

    #[test]
    fn what_counts_the_same_is_summed_wherever_it_stood() {
        let samples = [
            (0, 7, 1, 5, 2),
            (0, 7, 1, 4, 1),
            (1, 3, 0, 5, 1),
            (0, 7, 1, 5, 3),
            (0, 6, 2, 5, 1),
            (0, 7, 1, 5, i64::MAX),
        ]
        .map(sample);
        let expected = [
            (0, 6, 2, 5, 1),
            (0, 7, 1, 4, 1),
            (0, 7, 1, 5, i64::MAX),
            (1, 3, 0, 5, 1),
        ];
        for most in [1, 2, 3, 100] {
            assert_eq!(through(&samples, most, 1), expected.map(sample), "{most}");
        }
    }

    #[test]
    fn a_part_is_taken_up_to_a_minute() {
        let mut sorter = Sorter::new(2);
        for minute in [3, 1, 2, 4] {
            sorter.push(sample((0, minute, 0, 0, 1))).unwrap();
        }
        let mut all = sorter.finish().unwrap();
        let part = all.take(0, Minute::from_index(3), 100).unwrap();
        assert_eq!(part, [(0, 1, 0, 0, 1), (0, 2, 0, 0, 1)].map(sample));
        assert_eq!(all.progress(), (2, 4));
        assert_eq!(all.take(1, Minute::from_index(100), 100).unwrap(), []);
    }

    proptest! {
        #[test]
        fn spilling_changes_nothing(
            samples in prop::collection::vec((0_u32..2, 0_i64..5, 0_u32..3, -2_i64..2, 1_i64..9), 0..200),
            most in 1_usize..40,
            at_once in 1_usize..10,
        ) {
            let samples: Vec<_> = samples.into_iter().map(sample).collect();
            let mut expected = samples.clone();
            sum(&mut expected);
            prop_assert_eq!(through(&samples, most, at_once), expected);
        }
    }
}
