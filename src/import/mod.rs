//! From a file of counts to samples in the order of time: what `folga import` reads.
//!
//! A file may be of any size and in any order. Its lines are read one by one ([`Rows`]) and checked against the catalog;
//! what is good becomes a [`Sample`] of a few bytes. Samples are sorted in memory as far as a bound allows and beyond it
//! in a temporary file ([`Sorted`]), which the system removes however the run ends. Sorting in the database would need
//! either one transaction as long as the whole import, as a temporary table lives no longer behind a pooler, or a table
//! that a crash leaves full.

mod check;
mod column;
mod csv;
mod json_lines;
mod lines;
mod order;
mod read;
mod refused;
mod rows;
mod sample;
mod sealed;
mod spill;

pub use check::{Checks, Named};
pub use order::Sorted;
pub use read::{Part, Reading, Span, Whole};
pub use refused::{Kind, Refused};
pub use rows::{Format, Rows};
pub use sample::Sample;
pub use sealed::Sealed;
