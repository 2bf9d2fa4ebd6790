//! Keys to vertex ids and back, for one type of key.

use crate::slot::{NumberSlot, Slot, TextSlot};
use crate::slots::Slots;
use foldhash::fast::FixedState;
use hedgerow_model::{Key, VertexId};
use hedgerow_sync::atomic::{AtomicUsize, Ordering};
use smallvec::SmallVec;
use std::borrow::Borrow;
use std::hash::{BuildHasher, Hash};

/// A type of key.
pub(crate) trait DictionaryKey:
    Clone + Eq + Hash + Send + Sync + Borrow<Self::Borrowed> + 'static
{
    /// The borrowed form for lookups.
    type Borrowed: Hash + Eq + ?Sized;
    /// The slot of one key.
    type Slot: Slot<Key = Self>;

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

/// A present or former id of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Holding {
    id: VertexId,
    /// Whether the vertex was deleted. Older snapshots may still read it.
    deleted: bool,
}

/// Bytes per entry of the table: a pointer to the entry on the heap and a byte of metadata.
const PLACE_BYTES: usize = size_of::<usize>() + 1;

/// The ids of one key, newest first. Nearly always one.
type Holdings = SmallVec<[Holding; 1]>;

/// A concurrent map between keys and vertex ids. Reads take no lock.
pub(crate) struct KeyMap<K: DictionaryKey> {
    ids: papaya::HashMap<K, Holdings, FixedState>,
    keys: Slots<K::Slot>,
    /// Heap bytes of keys, in addition to their entries.
    heap_bytes: AtomicUsize,
}

/// A [`KeyMap`] pinned for several lookups on one thread, within one call.
pub(crate) struct PinnedKeys<'m, K>(papaya::HashMapRef<'m, K, Holdings, FixedState, papaya::LocalGuard<'m>>);

impl<K: DictionaryKey> PinnedKeys<'_, K> {
    /// The id of a key whose vertex is not deleted. O(1).
    ///
    /// Without a lock the result may be outdated, or belong to a running commit.
    #[inline]
    pub(crate) fn current(&self, key: &K::Borrowed) -> Option<VertexId> {
        let newest = *self.0.get(key)?.first()?;
        (!newest.deleted).then_some(newest.id)
    }

    /// The first of the ids that the key has or had for which `visible` holds, or its only one, whatever `visible` says.
    #[inline]
    pub(crate) fn find_among_several<E>(
        &self,
        key: &K::Borrowed,
        visible: impl FnMut(VertexId) -> Result<bool, E>,
    ) -> Result<Option<VertexId>, E> {
        match self.0.get(key).map(SmallVec::as_slice) {
            None => Ok(None),
            Some([only]) => Ok(Some(only.id)),
            Some(several) => first_visible(several, visible),
        }
    }
}

impl<K: DictionaryKey> KeyMap<K> {
    pub(crate) fn new() -> Self {
        // Incremental resizing makes lookups search several tables for twenty times as long.
        let mode = papaya::ResizeMode::Blocking;
        let ids = papaya::HashMap::builder().hasher(FixedState::default()).resize_mode(mode).build();
        KeyMap { ids, keys: Slots::new(), heap_bytes: AtomicUsize::new(0) }
    }

    /// A hash of the key, equal in all processes.
    pub(crate) fn hash(key: &K::Borrowed) -> u64 {
        FixedState::default().hash_one(key)
    }

    /// Pins the map for several lookups, which is cheaper than one by one.
    pub(crate) fn pin(&self) -> PinnedKeys<'_, K> {
        PinnedKeys(self.ids.pin())
    }

    /// The first of the key's present and former ids for which `visible` holds.
    pub(crate) fn find<E>(
        &self,
        key: &K::Borrowed,
        visible: impl FnMut(VertexId) -> Result<bool, E>,
    ) -> Result<Option<VertexId>, E> {
        let ids = self.ids.pin();
        ids.get(key).map_or(Ok(None), |holdings| first_visible(holdings, visible))
    }

    /// The key that `id` was last assigned to.
    pub(crate) fn key(&self, id: VertexId) -> Option<K> {
        Some(self.keys.get(id.get())?.load())
    }

    /// Assigns `id` to a key that has none. The caller holds the key's lock.
    pub(crate) fn insert(&self, key: K, id: VertexId) {
        self.keep(&key, id);
        self.update(key, |holdings| holdings.insert(0, Holding { id, deleted: false }));
    }

    /// Assigns `id` to a key unless it has one; returns whether it did. The graph is not shared
    /// yet, but other threads may restore other keys.
    pub(crate) fn restore(&self, key: K, id: VertexId) -> bool {
        self.keep(&key, id);
        self.add_bytes(K::heap_bytes(key.borrow()));
        let holding = Holding { id, deleted: false };
        self.ids.pin().try_insert(key, SmallVec::from_buf([holding])).is_ok()
    }

    /// Stores the key of `id`.
    fn keep(&self, key: &K, id: VertexId) {
        self.add_bytes(K::Slot::heap_bytes(K::heap_bytes(key.borrow())));
        self.keys.get_or_allocate(id.get()).store(key);
    }

    /// Removes `id` from a key. No reader can see the vertex under this key.
    pub(crate) fn remove(&self, key: K, id: VertexId) {
        self.subtract_bytes(K::Slot::heap_bytes(K::heap_bytes(key.borrow())));
        self.update(key, |holdings| holdings.retain(|holding| holding.id != id));
        if let Some(slot) = self.keys.get(id.get()) {
            slot.clear();
        }
    }

    /// Marks the vertex of a key as deleted; older snapshots still find it. The caller holds the
    /// key's lock.
    pub(crate) fn mark_deleted(&self, key: K, id: VertexId) {
        self.update(key, |holdings| {
            holdings.iter_mut().filter(|holding| holding.id == id).for_each(|holding| holding.deleted = true);
        });
    }

    fn update(&self, key: K, change: impl Fn(&mut Holdings)) {
        let (ids, heap_bytes) = (self.ids.pin(), K::heap_bytes(key.borrow()));
        let done = ids.compute(key, |entry| {
            let mut holdings = entry.map(|(_, holdings)| holdings.clone()).unwrap_or_default();
            change(&mut holdings);
            match (holdings.is_empty(), entry) {
                (false, _) => papaya::Operation::Insert(holdings),
                (true, Some(_)) => papaya::Operation::Remove,
                (true, None) => papaya::Operation::Abort(()),
            }
        });
        match done {
            papaya::Compute::Inserted(..) => self.add_bytes(heap_bytes),
            papaya::Compute::Removed(..) => self.subtract_bytes(heap_bytes),
            papaya::Compute::Updated { .. } | papaya::Compute::Aborted(()) => {}
        }
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
        let entries = self.ids.len();
        // The table doubles when it is about half full.
        let places = (entries * 9 / 4).next_power_of_two();
        let heap_bytes = self.heap_bytes.load(Ordering::Relaxed);
        entries * size_of::<(K, Holdings)>() + places * PLACE_BYTES + heap_bytes + self.keys.bytes()
    }

    /// Estimated bytes of a new key.
    pub(crate) fn bytes_of(key: &K::Borrowed) -> usize {
        let place = 3 * PLACE_BYTES + size_of::<K::Slot>();
        size_of::<(K, Holdings)>() + place + K::heap_bytes(key) + K::Slot::heap_bytes(K::heap_bytes(key))
    }
}

fn first_visible<E>(
    holdings: &[Holding],
    mut visible: impl FnMut(VertexId) -> Result<bool, E>,
) -> Result<Option<VertexId>, E> {
    for holding in holdings {
        if visible(holding.id)? {
            return Ok(Some(holding.id));
        }
    }
    Ok(None)
}
