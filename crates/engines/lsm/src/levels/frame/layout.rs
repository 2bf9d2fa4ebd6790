//! Sizes and types of a packed frame.

/// Maximum number of ids in a frame.
pub const FRAME: usize = 128;

/// Maximum width of a gap, in bits.
pub(crate) const MAX_WIDTH: u32 = 32;

/// Number of ids that are unpacked at a time.
pub(super) const GROUP: usize = 8;

/// The ids of a frame; the last ones are meaningless if the frame is not full.
pub(crate) type Frame = [u32; FRAME];

/// Minimum of the next id: 0, or one above the id before it.
pub(crate) type Next = u64;

/// Returns the number of bytes of a frame.
#[inline]
pub(crate) fn frame_bytes(count: usize, width: u32) -> usize {
    (count * width as usize).div_ceil(8)
}
