//! Random sequences of commits, snapshots and reclamations.

use crate::Tested;
use crate::oracle::{LABELS, Request};
use crate::pipeline::{Pipeline, other_labels, with_first_label};
use hedgerow_model::{Engine, Topology};
use proptest::prelude::*;
use proptest::test_runner::TestRunner;

/// First and last vertices of partitions, segments and the id space, and some in between.
const VERTICES: [u32; 12] = [0, 1, 5, 62, 63, 64, 65, 200, 262_143, 262_144, 3_000_000_000, 4_294_967_294];

#[derive(Clone, Debug)]
enum Step {
    Commit { requests: Vec<Request>, margin: u64 },
    Abandon(Vec<Request>),
    Open,
    Close(usize),
    Reclaim { budget_bytes: usize, busy: u32 },
    Flush,
}

fn vertex() -> impl Strategy<Value = u32> {
    prop::sample::select(&VERTICES[..])
}

/// Generates a few of the vertices, or a range that grows and shrinks large sets.
fn destinations() -> impl Strategy<Value = Vec<u32>> {
    let range = (0..80_u32, 1..40_u32, 1..3_u32);
    let range = range.prop_map(|(first, length, step)| (0..length).map(|i| first + i * step).collect());
    prop_oneof![3 => prop::collection::vec(vertex(), 1..4), 2 => range]
}

fn request() -> impl Strategy<Value = Request> {
    // Few owners, so that degrees grow.
    let source = || prop_oneof![3 => Just(1_u32), 2 => Just(63), 1 => Just(4_294_967_294), 2 => vertex()];
    let label = || prop_oneof![Just(0), 0..LABELS];
    let put = (label(), source(), destinations(), 0..3_u32);
    let delete = (label(), source(), destinations());
    prop_oneof![
        5 => put.prop_map(|(label, source, destinations, value)|
            Request::PutEdges { label, source, destinations, value }),
        4 => delete.prop_map(|(label, source, destinations)|
            Request::DeleteEdges { label, source, destinations }),
        2 => (vertex(), prop::option::of(0..3_i64)).prop_map(|(vertex, property)|
            Request::PutVertex { vertex, property }),
        1 => vertex().prop_map(|vertex| Request::DeleteVertex { vertex }),
    ]
}

fn step() -> impl Strategy<Value = Step> {
    let requests = || prop::collection::vec(request(), 1..4);
    let budget = prop_oneof![Just(usize::MAX), 0..4000_usize];
    prop_oneof![
        8 => (requests(), prop_oneof![Just(0_u64), Just(1000), 0..5_u64])
            .prop_map(|(requests, margin)| Step::Commit { requests, margin }),
        1 => requests().prop_map(Step::Abandon),
        3 => Just(Step::Open),
        2 => (0..8_usize).prop_map(Step::Close),
        2 => (budget, prop_oneof![Just(0_u32), Just(1)])
            .prop_map(|(budget_bytes, busy)| Step::Reclaim { budget_bytes, busy }),
        1 => Just(Step::Flush),
    ]
}

fn topology() -> impl Strategy<Value = Topology> {
    prop_oneof![Just(Topology::Directed), Just(Topology::DirectedWithReverse), Just(Topology::Undirected)]
}

fn play<T: Tested>(pipeline: &mut Pipeline<T>, step: &Step) {
    match step {
        Step::Commit { requests, margin } => pipeline.commit(requests, *margin).unwrap(),
        Step::Abandon(requests) => pipeline.abandon(requests),
        Step::Open => pipeline.open(),
        Step::Close(choice) => pipeline.close(*choice),
        Step::Flush => pipeline.flush().unwrap(),
        Step::Reclaim { budget_bytes, busy } => {
            let reclaimed = pipeline.reclaim(*budget_bytes, *busy);
            if *budget_bytes == usize::MAX && *busy == 0 && T::RECOUNT.is_some() {
                assert!(!reclaimed.more);
            }
        }
    }
}

/// Checks random sequences against the oracle: 64, or the number in `PROPTEST_CASES`.
pub fn every_snapshot_stays_what_it_was<T: Tested>() {
    run(|topology, steps| {
        let mut pipeline = Pipeline::<T>::new(topology, None);
        play_all(&mut pipeline, steps);
        finish(pipeline);
    });
}

/// Like [`every_snapshot_stays_what_it_was`], but the graph has one label at the start, gets the
/// others in between, and keeps its snapshots.
pub fn every_snapshot_stays_what_it_was_while_labels_come<T: Tested>() {
    run(|topology, steps| {
        let mut pipeline = with_first_label::<T>(topology);
        let labels = other_labels();
        let mut parts = steps.chunks(steps.len().div_ceil(usize::from(LABELS)));
        for (known, label) in (1..).zip(&labels) {
            for step in parts.next().unwrap_or_default() {
                play(&mut pipeline, &of_labels_below(known, step));
                pipeline.assert_counters_are_exact();
            }
            pipeline.engine.add_label(label);
            pipeline.assert_counters_are_exact();
        }
        pipeline.check(&VERTICES);
        play_all(&mut pipeline, parts.next().unwrap_or_default());
        finish(pipeline);
    });
}

/// Restricts a step to the first `known` labels.
fn of_labels_below(known: u16, step: &Step) -> Step {
    let mut step = step.clone();
    if let Step::Commit { requests, .. } | Step::Abandon(requests) = &mut step {
        for request in requests {
            if let Request::PutEdges { label, .. } | Request::DeleteEdges { label, .. } = request {
                *label %= known;
            }
        }
    }
    step
}

fn run(check: impl Fn(Topology, &[Step])) {
    let config = match std::env::var_os("PROPTEST_CASES") {
        Some(_) => ProptestConfig::default(),
        None => ProptestConfig::with_cases(64),
    };
    let sequences = (topology(), prop::collection::vec(step(), 1..40));
    let outcome = TestRunner::new(config).run(&sequences, |(topology, steps)| {
        check(topology, &steps);
        Ok(())
    });
    outcome.unwrap_or_else(|failure| panic!("{failure}"));
}

fn play_all<T: Tested>(pipeline: &mut Pipeline<T>, steps: &[Step]) {
    for (number, step) in steps.iter().enumerate() {
        play(pipeline, step);
        pipeline.assert_counters_are_exact();
        if number % 8 == 7 {
            pipeline.check(&VERTICES);
        }
    }
    pipeline.check(&VERTICES);
}

/// Closes all snapshots, and checks that nothing is retained afterwards.
fn finish<T: Tested>(mut pipeline: Pipeline<T>) {
    while !pipeline.snapshots.is_empty() {
        pipeline.close(0);
        pipeline.reclaim(500, 0);
        pipeline.assert_counters_are_exact();
    }
    pipeline.reclaim_all();
    pipeline.assert_nothing_is_retained();
    pipeline.assert_counters_are_exact();
    pipeline.check(&VERTICES);
}
