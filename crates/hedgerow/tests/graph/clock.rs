//! Clocks that are ahead and corrected later: states by time, aging of the history, and the report
//! of opening a store.

use crate::engines::in_memory;
use hedgerow::{
    AsOf, CheckpointOptions, CommitTimestamp, ErrorKind, Graph, GraphOptions, History, LabelId, ManualClock,
    WriteGraph,
};
use hedgerow_testing::simulated::SimulatedFiles;
use std::sync::Arc;
use std::time::Duration;

const SECOND: u64 = 1_000_000;
const YEAR: u64 = 365 * 24 * 3600 * SECOND;

/// The time at which the tests begin.
const BEGIN: u64 = 50 * YEAR;

fn clock() -> ManualClock {
    let clock = ManualClock::default();
    clock.set(BEGIN);
    clock
}

/// Commits one edge per second.
fn commit_each_second(graph: &Graph, clock: &ManualClock, destinations: std::ops::Range<u64>) {
    for destination in destinations {
        clock.advance(Duration::from_secs(1));
        graph.put_edge(LabelId::DEFAULT, 1, destination).unwrap();
    }
}

/// Returns the commit of the newest state at a time.
fn state_at(graph: &Graph, time: u64) -> Option<u64> {
    graph.snapshot_at(AsOf::Time(time)).ok().map(|snapshot| snapshot.timestamp().0)
}

#[test]
fn a_clock_that_was_ahead_hides_nothing_and_keeps_nothing_for_longer() {
    for engine in in_memory() {
        let clock = clock();
        let options = GraphOptions::new().engine(engine).history(History::For(Duration::from_secs(10)));
        let graph = Graph::in_memory(options.clock(&clock)).unwrap();
        commit_each_second(&graph, &clock, 1..4);
        clock.set(BEGIN + YEAR);
        graph.put_edge(LabelId::DEFAULT, 1, 4).unwrap();
        clock.set(BEGIN + 3 * SECOND);
        assert_eq!(state_at(&graph, BEGIN + 3 * SECOND), Some(4), "now");
        commit_each_second(&graph, &clock, 5..7);
        // Commits dated in the future are found by their age.
        let at = |second: u64| state_at(&graph, BEGIN + second * SECOND);
        assert_eq!([0, 1, 2, 3, 4, 5, 6].map(at), [0, 1, 2, 4, 5, 6, 6].map(Some));
        assert_eq!(state_at(&graph, BEGIN - 1), None);
        // Commits dated in the future age like others.
        clock.advance(Duration::from_secs(8));
        commit_each_second(&graph, &clock, 7..8);
        assert!(!graph.reclaim().unwrap().more);
        assert_eq!(graph.oldest_kept().unwrap().0, CommitTimestamp(5), "{engine:?}");
        clock.advance(Duration::from_secs(30));
        assert!(!graph.reclaim().unwrap().more);
        assert_eq!((graph.oldest_kept().unwrap().0, graph.memory().retained_bytes), (CommitTimestamp(7), 0));
    }
}

#[test]
fn a_clock_that_is_set_ahead_ends_nothing_early() {
    let clock = clock();
    let options = GraphOptions::new().history(History::For(Duration::from_secs(10))).clock(&clock);
    let graph = Graph::in_memory(options).unwrap();
    commit_each_second(&graph, &clock, 1..6);
    clock.set(BEGIN + YEAR);
    commit_each_second(&graph, &clock, 6..7);
    assert_eq!(graph.oldest_kept().unwrap().0, CommitTimestamp(0));
    assert_eq!(state_at(&graph, BEGIN + 3 * SECOND), Some(3));
}

/// Returns a store with two commits under a correct clock, one under a clock a year ahead, and one
/// after the correction.
fn store_ahead() -> (SimulatedFiles, GraphOptions, ManualClock) {
    let (files, clock) = (SimulatedFiles::new(3), clock());
    let options = GraphOptions::new().clock(&clock);
    let graph = options.create_on(Arc::new(files.clone())).unwrap();
    commit_each_second(&graph, &clock, 1..3);
    clock.set(BEGIN + YEAR);
    graph.put_edge(LabelId::DEFAULT, 1, 3).unwrap();
    clock.set(BEGIN + 5 * SECOND);
    graph.put_edge(LabelId::DEFAULT, 1, 4).unwrap();
    graph.close().unwrap();
    (files, options, clock)
}

fn open_at(files: &SimulatedFiles, time: u64, options: &GraphOptions) -> Result<u64, hedgerow::Error> {
    let graph = options.clone().as_of(AsOf::Time(time)).open_on(Arc::new(files.clone()))?;
    Ok(graph.snapshot()?.timestamp().0)
}

#[test]
fn a_store_that_is_ahead_of_the_clock_says_so() {
    let (files, options, clock) = store_ahead();
    let ahead = Duration::from_micros(YEAR - 5 * SECOND);
    let refused = |time| {
        let error = open_at(&files, time, &options).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::NotFound);
        assert!(error.to_string().contains("ahead of this machine's clock"), "{error}");
    };
    // At the present time and later, the newest state is the answer.
    for time in [BEGIN + 5 * SECOND, BEGIN + YEAR - 1, BEGIN + YEAR, u64::MAX] {
        assert_eq!(open_at(&files, time, &options).unwrap(), 4);
    }
    assert_eq!(open_at(&files, BEGIN + SECOND, &options).unwrap(), 1, "the next carries a time that was");
    refused(BEGIN + 5 * SECOND - 1);
    refused(BEGIN + 2 * SECOND);

    let graph = options.open_on(Arc::new(files.clone())).unwrap();
    assert_eq!(graph.recovery().unwrap().ahead_of_clock, ahead);
    graph.checkpoint(&CheckpointOptions::new()).unwrap();
    graph.close().unwrap();
    // The checkpoint is dated in the future.
    assert_eq!(open_at(&files, BEGIN + 5 * SECOND, &options).unwrap(), 4);
    refused(BEGIN + 5 * SECOND - 1);
    let checkpoint = GraphOptions::new().from_checkpoint().open_on(Arc::new(files.clone())).unwrap();
    assert_eq!(checkpoint.snapshot().unwrap().timestamp(), CommitTimestamp(4));
    drop(checkpoint);

    clock.set(BEGIN + YEAR + SECOND);
    let graph = options.open_on(Arc::new(files.clone())).unwrap();
    assert_eq!(graph.recovery().unwrap().ahead_of_clock, Duration::ZERO);
    graph.close().unwrap();
    let error = open_at(&files, BEGIN + YEAR - 1, &options).unwrap_err();
    assert!(error.to_string().contains("not kept any more"), "{error}");
}

#[test]
fn the_history_of_a_store_that_is_ahead_begins_when_it_is_opened() {
    let (files, options, clock) = store_ahead();
    let graph = options.history(History::All).open_on(Arc::new(files)).unwrap();
    assert_eq!(state_at(&graph, BEGIN + 5 * SECOND), Some(4), "now");
    commit_each_second(&graph, &clock, 5..8);
    let at = |second: u64| state_at(&graph, BEGIN + second * SECOND);
    assert_eq!([4, 5, 6, 7, 8, 9].map(at), [None, Some(4), Some(5), Some(6), Some(7), Some(7)]);
}
