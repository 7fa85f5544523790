//! folga calibrates rate limits from the counters rate limiters leave in Redis.
pub mod catalog;
pub mod clock;
pub mod source;
pub mod time;
