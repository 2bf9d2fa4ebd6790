//! The in-memory engine: versioned subgraphs that readers walk without locks.
//!
//! It follows RapidStore ("subgraph-centric concurrency control", sections 4 to 6). Vertices are
//! cut into partitions of [`PARTITION_SIZE`] consecutive ids. A partition's vertices are one
//! immutable block, its neighbours one immutable block per label and direction; a commit copies
//! the blocks that it changes, and a version chain per block leads from the newest to the oldest.
//! No version is checked per edge: a reader resolves a partition once and then walks arrays.
//!
//! # The concurrency contract
//!
//! - *One writer per chain.* A lock unit is a partition. A commit holds the exclusive locks of all
//!   partitions that it changes from before [`prepare`] until after [`apply`]; [`HeldLocks`] proves it.
//! - *Readers never lock.* A [`Registered`] timestamp T is handed out when every stamp up to T is
//!   applied, and whoever holds it happens-after these. A reader pins the epoch, loads the head of
//!   a chain, follows `older` until a version was born at or before T, and unpins. What it found stays
//!   valid as long as T is registered, because no version with a live timestamp between its birth
//!   and its superseding is ever freed.
//! - *Copy a block at most once per snapshot.* No timestamp in `editable_from..at` of a [`Stamp`]
//!   is registered, nor will one be before the stamp is applied. So a head born at or after
//!   `editable_from` is visible to nobody and is replaced; an older one is kept behind the new
//!   version and filed as garbage under the newest timestamp that can see it.
//! - *Reclamation follows the closed snapshots*, not the graph: garbage is looked at when the
//!   timestamp it is filed under is live no more. It then moves to another live timestamp within
//!   its lifetime, or is unlinked under its partition's lock and dropped when the epoch allows.
//!   A walker may step onto a version that was just unlinked; its `older` still leads on.
//!
//! `tests/shuttle.rs` checks exactly this under the model checker.
//!
//! # Deviations from the source
//!
//! - Versions are reclaimed by interval, so that one old snapshot does not keep everything newer
//!   than it; the source's version lists are walked by each writer instead (section 5.3).
//! - Large neighbour sets are two-level persistent leaves instead of a compressed adaptive radix
//!   tree (section 6.2), and small ones are rows of one array instead of a clustered B+ tree (6.3).
//!
//! [`prepare`]: hedgerow_model::Engine::prepare
//! [`apply`]: hedgerow_model::Engine::apply
//! [`HeldLocks`]: hedgerow_model::token::HeldLocks
//! [`Registered`]: hedgerow_model::token::Registered
//! [`Stamp`]: hedgerow_model::token::Stamp

mod apply;
mod block;
mod chain;
mod cursor;
mod directory;
mod engine;
mod garbage;
mod large_set;
mod memory;
mod options;
mod partition;
mod prepare;
mod reclaim;
mod rows;
mod vertex_block;
mod view;

#[cfg(test)]
mod tests;

// The test support is shared with the integration tests, which name this crate from outside.
#[cfg(test)]
extern crate self as hedgerow_rapid;

pub use cursor::RapidCursor;
pub use engine::Rapid;
pub use options::{RapidError, RapidOptions};
pub use partition::PARTITION_SIZE;
pub use prepare::RapidChanges;
pub use view::{RapidAdjacency, RapidView};
