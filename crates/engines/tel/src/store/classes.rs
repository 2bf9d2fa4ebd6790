//! The classes from which on the store treats blocks differently.

use crate::layout::{CLASSES, bytes_of, class_of};

/// The smallest class that is not divided from chunks: 8 KiB.
pub(super) const LARGE: u8 = 7;

/// The largest class that is taken from extents: 512 KiB.
pub(super) const LARGEST: u8 = 13;

/// The smallest class whose free blocks return their pages: 128 KiB.
pub(super) const GIVEN_BACK_FROM: u8 = 11;

/// The class of the chunks that shards divide.
pub(super) const CHUNK: u8 = 10;

/// Free bytes of one class that a shard keeps for itself; it shares the rest.
pub(super) const KEPT_BYTES: usize = 1 << 18;

const _: () = assert!(LARGE <= CHUNK && CHUNK <= LARGEST && (LARGEST as usize) < CLASSES);
const _: () = assert!(class_of(bytes_of(LARGEST)) == LARGEST);
