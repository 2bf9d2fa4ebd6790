//! The dictionary: keys to ids and back, for any kind of keys.

use crate::dictionary::error::DictionaryError;
use crate::dictionary::ids::IdAllocator;
use crate::dictionary::map::{DictionaryKey, KeyMap, TOGETHER};
use crate::dictionary::slot::{KeySlot, NumberSlot};
use crate::dictionary::slots::Slots;
use hedgerow_model::token::LiveTimestamps;
use hedgerow_model::{CommitTimestamp, Key, KeyKind, KeyRef, LockUnit, VertexId};
use hedgerow_sequencer::{LockGuard, LockTable, Sequencer, Stripes};
use hedgerow_sync::atomic::{AtomicU64, Ordering};

/// Number of lock stripes for keys. Locked before any unit, in ascending order.
const KEY_STRIPES: usize = if cfg!(hedgerow_shuttle) { 4 } else { 1024 };

/// Maps keys to ids and back.
pub struct Dictionary {
    pub(crate) keys: Keys,
    ids: IdAllocator,
    /// A lower bound on the timestamps at which each id's vertex is visible.
    born: Slots<NumberSlot>,
    locks: LockTable,
    generation: AtomicU64,
    /// The newest commit that may have deleted a vertex.
    last_deletion: AtomicU64,
}

pub(crate) enum Keys {
    Dense,
    Numbers(KeyMap<u64>),
    Text(KeyMap<Box<str>>),
}

impl Dictionary {
    /// Creates an empty dictionary.
    pub fn new(kind: KeyKind) -> Self {
        let keys = match kind {
            KeyKind::Number => Keys::Numbers(KeyMap::new()),
            KeyKind::String => Keys::Text(KeyMap::new()),
            KeyKind::Dense => Keys::Dense,
        };
        let locks = LockTable::new(KEY_STRIPES);
        let (ids, born) = (IdAllocator::default(), Slots::new());
        Dictionary { keys, ids, born, locks, generation: AtomicU64::new(0), last_deletion: AtomicU64::new(0) }
    }

    /// The kind of keys.
    #[inline]
    pub fn kind(&self) -> KeyKind {
        match &self.keys {
            Keys::Dense => KeyKind::Dense,
            Keys::Numbers(_) => KeyKind::Number,
            Keys::Text(_) => KeyKind::String,
        }
    }

    /// Returns true if keys are ids.
    #[inline]
    pub fn is_dense(&self) -> bool {
        matches!(self.keys, Keys::Dense)
    }

    /// Fails if a key is of another kind than the graph's, or not a valid vertex id.
    #[inline]
    pub fn check(&self, key: KeyRef<'_>) -> Result<(), DictionaryError> {
        DictionaryError::check(self.kind(), key)
    }

    /// Returns the current id of a key, in a dense graph even if the vertex does not exist. O(1).
    ///
    /// Reliable while the key's lock is held; otherwise see [`Dictionary::generation`].
    #[inline]
    pub fn current(&self, key: KeyRef<'_>) -> Result<Option<VertexId>, DictionaryError> {
        match (&self.keys, key) {
            (Keys::Numbers(map), KeyRef::Number(number)) => Ok(map.current(&number)),
            (Keys::Text(map), KeyRef::Text(text)) => Ok(map.current(text)),
            (Keys::Dense, KeyRef::Number(number)) => Ok(Some(VertexId::try_from(number)?)),
            _ => Err(self.wrong_kind(key)),
        }
    }

    /// Returns true if no key has ever had an id, except by a commit that is in progress. O(1).
    pub fn is_unused(&self) -> bool {
        !self.is_dense() && self.ids.are_unused()
    }

    /// The id that a dense key is.
    #[inline]
    pub fn dense(&self, key: KeyRef<'_>) -> Result<VertexId, DictionaryError> {
        match key {
            KeyRef::Number(number) => Ok(VertexId::try_from(number)?),
            _ => Err(self.wrong_kind(key)),
        }
    }

    /// Passes the [current](Dictionary::current) id of each of `count` keys to `found`, with the
    /// key's index, in order. Numbers are looked up in batches, so that their cache misses overlap.
    ///
    /// # Errors
    /// A key of the wrong kind; then the ids of some keys before it may not have been passed.
    #[inline]
    pub fn current_of_each<'k>(
        &self,
        count: usize,
        key_at: impl Fn(usize) -> KeyRef<'k>,
        mut found: impl FnMut(usize, Option<VertexId>),
    ) -> Result<(), DictionaryError> {
        let Keys::Numbers(map) = &self.keys else {
            return (0..count).try_for_each(|index| self.current(key_at(index)).map(|id| found(index, id)));
        };
        let mut numbers = [0; TOGETHER];
        for first in (0..count).step_by(TOGETHER) {
            let numbers = &mut numbers[..TOGETHER.min(count - first)];
            for (number, index) in numbers.iter_mut().zip(first..) {
                *number = match key_at(index) {
                    KeyRef::Number(number) => number,
                    key => return Err(self.wrong_kind(key)),
                };
            }
            let mut index = first;
            map.current_of_each(numbers, |id| {
                found(index, id);
                index += 1;
            });
        }
        Ok(())
    }

    /// Prefetches the cells where lookups and the insertion of a key begin.
    #[inline]
    pub fn prefetch(&self, key: KeyRef<'_>) {
        match (&self.keys, key) {
            (Keys::Numbers(map), KeyRef::Number(number)) => map.prefetch(&number),
            (Keys::Text(map), KeyRef::Text(text)) => map.prefetch(text),
            _ => {}
        }
    }

    /// Returns the first of the key's present and former ids that is visible. O(1), lock-free.
    pub fn find<E: From<DictionaryError>>(
        &self,
        key: KeyRef<'_>,
        mut visible: impl FnMut(VertexId) -> Result<bool, E>,
    ) -> Result<Option<VertexId>, E> {
        match (&self.keys, key) {
            (Keys::Numbers(map), KeyRef::Number(number)) => map.find(&number, visible),
            (Keys::Text(map), KeyRef::Text(text)) => map.find(text, visible),
            (Keys::Dense, KeyRef::Number(number)) => {
                let id = VertexId::try_from(number).map_err(DictionaryError::from)?;
                Ok(visible(id)?.then_some(id))
            }
            _ => Err(self.wrong_kind(key).into()),
        }
    }

    /// Returns the key of a vertex that exists in some readable state.
    ///
    /// # Panics
    /// If `id` was never assigned to a key.
    #[inline]
    pub fn key(&self, id: VertexId) -> Key {
        let key = match &self.keys {
            Keys::Dense => Some(Key::Number(u64::from(id.get()))),
            Keys::Numbers(map) => map.key(id).map(DictionaryKey::into_key),
            Keys::Text(map) => map.key(id).map(DictionaryKey::into_key),
        };
        key.expect("a vertex that exists was assigned to a key")
    }

    /// Returns a counter that changes whenever a key loses an id.
    ///
    /// If the counter is the same before a key is looked up and after the unit of its id is locked,
    /// the key still has the id: a commit that takes the id away changes the counter afterwards,
    /// before it unlocks that unit.
    #[inline]
    pub fn generation(&self) -> u64 {
        self.generation.load(Ordering::Acquire)
    }

    /// Returns a hash of the key for conflict checks. Different keys may have equal hashes.
    #[inline]
    pub fn hash(&self, key: KeyRef<'_>) -> u64 {
        match key {
            KeyRef::Number(number) => KeyMap::<u64>::hash(&number),
            KeyRef::Text(text) => KeyMap::<Box<str>>::hash(text),
            // No graph has a negative key: it equals only itself.
            KeyRef::Negative(number) => KeyMap::<u64>::hash(&number.cast_unsigned()),
        }
    }

    /// Locks `keys` against creation and deletion by other commits.
    #[inline]
    pub fn lock<'d, 'k>(&'d self, keys: impl Iterator<Item = KeyRef<'k>>) -> LockGuard<&'d LockTable> {
        let stripes = if self.is_dense() {
            Stripes::new()
        } else {
            self.locks.stripes(keys.map(|key| LockUnit((self.hash(key) >> 32) as u32)))
        };
        LockGuard::lock(&self.locks, stripes)
    }

    /// Assigns an id to the key. The caller holds the key's lock and found that the key has no id.
    ///
    /// The vertex becomes visible when the engine applies it, after `newest`, the newest stamp so
    /// far; until then [`Self::release`] undoes the assignment.
    pub fn assign(
        &self,
        key: KeyRef<'_>,
        newest: CommitTimestamp,
        sequencer: &Sequencer,
    ) -> Result<VertexId, DictionaryError> {
        self.check(key)?;
        let id = match self.ids.reassign() {
            Some(id) => id,
            None => {
                self.free_unreadable(sequencer);
                self.ids.assign()?
            }
        };
        self.born.get_or_allocate(id.get()).store(newest.next().0);
        match (&self.keys, key) {
            (Keys::Numbers(map), KeyRef::Number(number)) => map.insert(number, id),
            (Keys::Text(map), KeyRef::Text(text)) => map.insert(text.into(), id),
            // Keys of dense graphs are ids; other kinds do not pass the check.
            _ => {}
        }
        Ok(id)
    }

    /// Removes the ids of deleted vertices that no reader can see from their keys, and frees the
    /// ids.
    fn free_unreadable(&self, sequencer: &Sequencer) {
        for id in self.ids.unreadable(sequencer) {
            self.forget(id);
            self.ids.free(id);
        }
    }

    /// Undoes [`Self::assign`], because the commit failed. The caller still holds the key's lock.
    pub fn release(&self, id: VertexId) {
        self.forget(id);
        self.generation.fetch_add(1, Ordering::AcqRel);
        self.ids.free(id);
    }

    /// Records that the vertex was deleted at `deletion`. The caller holds the key's lock.
    pub fn delete(&self, id: VertexId, deletion: CommitTimestamp) {
        match &self.keys {
            Keys::Dense => return,
            Keys::Numbers(map) => map.key(id).into_iter().for_each(|key| map.mark_deleted(key, id)),
            Keys::Text(map) => map.key(id).into_iter().for_each(|key| map.mark_deleted(key, id)),
        }
        self.generation.fetch_add(1, Ordering::AcqRel);
        self.note_deletion(deletion);
        let born = self.born.get(id.get()).map_or(CommitTimestamp::ZERO, |born| CommitTimestamp(born.load()));
        self.ids.delete(id, born..deletion);
    }

    /// Records that commits up to `at` may have deleted vertices.
    pub(crate) fn note_deletion(&self, at: CommitTimestamp) {
        // Release, for those who see that the commit is applied.
        self.last_deletion.fetch_max(at.0, Ordering::Release);
    }

    /// The newest commit that may have deleted a vertex. Not before one that is applied.
    pub(crate) fn last_deletion(&self) -> CommitTimestamp {
        CommitTimestamp(self.last_deletion.load(Ordering::Acquire))
    }

    /// Restores the id that a key had when the graph was stored. Returns false if the key already
    /// has an id. The graph has no readers yet.
    pub fn restore(&self, key: KeyRef<'_>, id: VertexId) -> Result<bool, DictionaryError> {
        self.check(key)?;
        Ok(match (&self.keys, key) {
            (Keys::Numbers(map), KeyRef::Number(number)) => {
                map.restore_each(&[map.keep(number, id)]).is_none()
            }
            (Keys::Text(map), KeyRef::Text(text)) => map.restore_each(&[map.keep(text.into(), id)]).is_none(),
            // Keys of dense graphs are ids; other kinds do not pass the check.
            _ => key == KeyRef::Number(u64::from(id.get())),
        })
    }

    /// Makes room for `count` more keys, so that the index does not grow step by step while they
    /// are restored. Takes no more memory than the keys need. O(count), O(1) for dense keys.
    pub fn reserve(&self, count: usize) {
        match &self.keys {
            Keys::Dense => {}
            Keys::Numbers(map) => map.reserve(count),
            Keys::Text(map) => map.reserve(count),
        }
    }

    /// Frees the ids below `bound` that `scan`, ascending, does not visit. The graph has no readers
    /// yet. O(vertices), O(1) for dense keys.
    pub fn restore_free<E>(
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

    /// Removes the keys of deleted vertices that no live timestamp can read, and examines up to
    /// `most` vertices. `live` was collected after `releases` releases. Returns the bytes freed,
    /// and true if there are more vertices to examine.
    pub fn reclaim(&self, live: &LiveTimestamps, releases: u64, most: usize) -> (usize, bool) {
        if self.is_dense() {
            return (0, false);
        }
        let (dead, more) = self.ids.dead(live, releases, most);
        if dead.is_empty() {
            return (0, more);
        }
        let before = self.bytes();
        for id in dead {
            self.forget(id);
            self.ids.free(id);
        }
        (before.saturating_sub(self.bytes()), more)
    }

    /// Estimated heap bytes. O(1).
    pub fn bytes(&self) -> usize {
        let keys = match &self.keys {
            Keys::Dense => 0,
            Keys::Numbers(map) => map.bytes(),
            Keys::Text(map) => map.bytes(),
        };
        keys + self.born.bytes() + self.ids.bytes()
    }

    /// Bytes by which a new key grows the dictionary, except for chunks of slots. O(1).
    pub fn bytes_of(&self, key: KeyRef<'_>) -> usize {
        let entry = match (&self.keys, key) {
            (Keys::Numbers(map), KeyRef::Number(number)) => map.bytes_of(&number),
            (Keys::Text(map), KeyRef::Text(text)) => map.bytes_of(text),
            // Keys of dense graphs are ids; keys of other kinds are refused.
            _ => 0,
        };
        entry + size_of::<NumberSlot>()
    }

    /// Removes the id of a vertex that no reader can see from its key.
    pub fn forget(&self, id: VertexId) {
        match &self.keys {
            Keys::Dense => {}
            Keys::Numbers(map) => map.key(id).into_iter().for_each(|key| map.remove(key, id)),
            Keys::Text(map) => map.key(id).into_iter().for_each(|key| map.remove(key, id)),
        }
    }

    #[cold]
    pub(crate) fn wrong_kind(&self, key: KeyRef<'_>) -> DictionaryError {
        DictionaryError::wrong_kind(self.kind(), key)
    }
}
