//! Keys to vertex ids and back, for one type of key.

use crate::dictionary::index::{Candidate, HashedId, Index, OpenIndex};
use crate::dictionary::slot::{KeySlot, NumberSlot, TextSlot};
use crate::dictionary::slots::Slots;
use foldhash::fast::FixedState;
use hedgerow_model::{Key, VertexId};
use hedgerow_sync::atomic::{AtomicUsize, Ordering};
use std::borrow::Borrow;
use std::hash::{BuildHasher, Hash};

/// A type of key.
pub(crate) trait DictionaryKey:
    Clone + Eq + Hash + Send + Sync + Borrow<Self::Borrowed> + 'static
{
    /// The borrowed form for lookups.
    type Borrowed: Hash + Eq + ?Sized;
    /// The slot of one key.
    type Slot: KeySlot<Key = Self>;

    /// Heap bytes.
    fn heap_bytes(key: &Self::Borrowed) -> usize;

    /// The key in the form that applications use.
    fn into_key(self) -> Key;
}

impl DictionaryKey for u64 {
    type Borrowed = u64;
    type Slot = NumberSlot;

    fn heap_bytes(_: &u64) -> usize {
        0
    }

    fn into_key(self) -> Key {
        Key::Number(self)
    }
}

impl DictionaryKey for Box<str> {
    type Borrowed = str;
    type Slot = TextSlot;

    fn heap_bytes(key: &str) -> usize {
        key.len()
    }

    fn into_key(self) -> Key {
        Key::Text(self)
    }
}

/// Number of keys that are looked up together, so that their cache misses overlap.
pub(crate) const TOGETHER: usize = 64;

/// A concurrent map between keys and vertex ids. Reads take no lock.
///
/// A key nearly always has one id. It has several while older snapshots may read deleted vertices
/// of this key.
pub(crate) struct KeyMap<K: DictionaryKey> {
    ids: Index,
    keys: Slots<K::Slot>,
    /// Heap bytes of keys, in addition to their slots.
    heap_bytes: AtomicUsize,
}

impl KeyMap<u64> {
    /// Passes the [current](KeyMap::current) ids of at most [`TOGETHER`] keys to `found`, in order.
    #[inline]
    pub(crate) fn current_of_each(&self, keys: &[u64], mut found: impl FnMut(Option<VertexId>)) {
        let (index, mut candidates) = (self.open(), [None; TOGETHER]);
        keys.iter().for_each(|key| index.prefetch(Self::hash(key)));
        for (candidate, key) in candidates.iter_mut().zip(keys) {
            *candidate = index.candidates(Self::hash(key)).next();
            if let Some(Candidate { id, .. }) = candidate {
                self.keys.prefetch(id.get());
            }
        }
        for (candidate, key) in candidates.iter().zip(keys) {
            found(match *candidate {
                None => None,
                Some(Candidate { id, is_deleted: false }) if self.is_key_of(key, id) => Some(id),
                // The vertex is deleted, or another key has the same part of the hash.
                Some(_) => self.current(key),
            });
        }
    }
}

impl<K: DictionaryKey> KeyMap<K> {
    pub(crate) fn new() -> Self {
        KeyMap { ids: Index::new(), keys: Slots::new(), heap_bytes: AtomicUsize::new(0) }
    }

    /// A hash of the key, equal in all processes.
    #[inline]
    pub(crate) fn hash(key: &K::Borrowed) -> u64 {
        FixedState::default().hash_one(key)
    }

    /// Returns the id of a key whose vertex is not deleted. O(1).
    ///
    /// Without a lock, the result may be outdated, or belong to a running commit.
    #[inline]
    pub(crate) fn current(&self, key: &K::Borrowed) -> Option<VertexId> {
        self.held(&self.open(), key).find(|held| !held.is_deleted).map(|held| held.id)
    }

    /// Prefetches the cell where lookups of a key begin.
    #[inline]
    pub(crate) fn prefetch(&self, key: &K::Borrowed) {
        self.open().prefetch(Self::hash(key));
    }

    /// Opens the index of ids for a batch of lookups.
    #[inline]
    pub(crate) fn open(&self) -> OpenIndex {
        self.ids.open()
    }

    /// Returns the first of the key's present and former ids that is visible. A key's only id is
    /// returned without a visibility check.
    #[inline]
    pub(crate) fn find_among_several<E>(
        &self,
        index: &OpenIndex,
        key: &K::Borrowed,
        mut visible: impl FnMut(VertexId) -> Result<bool, E>,
    ) -> Result<Option<VertexId>, E> {
        let mut held = self.held(index, key);
        let Some(Candidate { id: first, is_deleted }) = held.next() else { return Ok(None) };
        // A marked id may be found in a table from which it has been removed since.
        if !is_deleted && !self.ids.has_deleted() {
            return Ok(Some(first));
        }
        let mut held = held.map(|held| held.id);
        let Some(second) = held.next() else { return Ok(Some(first)) };
        first_visible([first, second].into_iter().chain(held), &mut visible)
    }

    /// Returns the first of the key's present and former ids that is visible.
    pub(crate) fn find<E>(
        &self,
        key: &K::Borrowed,
        mut visible: impl FnMut(VertexId) -> Result<bool, E>,
    ) -> Result<Option<VertexId>, E> {
        first_visible(self.held(&self.open(), key).map(|held| held.id), &mut visible)
    }

    /// The present and former ids of the key.
    #[inline]
    fn held(&self, index: &OpenIndex, key: &K::Borrowed) -> impl Iterator<Item = Candidate> {
        index.candidates(Self::hash(key)).filter(|candidate| self.is_key_of(key, candidate.id))
    }

    #[inline]
    fn is_key_of(&self, key: &K::Borrowed, id: VertexId) -> bool {
        self.keys.get(id.get()).is_some_and(|slot| slot.holds(key))
    }

    /// Returns the key to which `id` was last assigned.
    #[inline]
    pub(crate) fn key(&self, id: VertexId) -> Option<K> {
        Some(self.keys.get(id.get())?.load())
    }

    /// Assigns `id` to a key that has no id except ids of deleted vertices. The caller holds the
    /// key's lock.
    pub(crate) fn insert(&self, key: K, id: VertexId) {
        self.ids.insert(self.keep(key, id), |id| self.hash_of(id));
    }

    /// Stores the key of `id`. Lookups find it once the id is in the index.
    pub(crate) fn keep(&self, key: K, id: VertexId) -> HashedId {
        let hash = Self::hash(key.borrow());
        self.add_bytes(K::Slot::heap_bytes(K::heap_bytes(key.borrow())));
        self.keys.get_or_allocate(id.get()).store(key);
        HashedId { hash, id }
    }

    /// Assigns ids, whose keys were [kept](Self::keep), in order, up to the first id whose key
    /// already has one. Returns that key. The graph is not shared yet, but other threads may
    /// restore keys.
    pub(crate) fn restore_each(&self, kept: &[HashedId]) -> Option<K> {
        let is_same_key = |one, other| self.key(one) == self.key(other);
        self.key(self.ids.insert_each(kept, is_same_key, |id| self.hash_of(id))?)
    }

    /// Makes room for `more` ids in the index.
    pub(crate) fn reserve(&self, more: usize) {
        self.ids.reserve(more, |id| self.hash_of(id));
    }

    /// Returns the hash of the key of an assigned id.
    fn hash_of(&self, id: VertexId) -> u64 {
        self.key(id).map_or(0, |key| Self::hash(key.borrow()))
    }

    /// Removes `id` from a key. No reader can see the vertex under this key.
    pub(crate) fn remove(&self, key: K, id: VertexId) {
        self.subtract_bytes(K::Slot::heap_bytes(K::heap_bytes(key.borrow())));
        self.ids.remove(Self::hash(key.borrow()), id, |id| self.hash_of(id));
        if let Some(slot) = self.keys.get(id.get()) {
            slot.clear();
        }
    }

    /// Marks the vertex of a key as deleted; older snapshots still find it. The caller holds the
    /// key's lock.
    pub(crate) fn mark_deleted(&self, key: K, id: VertexId) {
        self.ids.mark_deleted(Self::hash(key.borrow()), id);
    }

    fn add_bytes(&self, bytes: usize) {
        if bytes > 0 {
            self.heap_bytes.fetch_add(bytes, Ordering::Relaxed);
        }
    }

    fn subtract_bytes(&self, bytes: usize) {
        if bytes > 0 {
            self.heap_bytes.fetch_sub(bytes, Ordering::Relaxed);
        }
    }

    /// Estimated heap bytes. O(1).
    pub(crate) fn bytes(&self) -> usize {
        self.ids.bytes() + self.heap_bytes.load(Ordering::Relaxed) + self.keys.bytes()
    }

    /// Bytes by which a new key grows the map, except for chunks of slots. O(1).
    pub(crate) fn bytes_of(&self, key: &K::Borrowed) -> usize {
        self.ids.bytes_of_next() + size_of::<K::Slot>() + K::Slot::heap_bytes(K::heap_bytes(key))
    }
}

fn first_visible<E>(
    mut held: impl Iterator<Item = VertexId>,
    visible: &mut impl FnMut(VertexId) -> Result<bool, E>,
) -> Result<Option<VertexId>, E> {
    held.find_map(|id| visible(id).map(|is_visible| is_visible.then_some(id)).transpose()).transpose()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::convert::Infallible;

    #[test]
    fn a_batch_of_keys_is_looked_up_like_each_of_them() {
        let map = KeyMap::<u64>::new();
        let key = |number: u32| u64::from(number % 700).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        for number in 0..1000 {
            // The last 300 keys had another vertex before.
            if number >= 700 {
                map.mark_deleted(key(number), VertexId::new(number - 700));
            }
            map.insert(key(number), VertexId::new(number));
        }
        // Keys that have no vertex any more, and keys that never had one.
        (400..450).for_each(|number| map.mark_deleted(key(number), VertexId::new(number)));
        (450..500).for_each(|number| map.remove(key(number), VertexId::new(number)));
        let keys: Vec<u64> = (0..700).map(key).chain(1..100).collect();
        let expected: Vec<_> = keys.iter().map(|key| map.current(key)).collect();
        assert_eq!(expected.iter().flatten().count(), 600);
        for length in [1, 5, TOGETHER] {
            let mut found = Vec::new();
            keys.chunks(length).for_each(|keys| map.current_of_each(keys, |id| found.push(id)));
            assert_eq!(found, expected);
        }
        map.current_of_each(&[], |id| panic!("{id:?} for no key"));
    }

    #[test]
    fn a_reader_passes_an_id_that_was_removed_after_it_opened_the_index() {
        let (map, key) = (KeyMap::<u64>::new(), 7);
        let (former, present) = (VertexId::new(0), VertexId::new(1));
        map.insert(key, former);
        map.mark_deleted(key, former);
        map.insert(key, present);
        let index = map.open();
        // The table is replaced, so that the reader still finds the former id.
        (2..1000).for_each(|id| map.insert(u64::from(id) << 20, VertexId::new(id)));
        map.remove(key, former);
        let found = map.find_among_several(&index, &key, |id| Ok::<_, Infallible>(id == present));
        assert_eq!(found, Ok(Some(present)));
    }
}
