//! The holdings of a running commit: the ids that it assigned to new keys, and its locks.

use crate::error::Error;
use crate::store::Store;
use hedgerow_model::token::HeldLocks;
use hedgerow_model::{CommitTimestamp, KeyRef, VertexId};
use hedgerow_sequencer::{LockGuard, LockTable, Stripes};
use smallvec::SmallVec;

/// Ids assigned to new keys; released if the commit fails.
pub(crate) struct AssignedIds<'s> {
    store: &'s Store,
    ids: SmallVec<[VertexId; 2]>,
    /// If memory is limited: bytes that the graph used before the first new key, and bytes of the
    /// new keys.
    bytes: Option<(usize, usize)>,
    /// A stamp below the commit's future stamp.
    newest: Option<CommitTimestamp>,
}

impl<'s> AssignedIds<'s> {
    /// Holds no ids yet.
    pub fn new(store: &'s Store) -> Self {
        AssignedIds { store, ids: SmallVec::new(), bytes: None, newest: None }
    }

    /// The store that the keys belong to.
    pub(crate) fn store(&self) -> &'s Store {
        self.store
    }

    /// The id of a key; assigns one if it has none. The key's lock is held.
    pub(crate) fn current_or_assign(&mut self, key: KeyRef<'_>) -> Result<VertexId, Error> {
        if let Some(id) = self.store.dictionary.current(key)? {
            return Ok(id);
        }
        if !self.store.is_unlimited() {
            self.check_limit(key)?;
        }
        let sequencer = &self.store.sequencer;
        let newest = *self.newest.get_or_insert_with(|| sequencer.newest().0);
        let id = self.store.dictionary.assign(key, newest, sequencer)?;
        self.ids.push(id);
        Ok(id)
    }

    /// Fails if the limit leaves no room for another key. Runs before the dictionary grows, because
    /// it hardly shrinks again.
    fn check_limit(&mut self, key: KeyRef<'_>) -> Result<(), Error> {
        let (held, before) = self.bytes.unwrap_or_else(|| (self.store.memory().total_bytes(), 0));
        let needed = before + self.store.dictionary.bytes_of(key);
        self.bytes = Some((held, needed));
        Ok(self.store.check_keys(held, needed)?)
    }

    /// Returns true if all of `ids`, which ascend, were assigned here. O(n log n).
    pub(crate) fn contains_all(&mut self, ids: &[VertexId]) -> bool {
        self.ids.sort_unstable();
        ids.iter().all(|id| self.ids.binary_search(id).is_ok())
    }

    /// Releases the ids whose vertices the commit does not create after all.
    pub(crate) fn release_unless(&mut self, created: impl Fn(VertexId) -> bool) {
        let dictionary = &self.store.dictionary;
        self.ids.retain(|id| {
            let keep = created(*id);
            if !keep {
                dictionary.release(*id);
            }
            keep
        });
    }

    /// Keeps the ids, because the commit succeeded and the vertices exist.
    pub(crate) fn keep(&mut self) {
        self.ids.clear();
    }
}

impl Drop for AssignedIds<'_> {
    fn drop(&mut self) {
        self.ids.drain(..).for_each(|id| self.store.dictionary.release(id));
    }
}

/// Everything that a commit holds.
///
/// Released in the order of the fields, whether the commit succeeds, fails or panics: ids first, so
/// that a thread that waits for their units finds the ids gone; keys last, so that no thread sees a
/// key in between.
pub(crate) struct Holdings<'s> {
    pub(crate) assigned: AssignedIds<'s>,
    units: Option<LockGuard<&'s LockTable>>,
    pub(crate) keys: Option<LockGuard<&'s LockTable>>,
}

impl<'s> Holdings<'s> {
    /// Holds nothing yet.
    pub fn new(store: &'s Store) -> Self {
        Holdings { assigned: AssignedIds::new(store), units: None, keys: None }
    }

    /// Stores the locks of all units, or the right to append. This ends the growing phase, except
    /// for [`Holdings::lock_if_appending`].
    pub(crate) fn hold_units(&mut self, guard: LockGuard<&'s LockTable>) {
        self.units = Some(guard);
    }

    /// If this commit [appends](LockGuard::append), locks `stripes` against other commits that
    /// append, and returns true. Call it at most once.
    pub(crate) fn lock_if_appending(&mut self, stripes: impl FnOnce() -> Stripes) -> bool {
        let appending = self.units.as_mut().filter(|units| units.appends());
        appending.map(|units| units.lock_more(stripes())).is_some()
    }

    /// The proof for the engine that the units are locked. Only after the growing phase.
    pub fn held(&mut self) -> HeldLocks<'_> {
        let units = self.units.as_mut().expect("the growing phase is over");
        units.held(&self.assigned.store().sequencer)
    }
}
