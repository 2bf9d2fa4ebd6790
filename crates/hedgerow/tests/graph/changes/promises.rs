//! The promises of subscriptions.

use crate::durability::own_files;
use crate::oracle::ENGINES;
use hedgerow::{
    Begin, Change, ChangeToken, CheckpointOptions, CommitTimestamp, Durability, EngineKind, ErrorKind, Graph,
    GraphOptions, KeyKind, LabelId, Lag, ReadGraph, SubscribeOptions, Subscription, WriteGraph,
};
use hedgerow_testing::simulated::SimulatedFiles;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

pub const KNOWS: LabelId = LabelId(0);
pub const LIKES: LabelId = LabelId(1);

pub fn options(engine: EngineKind) -> GraphOptions {
    GraphOptions::new().engine(engine).label::<()>("knows").label::<()>("likes")
}

pub fn in_store(files: &SimulatedFiles, durability: Durability) -> Graph {
    let options = options(EngineKind::default()).durability(durability).segment_bytes(1 << 14).simulated();
    options.create_on(Arc::new(files.clone())).unwrap()
}

/// Graphs in memory and in stores, on every engine.
pub fn graphs() -> Vec<Graph> {
    let in_memory = ENGINES.map(|engine| Graph::in_memory(options(engine)).unwrap());
    let stores = [&ENGINES[..], &own_files::ENGINES].concat().into_iter().map(|engine| {
        let options = options(engine).threads(1).simulated();
        options.create_on(Arc::new(SimulatedFiles::new(1))).unwrap()
    });
    in_memory.into_iter().chain(stores).collect()
}

pub fn begin(begin: Begin) -> SubscribeOptions {
    SubscribeOptions::new().begin(begin)
}

/// Ends the writers, also after a panic.
struct EndOnDrop<'f>(&'f AtomicBool);

impl Drop for EndOnDrop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Two writers put edges from 0 and from 1 to ever larger numbers. A snapshot, and the changes
/// after it: nothing is lost, and nothing twice.
#[test]
fn a_subscription_takes_over_from_a_snapshot_without_a_gap() {
    const HAND_OVERS: u64 = 40;
    for graph in graphs() {
        let is_over = AtomicBool::new(false);
        thread::scope(|scope| {
            for writer in 0..2_u64 {
                let (graph, is_over) = (&graph, &is_over);
                scope.spawn(move || {
                    for number in (10..).take_while(|_| !is_over.load(Ordering::Relaxed)) {
                        graph.put_edge(KNOWS, writer, number).unwrap();
                        thread::sleep(Duration::from_micros(20));
                    }
                });
            }
            let _end = EndOnDrop(&is_over);
            let mut first = graph.subscribe(&SubscribeOptions::new()).unwrap();
            let mut pulled = 0;
            for number in 0..HAND_OVERS {
                let mut other = None;
                let snapshot = match number % 2 {
                    0 => first.snapshot().unwrap(),
                    _ => {
                        let snapshot = graph.snapshot().unwrap();
                        let begin = begin(Begin::AfterCommit(snapshot.timestamp()));
                        other = Some(graph.subscribe(&begin).unwrap());
                        snapshot
                    }
                };
                let mut next = [0, 1].map(|writer: u64| 10 + snapshot.degree(KNOWS, writer).unwrap() as u64);
                let subscription = other.as_mut().unwrap_or(&mut first);
                assert_eq!(subscription.token(), snapshot.token().unwrap());
                for _ in 0..3 {
                    for change in subscription.pull_within(Duration::from_micros(200)).unwrap().iter() {
                        if let Change::PutEdge(edge) = change {
                            let next = &mut next[edge.source().to_key().as_u64().unwrap() as usize];
                            assert_eq!(edge.destination().to_key(), *next);
                            (*next, pulled) = (*next + 1, pulled + 1);
                        }
                    }
                }
                let now = graph.snapshot().unwrap();
                assert!(
                    next.iter()
                        .zip(0_u64..)
                        .all(|(next, writer)| now.contains_edge(KNOWS, writer, next - 1).unwrap()
                            || *next == 10)
                );
            }
            assert!(pulled > 0, "something was committed meanwhile");
        });
    }
}

#[test]
fn filters_pass_on_what_was_asked_for_and_move_all_the_same() {
    for graph in graphs() {
        let subscribe = |options: SubscribeOptions| graph.subscribe(&options).unwrap();
        let mut by_label = subscribe(SubscribeOptions::new().label(LIKES));
        let mut by_vertex = subscribe(SubscribeOptions::new().vertex(3));
        let mut by_both = subscribe(SubscribeOptions::new().label(LIKES).vertex(3).vertex(4));
        graph.put_edge(KNOWS, 1, 2).unwrap();
        let last = graph.put_edge(KNOWS, 2, 3).unwrap().at;
        let changes = by_label.pull().unwrap();
        assert!(changes.is_empty() && changes.token().commit() == last && changes.commits().count() == 0);
        let passed = by_vertex.pull().unwrap();
        assert_eq!(passed.len(), 2, "the vertex and an edge: {passed:?}");
        graph.put_edge(LIKES, 1, 2).unwrap();
        graph.put_edge(LIKES, 4, 1).unwrap();
        graph.delete_vertex(4).unwrap();
        let edges = |subscription: &mut hedgerow::Subscription| {
            let changes = subscription.pull().unwrap();
            let edge = |change: Change<'_>| match change {
                Change::PutEdge(edge) => Some((edge.source().to_key(), true)),
                Change::DeleteEdge(edge) => Some((edge.source().to_key(), false)),
                Change::PutVertex(_) | Change::DeleteVertex(_) => None,
            };
            changes.iter().map(edge).collect::<Option<Vec<_>>>().expect("only edges")
        };
        assert_eq!(edges(&mut by_label), [(1.into(), true), (4.into(), true), (4.into(), false)]);
        assert_eq!(edges(&mut by_both), [(4.into(), true), (4.into(), false)]);
        assert!(by_vertex.pull().unwrap().is_empty());
        let refused = graph.subscribe(&SubscribeOptions::new().label(LabelId(7))).unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::InvalidInput);
        assert_eq!(
            graph.subscribe(&SubscribeOptions::new().vertex("a")).unwrap_err().kind(),
            ErrorKind::InvalidInput
        );
    }
}

#[test]
fn a_commit_is_never_divided() {
    for graph in graphs() {
        let mut subscription = graph.subscribe(&SubscribeOptions::new().at_once(3)).unwrap();
        let large = graph.ingest(KNOWS, &[(1, 2), (2, 3), (3, 4), (4, 5), (5, 6)]).unwrap();
        graph.put_edge(KNOWS, 1, 3).unwrap();
        graph.put_edge(KNOWS, 1, 4).unwrap();
        let changes = subscription.pull().unwrap();
        assert_eq!((changes.len(), changes.commits().count()), (11, 1));
        assert_eq!((changes.token().commit(), subscription.lag().unwrap().commits), (large.at, 2));
        assert_eq!(subscription.pull().unwrap().commits().count(), 2);
    }
}

/// In a store whose commits are not synced, only a subscription that asks for it sees them at once.
#[test]
fn undurable_commits_come_only_when_asked_for() {
    for durability in [Durability::Buffered, Durability::None] {
        let graph = in_store(&SimulatedFiles::new(1), durability);
        let mut durable = graph.subscribe(&SubscribeOptions::new()).unwrap();
        let mut undurable = graph.subscribe(&SubscribeOptions::new().undurable(true)).unwrap();
        graph.put_edge(KNOWS, 1, 2).unwrap();
        assert_eq!((durable.pull().unwrap().len(), undurable.pull().unwrap().len()), (0, 3));
        graph.flush().unwrap();
        assert_eq!((durable.pull().unwrap().len(), undurable.pull().unwrap().len()), (3, 0));
    }
}

/// The age of what was pulled, and the times of commits.
#[test]
fn commits_have_times_and_lag_is_the_age_of_the_state() {
    let clock = hedgerow::ManualClock::default();
    clock.set(1_000_000);
    let options = || options(EngineKind::default()).simulated().clock(&clock);
    let in_store = options().create_on(Arc::new(SimulatedFiles::new(1))).unwrap();
    for graph in [Graph::in_memory(options()).unwrap(), in_store] {
        clock.set(1_000_000);
        let mut subscription = graph.subscribe(&SubscribeOptions::new()).unwrap();
        clock.set(1_500_000);
        assert_eq!(subscription.lag().unwrap(), Lag::default(), "there is nothing to pull");
        graph.put_edge(KNOWS, 1, 2).unwrap();
        clock.set(3_000_000);
        let lag = |subscription: &Subscription| {
            let Lag { commits, bytes, time } = subscription.lag().unwrap();
            assert!((1..200).contains(&bytes.unwrap()), "{bytes:?}");
            (commits, time)
        };
        assert_eq!(lag(&subscription), (1, Duration::from_secs(2)));
        let changes = subscription.pull().unwrap();
        assert_eq!(changes.commits().map(|commit| commit.wall_clock()).collect::<Vec<_>>(), [1_500_000]);
        graph.put_edge(KNOWS, 1, 3).unwrap();
        assert_eq!(lag(&subscription), (1, Duration::from_micros(1_500_000)));
    }
}

/// Bytes of the log, also across its segments, and of memory.
#[test]
fn lag_in_bytes_becomes_less_with_each_pull() {
    let options = || options(EngineKind::default()).segment_bytes(1 << 14).simulated();
    let in_store = options().create_on(Arc::new(SimulatedFiles::new(1))).unwrap();
    for graph in [Graph::in_memory(options()).unwrap(), in_store] {
        let mut subscription = graph.subscribe(&SubscribeOptions::new().at_once(100)).unwrap();
        let edges: Vec<_> = (0..3000_u64).map(|number| (number % 7, number)).collect();
        graph.put_each(KNOWS, &edges).unwrap();
        let mut bytes = subscription.lag().unwrap().bytes.unwrap();
        assert!((20 * 3000..200 * 3000).contains(&bytes), "{bytes} bytes");
        while !subscription.pull().unwrap().is_empty() {
            let before = std::mem::replace(&mut bytes, subscription.lag().unwrap().bytes.unwrap());
            assert!(bytes < before, "{before} bytes, then {bytes}");
        }
        assert_eq!((subscription.lag().unwrap(), bytes), (Lag::default(), 0));
    }
}

#[test]
fn tokens_are_refused_by_other_graphs_and_by_a_store_without_their_commit() {
    let files = SimulatedFiles::new(1);
    let graph = in_store(&files, Durability::Sync);
    graph.put_edge(KNOWS, 1, 2).unwrap();
    let mut subscription = graph.subscribe(&SubscribeOptions::new()).unwrap();
    let backup = files.copy();
    graph.put_edge(KNOWS, 2, 3).unwrap();
    let token = subscription.pull().unwrap().token();
    let kind = |graph: &Graph, token: &ChangeToken| {
        graph.subscribe(&begin(Begin::After(*token))).map(drop).unwrap_err().kind()
    };
    // Stores of simulated files all have the same id.
    for other in graphs().into_iter().filter(|graph| graph.durability().is_none()) {
        other.ingest(KNOWS, &[(1, 2), (2, 3)]).unwrap();
        assert_eq!(kind(&other, &token), ErrorKind::InvalidInput);
        assert_eq!(kind(&graph, &other.snapshot().unwrap().token().unwrap()), ErrorKind::InvalidInput);
    }
    drop((subscription, graph));
    let clock = hedgerow::ManualClock::default();
    clock.set(1_000_000);
    let options = options(EngineKind::default()).simulated().clock(&clock);
    let restored = options.open_on(Arc::new(backup)).unwrap();
    assert_eq!(kind(&restored, &token), ErrorKind::ChangesLost, "the commit is missing");
    restored.put_edge(KNOWS, 7, 8).unwrap();
    assert_eq!(restored.snapshot().unwrap().timestamp(), token.commit());
    assert_eq!(kind(&restored, &token), ErrorKind::ChangesLost, "it is another commit");
}

#[test]
fn a_position_whose_changes_are_gone_is_an_error() {
    let graph = in_store(&SimulatedFiles::new(1), Durability::Sync);
    let mut slow = graph.subscribe(&SubscribeOptions::new()).unwrap();
    let mut token = slow.token();
    for number in 0..20_000_u64 {
        graph.put_edge(KNOWS, number % 100, number).unwrap();
        if number % 1000 == 0 {
            graph.checkpoint(&CheckpointOptions::new()).unwrap();
        }
        if number == 15_000 {
            token = graph.snapshot().unwrap().token().unwrap();
        }
    }
    let lost = slow.pull().unwrap_err();
    assert_eq!(lost.kind(), ErrorKind::ChangesLost, "{lost}");
    assert_eq!(slow.pull().unwrap_err().kind(), ErrorKind::ChangesLost, "never silence");
    assert_eq!(
        graph.subscribe(&begin(Begin::After(token))).map(drop).unwrap_err().kind(),
        ErrorKind::ChangesLost
    );
    // It goes on from a snapshot.
    let snapshot = slow.snapshot().unwrap();
    graph.put_edge(KNOWS, 1, 2).unwrap();
    assert!(slow.pull().unwrap().token().commit() > snapshot.timestamp());

    let graph = Graph::in_memory(options(EngineKind::default())).unwrap();
    let mut slow = graph.subscribe(&SubscribeOptions::new().memory(1 << 16)).unwrap();
    let mut quick = graph.subscribe(&SubscribeOptions::new().memory(0)).unwrap();
    for number in 0..40_000_u64 {
        graph.put_edge(KNOWS, number % 100, number).unwrap();
        if number % 100 == 0 {
            quick.pull().unwrap();
        }
    }
    assert_eq!(slow.pull().unwrap_err().kind(), ErrorKind::ChangesLost);
    let early = graph.subscribe(&begin(Begin::AfterCommit(CommitTimestamp::ZERO)));
    assert_eq!(early.map(drop).unwrap_err().kind(), ErrorKind::ChangesLost);
    quick.pull().unwrap();
    let newest = graph.snapshot().unwrap().timestamp();
    let later = graph.subscribe(&begin(Begin::AfterCommit(CommitTimestamp(newest.0 + 1))));
    assert_eq!(later.map(drop).unwrap_err().kind(), ErrorKind::NotFound);
}

#[test]
fn a_subscription_waits_for_changes_and_ends_with_the_store() {
    let unsynced = [Durability::Buffered, Durability::None]
        .map(|durability| in_store(&SimulatedFiles::new(1), durability));
    let graphs = graphs().into_iter().map(|graph| (graph, false));
    for (graph, undurable) in graphs.chain(unsynced.map(|graph| (graph, true))) {
        let mut subscription = graph.subscribe(&SubscribeOptions::new().undurable(undurable)).unwrap();
        let begun = Instant::now();
        assert!(subscription.pull_within(Duration::from_millis(5)).unwrap().is_empty());
        assert!(begun.elapsed() >= Duration::from_millis(5));
        let is_in_store = graph.durability().is_some();
        thread::scope(|scope| {
            let writer = scope.spawn(|| {
                for number in 0..50_u64 {
                    graph.put_edge(KNOWS, 1, number).unwrap();
                    thread::sleep(Duration::from_micros(300));
                }
                if is_in_store {
                    graph.close().unwrap();
                }
            });
            let mut edges = 0;
            while edges < 50 || is_in_store {
                let Some(changes) = subscription.next() else { break };
                let changes = changes.unwrap();
                assert!(!changes.is_empty());
                edges += changes.iter().filter(|change| matches!(change, Change::PutEdge(_))).count();
            }
            assert_eq!(edges, 50);
            writer.join().unwrap();
        });
    }
}

/// The ids of deleted vertices go to others, while a follower has not read of their deletion.
#[test]
fn changes_name_vertices_by_the_keys_that_they_had() {
    for graph in graphs() {
        let mut subscription = graph.subscribe(&SubscribeOptions::new()).unwrap();
        for number in 0..200_u64 {
            graph.put_edge(KNOWS, number, number + 1).unwrap();
            graph.delete_vertex(number).unwrap();
            graph.reclaim().unwrap();
        }
        assert!(
            graph.key_kind() == KeyKind::Dense || graph.snapshot().unwrap().vertex_bound() < 100,
            "ids are used again"
        );
        let changes = subscription.pull().unwrap();
        let mut next = (0, 0);
        for change in changes.iter() {
            match change {
                Change::PutEdge(edge) => {
                    let ends = [edge.source(), edge.destination()].map(|end| end.to_key().as_u64().unwrap());
                    assert_eq!(ends, [next.0, next.0 + 1]);
                    next.0 += 1;
                }
                Change::DeleteVertex(vertex) => {
                    assert_eq!(vertex.key().to_key(), next.1);
                    next.1 += 1;
                }
                Change::PutVertex(_) | Change::DeleteEdge(_) => {}
            }
        }
        assert_eq!(next, (200, 200));
    }
}
