//! Blocks before they are linked: allocated, filled, and copied.

use super::{BlockWriter, DEAD, EntryLog, LogHeader, RecordBytes, RecordNotes, VALID};
use crate::layout::Fit;
use crate::store::{BlockStore, Full};
use hedgerow_model::{CommitTimestamp, LabelId};
use hedgerow_sync::atomic::{AtomicU8, AtomicU32, AtomicU64, Ordering};
use std::marker::PhantomData;
use std::ptr::NonNull;

/// A block that is not shared yet. Dropping it frees it.
pub(crate) struct OwnedBlock<'s> {
    store: &'s BlockStore,
    writer: BlockWriter<'s>,
}

impl<'s> OwnedBlock<'s> {
    /// Allocates an empty block for a label, if there is memory.
    pub(crate) fn try_new(store: &'s BlockStore, fit: Fit, label: LabelId) -> Result<Self, Full> {
        Ok(Self::at(store.allocate(fit.class)?, store, fit, label))
    }

    /// Allocates an empty block for a caller that cannot fail any more.
    pub(crate) fn new(store: &'s BlockStore, fit: Fit, label: LabelId) -> Self {
        Self::at(store.allocate_surely(fit.class), store, fit, label)
    }

    /// Initializes an empty block in memory that was just allocated for this class.
    fn at(memory: NonNull<u8>, store: &'s BlockStore, fit: Fit, label: LabelId) -> Self {
        let Fit { class, shape } = fit;
        let header = LogHeader {
            length: AtomicU32::new(0),
            dead: AtomicU32::new(0),
            ended: AtomicU32::new(0),
            label,
            shape,
            lateness: AtomicU8::new(0),
            changed: AtomicU64::new(0),
            oldest_invalidation: AtomicU64::new(VALID),
        };
        // SAFETY: the memory has the size of its class, is aligned, and is not shared.
        unsafe { memory.cast::<LogHeader>().write(header) };
        let log = EntryLog { memory, length: 0, shape, class, lives: PhantomData };
        let layout = log.layout();
        for word in 0..layout.filter_words {
            let place = log.at::<AtomicU64>(layout.filter + size_of::<AtomicU64>() * word);
            // SAFETY: as above.
            unsafe { place.write(AtomicU64::new(0)) };
        }
        if shape.has_records() {
            let none = RecordNotes { bytes: RecordBytes::default(), latest_time: i64::MIN };
            // SAFETY: as above.
            unsafe { log.notes().write(none) };
        }
        // SAFETY: the block is not shared.
        OwnedBlock { store, writer: unsafe { BlockWriter::new(log) } }
    }

    /// Write access.
    #[inline]
    pub(crate) fn writer(&mut self) -> &mut BlockWriter<'s> {
        &mut self.writer
    }

    /// Copies all entries except the dead ones into this empty block, which has room for them.
    /// Passes the positions of the dead ones, ascending, to `left_out`. `time` reads the time in a
    /// record: without long records it may tighten the out-of-order bound of the copy. O(entries).
    pub(crate) fn copy_from(
        &mut self,
        from: EntryLog<'_>,
        time: impl Fn(&[u8]) -> Option<i64>,
        mut left_out: impl FnMut(usize),
    ) {
        let (ids, creations, invalidations) = (from.ids(), from.creations(), from.invalidations());
        let (mut length, mut ended, mut oldest) = (0, 0, VALID);
        let writer = &mut self.writer;
        let layout = writer.log.layout();
        for position in 0..from.length() {
            let invalidation = invalidations[position].load(Ordering::Relaxed);
            if invalidation == DEAD {
                left_out(position);
                continue;
            }
            oldest = oldest.min(invalidation);
            ended += u32::from(invalidation != VALID);
            let value =
                from.embedded(position).map_or_else(|| from.value(position), |record| writer.embed(record));
            writer.write_entry(ids[position], value);
            writer.write_invalidation(layout, length, invalidation);
            writer.write_creation(layout, length, creations[position]);
            length += 1;
        }
        if let Some(order) = from.time_order_of_kept(time) {
            writer.note_time_order(order);
        }
        if length > 0 {
            let header = writer.log.header();
            header.oldest_invalidation.store(oldest, Ordering::Relaxed);
            header.ended.store(ended, Ordering::Relaxed);
            // A dead entry may have been the last change: keeping its timestamp prevents readers
            // from mistaking one state for another.
            writer.publish_written(CommitTimestamp(from.header().changed.load(Ordering::Relaxed)));
        }
    }

    /// The size class.
    #[inline]
    pub(crate) fn class(&self) -> u8 {
        self.writer.log.class
    }

    /// Hands over the block to be linked.
    pub(crate) fn into_linked(self) -> (NonNull<u8>, u8) {
        let linked = (self.writer.log.memory, self.writer.log.class);
        std::mem::forget(self);
        linked
    }
}

impl Drop for OwnedBlock<'_> {
    fn drop(&mut self) {
        // SAFETY: from this store with this class, and not shared.
        unsafe { self.store.free(self.writer.log.memory, self.writer.log.class) };
    }
}
