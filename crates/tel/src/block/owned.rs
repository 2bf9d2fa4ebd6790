//! Blocks before they are linked: made, filled, and copied from others.

use super::{DEAD, Header, Log, RecordBytes, RecordNotes, VALID, Writer};
use crate::layout::Fit;
use crate::store::{BlockStore, Full};
use hedgerow_model::{LabelId, Timestamp};
use hedgerow_sync::atomic::{AtomicU8, AtomicU32, AtomicU64, Ordering};
use std::marker::PhantomData;
use std::ptr::NonNull;

/// A block that nobody else knows yet. Dropping it gives it back.
pub(crate) struct OwnedBlock<'s> {
    store: &'s BlockStore,
    writer: Writer<'s>,
}

impl<'s> OwnedBlock<'s> {
    /// An empty block for a label, if there is memory for it.
    pub(crate) fn try_new(store: &'s BlockStore, fit: Fit, label: LabelId) -> Result<Self, Full> {
        Ok(Self::at(store.allocate(fit.class)?, store, fit, label))
    }

    /// The same for whom it is too late to fail.
    pub(crate) fn new(store: &'s BlockStore, fit: Fit, label: LabelId) -> Self {
        Self::at(store.allocate_surely(fit.class), store, fit, label)
    }

    /// An empty block in memory that was just allocated for this class.
    fn at(memory: NonNull<u8>, store: &'s BlockStore, fit: Fit, label: LabelId) -> Self {
        let Fit { class, shape } = fit;
        let header = Header {
            length: AtomicU32::new(0),
            dead: AtomicU32::new(0),
            ended: AtomicU32::new(0),
            label,
            shape,
            lateness: AtomicU8::new(0),
            changed: AtomicU64::new(0),
            oldest_invalidation: AtomicU64::new(VALID),
        };
        // SAFETY: as long as the class says, aligned, and nobody else's.
        unsafe { memory.cast::<Header>().write(header) };
        let log = Log { memory, length: 0, shape, class, lives: PhantomData };
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
        // SAFETY: nobody else knows the block.
        OwnedBlock { store, writer: unsafe { Writer::new(log) } }
    }

    /// Write access.
    #[inline]
    pub(crate) fn writer(&mut self) -> &mut Writer<'s> {
        &mut self.writer
    }

    /// Copies all entries but the dead ones, which is told by their positions, ascending. There is room, and nothing in the block yet. `time`
    /// is what a record says: by that the copy may be in a better order, if it has no long records. O(entries).
    pub(crate) fn copy_from(
        &mut self,
        from: Log<'_>,
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
            // What was left out may have been the last to change: as long as that is noted, nobody takes one state for another.
            writer.publish_written(Timestamp(from.header().changed.load(Ordering::Relaxed)));
        }
    }

    /// The size class.
    #[inline]
    pub(crate) fn class(&self) -> u8 {
        self.writer.log.class
    }

    /// Hands the block over to whoever links it.
    pub(crate) fn into_linked(self) -> (NonNull<u8>, u8) {
        let linked = (self.writer.log.memory, self.writer.log.class);
        std::mem::forget(self);
        linked
    }
}

impl Drop for OwnedBlock<'_> {
    fn drop(&mut self) {
        // SAFETY: from this store with this class, and nobody else knows it.
        unsafe { self.store.free(self.writer.log.memory, self.writer.log.class) };
    }
}
