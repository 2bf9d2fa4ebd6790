//! A version per edge and a lock per vertex: the scheme that `rapid` replaces.
//!
//! These are the fine-grained versions and the locks that "Revisiting the Design of In-Memory
//! Dynamic Graph Storage" gives all containers except one (section 4.1.2, Sortledton; section 4.2),
//! over either of two containers:
//!
//! - [`AdjacencyList`]: one sorted array per vertex, label and direction, doubled when it is full.
//!   A search is a binary search; an insertion moves everything after it. The study's AdjLst
//!   (section 5, "DGS Sandbox"), and the second baseline besides the static CSR.
//! - [`FineGrainedArt`]: a plain adaptive radix tree instead, the first row of RapidStore's
//!   ablation ("ART combined with per-edge versioning", section 7.4).
//!
//! Both have:
//!
//! - *Vertex index*: an array of cells, by vertex id.
//! - *Versions*: every entry carries the timestamp at which it began and the head of a chain of
//!   older versions: inserted, deleted (the highest bit of the timestamp), with another value. A
//!   reader at T checks the version of every single entry; that is the cost of the scheme.
//! - *Locks*: one per vertex, taken in ascending order (G2PL).
//!
//! Vertices and their records are versioned in the same way.
//!
//! # The concurrency contract
//!
//! - *One writer per vertex.* A lock unit is a vertex. A commit holds the exclusive locks of all
//!   vertices whose rows it changes from before `stage` until after `apply`.
//! - *Readers share the lock of a row.* A row has a second, short lock: `apply` and `reclaim` take
//!   it exclusively while they change this one row, and a reader shares it while it copies the
//!   visible entries into its cursor. No thread takes any other lock or runs foreign code while it
//!   holds one, so there is no deadlock. Readers and writers of one vertex wait for each other for
//!   one copy or one insertion, O(degree): the interference that the study describes (section 6.2).
//! - *Readers see their timestamp.* A version at T is the newest that began at or before T; a
//!   commit after T leaves that version in the row, behind the new ones.
//! - *Invisible versions change in place.* No timestamp in `editable_from..at` of a stamp is
//!   registered, nor will one be before it is applied. So a version born at or after
//!   `editable_from` is overwritten; an older one becomes the newest of the chain behind the new
//!   one, and is filed as garbage under the newest timestamp that can see it. An entry that was
//!   never visible is removed at once.
//! - *Reclamation is driven by closed snapshots.* A version is freed when no live timestamp lies
//!   between its birth and its superseding. A deleted entry is removed from its row with its last
//!   older version.
//!
//! # Deviations from the study
//!
//! - The study's single lock per vertex is two here. The commit pipeline keeps its locks until the
//!   commit is published; readers need not wait for that, since timestamps tell them which versions
//!   are visible.
//! - A reader calls back without a lock. The study runs the reader's code under it, which is
//!   impossible in a store whose readers may write, or read the same vertex twice. The price is the
//!   copy.
//! - Ids are separate from versions: 20 bytes per entry instead of three words, faster searches.
//! - No summary of a row (its newest timestamp, its degree at T) saves checking its versions. That
//!   would be a coarser version, which the study names as an opportunity (section 8), not as the
//!   scheme.
//! - Versions are reclaimed by interval, as in `rapid`, so that both retain the same for the same
//!   snapshots.
//! - An insertion into a tree copies the path to its leaf, as RapidStore's containers do, although
//!   its row is locked.

mod apply;
mod cursor;
mod directory;
mod engine;
mod entries;
mod garbage;
mod graph;
mod reclaim;
mod row;
mod stage;
mod version;
mod vertex;
mod view;

#[cfg(test)]
mod tests;

pub use cursor::FineGrainedCursor;
pub use entries::{ArtEntries, Entries, SortedEntries};
pub use graph::FineGrained;
pub use stage::FineGrainedChanges;
pub use view::{FineGrainedAdjacency, FineGrainedView};

/// Sorted adjacency lists with a version per edge.
pub type AdjacencyList = FineGrained<SortedEntries>;

/// An adaptive radix tree per vertex with a version per edge.
pub type FineGrainedArt = FineGrained<ArtEntries>;
