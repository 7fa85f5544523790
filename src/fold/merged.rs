//! Hours put together: a local day, a period.

use chrono::Timelike;
use chrono_tz::Tz;

use super::Figures;

/// The figures of one shape over several hours.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Merged {
    /// What was counted in them.
    pub figures: Figures,
    /// The largest peak by local hour of day, of the hours' peaks. None where no hour had its peak there.
    pub by_hour: [Option<u64>; 24],
}

impl Merged {
    /// The figures of hours put together. The hours of a local day are those that start in it.
    #[must_use]
    pub fn of_hours<'a>(hours: impl IntoIterator<Item = &'a Figures>, zone: Tz) -> Self {
        let mut by_hour = [None; 24];
        let figures = Figures::merged(hours.into_iter().inspect(|figures| {
            if let Some(peak) = figures.peak {
                let hour = peak.at.start().with_timezone(&zone).hour();
                raise(&mut by_hour[hour as usize], Some(peak.value));
            }
        }));
        Self { figures, by_hour }
    }

    /// Spans put together that do not overlap: days, and the hours at the edges of a period.
    #[must_use]
    pub fn of_parts<'a>(parts: impl IntoIterator<Item = &'a Self>) -> Self {
        let mut by_hour = [None; 24];
        let figures = Figures::merged(parts.into_iter().map(|part| {
            for (largest, peak) in by_hour.iter_mut().zip(part.by_hour) {
                raise(largest, peak);
            }
            &part.figures
        }));
        Self { figures, by_hour }
    }
}

fn raise(largest: &mut Option<u64>, peak: Option<u64>) {
    *largest = (*largest).max(peak);
}
