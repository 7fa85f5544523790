//! Minutes, hours, windows and local days: the only units of time the rest of the crate uses.

mod hour;
mod minute;
mod window;
mod zone;

pub use hour::Hour;
pub use minute::{Minute, MinuteError, MinuteFormat};
pub use window::{Algorithm, Window, WindowError};
pub use zone::{Day, day_end, day_of, day_start};
