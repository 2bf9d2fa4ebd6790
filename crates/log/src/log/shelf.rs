//! The next segment, created before it is needed.
//!
//! Its file is full of zeros, durable, and listed in the manifest, so that syncing later writes to
//! it does not have to write metadata.

use crate::error::StoreError;
use crate::files::File;
use hedgerow_sync::atomic::{AtomicBool, Ordering};
use hedgerow_sync::{Condvar, Mutex};

/// Holds at most one prepared segment.
#[derive(Debug, Default)]
pub(super) struct Shelf {
    slot: Mutex<Slot>,
    changed: Condvar,
    /// Whether the slot is not empty. Changed under its mutex.
    is_served: AtomicBool,
}

#[derive(Debug, Default)]
enum Slot {
    #[default]
    Empty,
    /// A thread is creating it.
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
    /// Whether there is none, and no thread is creating one.
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
            match self.set(&mut slot, Slot::Busy) {
                Slot::Ready(segment) => {
                    self.set(&mut slot, Slot::Empty);
                    return Ok(segment);
                }
                Slot::Busy => slot = self.changed.wait(slot),
                Slot::Empty => break,
            }
        }
        drop(slot);
        let made = make();
        self.put(Slot::Empty);
        made
    }

    /// Creates a segment, unless there is one or another thread is creating it.
    pub(super) fn fill(
        &self,
        make: impl FnOnce() -> Result<NewSegment, StoreError>,
    ) -> Result<(), StoreError> {
        {
            let mut slot = self.slot.lock();
            if !matches!(*slot, Slot::Empty) {
                return Ok(());
            }
            self.set(&mut slot, Slot::Busy);
        }
        match make() {
            Ok(segment) => {
                self.put(Slot::Ready(segment));
                Ok(())
            }
            Err(error) => {
                self.put(Slot::Empty);
                Err(error)
            }
        }
    }

    fn put(&self, next: Slot) {
        self.set(&mut self.slot.lock(), next);
        self.changed.notify_all();
    }

    /// Replaces the slot, and returns its former value.
    fn set(&self, slot: &mut Slot, next: Slot) -> Slot {
        self.is_served.store(!matches!(next, Slot::Empty), Ordering::Relaxed);
        std::mem::replace(slot, next)
    }
}
