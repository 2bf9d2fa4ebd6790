//! The memory layout of the records of edges, and the meaning of a column's
//! [handles](hedgerow_model::RecordHandle).
//!
//! A handle is the address of a length, followed by the bytes. A record with memory of its own has
//! a `usize` length. An *embedded* record lies among others in an engine's memory, and has a `u16`
//! length; the lowest bit of its handle is set.
//!
//! Such an address has exposed provenance. Indices into chunks would preserve provenance, but
//! looking up the base of a chunk takes 1.4 to 4.3 % more instructions, depending on what a handle
//! holds, when the newest records of a vertex are read on `rapid` (callgrind, emulated); and
//! records would need an allocator that hands out parts of chunks.

use hedgerow_model::EdgeValue;
use std::ptr::NonNull;

/// Maximum length of an embedded record in bytes.
pub const LONGEST_EMBEDDED: usize = 256;

/// Offset of the second prefetch of a record. Records that end before it are prefetched whole.
const FETCHED_AHEAD: usize = 48;

/// The bit of a handle whose record is embedded.
const EMBEDDED: usize = 1;

/// The length of an embedded record.
type EmbeddedLength = u16;

/// Returns true if a handle points into an engine's memory.
#[inline]
#[must_use]
pub const fn is_embedded(handle: EdgeValue) -> bool {
    handle.0 & EMBEDDED as u64 != 0
}

/// Returns the memory that an embedded record of `length` bytes takes: a multiple of two, or 0 if
/// the record is too long to embed.
#[inline]
#[must_use]
pub const fn embedded_size(length: usize) -> usize {
    if length > LONGEST_EMBEDDED {
        return 0;
    }
    (size_of::<EmbeddedLength>() + length).next_multiple_of(align_of::<EmbeddedLength>())
}

/// Embeds a record of at most [`LONGEST_EMBEDDED`] bytes. Returns its handle.
///
/// # Safety
/// `place` is an even address, followed by [`embedded_size`] writable bytes.
#[inline]
pub unsafe fn embed(place: NonNull<u8>, record: &[u8]) -> EdgeValue {
    debug_assert!(record.len() <= LONGEST_EMBEDDED);
    // SAFETY: the caller's promise; the length of an embedded record fits.
    unsafe { place.cast::<EmbeddedLength>().write(record.len() as EmbeddedLength) };
    // SAFETY: as above.
    let content = unsafe { place.add(size_of::<EmbeddedLength>()) };
    // SAFETY: as above; the writable bytes are not borrowed elsewhere.
    unsafe { content.copy_from_nonoverlapping(NonNull::from(record).cast(), record.len()) };
    EdgeValue((place.as_ptr().expose_provenance() | EMBEDDED) as u64)
}

/// Prefetches a record that is about to be read. Only a hint: any value is safe.
#[inline]
pub fn prefetch(handle: EdgeValue) {
    let first = std::ptr::with_exposed_provenance::<u8>(handle.0 as usize);
    hedgerow_sync::prefetch(first, 1);
    hedgerow_sync::prefetch(first.wrapping_add(FETCHED_AHEAD), 1);
}

/// Returns the bytes of a record.
///
/// # Safety
/// The handle points to a record in the layout of the [module](self) that is neither changed nor
/// freed for `'r`. The provenance of its address was exposed.
#[inline]
#[must_use]
pub unsafe fn bytes<'r>(handle: EdgeValue) -> &'r [u8] {
    let address = handle.0 as usize;
    let (content, length) = if is_embedded(handle) {
        let place = std::ptr::with_exposed_provenance::<EmbeddedLength>(address & !EMBEDDED);
        // SAFETY: the caller's promise.
        let length = usize::from(unsafe { place.read() });
        (place.wrapping_add(1).cast(), length)
    } else {
        let place = std::ptr::with_exposed_provenance::<usize>(address);
        // SAFETY: the caller's promise.
        let length = unsafe { place.read() };
        (place.wrapping_add(1).cast(), length)
    };
    // SAFETY: `length` bytes follow, which do not change, by the caller's promise.
    unsafe { std::slice::from_raw_parts(content, length) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_are_embedded_one_after_the_other() {
        let mut memory = [0_u64; 128];
        let first = NonNull::from(&mut memory).cast::<u8>();
        let mut end = 0;
        let mut handles = Vec::new();
        for length in [0, 1, 2, 7, LONGEST_EMBEDDED] {
            let record: Vec<u8> = (0..length).map(|byte| byte as u8).collect();
            // SAFETY: in memory that is large enough.
            let place = unsafe { first.add(end) };
            // SAFETY: as above.
            handles.push((unsafe { embed(place, &record) }, record));
            end += embedded_size(length);
            assert!(end.is_multiple_of(2) && end < size_of_val(&memory));
        }
        for (handle, record) in handles {
            assert!(is_embedded(handle));
            // SAFETY: embedded above.
            assert_eq!(unsafe { bytes(handle) }, record);
        }
        assert_eq!(embedded_size(LONGEST_EMBEDDED + 1), 0);
    }
}
