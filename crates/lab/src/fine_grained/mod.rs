//! A version per edge and a lock per vertex: the scheme that `rapid` replaces.
//!
//! These are the fine-grained versions and the locks that "Revisiting the Design of In-Memory Dynamic Graph
//! Storage" gives every container but one (section 4.1.2, Sortledton; section 4.2), over either of two containers:
//!
//! - [`AdjacencyList`]: one sorted array per vertex, label and direction, doubled when it is full. A search is a
//!   binary search; an insertion moves all that comes behind it. The study's AdjLst (section 5, "DGS Sandbox"),
//!   and the second reference beside the static CSR.
//! - [`FineGrainedArt`]: a plain adaptive radix tree in its place, the first row of RapidStore's ablation ("ART
//!   combined with per-edge versioning", section 7.4).
//!
//! What both have:
//!
//! - *Vertex index*: an array of cells, by vertex id.
//! - *Versions*: every entry carries the timestamp at which it began and the head of a chain of
//!   older versions: inserted, deleted (the highest bit of the timestamp), with another value. A
//!   reader at T looks at the version of every single entry; that is what the scheme costs.
//! - *Locks*: one per vertex, taken in ascending order (G2PL).
//!
//! Vertices and their records are versioned in the same way.
//!
//! # The concurrency contract
//!
//! - *One writer per vertex.* A lock unit is a vertex. A commit holds the exclusive locks of all
//!   vertices whose rows it changes from before `prepare` until after `apply`.
//! - *Readers share the lock of a row.* A row has a second, short lock: `apply` and `reclaim` take it
//!   exclusively while they change this one row, a reader shares it while it copies what it sees
//!   into its cursor. Nobody takes any other lock meanwhile and no foreign code runs under it, so
//!   there is no circle of waits. Readers and writers of one vertex wait for each other as long as
//!   one copy or one insertion takes, O(degree): the interference that the study describes (section 6.2).
//! - *Readers see their timestamp.* A version at T is the newest that began at or before T; what a
//!   commit after T does to a row leaves that version in the row, behind the new ones.
//! - *In place where nobody can see it.* No timestamp in `editable_from..at` of a stamp is
//!   registered, nor will one be before it is applied. So a version born at or after
//!   `editable_from` is overwritten; an older one becomes the newest of the chain behind the new
//!   one, and is filed as garbage under the newest timestamp that can see it. An entry that nobody
//!   ever saw is taken out at once.
//! - *Reclamation follows the closed snapshots.* A version is freed when no live timestamp lies
//!   between its birth and its superseding. A deleted entry leaves its row with its last older version.
//!
//! # Deviations from the source
//!
//! - The study's one lock per vertex is two here. The commit pipeline keeps its locks until the
//!   commit is published; readers need not wait for that, as they know by timestamps what to see.
//! - A reader calls back without a lock. The study runs the reader's code under it, which a store
//!   cannot do that lets that code write, or read the same vertex twice. The copy is the price.
//! - Ids lie apart from the versions: 20 bytes per entry instead of three words, faster searches.
//! - No summary of a row (its newest timestamp, its degree at T) saves the look at its versions.
//!   That would be a coarser version, which the study names as an opportunity (section 8), not as the scheme.
//! - Versions are reclaimed by interval, as in `rapid`, so that both keep the same for the same snapshots.
//! - An insertion into a tree copies the path to its leaf, as RapidStore's containers do, although its row is locked.

mod apply;
mod cursor;
mod directory;
mod engine;
mod entries;
mod garbage;
mod prepare;
mod reclaim;
mod row;
mod version;
mod vertex;
mod view;

#[cfg(test)]
mod tests;

pub use cursor::FineGrainedCursor;
pub use engine::FineGrained;
pub use entries::{ArtEntries, Entries, SortedEntries};
pub use hedgerow_subgraphs::SubgraphOptions as FineGrainedOptions;
pub use prepare::FineGrainedChanges;
pub use view::{FineGrainedAdjacency, FineGrainedView};

/// Sorted adjacency lists with a version per edge.
pub type AdjacencyList = FineGrained<SortedEntries>;

/// An adaptive radix tree per vertex with a version per edge.
pub type FineGrainedArt = FineGrained<ArtEntries>;
