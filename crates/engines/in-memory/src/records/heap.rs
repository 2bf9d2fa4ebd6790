//! Records with memory of their own: one immovable allocation each.

use crate::records::memory::{self, is_embedded};
use crossbeam_utils::CachePadded;
use hedgerow_model::{CommitTimestamp, EdgeValue};
use hedgerow_sync::Mutex;
use hedgerow_sync::atomic::{AtomicU64, Ordering};
use std::alloc::{Layout, handle_alloc_error};
use std::ptr::NonNull;

#[cfg(hedgerow_shuttle)]
mod reused;

#[cfg(hedgerow_shuttle)]
use reused::{alloc, check_used, dealloc};
#[cfg(not(hedgerow_shuttle))]
use std::alloc::{alloc, dealloc};

/// Panics under the model checker if the memory is free. Otherwise does nothing.
#[cfg(not(hedgerow_shuttle))]
#[inline]
fn check_used(_memory: *const u8) {}

/// Header of a record's allocation. The bytes follow. A handle points to the length (see
/// [`memory`]).
#[repr(C)]
struct PieceHeader {
    /// Timestamp of the commit that put the record; 0 while unknown.
    born: AtomicU64,
    /// Links to the previous and the next piece in the list, guarded by the list's lock.
    before: Option<NonNull<PieceHeader>>,
    behind: Option<NonNull<PieceHeader>>,
    /// Number of bytes that follow.
    length: usize,
}

// SAFETY: the links point to records of the same list, whose lock guards them.
unsafe impl Send for PieceHeader {}

/// The offset of the length, which a handle points to.
const TO_LENGTH: usize = std::mem::offset_of!(PieceHeader, length);

const _: () =
    assert!(TO_LENGTH + size_of::<usize>() == size_of::<PieceHeader>(), "the bytes follow their length");

/// An owned record, freed on drop.
///
/// The bytes never change. The record's value represents it in the edge from
/// [`keep`](RecordPieces::keep) until [`take`](RecordPieces::take).
#[derive(Debug)]
pub(crate) struct OwnedRecord(NonNull<PieceHeader>);

// SAFETY: the only owner of the memory: fields that are not atomic are changed only by the owner of
// the record, or under the lock of the list that it is in.
unsafe impl Send for OwnedRecord {}
// SAFETY: as above; shared references change only an atomic.
unsafe impl Sync for OwnedRecord {}

impl OwnedRecord {
    /// Copies `bytes`.
    pub(crate) fn new(bytes: &[u8]) -> Self {
        let layout = layout(bytes.len());
        // SAFETY: the layout has room for a header, so that it is not of size zero.
        let memory = unsafe { alloc(layout) };
        let Some(header) = NonNull::new(memory.cast::<PieceHeader>()) else { handle_alloc_error(layout) };
        let content =
            PieceHeader { born: AtomicU64::new(0), before: None, behind: None, length: bytes.len() };
        // SAFETY: new memory, large enough for a header and aligned for it.
        unsafe { header.write(content) };
        // SAFETY: there is room for `bytes` after the header.
        let content = unsafe { header.add(1) }.cast::<u8>();
        // SAFETY: new memory with room for `bytes`, which therefore does not overlap them.
        unsafe { content.copy_from_nonoverlapping(NonNull::from(bytes).cast(), bytes.len()) };
        OwnedRecord(header)
    }

    /// Returns the value that represents the record in its edge.
    pub(crate) fn value(&self) -> EdgeValue {
        EdgeValue((self.0.as_ptr().expose_provenance() + TO_LENGTH) as u64)
    }

    /// Sets the timestamp of the commit that put the record.
    pub(crate) fn set_born(&self, at: CommitTimestamp) {
        // SAFETY: owned, so the header is valid.
        unsafe { self.0.as_ref() }.born.store(at.0, Ordering::Relaxed);
    }

    /// Returns the timestamp of the commit that put the record.
    pub(crate) fn born(&self) -> CommitTimestamp {
        // SAFETY: owned, so the header is valid.
        CommitTimestamp(unsafe { self.0.as_ref() }.born.load(Ordering::Relaxed))
    }

    /// The size of the allocation in bytes.
    pub(crate) fn memory_bytes(&self) -> usize {
        // SAFETY: owned, so the header is valid.
        memory_bytes(unsafe { self.0.as_ref() }.length)
    }
}

impl Drop for OwnedRecord {
    fn drop(&mut self) {
        // SAFETY: owned until now, so the header is valid.
        let layout = layout(unsafe { self.0.as_ref() }.length);
        // SAFETY: `new` allocated it with the layout of this length, and it was owned until now.
        unsafe { dealloc(self.0.as_ptr().cast(), layout) };
    }
}

/// Number of lists of pieces; several avoid lock contention.
const LISTS: usize = if cfg!(hedgerow_shuttle) { 1 } else { 16 };

/// All current and superseded records that are not freed yet. Dropping this frees them.
#[derive(Default)]
pub(crate) struct RecordPieces {
    lists: [CachePadded<Mutex<PieceList>>; LISTS],
}

/// A doubly linked list of records, linked through their headers.
#[derive(Default)]
struct PieceList(Option<NonNull<PieceHeader>>);

// SAFETY: the list owns its records, which any thread may own.
unsafe impl Send for PieceList {}

impl RecordPieces {
    fn list_of(&self, header: NonNull<PieceHeader>) -> &Mutex<PieceList> {
        // Adjacent pieces are at least a header apart.
        &self.lists[header.as_ptr().addr() / size_of::<PieceHeader>() % LISTS]
    }

    /// Keeps the record of an edge. O(1).
    pub(crate) fn keep(&self, record: OwnedRecord) -> EdgeValue {
        let (value, mut header) = (record.value(), record.0);
        std::mem::forget(record);
        let mut list = self.list_of(header).lock();
        {
            // SAFETY: the record was owned until now and is in no list; its links belong to the
            // list, which is locked.
            let header = unsafe { header.as_mut() };
            (header.before, header.behind) = (None, list.0);
        }
        if let Some(mut first) = list.0 {
            // SAFETY: a record in the list is valid, and its links belong to the list.
            unsafe { first.as_mut() }.before = Some(header);
        }
        list.0 = Some(header);
        value
    }

    /// Takes back ownership of a kept record. O(1).
    ///
    /// # Safety
    /// `value` came from [`RecordPieces::keep`] of this instance, and is taken once.
    pub(crate) unsafe fn take(&self, value: EdgeValue) -> OwnedRecord {
        let header = NonNull::new(header_of(value)).expect("a kept record has an address");
        check_used(header.as_ptr().cast());
        let mut list = self.list_of(header).lock();
        // SAFETY: the record is in this list, which is locked and owns its links.
        let PieceHeader { before, behind, .. } = *unsafe { header.as_ref() };
        match before {
            // SAFETY: as above, for its neighbor in the list.
            Some(mut before) => unsafe { before.as_mut() }.behind = behind,
            None => list.0 = behind,
        }
        if let Some(mut behind) = behind {
            // SAFETY: as above.
            unsafe { behind.as_mut() }.before = before;
        }
        OwnedRecord(header)
    }
}

impl Drop for RecordPieces {
    /// Frees all remaining records. O(records).
    fn drop(&mut self) {
        for list in &mut self.lists {
            let mut next = list.get_mut().0.take();
            while let Some(header) = next {
                // SAFETY: the list owned the record, so it is valid.
                next = unsafe { header.as_ref() }.behind;
                drop(OwnedRecord(header));
            }
        }
    }
}

/// The address of the header of a record with memory of its own.
fn header_of(value: EdgeValue) -> *mut PieceHeader {
    std::ptr::with_exposed_provenance_mut((value.0 as usize).wrapping_sub(TO_LENGTH))
}

/// The bytes of a record.
///
/// # Safety
/// `value` is the [value](OwnedRecord::value) of a record that is not freed for `'r`, or the handle
/// of a copy in an engine's memory that stays for `'r`.
pub(crate) unsafe fn bytes<'r>(value: EdgeValue) -> &'r [u8] {
    if !is_embedded(value) {
        check_used(header_of(value).cast());
    }
    // SAFETY: the caller's promise; the bytes behind a handle never change.
    unsafe { memory::bytes(value) }
}

/// The allocation size of a record with `length` bytes.
pub(crate) fn memory_bytes(length: usize) -> usize {
    size_of::<PieceHeader>() + length
}

fn layout(length: usize) -> Layout {
    let bytes = memory_bytes(length);
    // A slice is at most `isize::MAX` long, and no machine has enough memory for a record near
    // that.
    Layout::from_size_align(bytes, align_of::<PieceHeader>()).expect("a record fits into the address space")
}

#[cfg(all(test, not(hedgerow_shuttle)))]
mod tests {
    use super::*;

    #[test]
    fn records_are_kept_read_and_taken_back_in_any_order() {
        let pieces = RecordPieces::default();
        let content = |length: usize| -> Vec<u8> { (0..length).map(|byte| byte as u8).collect() };
        let keep = |length| {
            let record = OwnedRecord::new(&content(length));
            assert_eq!(record.born(), CommitTimestamp::ZERO);
            record.set_born(CommitTimestamp(7));
            (length, pieces.keep(record))
        };
        let mut kept: Vec<(usize, EdgeValue)> = (0..100).chain([1000]).map(keep).collect();
        for step in [7, 1, 3] {
            let mut again = Vec::new();
            for (number, (length, value)) in std::mem::take(&mut kept).into_iter().enumerate() {
                // SAFETY: kept above, and not taken back yet.
                assert_eq!(unsafe { bytes(value) }, content(length));
                if number % step > 0 {
                    again.push((length, value));
                    continue;
                }
                // SAFETY: kept above, and taken back once, since it was removed from the values.
                let record = unsafe { pieces.take(value) };
                assert_eq!((record.born(), record.memory_bytes()), (CommitTimestamp(7), 32 + length));
                if number % 2 == 0 {
                    again.push((length, pieces.keep(record)));
                }
            }
            kept = again;
            // Some stay until the pieces are dropped.
            kept.extend((0..20).map(keep));
        }
    }
}
