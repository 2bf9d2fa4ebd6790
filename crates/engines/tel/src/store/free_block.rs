//! A block that is not in use.

use std::ptr::NonNull;

/// A free block. Blocks are ordered by address.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Free(pub(super) NonNull<u8>);

// SAFETY: the block is not in use.
unsafe impl Send for Free {}
