//! The state of a graph after a call of its engine failed.

use super::Tested;
use crate::commit::edges::EdgeWrite;
use crate::error::Error;
use crate::settings::Settings;
use hedgerow_model::{
    Catalog, CommitTimestamp, EdgeValue, Engine, EngineOptions, GraphView, Key, KeyRef, LabelId, Operation,
    Topology,
};
use hedgerow_rapid::Rapid;
use hedgerow_sequencer::{ReaderKind, Sequencer};
use hedgerow_tel::Tel;
use hedgerow_testing::failing::{Failing, Fallible};
use std::ops::ControlFlow;

fn store<E: Engine>(engine: E, options: &Settings) -> Tested<Failing<E>> {
    Tested::new(Failing::new(engine), options)
}

fn rapid() -> Rapid {
    Rapid::new(EngineOptions { topology: Topology::Directed, catalog: Catalog::default() })
}

fn tel() -> Tel {
    Tel::new(EngineOptions { topology: Topology::Directed, catalog: Catalog::default() })
}

fn put_edge(source: u64, destination: u64) -> Operation {
    let (source, destination) = (Key::Number(source), Key::Number(destination));
    Operation::PutEdge { label: LabelId::DEFAULT, source, destination, value: EdgeValue(0) }
}

fn put_short<E: Engine>(store: &Tested<E>, source: u64, destination: u64) -> Result<(), Error> {
    let (source, destination) = (KeyRef::Number(source), KeyRef::Number(destination));
    let value = Some(EdgeValue(0));
    store
        .on(&*store.engine)
        .commit_edge(EdgeWrite { label: LabelId::DEFAULT, source, destination, value })
        .map(drop)
}

/// A way to commit something.
type Attempt<E> = fn(&Tested<E>) -> Result<(), Error>;

/// A commit of each kind.
fn commits<E: Engine>() -> [Attempt<E>; 6] {
    [
        |store| store.commit(&[put_edge(1, 2), put_edge(2, 3)], None).map(drop),
        |store| put_short(store, 1, 3),
        |store| put_short(store, 3, 4),
        |store| store.ingest(LabelId::DEFAULT, &vec![(1, 5), (5, 6), (3, 6)], None).map(drop),
        |store| store.commit(&[Operation::DeleteVertex { key: Key::Number(3) }], None).map(drop),
        |store| store.commit(&[put_edge(7, 3)], None).map(drop),
    ]
}

/// The newest timestamp, the number of edges, and the vertices that exist.
fn state<E: Engine>(store: &Tested<E>) -> (CommitTimestamp, u64, Vec<u32>) {
    let registration = Sequencer::open(&*store.sequencer, ReaderKind::Snapshot).unwrap();
    let snapshot = store.engine.open_snapshot(registration.token()).unwrap();
    let view = store.engine.view(&snapshot, registration.token());
    let mut vertices = Vec::new();
    let visited = view.scan_vertices(0..view.vertex_bound(), |vertex| {
        vertices.push(vertex.get());
        ControlFlow::<()>::Continue(())
    });
    assert!(visited.is_ok());
    (view.timestamp(), view.edge_count(LabelId::DEFAULT).at_most(), vertices)
}

/// Makes commits of every kind, in which call `number` of kind `call` fails; returns true if there
/// was such a call.
fn commit_with_failure<E: Engine>(engine: E, call: Fallible, number: usize) -> bool {
    let store = store(engine, &Settings::default());
    store.engine.fail(call, number);
    let mut failed = false;
    for commit in commits() {
        let before = state(&store);
        let Err(reason) = commit(&store) else { continue };
        assert!(matches!(reason, Error::Read(_) | Error::Write(_)), "{reason}");
        assert_eq!(state(&store), before, "the commit that failed has changed nothing");
        commit(&store).unwrap();
        failed = true;
    }
    // The last commit took the id of the deleted vertex and a new one; none is lost.
    assert_eq!(state(&store), (CommitTimestamp(6), 4, (0..7).collect()));
    failed
}

/// Fails each such call of all commits once; returns the number of calls.
fn fail_each<E: Engine>(engine: fn() -> E, call: Fallible) -> usize {
    (1..).take_while(|number| commit_with_failure(engine(), call, *number)).count()
}

#[test]
fn a_commit_whose_staging_fails_changes_nothing() {
    assert_eq!(fail_each(rapid, Fallible::Stage), 6);
    assert_eq!(fail_each(tel, Fallible::Stage), 6);
}

#[test]
fn a_commit_that_cannot_read_the_newest_state_changes_nothing() {
    assert!(fail_each(rapid, Fallible::Latest) >= 4);
    assert!(fail_each(tel, Fallible::Latest) >= 4);
}

/// A store with garbage: blocks kept for a snapshot that is closed now.
fn store_with_garbage() -> Tested<Failing<Rapid>> {
    let store = store(rapid(), &Settings::default());
    let edges: Vec<(u64, u64)> = (0..64_000).map(|edge| (edge % 6400, edge / 6400)).collect();
    store.ingest(LabelId::DEFAULT, &edges, None).unwrap();
    let open = Sequencer::open(&*store.sequencer, ReaderKind::Snapshot).unwrap();
    let one_of_each: Vec<(u64, u64)> = (0..100).map(|partition| (partition * 64, 6300)).collect();
    store.ingest(LabelId::DEFAULT, &one_of_each, None).unwrap();
    drop(open);
    assert!(store.memory().retained_bytes > 1 << 16);
    store
}

/// The commit that precedes the failing step succeeds. A later step catches up, and the next caller
/// gets the error.
#[test]
fn a_failed_step_after_a_commit_is_reported_once_and_caught_up() {
    let store = store_with_garbage();
    let before = store.memory().retained_bytes;
    store.engine.fail(Fallible::Maintain, 1);
    put_short(&store, 1, 6301).unwrap();
    assert_eq!(store.memory().retained_bytes, before);
    put_short(&store, 1, 6302).unwrap();
    assert_eq!(store.memory().retained_bytes, 0);
    assert!(matches!(store.reclaim(), Err(Error::Write(_))));
    assert!(!store.reclaim().unwrap().more);
}

/// The error of a failed reclaim is not kept for later.
#[test]
fn a_failed_step_of_a_reclaim_is_reported_by_that_reclaim() {
    let store = store_with_garbage();
    store.engine.fail(Fallible::Maintain, 1);
    assert!(matches!(store.reclaim(), Err(Error::Write(_))));
    assert!(store.report_failed_maintenance().is_ok(), "it was reported");
    assert!(store.reclaim().unwrap().bytes > 0);
}

/// A commit at the limit takes a step before it gives up, and returns the error of the step. It has
/// changed nothing.
#[test]
fn a_commit_at_the_limit_reports_why_nothing_was_freed() {
    let store = store(rapid(), &Settings { memory_limit: Some(1 << 20), ..Settings::default() });
    put_short(&store, 1, 2).unwrap();
    let before = state(&store);
    let edges: Vec<(u64, u64)> = (0..1_000_000).map(|edge| (edge % 1000, edge)).collect();
    store.engine.fail(Fallible::Maintain, 1);
    let failed = store.ingest(LabelId::DEFAULT, &edges, None).unwrap_err();
    assert!(matches!(failed, Error::Write(_)), "{failed}");
    let failed = store.ingest(LabelId::DEFAULT, &edges, None).unwrap_err();
    assert!(matches!(failed, Error::Capacity(_)), "{failed}");
    assert_eq!(state(&store), before);
    assert!(store.report_failed_maintenance().is_ok(), "the commit has reported it");
}
