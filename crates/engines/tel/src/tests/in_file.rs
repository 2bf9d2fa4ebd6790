//! The engine against the oracle, with its blocks in a file, including a full one.

use super::support::{TestedInFile, TestedInSmallFile, TestedTel};
use crate::Tel;
use hedgerow_model::{CapacityError, Engine, EngineError, Topology};
use hedgerow_testing::Tested;
use hedgerow_testing::oracle::Request;
use hedgerow_testing::pipeline::Pipeline;

hedgerow_testing::contract_tests!(TestedInFile);
hedgerow_testing::accounting_tests!(TestedInFile);

/// Puts edges of one vertex to a range of ids.
fn put(source: u32, ids: std::ops::Range<u32>) -> Request {
    Request::PutEdges { label: 2, source, destinations: ids.collect(), value: 3 }
}

/// Logs grow through all sizes, up to those with extents of their own, and shrink again.
#[test]
fn a_hub_grows_and_shrinks_in_a_file() {
    let mut pipeline = Pipeline::<TestedInFile>::new(Topology::Directed, None);
    for first in (0..48_000).step_by(8_000) {
        pipeline.commit(&[put(1, first..first + 8_000)], 0).unwrap();
    }
    pipeline.open();
    for last in [30_000, 10_000, 100, 1] {
        let deleted = Request::DeleteEdges { label: 2, source: 1, destinations: (last..48_000).collect() };
        pipeline.commit(&[deleted], 0).unwrap();
        pipeline.reclaim(usize::MAX, 0);
        pipeline.check(&[0, 1, last - 1, last, 47_999]);
        pipeline.assert_counters_are_exact();
    }
    let before = pipeline.engine.memory().live_bytes;
    pipeline.close(0);
    pipeline.reclaim(usize::MAX, 0);
    pipeline.assert_counters_are_exact();
    assert!(pipeline.engine.memory().live_bytes < before / 100);
    pipeline.check(&[0, 1, 2, 47_999]);
}

/// Hubs of one size after another: each size reuses the memory of deleted hubs of other sizes.
fn hubs_grow_and_shrink<T: Tested<Engine = Tel>>() {
    const EDGES: u32 = 64_000;
    let mut pipeline = Pipeline::<T>::new(Topology::Directed, None);
    let mut bytes = Vec::new();
    for degree in [500, 1000, 2000, 4000, 8000, 16_000, 32_000, 1000, 32_000] {
        let hubs = 0..EDGES / degree;
        for source in hubs.clone() {
            pipeline.commit(&[put(source, 0..degree)], 0).unwrap();
        }
        for source in hubs {
            let deleted = Request::DeleteEdges { label: 2, source, destinations: (0..degree).collect() };
            pipeline.commit(&[deleted], 0).unwrap();
        }
        while pipeline.reclaim(usize::MAX, 0).more {}
        pipeline.engine.retired.free_passed(&pipeline.engine.store);
        bytes.push(pipeline.engine.store.bytes());
    }
    assert!(bytes.iter().all(|bytes| *bytes <= 8 << 20), "{bytes:?}");
    pipeline.assert_counters_are_exact();
}

#[test]
fn hubs_that_grow_and_shrink_use_the_same_memory() {
    hubs_grow_and_shrink::<TestedTel>();
}

#[test]
fn hubs_that_grow_and_shrink_use_the_same_part_of_the_file() {
    hubs_grow_and_shrink::<TestedInFile>();
}

/// A commit that does not fit fails and changes nothing; commits that need no memory succeed, and
/// deletions make room.
#[test]
fn a_full_file_refuses_and_recovers() {
    let mut pipeline = Pipeline::<TestedInSmallFile>::new(Topology::Directed, None);
    let mut vertices = 0;
    let error = loop {
        match pipeline.commit(&[put(vertices, 0..1000)], 0) {
            Ok(()) => vertices += 1,
            Err(error) => break error,
        }
    };
    assert!(matches!(error, EngineError::Capacity(CapacityError::Scratch { .. })), "{error}");
    assert!(error.to_string().contains("make room on its disk"), "{error}");
    assert!(vertices > 40, "{vertices} vertices fitted");
    pipeline.check(&[0, 1, vertices - 1, vertices]);
    // From now on a first edge takes the slow path, where it can fail; changes that need no memory
    // do not.
    assert!(pipeline.commit(&[put(0, 5000..6000), put(1, 5000..6000)], 0).is_err());
    assert!(!pipeline.commit_edge(2, (vertices + 1, 1), Some(1), 0));
    assert!(pipeline.commit_edge(2, (0, 1), None, 0));
    pipeline.check(&[0, 1, vertices - 1, vertices]);
    // Changes that shrink the graph succeed, and their logs are rewritten.
    for source in 0..vertices / 2 {
        let deleted = Request::DeleteEdges { label: 2, source, destinations: (10..1000).collect() };
        pipeline.commit(&[deleted], 0).unwrap();
    }
    while pipeline.reclaim(usize::MAX, 0).more {}
    pipeline.assert_counters_are_exact();
    pipeline.commit(&[put(vertices, 0..1000)], 0).unwrap();
    pipeline.check(&[0, 1, vertices - 1, vertices]);
    pipeline.assert_counters_are_exact();
}
