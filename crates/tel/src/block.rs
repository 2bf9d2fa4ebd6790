//! A block: the log of the neighbors of one vertex for one label in one stored direction.
//!
//! LiveGraph's transactional edge log (section 4, figure 3) in columns. Entries are appended, each with the timestamp of its
//! creation, so creations ascend and what was created by a timestamp is a prefix. An entry is deleted or superseded by a
//! timestamp in its invalidation. All else of an entry that somebody may see never changes, so readers borrow it.
//!
//! In blocks whose shape [has records](Shape::has_records) the records of edges lie at the other end, if they are short: copied from where
//! the handle of a new entry leads, which is replaced by that of the copy.
//!
//! Invariants of memory that [`OwnedBlock`] handed over and the store has not got back:
//!
//! 1. It is laid out by the [`Layout`] of its class and shape, and initialized: the header, the notes of records and the filter whole,
//!    the columns below `length`.
//! 2. One thread at a time writes, and looks at the notes: who holds the lock of the owner, or the owner of an [`OwnedBlock`].
//! 3. Below `length` ids, creations and values never change, nor do the records that values lead to, and invalidations are atomic.
//! 4. Values in a block that has records are handles of records: of such as lie in the block, or of longer ones. Those are not looked at, for
//!    they may go before their entry does.

mod owned;
mod times;

pub(crate) use owned::OwnedBlock;

use crate::filter::Filter;
use crate::header::{Header, RecordBytes, RecordNotes};
use crate::layout::{HEADER_BYTES, Layout, Need, Shape, bytes_of};
use crate::scan::last_position;
use hedgerow_model::{Column, EdgeValue, LabelId, Timestamp, VertexId};
use hedgerow_records::memory::{self, LONGEST_EMBEDDED, embedded_size, is_embedded};
use hedgerow_sync::atomic::{AtomicU64, Ordering};
use hedgerow_sync::{epoch, prefetch};
use std::marker::PhantomData;
use std::ptr::NonNull;

/// The invalidation of an entry that is valid.
pub(crate) const VALID: u64 = u64::MAX;

/// The invalidation of an entry that nobody sees, nor ever will: as if it had ended before it began.
pub(crate) const DEAD: u64 = 0;

/// Later than every timestamp that a commit has, earlier than [`VALID`]: what the newest state is read at.
pub(crate) const END_OF_TIME: Timestamp = Timestamp(u64::MAX - 1);

/// The entries of a block that were there when it was looked at.
#[derive(Clone, Copy)]
pub(crate) struct Log<'a> {
    memory: NonNull<u8>,
    length: usize,
    shape: Shape,
    class: u8,
    lives: PhantomData<&'a Header>,
}

// SAFETY: what it leads to is read by many threads, and written by one at a time in atomics or beyond what others read.
unsafe impl Send for Log<'_> {}
// SAFETY: as above.
unsafe impl Sync for Log<'_> {}

impl<'a> Log<'a> {
    /// The block at an address.
    ///
    /// # Safety
    /// It was linked with this class, and is not given back to its store during `'a`.
    #[inline]
    pub(crate) unsafe fn new(memory: NonNull<u8>, class: u8) -> Self {
        epoch::check_live(memory.as_ptr());
        // SAFETY: invariant 1.
        let header: &'a Header = unsafe { memory.cast().as_ref() };
        // Acquire: with the length come the entries below it.
        let length = header.length.load(Ordering::Acquire) as usize;
        Log { memory, length, shape: header.shape, class, lives: PhantomData }
    }

    #[inline]
    fn header(&self) -> &'a Header {
        // SAFETY: invariant 1.
        unsafe { self.memory.cast::<Header>().as_ref() }
    }

    #[inline]
    pub(crate) fn layout(&self) -> &'static Layout {
        Layout::of(self.class, self.shape)
    }

    #[cfg(test)]
    pub(crate) fn class(&self) -> u8 {
        self.class
    }

    #[inline]
    pub(crate) fn label(&self) -> LabelId {
        self.header().label
    }

    /// Entries, whether anybody sees them or not.
    #[inline]
    pub(crate) fn length(&self) -> usize {
        self.length
    }

    /// How many of the entries nobody sees.
    #[inline]
    pub(crate) fn dead(&self) -> usize {
        self.header().dead.load(Ordering::Relaxed) as usize
    }

    /// Bytes of the block.
    #[inline]
    pub(crate) fn bytes(&self) -> usize {
        bytes_of(self.class)
    }

    /// The address of what lies at an offset.
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

    /// When they were created, ascending.
    #[inline]
    pub(crate) fn creations(&self) -> &'a [Timestamp] {
        // SAFETY: as for the ids.
        unsafe { std::slice::from_raw_parts(self.at(self.layout().creations), self.length) }
    }

    /// When they were invalidated.
    #[inline]
    pub(crate) fn invalidations(&self) -> &'a [AtomicU64] {
        // SAFETY: as for the ids.
        unsafe { std::slice::from_raw_parts(self.at(self.layout().invalidations), self.length) }
    }

    /// Values of a prefix that the reader's timestamp sees created, beside the ids. `W` is the column of the label, or `()`.
    #[inline]
    pub(crate) fn values<W: Column>(&self, prefix: usize) -> &'a [W] {
        assert!(prefix <= self.length);
        if size_of::<W>() == 0 {
            // SAFETY: values that take no memory lie anywhere.
            return unsafe { std::slice::from_raw_parts(NonNull::dangling().as_ptr(), prefix) };
        }
        let layout = self.layout();
        assert!(size_of::<W>() == layout.width, "a column of another width");
        // SAFETY: invariants 1 and 3: within the prefix nobody changes a value. Aligned by the layout, valid whatever the bits.
        unsafe { std::slice::from_raw_parts(self.at(layout.values), prefix) }
    }

    /// The value at a position below the length, which is not being written.
    #[inline]
    pub(crate) fn value(&self, position: usize) -> EdgeValue {
        assert!(position < self.length);
        let Layout { width, values, .. } = *self.layout();
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

    /// How many entries, from the first, were created by a timestamp. O(1) if all were and none ended later, else O(log entries).
    #[inline]
    pub(crate) fn created_by(&self, at: Timestamp) -> usize {
        // Loaded after the length: no entry below that is newer.
        if self.header().changed.load(Ordering::Acquire) <= at.0 {
            return self.length;
        }
        self.creations().partition_point(|creation| *creation <= at)
    }

    /// How many entries are valid at a timestamp, if nothing changed after it. O(1).
    ///
    /// Loaded last, and stored first of what a stamp changes, is when the log changed: a reader that sees anything of a later stamp in the
    /// length or in the number of the ended sees that, too. If it does not, it saw both as they are at its timestamp, for
    /// all up to that was applied before it began. What nobody sees may die meanwhile, which changes neither.
    #[inline]
    pub(crate) fn valid_if_unchanged_since(&self, at: Timestamp) -> Option<usize> {
        // Acquire: with a number comes the change that was noted before it.
        let ended = self.header().ended.load(Ordering::Acquire) as usize;
        (self.header().changed.load(Ordering::Acquire) <= at.0).then(|| self.length - ended)
    }

    /// Whether all entries created by a timestamp are valid then. O(1).
    #[inline]
    pub(crate) fn is_whole(&self, at: Timestamp) -> bool {
        at.0 < self.header().oldest_invalidation.load(Ordering::Acquire)
    }

    /// False if there never was an entry of a neighbor. O(1).
    #[inline]
    pub(crate) fn may_have(&self, neighbor: VertexId) -> bool {
        self.filter().may_contain(neighbor)
    }

    /// The newest entry of a neighbor among the first `prefix`, valid or not. O(1) if a filter knows that there is none, else
    /// O(entries behind it).
    #[inline]
    pub(crate) fn newest_of(&self, neighbor: VertexId, prefix: usize) -> Option<usize> {
        match self.filter().may_contain(neighbor) {
            true => last_position(&self.ids()[..prefix], neighbor),
            false => None,
        }
    }

    /// Where the entry of a neighbor that is valid at a timestamp is.
    ///
    /// The newest that was created by then decides: the lifetimes of a neighbor's entries follow each other.
    #[inline]
    pub(crate) fn find(&self, neighbor: VertexId, at: Timestamp) -> Option<usize> {
        let position = self.newest_of(neighbor, self.created_by(at))?;
        (at.0 < self.invalidations()[position].load(Ordering::Relaxed)).then_some(position)
    }

    /// Whether there is room for more. The owner is locked.
    #[inline]
    pub(crate) fn has_room(&self, more: Need) -> bool {
        let layout = self.layout();
        if !self.shape.has_records() {
            return self.length + more.entries <= layout.capacity;
        }
        layout.fits(more + Need { entries: self.length, record_bytes: self.record_bytes().published })
    }

    /// What all but the dead entries need. The owner is locked.
    pub(crate) fn need_of_kept(&self) -> Need {
        let RecordBytes { published, dead } = self.record_bytes();
        Need { entries: self.length - self.dead(), record_bytes: published - dead }
    }

    /// The owner is locked.
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

    /// Asks for what an entry of a neighbor is looked up by and where the next one is appended.
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

/// The record of an edge that is put, if a block that has records takes a copy of it.
#[inline]
fn record_of<'r>(handle: EdgeValue) -> Option<&'r [u8]> {
    Some(record_put(handle)).filter(|record| record.len() <= LONGEST_EMBEDDED)
}

/// The record of an edge that is put, for a label whose blocks have records.
#[inline]
pub(crate) fn record_put<'r>(handle: EdgeValue) -> &'r [u8] {
    // SAFETY: the handles of changes come from `RecordHeap::stage`; what they lead to, memory of its own or a part of the commit's `StagedEffects`, stays until
    // these changes are applied or dropped, and all callers use them before.
    unsafe { memory::bytes(handle) }
}

/// What the record of an edge that is put takes of a block that has records.
#[inline]
pub(crate) fn record_bytes(handle: EdgeValue) -> usize {
    record_of(handle).map_or(0, |record| embedded_size(record.len()))
}

/// A block that the current thread may write to.
///
/// Its functions are safe: entries are written beyond the length, and what is below it in the ways that invariant 3 allows.
pub(crate) struct Writer<'a> {
    log: Log<'a>,
    /// How many entries are written beyond the length.
    ahead: usize,
    /// Bytes of the records of these.
    record_bytes_ahead: usize,
}

impl<'a> Writer<'a> {
    /// Write access.
    ///
    /// # Safety
    /// Nobody else writes to the block during `'a`: its owner is locked, or nobody else knows it. `log` has its present length.
    #[inline]
    pub(crate) unsafe fn new(log: Log<'a>) -> Self {
        Writer { log, ahead: 0, record_bytes_ahead: 0 }
    }

    /// What can be read, up to what was published last.
    #[inline]
    pub(crate) fn log(&self) -> Log<'a> {
        self.log
    }

    /// Writes an entry beyond the last one, where no reader looks. In a block that has records the value is the handle of one, which may
    /// say a time: that is asked for there only.
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

    /// The value of an entry whose edge is put with this handle, in a block that has records.
    #[inline(never)]
    fn embedding(&mut self, handle: EdgeValue, time: impl FnOnce() -> Option<i64>) -> EdgeValue {
        if let Some(time) = time() {
            self.note_time(time);
        }
        record_of(handle).map_or(handle, |record| self.embed(record))
    }

    /// The same with the value that it has in this block.
    fn write_entry(&mut self, neighbor: VertexId, value: EdgeValue) {
        let position = self.log.length + self.ahead;
        let layout = self.log.layout();
        assert!(position < layout.capacity, "an entry is written where there is room");
        let id = self.log.at::<VertexId>(HEADER_BYTES + 4 * position);
        // SAFETY: within the columns by the assertion, and beyond what others read.
        unsafe { id.write(neighbor) };
        self.write_value(layout, position, value);
        self.write_invalidation(layout, position, VALID);
        self.log.filter().insert(neighbor);
        self.ahead += 1;
    }

    /// Copies a record below the others: its handle there.
    #[inline(never)]
    fn embed(&mut self, record: &[u8]) -> EdgeValue {
        let layout = self.log.layout();
        self.record_bytes_ahead += embedded_size(record.len());
        let above = self.log.record_bytes().published + self.record_bytes_ahead;
        assert!(above <= layout.record_room, "a record is written where there is room");
        // SAFETY: within the block by the assertion.
        let place = unsafe { self.log.memory.add(layout.filter - above) };
        // SAFETY: room for so many bytes by the assertion, below what others read, at a sum of even numbers.
        unsafe { memory::embed(place, record) }
    }

    #[inline]
    fn write_invalidation(&self, layout: &Layout, position: usize, invalidation: u64) {
        let place = self.log.at::<AtomicU64>(layout.invalidations + size_of::<AtomicU64>() * position);
        // SAFETY: below the capacity and beyond the length, as all callers have made sure.
        unsafe { place.write(AtomicU64::new(invalidation)) };
    }

    #[inline]
    fn write_creation(&self, layout: &Layout, position: usize, creation: Timestamp) {
        let place = self.log.at::<Timestamp>(layout.creations + 8 * position);
        // SAFETY: as above.
        unsafe { place.write(creation) };
    }

    #[inline]
    fn write_value(&self, layout: &Layout, position: usize, value: EdgeValue) {
        let Layout { width, values, .. } = *layout;
        match width {
            0 => {}
            4 => {
                let place = self.log.at::<u32>(values + 4 * position);
                // SAFETY: below the capacity; nobody reads beyond the length.
                unsafe { place.write(value.0 as u32) };
            }
            _ => {
                let place = self.log.at::<u64>(values + 8 * position);
                // SAFETY: as above.
                unsafe { place.write(value.0) };
            }
        }
    }

    /// Makes entries that were written ahead part of the log. O(those).
    #[inline]
    pub(crate) fn publish(&mut self, creation: Timestamp) {
        if self.ahead == 0 {
            return;
        }
        let (layout, written) = (self.log.layout(), self.log.length..self.log.length + self.ahead);
        written.for_each(|position| self.write_creation(layout, position, creation));
        self.publish_written(creation);
    }

    /// The same where they have their creations already.
    #[inline]
    fn publish_written(&mut self, changed: Timestamp) {
        if self.record_bytes_ahead > 0 {
            // SAFETY: invariants 1 and 2: the block has records.
            unsafe { (*self.log.notes()).bytes.published += self.record_bytes_ahead };
        }
        let header = self.log.header();
        let length = self.log.length + self.ahead;
        // Stored first: who sees a length sees a change at least as new.
        header.changed.store(changed.0, Ordering::Release);
        header.length.store(length as u32, Ordering::Release);
        self.log.length = length;
        (self.ahead, self.record_bytes_ahead) = (0, 0);
    }

    /// Ends an entry that somebody may see.
    #[inline]
    pub(crate) fn invalidate(&self, position: usize, at: Timestamp) {
        let header = self.log.header();
        // Stored first, as by `publish_written`: who sees that an entry ended sees when.
        header.changed.store(at.0, Ordering::Release);
        header.ended.store(header.ended.load(Ordering::Relaxed) + 1, Ordering::Release);
        let oldest = header.oldest_invalidation.load(Ordering::Relaxed).min(at.0);
        header.oldest_invalidation.store(oldest, Ordering::Release);
        self.log.invalidations()[position].store(at.0, Ordering::Release);
    }

    /// Ends an entry that nobody sees.
    #[inline]
    pub(crate) fn kill(&self, position: usize, at: Timestamp) {
        self.invalidate(position, at);
        self.bury(position);
    }

    /// Marks an entry that was invalidated, and that nobody sees any more.
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
