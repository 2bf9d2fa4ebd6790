//! Maps a vertex to its slot (LiveGraph, section 4, "vertex index").

use hedgerow_in_memory::reclamation::Directory;
use hedgerow_sync::atomic::AtomicPtr;

/// A tagged pointer of eight bytes: the lowest bits give the kind of its target.
pub(crate) type Slot = AtomicPtr<u8>;

/// Slots per segment. The model checker's atomics are large and its graphs small.
const SEGMENT: usize = if cfg!(hedgerow_shuttle) { 4 } else { 4096 };

/// Segments per list.
const LIST: usize = if cfg!(hedgerow_shuttle) { 4 } else { 1024 };

/// Lists in a full table.
const LISTS: usize = if cfg!(hedgerow_shuttle) { 16 } else { (1 << 32) / (SEGMENT * LIST) };

/// A table with a slot for every vertex.
pub(crate) type VertexDirectory = Directory<Slot, LISTS, LIST, SEGMENT>;
