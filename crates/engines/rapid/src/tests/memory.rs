//! Memory that snapshots retain.

use super::Pipeline;
use crate::large_set::LARGE;
use crate::leaf::LEAF_CAPACITY;
use hedgerow_model::{Engine, Topology};
use hedgerow_testing::contract::put_valued;

#[test]
fn a_snapshot_is_charged_with_what_only_it_keeps() {
    let many = 0..4 * LARGE as u32;
    let mut pipeline = Pipeline::new(Topology::Directed, None);
    pipeline.commit(&[put_valued(0, many.clone(), 1)], 0).unwrap();
    pipeline.open();
    let at = pipeline.snapshots[0].token.at();
    pipeline.commit(&[put_valued(0, [7], 2)], 0).unwrap();
    let one_leaf = pipeline.engine.memory().retained_bytes;
    assert!(one_leaf > 0);
    assert_eq!(pipeline.retained(), [(at, one_leaf)]);
    // Every replaced version leaves the snapshot with more memory of its own.
    for destination in many {
        pipeline.commit(&[put_valued(0, [destination], 3)], 0).unwrap();
        pipeline.assert_counters_are_exact();
    }
    let all = pipeline.engine.memory().retained_bytes;
    // Only the snapshot keeps all leaves except the first: an id and a value of four bytes each per
    // entry.
    assert!(all - one_leaf >= (4 * LARGE - LEAF_CAPACITY) * 8);
    assert_eq!(pipeline.retained(), [(at, all)]);
    pipeline.close(0);
    assert_eq!(pipeline.reclaim(usize::MAX, 0).bytes, all);
    assert_eq!(pipeline.engine.memory().retained_bytes, 0);
}
