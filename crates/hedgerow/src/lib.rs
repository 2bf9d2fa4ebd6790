//! Hedgerow: an embeddable store for graphs that never stop changing.
//!
//! Writers put in vertices and edges, one by one or in bulk, with ACID transactions; readers open
//! consistent snapshots in constant time and run point queries or whole-graph analytics on them,
//! at the same moment, without a lock.
//!
//! - [`Graph`] is the store; [`GraphOptions`] says how it is made.
//! - [`Graph::put_edge`] and its like commit one operation; [`Graph::begin`] and
//!   [`Graph::transact`] many; [`Graph::ingest`] puts whole slices of edges as one, and
//!   [`Graph::put_each`] each edge of a slice by itself.
//! - [`Graph::snapshot`] opens a [`Snapshot`]: point reads, [`Snapshot::run`] for the kernels of
//!   [`kernels`], [`Snapshot::to_csr`] for a static copy.
//!
//! ```
//! use hedgerow::kernels::{Bfs, PageRank};
//! use hedgerow::{Graph, GraphOptions, Topology};
//!
//! let graph = Graph::in_memory(GraphOptions::new().topology(Topology::Undirected))?;
//! graph.ingest(&[(10u64, 20u64), (20, 30), (30, 10), (30, 40)])?;
//!
//! let snapshot = graph.snapshot()?;
//! let source = snapshot.vertex_id(10)?.expect("it was just put");
//! let reached = snapshot.run(Bfs::new(source))?.reached;
//! assert_eq!(reached, 4);
//! let ranks = snapshot.run(PageRank::default())?.ranks;
//! assert!((ranks.iter().sum::<f64>() - 1.0).abs() < 1e-9);
//! # Ok::<(), hedgerow::Error>(())
//! ```

mod declared;
mod durable;
mod edge_update;
mod error;
mod graph;
mod newest;
mod operations;
mod options;
mod parallel;
mod parallel_edge;
mod reads;
mod record_ref;
mod retries;
mod snapshot;
mod staged;
pub mod store;
mod stores;
mod stream;
mod transaction;

pub use declared::DeclaredTxn;
pub use durable::StoreInfo;
pub use edge_update::EdgeUpdate;
pub use error::{Error, ErrorKind, MemoryLimitExceeded};
pub use graph::Graph;
pub use hedgerow_csr::{BuildOptions, Csr};
#[cfg(feature = "custom-engines")]
pub use hedgerow_erased::{CustomEngine, EngineOptions, ErasedEngine, Make};
pub use hedgerow_kernels as kernels;
pub use hedgerow_log::Durability;
pub use hedgerow_model as model;
pub use hedgerow_model::{
    AsKey, Catalog, Column, ColumnType, Count, Direction, EdgeSchema, Field, Key, KeyKind, KeyRef, LabelId,
    LabelSchema, MemoryUse, ParallelSchema, Reclaimed, Record, RecordSchema, Timestamp, Topology, Value,
    ValueRef, ValueType, VertexId,
};
#[doc(inline)]
pub use hedgerow_pipeline::{
    BulkEdge, CheckpointOptions, CheckpointReport, Commit, Commits, Compaction, Newest, Recovery,
};
#[doc(hidden)]
pub use hedgerow_sequencer::ManualClock;
#[doc(inline)]
pub use hedgerow_sequencer::{AsOf, History};
pub use options::{EngineKind, GraphOptions, Isolation};
pub use parallel_edge::ParallelEdge;
pub use record_ref::RecordRef;
pub use snapshot::{Snapshot, SnapshotInfo};
pub use stream::StreamError;
pub use transaction::WriteTxn;
