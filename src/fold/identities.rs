//! The running counts of all identities that a window can still see.

use std::{
    collections::HashMap,
    hash::{BuildHasherDefault, Hasher},
};

use crate::time::Minute;

/// What is known of one identity.
#[derive(Debug)]
pub(super) struct State {
    pub(super) identity: i64,
    /// Its last minute with a count.
    pub(super) last: Minute,
    /// What its window holds. Wide, so that what went in can be taken out again whatever its size.
    pub(super) sum: u128,
}

/// Identities by slot. Slots are small and stay where they are, so lists of them are cheap to keep.
#[derive(Debug)]
pub(super) struct Identities {
    slots: IdMap<u32>,
    pub(super) states: Vec<State>,
    free: Vec<u32>,
}

/// The slot of the one series that stands for all identities of a shared limit.
pub(super) const SHARED: u32 = 0;

impl Identities {
    pub(super) fn new() -> Self {
        Self {
            slots: IdMap::default(),
            states: vec![State::new(0)],
            free: Vec::new(),
        }
    }

    /// The slot of an identity.
    pub(super) fn slot(&mut self, identity: i64) -> u32 {
        *self.slots.entry(identity).or_insert_with(|| {
            if let Some(slot) = self.free.pop() {
                self.states[slot as usize] = State::new(identity);
                return slot;
            }
            self.states.push(State::new(identity));
            #[expect(
                clippy::cast_possible_truncation,
                reason = "four billion states do not fit into memory"
            )]
            let slot = (self.states.len() - 1) as u32;
            slot
        })
    }

    /// Forgets the identities that no window sees any more.
    pub(super) fn prune(&mut self) {
        let (states, free) = (&self.states, &mut self.free);
        self.slots.retain(|_, slot| {
            let seen = states[*slot as usize].sum > 0;
            if !seen {
                free.push(*slot);
            }
            seen
        });
    }
}

impl State {
    const fn new(identity: i64) -> Self {
        Self {
            identity,
            last: Minute::from_index(i64::MIN),
            sum: 0,
        }
    }
}

/// A map from identities, which are hashes already.
pub(super) type IdMap<T> = HashMap<i64, T, BuildHasherDefault<Spread>>;

/// One multiplication: it carries the low bits into the high ones, which the map looks at too.
#[derive(Default)]
pub(super) struct Spread(u64);

impl Hasher for Spread {
    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write_u64(self.0 ^ u64::from(*byte));
        }
    }

    fn write_u64(&mut self, value: u64) {
        // 2^64 divided by the golden ratio; the rotation brings the well-mixed bits down to where the table's index is.
        self.0 = value.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(32);
    }

    fn finish(&self) -> u64 {
        self.0
    }
}
