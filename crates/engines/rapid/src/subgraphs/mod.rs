//! Versioned subgraphs: concurrency control for the in-memory engines, over any container of
//! neighbors.
//!
//! It follows RapidStore ("subgraph-centric concurrency control", sections 4 and 5). Vertices are
//! divided into partitions of [`PARTITION_SIZE`] consecutive ids. A partition has one block of
//! vertices and one [`Container`] of neighbors per label and direction. Each of these has a version
//! chain: the newest version, and an array of superseded ones sorted by birth. Edges carry no
//! version: a reader resolves a partition once and then walks arrays. The container chooses the
//! layout of neighbors.
//!
//! # The concurrency contract
//!
//! - *One writer per chain.* A lock unit is a partition. A commit holds the exclusive locks of all
//!   partitions that it changes from before [`stage`] until after [`apply`]; [`HeldLocks`] proves
//!   it.
//! - *Readers never lock.* A [`Registered`] timestamp T is handed out once every stamp up to T is
//!   applied, and these commits happen before any access by its holder. A reader loads the newest
//!   version of a chain; if that is newer than T, it searches the superseded ones for the last one
//!   born at or before T. The version found stays valid while T is registered, because a version
//!   with a live timestamp between its birth and its superseding is never freed or changed.
//! - *At most one copy per snapshot.* No timestamp in `editable_from..at` of a [`Stamp`] is
//!   registered, nor will one be before the stamp is applied. So a version born at or after
//!   `editable_from` is invisible and is edited in place or replaced; an older one is kept,
//!   superseded by an edited copy, and filed as garbage under the newest timestamp that can see it.
//! - *Reclamation is driven by closed snapshots*, not by scans of the graph: garbage is inspected
//!   once the timestamp that it is filed under is no longer live. It then moves to another live
//!   timestamp within its lifetime, or is unlinked under its partition's lock and freed.
//!
//! `tests/shuttle.rs` of crate `rapid` checks this contract under the model checker.
//!
//! # Deviations from the paper
//!
//! - A snapshot does not copy a pointer per partition (section 5.3): a partition's version is
//!   resolved on first access, so that opening a snapshot costs the same at any graph size.
//! - Invisible versions are edited in place instead of copied.
//! - Versions are reclaimed by interval, so that one old snapshot does not keep every newer
//!   version; in the paper each writer walks the version lists instead (section 5.3).
//!
//! [`stage`]: hedgerow_model::Engine::stage
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
mod owned;
pub mod partition;
mod past;
mod reclaim;
mod stage;
mod vertex_block;
mod view;

pub use container::{ChangePlan, Container, Tally};
pub use cursor::SubgraphCursor;
pub use edge::EdgePlaces;
pub use graph::Subgraphs;
pub use owned::{Content, Owned};
pub use partition::PARTITION_SIZE;
pub use stage::SubgraphChanges;
pub use view::{SubgraphAdjacency, SubgraphView};
