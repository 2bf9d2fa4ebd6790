//! The engine with its type erased, and its object-safe trait.

use crate::view::ErasedView;
use hedgerow_model::token::{HeldLocks, LiveTimestamps, Registered, Stamps};
use hedgerow_model::{
    Admission, Allowance, Archiving, Changes, Durable, Engine, EngineError, LabelSchema, LockUnit,
    MaintenanceProgress, MemoryUse, ReadError, Retained, Staged, UnitLocks, VertexId,
};
use hedgerow_sync::Arc;
use rayon::ThreadPool;
use smallbox::space::S64;
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

    /// Returns true if the engine [appends](Engine::APPENDS), which the constant of this type does
    /// not say.
    #[must_use]
    pub fn appends(&self) -> bool {
        self.0.appends()
    }

    /// The ones of `vertices` that do not [exist](Engine::exists), in the same order. One virtual
    /// call.
    #[must_use]
    pub fn missing(&self, vertices: &[VertexId]) -> Vec<VertexId> {
        self.0.missing(vertices)
    }
}

impl fmt::Debug for ErasedEngine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ErasedEngine")
    }
}

/// Space in which an engine stages changes.
#[derive(Debug, Default)]
pub struct ErasedRoom(Option<SmallBox<dyn Any + Send, S64>>);

/// An engine's part of a snapshot.
pub struct ErasedSnapshot(Box<dyn Any + Send + Sync>);

/// Changes staged by an [`ErasedEngine`], as a closure that applies them.
pub struct ErasedStaged<'l>(Box<Apply<'l>>);

type Apply<'l> = dyn FnOnce(&mut HeldLocks<'_>, Stamps) + Send + 'l;

/// [`Engine`] with its associated types erased.
trait AnyEngine: Send + Sync {
    fn lock_unit(&self, vertex: VertexId) -> LockUnit;

    fn appends(&self) -> bool;

    fn exists(&self, vertex: VertexId) -> bool;

    fn missing(&self, vertices: &[VertexId]) -> Vec<VertexId>;

    fn stage<'l>(
        &'l self,
        locks: &HeldLocks<'l>,
        changes: Changes<'l>,
        room: &'l mut ErasedRoom,
        allowance: Allowance,
        pool: Option<&ThreadPool>,
    ) -> Result<Staged<ErasedStaged<'l>>, EngineError>;

    fn add_label(&self, label: &LabelSchema);

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

impl<E: Engine> AnyEngine for E {
    fn lock_unit(&self, vertex: VertexId) -> LockUnit {
        Engine::lock_unit(self, vertex)
    }

    fn appends(&self) -> bool {
        E::APPENDS
    }

    fn exists(&self, vertex: VertexId) -> bool {
        Engine::exists(self, vertex)
    }

    fn missing(&self, vertices: &[VertexId]) -> Vec<VertexId> {
        vertices.iter().copied().filter(|vertex| !Engine::exists(self, *vertex)).collect()
    }

    fn stage<'l>(
        &'l self,
        locks: &HeldLocks<'l>,
        changes: Changes<'l>,
        room: &'l mut ErasedRoom,
        allowance: Allowance,
        pool: Option<&ThreadPool>,
    ) -> Result<Staged<ErasedStaged<'l>>, EngineError> {
        let room = room.0.insert(smallbox!(E::Room::default()));
        let room = room.downcast_mut().expect("the new room has this type");
        let staged = Engine::stage(self, locks, changes, room, allowance, pool)?;
        Ok(staged.map(|changes| {
            let apply = move |locks: &mut HeldLocks<'_>, stamps| Engine::apply(self, locks, stamps, changes);
            ErasedStaged(Box::new(apply))
        }))
    }

    fn add_label(&self, label: &LabelSchema) {
        Engine::add_label(self, label);
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
    type Staged<'l> = ErasedStaged<'l>;

    fn lock_unit(&self, vertex: VertexId) -> LockUnit {
        self.0.lock_unit(vertex)
    }

    fn exists(&self, vertex: VertexId) -> bool {
        self.0.exists(vertex)
    }

    fn stage<'l>(
        &'l self,
        locks: &HeldLocks<'l>,
        changes: Changes<'l>,
        room: &'l mut ErasedRoom,
        allowance: Allowance,
        pool: Option<&ThreadPool>,
    ) -> Result<Staged<ErasedStaged<'l>>, EngineError> {
        self.0.stage(locks, changes, room, allowance, pool)
    }

    fn apply(&self, locks: &mut HeldLocks<'_>, stamps: Stamps, staged: ErasedStaged<'_>) {
        (staged.0)(locks, stamps);
    }

    fn add_label(&self, label: &LabelSchema) {
        self.0.add_label(label);
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
