//! The rows of all vertices in one adjacency.

use crate::adjacency::arena::BlockArenas;
use crate::adjacency::block::{BlockShape, ChainedBlock};
use crate::adjacency::former::FormerChain;
use crate::adjacency::row::{ChainedRow, RowAt};
use crate::adjacency::sizes::BlockSizes;
use crate::adjacency::writer::{AddedAndRemoved, RowWriter};
use crate::edge_log::{ChangeList, LogTail};
use hedgerow_in_memory::reclamation::{Directory, Memory};
use hedgerow_model::{ColumnType, MemoryUse, VertexId};
use hedgerow_sync::atomic::{AtomicIsize, AtomicUsize, Ordering};
use hedgerow_sync::epoch::{Domain, Waiting};
use hedgerow_sync::{Mutex, prefetch};
use std::ops::Range;

/// Rows per page; the model checker's atomics are large and its graphs small.
const PAGE: usize = if cfg!(hedgerow_shuttle) { 4 } else { 1024 };

/// Pages per list.
const LIST: usize = if cfg!(hedgerow_shuttle) { 4 } else { 2048 };

/// Lists in a full table.
const LISTS: usize = if cfg!(hedgerow_shuttle) { 4 } else { (1 << 32) / (PAGE * LIST) };

/// Prefetch distance, in rows, for the second block of a row; twice the distance for its first and
/// last block, and four times for the row itself.
const PREFETCH_DISTANCE: usize = 4;

/// Prefetch distance of a scan, in rows, for the first block of a row.
const SCAN_DISTANCE: usize = 8;

/// Bytes of a chain in the lists of former and retired chains.
const FORMER_BYTES: usize = size_of::<FormerChain>();

/// One adjacency in versions, one for each round (GraphOne, 4: the adjacency store).
///
/// A version is retained while a reader may have it: the newest one always, others as long as the
/// log [lists them](crate::edge_log::EdgeLog::forget).
pub struct RowTable {
    shape: BlockShape,
    sizes: BlockSizes,
    rows: Directory<ChainedRow, LISTS, LIST, PAGE>,
    arenas: BlockArenas,
    former: Mutex<Vec<FormerChain>>,
    /// Bytes of the blocks of former and retired chains.
    former_bytes: AtomicUsize,
    /// Chains that no retained version has. A reader of an old version may have loaded the first
    /// block of one, while it was the row's newest, to find the way to its own chain; the reader
    /// pins the domain until it has found it.
    retired: Waiting<Vec<FormerChain>>,
    pub(super) domain: Domain,
    /// Memory of the table of rows.
    memory: Memory,
    /// Bytes of the notes of rows, and of the lists of former and retired chains.
    note_bytes: AtomicIsize,
}

/// A version of an adjacency that stays retained for `'t`.
#[derive(Clone, Copy)]
pub struct RetainedVersion<'t> {
    tail: &'t LogTail,
}

impl<'t> RetainedVersion<'t> {
    /// Returns the version of a tail.
    ///
    /// # Safety
    /// The log of this tail feeds the adjacency: their versions are the same, and the retained
    /// rounds passed to [`RowTable::add`] and [`RowTable::free_former`] are those that the log
    /// lists.
    #[must_use]
    pub unsafe fn new(tail: &'t LogTail) -> Self {
        RetainedVersion { tail }
    }

    #[inline]
    fn number(self) -> u32 {
        self.tail.archived().round
    }
}

impl RowTable {
    /// Creates an empty adjacency whose edges carry values of this type.
    #[must_use]
    pub fn new(column: ColumnType, sizes: BlockSizes) -> Self {
        RowTable {
            shape: BlockShape::of(column),
            sizes,
            rows: Directory::default(),
            arenas: BlockArenas::default(),
            former: Mutex::default(),
            former_bytes: AtomicUsize::new(0),
            retired: Waiting::default(),
            domain: Domain::default(),
            memory: Memory::default(),
            note_bytes: AtomicIsize::new(0),
        }
    }

    /// Adds changes to the version `round`, which is newer than all others. Returns the numbers of
    /// edges added and removed.
    ///
    /// Concurrent calls are for the same version and have disjoint owners. `retained` has the
    /// rounds of all retained versions, ascending.
    pub fn add(&self, round: u32, retained: &[u32], changes: &ChangeList) -> AddedAndRemoved {
        self.arenas.with_arena(|arena| {
            let mut writer = RowWriter::new((self.shape, self.sizes), &self.arenas, arena, round, retained);
            let rows = || changes.rows(0..u32::MAX);
            let [mut far, mut near, mut next] = [4, 2, 1].map(|times| rows().skip(times * PREFETCH_DISTANCE));
            for changes in rows() {
                if let Some(row) = far.next() {
                    let row = self.rows.get_or_create(row.first_owner().get(), &self.memory);
                    prefetch(std::ptr::from_ref(row), size_of::<ChainedRow>());
                }
                if let Some(row) = near.next().and_then(|row| self.rows.get(row.first_owner().get())) {
                    row.chain
                        .first
                        .get()
                        .into_iter()
                        .chain(row.chain.last.get())
                        .for_each(ChainedBlock::prefetch);
                }
                let first =
                    next.next().and_then(|row| self.rows.get(row.first_owner().get())?.chain.first.get());
                first.and_then(ChainedBlock::next).into_iter().for_each(ChainedBlock::prefetch);
                writer.add(self.rows.get_or_create(changes.first_owner().get(), &self.memory), changes);
            }
            let RowWriter { former, counts, note_bytes, .. } = writer;
            if !former.is_empty() {
                self.former_bytes.fetch_add(self.bytes_of(&former), Ordering::Relaxed);
                self.note_bytes.fetch_add((former.len() * FORMER_BYTES) as isize, Ordering::Relaxed);
                self.former.lock().extend(former);
            }
            self.note_bytes.fetch_add(note_bytes, Ordering::Relaxed);
            counts
        })
    }

    /// Returns the row of a vertex in a version. O(1), and O(log versions) if the row has changed
    /// twice since and the version is old.
    #[inline]
    #[must_use]
    pub fn row<'t>(&'t self, vertex: VertexId, round: RetainedVersion<'t>) -> Option<RowAt<'t>> {
        let row = self.rows.get(vertex.get())?;
        // SAFETY: the version is retained for `'t`, and chains of this table are retired in its
        // domain.
        Some(unsafe { row.read(round.number(), self.shape, &self.domain) })
    }

    /// Returns the rows of a range of vertices in a version, ascending. Skips pages that were never
    /// used.
    pub fn rows<'t>(
        &'t self,
        vertices: Range<u32>,
        round: RetainedVersion<'t>,
    ) -> impl Iterator<Item = (VertexId, RowAt<'t>)> {
        let number = round.number();
        let mut ahead = self.rows.entries(vertices.clone()).skip(SCAN_DISTANCE);
        self.rows.entries(vertices).map(move |(vertex, row)| {
            let next = ahead.next().and_then(|(_, row)| row.chain.first.get());
            next.into_iter().for_each(ChainedBlock::prefetch_entries);
            // SAFETY: as in `row`.
            (VertexId::new(vertex), unsafe { row.read(number, self.shape, &self.domain) })
        })
    }

    /// Prefetches the row of a vertex, for [`RowTable::prefetch_block`].
    #[inline]
    pub fn prefetch_row(&self, vertex: VertexId) {
        if let Some(row) = self.rows.get(vertex.get()) {
            prefetch(std::ptr::from_ref(row), size_of::<ChainedRow>());
        }
    }

    /// Prefetches the first block of the row of a vertex.
    #[inline]
    pub fn prefetch_block(&self, vertex: VertexId) {
        let first = self.rows.get(vertex.get()).and_then(|row| row.chain.first.get());
        first.into_iter().for_each(ChainedBlock::prefetch_entries);
    }

    /// Returns the approximate number of entries of each row in a range of vertices, in the newest
    /// version, ascending by vertex. Reads no blocks.
    pub fn sizes(&self, vertices: Range<u32>) -> impl Iterator<Item = (VertexId, usize)> {
        self.rows.entries(vertices).map(|(vertex, row)| {
            let entries = row.versions.newest().entries;
            (VertexId::new(vertex), entries as usize)
        })
    }

    /// Retires the former chains that no retained version has. Returns their number.
    ///
    /// Retired chains count as retained until no reader can be passing through them. This call or a
    /// later one finds that out, and makes their memory free for new blocks. `retained` has the
    /// rounds of all retained versions, ascending. No call of [`RowTable::add`] runs meanwhile.
    pub fn free_former(&self, retained: &[u32]) -> usize {
        let dead: Vec<_> =
            self.former.lock().extract_if(.., |former| !former.is_retained(retained)).collect();
        let count = dead.len();
        self.retire(dead);
        self.take_back_passed();
        count
    }

    /// Retires chains that no row and no retained version has.
    fn retire(&self, chains: Vec<FormerChain>) {
        if chains.is_empty() {
            return;
        }
        // The sets of neighbors are large, and not for readers: free them at once.
        let extras = chains.iter().filter_map(|former| former.first()?.note().extra());
        let members = extras.filter_map(|extra| extra.members().take());
        let member_bytes: usize = members.map(|members| members.bytes()).sum();
        self.note_bytes.fetch_sub(member_bytes as isize, Ordering::Relaxed);
        let bytes = self.bytes_of(&chains);
        self.retired.add(&self.domain, chains, bytes, |chains, mark| {
            let blocks = chains.iter().flat_map(FormerChain::blocks);
            blocks.for_each(|block| mark(block.address().as_ptr()));
        });
    }

    /// Takes back the memory of retired chains that no reader can be passing through.
    fn take_back_passed(&self) {
        let (bytes, passed) = self.retired.take_passed(&self.domain);
        self.arenas.with_arena(|arena| {
            for former in passed.iter().flatten() {
                let note = former.first().map_or(0, |first| first.note().bytes());
                self.note_bytes.fetch_sub((note + FORMER_BYTES) as isize, Ordering::Relaxed);
                former.first().into_iter().for_each(ChainedBlock::free_note);
                for block in former.blocks() {
                    let bytes = self.sizes.allocated_bytes(self.shape, block.capacity() as usize);
                    // SAFETY: allocated with these bytes; nothing uses it, and it is taken out of
                    // the lists once.
                    unsafe { arena.take_back(block.address(), bytes) };
                }
            }
        });
        self.former_bytes.fetch_sub(bytes, Ordering::Relaxed);
        self.arenas.count_freed(bytes);
    }

    /// Returns the memory use of the rows. Replaced blocks count as retained, the notes of rows as
    /// live. O(1).
    #[must_use]
    pub fn memory(&self) -> MemoryUse {
        let notes = usize::try_from(self.note_bytes.load(Ordering::Relaxed)).unwrap_or(0);
        let (used, reserved_bytes) = self.arenas.used_and_free_bytes();
        let retained_bytes = self.former_bytes.load(Ordering::Relaxed).min(used);
        let live_bytes = used - retained_bytes + notes;
        MemoryUse { live_bytes, retained_bytes, reserved_bytes, index_bytes: self.memory.used().index_bytes }
    }

    /// Returns the bytes of all notes, as counted and by a walk. Nothing is retired.
    #[cfg(test)]
    pub(super) fn counted_and_walked_note_bytes(&self) -> (isize, isize) {
        let notes = |first: Option<ChainedBlock<'_>>| first.map_or(0, |first| first.note().bytes());
        let rows = self.rows.entries(0..u32::MAX).map(|(_, row)| notes(row.chain.first.get()));
        let former = self.former.lock();
        let former = former.iter().map(|former| FORMER_BYTES + notes(former.first()));
        let walked: usize = rows.chain(former).sum();
        (self.note_bytes.load(Ordering::Relaxed), walked as isize)
    }

    /// Returns the bytes of the blocks of chains.
    fn bytes_of(&self, chains: &[FormerChain]) -> usize {
        let blocks = chains.iter().flat_map(FormerChain::blocks);
        blocks.map(|block| self.sizes.allocated_bytes(self.shape, block.capacity() as usize)).sum()
    }
}

impl Drop for RowTable {
    fn drop(&mut self) {
        let former = self.former.get_mut().drain(..).chain(self.retired.take_all().flatten());
        former.for_each(|former| former.first().into_iter().for_each(ChainedBlock::free_note));
        let rows = self.rows.entries(0..u32::MAX).filter_map(|(_, row)| row.chain.first.get());
        rows.for_each(ChainedBlock::free_note);
    }
}
