//! Views of the states of a graph: the state before and the changes make the state after.

use super::promises::{KNOWS, LIKES, begin, graphs, in_store, options as plain_options};
use super::*;
use hedgerow::{Change, History, ReadGraph, SnapshotOptions, StreamView, Value, VertexId, WriteGraph};
use hedgerow_testing::simulated::{Fault, FaultKind};
use std::collections::{BTreeMap, BTreeSet};
use std::thread;
use std::time::{Duration, Instant};

/// The keys of the vertices that changes name.
fn named(view: &StreamView) -> BTreeSet<Key> {
    let keys = |change: Change<'_>| match change {
        Change::PutVertex(vertex) | Change::DeleteVertex(vertex) => {
            [vertex.key().to_key(), vertex.key().to_key()]
        }
        Change::PutEdge(edge) | Change::DeleteEdge(edge) => {
            [edge.source().to_key(), edge.destination().to_key()]
        }
    };
    view.changes().iter().flat_map(keys).collect()
}

type Part = (Option<Vec<Value>>, BTreeMap<(LabelId, Key, Key, Option<u64>), Vec<Value>>);

/// A vertex with its properties and edges.
fn part(oracle: &Oracle, key: &Key) -> Part {
    let mut edges = BTreeMap::new();
    for ((label, source, destination), value) in &oracle.edges {
        let value = vec![Value::U64(value.0)];
        edges.insert((*label, source.clone(), destination.clone(), None), value);
    }
    for ((label, source, destination, number), record) in &oracle.records {
        edges.insert((*label, source.clone(), destination.clone(), Some(*number)), record.clone());
    }
    edges.retain(|(_, source, destination, _), _| [source, destination].contains(&key));
    (oracle.vertices.get(key).cloned(), edges)
}

/// Checks the states and the changes between them.
fn check(view: &StreamView, keys: &[Key], latest_only: bool) {
    assert_eq!(view.snapshot().timestamp(), view.token().commit());
    let (after, named) = (Oracle::of_snapshot(view.snapshot()), named(view));
    let before = view.before().map(Oracle::of_snapshot);
    for state in [Some(view.snapshot()), view.before()].into_iter().flatten() {
        let is_named = |id, key| assert_eq!(view.has_changed(id), named.contains(&key), "{key}");
        state.for_each_vertex(is_named).unwrap();
    }
    for key in keys {
        let is_there = [Some(&after), before.as_ref()]
            .into_iter()
            .flatten()
            .any(|state| state.vertices.contains_key(key));
        assert_eq!(view.has_key_changed(key).unwrap(), is_there && named.contains(key), "{key}");
    }
    if let Some(before) = before {
        for key in keys.iter().filter(|key| !named.contains(key)) {
            assert_eq!(part(&before, key), part(&after, key), "{key}");
        }
        let mut followed = Followed::new(before, view.before().unwrap().timestamp());
        followed.apply(view.changes(), latest_only);
        assert_eq!(followed.oracle, after);
    }
}

struct Viewed {
    run: Run,
    view: Option<StreamView>,
    options: SubscribeOptions,
    states: SnapshotOptions,
    latest_only: bool,
}

impl Viewed {
    fn new(run: Run, options: SubscribeOptions, states: SnapshotOptions) -> Self {
        let view = run.graph().follow_with(&options, states).unwrap();
        assert!(view.changes().is_empty() && view.before().is_some());
        Viewed { run, view: Some(view), options, states, latest_only: false }
    }

    fn step(&mut self, step: &Step) {
        match step {
            Step::Pull => self.advance(),
            Step::GoOn(at_once, latest_only) => {
                let before = self.view.take().unwrap();
                self.latest_only = *latest_only;
                self.options = self.options.clone().at_once(*at_once).latest_only(*latest_only);
                self.go_on(before.token());
            }
            Step::Snapshot => self.view = None,
            Step::Checkpoint if self.run.store.is_some() => {
                self.advance();
                self.run.graph().checkpoint(&CheckpointOptions::new()).unwrap();
            }
            Step::Checkpoint => {}
            Step::Reopen => {
                let Some((files, options)) = self.run.store.clone() else { return };
                let token = self.view.take().map(|view| view.token());
                self.run.followers.clear();
                self.run.graph().close().unwrap();
                self.run.graph = None;
                self.run.graph = Some(options.open_on(Arc::new(files)).unwrap());
                token.into_iter().for_each(|token| self.go_on(token));
            }
            _ => write(self.run.graph(), &self.run.keys, step),
        }
        if self.view.is_none() {
            self.view = Some(self.run.graph().follow_with(&self.options, self.states).unwrap());
        }
    }

    fn go_on(&mut self, token: ChangeToken) {
        let options = self.options.clone().begin(Begin::After(token));
        match self.run.graph().follow_with(&options, self.states) {
            Ok(view) => {
                assert_eq!(view.token(), token);
                self.view = Some(view);
            }
            Err(error) => self.run.check_lost(&error),
        }
    }

    fn advance(&mut self) {
        let view = self.view.as_mut().unwrap();
        let (before, token) = (view.snapshot().timestamp(), view.token());
        match view.advance() {
            Ok(has_changes) => {
                assert_eq!(has_changes, !view.changes().is_empty());
                let former = view.before().map(hedgerow::Snapshot::timestamp);
                assert_eq!(former, (before == token.commit()).then_some(before));
                check(view, &self.run.keys, self.latest_only);
            }
            Err(error) => {
                self.run.check_lost(&error);
                self.view = Some(self.run.graph().follow_with(&self.options, self.states).unwrap());
            }
        }
    }

    fn end(&mut self) {
        self.advance();
        let (view, newest) = (self.view.as_ref().unwrap(), self.run.graph().snapshot().unwrap().timestamp());
        if self.states == SnapshotOptions::fresh() {
            assert_eq!((view.token().commit(), view.lag().unwrap().commits), (newest, 0));
        }
    }
}

const STATES: [SnapshotOptions; 3] =
    [SnapshotOptions::fresh(), SnapshotOptions::stale(), SnapshotOptions::private()];

proptest! {
    #![proptest_config(one_case_in(8))]

    #[test]
    fn the_state_before_and_the_changes_make_the_state_after(
        steps in steps(),
        topology in prop::sample::select(TOPOLOGIES.to_vec()),
        kind in prop::sample::select(KEY_KINDS.to_vec()),
        durability in prop::sample::select(vec![Durability::Sync, Durability::Buffered, Durability::None]),
        undurable in any::<bool>(),
        states in prop::sample::select(STATES.to_vec()),
    ) {
        let view_options = SubscribeOptions::new().undurable(undurable);
        let run = |run: Run| {
            let mut viewed = Viewed::new(run, view_options.clone(), states);
            steps.iter().for_each(|step| viewed.step(step));
            viewed.end();
        };
        for engine in ENGINES {
            run(Run::new(engine, options(topology, kind).engine(engine), topology, kind, None));
        }
        for engine in [&ENGINES[..], &own_files::ENGINES].concat() {
            let options = options(topology, kind).engine(engine).threads(1).durability(durability).simulated();
            run(Run::new(engine, options, topology, kind, Some(SimulatedFiles::new(1))));
        }
    }
}

/// The vertices that have changed, by their keys.
fn changed(view: &StreamView) -> Vec<Key> {
    let key = |vertex: &VertexId| {
        let key = view.snapshot().key(*vertex).unwrap();
        key.or_else(|| view.before().unwrap().key(*vertex).unwrap()).unwrap()
    };
    let mut keys: Vec<_> = view.changed_vertices().iter().map(key).collect();
    keys.sort();
    keys
}

#[test]
fn changed_are_the_vertices_of_the_changes_and_no_others() {
    for graph in graphs() {
        graph.ingest(KNOWS, &[(1, 2), (2, 3), (3, 4), (4, 5), (5, 1), (1, 6)]).unwrap();
        let mut view = graph.follow(&SubscribeOptions::new()).unwrap();
        assert!(!view.advance().unwrap() && view.changed_vertices().is_empty());
        graph.put_edge(KNOWS, 2, 5).unwrap();
        graph.put_edge(LIKES, 7, 2).unwrap();
        assert!(view.advance().unwrap());
        assert_eq!(changed(&view), [2, 5, 7].map(Key::from));
        assert!(view.has_key_changed(7).unwrap() && !view.has_key_changed(1).unwrap());
        assert!(!view.has_key_changed(99).unwrap() && view.has_key_changed("a").is_err());
        graph.delete_vertex(1).unwrap();
        graph.add_vertex(8).unwrap();
        assert!(view.advance().unwrap());
        assert_eq!(changed(&view), [1, 2, 5, 6, 8].map(Key::from), "its neighbors, too");
        assert!(!view.advance().unwrap() && view.changed_vertices().is_empty());
        let states = [view.before().unwrap(), view.snapshot()].map(hedgerow::Snapshot::timestamp);
        assert_eq!(states[0], states[1]);
    }
}

#[test]
fn a_view_shows_only_durable_states_unless_asked_for_others() {
    for durability in [Durability::Buffered, Durability::None] {
        let graph = in_store(&SimulatedFiles::new(1), durability);
        let mut durable = graph.subscribe(&SubscribeOptions::new()).unwrap();
        let mut undurable = graph.follow(&SubscribeOptions::new().undurable(true)).unwrap();
        let mut view = graph.follow(&SubscribeOptions::new()).unwrap();
        graph.put_edge(KNOWS, 1, 2).unwrap();
        assert!(undurable.advance().unwrap());
        assert!(durable.pull().unwrap().is_empty());
        assert!(view.advance().unwrap());
        assert_eq!(durable.pull().unwrap().len(), 3);
    }
}

#[test]
fn a_view_goes_on_where_another_was() {
    for history in [History::None, History::All] {
        let graph = Graph::in_memory(plain_options(EngineKind::default()).history(history)).unwrap();
        let _kept = graph.subscribe(&SubscribeOptions::new()).unwrap();
        let mut first = graph.follow(&SubscribeOptions::new()).unwrap();
        graph.put_edge(KNOWS, 1, 2).unwrap();
        first.advance().unwrap();
        graph.put_edge(KNOWS, 2, 3).unwrap();
        for options in [begin(Begin::After(first.token())), begin(Begin::AfterCommit(first.token().commit()))]
        {
            let mut view = graph.follow(&options).unwrap();
            assert_eq!((view.token(), view.changes().len()), (first.token(), 0));
            assert_eq!(view.before().is_some(), history == History::All);
            assert!(view.advance().unwrap());
            assert_eq!(changed_ends(&view), [2, 3]);
            assert_eq!(view.before().is_some(), history == History::All);
            assert!(!view.advance().unwrap() && view.before().is_some());
        }
    }
    let graph = Graph::in_memory(plain_options(EngineKind::default())).unwrap();
    let mut slow = graph.follow(&SubscribeOptions::new().memory(1 << 16)).unwrap();
    for number in 0..20_000_u64 {
        graph.put_edge(KNOWS, number % 100, number).unwrap();
    }
    assert_eq!(slow.advance().unwrap_err().kind(), ErrorKind::ChangesLost);
    assert!(slow.changes().is_empty() && slow.lag().unwrap().commits == 20_000, "as before");
}

fn changed_ends(view: &StreamView) -> Vec<u64> {
    named(view).iter().map(|key| key.as_u64().unwrap()).collect()
}

#[test]
fn a_view_waits_for_changes_and_ends_with_the_store() {
    let unsynced = [Durability::Buffered, Durability::None]
        .map(|durability| in_store(&SimulatedFiles::new(1), durability));
    for graph in graphs().into_iter().chain(unsynced) {
        let mut view = graph.follow(&SubscribeOptions::new()).unwrap();
        let begun = Instant::now();
        assert!(!view.advance_within(Duration::from_millis(5)).unwrap());
        assert!(begun.elapsed() >= Duration::from_millis(5));
        let is_in_store = graph.durability().is_some();
        thread::scope(|scope| {
            let writer = scope.spawn(|| {
                for number in 0..30_u64 {
                    graph.put_edge(KNOWS, 1, number).unwrap();
                    thread::sleep(Duration::from_micros(300));
                }
                if is_in_store {
                    graph.close().unwrap();
                }
            });
            while view.snapshot().degree(KNOWS, 1).unwrap() < 30 {
                assert!(view.advance_within(Duration::MAX).unwrap());
            }
            writer.join().unwrap();
        });
        if is_in_store {
            assert_eq!(view.advance_within(Duration::MAX).unwrap_err().kind(), ErrorKind::Closed);
        }
    }
}

#[test]
fn a_view_of_stale_states_waits_until_one_is_archived() {
    let options = plain_options(EngineKind::Hybrid).archiving_threshold(1 << 20);
    let graph = Graph::in_memory(options).unwrap();
    graph.put_edge(KNOWS, 1, 2).unwrap();
    graph.reclaim().unwrap();
    graph.put_edge(KNOWS, 1, 3).unwrap();
    let mut view = graph.follow_with(&SubscribeOptions::new(), SnapshotOptions::stale()).unwrap();
    let begun = view.snapshot().timestamp();
    assert_eq!(view.lag().unwrap().commits, 0, "it begins with the newest state");
    graph.put_edge(KNOWS, 1, 4).unwrap();
    assert!(!view.advance_within(Duration::from_millis(5)).unwrap());
    assert_eq!((view.snapshot().timestamp(), view.lag().unwrap().commits), (begun, 1));
    let begin = begin(Begin::After(view.token()));
    let mut later = graph.follow_with(&begin, SnapshotOptions::stale()).unwrap();
    assert!(later.advance().unwrap() && later.before().is_none(), "the stale state is older");
    assert_eq!((changed_ends(&later), later.token().commit()), (vec![1, 4], later.snapshot().timestamp()));
    thread::scope(|scope| {
        scope.spawn(|| graph.reclaim().unwrap());
        assert!(view.advance_within(Duration::MAX).unwrap());
    });
    assert_eq!((changed_ends(&view), view.lag().unwrap().commits), (vec![1, 4], 0));
}

/// A file cannot be read at some point of an advance: nothing is lost, and nothing comes twice.
#[test]
fn an_advance_goes_on_after_an_error() {
    let files = SimulatedFiles::new(1);
    let graph = in_store(&files, Durability::Sync);
    let mut view = graph.follow(&SubscribeOptions::new()).unwrap();
    let mut number = 0_u64;
    for after in 1.. {
        for _ in 0..600 {
            number += 1;
            match number % 7 {
                0 => drop(graph.delete_vertex(number % 10).unwrap()),
                _ => drop(graph.put_edge(KNOWS, number % 10, number / 10 % 10).unwrap()),
            }
        }
        let token = view.token();
        files.inject(Fault { at: files.operations() + after, kind: FaultKind::Device, sticky: false });
        let advanced = view.advance();
        files.heal();
        if advanced.is_ok() {
            assert!(after > 1, "a file is read");
            break;
        }
        assert_eq!(view.token(), token);
        assert!(view.advance().unwrap());
        let mut followed = Followed::new(plain(view.before().unwrap()), view.before().unwrap().timestamp());
        followed.apply(view.changes(), false);
        assert_eq!(followed.oracle, plain(view.snapshot()));
    }
}

/// The vertices and edges of a graph with the labels of these tests.
fn plain(state: &hedgerow::Snapshot) -> Oracle {
    let mut oracle = Oracle::new(state.topology());
    state.for_each_vertex(|_, key| drop(oracle.vertices.insert(key, Vec::new()))).unwrap();
    for edge in state.all_edges::<()>(KNOWS).unwrap() {
        let edge = edge.unwrap();
        oracle.edges.insert((KNOWS, edge.source, edge.destination), hedgerow_model::EdgeValue(0));
    }
    oracle
}
