//! Keys of vertices that were deleted after the commits that are read.

use foldhash::fast::FixedState;
use hashbrown::HashMap;
use hedgerow_model::{CommitTimestamp, Key, VertexId};
use std::collections::VecDeque;

/// The keys of vertices that later commits deleted.
#[derive(Debug, Default)]
pub(super) struct FormerKeys {
    /// The keys that an id had one after the other, each until a deletion.
    keys: HashMap<VertexId, VecDeque<Key>, FixedState>,
    /// The deletions, in order.
    deletions: VecDeque<(CommitTimestamp, VertexId)>,
}

impl FormerKeys {
    /// Notes that `at`, after all commits so far, deleted vertices with these keys.
    pub(super) fn note(&mut self, at: CommitTimestamp, keys: Vec<(VertexId, Key)>) {
        for (id, key) in keys {
            self.deletions.push_back((at, id));
            self.keys.entry(id).or_default().push_back(key);
        }
    }

    /// The key that a vertex had when the commits began, if it was deleted since. O(1).
    #[inline]
    pub(super) fn find(&self, id: VertexId) -> Option<&Key> {
        if self.deletions.is_empty() { None } else { self.keys.get(&id)?.front() }
    }

    /// Forgets the deletions before `at`.
    #[inline]
    pub(super) fn forget_before(&mut self, at: CommitTimestamp) {
        while let Some((deletion, id)) = self.deletions.front().copied()
            && deletion < at
        {
            self.deletions.pop_front();
            if let Some(keys) = self.keys.get_mut(&id) {
                keys.pop_front();
                if keys.is_empty() {
                    self.keys.remove(&id);
                }
            }
        }
    }
}
