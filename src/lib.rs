//! folga calibrates rate limits from the counters rate limiters leave in Redis.
//!
//! The modules stand in the order in which data flows:
//! [`catalog`] says what there is; [`source`] reads Redis keys into samples, and [`import`] files; [`store`] joins them
//! into the minute store in Postgres; [`fold`] makes hours of minutes; [`worker`] drains, folds and drops what is old;
//! [`calibration`] says what the figures mean; [`report`] shows them, and [`page`] makes pages of them in the words of
//! [`language`]; [`http`] serves both.

pub mod alert;
pub mod app;
pub mod calibration;
pub mod catalog;
pub mod check;
pub mod cli;
pub mod clock;
pub mod demo;
pub mod fold;
pub mod http;
pub mod import;
pub mod language;
pub mod ntfy;
pub mod page;
pub mod report;
pub mod serve;
pub mod servers;
pub mod source;
pub mod store;
pub mod telemetry;
pub mod time;
pub mod worker;
