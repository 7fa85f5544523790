//! When somebody has to be told, and in which words: pure.
//!
//! A [`Rule`] judges what a drain brought for a limit; [`words`] says it; [`budget`] puts several into one message where
//! the notification server takes no more. The worker keeps how everything stands and delivers what there is to tell.

pub mod budget;
mod due;
pub mod fate;
pub mod key;
mod level;
mod rule;
pub mod service_words;
pub mod words;

pub use due::{Due, Kind, LastSent};
pub use level::{Level, Lines};
pub use rule::{High, News, Rule, Standing, Turn};
