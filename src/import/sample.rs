//! One count of one identity in one minute, in a few bytes.

use crate::time::Minute;

/// A row of the file. Samples are ordered by environment, then by time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Sample {
    /// Which environment of the catalog.
    pub environment: u32,
    /// When.
    pub minute: Minute,
    /// Which of the names that the file has.
    pub series: u32,
    /// Who.
    pub id: i64,
    /// How often; above zero.
    pub count: i64,
}

/// The bytes of one sample in a file.
pub(super) const BYTES: usize = 32;

impl Sample {
    /// Whether both count the same.
    pub(super) const fn is_same(&self, other: &Self) -> bool {
        self.environment == other.environment
            && self.minute.index() == other.minute.index()
            && self.series == other.series
            && self.id == other.id
    }

    pub(super) fn to_bytes(self) -> [u8; BYTES] {
        let mut bytes = [0; BYTES];
        bytes[..4].copy_from_slice(&self.environment.to_le_bytes());
        bytes[4..8].copy_from_slice(&self.series.to_le_bytes());
        bytes[8..16].copy_from_slice(&self.minute.index().to_le_bytes());
        bytes[16..24].copy_from_slice(&self.id.to_le_bytes());
        bytes[24..].copy_from_slice(&self.count.to_le_bytes());
        bytes
    }

    pub(super) fn from_bytes(bytes: [u8; BYTES]) -> Self {
        let short = |at: usize| u32::from_le_bytes(std::array::from_fn(|n| bytes[at + n]));
        let long = |at: usize| i64::from_le_bytes(std::array::from_fn(|n| bytes[at + n]));
        Self {
            environment: short(0),
            series: short(4),
            minute: Minute::from_index(long(8)),
            id: long(16),
            count: long(24),
        }
    }
}
