//! Reads a whole file, a bounded part at a time.

use std::{collections::BTreeMap, io};

use chrono::NaiveDate;

use super::{
    Checks, Named, Refused, Rows, Sample, Sealed, Sorted,
    check::{self, Row},
    column::Fields,
    order::{HELD, Sorter},
};
use crate::{
    source::{Labels, Met},
    time::Minute,
};

/// Rows that are read at once.
const ROWS_TOGETHER: usize = 100_000;

/// What a file says of one source in one environment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// How many rows of it are good and no hour of them is sealed.
    pub rows: u64,
    /// Their first minute.
    pub first: Minute,
    /// Their last minute.
    pub last: Minute,
    /// The first and the last minute of which the file has a good row, sealed or not: it is taken as complete for what
    /// lies between.
    pub whole: (Minute, Minute),
}

impl Span {
    const fn new(minute: Minute) -> Self {
        Self {
            rows: 0,
            first: minute,
            last: minute,
            whole: (minute, minute),
        }
    }

    fn add(&mut self, minute: Minute, is_sealed: bool) {
        self.whole = (self.whole.0.min(minute), self.whole.1.max(minute));
        if is_sealed {
            return;
        }
        if self.rows == 0 {
            (self.first, self.last) = (minute, minute);
        }
        (self.first, self.last) = (self.first.min(minute), self.last.max(minute));
        self.rows += 1;
    }
}

/// A file that is being read.
pub struct Reading {
    rows: Rows,
    checks: Checks,
    fields: Fields,
    sorter: Sorter,
    spans: BTreeMap<(usize, usize), Span>,
    refused: Refused,
}

/// A file that was read.
#[derive(Debug)]
pub struct Whole {
    /// Its samples, and those of sealed hours.
    pub sorted: Sorted,
    /// What they count.
    pub names: Vec<Named>,
    /// What is sealed, by environment.
    pub sealed: Vec<Sealed>,
    /// What it says of each source that it brings something of, by environment and source of the catalog.
    pub spans: BTreeMap<(usize, usize), Span>,
    /// The identities of public scopes in it.
    pub met: Met,
    /// What was refused.
    pub refused: Refused,
}

/// One part of a file.
#[derive(Debug)]
pub struct Part {
    /// Labels of public identities in it, and the last day on which they were met.
    pub labels: Option<(Labels, NaiveDate)>,
    /// Whether there is no other part.
    pub is_last: bool,
}

impl Reading {
    /// Begins to read.
    #[must_use]
    pub fn new(rows: Rows, checks: Checks) -> Self {
        Self {
            rows,
            checks,
            fields: Fields::default(),
            sorter: Sorter::new(HELD),
            spans: BTreeMap::new(),
            refused: Refused::default(),
        }
    }

    /// Reads on.
    ///
    /// # Errors
    /// The file can't be read, or the temporary one can't be written.
    pub fn part(&mut self) -> io::Result<Part> {
        let mut latest: Option<Minute> = None;
        let mut is_last = false;
        for _ in 0..ROWS_TOGETHER {
            let Some((line, row)) = self.rows.next(&mut self.fields)? else {
                is_last = true;
                break;
            };
            match row.and_then(|()| self.checks.check(&self.fields)) {
                Err(refusal) => self.refused.add(line, &refusal),
                Ok(Row::Nobody) => {}
                Ok(Row::Sealed(sample)) => {
                    self.refused.add(line, &check::sealed());
                    self.take(sample, true)?;
                }
                Ok(Row::Sample(sample)) => {
                    latest = latest.max(Some(sample.minute));
                    self.take(sample, false)?;
                }
            }
        }
        let labels = self.checks.take_labels();
        Ok(Part {
            labels: latest.map(|minute| (labels, minute.start().date_naive())),
            is_last,
        })
    }

    fn take(&mut self, sample: Sample, is_sealed: bool) -> io::Result<()> {
        let named = self.checks.named(&sample);
        let span = self.spans.entry((named.environment, named.source));
        let span = span.or_insert_with(|| Span::new(sample.minute));
        span.add(sample.minute, is_sealed);
        if is_sealed && !self.checks.is_looked_back_at(&sample) {
            return Ok(());
        }
        self.sorter.push(sample)
    }

    /// All that was read.
    ///
    /// # Errors
    /// The temporary file can't be written.
    pub fn finish(mut self) -> io::Result<Whole> {
        self.spans.retain(|_, span| span.rows > 0);
        let (names, sealed, met) = self.checks.into_parts();
        Ok(Whole {
            sorted: self.sorter.finish()?,
            names,
            sealed,
            spans: self.spans,
            met,
            refused: self.refused,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sealed_rows_are_part_of_the_file_and_not_of_what_it_brings() {
        let minute = Minute::from_index;
        let mut span = Span::new(minute(5));
        for (at, is_sealed) in [(5, true), (8, false), (7, false), (9, true), (2, true)] {
            span.add(minute(at), is_sealed);
        }
        let expected = Span {
            rows: 2,
            first: minute(7),
            last: minute(8),
            whole: (minute(2), minute(9)),
        };
        assert_eq!(span, expected);
    }
}
