//! An in-memory engine with a log of versioned edges per vertex: LiveGraph's transactional edge
//! log.
//!
//! The neighbors of a vertex, for one label in one stored direction, are one block of memory: a log
//! of entries, each with the timestamps of its creation and its invalidation ("LiveGraph: A
//! Transactional Graph Storage System with Purely Sequential Adjacency List Scans", sections 3 to
//! 6). An insertion is an append, a reader scans contiguous memory without a lock, and garbage is
//! left out when a log is rewritten.
//!
//! | file | content |
//! |---|---|
//! | `layout`, `block`, `scan`, `filter` | a block: its layout, its entries, searching them |
//! | `store/` | the allocator of blocks |
//! | `directory`, `index` | maps a vertex to its slot, to its blocks |
//! | `keeps` | proofs that a slot's target is not freed during use |
//! | `stage`, `apply`, `edge` | commits of effects; commits of one edge |
//! | `garbage`, `reclaim`, `sparse` | old entries, and rewriting the logs that have many |
//! | `view`, `cursor` | reading |
//!
//! # The concurrency contract
//!
//! - *One writer per vertex.* A lock unit is a vertex. A commit holds the exclusive locks of all
//!   vertices whose logs it changes from before `stage` until after `apply`.
//! - *Readers take no lock.* A reader loads the slot of a vertex and reads the block that it points
//!   to. The newest block of a log has every entry that any live timestamp sees, so readers never
//!   walk older blocks; and while one block replaces another, a reader reads the same entries from
//!   either.
//! - *A prefix and its invalidations.* Entries are published by storing their number (Release),
//!   after everything else of them is written. Creations ascend: the entries created by a timestamp
//!   are a prefix. An invalidation after the reader's timestamp, stored while it reads, leaves the
//!   entry valid for that reader.
//! - *Entries never change.* Another value is another entry, so a log is in the order in which
//!   edges were put. An entry that was created at or after the `editable_from` of a stamp is in no
//!   reader's prefix: it is dead at once when it ends.
//! - *Blocks are retired.* A replaced block is freed, with the records in it, once every thread
//!   that was pinned at that time has unpinned. A cursor keeps its thread pinned, and repins at the
//!   start of each call.
//! - *Reclamation is driven by closed snapshots.* An old entry is marked dead when no live
//!   timestamp lies in its lifetime, and is removed when half of its log is dead.
//!
//! # Deviations from the paper
//!
//! - Columns instead of entries of mixed fields: a scan reads only ids and values, unless something
//!   was deleted after them.
//! - Short records of edges grow from the other end of a block. When a block is made, one of a
//!   dozen shapes decides how much of it is for records; an entry has the address of its record,
//!   not an offset, so that readers of records need not know where they lie. Long records have
//!   memory of their own.
//! - A scan goes from the oldest entry to the newest, as runs of slices; only
//!   [`Cursor::newest_first`](hedgerow_model::Cursor::newest_first) starts at the end of the log.
//! - Transactions do not write entries with their negative transaction id: entries are written
//!   beyond the length while a commit is staged, and get their timestamp with their stamp.
//! - Blocks are in anonymous memory, or in a mapped file if asked for ([`Tel::with_scratch`]),
//!   which is scratch space and not used for recovery; checkpoints and the write-ahead log are
//!   common to all engines. Pointers to blocks, and records of vertices, stay in anonymous memory.
//! - Compaction follows the garbage that snapshots leave, instead of a scan over dirty vertices
//!   every 65,536 transactions. It is run by writers, or by a thread of the graph, the layer above
//!   engines.

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
mod reclaim;
mod retired;
mod scan;
mod sparse;
mod stage;
mod store;
mod view;

#[cfg(test)]
mod tests;

// Unit tests share their support with the integration tests, which name this crate from outside.
#[cfg(test)]
extern crate self as hedgerow_tel;

pub use cursor::TelCursor;
pub use edge::EdgePlaces;
pub use graph::Tel;
pub use stage::TelChanges;
pub use view::{TelAdjacency, TelView};
