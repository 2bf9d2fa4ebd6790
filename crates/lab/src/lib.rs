//! Containers beside the engines, behind the same traits.
//!
//! [`Csr`] is the static graph: compressed sparse rows, built once, never changed. It is what the
//! engines are measured against, what a snapshot is copied into when it is read very often, and
//! what a kernel builds when it needs in-neighbours that a store does not keep.
//!
//! [`AdjacencyList`](fine_grained::AdjacencyList) is an engine: sorted adjacency lists with a version
//! per edge, the fine-grained scheme that `rapid` is measured against.
//!
//! [`ClusteredArtGraph`] is RapidStore as its paper describes it, over the same versioned subgraphs as
//! the engine `rapid`; [`FineGrainedArt`](fine_grained::FineGrainedArt), [`ArtGraph`], [`CompressedArtGraph`]
//! and [`VectorArtGraph`] are the steps of the paper's ablation that lead there. Their trees can be used alone: [`Art`], [`CompressedArt`].
//!
//! [`MemoryBudget`] says whether arrays over all vertices fit into memory, [`CancelToken`] stops a
//! computation from outside, and [`map_chunks`] runs one on a pool or on the calling thread.
//!
//! ```
//! use hedgerow_lab::{BuildOptions, Csr};
//! use hedgerow_model::{Adjacency, Cursor, Direction, GraphView, LabelId, Topology, VertexId};
//!
//! let id = VertexId::new;
//! let edges = [(id(0), id(1)), (id(0), id(2)), (id(2), id(0))];
//! let graph = Csr::from_edges(3, Topology::Directed, &edges, BuildOptions::default())?;
//!
//! let adjacency = graph.adjacency::<()>(LabelId::DEFAULT, Direction::Out)?;
//! assert_eq!(adjacency.cursor().gather(id(0)).unwrap().0, [id(1), id(2)]);
//! # Ok::<(), hedgerow_lab::CsrError>(())
//! ```

mod cancel;
mod clustered;
mod copy_on_write;
mod counted;
mod csr;
pub mod fine_grained;
mod memory;
mod parallel;
mod partition;
mod radix;
mod rows;
mod vertex_index;

#[cfg(test)]
mod tests;

// The test support is shared with the integration tests, which name this crate from outside.
#[cfg(test)]
extern crate self as hedgerow_lab;

pub use cancel::CancelToken;
pub use copy_on_write::{ArtGraph, ClusteredArtGraph, CompressedArtGraph, VectorArtGraph};
pub use csr::{BuildOptions, Csr, CsrAdjacency, CsrCursor, CsrError};
pub use memory::{MemoryBudget, MemoryError};
pub use parallel::map_chunks;
pub use radix::{Art, CompressedArt, RadixTree};
