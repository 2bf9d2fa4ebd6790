//! The neighbours of one partition, for one label and direction.

use crate::chain::Content;
use crate::large_set::{LARGE, LargeSet, SMALL_AGAIN};
use crate::partition::{PARTITION_SIZE, slot_of, slots_of};
use crate::rows::{Rows, Tally};
use hedgerow_model::{ColumnType, EdgeChange};
use hedgerow_sync::Arc;
use std::ops::Range;

// Small rows are all that lies behind the offsets, so these cannot overflow.
const _: () = assert!(PARTITION_SIZE * LARGE <= u32::MAX as usize);

/// Neighbours as rows of one array, in the order of their vertices; large sets apart.
///
/// Never changed once published. It holds the place of RapidStore's vertex index and clustered
/// index (sections 6.1 and 6.3).
pub(crate) struct AdjacencyBlock {
    /// Where the row of each slot starts, and where the last ends. Empty for a large set.
    offsets: [u32; PARTITION_SIZE + 1],
    /// A bit for each slot that has neighbours.
    occupied: u64,
    /// A bit for each slot whose neighbours are a large set.
    large_slots: u64,
    /// The large sets, ascending by slot.
    large: Vec<Arc<LargeSet>>,
    /// All other rows.
    pub(crate) rows: Rows,
    /// Entries, those of large sets included.
    entries: usize,
}

/// The neighbours of one slot.
pub(crate) enum Row<'b> {
    /// A stretch of the block's rows.
    Small(Range<usize>),
    /// A set of its own.
    Large(&'b LargeSet),
}

impl AdjacencyBlock {
    /// The block after `changes`, which ascend and lie in its partition; `None` if they change nothing.
    ///
    /// One pass: O(block + changes · log row), where what does not change is copied whole or shared.
    pub(crate) fn merged(
        old: Option<&AdjacencyBlock>,
        column: ColumnType,
        changes: &[EdgeChange],
        tally: &mut Tally,
    ) -> Option<AdjacencyBlock> {
        let empty;
        let old = if let Some(old) = old {
            old
        } else {
            empty = AdjacencyBlock::empty(column, 0);
            &empty
        };
        let mut builder = Builder::new(old, column, changes.len());
        for row_changes in changes.chunk_by(|one, next| one.owner == next.owner) {
            let slot = slot_of(row_changes[0].owner);
            builder.copy_up_to(slot);
            builder.merge(slot, row_changes, tally);
        }
        builder.copy_up_to(PARTITION_SIZE);
        (tally.changed > 0).then(|| builder.finish())
    }

    fn empty(column: ColumnType, capacity: usize) -> Self {
        AdjacencyBlock {
            offsets: [0; PARTITION_SIZE + 1],
            occupied: 0,
            large_slots: 0,
            large: Vec::new(),
            rows: Rows::with_capacity(column, capacity),
            entries: 0,
        }
    }

    /// A bit for each slot that has neighbours.
    #[inline]
    pub(crate) fn occupied(&self) -> u64 {
        self.occupied
    }

    /// How many neighbours there are in all.
    pub(crate) fn entries(&self) -> usize {
        self.entries
    }

    /// The neighbours of a slot. O(1).
    #[inline]
    pub(crate) fn row(&self, slot: usize) -> Row<'_> {
        if self.large_slots >> slot & 1 == 1 {
            Row::Large(self.large_at(slot))
        } else {
            Row::Small(self.offsets[slot] as usize..self.offsets[slot + 1] as usize)
        }
    }

    /// How many neighbours a slot has. O(1).
    #[inline]
    pub(crate) fn degree(&self, slot: usize) -> usize {
        match self.row(slot) {
            Row::Small(stretch) => stretch.len(),
            Row::Large(set) => set.len(),
        }
    }

    fn large_at(&self, slot: usize) -> &Arc<LargeSet> {
        let before = self.large_slots & ((1 << slot) - 1);
        &self.large[before.count_ones() as usize]
    }
}

impl Content for AdjacencyBlock {
    fn heap_bytes(&self) -> usize {
        let directory = self.large.capacity() * size_of::<Arc<LargeSet>>();
        directory + self.rows.heap_bytes() + self.large.iter().map(|set| set_bytes(set)).sum::<usize>()
    }

    fn shared_bytes(&self, newer: &Self) -> usize {
        let shared = |slot| {
            let (old, new) = (self.large_at(slot), newer.large_at(slot));
            if Arc::ptr_eq(old, new) { set_bytes(old) } else { old.shared_bytes(new) }
        };
        slots_of(self.large_slots & newer.large_slots).map(shared).sum()
    }
}

/// The bytes of a large set, the two counts beside it included.
fn set_bytes(set: &LargeSet) -> usize {
    size_of::<LargeSet>() + 2 * size_of::<usize>() + set.bytes()
}

/// A block that is being put together, slot by slot.
struct Builder<'o> {
    old: &'o AdjacencyBlock,
    column: ColumnType,
    new: AdjacencyBlock,
    /// The slots below this are done.
    next: usize,
}

impl<'o> Builder<'o> {
    fn new(old: &'o AdjacencyBlock, column: ColumnType, changes: usize) -> Self {
        let new = AdjacencyBlock::empty(column, old.rows.len() + changes);
        Builder { old, column, new, next: 0 }
    }

    /// Takes over the slots before `slot` as they are.
    fn copy_up_to(&mut self, slot: usize) {
        let (old, start) = (self.old, self.new.rows.len() as u32);
        let first = old.offsets[self.next];
        self.new.rows.extend_from(&old.rows, first as usize..old.offsets[slot] as usize);
        for position in self.next..slot {
            self.new.offsets[position + 1] = old.offsets[position + 1] - first + start;
            if old.large_slots >> position & 1 == 1 {
                self.push_large(position, Arc::clone(old.large_at(position)));
            }
        }
        self.next = slot;
    }

    /// Merges changes into `slot`, the next one.
    fn merge(&mut self, slot: usize, changes: &[EdgeChange], tally: &mut Tally) {
        match self.old.row(slot) {
            Row::Small(stretch) => self.merge_small(slot, stretch, changes, tally),
            Row::Large(_) => self.merge_large(slot, changes, tally),
        }
        self.new.offsets[slot + 1] = self.new.rows.len() as u32;
        self.next = slot + 1;
    }

    fn merge_small(&mut self, slot: usize, stretch: Range<usize>, changes: &[EdgeChange], tally: &mut Tally) {
        let start = self.new.rows.len();
        self.new.rows.extend_merged(&self.old.rows, stretch, changes, tally);
        let end = self.new.rows.len();
        if end - start > LARGE {
            let set = LargeSet::new(self.column, &self.new.rows, start..end);
            self.new.rows.truncate(start);
            self.push_large(slot, Arc::new(set));
        }
    }

    fn merge_large(&mut self, slot: usize, changes: &[EdgeChange], tally: &mut Tally) {
        let old = self.old.large_at(slot);
        let changed_before = tally.changed;
        let set = old.merged(self.column, changes, tally);
        if tally.changed == changed_before {
            self.push_large(slot, Arc::clone(old));
        } else if set.len() < SMALL_AGAIN {
            set.leaves().for_each(|leaf| self.new.rows.extend_from(leaf, 0..leaf.len()));
        } else {
            self.push_large(slot, Arc::new(set));
        }
    }

    fn push_large(&mut self, slot: usize, set: Arc<LargeSet>) {
        self.new.large_slots |= 1 << slot;
        self.new.large.push(set);
    }

    fn finish(self) -> AdjacencyBlock {
        let mut new = self.new;
        new.rows.shrink_to_fit();
        new.large.shrink_to_fit();
        let small = (0..PARTITION_SIZE).filter(|slot| new.offsets[*slot] < new.offsets[slot + 1]);
        new.occupied = small.fold(new.large_slots, |bits, slot| bits | 1 << slot);
        new.entries = new.rows.len() + new.large.iter().map(|set| set.len()).sum::<usize>();
        new
    }
}
