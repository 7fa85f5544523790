//! What the figures mean for a limit: its status, what it would have blocked, and how far they can be vouched for.
//!
//! All of it is pure: figures, a limit and masks of covered minutes go in, judgements come out.

mod coverage;
mod projection;
mod readiness;
mod recommendation;
mod sizing;
mod status;
mod trend;
mod would_block;

pub use coverage::{Coverage, DayCoverage, Gap, Vouched};
pub use projection::{Method, Projection, project};
pub use readiness::{ACTIVE_DAYS, Readiness};
pub use recommendation::{Action, ActiveDay, Dominated, Evidence, Reason, Recommendation};
pub use sizing::{Sizing, holding};
pub use status::{Judgement, Observed, Status, Target};
pub use trend::{Direction, Trend, trend};
pub use would_block::{Percentiles, WouldBlock};
