//! folga calibrates rate limits from the counters rate limiters leave in Redis.
pub mod calibration;
pub mod catalog;
pub mod clock;
pub mod fold;
pub mod report;
pub mod time;
