//! Allocation of vertex ids.

use hedgerow_model::token::LiveTimestamps;
use hedgerow_model::{CapacityError, CommitTimestamp, VertexId};
use hedgerow_sequencer::Sequencer;
use hedgerow_sync::Mutex;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::ops::Range;

/// Maximum number of deleted ids that a commit examines when it assigns an id.
const LOOKED_AT: usize = 1 << 10;

/// Assigns vertex ids: in order, or reused once no reader can see the deleted vertex.
#[derive(Default)]
pub(crate) struct IdAllocator {
    state: Mutex<IdState>,
}

#[derive(Default)]
struct IdState {
    /// The smallest id that was never assigned; all larger ids were never assigned either.
    next: u32,
    /// Freed ids, smallest first.
    free: BinaryHeap<Reverse<VertexId>>,
    /// Nonempty ranges of ids below `next` that were free when the graph was opened, descending.
    gaps: Vec<Range<u32>>,
    /// Ids deleted since the last check.
    deleted: Vec<Deleted>,
    /// Ids of deleted vertices that readers can still see, by the newest timestamp that sees the
    /// vertex.
    kept: BTreeMap<CommitTimestamp, Vec<Deleted>>,
    /// Number of ids in `kept`.
    kept_ids: usize,
    /// The release count at the last check of `kept`.
    seen_releases: u64,
}

/// The id of a deleted vertex, and the timestamps at which the vertex may be read.
#[derive(Clone, Debug)]
struct Deleted {
    id: VertexId,
    lifetime: Range<CommitTimestamp>,
}

impl IdAllocator {
    /// Returns a free id to reuse. O(log free).
    pub(crate) fn reassign(&self) -> Option<VertexId> {
        self.state.lock().reassign()
    }

    /// Returns a free id to reuse, or else the smallest id that was never assigned. O(log free).
    pub(crate) fn assign(&self) -> Result<VertexId, CapacityError> {
        let mut state = self.state.lock();
        if let Some(id) = state.reassign() {
            return Ok(id);
        }
        let id = VertexId::try_from(u64::from(state.next)).map_err(|_| CapacityError::VertexIds)?;
        state.next += 1;
        Ok(id)
    }

    /// Restores the state: ids from `next` on were never assigned, and the ids in `gaps`, which
    /// ascend, can be reused. O(gaps).
    pub(crate) fn restore(&self, next: u32, gaps: impl DoubleEndedIterator<Item = Range<u32>>) {
        let mut state = self.state.lock();
        state.next = next;
        state.free.clear();
        state.gaps = gaps.filter(|gap| gap.start < gap.end).rev().collect();
    }

    /// Frees an id whose vertex no reader can see.
    pub(crate) fn free(&self, id: VertexId) {
        self.state.lock().free.push(Reverse(id));
    }

    /// Records that the vertex of `id`, which was visible within `lifetime`, is deleted.
    pub(crate) fn delete(&self, id: VertexId, lifetime: Range<CommitTimestamp>) {
        self.state.lock().deleted.push(Deleted { id, lifetime });
    }

    /// Returns true if no id was ever assigned. O(1).
    pub(crate) fn are_unused(&self) -> bool {
        self.state.lock().next == 0
    }

    /// Heap bytes. O(1).
    pub(crate) fn bytes(&self) -> usize {
        let IdState { free, gaps, deleted, kept_ids, .. } = &*self.state.lock();
        let deleted = deleted.capacity() + kept_ids;
        free.capacity() * size_of::<VertexId>()
            + gaps.capacity() * size_of::<Range<u32>>()
            + deleted * size_of::<Deleted>()
    }

    /// Takes deleted ids that no live timestamp can read, and examines up to `most` ids. `live` was
    /// collected after `releases` releases. The caller must [free](Self::free) the ids. The flag is
    /// true if there are more ids to examine.
    pub(crate) fn dead(&self, live: &LiveTimestamps, releases: u64, most: usize) -> (Vec<VertexId>, bool) {
        let mut state = self.state.lock();
        if state.deleted.is_empty() && state.kept.is_empty() {
            return (Vec::new(), false);
        }
        state.sort_out(live, releases, most)
    }

    /// Takes the deleted ids whose vertices no reader can see. The caller must [free](Self::free)
    /// them.
    ///
    /// Examines a bounded number of ids that were deleted or released since the last call;
    /// amortized O(log open timestamps) each.
    pub(crate) fn unreadable(&self, sequencer: &Sequencer) -> Vec<VertexId> {
        let mut state = self.state.lock();
        if state.deleted.is_empty() && state.kept.is_empty() {
            return Vec::new();
        }
        let pending = sequencer.pending_reclaim();
        let worthwhile = pending.open_timestamps / 16;
        let released = pending.releases.saturating_sub(state.seen_releases);
        if state.deleted.len() <= worthwhile && (state.kept.is_empty() || released <= worthwhile as u64) {
            return Vec::new();
        }
        let (live, releases) = sequencer.live();
        state.sort_out(&live, releases, LOOKED_AT).0
    }
}

impl IdState {
    /// Takes the smallest freed id or, if there is none, the smallest id of the gaps.
    fn reassign(&mut self) -> Option<VertexId> {
        if let Some(Reverse(id)) = self.free.pop() {
            return Some(id);
        }
        let gap = self.gaps.last_mut()?;
        let id = VertexId::new(gap.start);
        gap.start += 1;
        if gap.start == gap.end {
            self.gaps.pop();
        }
        Some(id)
    }

    fn sort_out(&mut self, live: &LiveTimestamps, releases: u64, most: usize) -> (Vec<VertexId>, bool) {
        let mut candidates = split_last(&mut self.deleted, most);
        let mut more = !self.deleted.is_empty();
        let expired: Vec<CommitTimestamp> =
            self.kept.keys().copied().filter(|holder| !live.contains(*holder)).collect();
        for holder in expired {
            let Some(kept) = self.kept.get_mut(&holder) else { continue };
            let taken = split_last(kept, most - candidates.len());
            self.kept_ids -= taken.len();
            candidates.extend(taken);
            if !kept.is_empty() {
                more = true;
                break;
            }
            self.kept.remove(&holder);
        }
        if !more {
            self.seen_releases = self.seen_releases.max(releases);
        }
        let mut unreadable = Vec::new();
        for deleted in candidates {
            match live.holder(deleted.lifetime.clone()) {
                Some(holder) => {
                    self.kept.entry(holder).or_default().push(deleted);
                    self.kept_ids += 1;
                }
                None if live.decides(deleted.lifetime.end) => unreadable.push(deleted.id),
                None => self.deleted.push(deleted),
            }
        }
        (unreadable, more)
    }
}

/// Takes up to `most` elements off the end.
fn split_last<T>(list: &mut Vec<T>, most: usize) -> Vec<T> {
    match list.len().saturating_sub(most) {
        0 => std::mem::take(list),
        kept => list.split_off(kept),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hedgerow_sequencer::{ReaderKind, WriterKind};
    use hedgerow_sync::Arc;

    fn commit(sequencer: &Sequencer) -> CommitTimestamp {
        let stamp =
            sequencer.stamp(1, &[], Default::default(), WriterKind::Blind).unwrap().unwrap().stamps.first();
        sequencer.applied(stamp.into(), 0);
        stamp.at()
    }

    #[test]
    fn a_look_at_deleted_ids_is_bounded() {
        let (ids, sequencer) = (IdAllocator::default(), Arc::<Sequencer>::default());
        let created = commit(&sequencer);
        let open = Sequencer::open(&*sequencer, ReaderKind::Snapshot).unwrap();
        let deleted = commit(&sequencer);
        (0..25).for_each(|id| ids.delete(VertexId::new(id), created..deleted));
        let dead = |most| {
            let (live, releases) = sequencer.live();
            let (dead, more) = ids.dead(&live, releases, most);
            (dead.len(), more)
        };
        assert_eq!([dead(20), dead(20)], [(0, true), (0, false)], "a reader sees them");
        drop(open);
        assert_eq!(
            [dead(10), dead(10), dead(10), dead(10)],
            [(10, true), (10, true), (5, false), (0, false)]
        );
        assert_eq!(ids.bytes(), 0);
    }

    fn unreadable(ids: &IdAllocator, sequencer: &Sequencer) -> Vec<u32> {
        ids.unreadable(sequencer).into_iter().map(VertexId::get).collect()
    }

    #[test]
    fn ids_are_assigned_in_order_and_the_smallest_free_one_first() {
        let ids = IdAllocator::default();
        let assign = || ids.assign().unwrap().get();
        assert_eq!((assign(), assign(), assign(), ids.reassign()), (0, 1, 2, None));
        ids.free(VertexId::new(2));
        ids.free(VertexId::new(0));
        assert_eq!((ids.reassign(), assign(), assign()), (Some(VertexId::new(0)), 2, 3));
    }

    #[test]
    fn gaps_are_assigned_whole_before_new_ids() {
        let ids = IdAllocator::default();
        ids.restore(3_000_000_001, [0..2, 2..2, 5..6, 3_000_000_000..3_000_000_001].into_iter());
        ids.free(VertexId::new(7));
        let assigned: Vec<u32> = (0..6).map(|_| ids.assign().unwrap().get()).collect();
        assert_eq!(assigned, [7, 0, 1, 5, 3_000_000_000, 3_000_000_001]);
    }

    #[test]
    fn a_deleted_id_waits_only_for_readers_of_its_vertex() {
        let (ids, sequencer) = (IdAllocator::default(), Arc::<Sequencer>::default());
        let created = commit(&sequencer);
        let sees_first = Sequencer::open(&*sequencer, ReaderKind::Snapshot).unwrap();
        let deleted = commit(&sequencer);
        ids.delete(VertexId::new(0), created..deleted);
        let (born, died) = (commit(&sequencer), commit(&sequencer));
        ids.delete(VertexId::new(1), born..died);
        assert_eq!(unreadable(&ids, &sequencer), [1], "though an older snapshot is open");
        let later = Sequencer::open(&*sequencer, ReaderKind::Snapshot).unwrap();
        drop(sees_first);
        assert_eq!(unreadable(&ids, &sequencer), [0]);
        drop(later);
        assert!(unreadable(&ids, &sequencer).is_empty());
    }
}
