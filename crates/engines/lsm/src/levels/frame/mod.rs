//! Up to 128 ascending ids, packed: the gaps between them, in the width of the largest gap.
//!
//! 8 gaps of `width` bits take `width` bytes, so vector code reads 8 at a time.

#[cfg(target_arch = "x86_64")]
mod avx2;
mod layout;
mod portable;
#[cfg(test)]
mod tests;

pub use layout::FRAME;
pub(crate) use layout::{Frame, MAX_WIDTH, Next, frame_bytes};

use crate::levels::bits::put_bits;
use hedgerow_encoding::DecodeError;
use hedgerow_model::VertexId;

/// Returns the number of bits of the largest gap between `ids`, which ascend from `next`.
pub(crate) fn width_of(ids: &[VertexId], next: Next) -> u32 {
    u64::BITS - gaps(ids, next).fold(0, |all, gap| all | gap).leading_zeros()
}

/// Appends the gaps between `ids`, which ascend from `next`, in `width` bits each.
pub(crate) fn put_frame(bytes: &mut Vec<u8>, ids: &[VertexId], next: Next, width: u32) {
    put_bits(bytes, gaps(ids, next), width);
}

/// Returns the distance of each id from its minimum.
fn gaps(ids: &[VertexId], next: Next) -> impl Iterator<Item = u64> {
    let smallest = std::iter::once(next).chain(ids.iter().map(|id| u64::from(id.get()) + 1));
    ids.iter().zip(smallest).map(|(id, smallest)| u64::from(id.get()) - smallest)
}

/// Unpacks a frame of `count` ids, at least one, from the beginning of `bytes`. Returns the minimum
/// of an id that follows. `ids` are meaningless after the first `count`.
///
/// `bytes` must be at least [`frame_bytes`] long. Longer ones are faster: vector code loads whole
/// groups.
///
/// # Errors
/// An id would be larger than [`VertexId::MAX`].
#[inline]
pub(crate) fn unpack(
    bytes: &[u8],
    count: usize,
    width: u32,
    next: Next,
    ids: &mut Frame,
) -> Result<Next, DecodeError> {
    debug_assert!((1..=FRAME).contains(&count) && bytes.len() >= frame_bytes(count, width));
    #[cfg(target_arch = "x86_64")]
    if width <= avx2::MAX_WIDTH && std::arch::is_x86_feature_detected!("avx2") {
        // SAFETY: the processor supports AVX2.
        unsafe { avx2::unpack(bytes, count, width, next, ids) };
        // Such gaps make ids less than 2^32 above `next`, so an id that is too large has wrapped
        // around once, and is below `next`.
        let last = u64::from(ids[count - 1]);
        let is_valid = last >= next && last <= u64::from(VertexId::MAX.get());
        return if is_valid { Ok(last + 1) } else { Err(too_large()) };
    }
    let next = portable::unpack(bytes, count, width, next, ids);
    if next <= u64::from(VertexId::MAX.get()) + 1 { Ok(next) } else { Err(too_large()) }
}

#[cold]
fn too_large() -> DecodeError {
    DecodeError { offset: 0, what: "a neighbor that is no vertex id" }
}
