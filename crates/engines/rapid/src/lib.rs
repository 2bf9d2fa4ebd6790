//! The in-memory engine: versioned subgraphs that readers traverse without locks.
//!
//! [`Rapid`] is RapidStore's concurrency control ([`crate::subgraphs`]) over one layout, the
//! [`Block`]: the neighbors of a partition as rows of one array with free room between them, and
//! large neighbor sets as sorted leaves. A change shifts the entries between its position and the
//! next free room, mostly within a row.
//!
//! | file | content |
//! |---|---|
//! | `block` | the block, and reading it |
//! | `container` | the block as a [`crate::subgraphs`] container |
//! | `one` | a single change, located once, then made without allocating or freeing memory |
//! | `edit` | in-place changes, row by row |
//! | `merge` | many changes at once, as a new block |
//! | `large_set`, `directory`, `leaf` | neighbor sets beyond a thousand entries |
//! | `extent` | a header and room for neighbors in one allocation |
//! | `shared` | reference-counted pointers to pool memory |
//! | `pool` | the allocator |
//!
//! # Deviations from the paper
//!
//! Large neighbor sets are two-level sorted leaves instead of a compressed adaptive radix tree
//! (section 6.2), and small ones are rows of one array instead of a clustered B+ tree (6.3).

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
pub mod subgraphs;

#[cfg(test)]
mod tests;

// Unit tests share their support with the integration tests, which name this crate from outside.
#[cfg(test)]
extern crate self as hedgerow_rapid;

pub use crate::subgraphs::PARTITION_SIZE;
pub use block::Block;
pub use pool::{PoolUse, pool_use};

/// An in-memory graph of versioned subgraphs.
pub type Rapid = crate::subgraphs::Subgraphs<Block>;
