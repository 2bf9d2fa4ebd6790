//! [`Block`] as a container of versioned subgraphs.

use crate::block::{Block, IDS_PER_LINE, Row, prefetch_behind_guess};
use crate::directory::LeafEntry;
use crate::extent::{self};
use crate::large_set::{LARGE, LargeSet};
use crate::subgraphs::partition::{slot_of, slots_of};
use crate::subgraphs::{ChangePlan, Container, Content, Owned, Tally};
use crate::{edit, merge, one};
use hedgerow_model::search::{self, Spread};
use hedgerow_model::{ChangeSlice, Column, ColumnType, EdgeChange, Neighbors, VertexId};
use hedgerow_sync::prefetch;
use std::ops::ControlFlow;
use std::ptr::NonNull;

/// Prefetch distance of a scan of rows, in ids. The hardware prefetcher stops at the end of each 4
/// KiB page.
const IDS_BEHIND: usize = 512;

/// Minimum free room of a copied block, which is enlarged otherwise: the next change would enlarge
/// it.
const ROOM_OF_COPIES: usize = 2;

/// Maximum number of changes always made in place; more only in blocks with [`ENTRIES_PER_EDIT`]
/// entries per change.
const EDITED_ALWAYS: usize = 4;
const ENTRIES_PER_EDIT: usize = 64;

impl Content for Block {
    type Changes<'c> = ChangeSlice<'c>;

    /// Copies the block at its size, with the room between rows; enlarges it if it has hardly any
    /// room.
    fn copied(&self) -> Owned<Self> {
        let header = self.header.clone();
        let entries = header.small_entries as usize;
        if self.capacity() < entries + ROOM_OF_COPIES {
            return edit::resized(self, header, edit::roomy(entries));
        }
        // SAFETY: just allocated; `destroy` below frees it.
        unsafe { Owned::from_raw(extent::duplicate(self, header)) }
    }

    fn edit(this: &mut Owned<Self>, changes: ChangeSlice<'_>) {
        edit::changes(this, changes);
    }

    #[inline]
    fn occupied(&self) -> u64 {
        self.header.occupied
    }

    fn bytes(&self) -> usize {
        self.memory_bytes() + self.header.heap_bytes() + self.header.in_large_sets(|rows| rows.large_bytes)
    }

    fn bytes_beside(&self, newer: &Self) -> usize {
        let own = self.memory_bytes() + self.header.heap_bytes();
        let beside = |slot: usize, set: &LargeSet| match newer.row(slot) {
            Row::Large(other) => set.bytes_beside(other),
            Row::Small(_) => set.bytes(),
        };
        let slots = slots_of(self.header.large_slots);
        own + slots.zip(&self.header.large).map(|(slot, set)| beside(slot, set)).sum::<usize>()
    }

    fn own_heap_bytes(&self) -> usize {
        self.header.heap_bytes()
    }

    unsafe fn destroy(this: NonNull<Self>) {
        // SAFETY: every block comes from `with_rows`; the caller has the only pointer.
        unsafe { extent::free(this) }
    }
}

impl Container for Block {
    /// The header, and the beginning of the rows.
    const FETCHED_AHEAD: usize = size_of::<Self>() + 256;
    const LOCATES: bool = true;

    fn plan(
        old: Option<&Self>,
        column: ColumnType,
        changes: ChangeSlice<'_>,
        tally: &mut Tally,
    ) -> ChangePlan<Self> {
        if let Some(old) = old {
            let entries = old.entries();
            if changes.len() <= EDITED_ALWAYS.max(entries / ENTRIES_PER_EDIT) {
                changes.iter().for_each(|change| old.tally(&change, tally));
                return match tally.changed() {
                    0 => ChangePlan::Nothing,
                    _ if entries <= changes.len() && old.is_emptied_by(changes) => ChangePlan::Replace(None),
                    _ => ChangePlan::Edit,
                };
            }
        }
        merge::merged(old, column, changes, tally)
    }

    #[inline]
    fn locate(&self, change: &EdgeChange, tally: &mut Tally) -> Option<u64> {
        one::locate(self, change, tally)
    }

    #[inline]
    fn edit_at(&mut self, place: u64, change: &EdgeChange) -> bool {
        one::edit_at(self, place, change)
    }

    fn growth(&self, changes: ChangeSlice<'_>) -> usize {
        let puts = || changes.iter().filter(|change| change.value.is_some());
        let entries = self.header.small_entries as usize + puts().count();
        let small = match entries <= self.capacity() {
            true => 0,
            false => Block::bytes_for(self.column(), edit::roomy(entries)) - self.memory_bytes(),
        };
        let large = |change: EdgeChange| match self.row(slot_of(change.owner())) {
            Row::Large(set) => set.growth(),
            Row::Small(stretch) if stretch.len() + changes.len() > LARGE => {
                LargeSet::first_bytes(self.column())
            }
            Row::Small(_) => 0,
        };
        small + puts().map(large).sum::<usize>()
    }

    #[inline]
    fn entries(&self) -> usize {
        self.header.small_entries as usize + self.header.in_large_sets(|rows| rows.large_entries)
    }

    #[inline]
    fn degree(&self, slot: usize) -> usize {
        match self.row(slot) {
            Row::Small(stretch) => stretch.len(),
            Row::Large(set) => set.len(),
        }
    }

    #[inline]
    fn find<W: Column>(&self, slot: usize, spread: Spread, neighbor: VertexId) -> Option<W> {
        match self.row(slot) {
            Row::Small(stretch) => {
                let (row, values) = self.entries_of(stretch);
                Some(values[search::position(row, spread, neighbor)?])
            }
            Row::Large(set) => set.find(neighbor),
        }
    }

    /// Also prefetches, for each row, a range of the same length some distance after it.
    // Without the prefetch, PageRank takes 1.09 to 1.12 times as long.
    #[inline]
    fn scan<W: Column, B>(
        &self,
        slots: u64,
        mut run: impl FnMut(usize, &[VertexId], &[W]) -> ControlFlow<B>,
    ) -> ControlFlow<B> {
        self.header.large.iter().filter_map(|set| set.leaves().first()).for_each(LeafEntry::prefetch::<()>);
        for slot in slots_of(slots) {
            let stretch = self.header.stretch(slot);
            // Prefetching does not pay for short rows.
            if stretch.len() >= IDS_PER_LINE {
                let ids = self.ids().as_ptr().wrapping_add(IDS_BEHIND);
                stretch.step_by(IDS_PER_LINE).for_each(|position| prefetch(ids.wrapping_add(position), 1));
            }
            self.visit(slot, |neighbors, values| run(slot, neighbors, values))?;
        }
        ControlFlow::Continue(())
    }

    #[inline]
    fn prefetch_place(block: *const Self, slot: usize) {
        let at = |offset: usize| block.cast::<u8>().wrapping_add(offset);
        prefetch(block, 1);
        prefetch(at(Block::place_offset(slot)), 1);
    }

    #[inline]
    fn prefetch_row<W: Column>(&self, slot: usize) {
        match self.row(slot) {
            Row::Small(stretch) => {
                let (neighbors, values) = self.entries_of::<W>(stretch);
                prefetch(neighbors.as_ptr(), 1);
                prefetch(values.as_ptr(), size_of::<W>());
            }
            Row::Large(set) => {
                if let Some(first) = set.leaves().first() {
                    first.prefetch_header();
                    first.prefetch::<()>();
                }
            }
        }
    }

    #[inline]
    fn prefetch_change(&self, slot: usize, neighbor: VertexId) {
        match self.row(slot) {
            Row::Small(stretch) => prefetch_behind_guess(&self.ids()[stretch], self.spread(), neighbor),
            Row::Large(set) => {
                prefetch(&self.header.large_entries, 1);
                set.prefetch_leaf(neighbor);
            }
        }
    }

    #[inline]
    fn run<W: Column>(&self, slot: usize) -> Option<Neighbors<'_, W>> {
        match self.row(slot) {
            Row::Small(stretch) => Some(self.entries_of(stretch)),
            Row::Large(_) => None,
        }
    }

    #[inline]
    fn visit<W: Column, B>(
        &self,
        slot: usize,
        mut run: impl FnMut(&[VertexId], &[W]) -> ControlFlow<B>,
    ) -> ControlFlow<B> {
        match self.row(slot) {
            Row::Small(stretch) if stretch.is_empty() => ControlFlow::Continue(()),
            Row::Small(stretch) => {
                let (neighbors, values) = self.entries_of(stretch);
                run(neighbors, values)
            }
            Row::Large(set) => {
                let leaves = set.leaves();
                leaves.iter().enumerate().try_for_each(|(place, leaf)| {
                    if let Some(after_next) = leaves.get(place + 2).filter(|_| size_of::<W>() > 0) {
                        after_next.prefetch_header();
                    }
                    if let Some(next) = leaves.get(place + 1) {
                        next.prefetch::<W>();
                    }
                    let (neighbors, values) = leaf.neighbors();
                    run(neighbors, values)
                })
            }
        }
    }
}
