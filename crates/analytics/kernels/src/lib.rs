//! Whole-graph analytics over any view of a graph.
//!
//! A [`Kernel`] is a value: its fields are its parameters, [`run`](Kernel::run) computes. Every
//! kernel has an [`Execution`] among its parameters, which sets its threads, cancellation, progress
//! callback and memory budget.
//!
//! ```
//! use hedgerow_kernels::{Bfs, BuildOptions, Csr, Kernel, PageRank};
//! use hedgerow_model::{Topology, VertexId};
//!
//! let id = VertexId::new;
//! let edges = [(id(0), id(1)), (id(1), id(2))];
//! let graph = Csr::from_edges(4, Topology::Undirected, &edges, BuildOptions::default()).unwrap();
//!
//! let search = Bfs::new(id(0)).run(&graph)?;
//! assert_eq!(search.depths, [0, 1, 2, Bfs::UNREACHED]);
//!
//! let ranks = PageRank { iterations: 30, ..PageRank::default() }.run(&graph)?.ranks;
//! assert!(ranks[1] > ranks[0] && ranks[0] > ranks[3]);
//! # Ok::<(), hedgerow_kernels::KernelError>(())
//! ```
//!
//! # The kernels
//!
//! | kernel | computes | method |
//! |---|---|---|
//! | [`Bfs`] | depths from a source | top-down and bottom-up by the size of the frontier, or top-down only |
//! | [`PageRank`] | ranks | synchronous iteration, collecting from in-neighbors |
//! | [`Sssp`] | distances from a source | delta-stepping over `u32` or `f64` weights |
//! | [`Wcc`] | components, whatever the direction | by sampling, or plain hooking of labels |
//! | [`TriangleCount`] | triangles | smaller neighbors of smaller neighbors, by degree where it pays |
//! | [`LocalClustering`] | clustering coefficients | every triangle once, counted at its three vertices |
//! | [`Communities`] | communities | synchronous label propagation, only where something has changed |
//! | [`Cores`] | core numbers | peeling, level by level |
//! | [`Betweenness`] | betweenness centrality | counting shortest paths there and dependencies back, level by level |
//! | [`Neighborhood`] | the vertices within a few hops | level by level |
//!
//! [`PageRank`] counts each of several parallel edges; all other kernels see them as one
//! (`docs/kernels.md` says why). The results do not depend on the number of threads. Each result
//! type documents its further fields (iterations, times, neighbors examined); `elapsed` is always
//! the total time. `docs/kernels.md` describes each kernel.
//!
//! Some kernels read in-neighbors. If a directed view keeps none, they transpose it first:
//! `transposed` in the result is the time of the transposition, part of `elapsed`.
//!
//! # Following changes
//!
//! [`Components`] and [`Degrees`] keep their results up to date while a graph changes: see
//! [`Follow`].
//!
//! # How to write a kernel
//!
//! A kernel reads any [`GraphView`], a state of a graph: an [`Adjacency`] of it is one label in one
//! direction, and a [`Cursor`] reads neighbors there. [`Csr`] is a view, too, for tests and for
//! many computations on one state.
//!
//! 1. Get the adjacencies that you need from the view, once; topology is `adjacency::<()>`.
//! 2. Check the memory for arrays over all vertices before you allocate them: they are as long as
//!    the vertex bound, below which there may be ids without a vertex.
//! 3. Cut the vertices with [`Adjacency::cuts`] and pass the ranges to [`Execution::map_chunks`],
//!    which runs them on the pool or on the calling thread and stops between two of them when the
//!    kernel is canceled.
//! 4. In a chunk, make a cursor, and walk with [`scan`](Cursor::scan): stores lay out their data in
//!    the order of the ids. Neighbors come in runs, and a vertex may come in several.
//! 5. Return read errors with `?`: each becomes a [`KernelError`].
//! 6. If each of several parallel edges counts, read them with [`scan_each_edge`]: in an adjacency
//!    they are one neighbor.
//!
//! If a result depends on the order of additions, cut into ranges that are independent of the
//! number of threads and add the chunks' sums in their order, as [`PageRank`] does.
//!
//! For example, a kernel that counts the vertices of each degree:
//!
//! ```
//! use hedgerow_kernels::{Adjacency, Cursor, Execution, GraphView, Kernel, KernelError};
//! use hedgerow_model::{Direction, LabelId, VertexId};
//! use std::collections::BTreeMap;
//!
//! struct DegreeCounts<'a> {
//!     execution: Execution<'a>,
//! }
//!
//! impl Kernel for DegreeCounts<'_> {
//!     type Output = BTreeMap<usize, u64>;
//!
//!     fn run<V: GraphView>(self, view: &V) -> Result<Self::Output, KernelError> {
//!         let adjacency = view.adjacency::<()>(LabelId::DEFAULT, Direction::Out)?;
//!         let cuts = adjacency.cuts(64)?;
//!         let parts = self.execution.map_chunks(cuts, |range| {
//!             let (mut cursor, mut counts) = (adjacency.cursor(), BTreeMap::<usize, u64>::new());
//!             for vertex in range.map(VertexId::new) {
//!                 let degree = cursor.degree(vertex)?;
//!                 *counts.entry(degree).or_default() += 1;
//!             }
//!             Ok(counts)
//!         })?;
//!         let mut total = BTreeMap::new();
//!         for (degree, count) in parts.into_iter().flatten() {
//!             *total.entry(degree).or_default() += count;
//!         }
//!         Ok(total)
//!     }
//! }
//!
//! # use hedgerow_kernels::{BuildOptions, Csr};
//! # use hedgerow_model::Topology;
//! # let id = VertexId::new;
//! # let edges = [(id(0), id(1)), (id(0), id(2)), (id(2), id(1))];
//! # let graph = Csr::from_edges(3, Topology::Directed, &edges, BuildOptions::default()).unwrap();
//! let counts = DegreeCounts { execution: Execution::default() }.run(&graph)?;
//! assert_eq!(counts, BTreeMap::from([(0, 1), (1, 1), (2, 1)]));
//! # Ok::<(), KernelError>(())
//! ```

mod available_memory;
mod betweenness;
mod bfs;
mod bitmap;
mod block_rows;
mod both_ways;
mod clustering;
mod communities;
mod cores;
pub mod csr;
mod execution;
mod follow;
mod incoming;
mod kernel;
mod label;
mod marks;
mod memory_budget;
mod neighborhood;
mod pagerank;
mod parents;
mod ranges;
mod sssp;
mod triangles;
mod wcc;
mod workers;

#[doc(inline)]
pub use crate::csr::{BuildOptions, Csr, CsrError, ParallelWeight, has_parallel_edges, scan_each_edge};
pub use betweenness::{Betweenness, BetweennessResult, Sources};
pub use bfs::{Bfs, BfsResult};
pub use clustering::{LocalClustering, LocalClusteringResult};
pub use communities::{Communities, CommunitiesResult};
pub use cores::{Cores, CoresResult};
pub use execution::{Execution, Progress};
pub use follow::{Components, DegreeKind, Degrees, Follow, GraphChanges, LabeledEdge};
#[doc(inline)]
pub use hedgerow_encoding::EdgeWeight;
#[doc(inline)]
pub use hedgerow_model::{Adjacency, Cursor, GraphView, Neighbors, ReadError, ViewError};
pub use hedgerow_sync::CancelToken;
pub use kernel::{Kernel, KernelError, KernelErrorKind, WeightError};
pub use memory_budget::{MemoryBudget, MemoryError};
pub use neighborhood::{Neighborhood, NeighborhoodResult};
pub use pagerank::{PageRank, PageRankResult, Precision};
pub use parents::Parents;
pub use sssp::{Sssp, SsspResult, Weight};
pub use triangles::{TriangleCount, TriangleCountResult, TriangleOrder};
pub use wcc::{Wcc, WccMethod, WccResult};
