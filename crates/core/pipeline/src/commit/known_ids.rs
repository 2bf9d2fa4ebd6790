//! The ids of the keys of one bulk ingest: each key is looked up in the dictionary once.

use foldhash::fast::FixedState;
use hedgerow_model::{KeyRef, VertexId};
use std::collections::HashMap;

/// The place of a number without an id.
const NONE: u32 = u32::MAX;

/// Places in the table per key that may come.
const PLACES_PER_KEY: usize = 4;

/// Ids by key. Small numbers are found in a table, others by their hash.
pub(super) struct KnownIds<'k> {
    /// The ids by number; [`NONE`] if it has none here.
    table: Vec<u32>,
    /// A bound above the numbers that may have a place in the table.
    places: usize,
    others: HashMap<KeyRef<'k>, VertexId, FixedState>,
}

impl<'k> KnownIds<'k> {
    /// No ids yet, for at most `keys` keys.
    pub fn new(keys: usize) -> Self {
        let places = keys.saturating_mul(PLACES_PER_KEY);
        KnownIds { table: Vec::new(), places, others: HashMap::default() }
    }

    /// The id of a key that is known. Expected O(1).
    #[inline]
    pub fn get(&self, key: KeyRef<'k>) -> Option<VertexId> {
        match self.place(key) {
            Some(place) => self.table.get(place).filter(|id| **id != NONE).map(|id| VertexId::new(*id)),
            None => self.others.get(&key).copied(),
        }
    }

    /// Remembers the id of a key. Amortized O(1).
    pub fn insert(&mut self, key: KeyRef<'k>, id: VertexId) {
        match self.place(key) {
            Some(place) => {
                if place >= self.table.len() {
                    // Grown by doubling.
                    self.table.resize((2 * self.table.len()).clamp(place + 1, self.places), NONE);
                }
                self.table[place] = id.get();
            }
            None => drop(self.others.insert(key, id)),
        }
    }

    #[inline]
    fn place(&self, key: KeyRef<'k>) -> Option<usize> {
        let KeyRef::Number(number) = key else { return None };
        usize::try_from(number).ok().filter(|place| *place < self.places)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_of_any_kind_keep_their_ids() {
        let keys = [KeyRef::Number(0), KeyRef::Number(7), KeyRef::Number(15), KeyRef::Number(16)];
        let keys = keys.into_iter().chain([KeyRef::Number(u64::MAX), KeyRef::Text("7"), KeyRef::Text("")]);
        let mut known = KnownIds::new(4);
        for (id, key) in (0..).map(VertexId::new).zip(keys.clone()) {
            assert_eq!(known.get(key), None);
            known.insert(key, id);
        }
        assert!(keys.zip((0..).map(VertexId::new)).all(|(key, id)| known.get(key) == Some(id)));
        assert_eq!((known.get(KeyRef::Number(6)), known.table.len()), (None, 16));
    }
}
