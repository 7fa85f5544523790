//! A demonstration on private servers: five weeks of two schools' traffic, drained as it would have been.

mod messaging;
mod random;
mod session;
mod staging;
mod traffic;

pub use traffic::{Write, traffic};
