//! Vertex ids that a commit under way gave to new keys.

use crate::error::Reason;
use crate::store::Store;
use hedgerow_model::{Engine, KeyRef, VertexId};
use smallvec::SmallVec;

/// Ids given to keys that had none; given back if the commit fails.
pub(crate) struct AssignedIds<'s, E: Engine> {
    store: &'s Store<E>,
    ids: SmallVec<[VertexId; 2]>,
}

impl<'s, E: Engine> AssignedIds<'s, E> {
    /// No ids so far.
    pub(crate) fn new(store: &'s Store<E>) -> Self {
        AssignedIds { store, ids: SmallVec::new() }
    }

    /// The store whose keys these are.
    pub(crate) fn store(&self) -> &'s Store<E> {
        self.store
    }

    /// The id of a key; a new one if it has none. The key's lock is held.
    pub(crate) fn current_or_assign(&mut self, key: KeyRef<'_>) -> Result<VertexId, Reason> {
        if let Some(id) = self.store.dictionary.current(key)? {
            return Ok(id);
        }
        let id = self.store.dictionary.assign(key, || self.store.sequencer.oldest_readable())?;
        self.ids.push(id);
        Ok(id)
    }

    /// Gives back the ids whose vertices the commit does not create after all.
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

    /// The commit succeeded: the vertices exist now.
    pub(crate) fn keep(&mut self) {
        self.ids.clear();
    }
}

impl<E: Engine> Drop for AssignedIds<'_, E> {
    fn drop(&mut self) {
        self.ids.drain(..).for_each(|id| self.store.dictionary.release(id));
    }
}
