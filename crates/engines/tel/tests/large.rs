//! Neighbor sets of production sizes.
#![cfg(not(hedgerow_shuttle))]

mod support;

use hedgerow_model::{Engine, Topology};
use hedgerow_testing::oracle::Request;
use hedgerow_testing::pipeline::Pipeline;
use support::TestedTel;

/// A hub grows one by one and in bulk, through many block sizes, and shrinks again, under
/// snapshots.
#[test]
fn a_hub_grows_and_shrinks() {
    let hub = 63;
    let put = |ids: Vec<u32>| Request::PutEdges { label: 1, source: hub, destinations: ids, value: 5 };
    let delete = |ids: Vec<u32>| Request::DeleteEdges { label: 1, source: hub, destinations: ids };
    let mut pipeline = Pipeline::<TestedTel>::new(Topology::Undirected, None);
    let sample = [0, 1, hub, 64, 1022, 1023, 1024, 2999, 3000, 5999];

    pipeline.commit(&[put((0..1020).map(|id| id * 2).collect())], 0).unwrap();
    for id in 1015..1030 {
        pipeline.commit(&[put(vec![id * 2])], 0).unwrap();
        pipeline.open();
    }
    pipeline.commit(&[put((0..6000).filter(|id| id % 3 == 0).collect())], 0).unwrap();
    pipeline.check(&sample);
    pipeline.open();
    for first in [5000, 3000, 1500] {
        pipeline.commit(&[delete((first..6000).collect())], 0).unwrap();
        pipeline.close(3);
        pipeline.reclaim(usize::MAX, 0);
        pipeline.assert_counters_are_exact();
    }
    for first in (0..1500).step_by(300) {
        pipeline.commit(&[delete((first..first + 300).collect())], 0).unwrap();
        pipeline.open();
    }
    pipeline.commit(&[put((0..2000).collect())], 0).unwrap();
    pipeline.open();
    let deleted = [Request::DeleteVertex { vertex: hub }];
    pipeline.abandon(&deleted);
    pipeline.commit(&deleted, 0).unwrap();
    pipeline.commit(&[Request::PutVertex { vertex: hub, property: Some(7) }], 0).unwrap();
    pipeline.check(&sample);
    while !pipeline.snapshots.is_empty() {
        pipeline.close(0);
    }
    pipeline.reclaim(usize::MAX, 0);
    assert_eq!(pipeline.engine.memory().retained_bytes, 0);
    assert!(pipeline.retained().is_empty());
    pipeline.assert_counters_are_exact();
}

/// Freeing many old entries of one hub does not take quadratic time, although rewrites move them
/// meanwhile.
#[test]
fn the_garbage_of_a_hub_is_freed_in_pieces() {
    let put = |ids: Vec<u32>, value| Request::PutEdges { label: 2, source: 1, destinations: ids, value };
    let mut pipeline = Pipeline::<TestedTel>::new(Topology::Directed, None);
    for value in 0..4 {
        pipeline.commit(&[put((0..30_000).collect(), value)], 0).unwrap();
        pipeline.open();
    }
    let full = pipeline.engine.memory().live_bytes;
    while !pipeline.snapshots.is_empty() {
        pipeline.close(1);
        while pipeline.reclaim(20_000, 0).more {}
        pipeline.assert_counters_are_exact();
    }
    assert_eq!(pipeline.engine.memory().retained_bytes, 0);
    assert!(pipeline.engine.memory().live_bytes <= full / 2);
    pipeline.check(&[0, 1, 2, 29_999, 30_000]);
}
