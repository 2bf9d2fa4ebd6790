//! Writers, readers and a reclamation on a few partitions, with a small sequencer between them.
//!
//! The same code runs on threads of the operating system and under the model checker. The sequencer keeps
//! the promises of the tokens and nothing more, so that the store has to do with those.

use hedgerow_model::token::{HeldLocks, LiveTimestamps, Registered, Stamp};
use hedgerow_model::{
    Adjacency, AdjacencyEffects, Catalogue, Column, ColumnType, Counts, Cursor, Direction, EdgeChange,
    EdgeSchema, Effects, Engine, GraphView, LabelId, LabelSchema, LockUnit, Prepared, RecordSchema,
    Timestamp, Topology, UnitLocks, VertexId,
};
use hedgerow_rapid::{PARTITION_SIZE, Rapid, RapidChanges, RapidOptions};
use hedgerow_sync::thread::{self, JoinHandle};
use hedgerow_sync::{Arc, Condvar, Mutex, RawLock};
use std::collections::BTreeSet;

/// Writers, each with a partition of its own except where they share.
pub struct Graph {
    engine: Rapid,
    locks: Vec<RawLock>,
    state: Mutex<State>,
    applied: Condvar,
}

#[derive(Default)]
struct State {
    last: Timestamp,
    in_flight: BTreeSet<Timestamp>,
    /// Registered timestamps, with a number to tell equal ones apart.
    registered: BTreeSet<(Timestamp, u64)>,
    registrations: u64,
    /// Per partition: the stamps of its commits and the values that they wrote.
    history: Vec<Vec<(Timestamp, u32)>>,
}

impl Graph {
    pub fn new(partitions: u32) -> Arc<Self> {
        let edges = EdgeSchema::Value(ColumnType::U32);
        let label = LabelSchema { name: "value".to_owned(), edges };
        let catalogue = Catalogue::new(vec![label], RecordSchema::default()).expect("one label");
        let options = RapidOptions { topology: Topology::Directed, catalogue, memory_limit: None };
        let history = vec![Vec::new(); partitions as usize];
        Arc::new(Graph {
            engine: Rapid::new(options).expect("one value per edge"),
            locks: (0..partitions).map(|_| RawLock::default()).collect(),
            state: Mutex::new(State { history, ..State::default() }),
            applied: Condvar::new(),
        })
    }

    /// Commits `values` one after the other to the one edge of a partition.
    pub fn write(&self, partition: u32, values: impl IntoIterator<Item = u32>) {
        for value in values {
            self.locks[partition as usize].lock();
            self.commit(partition, value);
            // SAFETY: locked above; the commit is applied.
            unsafe { self.locks[partition as usize].unlock() };
        }
    }

    fn commit(&self, partition: u32, value: u32) {
        let stripes = [partition];
        // SAFETY: the caller holds the lock of the partition until this returns.
        let locks = unsafe { HeldLocks::stripes(&stripes, u32::MAX, self.counts()) };
        let change =
            EdgeChange { owner: owner(partition), neighbour: VertexId::new(0), value: Some(value.to_bits()) };
        let changes = std::iter::once(change).collect();
        let adjacency = AdjacencyEffects { label: LabelId::DEFAULT, direction: Direction::Out, changes };
        let effects = Effects { vertices: Vec::new(), adjacencies: std::iter::once(adjacency).collect() };
        let prepared = self.engine.prepare(&locks, &effects, None).expect("there is no limit");
        self.stamp_and_apply(partition, value, prepared);
    }

    fn stamp_and_apply(&self, partition: u32, value: u32, prepared: Prepared<RapidChanges<'_>>) {
        let mut state = self.state.lock();
        let at = state.last.next();
        state.last = at;
        state.in_flight.insert(at);
        state.history[partition as usize].push((at, value));
        let editable_from = state.registered.last().map_or(Timestamp::ZERO, |newest| newest.0.next());
        drop(state);
        // SAFETY: counted up under the mutex; above what is registered, and whoever registers from
        // now on has this stamp or a later one and waits until it is applied.
        let stamp = unsafe { Stamp::new(at, editable_from) };
        self.engine.apply(stamp, prepared.changes);
        self.state.lock().in_flight.remove(&at);
        self.applied.notify_all();
    }

    /// Opens a snapshot of the newest stamp once everything up to it is applied.
    pub fn open(self: &Arc<Self>) -> Snapshot {
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
        // SAFETY: registered above and until the snapshot is dropped; everything up to `at` is applied.
        let token = unsafe { Registered::new(at, self.counts()) };
        Snapshot { graph: Arc::clone(self), token, registration, expected }
    }

    /// Frees what nobody sees.
    pub fn reclaim(&self) {
        let state = self.state.lock();
        let mut live: Vec<Timestamp> = state.registered.iter().map(|(at, _)| *at).collect();
        live.dedup();
        // SAFETY: all that is registered, and whoever registers from now on has `last` or later.
        let live = unsafe { LiveTimestamps::as_of(live, state.last) };
        drop(state);
        self.engine.reclaim(&live, self, usize::MAX);
    }

    /// Nobody reads any more: everything superseded can be freed.
    pub fn assert_reclaims_to_nothing(&self) {
        self.reclaim();
        assert_eq!(self.engine.memory().retained_bytes, 0);
        assert!(self.engine.retained(self).is_empty());
    }

    fn counts(&self) -> Counts {
        let vertex_bound = (self.locks.len() * PARTITION_SIZE) as u32;
        Counts { vertex_bound, ..Counts::default() }
    }
}

/// A registered timestamp, and the values that it has to show.
pub struct Snapshot {
    graph: Arc<Graph>,
    token: Registered,
    registration: (Timestamp, u64),
    expected: Vec<Option<u32>>,
}

impl Snapshot {
    /// Reads every partition, as often as asked.
    pub fn read(&self, times: usize) {
        for _ in 0..times {
            let view = self.graph.engine.view(&self.token);
            let adjacency = view.adjacency::<u32>(LabelId::DEFAULT, Direction::Out).expect("the one label");
            let mut cursor = adjacency.cursor();
            for (partition, expected) in (0..).zip(&self.expected) {
                let Ok(value) = cursor.find(owner(partition), VertexId::new(0));
                assert_eq!(value, *expected, "partition {partition} at {}", self.token.at());
            }
        }
    }
}

impl Drop for Snapshot {
    fn drop(&mut self) {
        self.graph.state.lock().registered.remove(&self.registration);
    }
}

impl UnitLocks for Graph {
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

/// The last value that was written up to a timestamp.
fn value_at(history: &[(Timestamp, u32)], at: Timestamp) -> Option<u32> {
    history.iter().rev().find(|(stamp, _)| *stamp <= at).map(|(_, value)| *value)
}

/// The vertex that has the edge of a partition.
fn owner(partition: u32) -> VertexId {
    VertexId::new(partition * PARTITION_SIZE as u32)
}

/// Runs `work` on a thread of its own.
pub fn spawn(graph: &Arc<Graph>, work: impl FnOnce(&Arc<Graph>) + Send + 'static) -> JoinHandle<()> {
    let graph = Arc::clone(graph);
    thread::spawn(move || work(&graph))
}

/// Waits for threads, then checks that all their garbage can go.
pub fn join(graph: &Graph, threads: Vec<JoinHandle<()>>) {
    threads.into_iter().for_each(|thread| thread.join().expect("no thread panics"));
    graph.assert_reclaims_to_nothing();
}
