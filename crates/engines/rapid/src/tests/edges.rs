//! Edge cases of the layout.

use super::Pipeline;
use crate::large_set::{LARGE, SMALL_AGAIN};
use hedgerow_model::{Adjacency, Cursor, Direction, Engine, GraphView, LabelId, Topology, VertexId};
use hedgerow_testing::contract::{delete, put};
use std::ops::ControlFlow;

fn runs(pipeline: &Pipeline, vertex: u32) -> usize {
    let locks = pipeline.locks();
    let adjacency =
        pipeline.engine.latest(&locks).unwrap().adjacency::<()>(LabelId(0), Direction::Out).unwrap();
    let mut runs = 0;
    let count = |_: &[VertexId], _: &[()]| {
        runs += 1;
        ControlFlow::<()>::Continue(())
    };
    assert!(adjacency.cursor().neighbors(VertexId::new(vertex), count).unwrap().is_continue());
    runs
}

#[test]
fn a_set_becomes_large_and_small_again_at_its_thresholds() {
    let (large, small) = (LARGE as u32, SMALL_AGAIN as u32);
    let mut pipeline = Pipeline::new(Topology::Directed, None);
    pipeline.commit(&[put(1, 0..large), put(2, 0..3)], 0).unwrap();
    assert_eq!(runs(&pipeline, 1), 1);
    pipeline.open();
    pipeline.commit(&[put(1, [large])], 0).unwrap();
    assert!(runs(&pipeline, 1) > 1);
    pipeline.open();
    pipeline.commit(&[delete(1, small..large)], 0).unwrap();
    assert!(runs(&pipeline, 1) > 1, "{small} and the last are left");
    pipeline.commit(&[delete(1, [0, 1])], 0).unwrap();
    assert_eq!(runs(&pipeline, 1), 1);
    pipeline.commit(&[delete(1, 0..=large), delete(2, 0..3)], 0).unwrap();
    assert_eq!(runs(&pipeline, 1), 0);
    pipeline.commit(&[put(1, 0..=large), put(63, [0, 64])], 0).unwrap();
    pipeline.check(&[0, 1, 2, 3, 63, 64, large]);
}
