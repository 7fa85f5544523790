//! The report: what was measured against every limit of an environment in a period.
//!
//! [`Period`] says which hours; [`Parts`] which daily and hourly rows hold them; [`build`] turns what was read into a
//! [`Report`], which is the JSON that is served; [`table()`] prints it for a terminal, [`csv()`] writes it for
//! spreadsheets and [`markdown()`] for pull requests. [`Alerts`] are apart: how they stand now, whatever the period.

mod alert_table;
mod alerts;
mod bill;
mod build;
mod csv;
mod days;
mod evidence;
mod facts;
mod hours;
mod input;
mod limit;
mod markdown;
mod parts;
mod period;
mod profile;
mod reason;
mod table;
mod unlimited;
mod view;
mod what_if;
mod words;

#[cfg(test)]
mod tests;

pub use alert_table::{alerts_table, silences_table};
pub use alerts::{Alerts, DeliveryView};
pub use bill::{Bill, BillLine};
pub use build::{build, detail, limit_hours as hours};
pub use csv::csv;
pub use input::{InForce, LimitData, ReportInput, ShapeData, UnlimitedData};
pub use markdown::markdown;
pub use parts::{LeftOut, Parts, ignored_hours};
pub use period::{Period, PeriodChoice, first_hour};
pub use reason::reason;
pub use table::table;
pub use view::{
    AcceptedView, CoverageView, DayView, Detail, DominatedView, GroupView, HourView, Hours, IgnoredView,
    LimitState, LimitView, Limits, PeakView, Profile, RecommendationView, Report, SizingView, SourceNames,
    Span, SpanView, TopView, WhatIf,
};
pub use what_if::{states, what_if, what_if_words};
pub(crate) use words::printable;
