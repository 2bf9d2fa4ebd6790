//! The engine, and its object-safe twin.

use crate::view::{AnyView, ErasedView};
use hedgerow_model::token::{HeldLocks, LiveTimestamps, Registered, Stamp};
use hedgerow_model::{
    Allowance, CapacityError, EdgePlan, Effects, Engine, LockUnit, MemoryUse, Prepared, Reclaimed,
    StoredEdge, Timestamp, UnitLocks, VertexId,
};
use rayon::ThreadPool;
use std::any::Any;
use std::fmt;

/// Any engine. See the [crate](crate) for what that costs.
pub struct ErasedEngine(Box<dyn AnyEngine>);

impl ErasedEngine {
    /// Erases the type of `engine`.
    pub fn new(engine: impl Engine) -> Self {
        ErasedEngine(Box::new(engine))
    }
}

impl fmt::Debug for ErasedEngine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ErasedEngine")
    }
}

/// Room for what an engine makes to prepare changes.
#[derive(Debug, Default)]
pub struct ErasedRoom(Option<Box<dyn Any + Send>>);

/// What [`ErasedEngine`] has prepared: the call that applies it.
pub struct ErasedChanges<'l>(Box<dyn FnOnce(Stamp) + Send + 'l>);

/// [`Engine`] with its associated types erased.
trait AnyEngine: Send + Sync {
    fn lock_unit(&self, vertex: VertexId) -> LockUnit;

    fn prefetch(&self, edges: &[StoredEdge]);

    fn prepare<'l>(
        &'l self,
        locks: &'l HeldLocks<'_>,
        effects: &'l Effects,
        room: &'l mut ErasedRoom,
        allowance: Allowance,
        pool: Option<&ThreadPool>,
    ) -> Result<Prepared<ErasedChanges<'l>>, CapacityError>;

    fn plan_edge(&self, locks: &HeldLocks<'_>, edge: &StoredEdge, may_grow: bool) -> Option<EdgePlan>;

    fn apply_edge(&self, stamp: Stamp, edge: &StoredEdge, plan: &EdgePlan);

    fn view<'s>(&'s self, at: &'s Registered) -> Box<dyn AnyView + 's>;

    fn latest<'l>(&'l self, locks: &'l HeldLocks<'_>) -> Box<dyn AnyView + 'l>;

    fn asks_for_reclamation(&self) -> bool;

    fn reclaim(&self, live: &LiveTimestamps, units: &dyn UnitLocks, budget_bytes: usize) -> Reclaimed;

    fn retained(&self, units: &dyn UnitLocks) -> Vec<(Timestamp, usize)>;

    fn memory(&self) -> MemoryUse;

    fn reserved_bytes(&self) -> usize;
}

impl<E: Engine> AnyEngine for E {
    fn lock_unit(&self, vertex: VertexId) -> LockUnit {
        Engine::lock_unit(self, vertex)
    }

    fn prefetch(&self, edges: &[StoredEdge]) {
        Engine::prefetch(self, edges);
    }

    fn prepare<'l>(
        &'l self,
        locks: &'l HeldLocks<'_>,
        effects: &'l Effects,
        room: &'l mut ErasedRoom,
        allowance: Allowance,
        pool: Option<&ThreadPool>,
    ) -> Result<Prepared<ErasedChanges<'l>>, CapacityError> {
        let room = room.0.insert(Box::new(E::Room::default()));
        let room = room.downcast_mut().expect("the room that was just made is of this type");
        let prepared = Engine::prepare(self, locks, effects, room, allowance, pool)?;
        let Prepared { changes, outcome, changed } = prepared;
        let apply = Box::new(move |stamp| Engine::apply(self, stamp, changes));
        Ok(Prepared { changes: ErasedChanges(apply), outcome, changed })
    }

    fn plan_edge(&self, locks: &HeldLocks<'_>, edge: &StoredEdge, may_grow: bool) -> Option<EdgePlan> {
        Engine::plan_edge(self, locks, edge, may_grow)
    }

    fn apply_edge(&self, stamp: Stamp, edge: &StoredEdge, plan: &EdgePlan) {
        Engine::apply_edge(self, stamp, edge, plan);
    }

    fn view<'s>(&'s self, at: &'s Registered) -> Box<dyn AnyView + 's> {
        Box::new(Engine::view(self, at))
    }

    fn latest<'l>(&'l self, locks: &'l HeldLocks<'_>) -> Box<dyn AnyView + 'l> {
        Box::new(Engine::latest(self, locks))
    }

    fn asks_for_reclamation(&self) -> bool {
        Engine::asks_for_reclamation(self)
    }

    fn reclaim(&self, live: &LiveTimestamps, units: &dyn UnitLocks, budget_bytes: usize) -> Reclaimed {
        Engine::reclaim(self, live, units, budget_bytes)
    }

    fn retained(&self, units: &dyn UnitLocks) -> Vec<(Timestamp, usize)> {
        Engine::retained(self, units)
    }

    fn memory(&self) -> MemoryUse {
        Engine::memory(self)
    }

    fn reserved_bytes(&self) -> usize {
        Engine::reserved_bytes(self)
    }
}

impl Engine for ErasedEngine {
    type View<'s> = ErasedView<'s>;
    type Room = ErasedRoom;
    type Changes<'l> = ErasedChanges<'l>;

    fn lock_unit(&self, vertex: VertexId) -> LockUnit {
        self.0.lock_unit(vertex)
    }

    fn prefetch(&self, edges: &[StoredEdge]) {
        self.0.prefetch(edges);
    }

    fn prepare<'l>(
        &'l self,
        locks: &'l HeldLocks<'_>,
        effects: &'l Effects,
        room: &'l mut ErasedRoom,
        allowance: Allowance,
        pool: Option<&ThreadPool>,
    ) -> Result<Prepared<ErasedChanges<'l>>, CapacityError> {
        self.0.prepare(locks, effects, room, allowance, pool)
    }

    fn apply(&self, stamp: Stamp, changes: ErasedChanges<'_>) {
        (changes.0)(stamp);
    }

    fn plan_edge(&self, locks: &HeldLocks<'_>, edge: &StoredEdge, may_grow: bool) -> Option<EdgePlan> {
        self.0.plan_edge(locks, edge, may_grow)
    }

    fn apply_edge(&self, stamp: Stamp, edge: &StoredEdge, plan: &EdgePlan) {
        self.0.apply_edge(stamp, edge, plan);
    }

    fn view<'s>(&'s self, at: &'s Registered) -> ErasedView<'s> {
        ErasedView(self.0.view(at))
    }

    fn latest<'l>(&'l self, locks: &'l HeldLocks<'_>) -> ErasedView<'l> {
        ErasedView(self.0.latest(locks))
    }

    fn asks_for_reclamation(&self) -> bool {
        self.0.asks_for_reclamation()
    }

    fn reclaim(&self, live: &LiveTimestamps, units: &dyn UnitLocks, budget_bytes: usize) -> Reclaimed {
        self.0.reclaim(live, units, budget_bytes)
    }

    fn retained(&self, units: &dyn UnitLocks) -> Vec<(Timestamp, usize)> {
        self.0.retained(units)
    }

    fn memory(&self) -> MemoryUse {
        self.0.memory()
    }

    fn reserved_bytes(&self) -> usize {
        self.0.reserved_bytes()
    }
}
