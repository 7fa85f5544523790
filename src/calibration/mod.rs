//! What the figures mean for a limit: its status, what it would have blocked, and how far they can be vouched for.
//!
//! All of it is pure: figures, a limit and masks of covered minutes go in, judgements come out.

mod coverage;
mod projection;
mod status;
mod trend;
mod would_block;

pub use coverage::{Coverage, Gap, Vouched};
pub use projection::{Method, Projection, project};
pub use status::{Judgement, Observed, Status, Target};
pub use trend::{Direction, Trend, trend};
pub use would_block::{Percentiles, WouldBlock};
