//! Maps the number of a partition to its chain.

use crate::subgraphs::partition::PARTITIONS;
use hedgerow_in_memory::reclamation::Directory;

/// Entries per segment. The model checker's atomics are large and its graphs small.
const SEGMENT: usize = if cfg!(hedgerow_shuttle) { 4 } else { 4096 };

/// Segments per list.
const LIST: usize = if cfg!(hedgerow_shuttle) { 4 } else { 128 };

/// Lists in a full table.
const LISTS: usize = if cfg!(hedgerow_shuttle) { 1 } else { PARTITIONS / (SEGMENT * LIST) };

/// A table with an entry for every partition.
pub(crate) type PartitionDirectory<C> = Directory<C, LISTS, LIST, SEGMENT>;
