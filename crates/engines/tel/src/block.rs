//! A block: the log of the neighbors of one vertex, for one label in one stored direction.
//!
//! LiveGraph's transactional edge log (section 4, figure 3) in columns. Entries are appended, each
//! with the timestamp of its creation, so creations ascend, and the entries created by a timestamp
//! are a prefix. Deleting or superseding an entry stores a timestamp in its invalidation. Nothing
//! else of a visible entry ever changes, so readers borrow it.
//!
//! Blocks whose shape [has records](Shape::has_records) store short records of edges at the other
//! end: a record is copied from behind the handle of its new entry, and the handle of the copy
//! replaces that handle.
//!
//! Invariants of a block's memory from its handover by [`OwnedBlock`] to its return to the store:
//!
//! 1. It is laid out by the [`BlockLayout`] of its class and shape, and initialized: the header,
//!    the record notes and the filter completely, the columns below `length`.
//! 2. One thread at a time writes it, and reads the notes: the holder of the owner's lock, or of
//!    the [`OwnedBlock`].
//! 3. Below `length`, ids, creations and values never change, nor do the records that values point
//!    to; invalidations are atomic.
//! 4. Values in a block that has records are handles: of records in the block, or of longer ones
//!    elsewhere. The longer ones are not accessed here, because they may be freed before their
//!    entry is.

mod owned;
mod times;

pub(crate) use owned::OwnedBlock;

use crate::filter::Filter;
use crate::header::{LogHeader, RecordBytes, RecordNotes};
use crate::layout::{BlockLayout, HEADER_BYTES, Need, Shape, bytes_of};
use crate::scan::last_position;
use hedgerow_in_memory::records::memory::{self, LONGEST_EMBEDDED, embedded_size, is_embedded};
use hedgerow_model::{Column, CommitTimestamp, EdgeValue, LabelId, VertexId};
use hedgerow_sync::atomic::{AtomicU64, Ordering};
use hedgerow_sync::{epoch, prefetch};
use std::marker::PhantomData;
use std::ptr::NonNull;

/// The invalidation of a valid entry.
pub(crate) const VALID: u64 = u64::MAX;

/// The invalidation of an entry that is invisible for good, as if it had ended before it began.
pub(crate) const DEAD: u64 = 0;

/// Timestamp for reading the newest state: later than every commit timestamp and earlier than
/// [`VALID`].
pub(crate) const END_OF_TIME: CommitTimestamp = CommitTimestamp(u64::MAX - 1);

/// The entries of a block, up to the length loaded when this was created.
#[derive(Clone, Copy)]
pub(crate) struct EntryLog<'a> {
    memory: NonNull<u8>,
    length: usize,
    shape: Shape,
    class: u8,
    lives: PhantomData<&'a LogHeader>,
}

// SAFETY: many threads read the memory, and one at a time writes it, in atomics or beyond the part
// that others read.
unsafe impl Send for EntryLog<'_> {}
// SAFETY: as above.
unsafe impl Sync for EntryLog<'_> {}

impl<'a> EntryLog<'a> {
    /// Returns the block at an address.
    ///
    /// # Safety
    /// The block was linked with this class, and is not returned to its store during `'a`.
    #[inline]
    pub(crate) unsafe fn new(memory: NonNull<u8>, class: u8) -> Self {
        epoch::check_live(memory.as_ptr());
        // SAFETY: invariant 1.
        let header: &'a LogHeader = unsafe { memory.cast().as_ref() };
        // Acquire: pairs with the store that publishes the entries below the length.
        let length = header.length.load(Ordering::Acquire) as usize;
        EntryLog { memory, length, shape: header.shape, class, lives: PhantomData }
    }

    #[inline]
    fn header(&self) -> &'a LogHeader {
        // SAFETY: invariant 1.
        unsafe { self.memory.cast::<LogHeader>().as_ref() }
    }

    #[inline]
    pub(crate) fn layout(&self) -> &'static BlockLayout {
        BlockLayout::of(self.class, self.shape)
    }

    #[cfg(test)]
    pub(crate) fn class(&self) -> u8 {
        self.class
    }

    #[inline]
    pub(crate) fn label(&self) -> LabelId {
        self.header().label
    }

    /// The number of entries, including dead ones.
    #[inline]
    pub(crate) fn length(&self) -> usize {
        self.length
    }

    /// The number of dead entries.
    #[inline]
    pub(crate) fn dead(&self) -> usize {
        self.header().dead.load(Ordering::Relaxed) as usize
    }

    /// The size of the block in bytes.
    #[inline]
    pub(crate) fn bytes(&self) -> usize {
        bytes_of(self.class)
    }

    /// The address at an offset.
    #[inline]
    fn at<T>(&self, offset: usize) -> *mut T {
        self.memory.as_ptr().wrapping_add(offset).cast()
    }

    /// The ids of the entries, oldest first.
    #[inline]
    pub(crate) fn ids(&self) -> &'a [VertexId] {
        // SAFETY: invariants 1 and 3; the length was loaded from the header.
        unsafe { std::slice::from_raw_parts(self.at(HEADER_BYTES), self.length) }
    }

    /// The creation timestamps of the entries, ascending.
    #[inline]
    pub(crate) fn creations(&self) -> &'a [CommitTimestamp] {
        // SAFETY: as for the ids.
        unsafe { std::slice::from_raw_parts(self.at(self.layout().creations), self.length) }
    }

    /// The invalidation timestamps of the entries.
    #[inline]
    pub(crate) fn invalidations(&self) -> &'a [AtomicU64] {
        // SAFETY: as for the ids.
        unsafe { std::slice::from_raw_parts(self.at(self.layout().invalidations), self.length) }
    }

    /// The values of a prefix of entries created by the reader's timestamp. `W` is the column of
    /// the label or `()`.
    #[inline]
    pub(crate) fn values<W: Column>(&self, prefix: usize) -> &'a [W] {
        assert!(prefix <= self.length);
        if size_of::<W>() == 0 {
            // SAFETY: zero-sized values may lie anywhere.
            return unsafe { std::slice::from_raw_parts(NonNull::dangling().as_ptr(), prefix) };
        }
        let layout = self.layout();
        assert!(size_of::<W>() == layout.width, "a column of another width");
        // SAFETY: invariants 1 and 3: values within the prefix do not change. They are aligned by
        // the layout, and every bit pattern is valid.
        unsafe { std::slice::from_raw_parts(self.at(layout.values), prefix) }
    }

    /// The value at a position below the length that is not being written.
    #[inline]
    pub(crate) fn value(&self, position: usize) -> EdgeValue {
        assert!(position < self.length);
        let BlockLayout { width, values, .. } = *self.layout();
        match width {
            0 => EdgeValue(0),
            4 => {
                let place = self.at::<u32>(values + 4 * position);
                // SAFETY: invariant 1.
                EdgeValue(u64::from(unsafe { place.read() }))
            }
            _ => {
                let place = self.at::<u64>(values + 8 * position);
                // SAFETY: invariant 1.
                EdgeValue(unsafe { place.read() })
            }
        }
    }

    /// The record of an entry, if it lies in the block.
    #[inline]
    pub(crate) fn embedded(&self, position: usize) -> Option<&'a [u8]> {
        let value = self.shape.has_records().then(|| self.value(position));
        // SAFETY: invariants 3 and 4.
        value.filter(|value| is_embedded(*value)).map(|value| unsafe { memory::bytes(value) })
    }

    #[inline]
    fn filter(&self) -> Filter<'a> {
        let layout = self.layout();
        if layout.filter_words == 0 {
            return Filter(&[]);
        }
        // SAFETY: invariant 1.
        Filter(unsafe { std::slice::from_raw_parts(self.at(layout.filter), layout.filter_words) })
    }

    /// Returns the number of leading entries created by a timestamp. O(1) if all were and no entry
    /// ended later, otherwise O(log entries).
    #[inline]
    pub(crate) fn created_by(&self, at: CommitTimestamp) -> usize {
        // Loaded after the length: no entry below the length is newer.
        if self.header().changed.load(Ordering::Acquire) <= at.0 {
            return self.length;
        }
        self.creations().partition_point(|creation| *creation <= at)
    }

    /// Returns the number of entries valid at a timestamp, if nothing changed after it. O(1).
    ///
    /// Writers store `changed` first and readers load it last: a reader that sees any effect of a
    /// later stamp in the length or in the number of ended entries sees a later `changed`, too. If
    /// `changed` is not later, both values are those at the reader's timestamp, because every
    /// commit up to it was applied before the reader began. Invisible entries may die meanwhile,
    /// which changes neither.
    #[inline]
    pub(crate) fn valid_if_unchanged_since(&self, at: CommitTimestamp) -> Option<usize> {
        // Acquire: makes the `changed` that was stored before `ended` visible.
        let ended = self.header().ended.load(Ordering::Acquire) as usize;
        (self.header().changed.load(Ordering::Acquire) <= at.0).then(|| self.length - ended)
    }

    /// Returns true if all entries created by a timestamp are still valid then. O(1).
    #[inline]
    pub(crate) fn is_whole(&self, at: CommitTimestamp) -> bool {
        at.0 < self.header().oldest_invalidation.load(Ordering::Acquire)
    }

    /// Returns false if there never was an entry of the neighbor. O(1).
    #[inline]
    pub(crate) fn may_have(&self, neighbor: VertexId) -> bool {
        self.filter().may_contain(neighbor)
    }

    /// Returns the position of the newest entry of a neighbor among the first `prefix`, valid or
    /// not. O(1) if the filter rules the neighbor out, otherwise O(entries after it).
    #[inline]
    pub(crate) fn newest_of(&self, neighbor: VertexId, prefix: usize) -> Option<usize> {
        match self.filter().may_contain(neighbor) {
            true => last_position(&self.ids()[..prefix], neighbor),
            false => None,
        }
    }

    /// Returns the position of a neighbor's entry that is valid at a timestamp.
    ///
    /// The newest entry created by then decides: the lifetimes of a neighbor's entries do not
    /// overlap.
    #[inline]
    pub(crate) fn find(&self, neighbor: VertexId, at: CommitTimestamp) -> Option<usize> {
        let position = self.newest_of(neighbor, self.created_by(at))?;
        (at.0 < self.invalidations()[position].load(Ordering::Relaxed)).then_some(position)
    }

    /// Returns true if there is room for `more`. The owner is locked.
    #[inline]
    pub(crate) fn has_room(&self, more: Need) -> bool {
        let layout = self.layout();
        if !self.shape.has_records() {
            return self.length + more.entries <= layout.capacity;
        }
        layout.fits(more + Need { entries: self.length, record_bytes: self.record_bytes().published })
    }

    /// Returns the need of all entries except the dead ones. The owner is locked.
    pub(crate) fn need_of_kept(&self) -> Need {
        let RecordBytes { published, dead } = self.record_bytes();
        Need { entries: self.length - self.dead(), record_bytes: published - dead }
    }

    /// Returns the bytes of records. The owner is locked.
    #[inline]
    fn record_bytes(&self) -> RecordBytes {
        if !self.shape.has_records() {
            return RecordBytes::default();
        }
        // SAFETY: invariants 1 and 2.
        unsafe { (*self.notes()).bytes }
    }

    #[inline]
    fn notes(&self) -> *mut RecordNotes {
        self.at(self.layout().notes())
    }

    /// Prefetches the memory that looking up a neighbor and appending an entry touch.
    #[inline]
    pub(crate) fn prefetch_change(&self, neighbor: VertexId) {
        self.filter().prefetch(neighbor);
        let layout = self.layout();
        prefetch(self.at::<u8>(HEADER_BYTES + 4 * self.length), 1);
        prefetch(self.at::<u8>(layout.creations + 8 * self.length), 1);
        prefetch(self.at::<u8>(layout.invalidations + 8 * self.length), 1);
        if layout.width > 0 {
            prefetch(self.at::<u8>(layout.values + layout.width * self.length), 1);
        }
    }
}

/// Returns the record of an edge to put, if it is short enough to be copied into a block.
#[inline]
fn record_of<'r>(handle: EdgeValue) -> Option<&'r [u8]> {
    Some(record_put(handle)).filter(|record| record.len() <= LONGEST_EMBEDDED)
}

/// Returns the record of an edge to put, for a label whose blocks have records.
#[inline]
pub(crate) fn record_put<'r>(handle: EdgeValue) -> &'r [u8] {
    // SAFETY: the handles of changes come from `RecordHeap::stage`; the memory behind them, their
    // own or part of the commit's `StagedEffects`, stays until these changes are applied or
    // dropped, and all callers use the record before that.
    unsafe { memory::bytes(handle) }
}

/// Returns the bytes that the record of an edge to put takes in a block.
#[inline]
pub(crate) fn record_bytes(handle: EdgeValue) -> usize {
    record_of(handle).map_or(0, |record| embedded_size(record.len()))
}

/// Write access to a block.
///
/// Its functions are safe: they write entries beyond the length, and change those below it only as
/// invariant 3 allows.
pub(crate) struct BlockWriter<'a> {
    log: EntryLog<'a>,
    /// The number of entries written beyond the length.
    ahead: usize,
    /// Bytes of the records of the entries written beyond the length.
    record_bytes_ahead: usize,
}

impl<'a> BlockWriter<'a> {
    /// Takes write access.
    ///
    /// # Safety
    /// No other thread writes to the block during `'a`: its owner is locked, or the block is not
    /// shared yet. `log` has its current length.
    #[inline]
    pub(crate) unsafe fn new(log: EntryLog<'a>) -> Self {
        BlockWriter { log, ahead: 0, record_bytes_ahead: 0 }
    }

    /// Returns the readable part, up to the last publication.
    #[inline]
    pub(crate) fn log(&self) -> EntryLog<'a> {
        self.log
    }

    /// Writes an entry beyond the last one, where no reader looks. In a block with records, the
    /// value is the handle of a record, and `time`, called only there, returns its time.
    #[inline]
    pub(crate) fn write_ahead(
        &mut self,
        neighbor: VertexId,
        value: EdgeValue,
        time: impl FnOnce() -> Option<i64>,
    ) {
        let value = if self.log.shape.has_records() { self.embedding(value, time) } else { value };
        self.write_entry(neighbor, value);
    }

    /// Returns the value to store for an edge put with this handle, in a block with records.
    #[inline(never)]
    fn embedding(&mut self, handle: EdgeValue, time: impl FnOnce() -> Option<i64>) -> EdgeValue {
        if let Some(time) = time() {
            self.note_time(time);
        }
        record_of(handle).map_or(handle, |record| self.embed(record))
    }

    /// Writes an entry with its final value beyond the last one.
    fn write_entry(&mut self, neighbor: VertexId, value: EdgeValue) {
        let position = self.log.length + self.ahead;
        let layout = self.log.layout();
        assert!(position < layout.capacity, "an entry fits in its block");
        let id = self.log.at::<VertexId>(HEADER_BYTES + 4 * position);
        // SAFETY: within the columns by the assertion, and beyond what others read.
        unsafe { id.write(neighbor) };
        self.write_value(layout, position, value);
        self.write_invalidation(layout, position, VALID);
        self.log.filter().insert(neighbor);
        self.ahead += 1;
    }

    /// Copies a record to below the other records. Returns the copy's handle.
    #[inline(never)]
    fn embed(&mut self, record: &[u8]) -> EdgeValue {
        let layout = self.log.layout();
        self.record_bytes_ahead += embedded_size(record.len());
        let above = self.log.record_bytes().published + self.record_bytes_ahead;
        assert!(above <= layout.record_room, "a record fits in its block");
        // SAFETY: within the block by the assertion.
        let place = unsafe { self.log.memory.add(layout.filter - above) };
        // SAFETY: there is room by the assertion, below what others read, and the address is even
        // as a sum of even numbers.
        unsafe { memory::embed(place, record) }
    }

    #[inline]
    fn write_invalidation(&self, layout: &BlockLayout, position: usize, invalidation: u64) {
        let place = self.log.at::<AtomicU64>(layout.invalidations + size_of::<AtomicU64>() * position);
        // SAFETY: below the capacity and beyond the length, as all callers ensure.
        unsafe { place.write(AtomicU64::new(invalidation)) };
    }

    #[inline]
    fn write_creation(&self, layout: &BlockLayout, position: usize, creation: CommitTimestamp) {
        let place = self.log.at::<CommitTimestamp>(layout.creations + 8 * position);
        // SAFETY: as above.
        unsafe { place.write(creation) };
    }

    #[inline]
    fn write_value(&self, layout: &BlockLayout, position: usize, value: EdgeValue) {
        let BlockLayout { width, values, .. } = *layout;
        match width {
            0 => {}
            4 => {
                let place = self.log.at::<u32>(values + 4 * position);
                // SAFETY: below the capacity; no reader looks beyond the length.
                unsafe { place.write(value.0 as u32) };
            }
            _ => {
                let place = self.log.at::<u64>(values + 8 * position);
                // SAFETY: as above.
                unsafe { place.write(value.0) };
            }
        }
    }

    /// Publishes the entries written ahead, with this creation. O(entries written ahead).
    #[inline]
    pub(crate) fn publish(&mut self, creation: CommitTimestamp) {
        if self.ahead == 0 {
            return;
        }
        let (layout, written) = (self.log.layout(), self.log.length..self.log.length + self.ahead);
        written.for_each(|position| self.write_creation(layout, position, creation));
        self.publish_written(creation);
    }

    /// Publishes entries whose creations are already written.
    #[inline]
    fn publish_written(&mut self, changed: CommitTimestamp) {
        if self.record_bytes_ahead > 0 {
            // SAFETY: invariants 1 and 2: the block has records.
            unsafe { (*self.log.notes()).bytes.published += self.record_bytes_ahead };
        }
        let header = self.log.header();
        let length = self.log.length + self.ahead;
        // Stored first: a reader that sees this length sees this `changed` or a later one.
        header.changed.store(changed.0, Ordering::Release);
        header.length.store(length as u32, Ordering::Release);
        self.log.length = length;
        (self.ahead, self.record_bytes_ahead) = (0, 0);
    }

    /// Ends an entry that may be visible.
    #[inline]
    pub(crate) fn invalidate(&self, position: usize, at: CommitTimestamp) {
        let header = self.log.header();
        // Stored first, as in `publish_written`: a reader that sees the entry counted as ended sees
        // the timestamp of its end.
        header.changed.store(at.0, Ordering::Release);
        header.ended.store(header.ended.load(Ordering::Relaxed) + 1, Ordering::Release);
        let oldest = header.oldest_invalidation.load(Ordering::Relaxed).min(at.0);
        header.oldest_invalidation.store(oldest, Ordering::Release);
        self.log.invalidations()[position].store(at.0, Ordering::Release);
    }

    /// Ends an invisible entry.
    #[inline]
    pub(crate) fn kill(&self, position: usize, at: CommitTimestamp) {
        self.invalidate(position, at);
        self.bury(position);
    }

    /// Marks an ended entry as dead, once it is invisible.
    #[inline]
    pub(crate) fn bury(&self, position: usize) {
        self.log.invalidations()[position].store(DEAD, Ordering::Release);
        let dead = &self.log.header().dead;
        dead.store(dead.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
        if let Some(record) = self.log.embedded(position) {
            // SAFETY: invariants 1 and 2: the block has records.
            unsafe { (*self.log.notes()).bytes.dead += embedded_size(record.len()) };
        }
    }
}
