//! Subscriptions: followers build the state of the graph from changes, on every engine, in memory
//! and in stores.

mod followed;
mod promises;

use crate::durability::own_files;
use crate::oracle::{ENGINES, Oracle, PARALLEL, Stream, commit, domain, operation, options, stage};
use followed::Followed;
use hedgerow::{
    Begin, ChangeToken, CheckpointOptions, CommitTimestamp, Durability, EngineKind, Error, ErrorKind, Graph,
    GraphOptions, Key, KeyKind, LabelId, SubscribeOptions, Subscription, Topology,
};
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

struct Run {
    engine: EngineKind,
    graph: Option<Graph>,
    /// The files and the options of a graph in a store.
    store: Option<(SimulatedFiles, GraphOptions)>,
    keys: Vec<Key>,
    subscription: Option<Subscription>,
    followed: Followed,
    latest_only: bool,
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
        let subscription = graph.subscribe(&SubscribeOptions::new()).unwrap();
        Run {
            engine,
            graph: Some(graph),
            store: files.map(|files| (files, options)),
            keys: domain(kind, 11),
            subscription: Some(subscription),
            followed: Followed::new(Oracle::new(topology), CommitTimestamp::ZERO),
            latest_only: false,
        }
    }

    fn graph(&self) -> &Graph {
        self.graph.as_ref().unwrap()
    }

    fn step(&mut self, step: &Step) {
        let graph = self.graph.clone().unwrap();
        let key = |number: &u16| self.keys[usize::from(*number) % self.keys.len()].clone();
        match step {
            Step::One(draw) => drop(commit(&graph, &operation(&self.keys, *draw))),
            Step::Stream(edges, label, deletes) => {
                let edges = edges
                    .iter()
                    .zip(0..)
                    .map(|((source, destination), n)| (key(source), key(destination), n % 3));
                let label = LabelId(u16::from(*label));
                Stream { label, deletes: *deletes, edges: edges.collect() }.run(&graph).unwrap();
            }
            Step::Transaction(draws) => {
                let operations = draws.iter().map(|draw| operation(&self.keys, *draw));
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
            Step::Pull => drop(self.pull()),
            Step::GoOn(at_once, latest_only) => {
                let before = self.subscription.take().unwrap();
                self.latest_only = *latest_only;
                // In memory, the changes are kept while there is a subscription.
                let options = SubscribeOptions::new().at_once(*at_once).latest_only(*latest_only);
                self.go_on(before.token(), options);
            }
            Step::Snapshot => self.take_snapshot(),
            Step::Reclaim => drop(graph.reclaim().unwrap()),
            Step::Checkpoint if self.store.is_some() => {
                // Changes that were not pulled would be lost.
                self.check();
                graph.checkpoint(&CheckpointOptions::new()).unwrap();
            }
            Step::Reopen => {
                let Some((files, options)) = self.store.clone() else { return };
                let token = self.subscription.take().unwrap().token();
                graph.close().unwrap();
                drop((graph, self.graph.take()));
                self.latest_only = false;
                self.graph = Some(options.open_on(Arc::new(files)).unwrap());
                self.go_on(token, SubscribeOptions::new());
            }
            Step::Checkpoint => {}
        }
    }

    fn pull(&mut self) -> usize {
        match self.subscription.as_mut().unwrap().pull() {
            Ok(changes) => {
                assert!(!self.latest_only || changes.commits().count() < 2);
                self.followed.apply(&changes, self.latest_only);
                changes.len()
            }
            Err(error) => {
                self.check_lost(&error);
                self.take_snapshot();
                0
            }
        }
    }

    /// Subscribes from a position on, which was text in between.
    fn go_on(&mut self, token: ChangeToken, options: SubscribeOptions) {
        let token = token.to_string().parse().unwrap();
        match self.graph().subscribe(&options.clone().begin(Begin::After(token))) {
            Ok(subscription) => self.subscription = Some(subscription),
            Err(error) => {
                self.check_lost(&error);
                self.subscription = Some(self.graph().subscribe(&options.begin(Begin::Now)).unwrap());
                self.take_snapshot();
            }
        }
    }

    /// The log of an engine with its own files is pruned after each flush.
    fn check_lost(&self, error: &Error) {
        let owns_files = self.store.is_some() && own_files::ENGINES.contains(&self.engine);
        assert!(owns_files && error.kind() == ErrorKind::ChangesLost, "{error}");
    }

    /// The follower begins again.
    fn take_snapshot(&mut self) {
        let snapshot = self.subscription.as_mut().unwrap().snapshot().unwrap();
        self.followed = Followed::new(Oracle::of_snapshot(&snapshot), snapshot.timestamp());
    }

    /// The follower that has pulled everything has the state of the graph.
    fn check(&mut self) {
        let snapshot = self.graph().snapshot().unwrap();
        if self.graph().durability().is_some_and(|durability| durability != Durability::Sync) {
            self.graph().flush().unwrap();
        }
        while self.subscription.as_ref().unwrap().token().commit() < snapshot.timestamp() {
            self.pull();
        }
        assert_eq!(self.pull(), 0);
        assert_eq!(self.subscription.as_ref().unwrap().lag().commits, 0);
        assert_eq!(self.followed.oracle, Oracle::of_snapshot(&snapshot));
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
                    while subscription.lag().commits > 0 {
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
