//! Writers, readers and a reclamation on a few units, with a small sequencer between them.
//!
//! The code runs both on threads of the operating system and under the model checker. The sequencer
//! keeps exactly the guarantees of the tokens, so the store cannot rely on any other.

use crate::Tested;
use hedgerow_encoding::encode_record;
use hedgerow_model::token::{HeldLocks, LiveTimestamps, Registered, Stamp};
use hedgerow_model::{
    Adjacency, AdjacencyEffects, Allowance, Archiving, Catalog, Column, ColumnType, CommitTimestamp, Counts,
    Cursor, Direction, EdgeChange, EdgeSchema, Effects, Engine, Field, GraphView, LabelId, LabelSchema,
    LockUnit, Record, RecordCursor, RecordSchema, Topology, Value, ValueType, VertexId,
};
use hedgerow_sync::thread::{self, JoinHandle};
use hedgerow_sync::{Arc, Condvar, Mutex, RawLock};
use std::collections::BTreeSet;

/// A store, and the locks of some of its units, each with one vertex that has one edge.
pub struct Graph<T: Tested> {
    engine: T::Engine,
    /// True if the edges have records instead of values.
    has_records: bool,
    locks: Vec<RawLock>,
    state: Mutex<State>,
    applied: Condvar,
}

#[derive(Default)]
struct State {
    last: CommitTimestamp,
    in_flight: BTreeSet<CommitTimestamp>,
    /// Registered timestamps, with a number to distinguish equal ones.
    registered: BTreeSet<(CommitTimestamp, u64)>,
    registrations: u64,
    /// Per unit: the stamps of its commits and their values.
    history: Vec<Vec<(CommitTimestamp, Option<u32>)>>,
}

impl<T: Tested> Graph<T> {
    /// Wraps an empty store, with a number on each edge.
    #[must_use]
    pub fn new(units: u32) -> Arc<Self> {
        Self::of(EdgeSchema::Value(ColumnType::U32), units)
    }

    /// Wraps an empty store, with a record on each edge. All records are of the same length, so one
    /// may get the memory of another.
    #[must_use]
    pub fn with_records(units: u32) -> Arc<Self> {
        let field = Field { name: "content".to_owned(), value_type: ValueType::Bytes, nullable: false };
        Self::of(EdgeSchema::Record(RecordSchema { fields: vec![field] }), units)
    }

    fn of(edges: EdgeSchema, units: u32) -> Arc<Self> {
        Arc::new(Graph {
            has_records: matches!(edges, EdgeSchema::Record(_)),
            engine: T::engine(Topology::Directed, catalog(edges)),
            locks: (0..units).map(|_| RawLock::default()).collect(),
            state: Mutex::new(State { history: vec![Vec::new(); units as usize], ..State::default() }),
            applied: Condvar::new(),
        })
    }

    /// Returns the vertex that has the edge of a unit.
    fn owner(&self, unit: u32) -> VertexId {
        VertexId::new(unit * T::UNIT_SIZE)
    }

    /// Commits `values` in turn to the one edge of a unit; every third value deletes it.
    pub fn write(&self, unit: u32, values: impl IntoIterator<Item = u32>) {
        for value in values {
            self.locks[unit as usize].lock();
            self.commit(unit, value);
            // SAFETY: locked above; the commit is applied.
            unsafe { self.locks[unit as usize].unlock() };
        }
    }

    fn commit(&self, unit: u32, value: u32) {
        let stripes = [unit];
        // SAFETY: the caller holds the lock of the unit until this returns.
        let locks = unsafe { HeldLocks::stripes(&stripes, u32::MAX, self.counts()) };
        let is_likely_seen = value.is_multiple_of(2);
        let mut locks = locks.with_editable_now(CommitTimestamp(if is_likely_seen { u64::MAX } else { 0 }));
        let value = (!value.is_multiple_of(3)).then_some(value);
        let mut effects = Effects::default();
        let bits = value.map(|value| match self.has_records {
            true => effects.records.push(&record_of(value)),
            false => value.to_bits(),
        });
        let change = EdgeChange::new(self.owner(unit), VertexId::new(0), bits);
        let changes = std::iter::once(change).collect();
        let adjacency = AdjacencyEffects { label: LabelId::DEFAULT, direction: Direction::Out, changes };
        effects.adjacencies.push(adjacency);
        let mut room = Default::default();
        let staged = self
            .engine
            .stage(&locks, (&effects).into(), &mut room, Allowance::UNLIMITED, None)
            .expect("there is no limit");
        self.stamp_and_apply(unit, value, &mut locks, staged.changes);
    }

    fn stamp_and_apply(
        &self,
        unit: u32,
        value: Option<u32>,
        locks: &mut HeldLocks<'_>,
        staged: <T::Engine as Engine>::Staged<'_>,
    ) {
        let mut state = self.state.lock();
        let at = state.last.next();
        state.last = at;
        state.in_flight.insert(at);
        state.history[unit as usize].push((at, value));
        let editable_from = state.registered.last().map_or(CommitTimestamp::ZERO, |newest| newest.0.next());
        drop(state);
        // SAFETY: incremented under the mutex; above every registered timestamp, and a reader that
        // registers from now on gets this stamp or a later one and waits until it is applied.
        let stamp = unsafe { Stamp::new(at, editable_from) };
        self.engine.apply(locks, stamp.into(), staged);
        self.state.lock().in_flight.remove(&at);
        self.applied.notify_all();
    }

    /// Opens a snapshot of the newest stamp once everything up to it is applied.
    #[must_use]
    pub fn open(self: &Arc<Self>) -> Snapshot<T> {
        let mut state = self.state.lock();
        let at = state.last;
        state.registrations += 1;
        let registration = (at, state.registrations);
        state.registered.insert(registration);
        while state.in_flight.first().is_some_and(|first| *first <= at) {
            state = self.applied.wait(state);
        }
        let expected = state.history.iter().map(|history| value_at(history, at)).collect();
        drop(state);
        // SAFETY: registered above and until the snapshot is dropped; everything up to `at` is
        // applied.
        let token = unsafe { Registered::new(at, self.counts()) };
        Snapshot { graph: Arc::clone(self), token, registration, expected }
    }

    /// Makes the newest state durable, if the store owns files.
    pub fn flush(self: &Arc<Self>) {
        if let Some(durable) = T::DURABLE(&self.engine) {
            let snapshot = self.open();
            durable.begin_flush(&snapshot.token);
            durable.flush(&snapshot.token, &self.live(), &[]).expect("no file fails");
            assert_eq!(durable.durable_through(), snapshot.token.at());
        }
    }

    /// Archives the newest state, in an engine that archives, and frees all garbage.
    pub fn reclaim(self: &Arc<Self>) {
        self.open().archive(false);
        let units = |unit, work: &mut dyn FnMut(&HeldLocks<'_>)| self.try_with(unit, work);
        self.engine.maintain(&self.live(), &units, usize::MAX).expect("no file fails");
    }

    /// Returns the timestamps of the open snapshots.
    fn live(&self) -> LiveTimestamps {
        let state = self.state.lock();
        let mut live: Vec<CommitTimestamp> = state.registered.iter().map(|(at, _)| *at).collect();
        live.dedup();
        // SAFETY: contains all registered timestamps, and a reader that registers from now on gets
        // `last` or later.
        unsafe { LiveTimestamps::as_of(live, state.last) }
    }

    /// Checks that everything superseded can be freed once there are no readers.
    pub fn assert_reclaims_to_nothing(self: &Arc<Self>) {
        self.reclaim();
        assert_eq!(self.engine.memory().retained_bytes, 0);
        assert!(T::RETAINED(&self.engine, &|unit, work| self.try_with(unit, work)).is_empty());
    }

    fn counts(&self) -> Counts {
        let vertex_bound = self.locks.len() as u32 * T::UNIT_SIZE;
        Counts { vertex_bound, ..Counts::default() }
    }
}

/// A registered timestamp, and its expected values.
pub struct Snapshot<T: Tested> {
    graph: Arc<Graph<T>>,
    token: Registered,
    registration: (CommitTimestamp, u64),
    expected: Vec<Option<u32>>,
}

impl<T: Tested> Snapshot<T> {
    /// Archives this state, in an engine that archives; returns true if it is archived.
    pub fn archive(&self, waits: bool) -> bool {
        let archive = |archiving: &dyn Archiving| archiving.archive(&self.token, &self.graph.live(), waits);
        T::ARCHIVING(&self.graph.engine).is_some_and(|archiving| archive(archiving).expect("no file fails"))
    }

    /// Reads every unit `times` times.
    pub fn read(&self, times: usize) {
        for _ in 0..times {
            let state = self.graph.engine.open_snapshot(&self.token).unwrap();
            let view = self.graph.engine.view(&state, &self.token);
            if self.graph.has_records {
                self.check_records(&view);
                continue;
            }
            let adjacency = view.adjacency::<u32>(LabelId::DEFAULT, Direction::Out).expect("the one label");
            let mut cursor = adjacency.cursor();
            for (unit, expected) in (0..).zip(&self.expected) {
                let value = cursor.find(self.graph.owner(unit), VertexId::new(0));
                assert_eq!(value.ok(), Some(*expected), "unit {unit} at {}", self.token.at());
                // Engines may count degrees without reading rows.
                let degree = cursor.degree(self.graph.owner(unit));
                let count = usize::from(expected.is_some());
                assert_eq!(degree.ok(), Some(count), "degree of unit {unit} at {}", self.token.at());
            }
        }
    }
}

impl<T: Tested> Snapshot<T> {
    /// Reads the records of every unit. Each must stay as it is until the cursor is called again.
    fn check_records(&self, view: &impl GraphView) {
        let mut cursor = view.edge_records(LabelId::DEFAULT, Direction::Out).expect("the one label");
        for (unit, expected) in (0..).zip(&self.expected) {
            let found = cursor.find(self.graph.owner(unit), VertexId::new(0)).expect("no file fails");
            let expected = expected.map(record_of);
            assert!(found == expected.as_deref(), "unit {unit} at {}: {found:?}", self.token.at());
            thread::yield_now();
            assert!(found == expected.as_deref(), "unit {unit} at {}, later: {found:?}", self.token.at());
        }
    }
}

impl<T: Tested> Drop for Snapshot<T> {
    fn drop(&mut self) {
        self.graph.state.lock().registered.remove(&self.registration);
    }
}

impl<T: Tested> Graph<T> {
    /// Runs `work` under the lock of a unit if it is free.
    fn try_with(&self, unit: LockUnit, work: &mut dyn FnMut(&HeldLocks<'_>)) -> bool {
        let lock = &self.locks[unit.0 as usize];
        if !lock.try_lock() {
            return false;
        }
        let stripes = [unit.0];
        // SAFETY: locked above, until after the work.
        work(&unsafe { HeldLocks::stripes(&stripes, u32::MAX, self.counts()) });
        // SAFETY: locked above.
        unsafe { lock.unlock() };
        true
    }
}

/// Returns the last value written up to a timestamp.
fn value_at(history: &[(CommitTimestamp, Option<u32>)], at: CommitTimestamp) -> Option<u32> {
    history.iter().rev().find(|(stamp, _)| *stamp <= at).and_then(|(_, value)| *value)
}

/// Returns the record for a value: too long for an engine to keep a copy with the edge.
fn record_of(value: u32) -> Vec<u8> {
    encode_record(&Record::new(vec![Value::Bytes(vec![value as u8; 300].into())]))
}

/// One label.
fn catalog(edges: EdgeSchema) -> Catalog {
    let label = LabelSchema { name: "value".to_owned(), edges };
    Catalog::new(vec![label], RecordSchema::default()).expect("one label")
}

/// Runs `work` on a new thread.
pub fn spawn<T: Tested>(
    graph: &Arc<Graph<T>>,
    work: impl FnOnce(&Arc<Graph<T>>) + Send + 'static,
) -> JoinHandle<()> {
    let graph = Arc::clone(graph);
    thread::spawn(move || work(&graph))
}

/// Waits for threads, then checks that all their garbage can be freed.
pub fn join<T: Tested>(graph: &Arc<Graph<T>>, threads: Vec<JoinHandle<()>>) {
    threads.into_iter().for_each(|thread| thread.join().expect("no thread panics"));
    graph.assert_reclaims_to_nothing();
}

/// Four writers, two of which share a unit, three readers and a reclamation, each of 3,000 steps.
/// The thread that reclaims also flushes, if the store owns files.
pub fn readers_see_whole_prefixes_beside_writers_and_reclaimers<T: Tested>() {
    let graph = Graph::<T>::new(3);
    let mut threads = Vec::new();
    for unit in [0, 1, 2, 0] {
        threads.push(spawn(&graph, move |graph| graph.write(unit, 0..3000)));
    }
    for _ in 0..3 {
        threads.push(spawn(&graph, |graph| (0..3000).for_each(|_| graph.open().read(3))));
    }
    let work = |graph: &Arc<Graph<T>>| {
        for _ in 0..3000 {
            graph.flush();
            graph.reclaim();
        }
    };
    threads.push(spawn(&graph, work));
    join(&graph, threads);
}
