//! How the bytes of the records of edges lie in memory, and what the [handles](hedgerow_model::RecordHandle) of a column are.
//!
//! A handle is the address of a length, which the bytes follow. A record that has memory of its own has a `usize` there. One that is
//! *embedded* lies among others in memory of an engine, and has a `u16`; the lowest bit of its handle says so.
//!
//! An address has no provenance but what was exposed. Indices into chunks would keep it; but looking up the base of a chunk takes 1.4 to 4.3 % more instructions where the
//! newest records of a vertex are read on `rapid` (callgrind, emulated), by what a handle holds; and records would need an allocator that hands out parts of chunks.

use hedgerow_model::EdgeValue;
use std::ptr::NonNull;

/// Records of more bytes are never embedded.
pub const LONGEST_EMBEDDED: usize = 256;

/// Where the second cache line begins at the latest that is asked for ahead of a record's use: short records end before it, and of
/// most that line is the first, too.
const FETCHED_AHEAD: usize = 48;

/// The bit of a handle whose record is embedded.
const EMBEDDED: usize = 1;

/// The length of an embedded record.
type EmbeddedLength = u16;

/// Whether a handle leads into memory of an engine.
#[inline]
#[must_use]
pub const fn is_embedded(handle: EdgeValue) -> bool {
    handle.0 & EMBEDDED as u64 != 0
}

/// What an embedded record of so many bytes takes of memory: a multiple of two. Of a longer one than is embedded, 0.
#[inline]
#[must_use]
pub const fn embedded_size(length: usize) -> usize {
    if length > LONGEST_EMBEDDED {
        return 0;
    }
    (size_of::<EmbeddedLength>() + length).next_multiple_of(align_of::<EmbeddedLength>())
}

/// Embeds a record, which is no longer than [`LONGEST_EMBEDDED`]: its handle.
///
/// # Safety
/// From `place` on, an even address, [`embedded_size`] bytes may be written.
#[inline]
pub unsafe fn embed(place: NonNull<u8>, record: &[u8]) -> EdgeValue {
    debug_assert!(record.len() <= LONGEST_EMBEDDED);
    // SAFETY: the caller's promise; the length of what is embedded fits.
    unsafe { place.cast::<EmbeddedLength>().write(record.len() as EmbeddedLength) };
    // SAFETY: as above.
    let content = unsafe { place.add(size_of::<EmbeddedLength>()) };
    // SAFETY: as above; nobody else has borrowed what may be written.
    unsafe { content.copy_from_nonoverlapping(NonNull::from(record).cast(), record.len()) };
    EdgeValue((place.as_ptr().expose_provenance() | EMBEDDED) as u64)
}

/// Asks the processor for a record that is about to be read. Only a hint: any value will do.
#[inline]
pub fn prefetch(handle: EdgeValue) {
    let first = std::ptr::with_exposed_provenance::<u8>(handle.0 as usize);
    hedgerow_sync::prefetch(first, 1);
    hedgerow_sync::prefetch(first.wrapping_add(FETCHED_AHEAD), 1);
}

/// The bytes of a record.
///
/// # Safety
/// The handle leads to a record, as the [module](self) says, that nobody changes or frees for `'r`. The provenance of its address was
/// exposed.
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
    // SAFETY: so many bytes follow, which do not change, by the caller's promise.
    unsafe { std::slice::from_raw_parts(content, length) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_are_embedded_one_behind_the_other() {
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
