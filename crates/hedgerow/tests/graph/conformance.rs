//! Every engine against the oracle: random operations by the methods of the graph and in
//! transactions, streams, bulk ingest, and snapshots held across changes.

use crate::oracle::{
    ENGINES, Oracle, PARALLEL, RECORDS, Report, Stream, are_commits, as_values, by_key, commit, counts_later,
    domain, is_commit, is_count, operation, options, stage,
};
use hedgerow::{
    AsOf, Commit, CommitTimestamp, Commits, Count, Direction, EngineKind, ErrorKind, Graph, History, Key,
    KeyKind, LabelId, Newest, ReadGraph, Record, Snapshot, SnapshotOptions, Topology, Updated, Value,
    WriteGraph,
};
use hedgerow_model::Operation;
use hedgerow_testing::cases::one_case_in;
use proptest::prelude::*;
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::fmt::Debug;
use std::time::{Duration, Instant};

const TOPOLOGIES: [Topology; 3] = [Topology::Directed, Topology::DirectedWithReverse, Topology::Undirected];
const KEY_KINDS: [KeyKind; 3] = [KeyKind::Number, KeyKind::String, KeyKind::Dense];

const VIEWS: [SnapshotOptions; 3] =
    [SnapshotOptions::fresh(), SnapshotOptions::stale(), SnapshotOptions::private()];

/// The random numbers that determine an operation.
type Draw = (u8, u16, u16, u32);

#[derive(Clone, Debug)]
enum Step {
    /// One operation through the method of the graph that commits it.
    One(Draw),
    /// A stream of edges of one label, all put or all deleted.
    Stream(Vec<(u16, u16)>, u8, bool),
    /// A transaction, committed or dropped; its own reads are checked after each operation.
    Transaction(Vec<Draw>, bool),
    /// A transaction that declares its vertices.
    Declared(Vec<Draw>),
    /// Bulk ingest of edges of one label.
    Ingest(Vec<(u16, u16)>, u8),
    Open(SnapshotOptions),
    Close(usize),
    Reclaim,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let draw = || any::<Draw>();
    let step = prop_oneof![
        6 => draw().prop_map(Step::One),
        2 => (prop::collection::vec(any::<(u16, u16)>(), 0..24), 0..5u8, any::<bool>())
            .prop_map(|(edges, label, deletes)| Step::Stream(edges, label, deletes || label == 4)),
        3 => (prop::collection::vec(draw(), 0..12), any::<bool>()).prop_map(|(draws, end)| Step::Transaction(draws, end)),
        1 => prop::collection::vec(draw(), 0..12).prop_map(Step::Declared),
        2 => (prop::collection::vec(any::<(u16, u16)>(), 0..40), 0..4u8).prop_map(|(edges, label)| Step::Ingest(edges, label)),
        3 => prop::sample::select(VIEWS.to_vec()).prop_map(Step::Open),
        2 => any::<usize>().prop_map(Step::Close),
        1 => Just(Step::Reclaim),
    ];
    prop::collection::vec(step, 1..60)
}

/// A transaction reports the effect of an update, and no effect of other writes.
fn check_update(updated: Option<Updated<()>>, operation: &Operation, before: &Oracle, after: &Oracle) {
    let is_update = matches!(operation, Operation::ChangeRecord { .. });
    let (held, changed) = (before.holds(operation), before != after);
    let expected = is_update.then_some(Updated { held, changed, written: () });
    assert_eq!(updated, expected, "{operation:?}");
}

struct Run {
    engine: EngineKind,
    graph: Graph,
    oracle: Oracle,
    keys: Vec<Key>,
    open: Vec<(Snapshot, Oracle)>,
    /// The states after each step.
    states: BTreeMap<CommitTimestamp, Oracle>,
}

impl Run {
    fn new(engine: EngineKind, topology: Topology, kind: KeyKind) -> Self {
        Run::with_history(History::None, engine, topology, kind)
    }

    fn with_history(history: History, engine: EngineKind, topology: Topology, kind: KeyKind) -> Self {
        let mut options = options(topology, kind).engine(engine).history(history);
        // Engine `tel` keeps its blocks in a file for one kind of keys.
        if cfg!(target_os = "linux") && engine == EngineKind::Tel && kind == KeyKind::String {
            options = options.scratch(std::env::temp_dir());
        }
        // Engine `hybrid` is also compiled into the library, where a thread archives its log.
        if engine.name() == EngineKind::Hybrid.name() && kind != KeyKind::Dense {
            options = options.engine(EngineKind::Hybrid).archiving_threshold(8);
        }
        let graph = Graph::in_memory(options).unwrap();
        let (keys, open, states) = (domain(kind, 11), Vec::new(), BTreeMap::new());
        Run { engine, graph, oracle: Oracle::new(topology), keys, open, states }
    }

    fn step(&mut self, step: &Step) {
        match step {
            Step::One(draw) => self.one(*draw),
            Step::Stream(edges, label, deletes) => self.stream(edges, *label, *deletes),
            Step::Transaction(draws, committed) => self.transaction(draws, *committed),
            Step::Declared(draws) => self.declared(draws),
            Step::Ingest(edges, label) => self.ingest(edges, *label),
            Step::Open(options) => self.open(*options),
            Step::Close(choice) if !self.open.is_empty() => {
                let position = choice % self.open.len();
                let (snapshot, oracle) = self.open.swap_remove(position);
                oracle.check(&snapshot, &self.keys);
            }
            Step::Close(_) => {}
            Step::Reclaim => assert!(!self.graph.reclaim().unwrap().more),
        }
    }

    /// Opens a view. A stale view may show a state within a step, whose oracle must then be kept.
    fn open(&mut self, options: SnapshotOptions) {
        let newest = self.graph.snapshot().unwrap().timestamp();
        self.states.insert(newest, self.oracle.clone());
        let snapshot = self.graph.snapshot_with(options).unwrap();
        let at = snapshot.timestamp();
        assert_eq!(snapshot.behind(), newest.0 - at.0);
        assert!(at == newest || options == SnapshotOptions::stale() && counts_later(self.engine));
        let expected = self.states.get(&at).cloned().unwrap_or_else(|| Oracle::of_snapshot(&snapshot));
        if at < newest {
            let (count, edges) = (snapshot.edge_count(), expected.each_edge().len() as u64);
            assert_eq!((count, snapshot.archived_through()), (Count::from(edges), at), "stale at {at}");
        }
        self.open.push((snapshot, expected));
    }

    fn one(&mut self, draw: Draw) {
        let operation = operation(&self.keys, draw);
        let before = self.oracle.clone();
        self.oracle.apply(&operation);
        let conditions_failed = u64::from(!before.holds(&operation));
        let expected = Commit { conditions_failed, ..self.oracle.commit_since(&before) };
        match commit(&self.graph, &operation) {
            Report::Commit(commit) => self.check_commit(commit, expected, &operation),
            // Every engine looks up vertices, and a single edge to delete.
            Report::Changed(changed) => assert_eq!(changed, expected.changed, "{operation:?}"),
        }
        let snapshot = self.graph.snapshot().unwrap();
        self.states.insert(snapshot.timestamp(), self.oracle.clone());
        let (count, edges) = (snapshot.edge_count(), self.oracle.each_edge().len() as u64);
        assert!(is_count(self.engine, count, edges), "{count} edges instead of {edges} after {operation:?}");
    }

    /// Checks that a commit reports its effects, and the timestamp from which on they are visible.
    fn check_commit(&self, commit: Commit, expected: Commit, what: &dyn Debug) {
        let at = self.graph.snapshot().unwrap().timestamp();
        let expected = Commit { at, ..expected };
        assert!(is_commit(self.engine, commit, expected), "{commit:?} instead of {expected:?}: {what:?}");
    }

    fn stream(&mut self, edges: &[(u16, u16)], label: u8, deletes: bool) {
        let key = |number: &u16| self.keys[usize::from(*number) % self.keys.len()].clone();
        let edges =
            edges.iter().zip(0..).map(|((source, destination), n)| (key(source), key(destination), n % 3));
        let stream = Stream { label: LabelId(u16::from(label)), deletes, edges: edges.collect() };
        let mut expected = Commits { committed: stream.edges.len(), ..Commits::default() };
        for operation in stream.operations() {
            let before = self.oracle.clone();
            self.oracle.apply(&operation);
            let commit = self.oracle.commit_since(&before);
            expected.changed += Count::from(u64::from(commit.changed == Some(true)));
            expected.edges_added += commit.edges_added;
            expected.edges_removed += commit.edges_removed;
            expected.vertices_added += commit.vertices_added;
        }
        let commits = stream.run(&self.graph).unwrap();
        if commits.changed.at_most() > 0 {
            expected.at = self.graph.snapshot().unwrap().timestamp();
        }
        let agrees = are_commits(self.engine, commits, expected);
        assert!(agrees, "{commits:?} instead of {expected:?}: {stream:?}");
    }

    fn transaction(&mut self, draws: &[Draw], committed: bool) {
        let transaction = self.graph.begin().unwrap();
        let (mut mine, mut conditions_failed) = (self.oracle.clone(), 0);
        for draw in draws {
            let operation = operation(&self.keys, *draw);
            let before = mine.clone();
            let updated = stage(&transaction, &operation).unwrap();
            mine.apply(&operation);
            check_update(updated, &operation, &before, &mine);
            conditions_failed += u64::from(!before.holds(&operation));
            self.check_own_reads(&transaction, &mine);
        }
        mine.check_reads(&transaction.snapshot().unwrap(), &self.keys);
        if committed {
            assert_eq!(transaction.commit().unwrap().conditions_failed, conditions_failed);
            self.oracle = mine;
        }
    }

    /// A transaction that declares all vertices.
    fn declared(&mut self, draws: &[Draw]) {
        let (mut mine, keys) = (self.oracle.clone(), self.keys.clone());
        let staged = self.graph.transact_declared(&keys, |transaction| {
            for draw in draws {
                let operation = operation(&keys, *draw);
                if matches!(operation, Operation::DeleteVertex { .. }) {
                    continue;
                }
                let before = mine.clone();
                let updated = stage(transaction, &operation)?;
                mine.apply(&operation);
                check_update(updated, &operation, &before, &mine);
            }
            self.check_own_reads(transaction, &mine);
            Ok(())
        });
        staged.unwrap();
        self.oracle = mine;
    }

    fn check_own_reads(&self, transaction: &impl ReadGraph, mine: &Oracle) {
        for key in &self.keys {
            assert_eq!(transaction.contains_vertex(key).unwrap(), mine.vertices.contains_key(key));
            let record = transaction.properties(key).unwrap();
            assert_eq!(record.map(|record| record.values().to_vec()).as_ref(), mine.vertices.get(key));
            for direction in mine.topology.directions() {
                let neighbors = transaction.neighbors((LabelId(0), *direction), key).unwrap();
                let mut sorted = neighbors.clone();
                sorted.sort();
                let expected = mine.neighbors(LabelId(0), *direction, key);
                assert_eq!(sorted, expected.into_keys().collect::<Vec<_>>());
            }
            for direction in mine.topology.directions() {
                let records = transaction.edges::<Record>((RECORDS, *direction), key).unwrap();
                assert_eq!(as_values(records), mine.neighbor_records(*direction, key));
            }
            for direction in mine.topology.directions() {
                for keys in [0..=u64::MAX, 1..=3] {
                    let edges = transaction
                        .parallel_neighbors::<Record>((PARALLEL, *direction), key, keys.clone())
                        .unwrap();
                    assert_eq!(by_key(edges), mine.parallel_neighbors(*direction, key, &keys));
                }
                let neighbors = transaction.neighbors((PARALLEL, *direction), key).unwrap();
                let expected = mine.neighbors(PARALLEL, *direction, key);
                assert_eq!(neighbors.len(), expected.len());
                assert!(neighbors.iter().all(|neighbor| expected.contains_key(neighbor)));
            }
            self.check_own_newest(transaction, mine, key);
            let other = &self.keys[0];
            let edges = transaction.parallel_edges::<Record>(PARALLEL, key, other, 1..).unwrap().into_iter();
            let edges =
                edges.map(|(key, record)| (key, record.values().to_vec())).collect::<BTreeMap<_, _>>();
            assert_eq!(edges, mine.parallel(key, other).split_off(&1));
            let edge = transaction.parallel_edge::<Record>(PARALLEL, key, other, 0).unwrap();
            let expected = mine.parallel(key, other).remove(&0);
            assert_eq!(edge.map(|record| record.values().to_vec()), expected);
            let exists = transaction.get_edge::<()>(PARALLEL, key, other).unwrap().is_some();
            assert_eq!(exists, mine.edge(PARALLEL, key, other).is_some());
            let record = transaction.get_edge::<Record>(RECORDS, key, other).unwrap();
            assert_eq!(record.map(|record| record.values().to_vec()), mine.record(key, other));
            let exists = transaction.get_edge::<()>(RECORDS, key, other).unwrap().is_some();
            assert_eq!(exists, mine.record(key, other).is_some());
            let value = transaction.get_edge::<f64>(LabelId(1), key, other).unwrap();
            let expected = mine.edge(LabelId(1), key, other).map(|value| f64::from_bits(value.0));
            assert_eq!(value, expected);
        }
    }

    /// Checks newest-first reads of a transaction: the wanted edges, in descending order.
    fn check_own_newest(&self, transaction: &impl ReadGraph, mine: &Oracle, key: &Key) {
        let wanted = Newest::most(3).since(1).by_property("amount");
        let times = |records: Vec<(Key, Record)>| {
            records.into_iter().map(|(_, record)| record.values()[0].as_i64().unwrap()).collect::<Vec<_>>()
        };
        let newest = |amounts: &mut dyn Iterator<Item = Vec<Value>>| {
            let mut amounts: Vec<i64> =
                amounts.filter_map(|record| record[0].as_i64()).filter(|time| *time >= 1).collect();
            amounts.sort_by_key(|amount| Reverse(*amount));
            amounts.truncate(3);
            amounts
        };
        let out = Direction::Out;
        let read = transaction.newest::<Record>((RECORDS, out), key, &wanted).unwrap();
        assert_eq!(times(read), newest(&mut mine.neighbor_records(out, key).into_values()));
        let read = transaction.newest::<Record>((PARALLEL, out), key, &wanted).unwrap();
        assert_eq!(
            times(read),
            newest(&mut mine.parallel_neighbors(out, key, &(0..=u64::MAX)).into_values())
        );
        let read = transaction.newest::<u32>((LabelId(2), out), key, &Newest::most(2)).unwrap();
        let mut values: Vec<u64> =
            mine.neighbors(LabelId(2), out, key).into_values().map(|value| value.0).collect();
        values.sort_unstable_by_key(|value| Reverse(*value));
        values.truncate(2);
        assert_eq!(read.into_iter().map(|(_, value)| u64::from(value)).collect::<Vec<_>>(), values);
        let by_commit = transaction.newest::<Record>((RECORDS, out), key, &Newest::most(1).by_commit());
        assert_eq!(by_commit.unwrap_err().kind(), ErrorKind::InvalidInput);
    }

    fn ingest(&mut self, edges: &[(u16, u16)], label: u8) {
        let key = |number: u16| self.keys[usize::from(number) % self.keys.len()].clone();
        let label = LabelId(u16::from(label));
        let before = self.oracle.clone();
        let mut put = |source: &Key, destination: &Key, value| {
            let (source, destination) = (source.clone(), destination.clone());
            self.oracle.apply(&Operation::PutEdge { label, source, destination, value });
        };
        let pairs = edges.iter().map(|(source, destination)| (key(*source), key(*destination)));
        use hedgerow::Column;
        let commit = match label {
            RECORDS => {
                let record = |number: i64| {
                    // The version in the record is ignored.
                    let when = Value::Timestamp(number * 3 % 7);
                    Record::new(vec![Value::I64(number % 3), Value::Null, Value::I64(-number), when])
                };
                let edges: Vec<_> = pairs.zip(0..).map(|((s, d), number)| (s, d, record(number))).collect();
                self.oracle.ingest_records(&edges);
                self.graph.ingest(label, &edges)
            }
            LabelId(0) => {
                let edges: Vec<_> = pairs.collect();
                edges.iter().for_each(|(source, destination)| put(source, destination, ().to_bits()));
                self.graph.ingest(LabelId::DEFAULT, &edges)
            }
            LabelId(1) => {
                let edges: Vec<_> = pairs.zip(0..).map(|((s, d), n)| (s, d, f64::from(n))).collect();
                edges.iter().for_each(|(s, d, value)| put(s, d, Column::to_bits(*value)));
                self.graph.ingest(label, &edges)
            }
            _ => {
                let edges: Vec<_> = pairs.zip(0u32..).map(|((s, d), n)| (s, d, n)).collect();
                edges.iter().for_each(|(s, d, value)| put(s, d, value.to_bits()));
                self.graph.ingest(label, &edges)
            }
        };
        let expected = self.oracle.commit_since(&before);
        self.check_commit(commit.unwrap(), expected, &edges);
    }

    /// Waits until the archiving thread, if there is one, reads no state. Fails if a snapshot is
    /// left open.
    fn wait_for_archiving(&self) {
        let began = Instant::now();
        while !self.graph.snapshots().is_empty() {
            assert!(began.elapsed() < Duration::from_secs(60), "{:?} are open", self.graph.snapshots());
            std::thread::yield_now();
        }
    }

    fn finish(mut self) {
        self.oracle.check(&self.graph.snapshot().unwrap(), &self.keys);
        for (snapshot, oracle) in self.open.drain(..) {
            oracle.check(&snapshot, &self.keys);
        }
        self.wait_for_archiving();
        assert!(!self.graph.reclaim().unwrap().more);
        assert_eq!(self.graph.memory().retained_bytes, 0, "old versions are left without a snapshot");
        let count = self.graph.snapshot().unwrap().edge_count();
        assert_eq!(count, self.oracle.each_edge().len() as u64, "everything is counted by now");
    }
}

proptest! {
    #![proptest_config(one_case_in(2))]
    #[test]
    fn engines_agree_with_the_oracle(steps in steps(), topology in 0..3usize, kind in 0..3usize) {
        for engine in ENGINES {
            let mut run = Run::new(engine, TOPOLOGIES[topology], KEY_KINDS[kind]);
            steps.iter().for_each(|step| run.step(step));
            run.finish();
        }
    }
}

proptest! {
    #![proptest_config(one_case_in(10))]

    /// Every past state stays readable after all later changes, with or without open snapshots.
    #[test]
    fn past_states_are_what_they_were(steps in steps(), topology in 0..3usize, kind in 0..3usize) {
        for engine in ENGINES {
            let mut run = Run::with_history(History::All, engine, TOPOLOGIES[topology], KEY_KINDS[kind]);
            let mut past = vec![(CommitTimestamp::ZERO, run.oracle.clone())];
            for step in &steps {
                run.step(step);
                // Compares the last commit of a stream, but not the others.
                let at = run.graph.snapshot().unwrap().timestamp();
                if at > past[past.len() - 1].0 {
                    past.push((at, run.oracle.clone()));
                }
            }
            run.graph.reclaim().unwrap();
            for (at, oracle) in &past {
                let snapshot = run.graph.snapshot_at(*at).unwrap();
                prop_assert_eq!(snapshot.timestamp(), *at);
                oracle.check(&snapshot, &run.keys);
            }
            let (newest, _) = past[past.len() - 1];
            let early = run.graph.snapshot_at(CommitTimestamp(newest.0 + 1)).unwrap_err();
            prop_assert_eq!(early.kind(), ErrorKind::NotFound);
            prop_assert_eq!(run.graph.oldest_kept().unwrap().0, CommitTimestamp::ZERO);
            let (oldest, now) = (run.graph.oldest_kept().unwrap().1, u64::MAX);
            prop_assert_eq!(run.graph.snapshot_at(AsOf::Time(now)).unwrap().timestamp(), newest);
            prop_assert!(run.graph.snapshot_at(AsOf::Time(oldest)).unwrap().timestamp() <= newest);
            prop_assert!(run.graph.snapshot_at(AsOf::Time(oldest - 1)).is_err());
        }
    }
}

#[test]
fn each_commit_of_a_stream_is_a_past_state() {
    for engine in ENGINES {
        let options = options(Topology::Directed, KeyKind::Number).engine(engine).history(History::All);
        let graph = Graph::in_memory(options).unwrap();
        let edges: Vec<(u64, u64)> = (0..100).map(|number| (number % 7, number)).collect();
        let first = graph.put_each(LabelId::DEFAULT, &edges).unwrap();
        let last = graph.delete_each(LabelId::DEFAULT, &edges).unwrap();
        assert_eq!((first.at, last.at), (CommitTimestamp(100), CommitTimestamp(200)));
        for at in 0..=200u64 {
            let snapshot = graph.snapshot_at(CommitTimestamp(at)).unwrap();
            let put = at.min(100) - at.saturating_sub(100);
            assert!(is_count(engine, snapshot.edge_count(), put));
            for (number, (source, destination)) in (1..).zip(&edges) {
                let is_there = number <= at && number + 100 > at;
                assert_eq!(snapshot.contains_edge(LabelId::DEFAULT, source, destination).unwrap(), is_there);
            }
        }
    }
}

#[test]
fn a_history_that_is_over_leaves_nothing() {
    for engine in ENGINES {
        let options = options(Topology::Directed, KeyKind::Number).engine(engine);
        let without = Graph::in_memory(options.clone()).unwrap();
        assert_eq!(without.snapshot_at(CommitTimestamp::ZERO).unwrap_err().kind(), ErrorKind::Unsupported);
        assert_eq!(without.oldest_kept(), None);
        let graph = Graph::in_memory(options.history(History::For(Duration::ZERO))).unwrap();
        for destination in 0..50u64 {
            graph.put_edge(LabelId::DEFAULT, 1, destination).unwrap();
            graph.delete_edge(LabelId::DEFAULT, 1, destination).unwrap();
        }
        assert_eq!(graph.oldest_kept().unwrap().0, CommitTimestamp(100));
        let error = graph.snapshot_at(CommitTimestamp(99)).unwrap_err();
        assert!(error.to_string().contains("the oldest is that of commit 100"), "{error}");
        assert!(!graph.reclaim().unwrap().more);
        assert_eq!(graph.memory().retained_bytes, 0);
    }
}

/// Degrees cross every threshold of a layout, up and down, in large commits and small ones.
#[test]
fn large_neighbor_sets_grow_and_shrink() {
    for engine in ENGINES {
        for topology in TOPOLOGIES {
            let graph = Graph::in_memory(options(topology, KeyKind::Number).engine(engine)).unwrap();
            let hub = 7u64;
            let spokes: Vec<(u64, u64)> = (0..5_000).map(|spoke| (hub, 10 + spoke * 7 % 5_003)).collect();
            graph.ingest(LabelId::DEFAULT, &spokes).unwrap();
            let full = graph.snapshot().unwrap();
            for (_, spoke) in &spokes[..4_700] {
                assert!(graph.delete_edge(LabelId::DEFAULT, hub, spoke).unwrap().changed == Some(true));
            }
            for (_, spoke) in &spokes[..50] {
                graph.put_edge(LabelId::DEFAULT, hub, spoke).unwrap();
            }
            let now = graph.snapshot().unwrap();
            assert_eq!(full.neighbors(LabelId::DEFAULT, hub).unwrap().len(), 5_000);
            assert_eq!(now.neighbors(LabelId::DEFAULT, hub).unwrap().len(), 350);
            assert!(is_count(engine, now.edge_count(), 350));
            for (_, spoke) in &spokes {
                assert!(full.contains_edge(LabelId::DEFAULT, hub, spoke).unwrap());
            }
            assert!(graph.delete_vertex(hub).unwrap().changed == Some(true));
            assert!(is_count(engine, graph.snapshot().unwrap().edge_count(), 0));
            assert!(is_count(engine, now.edge_count(), 350));
            drop((full, now));
            assert!(!graph.reclaim().unwrap().more);
            assert_eq!(graph.memory().retained_bytes, 0);
        }
    }
}
