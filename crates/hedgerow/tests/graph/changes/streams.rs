//! Subscriptions as asynchronous streams.

use super::promises::{KNOWS, in_store, options};
use crate::oracle::ENGINES;
use futures::executor::block_on;
use futures::{StreamExt, TryStreamExt};
use hedgerow::{
    Begin, CommitTimestamp, Durability, Error, ErrorKind, Graph, SubscribeOptions, Subscription, WriteGraph,
};
use hedgerow_testing::simulated::SimulatedFiles;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

fn commits_of(subscription: Subscription) -> Result<Vec<u64>, Error> {
    let stream = subscription.into_stream()?;
    let pulls: Vec<_> = block_on(stream.try_collect())?;
    Ok(pulls.iter().flat_map(|changes| changes.commits().map(|commit| commit.at().0)).collect())
}

#[test]
fn a_stream_passes_on_every_commit_and_ends_when_the_store_is_closed() {
    let graph = in_store(&SimulatedFiles::new(1), Durability::Sync);
    let subscription = graph.subscribe(&SubscribeOptions::new().at_once(1)).unwrap();
    let reader = thread::spawn(move || commits_of(subscription).unwrap());
    for number in 0..20_u64 {
        graph.put_edge(KNOWS, number, number + 1).unwrap();
    }
    let first = SubscribeOptions::new().begin(Begin::AfterCommit(CommitTimestamp::ZERO));
    let through = first.through(CommitTimestamp(5));
    assert_eq!(commits_of(graph.subscribe(&through).unwrap()).unwrap(), [1, 2, 3, 4, 5]);
    graph.close().unwrap();
    let commits = reader.join().unwrap();
    assert_eq!(commits, (1..=commits.len() as u64).collect::<Vec<_>>());
}

#[test]
fn a_stream_ends_with_the_error_of_changes_that_are_lost() {
    let graph = Graph::in_memory(options(ENGINES[0])).unwrap();
    let subscription = graph.subscribe(&SubscribeOptions::new().memory(0)).unwrap();
    for number in 0..10_000_u64 {
        graph.put_edge(KNOWS, number, number + 1).unwrap();
    }
    let mut stream = subscription.into_stream().unwrap();
    let error = block_on(stream.next()).unwrap().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ChangesLost);
    assert!(block_on(stream.next()).is_none());
}

#[test]
fn the_thread_of_a_stream_ends_with_it() {
    let files = SimulatedFiles::new(1);
    let graph = in_store(&files, Durability::Sync);
    let first = SubscribeOptions::new().begin(Begin::AfterCommit(CommitTimestamp::ZERO)).at_once(1);
    let ahead = graph.subscribe(&first).unwrap().into_stream().unwrap();
    graph.put_each(KNOWS, &[(1, 2), (2, 3), (3, 4), (4, 5)]).unwrap();
    // One stream waits for its program, the other for changes that never come.
    let waiting = graph.subscribe(&SubscribeOptions::new()).unwrap().into_stream().unwrap();
    drop((waiting, ahead, graph));
    // A store is closed when nothing refers to it any more.
    let reopened = (0..1000).find_map(|_| {
        thread::sleep(Duration::from_millis(10));
        options(ENGINES[0]).simulated().open_on(Arc::new(files.clone())).ok()
    });
    assert!(reopened.is_some(), "a thread still has the store");
}
