//! The engine with its type erased, and its object-safe trait.

use crate::view::ErasedView;
use hedgerow_model::token::{HeldLocks, LiveTimestamps, Registered, Stamp};
use hedgerow_model::{
    Admission, Allowance, AppendEdges, Archiving, Durable, EdgeOutcome, Effects, Engine, EngineError,
    GraphView, LabelSchema, LockUnit, MaintenanceProgress, MemoryUse, Prepared, ReadError, Retained,
    ShortPlan, ShortWrites, StoredEdge, UnitLocks, VertexId,
};
use hedgerow_sync::Arc;
use rayon::ThreadPool;
use smallbox::space::{S16, S64};
use smallbox::{SmallBox, smallbox};
use std::any::Any;
use std::fmt;

/// Wraps any engine, with its capabilities. The [crate](crate) documentation describes the cost.
#[derive(Clone)]
pub struct ErasedEngine(Arc<dyn AnyEngine>, Capabilities);

/// The capabilities that the engine has.
#[derive(Clone, Default)]
struct Capabilities {
    durable: Option<Arc<dyn Durable>>,
    archiving: Option<Arc<dyn Archiving>>,
    retained: Option<Arc<TellRetained>>,
}

/// Tells which timestamps keep the memory of an engine.
type TellRetained = dyn Fn(&UnitLocks<'_>) -> Retained + Send + Sync;

impl ErasedEngine {
    /// Erases the type of `engine`, without its capabilities.
    pub fn new(engine: impl Engine) -> Self {
        ErasedEngine(Arc::new(engine), Capabilities::default())
    }

    /// Erases the type of an engine that the caller still uses at its own type, without its
    /// capabilities.
    pub fn shared<E: Engine>(engine: &Arc<E>) -> Self {
        ErasedEngine(Arc::<E>::clone(engine), Capabilities::default())
    }

    /// Adds the capability of the same `engine` to store the graph in files.
    #[must_use]
    pub fn with_durable<E: Engine + Durable>(mut self, engine: &Arc<E>) -> Self {
        self.1.durable = Some(Arc::<E>::clone(engine));
        self
    }

    /// Adds the capability of the same `engine` to archive commits.
    #[must_use]
    pub fn with_archiving<E: Engine + Archiving>(mut self, engine: &Arc<E>) -> Self {
        self.1.archiving = Some(Arc::<E>::clone(engine));
        self
    }

    /// Adds a function of the same `engine` that tells which timestamps keep its memory. It may
    /// leave out units that another thread has locked.
    #[must_use]
    pub fn with_retained<E: Engine>(
        mut self,
        engine: &Arc<E>,
        retained: fn(&E, &UnitLocks<'_>) -> Retained,
    ) -> Self {
        let engine = Arc::<E>::clone(engine);
        self.1.retained = Some(Arc::new(move |units| retained(&engine, units)));
        self
    }

    /// The capability to store the graph in files; `None` if the graph is in memory, and restored
    /// from a checkpoint and the log.
    #[inline]
    pub fn durable(&self) -> Option<&dyn Durable> {
        self.1.durable.as_deref()
    }

    /// The capability to archive commits that wait in a log in memory; `None` if all states are
    /// equally cheap to read.
    #[inline]
    pub fn archiving(&self) -> Option<&dyn Archiving> {
        self.1.archiving.as_deref()
    }

    /// Bytes that each timestamp keeps; empty if the engine does not tell.
    pub fn retained(&self, units: &UnitLocks<'_>) -> Retained {
        self.1.retained.as_ref().map_or(Vec::new(), |retained| retained(units))
    }

    /// Decides if a commit of about `bytes` bytes may begin: asks the capabilities that defer work.
    #[inline]
    pub fn admit(&self, bytes: usize) -> Admission {
        Admission::of(bytes, self.durable(), self.archiving())
    }

    /// Appends the missing ones of `vertices`, in the same order. The locks of all `vertices` are
    /// held, unless the engine has [short writes](ShortWrites::exists). One virtual call.
    ///
    /// # Errors
    /// A file of the engine could not be read.
    pub fn add_missing(
        &self,
        locks: &HeldLocks<'_>,
        vertices: &[VertexId],
        missing: &mut Vec<VertexId>,
    ) -> Result<(), ReadError> {
        self.0.add_missing(locks, vertices, missing)
    }
}

impl fmt::Debug for ErasedEngine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ErasedEngine")
    }
}

/// Space in which an engine prepares changes.
#[derive(Debug, Default)]
pub struct ErasedRoom(Option<SmallBox<dyn Any + Send, S64>>);

/// An engine's part of a snapshot.
pub struct ErasedSnapshot(Box<dyn Any + Send + Sync>);

/// Changes prepared by an [`ErasedEngine`], as a closure that applies them.
pub struct ErasedChanges<'l>(Box<dyn FnOnce(Stamp) + Send + 'l>);

/// [`Engine`] with its associated types erased.
trait AnyEngine: Send + Sync {
    fn lock_unit(&self, vertex: VertexId) -> LockUnit;

    fn prepare<'l>(
        &'l self,
        locks: &'l HeldLocks<'_>,
        effects: &'l Effects,
        room: &'l mut ErasedRoom,
        allowance: Allowance,
        pool: Option<&ThreadPool>,
    ) -> Result<Prepared<ErasedChanges<'l>>, EngineError>;

    fn add_missing(
        &self,
        locks: &HeldLocks<'_>,
        vertices: &[VertexId],
        missing: &mut Vec<VertexId>,
    ) -> Result<(), ReadError>;

    fn short_writes(&self) -> Option<&dyn AnyShortWrites>;

    fn add_label(&self, label: &LabelSchema);

    fn append_edges(&self) -> Option<&dyn AppendEdges>;

    fn open_snapshot(&self, at: &Registered) -> Result<ErasedSnapshot, EngineError>;

    fn view<'s>(&'s self, snapshot: &'s ErasedSnapshot, at: &'s Registered) -> ErasedView<'s>;

    fn latest<'l>(&'l self, locks: &'l HeldLocks<'_>) -> Result<ErasedView<'l>, ReadError>;

    fn is_maintenance_due(&self) -> bool;

    fn maintain(
        &self,
        live: &LiveTimestamps,
        units: &UnitLocks<'_>,
        budget_bytes: usize,
    ) -> Result<MaintenanceProgress, EngineError>;

    fn memory(&self) -> MemoryUse;
}

/// [`ShortWrites`] with its types erased.
trait AnyShortWrites {
    fn exists(&self, vertex: VertexId) -> bool;

    fn prefetch(&self, edges: &[StoredEdge]);

    fn plan_edge(&self, locks: &HeldLocks<'_>, edge: &StoredEdge, may_grow: bool) -> Option<ErasedPlan>;

    fn plan_edges(
        &self,
        locks: &HeldLocks<'_>,
        edges: &[StoredEdge],
        may_grow: bool,
        plans: &mut Vec<ErasedPlan>,
    );

    fn apply_edge(&self, stamp: Stamp, edge: &StoredEdge, plan: &ErasedPlan);
}

/// The plan of any engine for one edge.
pub struct ErasedPlan {
    is_change: bool,
    outcome: EdgeOutcome,
    is_deferred: bool,
    plan: SmallBox<dyn Any + Send, S16>,
}

impl ErasedPlan {
    fn of(plan: impl ShortPlan + Send + 'static) -> Self {
        let (is_change, outcome, is_deferred) = (plan.is_change(), plan.outcome(), plan.is_deferred());
        ErasedPlan { is_change, outcome, is_deferred, plan: smallbox!(plan) }
    }
}

impl ShortPlan for ErasedPlan {
    fn is_change(&self) -> bool {
        self.is_change
    }

    fn outcome(&self) -> EdgeOutcome {
        self.outcome
    }

    fn is_deferred(&self) -> bool {
        self.is_deferred
    }
}

impl<S: ShortWrites> AnyShortWrites for S {
    fn exists(&self, vertex: VertexId) -> bool {
        ShortWrites::exists(self, vertex)
    }

    fn prefetch(&self, edges: &[StoredEdge]) {
        ShortWrites::prefetch(self, edges);
    }

    fn plan_edge(&self, locks: &HeldLocks<'_>, edge: &StoredEdge, may_grow: bool) -> Option<ErasedPlan> {
        ShortWrites::plan_edge(self, locks, edge, may_grow).map(ErasedPlan::of)
    }

    fn plan_edges(
        &self,
        locks: &HeldLocks<'_>,
        edges: &[StoredEdge],
        may_grow: bool,
        plans: &mut Vec<ErasedPlan>,
    ) {
        let mut planned = Vec::with_capacity(edges.len());
        ShortWrites::plan_edges(self, locks, edges, may_grow, &mut planned);
        plans.extend(planned.into_iter().map(ErasedPlan::of));
    }

    fn apply_edge(&self, stamp: Stamp, edge: &StoredEdge, plan: &ErasedPlan) {
        let plan = plan.plan.downcast_ref().expect("an edge is applied by the engine that planned it");
        ShortWrites::apply_edge(self, stamp, edge, plan);
    }
}

impl<E: Engine> AnyEngine for E {
    fn lock_unit(&self, vertex: VertexId) -> LockUnit {
        Engine::lock_unit(self, vertex)
    }

    fn prepare<'l>(
        &'l self,
        locks: &'l HeldLocks<'_>,
        effects: &'l Effects,
        room: &'l mut ErasedRoom,
        allowance: Allowance,
        pool: Option<&ThreadPool>,
    ) -> Result<Prepared<ErasedChanges<'l>>, EngineError> {
        let room = room.0.insert(smallbox!(E::Room::default()));
        let room = room.downcast_mut().expect("the new room has this type");
        let prepared = Engine::prepare(self, locks, effects, room, allowance, pool)?;
        let Prepared { changes, outcome, changed } = prepared;
        let apply = Box::new(move |stamp| Engine::apply(self, stamp, changes));
        Ok(Prepared { changes: ErasedChanges(apply), outcome, changed })
    }

    fn add_missing(
        &self,
        locks: &HeldLocks<'_>,
        vertices: &[VertexId],
        missing: &mut Vec<VertexId>,
    ) -> Result<(), ReadError> {
        if let Some(short) = Engine::short_writes(self) {
            missing.extend(vertices.iter().filter(|vertex| !ShortWrites::exists(short, **vertex)));
            return Ok(());
        }
        let latest = Engine::latest(self, locks)?;
        for vertex in vertices {
            if !GraphView::contains_vertex(&latest, *vertex)? {
                missing.push(*vertex);
            }
        }
        Ok(())
    }

    fn short_writes(&self) -> Option<&dyn AnyShortWrites> {
        Engine::short_writes(self).map(|writes| writes as &dyn AnyShortWrites)
    }

    fn add_label(&self, label: &LabelSchema) {
        Engine::add_label(self, label);
    }

    fn append_edges(&self) -> Option<&dyn AppendEdges> {
        Engine::append_edges(self)
    }

    fn open_snapshot(&self, at: &Registered) -> Result<ErasedSnapshot, EngineError> {
        Ok(ErasedSnapshot(Box::new(Engine::open_snapshot(self, at)?)))
    }

    fn view<'s>(&'s self, snapshot: &'s ErasedSnapshot, at: &'s Registered) -> ErasedView<'s> {
        let snapshot = snapshot.0.downcast_ref().expect("a snapshot is read by the engine that made it");
        ErasedView::new(Engine::view(self, snapshot, at))
    }

    fn latest<'l>(&'l self, locks: &'l HeldLocks<'_>) -> Result<ErasedView<'l>, ReadError> {
        Ok(ErasedView::new(Engine::latest(self, locks)?))
    }

    fn is_maintenance_due(&self) -> bool {
        Engine::is_maintenance_due(self)
    }

    fn maintain(
        &self,
        live: &LiveTimestamps,
        units: &UnitLocks<'_>,
        budget_bytes: usize,
    ) -> Result<MaintenanceProgress, EngineError> {
        Engine::maintain(self, live, units, budget_bytes)
    }

    fn memory(&self) -> MemoryUse {
        Engine::memory(self)
    }
}

impl Engine for ErasedEngine {
    type Snapshot = ErasedSnapshot;
    type View<'s> = ErasedView<'s>;
    type Room = ErasedRoom;
    type Changes<'l> = ErasedChanges<'l>;
    type ShortWrites = Self;

    fn lock_unit(&self, vertex: VertexId) -> LockUnit {
        self.0.lock_unit(vertex)
    }

    fn prepare<'l>(
        &'l self,
        locks: &'l HeldLocks<'_>,
        effects: &'l Effects,
        room: &'l mut ErasedRoom,
        allowance: Allowance,
        pool: Option<&ThreadPool>,
    ) -> Result<Prepared<ErasedChanges<'l>>, EngineError> {
        self.0.prepare(locks, effects, room, allowance, pool)
    }

    fn apply(&self, stamp: Stamp, changes: ErasedChanges<'_>) {
        (changes.0)(stamp);
    }

    fn short_writes(&self) -> Option<&Self> {
        self.0.short_writes().map(|_| self)
    }

    fn add_label(&self, label: &LabelSchema) {
        self.0.add_label(label);
    }

    fn append_edges(&self) -> Option<&dyn AppendEdges> {
        self.0.append_edges()
    }

    fn open_snapshot(&self, at: &Registered) -> Result<ErasedSnapshot, EngineError> {
        self.0.open_snapshot(at)
    }

    fn view<'s>(&'s self, snapshot: &'s ErasedSnapshot, at: &'s Registered) -> ErasedView<'s> {
        self.0.view(snapshot, at)
    }

    fn latest<'l>(&'l self, locks: &'l HeldLocks<'_>) -> Result<ErasedView<'l>, ReadError> {
        self.0.latest(locks)
    }

    fn is_maintenance_due(&self) -> bool {
        self.0.is_maintenance_due()
    }

    fn maintain(
        &self,
        live: &LiveTimestamps,
        units: &UnitLocks<'_>,
        budget_bytes: usize,
    ) -> Result<MaintenanceProgress, EngineError> {
        self.0.maintain(live, units, budget_bytes)
    }

    fn memory(&self) -> MemoryUse {
        self.0.memory()
    }
}

impl ShortWrites for ErasedEngine {
    type Plan = ErasedPlan;

    fn exists(&self, vertex: VertexId) -> bool {
        self.0.short_writes().is_some_and(|writes| writes.exists(vertex))
    }

    fn prefetch(&self, edges: &[StoredEdge]) {
        if let Some(writes) = self.0.short_writes() {
            writes.prefetch(edges);
        }
    }

    fn plan_edge(&self, locks: &HeldLocks<'_>, edge: &StoredEdge, may_grow: bool) -> Option<ErasedPlan> {
        self.0.short_writes()?.plan_edge(locks, edge, may_grow)
    }

    fn plan_edges(
        &self,
        locks: &HeldLocks<'_>,
        edges: &[StoredEdge],
        may_grow: bool,
        plans: &mut Vec<ErasedPlan>,
    ) {
        if let Some(writes) = self.0.short_writes() {
            writes.plan_edges(locks, edges, may_grow, plans);
        }
    }

    fn apply_edge(&self, stamp: Stamp, edge: &StoredEdge, plan: &ErasedPlan) {
        let writes = self.0.short_writes().expect("an edge is applied by the engine that planned it");
        writes.apply_edge(stamp, edge, plan);
    }
}
