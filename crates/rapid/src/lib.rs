//! The in-memory engine: versioned subgraphs that readers walk without locks.
//!
//! [`Rapid`] is RapidStore's concurrency ([`hedgerow_subgraphs`]) over one layout, the [`Block`]: the neighbors of
//! a partition as rows of one array with room between them, and large neighbor sets as sorted leaves. A
//! change moves what lies between its place and the next room, mostly within a row.
//!
//! | file | what |
//! |---|---|
//! | `block` | the block, and how it is read |
//! | `container` | the block as what [`hedgerow_subgraphs`] asks of the neighbors of a partition |
//! | `one` | one change, found once and made there, without taking or freeing memory |
//! | `edit` | changes in place, row by row |
//! | `merge` | many changes at once, as a new block |
//! | `large_set`, `directory`, `leaf` | neighbor sets beyond a thousand entries |
//! | `extent` | a header and room for neighbors in one piece of memory |
//! | `shared` | pointers that count their owners beside what they lead to |
//! | `pool` | where that memory comes from |
//!
//! # Deviations from the source
//!
//! Large neighbor sets are two-level sorted leaves instead of a compressed adaptive radix
//! tree (section 6.2), and small ones are rows of one array instead of a clustered B+ tree (6.3).

mod block;
mod container;
mod directory;
mod edit;
mod extent;
mod large_set;
mod leaf;
mod merge;
mod one;
mod pool;
mod shared;

#[cfg(test)]
mod tests;

// The test support is shared with the integration tests, which name this crate from outside.
#[cfg(test)]
extern crate self as hedgerow_rapid;

pub use block::Block;
pub use hedgerow_subgraphs::{PARTITION_SIZE, SubgraphOptions as RapidOptions};
pub use pool::{PoolUse, pool_use};

/// A graph in memory, as versioned subgraphs.
pub type Rapid = hedgerow_subgraphs::Subgraphs<Block>;

/// The changes of a commit, prepared and not yet visible.
pub type RapidChanges<'l> = hedgerow_subgraphs::SubgraphChanges<'l, Block>;
