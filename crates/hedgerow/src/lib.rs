//! Hedgerow: an embeddable store for graphs that never stop changing.
//!
//! Writers insert vertices and edges, one by one or in bulk, with ACID transactions and a durable
//! log. Readers open consistent snapshots in constant time and run point queries and whole-graph
//! analytics on them, at the same moment and without a lock.
//!
//! # A graph in five minutes
//!
//! Declare the labels with the data on their edges, the type of the keys, and whether edges are
//! directed. Open the graph, and get a handle to each label.
//!
//! ```
//! use hedgerow::kernels::{Bfs, PageRank};
//! use hedgerow::prelude::*;
//!
//! #[derive(Properties)]
//! struct Payment {
//!     amount: f64,
//!     note: Option<String>,
//! }
//!
//! #[derive(Properties)]
//! struct Person {
//!     age: Option<i64>, // Properties of vertices may always be null.
//! }
//!
//! # let folder = tempfile::tempdir()?;
//! # let path = folder.path().join("bank");
//! let options = GraphOptions::new()
//!     .keys(KeyKind::String)
//!     .topology(Topology::DirectedWithReverse)
//!     .vertices::<Person>()
//!     .history(History::All) // Keep past states, from now until the graph is closed.
//!     .label::<()>("knows")
//!     .label::<f64>("rates")
//!     .label::<Payment>("pays");
//! let graph = options.open_or_create(&path)?; // or Graph::in_memory(options)?
//! let knows = graph.label::<()>("knows")?;
//! let rates = graph.label::<f64>("rates")?;
//! let pays = graph.label::<Payment>("pays")?;
//!
//! // Each write is a commit: when it returns, it survives a loss of power.
//! graph.put_vertex("ann", &Person { age: Some(36) })?;
//! graph.put_edge(knows, "ann", "bob")?;
//! graph.put_edge_with(rates, "ann", "bob", 4.5)?;
//! graph.put_edge_with(pays, "ann", "bob", Payment { amount: 9.5, note: Some("rent".into()) })?;
//!
//! // Many edges in one commit, or each in its own.
//! let loaded = graph.ingest(knows, &[("bob", "cid"), ("cid", "ann")])?.at;
//! graph.put_each(rates, &[("cid", "dan", 3.0), ("dan", "ann", 5.0)])?;
//! graph.put_each(pays, &[("cid", "dan", Payment { amount: 2.0, note: None })])?;
//!
//! // A transaction reads its own writes, is rolled back by an error, is retried if another commit
//! // came first, and returns what its closure returns. It conflicts if another commit wrote the
//! // same things. To conflict also on things that it only read, use
//! // `transact_with(Isolation::Serializable, …)`.
//! let corrected = graph.transact(|transaction| {
//!     let Some(paid) = transaction.get_edge(pays, "ann", "bob")? else {
//!         return Err(Error::other("nothing was paid"));
//!     };
//!     let update = EdgeUpdate::upsert().set("amount", paid.amount + 1.0).only_if("note", "rent");
//!     let updated = transaction.update_edge(pays, "ann", "bob", &update)?;
//!     transaction.delete_edge(knows, "cid", "ann")?;
//!     Ok(updated.held) // Whether the condition held.
//! })?;
//! assert!(corrected);
//!
//! // A write returns its commit. Deleting a vertex deletes its edges of all labels.
//! let commit = graph.delete_vertex("dan")?;
//! println!("commit {} deleted {} edges", commit.at, commit.edges_removed);
//!
//! // A snapshot never changes, and goes to any thread.
//! let snapshot = graph.snapshot()?;
//! assert_eq!(snapshot.neighbors(knows, "ann")?, ["bob"]);
//! assert_eq!(snapshot.degree(knows.incoming(), "bob")?, 1);
//! for (to, payment) in snapshot.edges(pays, "ann")? {
//!     println!("{to} got {} for {:?}", payment.amount, payment.note);
//! }
//! let paid = snapshot.with_edges(pays, |edges| { // Batched look-ups.
//!     let mut sum = 0.0;
//!     for (from, to) in [("ann", "bob"), ("ann", "cid"), ("cid", "bob")] {
//!         sum += edges.get(from, to)?.map_or(0.0, |payment| payment.amount);
//!     }
//!     Ok(sum)
//! })?;
//! assert_eq!(paid, 10.5);
//! println!(
//!     "{} people, {} know each other",
//!     snapshot.vertex_count(),
//!     snapshot.edge_count_of(knows)
//! );
//! for edge in snapshot.all_edges(rates)? {
//!     let edge = edge?;
//!     println!("{} gives {} {} points", edge.source, edge.destination, edge.data);
//! }
//!
//! // Analytics run on snapshots, concurrently with writers.
//! let ranks = snapshot.run(PageRank::default().label(knows))?.ranks;
//! let mut ranked = snapshot.with_keys(&ranks)?; // A vector of keys and ranks.
//! ranked.sort_by(|one, other| other.1.total_cmp(&one.1));
//! for (person, rank) in ranked.iter().take(5) {
//!     println!("{person}: {rank:.3}");
//! }
//! if let Some(ann) = snapshot.vertex_id("ann")? { // Kernels start from ids, not from keys.
//!     let depths = snapshot.run(Bfs::new(ann).label(knows))?.depths;
//!     let depths = snapshot.with_keys(&depths)?.into_iter();
//!     let reached = depths.filter(|(_, depth)| *depth != Bfs::UNREACHED);
//!     println!("{:?}", reached.collect::<Vec<_>>());
//! }
//!
//! // Past states.
//! let past = graph.snapshot_at(loaded)?;
//! assert!(past.contains_edge(knows, "cid", "ann")?);
//! assert!(!snapshot.contains_edge(knows, "cid", "ann")?);
//!
//! // Errors say what to do about them.
//! match graph.put_edge(knows, 1, 2) {
//!     Err(error) if error.kind() == ErrorKind::InvalidInput => println!("{error}"),
//!     other => drop(other?),
//! }
//! graph.close()?;
//!
//! // A store records its labels, keys, topology and engine.
//! # drop(snapshot);
//! let graph = Graph::open(&path)?;
//! assert!(graph.contains_edge(graph.label::<()>("knows")?, "ann", "bob")?);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The examples in the folder `examples` are whole programs: a fraud check in a transaction,
//! analytics with concurrent writers, past states, import and query, a custom kernel, and rings of
//! payments and trends in windows over the changes.
//!
//! Keys are integers ([`KeyKind::Number`], the default), text ([`KeyKind::String`]), or ids from 0
//! that the application assigns ([`KeyKind::Dense`]). Labels, keys, topology and engine are taken
//! from the opened store where [`GraphOptions`] leave them unset, and must match the store where
//! they are set. [`Graph::add_label`] adds labels to a graph. A [`Commit`] counts edges as a
//! [`Count`], which compares with numbers: the engines `rapid` and `tel` count exactly, while `lsm`
//! and `hybrid` may defer counting, and give bounds until then. Reading a vertex that does not
//! exist is no error: it has no neighbors.
//!
//! [`EdgeUpdate`] has four modes: `put` replaces the record, `insert` keeps an existing one,
//! `upsert` changes the properties that are set, and `delete` deletes the edge. Each can have
//! conditions, set by `only_if`.
//!
//! Past states are kept in memory for the time set by [`GraphOptions::history`], from the opening
//! of the graph on. [`GraphOptions::as_of`] opens older states of a store, back to its last
//! checkpoint.
//!
//! A property is a `bool`, `i64`, `i32`, `u32`, `u64`, `f64`, `f32`, `String`, `Vec<u8>`, a
//! [`SystemTime`](std::time::SystemTime), which is **rounded down to microseconds**, a [`Version`],
//! or an `Option` of these, if it may be null. An edge can also carry a single `u32`, `u64`, `i64`,
//! `f32` or `f64`, which takes less memory and time than a record.
//!
//! # Where to look
//!
//! | for | see |
//! |---|---|
//! | making and opening graphs: engine, topology, keys, labels, durability, memory limit | [`GraphOptions`] |
//! | writes of one operation, on a graph or in a transaction | [`WriteGraph`] |
//! | reads by key, on a snapshot, a graph or in a transaction | [`ReadGraph`] |
//! | properties of vertices | [`GraphOptions::vertices`], [`WriteGraph::put_vertex`], [`ReadGraph::vertex`] |
//! | transactions | [`Graph::transact`], [`Graph::transact_declared`], [`Isolation`] |
//! | bulk loads and streams of edges | [`Graph::ingest`], [`Graph::put_each`] |
//! | batched look-ups | [`Snapshot::with_edges`] |
//! | all vertices and edges of a snapshot | [`Snapshot::vertices`], [`Snapshot::all_edges`], [`Snapshot::par_edges`] |
//! | BFS, shortest paths, PageRank, components and other kernels, and writing one | [`kernels`] |
//! | data on edges and vertices | [`Label`], [`Properties`], [`Record`], [`EdgeUpdate`] |
//! | results of writes | [`Commit`], [`Updated`] |
//! | shortest paths between two vertices | [`Snapshot::path`], [`Snapshot::paths`], [`PathOptions`] |
//! | several edges between two vertices | [`GraphOptions::parallel_label`], [`WriteGraph::put_parallel_edge`], [`ReadGraph::parallel_edges`] |
//! | fresh, stale and private views; edges that are not archived | [`SnapshotOptions`]; [`Snapshot::unarchived_edges`] |
//! | changes as they are committed, windows of them, and states with them | [`Graph::subscribe`], [`Subscription`]; [`Window`]; [`Graph::follow`], [`StreamView`] |
//! | the newest edges of a vertex; past states | [`ReadGraph::newest`]; [`Graph::snapshot_at`] |
//! | checkpoints, checks, repair; reading a store that another process writes | [`Graph::checkpoint`], [`store`]; [`GraphOptions::from_checkpoint`] |
//!
//! Every method that fails returns an [`Error`], whose [`ErrorKind`] says what to do about it.
//!
//! # Engines
//!
//! [`EngineKind::Rapid`], the default, is for analytics concurrent with writers and takes the least
//! memory. [`EngineKind::Tel`] is for requests for the newest edges and for records on edges, and
//! can keep edges in a mapped file. Both have the same operations and the documented costs, except
//! for:
//!
//! | | `rapid` | `tel` |
//! |---|---|---|
//! | put an edge | O(log degree) | O(1) amortized if it is new, else O(degree) |
//! | look up an edge | O(log degree) | O(degree), mostly cut short by a Bloom filter |
//! | neighbors ascending by id | O(degree) | O(degree log degree) |
//! | the newest `n` edges | O(degree) | O(n), if they were put in time order |
//!
//! # Features
//!
//! All but `serde`, `lsm` and `hybrid` are on by default. At least `rapid` or `tel` is needed; a
//! program that asks for an engine that is not compiled gets [`ErrorKind::Unsupported`].
//!
//! - `rapid`, `tel`, `lsm`, `hybrid`: the engines.
//! - `kernels`: [analytics](kernels), and static copies of snapshots.
//! - `compression`: compressed checkpoints. Without it, checkpoints are larger, and compressed ones
//!   cannot be read. Needs a C compiler.
//! - `derive`: `#[derive(Properties)]`.
//! - `serde`: serializes data that was read, kernel results, reports and schemas, and deserializes
//!   all but properties.

#[cfg(not(any(feature = "rapid", feature = "tel")))]
compile_error!(
    "a graph needs an engine: enable the feature `rapid` or the feature `tel` of the crate `hedgerow`"
);

#[cfg(feature = "derive")]
// The derive macro names this crate `hedgerow`, in its own tests too.
extern crate self as hedgerow;

mod changes;
mod data;
mod declared;
mod durable;
mod edge_numbers;
mod edge_tuple;
mod edge_update;
mod engine_kind;
mod engines;
mod error;
mod graph;
mod label;
mod labels;
mod operations;
mod options;
mod parallel_edge;
mod paths;
pub mod prelude;
mod read_graph;
mod reads;
mod record_ref;
mod retries;
mod snapshot;
mod staged;
pub mod store;
mod stream;
mod transaction;
mod write_graph;

#[cfg(feature = "async")]
pub use changes::ChangeStream;
#[cfg(feature = "kernels")]
pub use changes::Kept;
pub use changes::{
    Begin, Change, ChangeToken, ChangedEdge, ChangedVertex, Changes, CommitChanges, InvalidToken, Lag,
    NamedPosition, NamedSubscription, Span, StreamView, SubscribeOptions, Subscription, Window,
};
pub use data::{EdgeData, EdgeType, Properties, Property, PropertyMismatch, ReadProperties, Record, Version};
pub use declared::DeclaredTxn;
pub use durable::StoreInfo;
pub use edge_tuple::EdgeTuple;
pub use edge_update::EdgeUpdate;
pub use engine_kind::EngineKind;
pub use error::{Error, ErrorKind, MemoryLimitExceeded};
pub use graph::Graph;
#[cfg(feature = "derive")]
pub use hedgerow_derive::Properties;
#[cfg(feature = "kernels")]
#[doc(inline)]
pub use hedgerow_kernels as kernels;
#[doc(inline)]
pub use hedgerow_log::Durability;
#[doc(inline)]
pub use hedgerow_model::{
    AsKey, Catalog, Column, ColumnType, CommitTimestamp, CompactionLimits, Count, Direction, EdgeSchema,
    Field, Key, KeyKind, KeyRef, LabelId, LabelSchema, MemoryUse, ParallelSchema, Reclaimed, RecordSchema,
    SchemaError, Topology, UnknownName, Value, ValueRef, ValueType, VertexId, VertexIdError,
};
#[doc(inline)]
pub use hedgerow_pipeline::{
    CheckpointOptions, CheckpointReport, Commit, Commits, CompactOptions, CompactReport, Compaction, Newest,
    Recovery,
};
#[doc(hidden)]
pub use hedgerow_sequencer::ManualClock;
#[doc(inline)]
pub use hedgerow_sequencer::{AsOf, History};
#[doc(inline)]
pub use hedgerow_sync::CancelToken;
pub use label::{Hop, HopOf, Label};
pub use options::{GraphOptions, Isolation};
pub use parallel_edge::ParallelEdge;
pub use paths::{Path, PathOptions};
pub use read_graph::ReadGraph;
pub use record_ref::RecordRef;
pub use snapshot::{
    Edge, EdgeReader, Edges, Snapshot, SnapshotInfo, SnapshotOptions, UnarchivedEdge, Vertices,
};
pub use stream::StreamError;
pub use transaction::WriteTxn;
pub use write_graph::{Updated, WriteGraph};

/// The program in the README compiles.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;
