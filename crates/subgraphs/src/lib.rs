//! Versioned subgraphs: the concurrency of the in-memory engines, over any container of neighbors.
//!
//! It follows RapidStore ("subgraph-centric concurrency control", sections 4 and 5). Vertices are
//! cut into partitions of [`PARTITION_SIZE`] consecutive ids. The vertices of a partition are one
//! content, its neighbors one [`Container`] per label and direction, and each has a version chain: the
//! newest version, and an array of superseded ones by birth. No version is checked per edge: a reader resolves a partition once and
//! then walks arrays. How neighbors lie in memory is the container's business alone.
//!
//! # The concurrency contract
//!
//! - *One writer per chain.* A lock unit is a partition. A commit holds the exclusive locks of all
//!   partitions that it changes from before [`prepare`] until after [`apply`]; [`HeldLocks`] proves it.
//! - *Readers never lock.* A [`Registered`] timestamp T is handed out when every stamp up to T is
//!   applied, and whoever holds it happens-after these. A reader loads the newest version of a
//!   chain, and if that is newer than T, searches the superseded ones for the last that was born at or before T. What it
//!   finds stays valid as long as T is registered, because no version with a live timestamp between its birth
//!   and its superseding is ever freed or changed.
//! - *Copy at most once per snapshot.* No timestamp in `editable_from..at` of a [`Stamp`]
//!   is registered, nor will one be before the stamp is applied. So a version born at or after
//!   `editable_from` is visible to nobody and is edited in place or replaced; an older one is kept behind
//!   an edited copy and filed as garbage under the newest timestamp that can see it.
//! - *Reclamation follows the closed snapshots*, not the graph: garbage is looked at when the
//!   timestamp it is filed under is live no more. It then moves to another live timestamp within
//!   its lifetime, or is unlinked under its partition's lock and freed.
//!
//! `tests/shuttle.rs` of crate `rapid` checks exactly this under the model checker.
//!
//! # Deviations from the source
//!
//! - A snapshot does not copy a pointer per partition (section 5.3): a partition's version is resolved when it is
//!   touched, so that opening a snapshot costs the same whatever the graph's size.
//! - Versions that no snapshot can see are edited in place instead of copied.
//! - Versions are reclaimed by interval, so that one old snapshot does not keep everything newer
//!   than it; the source's version lists are walked by each writer instead (section 5.3).
//!
//! [`prepare`]: hedgerow_model::Engine::prepare
//! [`apply`]: hedgerow_model::Engine::apply
//! [`HeldLocks`]: hedgerow_model::token::HeldLocks
//! [`Registered`]: hedgerow_model::token::Registered
//! [`Stamp`]: hedgerow_model::token::Stamp

mod ahead;
mod apply;
mod chain;
mod container;
mod cursor;
mod directory;
mod edge;
mod engine;
mod garbage;
mod graph;
mod options;
mod owned;
pub mod partition;
mod past;
mod prepare;
mod reclaim;
mod vertex_block;
mod view;

pub use container::{Container, Plan, Tally};
pub use cursor::SubgraphCursor;
pub use edge::SubgraphPlan;
pub use graph::Subgraphs;
pub use options::SubgraphOptions;
pub use owned::{Content, Owned};
pub use partition::PARTITION_SIZE;
pub use prepare::SubgraphChanges;
pub use view::{SubgraphAdjacency, SubgraphView};
