//! The engines under random commits and snapshots: what is read, and what the memory counters say.

use super::*;
use hedgerow_model::token::{HeldLocks, LiveTimestamps, Registered, Stamp};
use hedgerow_model::{
    Adjacency, AdjacencyEffects, Catalogue, Counts, Cursor, EdgeSchema, Effects, Engine, GraphView, LabelId,
    LabelSchema, LockUnit, Record, RecordSchema, Timestamp, UnitLocks, VertexChange, VertexEffect,
};
use hedgerow_subgraphs::{PARTITION_SIZE, SubgraphOptions};
use proptest::prelude::*;
use std::collections::BTreeMap;

/// Source and destination, and the value.
type Model = BTreeMap<(u32, u32), u64>;

/// Vertices in three partitions.
const VERTICES: u32 = 2 * PARTITION_SIZE as u32 + 10;

#[derive(Clone, Debug)]
enum Step {
    Commit(BTreeMap<(u32, u32), Option<u64>>),
    Open,
    Close(usize),
    Reclaim,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let vertex = || prop_oneof![0..3_u32, 0..VERTICES];
    let value = || prop::option::weighted(0.6, 0..3_u64);
    let few = prop::collection::btree_map((vertex(), vertex()), value(), 1..4);
    let many = prop::collection::btree_map((vertex(), 0..VERTICES), value(), 1..90);
    let step = prop_oneof![
        5 => few.prop_map(Step::Commit),
        3 => many.prop_map(Step::Commit),
        2 => Just(Step::Open),
        2 => any::<usize>().prop_map(Step::Close),
        1 => Just(Step::Reclaim),
    ];
    prop::collection::vec(step, 1..60)
}

/// A store on one thread, what it should hold, and its open snapshots.
struct Run<C: Container> {
    store: Subgraphs<C>,
    model: Model,
    snapshots: Vec<(Registered, Model)>,
    last: Timestamp,
}

fn counts() -> Counts {
    Counts { vertex_bound: VERTICES, ..Counts::default() }
}

fn locks() -> HeldLocks<'static> {
    // SAFETY: the runs are on one thread and read nothing newest across a commit.
    unsafe { HeldLocks::all(counts()) }
}

impl<C: Container> Run<C> {
    fn new() -> Self {
        let label = LabelSchema { name: "edge".to_owned(), edges: EdgeSchema::Value(ColumnType::U64) };
        let catalogue = Catalogue::new(vec![label], RecordSchema::default()).unwrap();
        let options = SubgraphOptions { topology: Topology::Directed, catalogue, memory_limit: None };
        let store = Subgraphs::new(options).unwrap();
        let mut run = Run { store, model: Model::new(), snapshots: Vec::new(), last: Timestamp::ZERO };
        let put =
            |vertex| VertexEffect { vertex: VertexId::new(vertex), change: VertexChange::Put(Record::EMPTY) };
        run.apply(&Effects { vertices: (0..VERTICES).map(put).collect(), ..Effects::default() });
        run
    }

    fn apply(&mut self, effects: &Effects) {
        let locks = locks();
        let prepared = self.store.prepare(&locks, effects, None).unwrap();
        let at = self.last.next();
        let editable_from = self.snapshots.last().map_or(Timestamp::ZERO, |(newest, _)| newest.at().next());
        // SAFETY: counted up on one thread, under the lock of everything; every registered timestamp
        // is below `editable_from`, and snapshots register the newest stamp.
        let stamp = unsafe { Stamp::new(at, editable_from.min(at)) };
        self.store.apply(stamp, prepared.changes);
        self.last = at;
    }

    fn step(&mut self, step: &Step) {
        match step {
            Step::Commit(changes) => {
                let change = |((owner, neighbour), value): (&(u32, u32), &Option<u64>)| EdgeChange {
                    owner: VertexId::new(*owner),
                    neighbour: VertexId::new(*neighbour),
                    value: value.map(EdgeValue),
                };
                let changes_of = AdjacencyEffects {
                    label: LabelId::DEFAULT,
                    direction: Direction::Out,
                    changes: changes.iter().map(change).collect(),
                };
                self.apply(&Effects {
                    adjacencies: [changes_of].into_iter().collect(),
                    ..Effects::default()
                });
                for (edge, value) in changes {
                    match value {
                        Some(value) => self.model.insert(*edge, *value),
                        None => self.model.remove(edge),
                    };
                }
            }
            Step::Open => {
                // SAFETY: everything up to `last` is applied, and `snapshots` is what the stamps and
                // the live timestamps are made from.
                let token = unsafe { Registered::new(self.last, counts()) };
                self.snapshots.push((token, self.model.clone()));
            }
            Step::Close(choice) if !self.snapshots.is_empty() => {
                self.snapshots.remove(choice % self.snapshots.len());
            }
            Step::Close(_) => {}
            Step::Reclaim => self.reclaim(),
        }
        assert_eq!(self.store.memory(), self.store.recount_memory(&locks()));
    }

    fn reclaim(&self) {
        let mut live: Vec<Timestamp> = self.snapshots.iter().map(|(token, _)| token.at()).collect();
        live.dedup();
        // SAFETY: all registered timestamps are there, and the next will be `last` or above.
        let live = unsafe { LiveTimestamps::as_of(live, self.last) };
        let before = self.store.memory().retained_bytes;
        let reclaimed = self.store.reclaim(&live, &AllFree, usize::MAX);
        assert_eq!(before - self.store.memory().retained_bytes, reclaimed.bytes);
    }

    fn check(&self) {
        check(&self.store.latest(&locks()), &self.model);
        self.snapshots.iter().for_each(|(token, model)| check(&self.store.view(token), model));
    }
}

/// Grants every lock.
struct AllFree;

impl UnitLocks for AllFree {
    fn try_with(&self, _unit: LockUnit, work: &mut dyn FnMut(&HeldLocks<'_>)) -> bool {
        work(&locks());
        true
    }
}

fn check(view: &impl GraphView, model: &Model) {
    let adjacency = view.adjacency::<u64>(LabelId::DEFAULT, Direction::Out).unwrap();
    let mut cursor = adjacency.cursor();
    let mut found = Model::new();
    let flow = cursor.scan(0..VERTICES, |owner, neighbours, values| {
        for (neighbour, value) in neighbours.iter().zip(values) {
            found.insert((owner.get(), neighbour.get()), *value);
        }
        ControlFlow::<()>::Continue(())
    });
    assert!(flow.is_ok_and(|flow| flow.is_continue()));
    assert_eq!(&found, model);
    for vertex in 0..VERTICES {
        let expected: Vec<(u32, u64)> =
            model.range((vertex, 0)..=(vertex, u32::MAX)).map(|((_, id), value)| (*id, *value)).collect();
        let Ok((neighbours, values)) = cursor.gather(VertexId::new(vertex)) else { unreachable!() };
        let gathered = neighbours.iter().map(|id| id.get()).zip(values.iter().copied());
        assert!(gathered.eq(expected), "vertex {vertex}");
    }
}

fn run<C: Container>(steps: &[Step]) {
    let mut run = Run::<C>::new();
    for step in steps {
        run.step(step);
        run.check();
    }
    run.snapshots.clear();
    run.reclaim();
    assert_eq!(run.store.memory().retained_bytes, 0);
}

proptest! {
    #[test]
    fn plain_trees_keep_snapshots_and_count_exactly(steps in steps()) {
        run::<CopyOnWrite<VertexIndex<Art>>>(&steps);
    }

    #[test]
    fn compressed_trees_keep_snapshots_and_count_exactly(steps in steps()) {
        run::<CopyOnWrite<VertexIndex<CompressedArt>>>(&steps);
    }

    #[test]
    fn vectors_and_trees_keep_snapshots_and_count_exactly(steps in steps()) {
        run::<CopyOnWrite<VertexIndex<VectorOrTree>>>(&steps);
    }

    #[test]
    fn clustered_sets_keep_snapshots_and_count_exactly(steps in steps()) {
        run::<CopyOnWrite<Clustered>>(&steps);
    }
}
