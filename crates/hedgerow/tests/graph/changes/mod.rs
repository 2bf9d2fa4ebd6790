//! Subscriptions: followers build the state of the graph from changes, on every engine, in memory
//! and in stores.

mod followed;
mod named;
mod promises;
mod streams;
mod views;
mod windows;

use crate::durability::own_files;
use crate::oracle::{ENGINES, Oracle, PARALLEL, Stream, commit, domain, operation, options, stage};
use followed::Followed;
use hedgerow::{
    Begin, ChangeToken, CheckpointOptions, CommitTimestamp, Durability, EngineKind, Error, ErrorKind, Graph,
    GraphOptions, Key, KeyKind, LabelId, SubscribeOptions, Subscription, Topology,
};
use hedgerow_log::files::FileSystem;
use hedgerow_testing::cases::one_case_in;
use hedgerow_testing::simulated::SimulatedFiles;
use proptest::prelude::*;
use std::sync::Arc;

const TOPOLOGIES: [Topology; 3] = [Topology::Directed, Topology::DirectedWithReverse, Topology::Undirected];
const KEY_KINDS: [KeyKind; 3] = [KeyKind::Number, KeyKind::String, KeyKind::Dense];

/// The random numbers that determine an operation.
type Draw = (u8, u16, u16, u32);

#[derive(Clone, Debug)]
enum Step {
    One(Draw),
    /// A stream of edges of one label, all put or all deleted.
    Stream(Vec<(u16, u16)>, u8, bool),
    Transaction(Vec<Draw>),
    /// Bulk ingest of edges of the first label.
    Ingest(Vec<(u16, u16)>),
    /// The follower pulls once.
    Pull,
    /// Another follower goes on at the token of this one, which pulls at most this many changes at
    /// once, and leaves out intermediate states or not.
    GoOn(usize, bool),
    /// The follower begins again with a snapshot.
    Snapshot,
    /// Frees the ids of deleted vertices.
    Reclaim,
    Checkpoint,
    /// The store is closed, and opened again.
    Reopen,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let draw = || any::<Draw>();
    let edges = |most| prop::collection::vec(any::<(u16, u16)>(), 0..most);
    let step = prop_oneof![
        8 => draw().prop_map(Step::One),
        2 => (edges(24), 0..5u8, any::<bool>())
            .prop_map(|(edges, label, deletes)| Step::Stream(edges, label, deletes || label == 4)),
        3 => prop::collection::vec(draw(), 0..12).prop_map(Step::Transaction),
        2 => edges(40).prop_map(Step::Ingest),
        4 => Just(Step::Pull),
        2 => (prop_oneof![1..20_usize, Just(1000)], any::<bool>()).prop_map(|(at_once, latest)| Step::GoOn(at_once, latest)),
        1 => Just(Step::Snapshot),
        2 => Just(Step::Reclaim),
        1 => Just(Step::Checkpoint),
        1 => Just(Step::Reopen),
    ];
    prop::collection::vec(step, 1..60)
}

/// Writes what a step writes.
fn write(graph: &Graph, keys: &[Key], step: &Step) {
    let key = |number: &u16| keys[usize::from(*number) % keys.len()].clone();
    match step {
        Step::One(draw) => drop(commit(graph, &operation(keys, *draw))),
        Step::Stream(edges, label, deletes) => {
            let edges = edges
                .iter()
                .zip(0..)
                .map(|((source, destination), n)| (key(source), key(destination), n % 3));
            let label = LabelId(u16::from(*label));
            Stream { label, deletes: *deletes, edges: edges.collect() }.run(graph).unwrap();
        }
        Step::Transaction(draws) => {
            let operations = draws.iter().map(|draw| operation(keys, *draw));
            let staged = |transaction: &_| {
                operations.clone().try_for_each(|operation| stage(transaction, &operation).map(drop))
            };
            graph.transact(staged).unwrap();
        }
        Step::Ingest(edges) => {
            let edges: Vec<_> =
                edges.iter().map(|(source, destination)| (key(source), key(destination))).collect();
            graph.ingest(LabelId::DEFAULT, &edges).unwrap();
        }
        Step::Reclaim => drop(graph.reclaim().unwrap()),
        _ => {}
    }
}

/// A subscription, and the state that was built from what it passed on.
struct Follower {
    subscription: Subscription,
    latest_only: bool,
    followed: Followed,
}

struct Run {
    engine: EngineKind,
    graph: Option<Graph>,
    /// The files and the options of a graph in a store.
    store: Option<(SimulatedFiles, GraphOptions)>,
    keys: Vec<Key>,
    /// Followers by the graph, and by the files of its store, as from another process.
    followers: Vec<Follower>,
}

impl Run {
    fn new(
        engine: EngineKind,
        options: GraphOptions,
        topology: Topology,
        kind: KeyKind,
        files: Option<SimulatedFiles>,
    ) -> Self {
        let graph = match &files {
            None => Graph::in_memory(options.clone()).unwrap(),
            Some(files) => options.create_on(Arc::new(files.clone())).unwrap(),
        };
        let (graph, store) = (Some(graph), files.map(|files| (files, options)));
        let count = if store.is_some() { 2 } else { 1 };
        let mut run = Run { engine, graph, store, keys: domain(kind, 11), followers: Vec::new() };
        for place in 0..count {
            let subscription = run.subscribe(place, &SubscribeOptions::new()).unwrap();
            let followed = Followed::new(Oracle::new(topology), CommitTimestamp::ZERO);
            run.followers.push(Follower { subscription, latest_only: false, followed });
        }
        run
    }

    /// The places of the followers.
    fn places(&self) -> std::ops::Range<usize> {
        0..self.followers.len()
    }

    fn graph(&self) -> &Graph {
        self.graph.as_ref().unwrap()
    }

    fn subscribe(&self, place: usize, options: &SubscribeOptions) -> Result<Subscription, Error> {
        match (place, &self.store) {
            (1, Some((files, graph))) => {
                let files: Arc<dyn FileSystem> = Arc::new(files.clone());
                hedgerow::store::subscribe_on(&files, graph, options)
            }
            _ => self.graph().subscribe(options),
        }
    }

    fn step(&mut self, step: &Step) {
        let graph = self.graph.clone().unwrap();
        match step {
            Step::Pull => self.places().for_each(|place| {
                self.pull(place);
            }),
            Step::GoOn(at_once, latest_only) => {
                // In memory, the changes are kept while there is a subscription.
                let options = SubscribeOptions::new().at_once(*at_once).latest_only(*latest_only);
                self.places().for_each(|place| {
                    let token = self.followers[place].subscription.token();
                    self.followers[place].latest_only = *latest_only;
                    self.go_on(place, token, &options);
                });
            }
            Step::Snapshot => self.places().for_each(|place| self.begin_again(place)),
            Step::Checkpoint if self.store.is_some() => {
                // Changes that were not pulled would be lost.
                self.check();
                graph.checkpoint(&CheckpointOptions::new()).unwrap();
            }
            Step::Reopen => {
                let Some((files, options)) = self.store.clone() else { return };
                let token = self.followers[0].subscription.token();
                graph.close().unwrap();
                drop(graph);
                // The last handles of the graph.
                let outside = self.subscribe(1, &SubscribeOptions::new()).unwrap();
                (self.followers[0].subscription, self.followers[0].latest_only) = (outside, false);
                self.graph = None;
                self.graph = Some(options.open_on(Arc::new(files)).unwrap());
                self.go_on(0, token, &SubscribeOptions::new());
            }
            _ => write(&graph, &self.keys, step),
        }
    }

    /// Pulls once. Returns the number of changes.
    fn pull(&mut self, place: usize) -> usize {
        let Follower { subscription, latest_only, followed } = &mut self.followers[place];
        match subscription.pull() {
            Ok(changes) => {
                assert!(!*latest_only || changes.commits().count() < 2);
                followed.apply(&changes, *latest_only);
                changes.len()
            }
            Err(error) => {
                self.check_lost(&error);
                self.begin_again(place);
                0
            }
        }
    }

    /// Subscribes from a position on, which was text in between.
    fn go_on(&mut self, place: usize, token: ChangeToken, options: &SubscribeOptions) {
        let token = token.to_string().parse().unwrap();
        match self.subscribe(place, &options.clone().begin(Begin::After(token))) {
            Ok(subscription) => self.followers[place].subscription = subscription,
            Err(error) => {
                self.check_lost(&error);
                self.followers[place].subscription = self.subscribe(place, options).unwrap();
                self.begin_again(place);
            }
        }
    }

    /// The log of an engine with its own files is pruned after each flush.
    fn check_lost(&self, error: &Error) {
        let owns_files = self.store.is_some() && own_files::ENGINES.contains(&self.engine);
        assert!(owns_files && error.kind() == ErrorKind::ChangesLost, "{error}");
    }

    /// The follower begins again with a snapshot.
    fn begin_again(&mut self, place: usize) {
        let snapshot = match place {
            0 => self.followers[0].subscription.snapshot().unwrap(),
            _ => {
                self.flush();
                let snapshot = self.graph().snapshot().unwrap();
                let after = SubscribeOptions::new().begin(Begin::After(snapshot.token().unwrap()));
                self.followers[place].subscription = self.subscribe(place, &after).unwrap();
                self.followers[place].latest_only = false;
                snapshot
            }
        };
        let followed = Followed::new(Oracle::of_snapshot(&snapshot), snapshot.timestamp());
        self.followers[place].followed = followed;
    }

    fn flush(&self) {
        if self.graph().durability().is_some_and(|durability| durability != Durability::Sync) {
            self.graph().flush().unwrap();
        }
    }

    /// The followers that have pulled everything have the state of the graph.
    fn check(&mut self) {
        let snapshot = self.graph().snapshot().unwrap();
        self.flush();
        for place in self.places() {
            while self.followers[place].subscription.token().commit() < snapshot.timestamp() {
                self.pull(place);
            }
            assert_eq!(self.pull(place), 0);
            assert_eq!(self.followers[place].subscription.lag().unwrap().commits, 0);
            assert_eq!(self.followers[place].followed.oracle, Oracle::of_snapshot(&snapshot));
        }
    }
}

fn run(mut run: Run, steps: &[Step]) {
    for step in steps {
        run.step(step);
    }
    run.check();
}

proptest! {
    #![proptest_config(one_case_in(4))]

    #[test]
    fn a_follower_of_a_graph_in_memory_has_its_state(
        steps in steps(),
        topology in prop::sample::select(TOPOLOGIES.to_vec()),
        kind in prop::sample::select(KEY_KINDS.to_vec()),
    ) {
        for engine in ENGINES {
            run(Run::new(engine, options(topology, kind).engine(engine), topology, kind, None), &steps);
        }
    }

    #[test]
    fn a_follower_of_a_store_has_its_state(
        steps in steps(),
        topology in prop::sample::select(TOPOLOGIES.to_vec()),
        kind in prop::sample::select(KEY_KINDS.to_vec()),
        durability in prop::sample::select(vec![Durability::Sync, Durability::Buffered, Durability::None]),
    ) {
        let engines: [&[EngineKind]; 2] = [&ENGINES, &own_files::ENGINES];
        for engine in engines.concat() {
            let options = options(topology, kind).engine(engine).threads(1).durability(durability).simulated();
            run(Run::new(engine, options, topology, kind, Some(SimulatedFiles::new(1))), &steps);
        }
    }
}

/// A graph that gets all changes of another one, in memory.
#[test]
fn a_copy_that_stages_all_changes_is_equal() {
    for latest_only in [false, true] {
        for (topology, kind) in TOPOLOGIES.into_iter().zip(KEY_KINDS) {
            let options = options(topology, kind);
            let (graph, copy) =
                (Graph::in_memory(options.clone()).unwrap(), Graph::in_memory(options).unwrap());
            let keys = domain(kind, 9);
            let mut subscription =
                graph.subscribe(&SubscribeOptions::new().latest_only(latest_only).at_once(40)).unwrap();
            let mut random = 1_u64;
            for number in 0..2000 {
                random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                let draw = (
                    (random >> 56) as u8,
                    (random >> 40) as u16,
                    (random >> 24) as u16,
                    (random >> 20) as u32,
                );
                commit(&graph, &operation(&keys, draw));
                if number % 100 == 99 {
                    while subscription.lag().unwrap().commits > 0 {
                        for commit in subscription.pull().unwrap().commits() {
                            copy.transact(|transaction| commit.stage_in(transaction)).unwrap();
                        }
                    }
                    let state = |graph: &Graph| {
                        let mut oracle = Oracle::of_snapshot(&graph.snapshot().unwrap());
                        // Each graph counts versions itself.
                        oracle.records.values_mut().for_each(|record| drop(record.remove(2)));
                        oracle
                    };
                    assert_eq!(state(&copy), state(&graph));
                }
            }
            assert!(graph.snapshot().unwrap().edge_count_of(PARALLEL).at_least() > 0);
        }
    }
}
