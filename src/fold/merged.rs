//! Hours put together: a local day, a period.

use chrono::Timelike;
use chrono_tz::Tz;

use super::{Figures, HourRow};

/// The figures of one shape over several hours.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Merged {
    /// What was counted in them.
    pub figures: Figures,
    /// The largest peak by local hour of day in which an hour starts. None where no hour had a peak.
    pub by_hour: [Option<u64>; 24],
    /// How many hours had samples.
    pub active_hours: u32,
}

impl Merged {
    /// Hours put together. The hours of a local day are those that start in it.
    #[must_use]
    pub fn of_hours(rows: &[HourRow], zone: Tz) -> Self {
        let mut by_hour = [None; 24];
        for row in rows {
            // Where the zone is off by half an hour, an hour lies in two local ones: it counts where it starts, as it
            // does for days.
            let hour = row.hour.start().with_timezone(&zone).hour();
            let largest: &mut Option<u64> = &mut by_hour[hour as usize];
            *largest = (*largest).max(row.figures.peak.map(|peak| peak.value));
        }
        let active = rows.iter().filter(|row| row.figures.total > 0).count();
        Self {
            figures: Figures::merged(rows.iter().map(|row| &row.figures)),
            by_hour,
            active_hours: u32::try_from(active).unwrap_or(u32::MAX),
        }
    }

    /// Spans put together that do not overlap: days, and the hours at the edges of a period. Nothing is lost on the
    /// way but `identities`, see there.
    #[must_use]
    pub fn of_parts<'a, I>(parts: I) -> Self
    where
        I: IntoIterator<Item = &'a Self>,
        I::IntoIter: Clone,
    {
        let parts = parts.into_iter();
        let mut all = Self {
            figures: Figures::merged(parts.clone().map(|part| &part.figures)),
            ..Self::default()
        };
        for part in parts {
            all.active_hours = all.active_hours.saturating_add(part.active_hours);
            for (largest, peak) in all.by_hour.iter_mut().zip(part.by_hour) {
                *largest = (*largest).max(peak);
            }
        }
        all
    }
}
