//! Commits of one edge each.

use super::TestedTel;
use crate::layout::{BlockLayout, Shape};
use hedgerow_model::token::Registered;
use hedgerow_model::{Adjacency, Cursor, Direction, Engine, GraphView, LabelId, Topology, VertexId};
use hedgerow_testing::cases::one_case_in;
use hedgerow_testing::contract::put;
use hedgerow_testing::pipeline::Pipeline;
use proptest::prelude::*;
use std::ops::ControlFlow;

type Tested = Pipeline<TestedTel>;

const VERTICES: u32 = 40;

/// A graph with vertices and no edges.
fn with_vertices(topology: Topology, memory_limit: Option<usize>) -> Tested {
    let mut pipeline = Tested::new(topology, memory_limit);
    pipeline.commit(&[put(VERTICES, 0..VERTICES)], 0).unwrap();
    pipeline
}

#[test]
fn first_edges_and_growth_take_the_fast_path() {
    let mut pipeline = with_vertices(Topology::Undirected, None);
    for destination in 0..VERTICES {
        assert!(pipeline.commit_edge(2, (1, destination), Some(7), 0));
        pipeline.assert_counters_are_exact();
    }
    pipeline.check(&[0, 1, 2, 39]);
}

/// The memory limit is enforced where memory is reserved, which a single append or deletion never
/// does.
#[test]
fn with_a_memory_limit_only_growth_takes_the_slow_path() {
    let mut pipeline = with_vertices(Topology::Directed, Some(1 << 20));
    assert!(!pipeline.commit_edge(0, (1, 2), Some(0), 0));
    pipeline.commit(&[put(1, 2..4)], 0).unwrap();
    assert!(pipeline.commit_edge(0, (1, 5), Some(0), 0));
    assert!(pipeline.commit_edge(0, (1, 2), None, 0));
    let full = BlockLayout::of(1, Shape::plain(0)).capacity as u32;
    pipeline.commit(&[put(1, 10..10 + full - 3)], 0).unwrap();
    assert!(!pipeline.commit_edge(0, (1, 6), Some(0), 0));
    pipeline.check(&[1, 2, 5, 6]);
}

#[derive(Clone, Debug)]
enum Step {
    Edge { ends: (u32, u32), value: Option<u32>, margin: u64 },
    Open,
    Close(usize),
    Reclaim,
}

fn step() -> impl Strategy<Value = Step> {
    let margin = prop_oneof![Just(0_u64), Just(1000)];
    // Few owners, so that their logs grow.
    let edge = ((0..3_u32, 0..VERTICES), prop::option::weighted(0.7, 0..3_u32), margin);
    prop_oneof![
        20 => edge.prop_map(|(ends, value, margin)| Step::Edge { ends, value, margin }),
        2 => Just(Step::Open),
        1 => (0..8_usize).prop_map(Step::Close),
        1 => Just(Step::Reclaim),
    ]
}

proptest! {
    #![proptest_config(one_case_in(4))]

    /// Commits of one edge have the same effect as commits.
    #[test]
    fn single_edges_do_what_commits_do(
        topology in prop::sample::select(&[Topology::Directed, Topology::DirectedWithReverse, Topology::Undirected][..]),
        label in 0..3_u16,
        steps in prop::collection::vec(step(), 1..200),
    ) {
        let mut pipeline = with_vertices(topology, None);
        for step in steps {
            match step {
                Step::Edge { ends, value, margin } => assert!(pipeline.commit_edge(label, ends, value, margin)),
                Step::Open => pipeline.open(),
                Step::Close(choice) => pipeline.close(choice),
                Step::Reclaim => {
                    pipeline.reclaim(usize::MAX, 0);
                }
            }
            pipeline.assert_counters_are_exact();
        }
        pipeline.check(&[0, 1, 2, 20, 39, 40]);
        pipeline.snapshots.clear();
        pipeline.reclaim(usize::MAX, 0);
        assert_eq!(pipeline.engine.memory().retained_bytes, 0);
        pipeline.check(&[0, 1, 2, 20, 39, 40]);
    }

    /// Every snapshot reads the log of a vertex in the order in which its edges were put.
    #[test]
    fn edges_come_newest_first(steps in prop::collection::vec(step(), 1..200)) {
        let mut pipeline = with_vertices(Topology::Directed, None);
        let (mut order, mut orders) = (Vec::new(), Vec::new());
        for step in steps {
            match step {
                Step::Edge { ends: (source, destination), value, margin } => {
                    prop_assert!(pipeline.commit_edge(2, (source, destination), value, margin));
                    pipeline.open();
                    let now = pipeline.snapshots.pop().unwrap().token.at();
                    let same = |put: &Put| (put.0, put.1) == (destination, value.unwrap_or(u32::MAX));
                    if source == 0 && !order.iter().any(same) {
                        order.retain(|put: &Put| put.0 != destination);
                        order.extend(value.map(|value| (destination, value, now.0)));
                    }
                }
                Step::Open => {
                    pipeline.open();
                    orders.push(order.clone());
                }
                Step::Close(choice) => {
                    pipeline.close(choice);
                    if !orders.is_empty() {
                        orders.remove(choice % orders.len());
                    }
                }
                Step::Reclaim => {
                    pipeline.reclaim(usize::MAX, 0);
                }
            }
            for (snapshot, order) in pipeline.snapshots.iter().zip(&orders) {
                prop_assert_eq!(&oldest_first(&pipeline, &snapshot.token), order);
            }
        }
        pipeline.open();
        prop_assert_eq!(oldest_first(&pipeline, &pipeline.snapshots.last().unwrap().token), order);
    }
}

/// Neighbor, value, and the commit that put the edge.
type Put = (u32, u32, u64);

/// Returns the puts that [`Cursor::newest_first`] visits for vertex 0, reversed.
fn oldest_first(pipeline: &Tested, at: &Registered) -> Vec<Put> {
    let view = pipeline.engine.view(&(), at);
    let adjacency = view.adjacency::<u32>(LabelId(2), Direction::Out).unwrap();
    let mut puts = Vec::new();
    let flow = adjacency.cursor().newest_first(VertexId::new(0), |neighbor, value, commit| {
        puts.push((neighbor.get(), value, commit.0));
        ControlFlow::<()>::Continue(())
    });
    assert!(flow.unwrap().unwrap().is_continue());
    puts.reverse();
    puts
}
