//! Reading a row: the entries of a version, in the order in which they were added.

use crate::adjacency::block::{BlockShape, ChainEnds, ChainedBlock};
use crate::adjacency::extra::RowExtra;
use crate::adjacency::former::{Former, FormerChain};
use crate::adjacency::note::BlockNote;
use crate::adjacency::versions::NewestVersions;
use hedgerow_model::{Column, EdgeValue, VertexId};
use hedgerow_sync::epoch::Domain;
use std::ops::ControlFlow;

/// The neighbors of a vertex in one adjacency: entries that are appended to a chain of blocks, and
/// deletions of some.
#[derive(Default)]
pub(super) struct ChainedRow {
    pub(super) versions: NewestVersions,
    pub(super) chain: ChainEnds,
}

/// The first entries of a chain of blocks.
#[derive(Clone, Copy)]
pub(super) struct Entries<'a> {
    pub(super) first: Option<ChainedBlock<'a>>,
    pub(super) count: u32,
    pub(super) shape: BlockShape,
}

impl<'a> Entries<'a> {
    /// Returns the blocks, each with its number of these entries. Prefetches the block after each.
    #[inline]
    fn blocks(self) -> impl Iterator<Item = (ChainedBlock<'a>, usize)> {
        std::iter::successors(self.first, |block| block.next()).map_while(move |block| {
            block.next().into_iter().for_each(ChainedBlock::prefetch_entries);
            let left = self.count.checked_sub(block.before()).filter(|left| *left > 0)?;
            Some((block, left.min(block.capacity()) as usize))
        })
    }

    /// Returns the neighbors in each block, with the position of the first one.
    #[inline]
    pub(super) fn neighbors(self) -> impl Iterator<Item = (u32, &'a [VertexId])> {
        self.blocks().map(move |(block, count)| {
            // SAFETY: the count is from a version, and the thread retains the version or writes the
            // row.
            (block.before(), unsafe { block.neighbors(self.shape, count) })
        })
    }

    /// Returns the neighbors and the values in each block, with the position of the first one.
    #[inline]
    fn runs<W: Column>(self) -> impl Iterator<Item = (u32, &'a [VertexId], &'a [W])> {
        self.blocks().map(move |(block, count)| {
            // SAFETY: as for the neighbors.
            let neighbors = unsafe { block.neighbors(self.shape, count) };
            // SAFETY: as for the neighbors.
            let values = unsafe { block.values(self.shape, count) };
            (block.before(), neighbors, values)
        })
    }

    /// Visits the entries with their positions.
    pub(super) fn for_each(self, mut visit: impl FnMut(u32, VertexId, EdgeValue)) {
        for (block, count) in self.blocks() {
            // SAFETY: as above.
            let neighbors = unsafe { block.neighbors(self.shape, count) };
            for (place, neighbor) in neighbors.iter().enumerate() {
                // SAFETY: as above.
                let value = unsafe { block.value_bits(self.shape, place) };
                visit(block.before() + place as u32, *neighbor, value);
            }
        }
    }

    /// Returns the bits of the value of an entry.
    pub(super) fn value_bits(self, position: u32) -> EdgeValue {
        let block = self.blocks().find(|(block, count)| ((position - block.before()) as usize) < *count);
        let (block, _) = block.expect("the chain has as many entries");
        // SAFETY: as above.
        unsafe { block.value_bits(self.shape, (position - block.before()) as usize) }
    }

    /// Returns the positions of the entries of a neighbor, ascending. O(entries).
    pub(super) fn positions_of(self, neighbor: VertexId) -> impl Iterator<Item = u32> {
        let chunks = self.neighbors().flat_map(|(before, neighbors)| {
            neighbors.chunks(SEARCHED_CHUNK).zip((before..).step_by(SEARCHED_CHUNK))
        });
        let having = chunks.filter(move |(chunk, _)| has(chunk, neighbor));
        having.flat_map(move |(chunk, before)| {
            let equal = chunk.iter().zip(before..).filter(move |(other, _)| **other == neighbor);
            equal.map(|(_, position)| position)
        })
    }
}

/// Number of neighbors compared without a branch in between.
const SEARCHED_CHUNK: usize = 32;

/// Returns true if a chunk has a neighbor. Compares all, so that the compiler vectorizes.
#[inline]
fn has(chunk: &[VertexId], neighbor: VertexId) -> bool {
    chunk.iter().fold(false, |found, other| found | (*other == neighbor))
}

impl ChainedRow {
    /// Returns the row in a version of the adjacency, for a reader.
    ///
    /// A row that was not written since then needs no pin: its chain belongs to the version, which
    /// retains it. The writer stores a version before the chain that comes with it. So if the
    /// versions are loaded after the chain, and none is after `round`, neither is the chain.
    ///
    /// # Safety
    /// The version is retained for `'a`, and chains of the row are retired in this domain.
    #[inline]
    pub(super) unsafe fn read<'a>(&'a self, round: u32, shape: BlockShape, domain: &Domain) -> RowAt<'a> {
        let first = self.chain.first.get();
        let newest = self.versions.newest();
        if newest.round <= round {
            let extra = first.and_then(|first| first.note().extra());
            return RowAt { entries: Entries { first, count: newest.entries, shape }, extra, round };
        }
        let _pinned = domain.pin();
        // SAFETY: pinned, and by the promise of the caller.
        unsafe { self.at(round, shape) }
    }

    /// Returns the row in a version of the adjacency.
    ///
    /// # Safety
    /// The version is retained for `'a`, and the thread is pinned or writes the row.
    #[inline]
    pub(super) unsafe fn at<'a>(&'a self, round: u32, shape: BlockShape) -> RowAt<'a> {
        let newest = self.versions.at(round);
        let Some(newest_chain) = self.chain.first.get() else {
            return RowAt { entries: Entries { first: None, count: 0, shape }, extra: None, round };
        };
        let since = newest_chain.note().since();
        let former = (since > round).then(|| former_of(newest_chain, round));
        let first = former.map_or(Some(newest_chain), FormerChain::first);
        let note = first.map_or(BlockNote::Former(Former::None), ChainedBlock::note);
        // A version before the newest two is kept with its chain, if it has entries.
        let version = newest.filter(|version| note.since() <= version.round);
        let version = version.or_else(|| former?.last_up_to(round)).or_else(|| note.extra()?.older_at(round));
        let entries = Entries { first, count: version.map_or(0, |version| version.entries), shape };
        RowAt { entries, extra: note.extra(), round }
    }
}

/// Returns the former chain that a row had in a round, given the first block of its newest chain.
///
/// The newest chain may be retired meanwhile, if no retained version has it: the pin of the caller
/// keeps its memory.
fn former_of(first: ChainedBlock<'_>, round: u32) -> &FormerChain {
    let former = first.note().former().find(|former| former.has(round));
    // Without the chain, the row would be read as empty.
    former.expect("a chain keeps those before it that retained versions have")
}

/// A row in a version of an adjacency.
#[derive(Clone, Copy)]
pub struct RowAt<'a> {
    pub(super) entries: Entries<'a>,
    pub(super) extra: Option<&'a RowExtra>,
    round: u32,
}

impl<'a> RowAt<'a> {
    /// Returns the number of neighbors. O(1), and O(log deletions) if there are any.
    #[inline]
    #[must_use]
    pub fn degree(&self) -> usize {
        let deleted = self.extra.map_or(0, |extra| extra.deleted_at(self.round));
        self.entries.count as usize - deleted
    }

    /// Visits the neighbors in nonempty runs. Uses `deleted` as scratch space. O(entries).
    #[inline]
    pub fn neighbors<W: Column, B>(
        &self,
        deleted: &mut Vec<u32>,
        run: impl FnMut(&'a [VertexId], &'a [W]) -> ControlFlow<B>,
    ) -> ControlFlow<B> {
        self.neighbors_without(&[], deleted, run)
    }

    /// Like [`RowAt::neighbors`], without the entries at some positions.
    #[inline]
    pub fn neighbors_without<W: Column, B>(
        &self,
        positions: &[u32],
        deleted: &mut Vec<u32>,
        mut run: impl FnMut(&'a [VertexId], &'a [W]) -> ControlFlow<B>,
    ) -> ControlFlow<B> {
        let has_deletions = self.extra.is_some_and(|extra| !extra.has_no_deletions());
        if has_deletions || !positions.is_empty() {
            deleted.clear();
            deleted.extend(self.deletions());
            deleted.extend_from_slice(positions);
            deleted.sort_unstable();
            return self.runs_between(deleted, run);
        }
        for (_, neighbors, values) in self.entries.runs() {
            run(neighbors, values)?;
        }
        ControlFlow::Continue(())
    }

    /// Visits the entries between the positions `deleted`, which ascend.
    fn runs_between<W: Column, B>(
        &self,
        deleted: &[u32],
        mut run: impl FnMut(&'a [VertexId], &'a [W]) -> ControlFlow<B>,
    ) -> ControlFlow<B> {
        let mut deleted = deleted.iter().copied().peekable();
        for (before, neighbors, values) in self.entries.runs::<W>() {
            let mut begin = 0;
            while let Some(position) =
                deleted.next_if(|position| ((position - before) as usize) < neighbors.len())
            {
                let end = (position - before) as usize;
                if begin < end {
                    run(&neighbors[begin..end], &values[begin..end])?;
                }
                begin = end + 1;
            }
            if begin < neighbors.len() {
                run(&neighbors[begin..], &values[begin..])?;
            }
        }
        ControlFlow::Continue(())
    }

    /// Returns the neighbors and their values in place, if they are one block without deletions.
    #[inline]
    #[must_use]
    pub fn whole<W: Column>(&self) -> Option<(&'a [VertexId], &'a [W])> {
        let mut runs = self.entries.runs();
        let (neighbors, values) = match runs.next() {
            Some((_, neighbors, values)) => (neighbors, values),
            None => (&[][..], &[][..]),
        };
        (neighbors.len() == self.degree() && runs.next().is_none()).then_some((neighbors, values))
    }

    /// Returns the positions of the deleted entries, in the order of the deletions.
    pub(super) fn deletions(&self) -> impl Iterator<Item = u32> {
        let round = self.round;
        self.extra.into_iter().flat_map(move |extra| extra.deletions_at(round))
    }

    /// Returns the position of a neighbor, if the row has it. O(entries).
    pub(super) fn position_of(&self, neighbor: VertexId) -> Option<u32> {
        let mut positions = self.entries.positions_of(neighbor);
        positions.find(|position| !self.deletions().any(|deleted| deleted == *position))
    }

    /// Returns the bits of the value of the edge to a neighbor, if there is one. O(entries).
    #[must_use]
    pub fn find(&self, neighbor: VertexId) -> Option<EdgeValue> {
        Some(self.entries.value_bits(self.position_of(neighbor)?))
    }
}
