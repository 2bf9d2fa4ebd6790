//! The MemGraphs that exist after a flush.
#![cfg(not(hedgerow_shuttle))]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use hedgerow_lsm::MemGraph;
use hedgerow_model::{CommitTimestamp, Counts, Durable, Topology};
use hedgerow_testing::oracle::{Oracle, Request};
use hedgerow_testing::pipeline::Pipeline;
use hedgerow_testing::{Tested, pipeline};
use support::TestedLsm;

/// Returns the bytes in memory after a commit, a call of `between`, another commit, and a call of
/// `after` with the result of `between`.
fn bytes_after<T>(
    between: impl Fn(&Pipeline<TestedLsm>) -> T,
    after: impl Fn(&Pipeline<TestedLsm>, T),
) -> usize {
    let mut pipeline = Pipeline::<TestedLsm>::new(Topology::Directed, None);
    let put = |source| Request::PutEdges { label: 0, source, destinations: vec![1, 2, 3], value: 7 };
    pipeline.commit(&[put(1), put(2)], 0).unwrap();
    let token = between(&pipeline);
    pipeline.commit(&[put(2)], 0).unwrap();
    after(&pipeline, token);
    pipeline.check(&[1, 2, 3]);
    pipeline.engine.report().unwrap().unwrap().memory.recent_bytes
}

#[test]
fn commits_after_an_announced_flush_are_not_copied() {
    let flushed_before = bytes_after(|pipeline| pipeline.flush().unwrap(), |_, ()| ());
    let announced = bytes_after(Pipeline::begin_flush, |pipeline, at| pipeline.flush_at(&at).unwrap());
    let copied = bytes_after(Pipeline::newest, |pipeline, at| pipeline.flush_at(&at).unwrap());
    assert_eq!(announced, flushed_before, "the second commit alone");
    assert!(copied > announced, "{copied} {announced}: a MemGraph with the copy besides");
}

#[test]
fn commits_beyond_the_range_of_a_mem_graph_go_to_another() {
    let engine = <TestedLsm>::engine(Topology::Directed, pipeline::catalog());
    let last = CommitTimestamp(MemGraph::MOST_COMMITS - 1);
    let mut pipeline =
        Pipeline::<TestedLsm>::around(engine, Oracle::new(Topology::Directed), Counts::default(), last);
    let put = |value| Request::PutEdges { label: 0, source: 1, destinations: vec![value, 9], value };
    for value in 2..6 {
        pipeline.open();
        pipeline.commit(&[put(value)], 0).unwrap();
        pipeline.check(&[1, 2, 9]);
    }
    pipeline.flush().unwrap();
    pipeline.check(&[1, 2, 9]);
}
