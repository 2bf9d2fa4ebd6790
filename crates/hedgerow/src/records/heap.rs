//! Records with memory of their own: one piece each, which does not move.

use hedgerow_model::record_memory::{self, is_embedded};
use hedgerow_model::{EdgeValue, Timestamp};
use hedgerow_sync::atomic::{AtomicU64, Ordering};
use hedgerow_sync::epoch;
use std::alloc::{Layout, alloc, dealloc, handle_alloc_error};
use std::ptr::NonNull;

/// What lies before the bytes. A handle leads to the length, as [`record_memory`] says.
#[repr(C)]
struct Header {
    /// When the record came; 0 before it is known.
    born: AtomicU64,
    /// How many bytes follow.
    length: usize,
}

/// From the beginning of a record to where its handle leads.
const TO_LENGTH: usize = std::mem::offset_of!(Header, length);

const _: () = assert!(TO_LENGTH + size_of::<usize>() == size_of::<Header>(), "the bytes follow their length");

/// A record that belongs to whoever holds this, and is freed with it.
///
/// The bytes never change. So that the value of an edge can stand for it, it can be let go, and taken back once nobody reads it.
#[derive(Debug)]
pub(super) struct OwnedRecord(NonNull<Header>);

// SAFETY: the only owner of memory that nobody changes but for an atomic.
unsafe impl Send for OwnedRecord {}
// SAFETY: as above.
unsafe impl Sync for OwnedRecord {}

impl OwnedRecord {
    /// A copy of `bytes`.
    pub(super) fn new(bytes: &[u8]) -> Self {
        let layout = layout(bytes.len());
        // SAFETY: the layout has room for a header, so that it is not of size zero.
        let memory = unsafe { alloc(layout) };
        let Some(header) = NonNull::new(memory.cast::<Header>()) else { handle_alloc_error(layout) };
        // SAFETY: new memory, large enough for a header and aligned for it.
        unsafe { header.write(Header { born: AtomicU64::new(0), length: bytes.len() }) };
        // SAFETY: behind the header there is room for so many bytes.
        let content = unsafe { header.add(1) }.cast::<u8>();
        // SAFETY: new memory, which cannot overlap with what it is filled from, and has room for it.
        unsafe { content.copy_from_nonoverlapping(NonNull::from(bytes).cast(), bytes.len()) };
        OwnedRecord(header)
    }

    /// What stands for the record beside its edge.
    pub(super) fn value(&self) -> EdgeValue {
        EdgeValue((self.0.as_ptr().expose_provenance() + TO_LENGTH) as u64)
    }

    /// Lets the record go: it stays until it is [taken back](OwnedRecord::take_back).
    pub(super) fn let_go(self) -> EdgeValue {
        let value = self.value();
        std::mem::forget(self);
        value
    }

    /// Owns a record again that was let go.
    ///
    /// # Safety
    /// `value` came from [`OwnedRecord::let_go`], nobody reads the record any more, and this is called once.
    pub(super) unsafe fn take_back(value: EdgeValue) -> Self {
        OwnedRecord(NonNull::new(header_of(value)).expect("a record that was let go has an address"))
    }

    /// Says when the record came.
    pub(super) fn set_born(&self, at: Timestamp) {
        // SAFETY: owned, so that the header is there.
        unsafe { self.0.as_ref() }.born.store(at.0, Ordering::Relaxed);
    }

    /// When the record came.
    pub(super) fn born(&self) -> Timestamp {
        // SAFETY: owned, so that the header is there.
        Timestamp(unsafe { self.0.as_ref() }.born.load(Ordering::Relaxed))
    }

    /// What the record takes of memory.
    pub(super) fn memory_bytes(&self) -> usize {
        // SAFETY: owned, so that the header is there.
        memory_bytes(unsafe { self.0.as_ref() }.length)
    }
}

impl Drop for OwnedRecord {
    fn drop(&mut self) {
        if cfg!(hedgerow_shuttle) {
            // The model checker remembers that it is gone, and keeps the memory.
            // SAFETY: the stand-in of the epoch frees nothing; nobody reads the record any more.
            unsafe { epoch::pin().defer_drop(self.0.as_ptr()) };
            return;
        }
        // SAFETY: owned until now, so that the header is there.
        let layout = layout(unsafe { self.0.as_ref() }.length);
        // SAFETY: allocated by `new` with the layout of this length, and owned until now.
        unsafe { dealloc(self.0.as_ptr().cast(), layout) };
    }
}

/// Where a record with memory of its own begins.
fn header_of(value: EdgeValue) -> *mut Header {
    std::ptr::with_exposed_provenance_mut((value.0 as usize).wrapping_sub(TO_LENGTH))
}

/// The bytes of a record.
///
/// # Safety
/// `value` is the [value](OwnedRecord::value) of a record that is not freed for `'r`, or the handle of a copy in an engine's memory that
/// stays for `'r`.
pub(super) unsafe fn bytes<'r>(value: EdgeValue) -> &'r [u8] {
    if !is_embedded(value) {
        epoch::check_live(header_of(value).cast_const());
    }
    // SAFETY: the caller's promise; what a handle leads to never changes.
    unsafe { record_memory::bytes(value) }
}

/// What a record of so many bytes takes of memory.
pub(super) fn memory_bytes(length: usize) -> usize {
    size_of::<Header>() + length
}

fn layout(length: usize) -> Layout {
    let bytes = memory_bytes(length);
    // No slice is longer than `isize::MAX`, and no machine has so much memory that a record comes near.
    Layout::from_size_align(bytes, align_of::<Header>()).expect("a record fits into the address space")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_are_let_go_read_and_taken_back() {
        for length in [0, 1, 7, 8, 1000] {
            let content: Vec<u8> = (0..length).map(|byte| byte as u8).collect();
            let record = OwnedRecord::new(&content);
            assert_eq!(record.born(), Timestamp::ZERO);
            record.set_born(Timestamp(7));
            let value = record.let_go();
            // SAFETY: let go above, and not taken back yet.
            assert_eq!(unsafe { bytes(value) }, content);
            // SAFETY: let go above, once, and the bytes are read no more.
            let record = unsafe { OwnedRecord::take_back(value) };
            assert_eq!((record.born(), record.memory_bytes()), (Timestamp(7), 16 + length));
        }
    }
}
