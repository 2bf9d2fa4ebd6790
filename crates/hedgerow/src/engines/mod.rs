//! The closed set of engines: one match per call, never per edge.
//!
//! An engine that is compiled on demand is named here: at its module, in the list of engines, in
//! its arm of the macro `with_engine!`, and where it is made.

#[cfg(feature = "erased")]
mod erased;
mod graph_engine;
#[cfg(feature = "hybrid")]
mod hybrid;
#[cfg(feature = "lsm")]
mod lsm;
mod own_files;
#[cfg(feature = "rapid")]
mod rapid;
mod shared;
#[cfg(feature = "tel")]
mod tel;

pub(crate) use shared::SharedStore;

use crate::data::{EdgeData, Names};
use crate::engine_kind::EngineKind;
use crate::error::{Error, Reason};
use crate::label::Hop;
use crate::options::GraphOptions;
use crate::reads::{EdgeOfVertex, LockedState, State};
use crate::snapshot::{EdgeReader, EdgeReads, Snapshot};
use graph_engine::{GraphEngine, SnapshotPart, closed_set};
use hedgerow_erased::{ErasedEngine, ErasedView};
#[cfg(feature = "kernels")]
use hedgerow_kernels::{Execution, Follow, GraphChanges, Kernel, KernelError};
use hedgerow_log::files::EngineFiles;
use hedgerow_model::token::Registered;
use hedgerow_model::{Catalog, Column, Engine, Key, KeyRef, LabelId, MemoryUse, Record, VertexId};
use hedgerow_pipeline::{
    Commit, Commits, EdgeWrite, EndedStream, Error as Cause, LentEdge, Overlay, Store, ViewReads, VisitEdge,
    Which, decoded,
};
use hedgerow_sync::Arc;
use std::ops::{ControlFlow, RangeInclusive};

/// The store of a graph, and its engine at its own type.
pub struct TypedStore {
    pub(crate) store: Store,
    pub(crate) engine: TypedEngine,
}

closed_set! {
    "rapid" => Rapid(hedgerow_rapid::Rapid),
    "tel" => Tel(hedgerow_tel::Tel),
    "hybrid" => Hybrid(hedgerow_hybrid::Hybrid),
    "lsm" => Lsm(hedgerow_lsm::LsmEngine),
    "erased" => Erased(ErasedEngine),
}

/// Matches on the engine to run an expression, which is compiled for each engine.
macro_rules! with_engine {
    ($engines:expr, $engine:ident => $run:expr) => {
        match $engines {
            #[cfg(feature = "rapid")]
            TypedEngine::Rapid($engine) => $run,
            #[cfg(feature = "tel")]
            TypedEngine::Tel($engine) => $run,
            #[cfg(feature = "hybrid")]
            TypedEngine::Hybrid($engine) => $run,
            #[cfg(feature = "lsm")]
            TypedEngine::Lsm($engine) => $run,
            #[cfg(feature = "erased")]
            TypedEngine::Erased($engine) => $run,
        }
    };
}

/// Runs an expression with reads by key on a [`State`], compiled for its engine, and converts its
/// error. The caller has excluded a forked child when it looked up the label: another check would
/// cost a hundredth of a read.
macro_rules! with_reads {
    ($state:expr, $reads:ident => $run:expr) => {{
        let result: Result<_, Cause> = match $state {
            State::Locked(LockedState { store, view, staged }) => {
                let view = Overlay::new(view, &staged);
                let $reads = ViewReads { store, view: &view, staged: Some(&staged) };
                $run
            }
            State::Snapshot(snapshot) => {
                let TypedStore { store, engine } = snapshot.shared().even_in_child();
                match snapshot.staged() {
                    None => with_engine!(engine, engine => {
                        let view = view_of(&**engine, &snapshot);
                        let $reads = ViewReads { store, view: &view, staged: None };
                        $run
                    }),
                    Some(staged) => {
                        let view = Overlay::new(snapshot.view_below(), staged);
                        let $reads = ViewReads { store, view: &view, staged: Some(staged) };
                        $run
                    }
                }
            }
        };
        result.map_err(Error::from)
    }};
}

impl TypedStore {
    /// Makes an empty graph, or opens the graph that the engine has in `_files`.
    pub(crate) fn new(mut options: GraphOptions, _files: Option<EngineFiles>) -> Result<Self, Error> {
        let labels = std::mem::take(&mut options.labels);
        let catalog = Catalog::new(labels, options.vertices.take().unwrap_or_default())?;
        let kind = options.engine_or_default();
        if options.memory_budget.is_some() && !kind.owns_files() {
            return Err(Reason::NoMemoryBudget(kind.name()).into());
        }
        if options.compaction_limits.is_some() && !kind.owns_files() {
            return Err(Reason::NoCompaction(kind.name()).into());
        }
        if let Some(invalid) = options.compaction_limits.filter(|limits| !limits.are_valid()) {
            return Err(Reason::InvalidCompactionLimits(invalid).into());
        }
        if options.scratch.is_some() && !kind.has_scratch_files() {
            return Err(Reason::NoScratch(kind.name()).into());
        }
        if options.archiving_threshold.is_some() && !kind.has_edge_log() {
            return Err(Reason::NoEdgeLog(kind.name()).into());
        }
        let (shared, engine) = match kind {
            #[cfg(feature = "rapid")]
            EngineKind::Rapid => {
                shared(rapid::new(&options, &catalog), TypedEngine::Rapid, |erased, engine| {
                    erased.with_retained(engine, hedgerow_rapid::Rapid::retained)
                })
            }
            #[cfg(feature = "tel")]
            EngineKind::Tel => shared(tel::new(&options, &catalog)?, TypedEngine::Tel, |erased, engine| {
                erased.with_retained(engine, hedgerow_tel::Tel::retained)
            }),
            #[cfg(feature = "lsm")]
            EngineKind::Lsm => {
                shared(lsm::open(&options, &catalog, _files)?, TypedEngine::Lsm, ErasedEngine::with_durable)
            }
            #[cfg(feature = "hybrid")]
            EngineKind::Hybrid => {
                shared(hybrid::new(&options, &catalog), TypedEngine::Hybrid, |erased, engine| {
                    erased.with_archiving(engine).with_retained(engine, hedgerow_hybrid::Hybrid::retained)
                })
            }
            #[cfg(feature = "erased")]
            EngineKind::Erased(engine) => {
                let engine = erased::new(engine, &options, &catalog, _files)?;
                (engine.clone(), TypedEngine::Erased(Arc::new(engine)))
            }
            #[allow(unreachable_patterns, reason = "unless an engine is not compiled")]
            missing => return Err(Reason::NotCompiled(missing.name()).into()),
        };
        assert_eq!(shared.durable().is_some(), kind.owns_files(), "{} owns files", kind.name());
        // An engine by name may archive, too.
        assert!(shared.archiving().is_some() || !kind.has_edge_log(), "{} archives", kind.name());
        Ok(TypedStore { store: Store::new(shared, &options.settings(), &catalog), engine })
    }

    /// Opens the engine's part of a snapshot.
    pub(crate) fn open_snapshot(&self, at: &Registered, is_private: bool) -> Result<EngineSnapshot, Error> {
        with_engine!(&self.engine, engine => opened(&**engine, at, is_private))
    }

    /// Memory that the graph uses and that its engine's allocator has reserved; see
    /// [`Graph::memory`](crate::Graph::memory).
    pub(crate) fn memory(&self) -> MemoryUse {
        let reserved_bytes = with_engine!(&self.engine, engine => engine.reserved());
        MemoryUse { reserved_bytes, ..self.store.memory() }
    }

    /// Commits one edge.
    #[inline]
    pub(crate) fn commit_edge(&self, edge: EdgeWrite<'_>) -> Result<Commit, Cause> {
        with_engine!(&self.engine, engine => self.store.on(&**engine).commit_edge(edge))
    }

    /// Commits `count` edges one by one; `write` returns an edge by its position.
    pub(crate) fn commit_edges<'k>(
        &self,
        count: usize,
        write: impl Fn(usize) -> EdgeWrite<'k>,
    ) -> Result<Commits, EndedStream> {
        with_engine!(&self.engine, engine => self.store.on(&**engine).commit_each(count, write))
    }
}

impl Snapshot {
    /// Returns the engine's view behind virtual calls, without the writes of a transaction.
    #[inline(never)]
    pub(crate) fn view_below(&self) -> ErasedView<'_> {
        with_engine!(&self.shared().even_in_child().engine, engine => ErasedView::new(view_of(&**engine, self)))
    }

    /// Runs a kernel on the engine's view, without the writes of a transaction.
    #[cfg(feature = "kernels")]
    pub(crate) fn run_below<K: Kernel>(&self, kernel: K) -> Result<K::Output, KernelError> {
        with_engine!(&self.shared().even_in_child().engine, engine => kernel.run(&view_of(&**engine, self)))
    }

    /// Lets a computation follow from an earlier state of the same graph, on the engine's views.
    #[cfg(feature = "kernels")]
    pub(crate) fn follow_below<C: Follow>(
        &self,
        before: &Snapshot,
        changes: GraphChanges<'_>,
        computation: &mut C,
        execution: Execution<'_>,
    ) -> Result<(), KernelError> {
        with_engine!(&self.shared().even_in_child().engine, engine => {
            computation.follow(&view_of(&**engine, before), changes, &view_of(&**engine, self), execution)
        })
    }
}

impl State<'_> {
    pub(crate) fn vertex(self, key: KeyRef<'_>) -> Result<Option<VertexId>, Error> {
        with_reads!(self, reads => reads.vertex(key))
    }

    /// Returns the record of a vertex, with a null for each property that was never set.
    pub(crate) fn vertex_record(self, key: KeyRef<'_>) -> Result<Option<Record>, Error> {
        with_reads!(self, reads => reads.vertex_record(key))
    }

    /// Returns the value of an edge. `W = ()` reads every label.
    #[inline(always)]
    pub(crate) fn value<W: Column>(
        self,
        label: LabelId,
        source: KeyRef<'_>,
        destination: KeyRef<'_>,
    ) -> Result<Option<W>, Error> {
        with_reads!(self, reads => reads.edge_value(label, source, destination))
    }

    /// Returns the record of an edge that cannot be parallel.
    pub(crate) fn record(
        self,
        label: LabelId,
        source: KeyRef<'_>,
        destination: KeyRef<'_>,
    ) -> Result<Option<Record>, Error> {
        with_reads!(self, reads => reads.edge_record(label, source, destination))
    }

    /// Returns the parallel edges between two vertices with numbers in a range.
    pub(crate) fn parallel(
        self,
        label: LabelId,
        source: KeyRef<'_>,
        destination: KeyRef<'_>,
        numbers: RangeInclusive<u64>,
    ) -> Result<Vec<(u64, Record)>, Error> {
        let mut edges = Vec::new();
        let mut push = |edge: LentEdge<'_>| {
            edges.push((edge.key, decoded(edge.record)?));
            Ok(())
        };
        with_reads!(self, reads => reads.parallel_edges(label, source, destination, numbers, &mut push))?;
        Ok(edges)
    }

    #[inline]
    pub(crate) fn degree(self, Hop { label, direction }: Hop, key: KeyRef<'_>) -> Result<usize, Error> {
        with_reads!(self, reads => reads.degree_of(label, direction, key))
    }

    pub(crate) fn parallel_degree(
        self,
        Hop { label, direction }: Hop,
        key: KeyRef<'_>,
    ) -> Result<u64, Error> {
        with_reads!(self, reads => reads.parallel_degree(label, direction, key))
    }

    /// Visits the neighbors of a vertex and the values of the edges, until `visit` breaks. `W = ()`
    /// reads every label.
    pub(crate) fn visit_values<W: Column, B>(
        self,
        Hop { label, direction }: Hop,
        key: KeyRef<'_>,
        mut visit: impl FnMut(Key, W) -> ControlFlow<B>,
    ) -> Result<ControlFlow<B>, Error> {
        with_reads!(self, reads => {
            reads.visit_neighbors(label, direction, key, |neighbor, value| visit(reads.key(neighbor), value))
        })
    }

    /// Visits edges of a vertex.
    pub(crate) fn visit_edges(
        self,
        Hop { label, direction }: Hop,
        key: KeyRef<'_>,
        which: Which<'_>,
        visit: &mut VisitEdge<'_>,
    ) -> Result<(), Error> {
        with_reads!(self, reads => reads.visit_edges(label, direction, key, which, visit))
    }

    /// Returns edges of a vertex, with their records if `has_records`.
    pub(crate) fn edges(
        self,
        Hop { label, direction }: Hop,
        key: KeyRef<'_>,
        which: Which<'_>,
        has_records: bool,
    ) -> Result<Vec<EdgeOfVertex>, Error> {
        let mut edges = Vec::new();
        with_reads!(self, reads => reads.visit_edges(label, direction, key, which, &mut |edge| {
            let LentEdge { neighbor, key: number, value, record } = edge;
            let record = if has_records { decoded(record)? } else { Record::EMPTY };
            edges.push(EdgeOfVertex { neighbor: reads.key(neighbor), number, value, record });
            Ok(())
        }))?;
        Ok(edges)
    }

    /// Visits the edges of a vertex with their records, parallel edges one by one.
    pub(crate) fn visit_records(
        self,
        Hop { label, direction }: Hop,
        vertex: VertexId,
        visit: &mut VisitEdge<'_>,
    ) -> Result<(), Error> {
        with_reads!(self, reads => reads.neighbor_records(label, direction, vertex, 0..=u64::MAX, visit))
    }

    /// Runs `read` with a reader of the edges of a label, whose properties have these names.
    pub(crate) fn with_edges<T: EdgeData, R>(
        self,
        Hop { label, direction }: Hop,
        names: &Names<'_>,
        read: impl FnOnce(&mut EdgeReader<'_, T>) -> R,
    ) -> Result<R, Error> {
        with_reads!(self, reads => match T::IS_RECORD {
            true => reads.with_records(label, direction, |reads| {
                read(&mut EdgeReader { reads: EdgeReads::Records(reads), names })
            }),
            false => reads.with_values(label, direction, |reads| {
                read(&mut EdgeReader { reads: EdgeReads::Values(reads), names })
            }),
        })
    }
}

/// Returns an engine for the store, behind virtual calls and with its capabilities, and at its own
/// type.
fn shared<E: Engine>(
    engine: E,
    typed: fn(Arc<E>) -> TypedEngine,
    with_capabilities: fn(ErasedEngine, &Arc<E>) -> ErasedEngine,
) -> (ErasedEngine, TypedEngine) {
    let engine = Arc::new(engine);
    (with_capabilities(ErasedEngine::shared(&engine), &engine), typed(engine))
}

/// Opens an engine's part of a snapshot.
#[inline]
fn opened<E: GraphEngine>(engine: &E, at: &Registered, is_private: bool) -> Result<EngineSnapshot, Error> {
    let part = engine.open_snapshot(at)?;
    if is_private {
        engine.prepare_reads(&part, at);
    }
    Ok(E::snapshot_with(part))
}

/// Returns the view of a snapshot in its graph's engine.
#[inline]
fn view_of<'s, E: GraphEngine>(engine: &'s E, snapshot: &'s Snapshot) -> E::View<'s> {
    let (part, at) = snapshot.registered();
    engine.view(E::part_of(part), at)
}
