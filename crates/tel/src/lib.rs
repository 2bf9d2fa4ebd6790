//! An in-memory engine with a log of versioned edges per vertex: LiveGraph's transactional edge log.
//!
//! The neighbors of a vertex, for one label in one stored direction, are one block of memory: a log of entries, each with the
//! timestamps of its creation and its invalidation ("LiveGraph: A Transactional Graph Storage System with Purely
//! Sequential Adjacency List Scans", sections 3 to 6). An insertion is an append, a reader walks one stretch of memory and
//! takes no lock, and what nobody sees any more is left out when a log is rewritten.
//!
//! | file | what |
//! |---|---|
//! | `layout`, `block`, `scan`, `filter` | a block: where its columns lie, its entries, looking through them |
//! | `store/` | where the memory of blocks comes from |
//! | `directory`, `index`, `vertex` | from a vertex to its slots, to its blocks, to its record |
//! | `keeps` | why what a slot leads to is there as long as it is used |
//! | `prepare`, `apply`, `edge` | commits; the short way of one edge |
//! | `garbage`, `reclaim`, `sparse` | old entries, and rewriting the logs that have many |
//! | `view`, `cursor` | reading |
//!
//! # The concurrency contract
//!
//! - *One writer per vertex.* A lock unit is a vertex. A commit holds the exclusive locks of all vertices whose logs it changes from
//!   before `prepare` until after `apply`.
//! - *Readers take no lock.* A reader loads the slot of a vertex and reads the block it leads to. The newest block of a log has every
//!   entry that any live timestamp sees, so there is no walk over older ones, and whichever of two blocks a reader finds
//!   while one takes the other's place, it reads the same.
//! - *A prefix and its invalidations.* Entries are published by their number (Release), after all else of them is written. Creations
//!   ascend: what a timestamp sees created is a prefix. An invalidation after the reader's timestamp, made while it looks, leaves the
//!   entry valid for it.
//! - *Entries never change.* Another value is another entry, so a log is in the order in which edges were put. An entry that was
//!   created at or after the `editable_from` of a stamp is in no reader's prefix: it is dead at once when it ends.
//! - *Blocks are retired.* A block that was replaced is given back when every thread that was pinned then has let go, with the records in
//!   it. A cursor is pinned, and pins itself anew at the beginning of each call.
//! - *Reclamation follows the closed snapshots.* An old entry is marked dead when no live timestamp lies in its lifetime, and leaves
//!   when half of its log is dead.
//!
//! # Deviations from the source
//!
//! - Columns instead of entries of mixed fields: a scan reads ids and values alone, unless something was deleted after them.
//! - The records of edges grow from the other end of a block, if they are short. How
//!   much of a block is for them is chosen among a dozen shapes when it is made; an entry has the address of its record, not an offset, so that whoever
//!   reads records need not know where they lie. Long ones have memory of their own.
//! - A scan goes from the oldest entry to the newest, as runs of slices; only [`NewestFirst`](hedgerow_model::NewestFirst)
//!   goes from the end of the log.
//! - No transaction writes its own entries with its negative number: entries are written beyond the length while a commit is
//!   prepared, and get their timestamp with their stamp.
//! - Blocks are in anonymous memory, or in a mapped file if asked for ([`Tel::with_scratch`]), which is scratch and not what the
//!   graph is recovered from; checkpoints and the log of commits are those of all engines. What leads to blocks, and records of
//!   vertices, stay in anonymous memory.
//! - Compaction follows the garbage that snapshots leave, instead of a scan over dirty vertices every 65,536 transactions. Writers
//!   do it, or a thread of the graph, which is above engines.

mod apply;
mod block;
mod cursor;
mod directory;
mod edge;
mod engine;
mod filter;
mod garbage;
mod graph;
mod header;
mod index;
mod keeps;
mod layout;
mod prepare;
mod reclaim;
mod scan;
mod sparse;
mod store;
mod vertex;
mod view;

#[cfg(test)]
mod tests;

// The test support is shared with the integration tests, which name this crate from outside.
#[cfg(test)]
extern crate self as hedgerow_tel;

pub use cursor::TelCursor;
pub use edge::TelPlan;
pub use graph::Tel;
pub use hedgerow_subgraphs::SubgraphOptions as TelOptions;
pub use prepare::TelChanges;
pub use view::{TelAdjacency, TelView};
