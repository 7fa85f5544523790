//! folga calibrates rate limits from the counters rate limiters leave in Redis.
pub mod catalog;
pub mod check;
pub mod clock;
pub mod time;
