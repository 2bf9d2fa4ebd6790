//! A wrapper around any engine that injects failures.

use crate::{Recount, Tested};
use hedgerow_model::token::{HeldLocks, LiveTimestamps, Registered, Stamps};
use hedgerow_model::{
    Allowance, Archiving, Catalog, Changes, Durable, Engine, EngineError, LabelSchema, LockUnit,
    MaintenanceProgress, MemoryUse, ReadError, Retained, Staged, Topology, UnitLocks, VertexId, WriteError,
};
use hedgerow_sync::atomic::{AtomicUsize, Ordering};
use rayon::ThreadPool;
use std::marker::PhantomData;

/// A call of an engine that may fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fallible {
    /// [`Engine::latest`]
    Latest,
    /// [`Engine::stage`]
    Stage,
    /// [`Engine::maintain`]
    Maintain,
    /// [`Engine::open_snapshot`]
    OpenSnapshot,
}

/// Passes every call on to an engine, except calls that are to fail.
pub struct Failing<E> {
    engine: E,
    /// For each [`Fallible`]: the number of calls up to the failing one; 0 if none fails.
    countdowns: [AtomicUsize; 4],
}

impl<E> Failing<E> {
    /// Wraps an engine, without failures.
    pub fn new(engine: E) -> Self {
        Failing { engine, countdowns: Default::default() }
    }

    /// Makes the `number`th of these calls from now on fail, counted from 1, and no other.
    pub fn fail(&self, call: Fallible, number: usize) {
        self.countdowns[call as usize].store(number, Ordering::Relaxed);
    }

    /// Returns true if this call fails.
    fn fails(&self, call: Fallible) -> bool {
        let counted =
            self.countdowns[call as usize]
                .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1));
        counted == Ok(1)
    }
}

/// Returns the error of a failed call.
fn injected() -> std::io::Error {
    std::io::Error::other("injected failure")
}

/// Returns true if an error was injected.
#[must_use]
pub fn is_injected(error: &EngineError) -> bool {
    !matches!(error, EngineError::Capacity(_)) && error.to_string().ends_with("injected failure")
}

impl<E: Engine> Engine for Failing<E> {
    type Snapshot = E::Snapshot;
    type View<'s> = E::View<'s>;
    type Room = E::Room;
    type Staged<'l> = E::Staged<'l>;

    const APPENDS: bool = E::APPENDS;

    fn lock_unit(&self, vertex: VertexId) -> LockUnit {
        self.engine.lock_unit(vertex)
    }

    /// Fails late: builds the changes and drops them.
    fn stage<'l>(
        &'l self,
        locks: &HeldLocks<'l>,
        changes: Changes<'l>,
        room: &'l mut E::Room,
        allowance: Allowance,
        pool: Option<&ThreadPool>,
    ) -> Result<Staged<Self::Staged<'l>>, EngineError> {
        let staged = self.engine.stage(locks, changes, room, allowance, pool)?;
        match self.fails(Fallible::Stage) {
            true => Err(WriteError::new("a block", injected()).into()),
            false => Ok(staged),
        }
    }

    fn apply(&self, locks: &mut HeldLocks<'_>, stamps: Stamps, staged: Self::Staged<'_>) {
        self.engine.apply(locks, stamps, staged);
    }

    fn exists(&self, vertex: VertexId) -> bool {
        self.engine.exists(vertex)
    }

    fn add_label(&self, label: &LabelSchema) {
        self.engine.add_label(label);
    }

    fn open_snapshot(&self, at: &Registered) -> Result<E::Snapshot, EngineError> {
        match self.fails(Fallible::OpenSnapshot) {
            true => Err(ReadError::new("the files of a snapshot", injected()).into()),
            false => self.engine.open_snapshot(at),
        }
    }

    fn view<'s>(&'s self, snapshot: &'s E::Snapshot, at: &'s Registered) -> Self::View<'s> {
        self.engine.view(snapshot, at)
    }

    fn latest<'l>(&'l self, locks: &'l HeldLocks<'_>) -> Result<Self::View<'l>, ReadError> {
        match self.fails(Fallible::Latest) {
            true => Err(ReadError::new("the newest state", injected())),
            false => self.engine.latest(locks),
        }
    }

    fn is_maintenance_due(&self) -> bool {
        self.engine.is_maintenance_due()
    }

    fn maintain(
        &self,
        live: &LiveTimestamps,
        units: &UnitLocks<'_>,
        budget_bytes: usize,
    ) -> Result<MaintenanceProgress, EngineError> {
        match self.fails(Fallible::Maintain) {
            true => Err(WriteError::new("a level", injected()).into()),
            false => self.engine.maintain(live, units, budget_bytes),
        }
    }

    fn memory(&self) -> MemoryUse {
        self.engine.memory()
    }
}

/// A tested engine in a wrapper that injects failures.
pub struct TestedFailing<T>(PhantomData<T>);

impl<T: Tested> Tested for TestedFailing<T> {
    type Engine = Failing<T::Engine>;

    const UNIT_SIZE: u32 = T::UNIT_SIZE;
    const RECOUNT: Option<Recount<Self::Engine>> = match T::RECOUNT {
        Some(_) => Some(|engine, locks| T::RECOUNT.expect("as above")(&engine.engine, locks)),
        None => None,
    };

    const UNLINKED: fn(&Self::Engine) -> usize = |engine| T::UNLINKED(&engine.engine);
    const RETAINED: fn(&Self::Engine, &UnitLocks<'_>) -> Retained =
        |engine, units| T::RETAINED(&engine.engine, units);
    const DURABLE: fn(&Self::Engine) -> Option<&dyn Durable> = |engine| T::DURABLE(&engine.engine);
    const ARCHIVING: fn(&Self::Engine) -> Option<&dyn Archiving> = |engine| T::ARCHIVING(&engine.engine);

    fn engine(topology: Topology, catalog: Catalog) -> Self::Engine {
        Failing::new(T::engine(topology, catalog))
    }
}
