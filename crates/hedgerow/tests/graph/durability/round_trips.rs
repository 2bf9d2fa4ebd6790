//! Committed changes come back, on every engine, from log, checkpoint or both.

use crate::oracle::{ENGINES, Oracle, RECORDS, Stream, domain, operation, options, stage};
use hedgerow::{
    AsOf, CheckpointOptions, CommitTimestamp, Durability, EngineKind, ErrorKind, Graph, GraphOptions, Key,
    KeyKind, LabelId, ReadGraph, Snapshot, Topology, VertexId, WriteGraph,
};
use hedgerow_model::Operation;
use hedgerow_testing::cases::one_case_in;
use hedgerow_testing::simulated::{SimulatedFiles, Survival};
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::sync::Arc;

const TOPOLOGIES: [Topology; 3] = [Topology::Directed, Topology::DirectedWithReverse, Topology::Undirected];
const KEY_KINDS: [KeyKind; 3] = [KeyKind::Number, KeyKind::String, KeyKind::Dense];
const DURABILITIES: [Durability; 3] = [Durability::Sync, Durability::Buffered, Durability::None];

/// The random numbers that determine an operation.
type Draw = (u8, u16, u16, u32);

#[derive(Clone, Debug)]
enum Step {
    Transaction(Vec<Draw>, bool),
    /// Edges of one label as one commit, with the position of an importer.
    Ingest(Vec<(u16, u16)>, Option<u8>),
    /// Edges of the default label, one commit per edge.
    Each(Vec<(u16, u16)>),
    Open,
    Close(usize),
    Reclaim,
    Flush,
    Checkpoint,
    /// The graph is closed, dropped, or loses power behind the last flush. Another engine opens it.
    Reopen(End, usize),
}

#[derive(Clone, Copy, Debug)]
enum End {
    Close,
    Drop,
    LosePower,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let draws = || prop::collection::vec(any::<Draw>(), 1..6);
    let edges = |most| prop::collection::vec(any::<(u16, u16)>(), 0..most);
    let end = prop_oneof![Just(End::Close), Just(End::Drop), Just(End::LosePower)];
    let step = prop_oneof![
        8 => (draws(), prop::bool::weighted(0.9)).prop_map(|(draws, end)| Step::Transaction(draws, end)),
        2 => (edges(40), any::<Option<u8>>()).prop_map(|(edges, input)| Step::Ingest(edges, input)),
        2 => edges(40).prop_map(Step::Each),
        1 => Just(Step::Open),
        1 => any::<usize>().prop_map(Step::Close),
        1 => Just(Step::Reclaim),
        1 => Just(Step::Flush),
        2 => Just(Step::Checkpoint),
        3 => (end, any::<usize>()).prop_map(|(end, engine)| Step::Reopen(end, engine)),
    ];
    prop::collection::vec(step, 1..40)
}

struct Run {
    files: SimulatedFiles,
    graph: Option<Graph>,
    options: hedgerow::GraphOptions,
    oracle: Oracle,
    input: Option<Box<[u8]>>,
    keys: Vec<Key>,
    open: Vec<(Snapshot, Oracle)>,
    /// States since the newest checkpoint. The first is the state of the checkpoint, or before all
    /// commits.
    past: Vec<(CommitTimestamp, Oracle)>,
}

impl Run {
    fn new(engine: EngineKind, topology: Topology, kind: KeyKind, durability: Durability) -> Self {
        let files = SimulatedFiles::new(1);
        let options = options(topology, kind)
            .engine(engine)
            .durability(durability)
            .segment_bytes(1000)
            .buffer_bytes(300)
            .unsynced_bytes(700)
            .simulated();
        let graph = options.create_on(Arc::new(files.clone())).unwrap();
        let (oracle, keys) = (Oracle::new(topology), domain(kind, 11));
        let past = vec![(CommitTimestamp::ZERO, oracle.clone())];
        Run { files, graph: Some(graph), options, oracle, input: None, keys, open: Vec::new(), past }
    }

    fn graph(&self) -> &Graph {
        self.graph.as_ref().unwrap()
    }

    fn step(&mut self, step: &Step) {
        match step {
            Step::Transaction(draws, committed) => self.transaction(draws, *committed),
            Step::Ingest(edges, input) => self.ingest(edges, input.as_ref().map(std::slice::from_ref)),
            Step::Each(edges) => self.each(edges),
            Step::Open => self.open.push((self.graph().snapshot().unwrap(), self.oracle.clone())),
            Step::Close(choice) if !self.open.is_empty() => {
                let position = choice % self.open.len();
                let (snapshot, oracle) = self.open.swap_remove(position);
                oracle.check(&snapshot, &self.keys);
            }
            Step::Close(_) => {}
            Step::Reclaim => assert!(!self.graph().reclaim().unwrap().more),
            Step::Flush => self.graph().flush().unwrap(),
            Step::Checkpoint => self.checkpoint(),
            Step::Reopen(end, engine) => self.reopen(*end, ENGINES[engine % ENGINES.len()]),
        }
        let newest = self.graph().snapshot().unwrap();
        self.oracle.check(&newest, &self.keys);
        assert_eq!(self.graph().input_position(), self.input);
        if self.past.last().is_none_or(|(last, _)| *last < newest.timestamp()) {
            self.past.push((newest.timestamp(), self.oracle.clone()));
        }
    }

    fn transaction(&mut self, draws: &[Draw], committed: bool) {
        let transaction = self.graph().begin().unwrap();
        let mut mine = self.oracle.clone();
        for draw in draws {
            let operation = operation(&self.keys, *draw);
            stage(&transaction, &operation).unwrap();
            mine.apply(&operation);
        }
        if committed {
            transaction.commit().unwrap();
            self.oracle = mine;
        }
    }

    fn pairs(&self, edges: &[(u16, u16)]) -> Vec<(Key, Key)> {
        let key = |number: u16| self.keys[usize::from(number) % self.keys.len()].clone();
        edges.iter().map(|(source, destination)| (key(*source), key(*destination))).collect()
    }

    fn put(&mut self, (source, destination): &(Key, Key), label: LabelId, value: hedgerow_model::EdgeValue) {
        let (source, destination) = (source.clone(), destination.clone());
        self.oracle.apply(&Operation::PutEdge { label, source, destination, value });
    }

    fn ingest(&mut self, edges: &[(u16, u16)], input: Option<&[u8]>) {
        use hedgerow::Column;
        let (label, pairs) = (LabelId(1), self.pairs(edges));
        let valued = (0..).zip(&pairs).map(|(value, (s, d))| (s.clone(), d.clone(), f64::from(value)));
        let valued: Vec<(Key, Key, f64)> = valued.collect();
        match input {
            Some(input) => {
                let before = self.graph().snapshot().unwrap().timestamp();
                let commit = self.graph().ingest_from(label, &valued, input).unwrap();
                assert!(
                    commit.changed != Some(false) && commit.at == before.next(),
                    "there is a commit in any case"
                );
                self.input = Some(input.into());
            }
            None => drop(self.graph().ingest(label, &valued).unwrap()),
        }
        for (value, pair) in (0..).zip(&pairs) {
            self.put(pair, label, Column::to_bits(f64::from(value)));
        }
    }

    fn each(&mut self, edges: &[(u16, u16)]) {
        let label = [LabelId(0), RECORDS][edges.len() % 2];
        let numbered = self.pairs(edges).into_iter().zip(0..);
        let edges =
            numbered.map(|((source, destination), number)| (source, destination, number % 4)).collect();
        let stream = Stream { label, deletes: false, edges };
        let before = self.graph().snapshot().unwrap().timestamp();
        let commits = stream.run(self.graph()).unwrap();
        assert_eq!(commits.committed, stream.edges.len());
        let after = self.graph().snapshot().unwrap().timestamp();
        assert_eq!(after.0, before.0 + commits.changed.at_most());
        stream.operations().for_each(|operation| self.oracle.apply(&operation));
    }

    fn checkpoint(&mut self) {
        let report = self.graph().checkpoint(&CheckpointOptions::new()).unwrap();
        assert_eq!(report.vertices, self.oracle.vertices.len() as u64);
        assert_eq!(report.edges, self.oracle.each_edge().len() as u64);
        let info = self.graph().store_info().unwrap();
        let entry = info.checkpoint.unwrap();
        assert_eq!((entry.number, entry.at, entry.length), (report.number, report.timestamp, report.bytes));
        assert!(info.durable >= entry.at);
        let read_only = GraphOptions::new().from_checkpoint().open_on(Arc::new(self.files.clone())).unwrap();
        self.oracle.check(&read_only.snapshot().unwrap(), &self.keys);
        self.past = vec![(report.timestamp, self.oracle.clone())];
    }

    /// Checks that some of the states since the checkpoint can be read, but none before it or in
    /// the future. No process has the store open.
    fn check_past(&self) {
        let at = |at: u64| {
            let files = Arc::new(self.files.clone());
            self.options.clone().as_of(AsOf::Commit(CommitTimestamp(at))).open_on(files)
        };
        for (state, oracle) in self.past.iter().step_by(1 + self.past.len() / 3) {
            let graph = at(state.0).unwrap();
            let snapshot = graph.snapshot().unwrap();
            assert_eq!(snapshot.timestamp(), *state);
            oracle.check(&snapshot, &self.keys);
            let refused = graph.put_edge(LabelId::DEFAULT, &self.keys[0], &self.keys[0]).unwrap_err();
            assert_eq!(refused.kind(), ErrorKind::ReadOnly);
        }
        let (first, last) = (self.past[0].0.0, self.past[self.past.len() - 1].0.0);
        let missing = first.checked_sub(1).into_iter().chain([last + 1]);
        missing.for_each(|missing| assert_eq!(at(missing).unwrap_err().kind(), ErrorKind::NotFound));
    }

    fn reopen(&mut self, end: End, engine: EngineKind) {
        self.open.clear();
        let graph = self.graph.take().unwrap();
        let before = Identity::of(&graph.snapshot().unwrap());
        match end {
            End::Close => {
                graph.close().unwrap();
                let refused = graph.put_edge(LabelId::DEFAULT, &self.keys[0], &self.keys[0]).unwrap_err();
                assert_eq!(refused.kind(), ErrorKind::Closed);
                self.oracle.check(&graph.snapshot().unwrap(), &self.keys);
            }
            End::Drop => {}
            End::LosePower => {
                graph.flush().unwrap();
                self.files = self.files.after_crash(Survival::Nothing, 1);
            }
        }
        drop(graph);
        if matches!(end, End::Close) {
            self.check_past();
        }
        let options = self.options.clone().engine(engine);
        let graph = options.open_on(Arc::new(self.files.clone())).unwrap();
        let recovery = graph.recovery().unwrap();
        assert_eq!((recovery.last, &recovery.torn), (before.timestamp, &None));
        assert_eq!(Identity::of(&graph.snapshot().unwrap()), before);
        assert_eq!(graph.store_info().unwrap().engine, engine);
        self.graph = Some(graph);
    }

    fn finish(mut self) {
        self.reopen(End::Close, EngineKind::Rapid);
        self.oracle.check(&self.graph().snapshot().unwrap(), &self.keys);
        let report = hedgerow::store::check_on(&(Arc::new(self.files.clone()) as _)).unwrap();
        assert!(report.problems.is_empty(), "{:?}", report.problems);
        // New keys get exactly the free ids.
        let snapshot = self.graph().snapshot().unwrap();
        let free = u64::from(snapshot.vertex_bound()) - snapshot.vertex_count();
        if self.graph().key_kind() == KeyKind::Number {
            for new in 0..free {
                self.graph().add_vertex(1_000_000 + new).unwrap();
            }
            let full = self.graph().snapshot().unwrap();
            assert_eq!(u64::from(full.vertex_bound()), full.vertex_count());
        }
        assert!(!self.graph().reclaim().unwrap().more);
    }
}

/// The part of a state that is not in the oracle.
#[derive(Debug, PartialEq)]
struct Identity {
    timestamp: CommitTimestamp,
    bound: u32,
    ids: BTreeMap<VertexId, Key>,
}

impl Identity {
    fn of(snapshot: &Snapshot) -> Self {
        let mut ids = BTreeMap::new();
        snapshot.for_each_vertex(|id, key| assert!(ids.insert(id, key).is_none())).unwrap();
        Identity { timestamp: snapshot.timestamp(), bound: snapshot.vertex_bound(), ids }
    }
}

proptest! {
    #![proptest_config(one_case_in(4))]
    #[test]
    fn graphs_come_back_as_they_were(
        steps in steps(), topology in 0..3usize, kind in 0..3usize, durability in 0..3usize,
    ) {
        for engine in ENGINES {
            let mut run = Run::new(engine, TOPOLOGIES[topology], KEY_KINDS[kind], DURABILITIES[durability]);
            steps.iter().for_each(|step| run.step(step));
            run.finish();
        }
    }
}

/// Commits that are replayed together keep only the last change of a thing, but ids once given stay
/// taken.
#[test]
fn a_vertex_that_came_and_went_leaves_its_id_behind() {
    for engine in ENGINES {
        let files = SimulatedFiles::new(1);
        let options = options(Topology::Directed, KeyKind::Number).engine(engine).simulated();
        let graph = options.create_on(Arc::new(files.clone())).unwrap();
        graph.put_edge(LabelId::DEFAULT, 10, 20).unwrap();
        graph.put_edge(LabelId::DEFAULT, 20, 30).unwrap();
        graph.delete_vertex(30).unwrap();
        graph.put_edge(LabelId::DEFAULT, 20, 10).unwrap();
        graph.delete_edge(LabelId::DEFAULT, 20, 10).unwrap();
        let before = Identity::of(&graph.snapshot().unwrap());
        assert_eq!((before.bound, before.ids.len()), (3, 2));
        drop(graph);
        let graph = options.open_on(Arc::new(files)).unwrap();
        let snapshot = graph.snapshot().unwrap();
        assert_eq!(Identity::of(&snapshot), before);
        assert_eq!(
            (snapshot.edge_count().at_most(), snapshot.contains_edge(LabelId::DEFAULT, 10, 20).unwrap()),
            (1, true)
        );
    }
}

/// A checkpoint without vertices still has the ids that were given.
#[test]
fn a_checkpoint_of_a_graph_without_vertices_keeps_their_ids() {
    for engine in ENGINES {
        let files = SimulatedFiles::new(1);
        let options = options(Topology::Directed, KeyKind::Dense).engine(engine).simulated();
        let graph = options.create_on(Arc::new(files.clone())).unwrap();
        graph.add_vertex(128).unwrap();
        graph.delete_vertex(128).unwrap();
        graph.checkpoint(&CheckpointOptions::new()).unwrap();
        let before = Identity::of(&graph.snapshot().unwrap());
        assert_eq!((before.bound, before.ids.len()), (129, 0));
        drop(graph);
        let graph = options.open_on(Arc::new(files)).unwrap();
        assert_eq!(Identity::of(&graph.snapshot().unwrap()), before);
    }
}

/// Every engine loads the stores of every other one, large enough for several chunks and several
/// threads.
#[test]
fn a_large_checkpoint_is_loaded_by_every_engine() {
    for topology in TOPOLOGIES {
        let files = SimulatedFiles::new(1);
        let options = options(topology, KeyKind::Number).threads(2).segment_bytes(1 << 20).simulated();
        let graph = options.create_on(Arc::new(files.clone())).unwrap();
        let edge = |number: u64| (number % 5_000 * 3, number * number % 70_001, number as f64);
        let edges: Vec<(u64, u64, f64)> = (0..200_000).map(edge).collect();
        graph.ingest(LabelId(1), &edges).unwrap();
        for number in 0..100u64 {
            graph.delete_vertex(number * 3).unwrap();
        }
        let expected = edges_of(&graph.snapshot().unwrap());
        let mut graph = Some(graph);
        for engine in ENGINES {
            let before = graph.take().unwrap();
            let report = before.checkpoint(&CheckpointOptions::new()).unwrap();
            assert_eq!(report.edges, before.snapshot().unwrap().edge_count().at_most());
            before.put_edge(LabelId::DEFAULT, 1u64, 2u64).unwrap();
            before.delete_edge(LabelId::DEFAULT, 1u64, 2u64).unwrap();
            drop(before);
            let opened = options.clone().engine(engine).open_on(Arc::new(files.clone())).unwrap();
            assert!(edges_of(&opened.snapshot().unwrap()) == expected, "{engine:?} {topology:?}");
            assert_eq!(opened.recovery().unwrap().checkpoint, Some(report.timestamp));
            graph = Some(opened);
        }
    }
}

fn edges_of(snapshot: &Snapshot) -> Vec<(Key, Vec<(Key, f64)>)> {
    let mut edges = Vec::new();
    let direction = hedgerow::Direction::Out;
    snapshot
        .for_each_vertex(|_, key| {
            // Some engines do not sort neighbors.
            let mut neighbors = snapshot.edges::<f64>((LabelId(1), direction), &key).unwrap();
            neighbors.sort_by(|one, other| one.0.cmp(&other.0));
            edges.push((key, neighbors));
        })
        .unwrap();
    edges
}
