//! Neighbor sets of production sizes.
#![cfg(not(hedgerow_shuttle))]

mod support;

use hedgerow_model::{Engine, Topology};
use hedgerow_testing::oracle::Request;
use hedgerow_testing::pipeline::Pipeline;
use support::TestedRapid;

/// A hub grows past 1024 neighbors one by one and in bulk, and shrinks again, under snapshots.
#[test]
fn a_hub_grows_and_shrinks() {
    let hub = 63;
    let put = |ids: Vec<u32>| Request::PutEdges { label: 1, source: hub, destinations: ids, value: 5 };
    let delete = |ids: Vec<u32>| Request::DeleteEdges { label: 1, source: hub, destinations: ids };
    let mut pipeline = Pipeline::<TestedRapid>::new(Topology::Undirected, None);
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
}

/// Rows that together exceed a block's 16-bit positions: the longest become large sets.
#[test]
fn a_partition_of_rows_just_below_the_threshold() {
    let (owners, row) = (0..64_u32, 0..1023_u32);
    let put = |owner: u32, destinations: Vec<u32>| Request::PutEdges {
        label: 2,
        source: owner,
        destinations,
        value: owner,
    };
    let sample = [0, 1, 31, 62, 63, 1021, 1022, 1023, 1100];
    let mut pipeline = Pipeline::<TestedRapid>::new(Topology::Directed, None);
    let all: Vec<Request> = owners.clone().map(|owner| put(owner, row.clone().collect())).collect();
    pipeline.commit(&all, 0).unwrap();
    pipeline.open();
    // Single changes in place: every row reaches its threshold, and some rows must become large
    // before it.
    for destination in [1100, 1023] {
        for owner in owners.clone() {
            pipeline.commit(&[put(owner, vec![destination])], 0).unwrap();
        }
    }
    pipeline.check(&sample);
    pipeline.open();
    let more: Vec<Request> = owners.map(|owner| put(owner, (1024..1030).collect())).collect();
    pipeline.commit(&more, 0).unwrap();
    pipeline.check(&sample);
    pipeline.assert_counters_are_exact();
}
