//! The next segment, created before it is needed.
//!
//! The segment's file is full of zeros, durable, and listed in the manifest, so that syncing later
//! writes to it does not have to write metadata.

use crate::error::StoreError;
use crate::files::File;
use hedgerow_sync::atomic::{AtomicBool, Ordering};
use hedgerow_sync::{Condvar, Mutex};

/// Holds at most one prepared segment.
#[derive(Debug, Default)]
pub(super) struct Shelf {
    slot: Mutex<ShelfSlot>,
    changed: Condvar,
    /// True if the slot is not empty. Changed under the slot's mutex.
    is_served: AtomicBool,
}

#[derive(Debug, Default)]
enum ShelfSlot {
    #[default]
    Empty,
    /// A thread is creating the segment.
    Busy,
    Ready(NewSegment),
}

/// A segment without content.
#[derive(Debug)]
pub(super) struct NewSegment {
    pub(super) number: u64,
    pub(super) file: Box<dyn File>,
}

impl Shelf {
    /// Returns true if there is no prepared segment, and no thread is creating one.
    pub(super) fn is_empty(&self) -> bool {
        !self.is_served.load(Ordering::Relaxed)
    }

    /// Takes the prepared segment, or creates one.
    pub(super) fn take(
        &self,
        make: impl FnOnce() -> Result<NewSegment, StoreError>,
    ) -> Result<NewSegment, StoreError> {
        let mut slot = self.slot.lock();
        loop {
            match self.set(&mut slot, ShelfSlot::Busy) {
                ShelfSlot::Ready(segment) => {
                    self.set(&mut slot, ShelfSlot::Empty);
                    return Ok(segment);
                }
                ShelfSlot::Busy => slot = self.changed.wait(slot),
                ShelfSlot::Empty => break,
            }
        }
        drop(slot);
        let made = make();
        self.put(ShelfSlot::Empty);
        made
    }

    /// Creates a segment, unless there is one or another thread is creating it.
    pub(super) fn fill(
        &self,
        make: impl FnOnce() -> Result<NewSegment, StoreError>,
    ) -> Result<(), StoreError> {
        {
            let mut slot = self.slot.lock();
            if !matches!(*slot, ShelfSlot::Empty) {
                return Ok(());
            }
            self.set(&mut slot, ShelfSlot::Busy);
        }
        match make() {
            Ok(segment) => {
                self.put(ShelfSlot::Ready(segment));
                Ok(())
            }
            Err(error) => {
                self.put(ShelfSlot::Empty);
                Err(error)
            }
        }
    }

    fn put(&self, next: ShelfSlot) {
        self.set(&mut self.slot.lock(), next);
        self.changed.notify_all();
    }

    /// Replaces the slot. Returns its former value.
    fn set(&self, slot: &mut ShelfSlot, next: ShelfSlot) -> ShelfSlot {
        self.is_served.store(!matches!(next, ShelfSlot::Empty), Ordering::Relaxed);
        std::mem::replace(slot, next)
    }
}
