//! The data model of Hedgerow, and the traits that connect its crates.
//!
//! - [`ids`](VertexId): vertices, labels, timestamps and application keys;
//! - [`Record`], [`EdgeValue`] and the schemas of vertices and edges;
//! - [`Operation`]: a requested change, by keys; [`Effects`]: the resolved changes of a commit, by
//!   ids;
//! - [`Engine`]: staging and applying [`Changes`], and freeing garbage;
//! - capabilities of engines: [`Durable`] stores the graph in the engine's own files,
//!   [`Archiving`] moves commits from a log in memory;
//! - [`GraphView`], [`Adjacency`], [`Cursor`]: reading a state of the graph;
//! - [`token`]: the proofs (a registered timestamp, held locks, a stamp) that connect readers,
//!   writers and engines.
//!
//! # The operations of the literature
//!
//! The common abstraction of dynamic graph storage ("Revisiting the Design of In-Memory Dynamic
//! Graph Storage", section 3.2) names six operations. They map onto this crate one to one:
//!
//! | operation | here |
//! |---|---|
//! | InsVtx(u) | [`Operation::AddVertex`], as an effect [`VertexChange::Put`] |
//! | update of a vertex | [`Operation::SetProperties`], as an effect [`VertexChange::Put`] |
//! | delete of u | [`Operation::DeleteVertex`], as [`VertexChange::Delete`] and [`EdgeChange`]s |
//! | InsEdge(u, v), its update | [`Operation::PutEdge`], as an [`EdgeChange`] with a value |
//! | delete of an edge | [`Operation::DeleteEdge`], as an [`EdgeChange`] without a value |
//! | change of a record or of a parallel edge | [`Operation::ChangeRecord`], as either of these |
//! | SearchVtx(u) | [`GraphView::contains_vertex`] |
//! | SearchEdge(u, v) | [`Cursor::find`] |
//! | ScanVtx(G) | [`GraphView::scan_vertices`] |
//! | ScanNbr(u) | [`Cursor::neighbors`]; over all of G, [`Cursor::scan`] |
//!
//! Set intersection, which the study builds from scans and searches, is [`Adjacency::intersect`].

mod admission;
mod allowance;
mod archiving;
mod changes;
mod column;
mod count;
mod cuts;
mod durable;
mod edge_changes;
mod effect_records;
mod effects;
mod engine;
mod engine_error;
mod engine_options;
mod growing_catalog;
mod ids;
pub mod intersect;
mod key;
mod names;
mod operation;
mod read_error;
mod record_change;
mod records;
pub mod scatter;
mod schema;
mod schema_builders;
pub mod search;
pub mod token;
mod topology;
mod upkeep;
mod value;
mod view;
mod view_state;

pub use admission::Admission;
pub use allowance::Allowance;
pub use archiving::Archiving;
pub use changes::{AppendedEdges, Changes, MOST_COMMITS, Staged, first_bits};
pub use column::{Column, ColumnType, EdgeValue, Raw32, Raw64, RecordHandle, ValueColumn, unit_slice};
pub use count::Count;
pub use cuts::cuts_by_work;
pub use durable::Durable;
pub use edge_changes::{ChangeSlice, ChangeSlots, EdgeChange, EdgeChanges};
pub use effect_records::EffectRecords;
pub use effects::{
    AdjacencyEffects, Counts, CountsBeside, DeferredOutcome, EdgeOutcome, Effects, Outcome, ParallelOutcome,
    StoredEdge, VertexChange, VertexEffect,
};
pub use engine::{Engine, MaintenanceProgress, MemoryUse, Reclaimed, Retained, UnitLocks};
pub use engine_error::{CapacityError, EngineError, WriteError};
pub use engine_options::EngineOptions;
pub use growing_catalog::{GrowingCatalog, measure_searched_labels};
pub use ids::{CommitTimestamp, LabelId, LockUnit, VertexId, VertexIdError};
pub use key::{AsKey, Key, KeyKind, KeyRef};
pub use names::UnknownName;
pub use operation::Operation;
pub use read_error::ReadError;
pub use record_change::{RecordChange, RecordMode};
pub use records::{NoParallelEdges, NoRecords, ParallelEdges, RecordCursor};
pub use schema::{Catalog, EdgeSchema, Field, LabelSchema, ParallelSchema, RecordSchema, SchemaError};
pub use topology::{Direction, Topology};
pub use upkeep::{
    CacheUse, CompactProgress, CompactionLimits, EngineMemory, EngineReport, FileProblem, FileTotals,
    FilesCheck, LevelReport, PartReport, StoredPart, VersionInFile,
};
pub use value::{Record, Value, ValueRef, ValueType};
pub use view::{Adjacency, Cursor, GraphView, Neighbors, ViewError};
pub use view_state::ViewState;
