//! Directories of large neighbor sets: an array that maps the first neighbor of each leaf to the
//! leaf, in one allocation.
//!
//! An entry holds the pointer and the length of its leaf, and the handle of a directory holds the
//! number of entries and the last one's first neighbor. So a search reads the cache line of the
//! directory where it guesses the entry, and then the ids of the leaf. The `unsafe` code rests on
//! three invariants:
//!
//! 1. A [`LeafTable`] lies at the start of [`bytes_for`]`(capacity)` bytes of the pool, followed by
//!    room for `capacity` entries, of which the first `leaves` are initialized.
//! 2. The length of a [`LeafEntry`] is at most that of its leaf. They differ only while
//!    [`LeafDirectory::change`] or [`LeafDirectory::change_in_place`] runs, when the entry says 0;
//!    leaves change nowhere else.
//! 3. The `leaves` of a [`LeafDirectory`] equal those of its table: tables change only through
//!    their only owner, which updates both.

use crate::leaf::Leaf;
use crate::pool;
use crate::shared::{Counted, SharedPointer};
use hedgerow_in_memory::reclamation::account;
use hedgerow_model::search::{self, Spread};
use hedgerow_model::{Column, Neighbors, VertexId};
use hedgerow_sync::atomic::AtomicU32;
use hedgerow_sync::prefetch;
use std::mem;
use std::ptr::NonNull;

/// The leaves of a set, ascending. Clones share them until one of the clones changes.
#[derive(Clone)]
pub(crate) struct LeafDirectory {
    table: SharedPointer<LeafTable>,
    leaves: u32,
    /// The first neighbor of the last leaf.
    last: VertexId,
    /// Total neighbors in all leaves; less than the maximum number of vertices.
    length: u32,
}

#[repr(C, align(16))]
struct LeafTable {
    owners: AtomicU32,
    leaves: u32,
    capacity: u32,
    leaf_bytes: usize,
}

/// A leaf, and copies of the fields that a search needs.
#[derive(Clone)]
#[repr(C, align(16))]
pub(crate) struct LeafEntry {
    /// The leaf's first neighbor.
    first: VertexId,
    length: u32,
    leaf: Leaf,
}

/// Maximum bytes of a leaf's ids, and of its values, prefetched ahead of a scan.
const PREFETCHED_BYTES: usize = 1024;

const START: usize = size_of::<LeafTable>();

fn bytes_for(capacity: usize) -> usize {
    pool::rounded(START + capacity * size_of::<LeafEntry>())
}

/// The capacity of a new directory for `leaves` leaves: some of them may split.
fn roomy(leaves: usize) -> usize {
    leaves + leaves / 8 + 2
}

impl LeafEntry {
    fn of(leaf: Leaf) -> Self {
        let mut entry = LeafEntry { first: VertexId::default(), length: 0, leaf };
        entry.update();
        entry
    }

    /// Updates the copies after a change of the leaf. An empty leaf keeps its first neighbor.
    fn update(&mut self) {
        self.first = self.leaf.ids().first().copied().unwrap_or(self.first);
        self.length = self.leaf.len() as u32;
    }

    /// The first neighbor.
    #[inline]
    pub(crate) fn first(&self) -> VertexId {
        self.first
    }

    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.length as usize
    }

    #[inline]
    pub(crate) fn leaf(&self) -> &Leaf {
        &self.leaf
    }

    /// The neighbors. Does not access the leaf's header.
    #[inline]
    pub(crate) fn ids(&self) -> &[VertexId] {
        // SAFETY: invariant 2.
        unsafe { self.leaf.first_ids(self.len()) }
    }

    /// The neighbors and their values.
    #[inline]
    pub(crate) fn neighbors<W: Column>(&self) -> Neighbors<'_, W> {
        // SAFETY: invariant 2.
        unsafe { self.leaf.first_neighbors(self.len()) }
    }

    /// Prefetches the first neighbors and values; the hardware prefetcher does the rest. The
    /// address of the values depends on the leaf's header, which should have been prefetched.
    #[inline]
    pub(crate) fn prefetch<W: Column>(&self) {
        let (ids, values) = self.neighbors::<W>();
        prefetch(ids.as_ptr(), size_of_val(ids).min(PREFETCHED_BYTES));
        prefetch(values.as_ptr(), size_of_val(values).min(PREFETCHED_BYTES));
    }

    /// Prefetches the leaf's header, which the address of its values depends on.
    #[inline]
    pub(crate) fn prefetch_header(&self) {
        self.leaf.prefetch_header();
    }
}

impl LeafDirectory {
    /// Creates a directory of ascending leaves.
    pub(crate) fn of(leaves: Vec<Leaf>) -> Self {
        let mut directory = LeafDirectory::with_capacity(leaves.len());
        directory.insert(0, leaves);
        directory
    }

    fn with_capacity(capacity: usize) -> Self {
        let bytes = bytes_for(capacity);
        let memory = pool::allocate(bytes).cast();
        account::allocated(bytes);
        let capacity = ((bytes - START) / size_of::<LeafEntry>()) as u32;
        let table = LeafTable { owners: AtomicU32::new(1), leaves: 0, capacity, leaf_bytes: 0 };
        // SAFETY: the pool hands out `bytes` bytes, aligned to 16, for exclusive use; the table
        // fits into them.
        unsafe { memory.write(table) };
        // SAFETY: made with one owner, and freed with the bytes that belong to its capacity.
        let table = unsafe { SharedPointer::new(memory) };
        LeafDirectory { table, leaves: 0, last: VertexId::default(), length: 0 }
    }

    /// The leaves, ascending.
    #[inline]
    pub(crate) fn entries(&self) -> &[LeafEntry] {
        // SAFETY: invariants 1 and 3; borrowed with the directory.
        unsafe { std::slice::from_raw_parts(self.table.first(), self.leaves as usize) }
    }

    /// Total neighbors in all leaves.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.length as usize
    }

    /// The bytes of the table, without leaves.
    #[inline]
    pub(crate) fn own_bytes(&self) -> usize {
        bytes_for(self.table.capacity as usize)
    }

    /// The bytes of all leaves.
    #[inline]
    pub(crate) fn leaf_bytes(&self) -> usize {
        self.table.leaf_bytes
    }

    /// Upper bound on the bytes by which one more leaf grows a directory of `leaves` leaves.
    pub(crate) fn growth(leaves: usize) -> usize {
        bytes_for(roomy(leaves + 1)) - bytes_for(leaves)
    }

    /// Returns true if both share one table.
    pub(crate) fn is(&self, other: &Self) -> bool {
        self.table.is(&other.table)
    }

    /// The place of the leaf where `id` is or belongs. O(log leaves).
    #[inline]
    pub(crate) fn place_of(&self, id: VertexId) -> usize {
        search::last_from(self.entries(), Spread::up_to(self.last), id, |entry| entry.first)
    }

    /// The entry of the leaf where `id` is or belongs, and bounds on its neighbors. O(log leaves).
    #[inline]
    pub(crate) fn entry_of(&self, id: VertexId) -> Option<(&LeafEntry, Spread)> {
        self.entry_at(self.place_of(id))
    }

    /// The entry at an index, and bounds on its neighbors. O(1).
    #[inline]
    pub(crate) fn entry_at(&self, place: usize) -> Option<(&LeafEntry, Spread)> {
        let (entry, next) = (self.entries().get(place)?, self.entries().get(place + 1));
        // The last leaf is assumed to span as many ids as the others on average.
        let average =
            || entry.first.get().saturating_add(self.last.get() / self.leaves).min(VertexId::MAX.get());
        let last = next.map_or_else(|| VertexId::new(average()), |next| next.first);
        Some((entry, Spread { first: entry.first, last }))
    }

    /// Makes this the only owner of a table with room for `more` leaves, copying it if necessary.
    pub(crate) fn make_own(&mut self, more: usize) {
        let leaves = self.entries().len() + more;
        if self.table.get_mut().is_some_and(|table| leaves <= table.capacity as usize) {
            return;
        }
        let mut copy = LeafDirectory::with_capacity(if more == 0 { leaves } else { roomy(leaves) });
        for entry in self.entries() {
            copy.put(copy.entries().len(), entry.clone());
        }
        account::moved(copy.own_bytes());
        *self = copy;
    }

    /// The table and its entries, if this is the only owner.
    #[inline]
    fn parts_mut(&mut self) -> Option<(&mut LeafTable, &mut [LeafEntry])> {
        let table = self.table.get_mut()?;
        // SAFETY: invariant 1; borrowed exclusively with the table, which they follow.
        let entries = unsafe { std::slice::from_raw_parts_mut(table.first_mut(), table.leaves as usize) };
        Some((table, entries))
    }

    /// Changes a leaf. Panics if this is not the only owner; see [`LeafDirectory::make_own`].
    #[inline]
    pub(crate) fn change<R>(&mut self, place: usize, change: impl FnOnce(&mut Leaf) -> R) -> R {
        let (table, entries) = self.parts_mut().expect("only the sole owner changes a directory");
        let entry = &mut entries[place];
        let (length, bytes) = (mem::take(&mut entry.length), entry.leaf.bytes());
        let result = change(&mut entry.leaf);
        entry.update();
        let now = entry.length;
        table.leaf_bytes = table.leaf_bytes - bytes + entry.leaf.bytes();
        self.length = self.length - length + now;
        self.follow();
        result
    }

    /// Changes a leaf without reallocating, if this is the only owner of the directory and of the
    /// leaf; otherwise does nothing. `change` returns the growth of the leaf in neighbors, or
    /// `None` if it did nothing.
    #[inline]
    pub(crate) fn change_in_place(
        &mut self,
        place: usize,
        change: impl FnOnce(&mut Leaf) -> Option<isize>,
    ) -> Option<isize> {
        let (_, entries) = self.parts_mut()?;
        let entry = entries.get_mut(place)?;
        let length = mem::take(&mut entry.length);
        let grown = change(&mut entry.leaf);
        match grown {
            None => entry.length = length,
            Some(_) => entry.update(),
        }
        // A leaf grows by one at most.
        self.length = self.length.wrapping_add_signed(grown.unwrap_or(0) as i32);
        self.follow();
        grown
    }

    /// Inserts leaves before the one at `place`. O(leaves).
    pub(crate) fn insert(&mut self, place: usize, leaves: Vec<Leaf>) {
        self.make_own(leaves.len());
        for (offset, leaf) in leaves.into_iter().enumerate() {
            self.put(place + offset, LeafEntry::of(leaf));
        }
    }

    /// Inserts an entry, for which there is room.
    fn put(&mut self, place: usize, entry: LeafEntry) {
        let table = self.table.get_mut().expect("only the sole owner changes a directory");
        let leaves = table.leaves as usize;
        assert!(place <= leaves && table.leaves < table.capacity, "an entry fits in the directory");
        self.length += entry.length;
        table.leaf_bytes += entry.leaf.bytes();
        table.leaves += 1;
        let at = table.first_mut().wrapping_add(place);
        account::moved((leaves - place) * size_of::<LeafEntry>());
        // SAFETY: by invariant 1 these are initialized, and there is room for one more after them.
        unsafe { at.copy_to(at.wrapping_add(1), leaves - place) };
        // SAFETY: within the capacity; the previous entry was moved.
        unsafe { at.write(entry) };
        self.follow();
    }

    /// Updates the copies of the table's fields.
    #[inline]
    fn follow(&mut self) {
        self.leaves = self.table.leaves;
        self.last = self.entries().last().map_or(self.last, |entry| entry.first);
    }

    /// Removes a leaf. Panics if this is not the only owner. O(leaves).
    pub(crate) fn remove(&mut self, place: usize) -> Leaf {
        let (_, entries) = self.parts_mut().expect("only the sole owner changes a directory");
        entries[place..].rotate_left(1);
        account::moved((entries.len() - place) * size_of::<LeafEntry>());
        // Borrowed again: a borrow from before the entries moved must not be used to access them.
        let table = self.table.get_mut().expect("there is still only one owner");
        table.leaves -= 1;
        let last = table.first_mut().wrapping_add(table.leaves as usize);
        // SAFETY: initialized by invariant 1, and no longer among the entries.
        let entry = unsafe { last.read() };
        table.leaf_bytes -= entry.leaf.bytes();
        self.length -= entry.length;
        self.follow();
        entry.leaf
    }
}

impl LeafTable {
    #[inline]
    fn first(&self) -> *const LeafEntry {
        std::ptr::from_ref(self).cast::<u8>().wrapping_add(START).cast()
    }

    #[inline]
    fn first_mut(&mut self) -> *mut LeafEntry {
        std::ptr::from_mut(self).cast::<u8>().wrapping_add(START).cast()
    }
}

// SAFETY: `owners` counts nothing else.
unsafe impl Counted for LeafTable {
    fn owners(&self) -> &AtomicU32 {
        &self.owners
    }

    unsafe fn free(mut this: NonNull<Self>) {
        // SAFETY: the caller has the only pointer.
        let table = unsafe { this.as_mut() };
        let bytes = bytes_for(table.capacity as usize);
        let entries = std::ptr::slice_from_raw_parts_mut(table.first_mut(), table.leaves as usize);
        // SAFETY: initialized by invariant 1, and not used again.
        unsafe { entries.drop_in_place() };
        // SAFETY: the memory came from the pool with this size; the table itself has nothing to
        // drop.
        unsafe { pool::free(this.cast(), bytes) };
        account::freed(bytes);
    }
}
