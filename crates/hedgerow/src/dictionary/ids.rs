//! Which vertex ids are free.

use hedgerow_model::{CapacityError, Timestamp, VertexId};
use hedgerow_sync::Mutex;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// Assigns vertex ids: in order, or again when nobody can read a deleted one any more.
#[derive(Default)]
pub(crate) struct IdAllocator {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    next: u32,
    /// Ids that a commit took and did not use; the smallest comes first.
    unused: BinaryHeap<Reverse<VertexId>>,
    /// Deleted ids and their deletion, roughly ascending by deletion.
    deleted: VecDeque<(VertexId, Timestamp)>,
}

/// An assigned id.
pub(crate) struct Assigned {
    pub(crate) id: VertexId,
    /// It belonged to a key before, which must forget it.
    pub(crate) reused: bool,
}

impl IdAllocator {
    /// An id that no vertex has which somebody can read. O(log unused).
    ///
    /// `oldest_readable` is asked only if there is a deleted id to reuse.
    pub(crate) fn assign(
        &self,
        oldest_readable: impl FnOnce() -> Timestamp,
    ) -> Result<Assigned, CapacityError> {
        let mut state = self.state.lock();
        if let Some(Reverse(id)) = state.unused.pop() {
            return Ok(Assigned { id, reused: false });
        }
        if let Some((id, deletion)) = state.deleted.front().copied()
            && deletion <= oldest_readable()
        {
            state.deleted.pop_front();
            return Ok(Assigned { id, reused: true });
        }
        let id = VertexId::try_from(u64::from(state.next)).map_err(|_| CapacityError::VertexIds)?;
        state.next += 1;
        Ok(Assigned { id, reused: false })
    }

    /// Takes back an id that was assigned and not used.
    pub(crate) fn return_unused(&self, id: VertexId) {
        self.state.lock().unused.push(Reverse(id));
    }

    /// Takes back an id whose vertex was deleted at `deletion`.
    pub(crate) fn return_deleted(&self, id: VertexId, deletion: Timestamp) {
        self.state.lock().deleted.push_back((id, deletion));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_deleted_id_waits_for_its_readers() {
        let ids = IdAllocator::default();
        let assign = |oldest| ids.assign(|| Timestamp(oldest)).map(|assigned| assigned.id.get()).unwrap();
        assert_eq!((assign(0), assign(0)), (0, 1));
        ids.return_deleted(VertexId::new(0), Timestamp(5));
        assert_eq!(assign(4), 2);
        assert_eq!(assign(5), 0);
        ids.return_unused(VertexId::new(1));
        assert_eq!((assign(0), assign(0)), (1, 3));
    }
}
