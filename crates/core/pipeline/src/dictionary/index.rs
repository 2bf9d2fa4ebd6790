//! An index from the hashes of keys to vertex ids.

use arc_swap::{ArcSwap, Guard};
use hedgerow_model::VertexId;
use hedgerow_sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use hedgerow_sync::{Arc, Mutex, prefetch};

/// Vertex ids by the hashes of their keys. Lookups take no lock; changes take a mutex.
///
/// Open addressing with linear probing. Cells hold ids and parts of hashes, but no keys: the caller
/// compares the key of each [candidate](OpenIndex::candidates) with the wanted key.
///
/// A table that is too full or too empty is replaced by a table of fitting size; concurrent lookups
/// in the old table keep it allocated until they end.
pub(crate) struct Index {
    newest: ArcSwap<Table>,
    changes: Mutex<Occupancy>,
    /// Number of ids of deleted vertices. Incremented before a cell is marked, decremented after a
    /// marked cell is removed.
    deleted: AtomicUsize,
}

/// Cells. Their number is a power of two, and at least one of them is empty.
struct Table(Box<[AtomicU64]>);

/// Numbers of the newest table's nonempty cells.
#[derive(Default)]
struct Occupancy {
    ids: usize,
    tombstones: usize,
}

impl Occupancy {
    /// Returns true if the table is too full for `more` ids.
    fn fills(&self, table: &Table, more: usize) -> bool {
        8 * (self.ids + self.tombstones + more) > 5 * table.0.len()
    }

    /// Returns the number of cells of a new table with room for `more` ids: the same as if the ids
    /// were added one by one. The present ids and one more take at most half of it.
    fn fitting_cells(&self, more: usize) -> usize {
        let for_next = 2 * (self.ids + 1);
        let for_all = (8 * (self.ids + more)).div_ceil(5);
        for_next.max(for_all).next_power_of_two().max(FEWEST_CELLS)
    }

    /// Adds an id to the table, which has room.
    fn add(&mut self, table: &Table, added: HashedId) {
        if table.add(Cell::new(added.hash, added.id), added.hash) == Cell::TOMBSTONE {
            self.tombstones -= 1;
        }
        self.ids += 1;
    }
}

const FEWEST_CELLS: usize = if cfg!(hedgerow_shuttle) { 2 } else { 64 };

/// An id, and the hash of its key.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HashedId {
    pub(crate) hash: u64,
    pub(crate) id: VertexId,
}

/// An id that may belong to the wanted key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Candidate {
    pub(crate) id: VertexId,
    /// True if the vertex was deleted. Older snapshots may still read it.
    pub(crate) is_deleted: bool,
}

/// A cell of a table. The lower half is the id plus one, so that zero is an empty cell; the bits
/// above are a part of the hash.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Cell(u64);

impl Cell {
    const EMPTY: Cell = Cell(0);
    const DELETED: u64 = 1 << 63;
    /// A cell that lookups pass, and that a new id may take.
    const TOMBSTONE: Cell = Cell(Cell::DELETED);
    const HASH: u64 = !Cell::DELETED & !(u32::MAX as u64);

    fn new(hash: u64, id: VertexId) -> Self {
        Cell(hash & Cell::HASH | (u64::from(id.get()) + 1))
    }

    #[inline]
    pub(crate) fn id(self) -> Option<VertexId> {
        // Ids are below `u32::MAX`.
        (self.0 as u32).checked_sub(1).map(VertexId::new)
    }

    /// Returns the id if the cell's part of its key's hash matches `hash`.
    #[inline]
    pub(crate) fn candidate(self, hash: u64) -> Option<Candidate> {
        let id = self.id().filter(|_| (self.0 ^ hash) & Cell::HASH == 0)?;
        Some(Candidate { id, is_deleted: self.is_deleted() })
    }

    #[inline]
    fn is_deleted(self) -> bool {
        self.0 & Cell::DELETED != 0
    }
}

/// The newest table, for a batch of lookups. Opening it is a barrier for the processor, so cache
/// misses overlap only between lookups in one opening.
pub(crate) struct OpenIndex(Guard<Arc<Table>>);

impl OpenIndex {
    /// Returns the ids whose keys may have this hash. O(1) on average.
    ///
    /// Without a lock on the key, the result may lack an id that is inserted concurrently, and
    /// contain an id that is removed concurrently.
    #[inline]
    pub(crate) fn candidates(&self, hash: u64) -> Candidates<'_> {
        self.0.candidates(hash)
    }

    /// Prefetches the cells where probing for a hash begins.
    #[inline]
    pub(crate) fn prefetch(&self, hash: u64) {
        self.0.prefetch(hash);
    }
}

/// The candidates of one lookup.
pub(crate) struct Candidates<'t> {
    table: &'t Table,
    hash: u64,
    position: usize,
}

impl Iterator for Candidates<'_> {
    type Item = Candidate;

    #[inline]
    fn next(&mut self) -> Option<Candidate> {
        loop {
            let cell = self.table.look_up(self.position);
            if cell == Cell::EMPTY {
                return None;
            }
            self.position = self.table.after(self.position);
            if let Some(candidate) = cell.candidate(self.hash) {
                return Some(candidate);
            }
        }
    }
}

impl Index {
    pub(crate) fn new() -> Self {
        Index {
            newest: ArcSwap::from_pointee(Table::new(FEWEST_CELLS)),
            changes: Mutex::default(),
            deleted: AtomicUsize::new(0),
        }
    }

    /// Opens the newest table for lookups. O(1).
    #[inline]
    pub(crate) fn open(&self) -> OpenIndex {
        OpenIndex(self.newest.load())
    }

    /// Returns true if there are ids of deleted vertices. If it returns false, an unmarked id that
    /// was found before is the only id of its key that a reader may see: any other id belongs to a
    /// vertex that no reader can see, or is newer than the lookup.
    #[inline]
    pub(crate) fn has_deleted(&self) -> bool {
        self.deleted.load(Ordering::Acquire) > 0
    }

    /// Makes room for `more` ids, so that the table is not replaced while they are added. `hash_of`
    /// returns the hash of the key of an id in the index. O(cells) if the table is too small.
    pub(crate) fn reserve(&self, more: usize, hash_of: impl Fn(VertexId) -> u64) {
        self.table_with_room(more, &mut self.changes.lock(), hash_of);
    }

    /// Adds an id. `hash_of` returns the hash of the key of an id in the index. O(1) amortized.
    pub(crate) fn insert(&self, added: HashedId, hash_of: impl Fn(VertexId) -> u64) {
        let mut occupancy = self.changes.lock();
        let table = self.table_with_room(1, &mut occupancy, hash_of);
        occupancy.add(&table, added);
    }

    /// Adds ids in order, up to the first id whose key has another id in the index. Returns that
    /// first id. `is_same_key` compares the keys of two ids; `hash_of` returns the hash of the key
    /// of an id in the index. O(1) amortized per id, with overlapping cache misses.
    pub(crate) fn insert_each(
        &self,
        added: &[HashedId],
        is_same_key: impl Fn(VertexId, VertexId) -> bool,
        hash_of: impl Fn(VertexId) -> u64,
    ) -> Option<VertexId> {
        let mut occupancy = self.changes.lock();
        let table = self.table_with_room(added.len(), &mut occupancy, hash_of);
        added.iter().for_each(|one| table.prefetch(one.hash));
        for one in added {
            if table.candidates(one.hash).any(|other| is_same_key(one.id, other.id)) {
                return Some(one.id);
            }
            occupancy.add(&table, *one);
        }
        None
    }

    /// Removes an id whose key has this hash, if the id is in the index. `hash_of` returns the hash
    /// of the key of any other id in the index.
    pub(crate) fn remove(&self, hash: u64, id: VertexId, hash_of: impl Fn(VertexId) -> u64) {
        let mut occupancy = self.changes.lock();
        let table = self.newest.load_full();
        let Some(position) = self.position_of(hash, id) else { return };
        let was_deleted = table.look_up(position).is_deleted();
        occupancy.ids -= 1;
        occupancy.tombstones += 1;
        table.store(position, Cell::TOMBSTONE);
        self.deleted.fetch_sub(usize::from(was_deleted), Ordering::Release);
        occupancy.tombstones -= table.clear_tombstones(position);
        if table.0.len() > FEWEST_CELLS && 8 * occupancy.ids < table.0.len() {
            self.replace(&table, 1, &mut occupancy, hash_of);
        }
    }

    /// Marks the vertex of an id whose key has this hash as deleted.
    pub(crate) fn mark_deleted(&self, hash: u64, id: VertexId) {
        let _occupancy = self.changes.lock();
        if let Some(position) = self.position_of(hash, id) {
            let table = self.newest.load();
            let cell = table.look_up(position);
            self.deleted.fetch_add(usize::from(!cell.is_deleted()), Ordering::Release);
            table.store(position, Cell(cell.0 | Cell::DELETED));
        }
    }

    /// Heap bytes. O(1).
    pub(crate) fn bytes(&self) -> usize {
        self.newest.load().0.len() * size_of::<AtomicU64>()
    }

    /// Bytes by which the next id grows the index. O(1).
    pub(crate) fn bytes_of_next(&self) -> usize {
        let (occupancy, table) = (self.changes.lock(), self.newest.load());
        match occupancy.fills(&table, 1) {
            true => occupancy.fitting_cells(1).saturating_sub(table.0.len()) * size_of::<AtomicU64>(),
            false => 0,
        }
    }

    /// Returns the newest table, after replacing it if it was too full for `more` ids.
    fn table_with_room(
        &self,
        more: usize,
        occupancy: &mut Occupancy,
        hash_of: impl Fn(VertexId) -> u64,
    ) -> Arc<Table> {
        let table = self.newest.load_full();
        if occupancy.fills(&table, more) { self.replace(&table, more, occupancy, hash_of) } else { table }
    }

    /// Replaces `table`, which is the newest, by a table with room for its ids and `more`.
    fn replace(
        &self,
        table: &Table,
        more: usize,
        occupancy: &mut Occupancy,
        hash_of: impl Fn(VertexId) -> u64,
    ) -> Arc<Table> {
        let fitting = Arc::new(Table::new(occupancy.fitting_cells(more)));
        for cell in table.0.iter().map(|cell| Cell(cell.load(Ordering::Relaxed))) {
            if let Some(id) = cell.id() {
                fitting.add(cell, hash_of(id));
            }
        }
        occupancy.tombstones = 0;
        self.newest.store(Arc::clone(&fitting));
        fitting
    }

    /// Returns the position of an id in the newest table. The caller holds the mutex.
    fn position_of(&self, hash: u64, id: VertexId) -> Option<usize> {
        let index = self.open();
        let mut candidates = index.candidates(hash);
        candidates.find(|candidate| candidate.id == id)?;
        Some(index.0.before(candidates.position))
    }
}

impl Table {
    fn new(cells: usize) -> Self {
        Table((0..cells).map(|_| AtomicU64::new(Cell::EMPTY.0)).collect())
    }

    /// Returns the first position of the probe sequence of a hash.
    #[inline]
    fn home(&self, hash: u64) -> usize {
        hash as usize & (self.0.len() - 1)
    }

    /// Returns the ids whose keys may have this hash.
    #[inline]
    fn candidates(&self, hash: u64) -> Candidates<'_> {
        Candidates { position: self.home(hash), table: self, hash }
    }

    #[inline]
    fn prefetch(&self, hash: u64) {
        prefetch(&self.0[self.home(hash)], size_of::<AtomicU64>());
    }

    #[inline]
    fn after(&self, position: usize) -> usize {
        (position + 1) & (self.0.len() - 1)
    }

    fn before(&self, position: usize) -> usize {
        position.wrapping_sub(1) & (self.0.len() - 1)
    }

    #[inline]
    fn look_up(&self, position: usize) -> Cell {
        Cell(self.0[position].load(Ordering::Acquire))
    }

    fn store(&self, position: usize, cell: Cell) {
        self.0[position].store(cell.0, Ordering::Release);
    }

    /// Stores a cell in the first one without an id, from the home of `hash` on. Returns the former
    /// content. There is room, and no other thread changes the table.
    fn add(&self, cell: Cell, hash: u64) -> Cell {
        let mut position = self.home(hash);
        while self.look_up(position).id().is_some() {
            position = self.after(position);
        }
        let before = self.look_up(position);
        self.store(position, cell);
        before
    }

    /// Empties the tombstones up to `position` if the cell after it is empty, because no lookup has
    /// to pass them. Returns their number. No other thread changes the table.
    fn clear_tombstones(&self, mut position: usize) -> usize {
        let mut cleared = 0;
        if self.look_up(self.after(position)) == Cell::EMPTY {
            while self.look_up(position) == Cell::TOMBSTONE {
                self.store(position, Cell::EMPTY);
                position = self.before(position);
                cleared += 1;
            }
        }
        cleared
    }
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
            index.open().candidates(hash).map(|found| (found.id.get(), found.is_deleted)).collect();
        ids.sort_unstable();
        ids
    }

    /// Compares random changes with a map. The ids have few different hashes, so that clusters,
    /// equal hashes and tombstones are common.
    #[test]
    fn the_index_agrees_with_a_map() {
        for seed in 0..20 {
            let mut random = SmallRng::seed_from_u64(seed);
            let index = Index::new();
            let (mut hashes, mut model) = (BTreeMap::new(), BTreeMap::new());
            // Some ids share the part of the hash in the cell, some the home, some both.
            let hash_of = |random: &mut SmallRng| {
                random.random_range(0u64..4) << 40 | random.random_range(0u64..64) << 3
            };
            for _ in 0..3000 {
                let number = random.random_range(0u32..200);
                match hashes.get(&number) {
                    None => {
                        let hash = hash_of(&mut random);
                        hashes.insert(number, hash);
                        index.insert(HashedId { hash, id: id(number) }, |id| hashes[&id.get()]);
                        model.insert(number, false);
                    }
                    Some(hash) if random.random_bool(0.5) => {
                        index.mark_deleted(*hash, id(number));
                        model.insert(number, true);
                    }
                    Some(hash) => {
                        index.remove(*hash, id(number), |id| hashes[&id.get()]);
                        hashes.remove(&number);
                        model.remove(&number);
                    }
                }
            }
            assert_eq!(index.has_deleted(), model.values().any(|is_deleted| *is_deleted), "seed {seed}");
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
        let added = [0, 1, 2, 3].map(|number| HashedId { hash: 7, id: id(number) });
        // Id 2 has the key of id 0.
        let is_same_key = |one, other| [one, other] == [id(2), id(0)];
        assert_eq!(index.insert_each(&added, is_same_key, |_| 7), Some(id(2)));
        assert_eq!(ids(&index, 7), [(0, false), (1, false)]);
        assert_eq!(index.insert_each(&added[3..], is_same_key, |_| 7), None);
        assert_eq!(ids(&index, 7), [(0, false), (1, false), (3, false)]);
    }

    #[test]
    fn removed_ids_leave_no_tombstones_before_empty_cells() {
        let index = Index::new();
        for number in 0..20 {
            index.insert(HashedId { hash: 3, id: id(number) }, |_| 3);
        }
        for number in [4, 3, 19, 18] {
            index.remove(3, id(number), |_| 3);
        }
        assert_eq!(index.changes.lock().tombstones, 2);
        (0..20).for_each(|number| index.remove(3, id(number), |_| 3));
        let occupancy = index.changes.lock();
        assert_eq!((occupancy.ids, occupancy.tombstones), (0, 0));
        let table = index.newest.load();
        assert!((0..table.0.len()).all(|position| table.look_up(position) == Cell::EMPTY));
    }

    /// A stream of ever new keys that come and go neither fills the table nor makes it grow; the
    /// memory of removed keys is freed.
    #[test]
    fn the_index_is_as_large_as_its_ids_need() {
        let index = Index::new();
        let hash_of = |number: u32| u64::from(number).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let remove = |number| index.remove(hash_of(number), id(number), |id: VertexId| hash_of(id.get()));
        for number in 0..100_000 {
            index.insert(HashedId { hash: hash_of(number), id: id(number) }, |id| hash_of(id.get()));
            if number >= 1000 {
                remove(number - 1000);
            }
        }
        assert!(index.bytes() <= 8 * 4096, "{} bytes for 1,000 ids", index.bytes());
        (99_000..100_000).for_each(remove);
        assert_eq!(index.bytes(), 8 * FEWEST_CELLS);
    }

    /// The size of the table does not depend on how ids are added.
    #[test]
    fn room_for_many_ids_is_as_large_as_they_need_one_by_one() {
        let spread = |number: u32| u64::from(number).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let hash_of = |id: VertexId| spread(id.get());
        let (alone, batched) = (Index::new(), Index::new());
        for count in 1..3000 {
            let added = HashedId { hash: spread(count), id: id(count) };
            alone.insert(added, hash_of);
            let reserved = Index::new();
            reserved.reserve(count as usize, hash_of);
            assert_eq!(reserved.bytes(), alone.bytes(), "{count} ids");
            if count % 16 == 0 {
                let batch: Vec<_> =
                    (count - 15..=count).map(|one| HashedId { hash: spread(one), id: id(one) }).collect();
                assert_eq!(batched.insert_each(&batch, |_, _| false, hash_of), None);
                assert_eq!(batched.bytes(), alone.bytes(), "{count} ids in batches");
            }
        }
    }

    #[test]
    fn ids_and_hashes_use_all_their_bits() {
        let index = Index::new();
        let (hash, largest) = (u64::MAX, VertexId::MAX);
        index.insert(HashedId { hash, id: largest }, |_| hash);
        assert_eq!(ids(&index, hash), [(largest.get(), false)]);
        index.mark_deleted(hash, largest);
        assert_eq!(ids(&index, hash), [(largest.get(), true)]);
        index.remove(hash, largest, |_| hash);
        assert_eq!(ids(&index, hash), []);
    }
}
