//! From minute counts to hours: the peak, its bounds and the histogram of one limit shape.
//!
//! A [`Fold`] takes the counts of one shape in minute order and gives one [`HourRow`] per hour. It holds the minutes
//! that its window reaches back over and nothing else, whatever the length of the span. [`Merged`] puts hours
//! together into days and periods; [`SeriesFold`] does without windows, for one endpoint and scope, and [`GaugeFold`]
//! keeps what samples of gauges found, which are compared and never summed.
//!
//! The definitions. For identity i let x(m) be its count in minute m, and v(m) what a window of W minutes holds:
//! - anchored and sliding: v(m) = x(m−W+1) + … + x(m), looked at where x(m) > 0;
//! - fixed: the count so far of the window that m lies in, windows being aligned to the epoch, a day to local midnight.
//!
//! The peak is the largest v of any identity; among equals the earliest minute, then the smallest identity. It belongs
//! to the hour of m. Minute counts hide when within the first and the last minute requests came, so the truth lies
//! between a lower and an upper bound, see [`Rules::lower`] and [`Figures::upper`].

mod aligned;
mod figures;
mod gauge;
mod histogram;
mod hour;
mod identities;
mod merged;
mod series;
mod watch;
mod window;

#[cfg(test)]
mod tests;

pub use figures::{Figures, Peak, TopIdentity};
pub use gauge::{GaugeFold, GaugeHour, Samples, least};
pub use histogram::{Histogram, Over};
pub use hour::HourRow;
pub use merged::Merged;
pub use series::{SeriesFold, SeriesHour};
pub use watch::Watch;
pub use window::{Fold, Rules};
