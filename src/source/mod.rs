//! From Redis keys to samples.

mod plan;

pub use plan::{Plan, Verdict};
