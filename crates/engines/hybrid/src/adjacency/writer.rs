//! Adding the changes of a round to rows.

use crate::adjacency::arena::{BlockArena, BlockArenas};
use crate::adjacency::block::{BlockShape, ChainedBlock};
use crate::adjacency::extra::RowExtra;
use crate::adjacency::former::{Former, FormerChain};
use crate::adjacency::members::{Members, Membership, is_long};
use crate::adjacency::note::BlockNote;
use crate::adjacency::row::{ChainedRow, Entries, RowAt};
use crate::adjacency::sizes::BlockSizes;
use crate::adjacency::versions::RowVersion;
use hedgerow_model::{ChangeSlice, EdgeValue, VertexId};

/// Number of deletions that a long row always keeps: it is rewritten when more than these, and more
/// than an eighth of its entries, are deleted. A short row is rewritten at every deletion.
const FEW_DELETIONS: usize = 16;

/// Numbers of edges added to and removed from an adjacency.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AddedAndRemoved {
    /// Number of edges that did not exist before.
    pub added: u64,
    /// Number of edges that existed before.
    pub removed: u64,
    /// Growth of the number of edges from a vertex to itself, which `added` and `removed` include.
    pub loops: isize,
}

/// Writes rows of one adjacency in one round. No other thread writes these rows.
pub(super) struct RowWriter<'w> {
    pub(super) shape: BlockShape,
    pub(super) sizes: BlockSizes,
    pub(super) arenas: &'w BlockArenas,
    pub(super) arena: &'w mut BlockArena,
    pub(super) round: u32,
    /// Rounds of the retained versions, ascending.
    pub(super) retained: &'w [u32],
    /// Entries to append to the row and, in `deleted`, positions of entries to delete.
    new: Vec<(VertexId, EdgeValue)>,
    deleted: Vec<u32>,
    /// Replaced chains.
    pub(super) former: Vec<FormerChain>,
    pub(super) counts: AddedAndRemoved,
    /// Growth of the notes of rows in bytes.
    pub(super) note_bytes: isize,
}

impl<'w> RowWriter<'w> {
    pub(super) fn new(
        (shape, sizes): (BlockShape, BlockSizes),
        arenas: &'w BlockArenas,
        arena: &'w mut BlockArena,
        round: u32,
        retained: &'w [u32],
    ) -> Self {
        let (new, deleted, former) = (Vec::new(), Vec::new(), Vec::new());
        let counts = AddedAndRemoved::default();
        RowWriter {
            shape,
            sizes,
            arenas,
            arena,
            round,
            retained,
            new,
            deleted,
            former,
            counts,
            note_bytes: 0,
        }
    }

    /// Adds the changes of a row. O(changes) while the row is short; else most puts of new edges
    /// are O(1), and every other change is O(entries).
    pub(super) fn add(&mut self, row: &ChainedRow, changes: ChangeSlice<'_>) {
        // SAFETY: the newest version is retained until the next one is published, and only this
        // thread writes the row.
        let now = unsafe { row.at(u32::MAX, self.shape) };
        self.sort_out(&now, changes);
        if self.new.is_empty() && self.deleted.is_empty() {
            return;
        }
        let entries = now.entries.count as usize;
        let deletions = now.extra.map_or(0, |extra| extra.deleted_at(u32::MAX)) + self.deleted.len();
        let is_short = self.sizes.is_one_block(entries + self.new.len());
        if !self.deleted.is_empty() && (is_short || deletions > FEW_DELETIONS.max(entries / 8)) {
            self.keep_replaced(row);
            self.rewrite(row, &now);
        } else {
            self.append(row, entries);
        }
    }

    /// Splits the changes into entries to append and entries to delete.
    fn sort_out(&mut self, now: &RowAt<'_>, changes: ChangeSlice<'_>) {
        self.new.clear();
        self.deleted.clear();
        let mut members = now.extra.map(RowExtra::members);
        let mut members = members.as_deref_mut().and_then(Option::as_deref_mut);
        let member_bytes = |members: Option<&Members>| members.map_or(0, Members::bytes) as isize;
        let bytes_before = member_bytes(members.as_deref());
        let owner = changes.first_owner();
        for change in changes.iter() {
            let (neighbor, content) = (change.neighbor(), change.value);
            let is_loop = isize::from(neighbor == owner);
            let found = members.as_deref().map_or(Membership::Unknown, |members| members.find(neighbor));
            let position = match (found, content) {
                (Membership::Absent, _) => None,
                // Without values, putting a neighbor that is present changes nothing.
                (Membership::Present, Some(_)) if !self.shape.has_values() => continue,
                _ => now.position_of(neighbor),
            };
            let Some(position) = position else {
                self.new.extend(content.map(|value| (neighbor, value)));
                self.counts.added += u64::from(content.is_some());
                self.counts.loops += if content.is_some() { is_loop } else { 0 };
                continue;
            };
            match content {
                None => {
                    self.deleted.push(position);
                    self.counts.removed += 1;
                    self.counts.loops -= is_loop;
                    members.as_deref_mut().into_iter().for_each(|members| members.remove(neighbor));
                }
                // Equal handles may belong to two records, of which the first was freed: no reader
                // can tell (`docs/concurrency.md`, reused handles).
                Some(value) if self.shape.has_values() && now.entries.value_bits(position) != value => {
                    self.deleted.push(position);
                    self.new.push((neighbor, value));
                }
                Some(_) => {}
            }
        }
        self.note_bytes += member_bytes(members.as_deref()) - bytes_before;
    }

    /// Keeps the version of the row that the next store replaces, if a retained version has it.
    fn keep_replaced(&mut self, row: &ChainedRow) {
        let (replaced, successor) = row.versions.replaced();
        if replaced.entries == 0 || !replaced.is_retained(successor, self.retained) {
            return;
        }
        let first = row.chain.first.get().expect("a row with versions has a block");
        // A version before this chain is the last one of the previous chain, and was noted with
        // that chain.
        if replaced.round >= first.note().since() {
            let retained = self.retained;
            self.change_note(first, |extra| extra.keep(replaced, successor, retained));
        }
    }

    /// Appends and deletes entries of a row that has `entries`.
    fn append(&mut self, row: &ChainedRow, entries: usize) {
        let last = row.chain.last.get();
        let free = last.map_or(0, |last| (last.before() + last.capacity()) as usize - entries);
        let (fitting, others) = self.new.split_at(free.min(self.new.len()));
        let fits_one_block = !others.is_empty() && self.sizes.is_one_block(entries + self.new.len());
        if fits_one_block && note_of(row.chain.first.get()).extra().is_none() {
            self.outgrow(row, entries);
        } else {
            if let Some(last) = last {
                write(last, self.shape, entries, fitting);
            }
            if !others.is_empty() {
                let before = entries + fitting.len();
                let bytes = self.sizes.bytes(self.shape, entries, others.len());
                let block = allocate(self.arenas, self.arena, self.shape, bytes, before);
                write(block, self.shape, before, others);
                match last {
                    Some(last) => last.link(block),
                    None => row.chain.first.set(block),
                }
                row.chain.last.set(block);
            }
        }
        let Some(first) = row.chain.first.get() else { return };
        if !self.deleted.is_empty() {
            let (round, deleted) = (self.round, std::mem::take(&mut self.deleted));
            self.change_note(first, |extra| extra.delete(round, &deleted));
            self.deleted = deleted;
        }
        if !self.new.is_empty() {
            self.add_members(first, entries);
            self.keep_replaced(row);
            self.store_version(row, entries + self.new.len());
        }
    }

    /// Copies a short row to a larger block, and appends the new entries there. Readers of any
    /// version may read either block.
    fn outgrow(&mut self, row: &ChainedRow, entries: usize) {
        let bytes = self.sizes.bytes(self.shape, entries, entries + self.new.len());
        let block = allocate(self.arenas, self.arena, self.shape, bytes, 0);
        let first = row.chain.first.get();
        let mut former = self.retained_before(first);
        former.next().into_iter().for_each(|newest| block.set_former(newest, &mut former));
        self.note_bytes += block.note().bytes() as isize;
        Entries { first, count: entries as u32, shape: self.shape }.for_each(|position, neighbor, value| {
            write(block, self.shape, position as usize, &[(neighbor, value)]);
        });
        write(block, self.shape, entries, &self.new);
        row.chain.first.set(block);
        row.chain.last.set(block);
        if first.is_some() {
            self.former.push(FormerChain::new(first, 0, self.round, row.versions.newest()));
        }
    }

    /// Adds the new entries to the set of neighbors of a row that had `entries` before them.
    fn add_members(&mut self, first: ChainedBlock<'_>, entries: usize) {
        let count = entries + self.new.len();
        if !is_long(count) {
            return;
        }
        let (shape, new) = (self.shape, std::mem::take(&mut self.new));
        self.change_note(first, |extra| {
            let all = || {
                let entries = Entries { first: Some(first), count: count as u32, shape };
                let mut deleted: Vec<u32> = extra.deletions_at(u32::MAX).collect();
                deleted.sort_unstable();
                let neighbors =
                    entries.neighbors().flat_map(|(before, neighbors)| neighbors.iter().zip(before..));
                let left = neighbors.filter(move |(_, position)| deleted.binary_search(position).is_err());
                left.map(|(neighbor, _)| *neighbor)
            };
            Members::add(&mut extra.members(), count, new.iter().map(|(neighbor, _)| *neighbor), all);
        });
        self.new = new;
    }

    /// Changes the extra state of the chain that begins with this block.
    fn change_note(&mut self, first: ChainedBlock<'_>, change: impl FnOnce(&RowExtra)) {
        let before = first.note().bytes();
        change(first.extra_or_new());
        self.note_bytes += first.note().bytes() as isize - before as isize;
    }

    /// Gives the row a new block with its remaining entries and the new ones.
    fn rewrite(&mut self, row: &ChainedRow, now: &RowAt<'_>) {
        self.deleted.extend(now.deletions());
        self.deleted.sort_unstable();
        let left = now.entries.count as usize - self.deleted.len();
        let count = left + self.new.len();
        let bytes = self.sizes.bytes(self.shape, left, count.max(1));
        let block = allocate(self.arenas, self.arena, self.shape, bytes, 0);
        let (mut deleted, mut written) = (self.deleted.iter().copied().peekable(), 0);
        now.entries.for_each(|position, neighbor, value| {
            if deleted.next_if_eq(&position).is_none() {
                write(block, self.shape, written, &[(neighbor, value)]);
                written += 1;
            }
        });
        debug_assert_eq!(written, left, "deletions are of different entries");
        write(block, self.shape, left, &self.new);
        let first = now.entries.first;
        let since = note_of(first).since();
        let replaced = FormerChain::new(first, since, self.round, row.versions.newest());
        block.set_former(replaced.copy(), self.retained_before(first));
        self.note_bytes += block.note().bytes() as isize;
        self.former.push(replaced);
        self.add_members(block, left);
        // In this order: see `Row::read`.
        self.store_version(row, count);
        row.chain.first.set(block);
        row.chain.last.set(block);
    }

    /// Returns copies of the chains before the one that begins with this block, if a retained
    /// version has them.
    fn retained_before<'a>(
        &self,
        first: Option<ChainedBlock<'a>>,
    ) -> impl Iterator<Item = FormerChain> + use<'a, 'w> {
        let retained = self.retained;
        note_of(first).former().filter(move |former| former.is_retained(retained)).map(FormerChain::copy)
    }

    fn store_version(&self, row: &ChainedRow, entries: usize) {
        let entries = u32::try_from(entries).expect("a row has fewer than 2^32 entries");
        row.versions.store(RowVersion { round: self.round, entries });
    }
}

fn note_of(first: Option<ChainedBlock<'_>>) -> BlockNote<'_> {
    first.map_or(BlockNote::Former(Former::None), ChainedBlock::note)
}

fn allocate<'a>(
    arenas: &'a BlockArenas,
    arena: &mut BlockArena,
    shape: BlockShape,
    bytes: usize,
    before: usize,
) -> ChainedBlock<'a> {
    let (memory, bytes) = arenas.allocate(arena, bytes);
    let capacity = u32::try_from(shape.entries_in(bytes)).expect("a block has fewer than 2^32 entries");
    let before = u32::try_from(before).expect("a row has fewer than 2^32 entries");
    // SAFETY: memory of these bytes, which only the caller has, and which lives as long as the
    // arenas.
    unsafe { ChainedBlock::new(memory, capacity, before) }
}

/// Writes entries that no version has yet into a block, the first one at this position of the row.
fn write(block: ChainedBlock<'_>, shape: BlockShape, position: usize, entries: &[(VertexId, EdgeValue)]) {
    let first = position - block.before() as usize;
    for ((neighbor, value), place) in entries.iter().zip(first..) {
        // SAFETY: this thread writes the row, and no version has these entries yet.
        unsafe { block.write(shape, place, *neighbor, *value) };
    }
}
