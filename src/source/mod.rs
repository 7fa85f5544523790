//! From Redis keys to samples.

mod cells;
mod connect;
mod cooldown;
mod find;
#[cfg(test)]
mod fixture;
mod identity;
mod key;
mod label;
mod look;
mod members;
mod personal;
mod plan;
mod read;
mod reject;
mod sample;
mod session;
mod statistics;
mod text;

pub use cells::{KeyRead, LISTED as LISTED_STRANGERS, RowRead, SeriesName};
pub use connect::ConnectError;
pub use find::{Found, SCAN_COUNT, find};
pub use identity::{Identities, normalise};
pub use key::{FoundKey, Target};
pub use label::{Labels, Met};
pub use look::{Bounds, Looked, MINUTES};
pub use members::Membership;
pub use personal::{Personal, looks_personal};
pub use plan::{Plan, Verdict};
pub use read::Reader;
pub use reject::{Reject, Rejects};
pub use sample::parse_count;
pub use session::{ReadError, Session, Usage};
pub use text::{name, printable, shortened, shown_key};
