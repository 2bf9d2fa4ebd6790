//! Computations that follow a graph, on every engine, over every label. Keys are not ids here: the
//! largest would be too sparse for arrays.

use crate::durability::own_files;
use crate::oracle::{ENGINES, LABELS, commit, domain, operation, options};
use hedgerow::kernels::{Components, DegreeKind, Degrees, Execution, Follow, Wcc};
use hedgerow::{
    EngineKind, ErrorKind, Graph, Kept, Key, KeyKind, LabelId, Snapshot, SubscribeOptions, Subscription,
    Topology, WriteGraph,
};
use hedgerow_testing::cases::one_case_in;
use hedgerow_testing::simulated::SimulatedFiles;
use proptest::prelude::*;
use std::sync::Arc;

const KINDS: [DegreeKind; 3] = [DegreeKind::Out, DegreeKind::In, DegreeKind::Total];

/// Computations of all kinds, over one label.
#[derive(Clone)]
struct Computations {
    label: LabelId,
    components: Components,
    degrees: [Degrees; 3],
}

impl Computations {
    fn new(label: LabelId) -> Self {
        let components = Components::default().label(label);
        Computations { label, components, degrees: KINDS.map(|kind| Degrees::new(kind).label(label)) }
    }

    fn begin(&mut self, snapshot: &Snapshot) {
        snapshot.begin(&mut self.components, Execution::default()).unwrap();
        self.degrees.iter_mut().for_each(|it| snapshot.begin(it, Execution::default()).unwrap());
    }

    fn follow(&mut self, before: &Snapshot, changes: &hedgerow::Changes, after: &Snapshot) {
        fn each<C: Follow>(it: &mut C, before: &Snapshot, changes: &hedgerow::Changes, after: &Snapshot) {
            after.follow(before, changes, it, Execution::default()).unwrap();
        }
        each(&mut self.components, before, changes, after);
        self.degrees.iter_mut().for_each(|degrees| each(degrees, before, changes, after));
        self.check(after);
    }

    fn check(&self, snapshot: &Snapshot) {
        let expected = snapshot.run(Wcc::default().label(self.label)).unwrap();
        assert_eq!(
            (self.components.labels(), self.components.count()),
            (expected.components, expected.count)
        );
        let mut anew = Computations::new(self.label);
        anew.begin(snapshot);
        for (degrees, expected) in self.degrees.iter().zip(&anew.degrees) {
            assert!(degrees.largest().eq(expected.largest()));
        }
    }
}

/// A graph, and computations that follow it.
struct Run {
    graph: Graph,
    keys: Vec<Key>,
    subscription: Subscription,
    before: Snapshot,
    computations: Vec<Computations>,
    kept: Kept<'static, Components>,
}

impl Run {
    fn new(engine: EngineKind, topology: Topology, kind: KeyKind) -> Self {
        let options = options(topology, kind).engine(engine).threads(1).simulated();
        let graph = match own_files::ENGINES.contains(&engine) {
            true => options.create_on(Arc::new(SimulatedFiles::new(1))),
            false => Graph::in_memory(options),
        };
        let graph = graph.unwrap();
        let mut subscription = graph.subscribe(&SubscribeOptions::new()).unwrap();
        let before = subscription.snapshot().unwrap();
        let mut computations = LABELS.map(Computations::new).to_vec();
        computations.iter_mut().for_each(|it| it.begin(&before));
        let kept = graph.keep(Components::default().label(LABELS[0]), Execution::default()).unwrap();
        Run { graph, keys: domain(kind, 11), subscription, before, computations, kept }
    }

    /// Pulls the changes, and lets the computations follow them.
    fn follow(&mut self) {
        let after = self.graph.snapshot().unwrap();
        let expected = after.run(Wcc::default().label(LABELS[0])).unwrap();
        assert_eq!(self.kept.refresh().unwrap().labels(), expected.components);
        assert_eq!(self.kept.snapshot().timestamp(), after.timestamp());
        let changes = match self.subscription.pull() {
            Ok(changes) => changes,
            // The log of an engine with its own files is pruned after each flush.
            Err(error) => {
                assert_eq!(error.kind(), ErrorKind::ChangesLost, "{error}");
                self.before = self.subscription.snapshot().unwrap();
                return self.computations.iter_mut().for_each(|it| it.begin(&self.before));
            }
        };
        assert_eq!(changes.token().commit(), after.timestamp());
        self.computations.iter_mut().for_each(|it| it.follow(&self.before, &changes, &after));
        self.before = after;
    }
}

proptest! {
    #![proptest_config(one_case_in(4))]

    #[test]
    fn computations_follow_a_graph(
        batches in prop::collection::vec(prop::collection::vec(any::<(u8, u16, u16, u32)>(), 0..25), 1..8),
        topology in prop::sample::select(vec![Topology::DirectedWithReverse, Topology::Undirected]),
        kind in prop::sample::select(vec![KeyKind::Number, KeyKind::String]),
    ) {
        let engines: [&[EngineKind]; 2] = [&ENGINES, &own_files::ENGINES];
        for engine in engines.concat() {
            let mut run = Run::new(engine, topology, kind);
            for batch in &batches {
                for draw in batch {
                    commit(&run.graph, &operation(&run.keys, *draw));
                }
                run.follow();
                // Frees the ids of deleted vertices.
                run.graph.reclaim().unwrap();
            }
        }
    }
}

#[test]
fn states_of_transactions_and_of_other_graphs_are_refused() {
    let [one, other] = [(), ()].map(|()| Run::new(EngineKind::Rapid, Topology::Undirected, KeyKind::Number));
    let (mut components, execution) = (Components::default(), Execution::default());
    let changes = { one.subscription }.pull().unwrap();
    let kind = |result: Result<(), hedgerow::Error>| result.unwrap_err().kind();
    let refused = one.before.follow(&other.before, &changes, &mut components, execution);
    assert_eq!(kind(refused), ErrorKind::InvalidInput);
    let transaction = one.graph.begin().unwrap();
    transaction.put_edge(LabelId::DEFAULT, 1, 2).unwrap();
    let staged = transaction.snapshot().unwrap();
    assert_eq!(kind(staged.begin(&mut components, execution)), ErrorKind::Unsupported);
    assert_eq!(
        kind(staged.follow(&one.before, &changes, &mut components, execution)),
        ErrorKind::Unsupported
    );
    assert_eq!(
        kind(one.before.follow(&staged, &changes, &mut components, execution)),
        ErrorKind::Unsupported
    );
}
