//! The state of a graph after a fault inside its engine.

mod failures;
mod following;

use crate::commit::Commit;
use crate::commit::ingest::BulkEdges;
use crate::error::Error;
use crate::settings::Settings;
use crate::store::Store;
use hedgerow_erased::ErasedEngine;
use hedgerow_model::token::{HeldLocks, LiveTimestamps, Registered, Stamps};
use hedgerow_model::{
    Allowance, AsKey, Catalog, Changes, ColumnType, CommitTimestamp, EdgeValue, Engine, EngineError,
    EngineOptions, GraphView, Key, KeyRef, LabelId, LabelSchema, LockUnit, MaintenanceProgress, MemoryUse,
    Operation, ReadError, Staged, Topology, UnitLocks, VertexId,
};
use hedgerow_rapid::Rapid;
use hedgerow_sequencer::{CountChanges, ReaderKind, Sequencer, SequencerError, WriterKind};
use hedgerow_sync::atomic::{AtomicBool, Ordering};
use hedgerow_sync::{Arc, Mutex};
use rayon::ThreadPool;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// A store, and the engine under test in it.
struct Tested<E> {
    store: Store,
    engine: Arc<E>,
}

impl<E: Engine> Tested<E> {
    fn new(engine: E, options: &Settings) -> Self {
        let engine = Arc::new(engine);
        let store = Store::new(ErasedEngine::shared(&engine), options, &Catalog::default());
        Tested { store, engine }
    }
}

impl<E> std::ops::Deref for Tested<E> {
    type Target = Store;

    fn deref(&self) -> &Store {
        &self.store
    }
}

impl BulkEdges for Vec<(u64, u64)> {
    fn count(&self) -> usize {
        self.len()
    }

    fn keys(&self, edge: usize) -> [KeyRef<'_>; 2] {
        [self[edge].0.as_key(), self[edge].1.as_key()]
    }

    fn value_type(&self) -> ColumnType {
        ColumnType::Unit
    }

    fn value(&self, _edge: usize) -> EdgeValue {
        EdgeValue::default()
    }

    fn number(&self, _edge: usize) -> Option<u64> {
        None
    }
}

/// An engine with injected faults.
struct Faulty {
    engine: Rapid,
    panic_in_stage: AtomicBool,
    panic_in_apply: AtomicBool,
    /// Runs before the next changes are applied.
    before_apply: Mutex<Option<Box<dyn FnOnce() + Send>>>,
}

impl Engine for Faulty {
    type Snapshot = ();
    type View<'s> = <Rapid as Engine>::View<'s>;
    type Room = <Rapid as Engine>::Room;
    type Staged<'l> = <Rapid as Engine>::Staged<'l>;

    fn lock_unit(&self, vertex: VertexId) -> LockUnit {
        self.engine.lock_unit(vertex)
    }

    fn exists(&self, vertex: VertexId) -> bool {
        self.engine.exists(vertex)
    }

    fn stage<'l>(
        &'l self,
        locks: &HeldLocks<'l>,
        changes: Changes<'l>,
        room: &'l mut Self::Room,
        allowance: Allowance,
        pool: Option<&ThreadPool>,
    ) -> Result<Staged<Self::Staged<'l>>, EngineError> {
        assert!(!self.panic_in_stage.load(Ordering::Relaxed), "injected panic in stage");
        self.engine.stage(locks, changes, room, allowance, pool)
    }

    fn apply(&self, locks: &mut HeldLocks<'_>, stamps: Stamps, staged: Self::Staged<'_>) {
        assert!(!self.panic_in_apply.load(Ordering::Relaxed), "injected panic in apply");
        let before = self.before_apply.lock().take();
        before.into_iter().for_each(|before| before());
        self.engine.apply(locks, stamps, staged);
    }

    fn add_label(&self, label: &LabelSchema) {
        self.engine.add_label(label);
    }

    fn open_snapshot(&self, at: &Registered) -> Result<(), EngineError> {
        self.engine.open_snapshot(at)
    }

    fn view<'s>(&'s self, state: &'s (), at: &'s Registered) -> Self::View<'s> {
        self.engine.view(state, at)
    }

    fn latest<'l>(&'l self, locks: &'l HeldLocks<'_>) -> Result<Self::View<'l>, ReadError> {
        self.engine.latest(locks)
    }

    fn maintain(
        &self,
        live: &LiveTimestamps,
        units: &UnitLocks<'_>,
        budget_bytes: usize,
    ) -> Result<MaintenanceProgress, EngineError> {
        self.engine.maintain(live, units, budget_bytes)
    }

    fn memory(&self) -> MemoryUse {
        self.engine.memory()
    }
}

fn store() -> Tested<Faulty> {
    let options = EngineOptions { topology: Topology::Directed, catalog: Catalog::default() };
    let engine = Faulty {
        engine: Rapid::new(options),
        panic_in_stage: AtomicBool::new(false),
        panic_in_apply: AtomicBool::new(false),
        before_apply: Mutex::default(),
    };
    Tested::new(engine, &Settings::default())
}

fn put(store: &Store, source: u64, destination: u64) -> Result<Commit, Error> {
    let (source, destination) = (Key::Number(source), Key::Number(destination));
    let value = hedgerow_model::EdgeValue(0);
    store.commit(&[Operation::PutEdge { label: LabelId::DEFAULT, source, destination, value }], None)
}

fn vertices(store: &Tested<Faulty>) -> u64 {
    let registration = Sequencer::open(&*store.sequencer, ReaderKind::Snapshot).unwrap();
    store.engine.view(&(), registration.token()).vertex_count()
}

#[test]
fn a_panic_in_stage_changes_nothing_and_releases_everything() {
    let store = store();
    put(&store, 1, 2).unwrap();
    store.engine.panic_in_stage.store(true, Ordering::Relaxed);
    catch_unwind(AssertUnwindSafe(|| put(&store, 2, 3))).unwrap_err();
    assert_eq!(vertices(&store), 2);
    store.engine.panic_in_stage.store(false, Ordering::Relaxed);
    assert_eq!(put(&store, 2, 3).unwrap().at, CommitTimestamp(2));
    assert_eq!(vertices(&store), 3);
}

#[test]
fn a_panic_in_apply_poisons_the_graph_and_spares_open_snapshots() {
    let store = store();
    put(&store, 1, 2).unwrap();
    let open = Sequencer::open(&*store.sequencer, ReaderKind::Snapshot).unwrap();
    store.engine.panic_in_apply.store(true, Ordering::Relaxed);
    catch_unwind(AssertUnwindSafe(|| put(&store, 2, 3))).unwrap_err();
    store.engine.panic_in_apply.store(false, Ordering::Relaxed);
    assert!(matches!(put(&store, 1, 3), Err(Error::Poisoned)));
    assert!(matches!(put(&store, 7, 8), Err(Error::Poisoned)));
    assert!(matches!(
        Sequencer::open(&*store.sequencer, ReaderKind::Snapshot),
        Err(SequencerError::Poisoned)
    ));
    let view = store.engine.view(&(), open.token());
    assert_eq!((view.vertex_count(), view.edge_count(LabelId::DEFAULT).at_most()), (2, 1));
    assert!(view.contains_vertex(VertexId::new(1)).unwrap());
}

#[test]
fn a_snapshot_that_waits_for_a_failed_commit_gets_an_error() {
    let store = store();
    put(&store, 1, 2).unwrap();
    let stamped = store.sequencer.stamp(1, &[], CountChanges::default(), WriterKind::Blind).unwrap().unwrap();
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| Sequencer::open(&*store.sequencer, ReaderKind::Snapshot).map(drop));
        while store.sequencer.open_timestamps().is_empty() {
            std::thread::yield_now();
        }
        store.sequencer.poison();
        assert!(matches!(waiting.join().unwrap(), Err(SequencerError::Poisoned)));
    });
    assert_eq!(stamped.stamps.last(), CommitTimestamp(2));
    assert!(store.sequencer.open_timestamps().is_empty());
}

/// Edges from the first vertex of each partition.
fn one_of_each_partition(round: u64) -> Vec<(u64, u64)> {
    (0..1000).map(|partition| (partition * 64, 7 + round)).collect()
}

/// Blocks of about two kilobytes each.
fn thousand_partitions() -> Arc<Tested<Faulty>> {
    let store = store();
    let edges: Vec<(u64, u64)> = (0..500_000).map(|edge| (edge % 64_000, edge / 64_000)).collect();
    store.ingest(LabelId::DEFAULT, &edges, None).unwrap();
    Arc::new(store)
}

/// A commit files a version for a snapshot that closed after the commit's stamp, and before a
/// reclamation. It must not leak.
#[test]
fn a_commit_frees_what_it_filed_for_a_snapshot_that_closed_meanwhile() {
    let store = thousand_partitions();
    let registration = Sequencer::open(Arc::clone(&store.sequencer), ReaderKind::Snapshot).unwrap();
    let reclaiming = Arc::clone(&store);
    *store.engine.before_apply.lock() = Some(Box::new(move || {
        drop(registration);
        assert!(!reclaiming.reclaim().unwrap().more, "nothing is filed yet");
    }));
    store.ingest(LabelId::DEFAULT, &one_of_each_partition(0), None).unwrap();
    assert!(store.engine.before_apply.lock().is_none());
    assert_eq!(store.memory().retained_bytes, 0);
}

/// A writer that reclaims and loses its core blocks other reclaimers only while little is
/// superseded.
#[test]
fn writers_reclaim_beside_one_that_lost_its_core() {
    let store = thousand_partitions();
    store.maintenance.reclaimers.store(1, Ordering::Relaxed);
    // Large commits reclaim up to the amount that they supersede, but nothing that a snapshot
    // reads.
    let read = (0..12).map(|round| {
        let registration = Sequencer::open(&*store.sequencer, ReaderKind::Snapshot).unwrap();
        store.ingest(LabelId::DEFAULT, &one_of_each_partition(round), None).unwrap();
        registration
    });
    drop(read.collect::<Vec<_>>());
    assert!(store.memory().retained_bytes > 16 << 20);
    (0..20).for_each(|round| assert!(put(&store, 1, 100 + round).unwrap().changed != Some(false)));
    let left = store.memory().retained_bytes;
    assert!((15 << 20..=16 << 20).contains(&left), "{left} bytes are left to the writer that reclaims");
}
