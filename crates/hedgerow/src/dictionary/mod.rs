//! The dictionary: application keys to vertex ids and back.
//!
//! A key has at most one vertex at a time, and one after the other many. Whether an id is visible at a
//! timestamp is not kept here: the engine knows which vertices exist then. So the dictionary maps
//! a key to all ids that somebody can still read, and a snapshot takes the one that exists at its
//! timestamp; at most one does. An id goes to another key only when no snapshot can read its
//! former vertex, and its former key has forgotten it by then.

mod ids;
mod map;
mod slot;

use crate::error::Reason;
use crate::slots::Slots;
use hedgerow_model::token::LiveTimestamps;
use hedgerow_model::{Key, KeyKind, KeyRef, LockUnit, Timestamp, VertexId};
use hedgerow_sequencer::{LockGuard, LockTable, Sequencer, Stripes};
use hedgerow_sync::atomic::{AtomicU64, Ordering};
use ids::IdAllocator;
use map::{DictionaryKey, KeyMap, PinnedKeys};
use slot::{NumberSlot, Slot};

/// Locks over keys. Taken before any lock of a unit, in ascending order.
const KEY_STRIPES: usize = if cfg!(hedgerow_shuttle) { 4 } else { 1024 };

/// Maps keys to ids and back.
pub(crate) struct Dictionary {
    keys: Keys,
    ids: IdAllocator,
    /// For each id: the vertex that has it was not visible before this timestamp.
    born: Slots<NumberSlot>,
    locks: LockTable,
    generation: AtomicU64,
}

enum Keys {
    Dense,
    Numbers(KeyMap<u64>),
    Text(KeyMap<Box<str>>),
}

/// The current ids of keys, looked up without a lock.
///
/// For the time of one call: while this lives, memory of the dictionary is not given back.
pub(crate) struct CurrentIds<'d> {
    dictionary: &'d Dictionary,
    keys: PinnedMap<'d>,
}

enum PinnedMap<'d> {
    Dense,
    Numbers(PinnedKeys<'d, u64>),
    Text(PinnedKeys<'d, Box<str>>),
}

impl CurrentIds<'_> {
    /// The id that a key has now, for a dense graph whether or not the vertex exists. O(1).
    ///
    /// Certain while the key's lock is held; otherwise see [`Dictionary::generation`].
    #[inline]
    pub(crate) fn get(&self, key: KeyRef<'_>) -> Result<Option<VertexId>, Reason> {
        match (&self.keys, key) {
            (PinnedMap::Numbers(keys), KeyRef::Number(number)) => Ok(keys.current(&number)),
            (PinnedMap::Text(keys), KeyRef::Text(text)) => Ok(keys.current(text)),
            (PinnedMap::Dense, KeyRef::Number(number)) => Ok(Some(VertexId::try_from(number)?)),
            _ => Err(self.dictionary.wrong_kind(key)),
        }
    }
}

impl Dictionary {
    pub(crate) fn new(kind: KeyKind) -> Self {
        let keys = match kind {
            KeyKind::Number => Keys::Numbers(KeyMap::new()),
            KeyKind::Text => Keys::Text(KeyMap::new()),
            KeyKind::Dense => Keys::Dense,
        };
        let locks = LockTable::new(KEY_STRIPES);
        let (ids, born) = (IdAllocator::default(), Slots::new());
        Dictionary { keys, ids, born, locks, generation: AtomicU64::new(0) }
    }

    /// What the keys are.
    pub(crate) fn kind(&self) -> KeyKind {
        match &self.keys {
            Keys::Dense => KeyKind::Dense,
            Keys::Numbers(_) => KeyKind::Number,
            Keys::Text(_) => KeyKind::Text,
        }
    }

    /// Whether keys are the ids themselves.
    pub(crate) fn is_dense(&self) -> bool {
        matches!(self.keys, Keys::Dense)
    }

    /// Fails if a key is of another kind than the graph's, or no vertex id.
    pub(crate) fn check(&self, key: KeyRef<'_>) -> Result<(), Reason> {
        match (&self.keys, key) {
            (Keys::Numbers(_), KeyRef::Number(_)) | (Keys::Text(_), KeyRef::Text(_)) => Ok(()),
            (Keys::Dense, KeyRef::Number(number)) => Ok(VertexId::try_from(number).map(drop)?),
            _ => Err(self.wrong_kind(key)),
        }
    }

    /// The current ids of keys, for several look-ups on one thread.
    pub(crate) fn current_ids(&self) -> CurrentIds<'_> {
        let keys = match &self.keys {
            Keys::Dense => PinnedMap::Dense,
            Keys::Numbers(map) => PinnedMap::Numbers(map.pin()),
            Keys::Text(map) => PinnedMap::Text(map.pin()),
        };
        CurrentIds { dictionary: self, keys }
    }

    /// The same for one key.
    pub(crate) fn current(&self, key: KeyRef<'_>) -> Result<Option<VertexId>, Reason> {
        self.current_ids().get(key)
    }

    /// The first id that the key has or had for which `visible` holds. O(1), no lock.
    pub(crate) fn find(
        &self,
        key: KeyRef<'_>,
        mut visible: impl FnMut(VertexId) -> Result<bool, Reason>,
    ) -> Result<Option<VertexId>, Reason> {
        match (&self.keys, key) {
            (Keys::Numbers(map), KeyRef::Number(number)) => map.find(&number, visible),
            (Keys::Text(map), KeyRef::Text(text)) => map.find(text, visible),
            (Keys::Dense, KeyRef::Number(number)) => {
                let id = VertexId::try_from(number)?;
                Ok(visible(id)?.then_some(id))
            }
            _ => Err(self.wrong_kind(key)),
        }
    }

    /// Like [`Dictionary::find`], but skips the visibility check when the key maps to a single id.
    pub(crate) fn find_among_several(
        &self,
        key: KeyRef<'_>,
        visible: impl FnMut(VertexId) -> Result<bool, Reason>,
    ) -> Result<Option<VertexId>, Reason> {
        match (&self.keys, key) {
            (Keys::Numbers(map), KeyRef::Number(number)) => map.find_among_several(&number, visible),
            (Keys::Text(map), KeyRef::Text(text)) => map.find_among_several(text, visible),
            (Keys::Dense, KeyRef::Number(number)) => Ok(Some(VertexId::try_from(number)?)),
            _ => Err(self.wrong_kind(key)),
        }
    }

    /// The key of a vertex that exists in some readable state.
    pub(crate) fn key(&self, id: VertexId) -> Key {
        let key = match &self.keys {
            Keys::Dense => Some(Key::Number(u64::from(id.get()))),
            Keys::Numbers(map) => map.key(id).map(DictionaryKey::into_key),
            Keys::Text(map) => map.key(id).map(DictionaryKey::into_key),
        };
        key.expect("a vertex that exists was assigned to a key")
    }

    /// Changes whenever a key loses an id.
    ///
    /// If it is the same before a key was looked up and after the unit of its id was locked, the id
    /// is still the key's: whoever takes it away changes this after he took it and before he unlocks
    /// that unit.
    pub(crate) fn generation(&self) -> u64 {
        self.generation.load(Ordering::Acquire)
    }

    /// A number that stands for the key where conflicts are looked for. Two keys may share one.
    pub(crate) fn hash(&self, key: KeyRef<'_>) -> u64 {
        match key {
            KeyRef::Number(number) => KeyMap::<u64>::hash(&number),
            KeyRef::Text(text) => KeyMap::<Box<str>>::hash(text),
        }
    }

    /// Locks `keys` against being created or deleted by anybody else.
    pub(crate) fn lock<'d, 'k>(&'d self, keys: impl Iterator<Item = KeyRef<'k>>) -> LockGuard<&'d LockTable> {
        let stripes = if self.is_dense() {
            Stripes::new()
        } else {
            self.locks.stripes(keys.map(|key| LockUnit((self.hash(key) >> 32) as u32)))
        };
        LockGuard::lock(&self.locks, stripes)
    }

    /// Gives the key an id. The caller holds the key's lock and found that it has none.
    ///
    /// The vertex becomes visible when the engine applies it, after `newest`, the newest stamp so
    /// far; until then [`Self::release`] undoes this.
    pub(crate) fn assign(
        &self,
        key: KeyRef<'_>,
        newest: Timestamp,
        sequencer: &Sequencer,
    ) -> Result<VertexId, Reason> {
        self.check(key)?;
        let id = match self.ids.reassign() {
            Some(id) => id,
            None => {
                self.free_unreadable(sequencer);
                self.ids.assign()?
            }
        };
        self.born.get_or_allocate(id.get()).store(&newest.next().0);
        match (&self.keys, key) {
            (Keys::Numbers(map), KeyRef::Number(number)) => map.insert(number, id),
            (Keys::Text(map), KeyRef::Text(text)) => map.insert(text.into(), id),
            // Keys of dense graphs are their ids; other kinds do not pass the check.
            _ => {}
        }
        Ok(id)
    }

    /// Lets the former keys of deleted vertices that nobody can read forget their ids, which are then free.
    fn free_unreadable(&self, sequencer: &Sequencer) {
        for id in self.ids.unreadable(sequencer) {
            self.forget(id);
            self.ids.free(id);
        }
    }

    /// Takes back what [`Self::assign`] gave, because the commit failed. The caller still holds the key's lock.
    pub(crate) fn release(&self, id: VertexId) {
        self.forget(id);
        self.generation.fetch_add(1, Ordering::AcqRel);
        self.ids.free(id);
    }

    /// Notes that the vertex was deleted at `deletion`. The caller holds the key's lock.
    pub(crate) fn delete(&self, id: VertexId, deletion: Timestamp) {
        match &self.keys {
            Keys::Dense => return,
            Keys::Numbers(map) => map.key(id).into_iter().for_each(|key| map.mark_deleted(key, id)),
            Keys::Text(map) => map.key(id).into_iter().for_each(|key| map.mark_deleted(key, id)),
        }
        self.generation.fetch_add(1, Ordering::AcqRel);
        let born = self.born.get(id.get()).map_or(Timestamp::ZERO, |born| Timestamp(born.load()));
        self.ids.delete(id, born..deletion);
    }

    /// Gives a key the id that it had when the graph was stored; false if it has one. Nobody reads the graph yet.
    pub(crate) fn restore(&self, key: KeyRef<'_>, id: VertexId) -> Result<bool, Reason> {
        self.check(key)?;
        Ok(match (&self.keys, key) {
            (Keys::Numbers(map), KeyRef::Number(number)) => map.restore(number, id),
            (Keys::Text(map), KeyRef::Text(text)) => map.restore(text.into(), id),
            // Keys of dense graphs are their ids; other kinds do not pass the check.
            _ => key == KeyRef::Number(u64::from(id.get())),
        })
    }

    /// Frees the ids below `bound` that `scan`, ascending, does not visit. The graph has no readers yet. O(vertices), O(1) for dense keys.
    pub(crate) fn restore_free<E>(
        &self,
        bound: u32,
        scan: impl FnOnce(&mut dyn FnMut(VertexId)) -> Result<(), E>,
    ) -> Result<(), E> {
        if self.is_dense() {
            return Ok(());
        }
        let (mut gaps, mut next) = (Vec::new(), 0);
        scan(&mut |used| {
            if next < used.get() {
                gaps.push(next..used.get());
            }
            next = used.get() + 1;
        })?;
        gaps.push(next..bound);
        self.ids.restore(bound, gaps.into_iter());
        Ok(())
    }

    /// Forgets the keys of deleted vertices that no live timestamp can read; `live` was collected after `releases` releases. Returns the
    /// bytes freed.
    pub(crate) fn reclaim(&self, live: &LiveTimestamps, releases: u64) -> usize {
        if self.is_dense() {
            return 0;
        }
        let dead = self.ids.dead(live, releases);
        if dead.is_empty() {
            return 0;
        }
        let before = self.bytes();
        for id in dead {
            self.forget(id);
            self.ids.free(id);
        }
        before.saturating_sub(self.bytes())
    }

    /// An estimate of the bytes held. O(1).
    pub(crate) fn bytes(&self) -> usize {
        let keys = match &self.keys {
            Keys::Dense => 0,
            Keys::Numbers(map) => map.bytes(),
            Keys::Text(map) => map.bytes(),
        };
        keys + self.born.bytes() + self.ids.bytes()
    }

    /// An estimate of the bytes of a new key.
    pub(crate) fn bytes_of(&self, key: KeyRef<'_>) -> usize {
        let entry = match key {
            KeyRef::Number(number) => KeyMap::<u64>::bytes_of(&number),
            KeyRef::Text(text) => KeyMap::<Box<str>>::bytes_of(text),
        };
        entry + size_of::<NumberSlot>()
    }

    /// Lets the key of a vertex that nobody can read forget its id.
    pub(crate) fn forget(&self, id: VertexId) {
        match &self.keys {
            Keys::Dense => {}
            Keys::Numbers(map) => map.key(id).into_iter().for_each(|key| map.remove(key, id)),
            Keys::Text(map) => map.key(id).into_iter().for_each(|key| map.remove(key, id)),
        }
    }

    #[cold]
    fn wrong_kind(&self, key: KeyRef<'_>) -> Reason {
        Reason::WrongKeyKind { key: key.to_key(), expected: self.kind() }
    }
}
