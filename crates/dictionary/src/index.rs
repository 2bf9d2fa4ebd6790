//! An index from the hashes of keys to vertex ids.

use hedgerow_model::VertexId;
use hedgerow_sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use hedgerow_sync::{Mutex, OnceLock};

/// Vertex ids by the hashes of their keys. Lookups take no lock; changes take a mutex.
///
/// Open addressing with linear probing. Cells hold ids and parts of hashes, no keys: the caller
/// compares the key of each [candidate](Index::candidates) with the one it looks for.
///
/// A table that fills up is replaced by one twice as large. The ones before stay allocated, because
/// lookups may still be in them; together they are smaller than the newest.
pub(crate) struct Index {
    tables: [OnceLock<Table>; TABLES],
    newest: AtomicUsize,
    changes: Mutex<Occupancy>,
}

type Table = Box<[AtomicU64]>;

/// The cells of the newest table that are not empty.
#[derive(Default)]
struct Occupancy {
    ids: usize,
    tombstones: usize,
}

/// Estimated bytes of a new id: its cells, and their share of those that are empty or superseded.
pub(crate) const BYTES_OF_ID: usize = 4 * size_of::<AtomicU64>();

const FIRST_TABLE_BITS: u32 = if cfg!(hedgerow_shuttle) { 1 } else { 6 };

/// The largest table has room for all ids.
const TABLES: usize = (u32::BITS + 1 - FIRST_TABLE_BITS) as usize + 1;

/// An id that may be the one of the key that is looked up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Candidate {
    pub(crate) id: VertexId,
    /// Whether the vertex was deleted. Older snapshots may still read it.
    pub(crate) is_deleted: bool,
}

/// A cell of a table: an id plus one in the lower half, so that zero is an empty cell, and a part
/// of the hash above it.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Cell(u64);

impl Cell {
    const EMPTY: Cell = Cell(0);
    const DELETED: u64 = 1 << 63;
    /// A cell that lookups pass and that an id may take.
    const TOMBSTONE: Cell = Cell(Cell::DELETED);
    const HASH: u64 = !Cell::DELETED & !(u32::MAX as u64);

    fn new(hash: u64, id: VertexId) -> Self {
        Cell(hash & Cell::HASH | (u64::from(id.get()) + 1))
    }

    #[inline]
    fn id(self) -> Option<VertexId> {
        // Ids are below `u32::MAX`.
        (self.0 as u32).checked_sub(1).map(VertexId::new)
    }

    /// The id, if this part of its key's hash matches.
    #[inline]
    fn candidate(self, hash: u64) -> Option<Candidate> {
        let id = self.id().filter(|_| (self.0 ^ hash) & Cell::HASH == 0)?;
        Some(Candidate { id, is_deleted: self.0 & Cell::DELETED != 0 })
    }
}

/// The candidates of one lookup.
pub(crate) struct Candidates<'i> {
    table: &'i [AtomicU64],
    hash: u64,
    position: usize,
}

impl Iterator for Candidates<'_> {
    type Item = Candidate;

    #[inline]
    fn next(&mut self) -> Option<Candidate> {
        // Every table has an empty cell.
        loop {
            let cell = Cell(self.table[self.position].load(Ordering::Acquire));
            if cell == Cell::EMPTY {
                return None;
            }
            self.position = next(self.table, self.position);
            if let Some(candidate) = cell.candidate(self.hash) {
                return Some(candidate);
            }
        }
    }
}

impl Index {
    pub(crate) fn new() -> Self {
        let index = Index {
            tables: [const { OnceLock::new() }; TABLES],
            newest: AtomicUsize::new(0),
            changes: Mutex::default(),
        };
        index.table_at(0);
        index
    }

    /// The ids whose keys may have this hash. O(1) on average.
    ///
    /// Without a lock on the key, an id may be missing that is inserted at the same moment, and one
    /// be there that is removed.
    #[inline]
    pub(crate) fn candidates(&self, hash: u64) -> Candidates<'_> {
        let table = self.newest();
        Candidates { table, hash, position: home(table, hash) }
    }

    /// What the cells hold where probing for each hash begins: most candidates, for lookups whose
    /// cache misses overlap.
    #[inline]
    pub(crate) fn first_candidates<const N: usize>(&self, hashes: &[u64; N]) -> [Option<Candidate>; N] {
        let table = self.newest();
        hashes.map(|hash| Cell(table[home(table, hash)].load(Ordering::Acquire)).candidate(hash))
    }

    /// Adds an id. Returns false, and changes nothing, if `is_same_key` holds for another candidate.
    /// `hash_of` returns the hash of the key of an id in the index.
    pub(crate) fn insert(
        &self,
        hash: u64,
        id: VertexId,
        is_same_key: impl Fn(VertexId) -> bool,
        hash_of: impl Fn(VertexId) -> u64,
    ) -> bool {
        let mut occupancy = self.changes.lock();
        if self.candidates(hash).any(|candidate| is_same_key(candidate.id)) {
            return false;
        }
        let table = self.with_room(&mut occupancy, hash_of);
        if take_cell(table, Cell::new(hash, id), home(table, hash)) == Cell::TOMBSTONE {
            occupancy.tombstones -= 1;
        }
        occupancy.ids += 1;
        true
    }

    /// Removes an id whose key has this hash, if it is there.
    pub(crate) fn remove(&self, hash: u64, id: VertexId) {
        let mut occupancy = self.changes.lock();
        let table = self.newest();
        let Some(mut position) = self.position_of(hash, id) else { return };
        occupancy.ids -= 1;
        occupancy.tombstones += 1;
        table[position].store(Cell::TOMBSTONE.0, Ordering::Release);
        // No lookup needs a tombstone before an empty cell.
        while load(table, next(table, position)) == Cell::EMPTY && load(table, position) == Cell::TOMBSTONE {
            table[position].store(Cell::EMPTY.0, Ordering::Release);
            occupancy.tombstones -= 1;
            position = previous(table, position);
        }
    }

    /// Marks the vertex of an id whose key has this hash as deleted.
    pub(crate) fn mark_deleted(&self, hash: u64, id: VertexId) {
        let _occupancy = self.changes.lock();
        if let Some(position) = self.position_of(hash, id) {
            self.newest()[position].fetch_or(Cell::DELETED, Ordering::Release);
        }
    }

    /// Heap bytes. O(1).
    pub(crate) fn bytes(&self) -> usize {
        // All tables together: a geometric series.
        (2 * self.newest().len() - (1 << FIRST_TABLE_BITS)) * size_of::<AtomicU64>()
    }

    #[inline]
    fn newest(&self) -> &Table {
        self.table_at(self.newest.load(Ordering::Acquire))
    }

    #[inline]
    fn table_at(&self, number: usize) -> &Table {
        self.tables[number].get_or_init(|| {
            (0..1 << (FIRST_TABLE_BITS as usize + number)).map(|_| AtomicU64::new(Cell::EMPTY.0)).collect()
        })
    }

    /// The newest table, with room for one more id; the caller holds the mutex.
    fn with_room(&self, occupancy: &mut Occupancy, hash_of: impl Fn(VertexId) -> u64) -> &Table {
        let table = self.newest();
        if 8 * (occupancy.ids + occupancy.tombstones + 1) <= 5 * table.len() {
            return table;
        }
        let number = self.newest.load(Ordering::Relaxed) + 1;
        let larger = self.table_at(number);
        for cell in table.iter().map(|cell| Cell(cell.load(Ordering::Relaxed))) {
            if let Some(id) = cell.id() {
                take_cell(larger, cell, home(larger, hash_of(id)));
            }
        }
        occupancy.tombstones = 0;
        self.newest.store(number, Ordering::Release);
        larger
    }

    /// Where an id is in the newest table; the caller holds the mutex.
    fn position_of(&self, hash: u64, id: VertexId) -> Option<usize> {
        let mut candidates = self.candidates(hash);
        candidates.find(|candidate| candidate.id == id)?;
        Some(previous(candidates.table, candidates.position))
    }
}

/// Stores a cell in the first that has no id from its home on; returns what was there. The caller
/// holds the mutex, and there is room.
fn take_cell(table: &[AtomicU64], cell: Cell, home: usize) -> Cell {
    let mut position = home;
    while load(table, position).id().is_some() {
        position = next(table, position);
    }
    let before = load(table, position);
    table[position].store(cell.0, Ordering::Release);
    before
}

fn load(table: &[AtomicU64], position: usize) -> Cell {
    Cell(table[position].load(Ordering::Relaxed))
}

/// Where probing for a hash begins. Lengths of tables are powers of two.
#[inline]
fn home(table: &[AtomicU64], hash: u64) -> usize {
    hash as usize & (table.len() - 1)
}

#[inline]
fn next(table: &[AtomicU64], position: usize) -> usize {
    (position + 1) & (table.len() - 1)
}

fn previous(table: &[AtomicU64], position: usize) -> usize {
    position.wrapping_sub(1) & (table.len() - 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::rngs::SmallRng;
    use rand::{RngExt, SeedableRng};
    use std::collections::BTreeMap;

    fn id(number: u32) -> VertexId {
        VertexId::new(number)
    }

    fn ids(index: &Index, hash: u64) -> Vec<(u32, bool)> {
        let mut ids: Vec<_> =
            index.candidates(hash).map(|found| (found.id.get(), found.is_deleted)).collect();
        ids.sort_unstable();
        ids
    }

    /// Random changes of ids with few different hashes, so that clusters, equal hashes and
    /// tombstones are common, against a map.
    #[test]
    fn the_index_agrees_with_a_map() {
        for seed in 0..20 {
            let mut random = SmallRng::seed_from_u64(seed);
            let index = Index::new();
            let (mut hashes, mut model) = (BTreeMap::new(), BTreeMap::new());
            // Some share the part of the hash in the cell, some the home, some both.
            let hash_of = |random: &mut SmallRng| {
                random.random_range(0u64..4) << 40 | random.random_range(0u64..64) << 3
            };
            for _ in 0..3000 {
                let number = random.random_range(0u32..200);
                match hashes.get(&number) {
                    None => {
                        let hash = hash_of(&mut random);
                        hashes.insert(number, hash);
                        assert!(index.insert(hash, id(number), |_| false, |id| hashes[&id.get()]));
                        model.insert(number, false);
                    }
                    Some(hash) if random.random_bool(0.5) => {
                        index.mark_deleted(*hash, id(number));
                        model.insert(number, true);
                    }
                    Some(hash) => {
                        index.remove(*hash, id(number));
                        hashes.remove(&number);
                        model.remove(&number);
                    }
                }
            }
            for (number, hash) in &hashes {
                let same = hashes.iter().filter(|(_, other)| (**other ^ hash) & Cell::HASH == 0);
                let same: Vec<_> = same.map(|(number, _)| (*number, model[number])).collect();
                let found = ids(&index, *hash);
                assert!(found.contains(&(*number, model[number])), "seed {seed}: {number} is missing");
                assert!(found.iter().all(|one| same.contains(one)), "seed {seed}: {found:?}, not {same:?}");
            }
        }
    }

    #[test]
    fn a_key_is_not_inserted_twice() {
        let index = Index::new();
        assert!(index.insert(7, id(0), |_| true, |_| 7));
        assert!(!index.insert(7, id(1), |other| other == id(0), |_| 7));
        assert!(index.insert(7, id(2), |other| other == id(1), |_| 7));
        assert_eq!(ids(&index, 7), [(0, false), (2, false)]);
    }

    #[test]
    fn removed_ids_leave_no_tombstones_before_empty_cells() {
        let index = Index::new();
        for number in 0..20 {
            index.insert(3, id(number), |_| false, |_| 3);
        }
        for number in [4, 3, 19, 18] {
            index.remove(3, id(number));
        }
        assert_eq!(index.changes.lock().tombstones, 2);
        (0..20).for_each(|number| index.remove(3, id(number)));
        let occupancy = index.changes.lock();
        assert_eq!((occupancy.ids, occupancy.tombstones), (0, 0));
        assert!(index.newest().iter().all(|cell| cell.load(Ordering::Relaxed) == Cell::EMPTY.0));
    }

    /// Keys that come and go, ever new ones, neither fill the table nor make it grow for ever.
    #[test]
    fn churn_does_not_grow_the_index() {
        let index = Index::new();
        let hash_of = |number: u32| u64::from(number).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        for number in 0..300_000 {
            index.insert(hash_of(number), id(number), |_| false, |id| hash_of(id.get()));
            if number >= 1000 {
                index.remove(hash_of(number - 1000), id(number - 1000));
            }
        }
        assert!(index.newest().len() <= 1 << 13, "{} cells for 1,000 ids", index.newest().len());
    }

    #[test]
    fn ids_and_hashes_use_all_their_bits() {
        let index = Index::new();
        let (hash, largest) = (u64::MAX, VertexId::MAX);
        index.insert(hash, largest, |_| false, |_| hash);
        assert_eq!(index.first_candidates(&[hash, 0])[0], Some(Candidate { id: largest, is_deleted: false }));
        index.mark_deleted(hash, largest);
        assert_eq!(ids(&index, hash), [(largest.get(), true)]);
        index.remove(hash, largest);
        assert_eq!(ids(&index, hash), []);
    }
}
