//! Named cases of parallel edges, which an engine stores as one list per pair of vertices: a commit
//! contains differences of the list.

use crate::Tested;
use crate::check::read;
use crate::pipeline::{count, unit_locks};
use crate::records::content;
use hedgerow_encoding::{EdgeListWriter, list_as_record};
use hedgerow_model::token::{HeldLocks, LiveTimestamps, Registered, Stamp};
use hedgerow_model::{
    Adjacency, AdjacencyEffects, Allowance, Catalog, CommitTimestamp, Counts, Cursor, Direction, EdgeChange,
    EdgeSchema, Effects, Engine, EngineError, GraphView, LabelId, LabelSchema, ParallelEdges, ParallelSchema,
    Record, RecordCursor, RecordSchema, Topology, VertexChange, VertexEffect, VertexId,
};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use std::collections::BTreeMap;
use std::ops::ControlFlow;

/// The edges from one vertex to another: the number of the record of each, by its key.
type Edges = BTreeMap<u64, u32>;

/// All edges, by their canonical ends.
type Model = BTreeMap<(u32, u32), Edges>;

/// The label with parallel edges.
pub const LABEL: LabelId = LabelId(1);

/// One label of plain edges, one of parallel ones.
#[must_use]
pub fn catalog() -> Catalog {
    let schema = ParallelSchema { key: "number".to_owned(), record: RecordSchema::default() };
    let labels = [("plain", EdgeSchema::Topology), ("parallel", EdgeSchema::Parallel(schema))];
    let labels = labels.map(|(name, edges)| LabelSchema { name: name.to_owned(), edges });
    Catalog::new(labels.to_vec(), RecordSchema::default()).unwrap()
}

/// Changes of the edges of one pair by their keys; `None` instead of changes deletes all edges.
pub type PairChange = ((u32, u32), Option<Vec<(u64, Option<u32>)>>);

/// A store, and its expected contents.
pub struct ParallelGraph<T: Tested> {
    /// The store.
    pub engine: T::Engine,
    topology: Topology,
    model: Model,
    last: CommitTimestamp,
    counts: Counts,
}

impl<T: Tested> ParallelGraph<T> {
    /// Wraps an empty store of [`catalog`].
    pub fn new(engine: T::Engine, topology: Topology) -> Self {
        ParallelGraph {
            engine,
            topology,
            model: Model::new(),
            last: CommitTimestamp::ZERO,
            counts: Counts::default(),
        }
    }

    /// Commits changes of pairs of vertices, and checks the engine's counts.
    ///
    /// # Errors
    /// The store could not be read or written; nothing has changed.
    pub fn commit(&mut self, pairs: &[PairChange]) -> Result<(), hedgerow_model::EngineError> {
        let (mut model, mut effects) = (self.model.clone(), Effects::default());
        let mut tables = BTreeMap::<Direction, BTreeMap<(u32, u32), _>>::new();
        let mut vertices = BTreeMap::new();
        for ((source, destination), changes) in pairs {
            let ends = [*source, *destination].map(VertexId::new);
            let (one, other) = self.topology.canonical(ends[0], ends[1]);
            let edges = model.entry((one.get(), other.get())).or_default();
            let value = changes.as_ref().map(|changes| {
                let mut list = EdgeListWriter::default();
                for (key, record) in changes {
                    list.push(*key, record.map(content).as_deref());
                    match record {
                        Some(record) => edges.insert(*key, *record),
                        None => edges.remove(key),
                    };
                }
                effects.records.push(&list_as_record(&list.into_bytes()))
            });
            if changes.is_none() {
                edges.clear();
            }
            for (direction, owner, neighbor) in self.topology.entries(one, other) {
                tables.entry(direction).or_default().insert((owner.get(), neighbor.get()), value);
            }
            vertices.extend(ends.map(|end| (end, VertexChange::Put(Record::EMPTY))));
        }
        model.retain(|_, edges| !edges.is_empty());
        effects.vertices =
            vertices.into_iter().map(|(vertex, change)| VertexEffect { vertex, change }).collect();
        let change = |((owner, neighbor), value)| {
            let [owner, neighbor] = [owner, neighbor].map(VertexId::new);
            EdgeChange::new(owner, neighbor, value)
        };
        effects.adjacencies = tables
            .into_iter()
            .map(|(direction, changes)| AdjacencyEffects {
                label: LABEL,
                direction,
                changes: changes.into_iter().map(change).collect(),
            })
            .collect();
        self.apply(&effects, model)
    }

    fn apply(&mut self, effects: &Effects, model: Model) -> Result<(), hedgerow_model::EngineError> {
        // SAFETY: there is one thread, and it reads nothing newest across a commit.
        let mut locks = unsafe { HeldLocks::all(self.counts.clone()) };
        let mut room = Default::default();
        let staged = self.engine.stage(&locks, effects.into(), &mut room, Allowance::UNLIMITED, None)?;
        let mut counts = self.counts.clone();
        count(&mut counts, &staged.outcome);
        let ends = effects.vertices.iter().map(|effect| effect.vertex.get() + 1);
        counts.vertex_bound = ends.chain([counts.vertex_bound]).max().unwrap_or(0);
        assert!(counts.edges_of(LABEL).may_be(model.len() as u64), "{counts:?}");
        assert_eq!(counts.parallel_of(LABEL), model.values().map(|edges| edges.len() as u64).sum::<u64>());
        // SAFETY: counted up on one thread, under every lock; nothing is edited in place.
        let stamp = unsafe { Stamp::new(self.last.next(), self.last.next()) };
        self.engine.apply(&mut locks, stamp.into(), staged.changes);
        (self.last, self.counts, self.model) = (stamp.at(), counts, model);
        Ok(())
    }

    /// Registers the newest timestamp.
    pub fn register(&self) -> Registered {
        // SAFETY: everything up to `last` is applied, and no stamp edits in place.
        unsafe { Registered::new(self.last, self.counts.clone()) }
    }

    /// Makes everything durable, if the engine owns files.
    ///
    /// # Errors
    /// A file could not be read or written.
    pub fn flush(&self) -> Result<(), EngineError> {
        let Some(durable) = T::DURABLE(&self.engine) else { return Ok(()) };
        // SAFETY: every timestamp from the first on counts as live.
        let live =
            unsafe { LiveTimestamps::as_of(Vec::new(), self.last) }.and_all_from(CommitTimestamp::ZERO);
        durable.flush(&self.register(), &live, &[])
    }

    /// Returns the counts of the engine.
    pub fn counts(&self) -> &Counts {
        &self.counts
    }

    fn reclaim(&self, live: &[&Registered]) {
        let live = live.iter().map(|token| token.at()).collect();
        // SAFETY: all registered timestamps are there, and the next will be `last` or above.
        let live = unsafe { LiveTimestamps::as_of(live, self.last) };
        self.engine.maintain(&live, &unit_locks(0, Counts::default()), usize::MAX).unwrap();
    }

    /// Checks the newest state.
    pub fn check_newest(&self) {
        // SAFETY: as in `apply`.
        let locks = unsafe { HeldLocks::all(self.counts.clone()) };
        check(&read(self.engine.latest(&locks)), &self.model, self.topology);
    }
}

/// Reads parallel edges by every method.
fn check<V: GraphView>(view: &V, model: &Model, topology: Topology) {
    assert_eq!(
        view.parallel_edge_count(LABEL).exact(),
        Some(model.values().map(|edges| edges.len() as u64).sum::<u64>())
    );
    for direction in topology.directions() {
        let mut rows = BTreeMap::<u32, BTreeMap<u32, Edges>>::new();
        for ((source, destination), edges) in model {
            for (stored, owner, other) in
                topology.entries(VertexId::new(*source), VertexId::new(*destination))
            {
                if stored == *direction {
                    rows.entry(owner.get()).or_default().insert(other.get(), edges.clone());
                }
            }
        }
        let adjacency = view.adjacency::<()>(LABEL, *direction).unwrap();
        let mut records = view.edge_records(LABEL, *direction).unwrap();
        let (mut scanned, mut lists) = (Vec::new(), Vec::new());
        let flow = read(records.scan(0..u32::MAX, |owner, other, record| {
            scanned.push((owner.get(), other.get(), record.to_vec()));
            ControlFlow::<()>::Continue(())
        }));
        assert!(flow.is_continue());
        scanned.sort();
        for vertex in 0..view.vertex_bound() + 1 {
            let row = rows.remove(&vertex).unwrap_or_default();
            let id = VertexId::new(vertex);
            assert_eq!(adjacency.cursor().degree(id), Ok(row.len()));
            let mut found = BTreeMap::new();
            let flow = read(records.parallel_neighbors(id, |other, edges| {
                found.insert(other.get(), read_all(edges));
                ControlFlow::<()>::Continue(())
            }));
            assert!(flow.is_continue());
            assert_eq!(found, row, "from {vertex}");
            for other in 0..view.vertex_bound() + 1 {
                let edges = read(records.find_parallel(id, VertexId::new(other)));
                assert_eq!(edges.map(read_all), row.get(&other).cloned(), "from {vertex} to {other}");
                if let (Some(edges), Some(expected)) = (edges, row.get(&other)) {
                    check_edges(edges, expected);
                }
            }
            lists.extend(
                row.into_iter().map(|(other, edges)| (vertex, other, list_as_record(&list_of(&edges)))),
            );
        }
        assert_eq!(scanned, lists);
    }
}

fn list_of(edges: &Edges) -> Vec<u8> {
    let mut list = EdgeListWriter::default();
    edges.iter().for_each(|(key, record)| list.push(*key, Some(&content(*record))));
    list.into_bytes()
}

/// Reads all edges, as the numbers of their records.
fn read_all<'c>(edges: impl ParallelEdges<'c>) -> Edges {
    let numbers: BTreeMap<Vec<u8>, u32> = (0..RECORDS).map(|number| (content(number), number)).collect();
    let all: Vec<_> = edges.edges(0..=u64::MAX).map(read).collect();
    assert_eq!(edges.count(), Ok(all.len() as u64));
    all.into_iter().map(|(key, record)| (key, numbers[record])).collect()
}

/// Reads ranges of edges, and single edges.
fn check_edges<'c>(edges: impl ParallelEdges<'c>, expected: &Edges) {
    for key in expected.keys() {
        assert_eq!(
            edges.find(*key).unwrap().map(<[u8]>::to_vec),
            expected.get(key).map(|record| content(*record))
        );
        let from_there: Vec<u64> = edges.edges(*key..=u64::MAX).map(|edge| read(edge).0).collect();
        assert!(from_there.iter().eq(expected.range(key..).map(|(key, _)| key)));
    }
    assert_eq!(edges.find(u64::MAX - 1), Ok(None));
}

/// Number of distinct records.
const RECORDS: u32 = 40;

/// Puts, changes and deletes single edges between one pair, at both ends of it.
pub fn parallel_edges_are_changed_one_by_one<T: Tested>() {
    for topology in [Topology::Directed, Topology::DirectedWithReverse, Topology::Undirected] {
        let mut graph = ParallelGraph::<T>::new(T::engine(topology, catalog()), topology);
        let commits: [PairChange; 7] = [
            ((1, 2), Some(vec![(7, Some(1))])),
            ((2, 1), Some(vec![(3, Some(2)), (9, Some(3))])),
            ((1, 2), Some(vec![(3, None), (7, Some(4)), (8, None)])),
            ((1, 1), Some((0..RECORDS).map(|number| (u64::from(number) * 5, Some(number))).collect())),
            ((1, 2), Some(vec![(7, None), (9, None)])),
            ((1, 2), Some(vec![(7, None)])),
            ((1, 1), None),
        ];
        for pair in commits {
            graph.commit(&[pair]).unwrap();
            graph.check_newest();
        }
        graph.reclaim(&[]);
        graph.check_newest();
    }
}

/// Random changes of a few pairs, under snapshots that are closed in any order.
pub fn every_snapshot_keeps_its_parallel_edges<T: Tested>() {
    for seed in 0..12 {
        let mut random = StdRng::seed_from_u64(seed);
        let topology =
            [Topology::Directed, Topology::DirectedWithReverse, Topology::Undirected][seed as usize % 3];
        let mut graph = ParallelGraph::<T>::new(T::engine(topology, catalog()), topology);
        let mut snapshots = Vec::new();
        for _ in 0..30 {
            let pairs: BTreeMap<_, _> =
                (0..random.random_range(1..4)).map(|_| random_change(&mut random, topology)).collect();
            graph.commit(&pairs.into_iter().collect::<Vec<_>>()).unwrap();
            if random.random_bool(0.3) {
                let token = graph.register();
                let state = graph.engine.open_snapshot(&token).unwrap();
                snapshots.push((token, state, graph.model.clone()));
            }
            if random.random_bool(0.2) && !snapshots.is_empty() {
                snapshots.remove(random.random_range(0..snapshots.len()));
                graph.reclaim(&snapshots.iter().map(|(token, ..)| token).collect::<Vec<_>>());
            }
            if random.random_bool(0.2) {
                graph.flush().unwrap();
            }
        }
        graph.check_newest();
        for (token, state, model) in &snapshots {
            check(&graph.engine.view(state, token), model, topology);
        }
    }
}

/// Returns a change of a pair by its canonical ends.
fn random_change(random: &mut StdRng, topology: Topology) -> PairChange {
    let mut vertex = || VertexId::new(random.random_range(0..3));
    let (source, destination) = topology.canonical(vertex(), vertex());
    let ends = (source.get(), destination.get());
    if random.random_bool(0.1) {
        return (ends, None);
    }
    let mut change = |_| {
        let record = random.random_bool(0.7).then(|| random.random_range(0..RECORDS));
        (random.random_range(0..60_u64), record)
    };
    let changes: BTreeMap<_, _> = (0..12).map(&mut change).collect();
    (ends, Some(changes.into_iter().collect()))
}
