//! The report: what was measured against every limit of an environment in a period.
//!
//! [`Period`] says which hours; [`Parts`] which daily and hourly rows hold them; [`build`] turns what was read into a
//! [`Report`], which is the JSON that is served; [`table`] prints it for a terminal.

mod build;
mod parts;
mod period;
mod table;
mod view;

#[cfg(test)]
mod tests;

pub use build::{LimitData, ReportInput, build};
pub use parts::{LeftOut, Parts, ignored_hours};
pub use period::{Period, PeriodChoice};
pub use table::table;
pub use view::{
    CoverageView, GroupView, IgnoredView, LimitView, PeakView, Report, SourceNames, SpanView, TopView,
};
