//! Which MemGraphs there are after a flush.
#![cfg(not(hedgerow_shuttle))]

mod support;

use hedgerow_model::{Durable, Engine, Topology};
use hedgerow_testing::oracle::Request;
use hedgerow_testing::pipeline::Pipeline;
use support::TestedLsm;

/// Bytes in memory after a commit, what `between` does, another commit, and what `after` does with the
/// result of `between`.
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
    let upkeep = pipeline.engine.durable().and_then(Durable::upkeep).unwrap();
    upkeep.report().unwrap().memory.recent_bytes
}

#[test]
fn commits_after_an_announced_flush_are_not_copied() {
    let flushed_before = bytes_after(|pipeline| pipeline.flush().unwrap(), |_, ()| ());
    let announced = bytes_after(Pipeline::begin_flush, |pipeline, at| pipeline.flush_at(&at).unwrap());
    let copied = bytes_after(Pipeline::newest, |pipeline, at| pipeline.flush_at(&at).unwrap());
    assert_eq!(announced, flushed_before, "the second commit alone");
    assert!(copied > announced, "{copied} {announced}: a MemGraph with the copy besides");
}
