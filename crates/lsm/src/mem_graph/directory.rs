//! From an owner to its row (LSMGraph, 4.1: the map from vertices to their first edges).
//!
//! A table instead of the paper's hash map: it gives the owners in order, and it grows without
//! moving what readers look at.

use super::row::RowState;
use hedgerow_model::VertexId;
use hedgerow_reclamation::{Directory, Memory};
use hedgerow_sync::OnceLock;
use hedgerow_sync::atomic::{AtomicU64, Ordering};
use std::ops::Range;

/// Slots per page: few, because a MemGraph has rows of few vertices. The model checker's atomics are
/// large and its graphs small.
const PAGE: usize = if cfg!(hedgerow_shuttle) { 4 } else { 256 };

/// Pages per list.
const LIST: usize = if cfg!(hedgerow_shuttle) { 4 } else { 4096 };

/// Lists in a full table.
const LISTS: usize = if cfg!(hedgerow_shuttle) { 4 } else { (1 << 32) / (PAGE * LIST) };

/// A table with a slot for every vertex.
type Slots = Directory<RowSlot, LISTS, LIST, PAGE>;

/// The rows of an adjacency. Takes no memory before the first row.
#[derive(Default)]
pub(super) struct RowDirectory {
    slots: OnceLock<Slots>,
}

/// Where the state of one row is stored.
#[derive(Default)]
pub(super) struct RowSlot(AtomicU64);

impl RowDirectory {
    /// The slot of an owner, if its page exists. O(1).
    #[inline]
    pub(super) fn get(&self, owner: VertexId) -> Option<&RowSlot> {
        self.slots.get()?.get(owner.get())
    }

    /// The slot of an owner. Counts what it allocates in `tables`. O(1), and O(page) once per page.
    #[inline]
    pub(super) fn get_or_create(&self, owner: VertexId, tables: &Memory) -> &RowSlot {
        let slots = self.slots.get().unwrap_or_else(|| self.create(tables));
        slots.get_or_create(owner.get(), tables)
    }

    #[cold]
    fn create(&self, tables: &Memory) -> &Slots {
        let mut created = false;
        let slots = self.slots.get_or_init(|| {
            created = true;
            Slots::default()
        });
        if created {
            tables.add_index(Slots::EMPTY_BYTES);
        }
        slots
    }

    /// The first of these owners that has a row, and the state of that. O(owners before it), without
    /// those of absent pages.
    pub(super) fn next(&self, owners: Range<u32>) -> Option<(VertexId, RowState)> {
        let mut stretches = self.slots.get()?.stretches(owners);
        let first = |(first, slots): (u32, &[RowSlot])| {
            let position = slots.iter().position(|slot| slot.load().has_entries())?;
            Some((VertexId::new(first + position as u32), slots[position].load()))
        };
        stretches.find_map(first)
    }
}

impl RowSlot {
    /// The row as its last writer published it, with all that it leads to.
    #[inline]
    pub(super) fn load(&self) -> RowState {
        RowState(self.0.load(Ordering::Acquire))
    }

    /// The row, for the thread that holds the owner's lock: that lock orders it after the writer
    /// before.
    #[inline]
    pub(super) fn load_as_writer(&self) -> RowState {
        RowState(self.0.load(Ordering::Relaxed))
    }

    /// Lets readers find the row in this state.
    #[inline]
    pub(super) fn publish(&self, state: RowState) {
        self.0.store(state.0, Ordering::Release);
    }
}
