//! From Redis keys to samples.

mod connect;
mod identity;
mod plan;
mod reject;
mod sample;
mod session;
mod text;

pub use connect::ConnectError;
pub use identity::{Identities, normalise};
pub use plan::{Plan, Verdict};
pub use reject::{Reject, Rejects};
pub use sample::parse_count;
pub use session::{ReadError, Session, Usage};
pub use text::printable;
