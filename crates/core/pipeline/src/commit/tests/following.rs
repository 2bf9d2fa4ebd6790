//! Followers of a graph without a log get every commit.

use super::Tested;
use crate::commit::edges::EdgeWrite;
use crate::settings::Settings;
use hedgerow_log::{LoggedCommit, logged_edge};
use hedgerow_model::{
    Catalog, CommitTimestamp, EdgeValue, Engine, EngineOptions, Key, KeyKind, KeyRef, LabelId, Operation,
    Topology,
};
use hedgerow_rapid::Rapid;
use hedgerow_sequencer::{CommitDropped, Following};
use hedgerow_sync::atomic::{AtomicBool, Ordering};
use hedgerow_sync::{Arc, Mutex};
use hedgerow_tel::Tel;
use std::collections::BTreeMap;
use std::thread;
use std::time::Duration;

const LIMIT: usize = 1 << 30;
const VERTICES: u64 = 50;

fn options() -> EngineOptions {
    EngineOptions { topology: Topology::Directed, catalog: Catalog::default() }
}

fn write<'k>(source: u64, destination: u64, value: Option<u64>) -> EdgeWrite<'k> {
    let (source, destination) = (KeyRef::Number(source), KeyRef::Number(destination));
    EdgeWrite { label: LabelId::DEFAULT, source, destination, value: value.map(EdgeValue) }
}

/// A graph with dense keys, whose ids are the keys.
fn store<E: Engine>(engine: E) -> Tested<E> {
    let store = Tested::new(engine, &Settings { keys: KeyKind::Dense, ..Settings::default() });
    let add = |key| Operation::AddVertex { key: Key::Number(key) };
    store.commit(&(0..VERTICES).map(add).collect::<Vec<_>>(), None).unwrap();
    store
}

/// The bodies of the commits from `from` up to `through`, which are all there.
fn bodies(following: &Following, from: CommitTimestamp, through: CommitTimestamp) -> Vec<Vec<u8>> {
    let (mut next, mut bodies) = (from, Vec::new());
    while next <= through {
        let piece = following.piece(next).unwrap().unwrap();
        for record in piece.commits(next) {
            assert_eq!(record.at, next);
            next = next.next();
            bodies.push(record.body.to_vec());
        }
        assert_eq!(next, piece.next());
    }
    assert!(following.piece(next).is_ok_and(|piece| piece.is_none_or(|piece| piece.next() > next)));
    bodies
}

/// Each thread writes single edges, and tells by commit which.
fn check_arrivals<E: Engine>(engine: E) {
    let store = store(engine);
    let (written, is_over) = (Mutex::new(BTreeMap::new()), AtomicBool::new(false));
    thread::scope(|scope| {
        let writers = [0, 1].map(|writer| {
            let (store, written) = (&store, &written);
            scope.spawn(move || {
                for number in 0..20_000_u64 {
                    let (source, destination) = (writer * 25 + number % 25, number / 25 % VERTICES);
                    let value = (number / 1250).is_multiple_of(2).then_some(0);
                    let commit = store.on(&*store.engine).commit_edge(write(source, destination, value));
                    let edge = (source as u32, destination as u32, value.is_some());
                    written.lock().insert(commit.unwrap().at, edge);
                }
            })
        });
        let followers = [(); 2].map(|()| {
            scope.spawn(|| {
                let mut followed = Vec::new();
                while !is_over.load(Ordering::Relaxed) {
                    let following = Following::new(Arc::clone(&store.sequencer), LIMIT);
                    thread::sleep(Duration::from_micros(200));
                    let (from, through) = (following.after().next(), store.sequencer.newest().0);
                    followed.push((from, bodies(&following, from, through)));
                }
                followed
            })
        });
        writers.into_iter().for_each(|writer| writer.join().unwrap());
        is_over.store(true, Ordering::Relaxed);
        let written = written.lock();
        let followed = followers.map(|follower| follower.join().unwrap()).concat();
        assert!(followed.iter().any(|(_, bodies)| !bodies.is_empty()), "something was followed");
        for (from, bodies) in followed {
            for (at, body) in (from.0..).map(CommitTimestamp).zip(bodies) {
                let (label, change) = logged_edge(&body, Topology::Directed).unwrap();
                let edge = (change.owner().get(), change.neighbor().get(), change.value.is_some());
                assert_eq!((label, &edge), (LabelId::DEFAULT, &written[&at]), "{at}");
            }
        }
    });
    assert!(!store.sequencer.is_followed(), "all followers have left");
}

#[test]
fn a_follower_that_arrives_beside_writers_misses_no_later_commit() {
    check_arrivals(Rapid::new(options()));
    check_arrivals(Tel::new(options()));
}

/// All ways to commit, one after the other: what they leave is what their bodies say.
fn check_bodies<E: Engine>(engine: E) {
    let store = store(engine);
    let following = Following::new(Arc::clone(&store.sequencer), LIMIT);
    let on_engine = store.on(&*store.engine);
    let mut expected = BTreeMap::new();
    for round in 0..40_u64 {
        let edge = |number: u64| ((round * 7 + number) % VERTICES, (round * number + 3) % VERTICES);
        let (source, destination) = edge(0);
        on_engine.commit_edge(write(source, destination, Some(0))).unwrap();
        let each = |number: usize| {
            let (source, destination) = edge(number as u64);
            write(source, destination, (!number.is_multiple_of(3)).then_some(0))
        };
        on_engine.commit_each(20, each).unwrap();
        let bulk: Vec<_> = (20..40).map(edge).collect();
        store.ingest(LabelId::DEFAULT, &bulk, round.is_multiple_of(2).then_some(&b"input"[..])).unwrap();
        let delete = |number: u64| {
            let (source, destination) = edge(number);
            let (source, destination) = (Key::Number(source), Key::Number(destination));
            Operation::DeleteEdge { label: LabelId::DEFAULT, source, destination }
        };
        store.commit(&(30..36).map(delete).collect::<Vec<_>>(), None).unwrap();
        expected.insert(edge(0), true);
        expected.extend((0..20).map(|number| (edge(number), !number.is_multiple_of(3))));
        expected.extend(bulk.into_iter().map(|edge| (edge, true)));
        expected.extend((30..36).map(|number| (edge(number), false)));
    }
    let mut found = BTreeMap::new();
    for body in bodies(&following, following.after().next(), store.sequencer.newest().0) {
        let commit = LoggedCommit::decode(&body, Topology::Directed).unwrap();
        for change in commit.effects.adjacencies.iter().flat_map(|edges| edges.changes.iter()) {
            let edge = (change.owner().get().into(), change.neighbor().get().into());
            found.insert(edge, change.value.is_some());
        }
    }
    let edges = |states: BTreeMap<(u64, u64), bool>| {
        states.into_iter().filter(|(_, exists)| *exists).map(|(edge, _)| edge).collect::<Vec<_>>()
    };
    assert_eq!(edges(found), edges(expected));
}

#[test]
fn bodies_say_what_every_way_to_commit_leaves() {
    check_bodies(Rapid::new(options()));
    check_bodies(Tel::new(options()));
}

#[test]
fn a_follower_that_is_too_slow_is_told() {
    let store = store(Rapid::new(options()));
    let slow = Following::new(Arc::clone(&store.sequencer), 1 << 18);
    let first = slow.after().next();
    let put = |number: u64| {
        let value = (number / (VERTICES * VERTICES)).is_multiple_of(2).then_some(0);
        let edge = write(number / VERTICES % VERTICES, number % VERTICES, value);
        store.on(&*store.engine).commit_edge(edge).unwrap().at
    };
    let last = (0..100_000).map(put).last().unwrap();
    let dropped = slow.piece(first).unwrap_err();
    let oldest = slow.oldest();
    assert_eq!(dropped, CommitDropped { asked: first, oldest });
    let kept = bodies(&slow, oldest, last).len() as u64;
    assert_eq!(kept, last.0 - oldest.0 + 1);
    assert!((5_000..20_000).contains(&kept), "{kept} commits of some 26 bytes are kept in 256 KiB");
    // One that comes later starts with the next commit, and can read the earlier ones.
    let late = Following::new(Arc::clone(&store.sequencer), 0);
    assert_eq!((late.after(), late.oldest()), (last, slow.oldest()));
    drop(slow);
    assert!(store.sequencer.is_followed() && late.piece(last).unwrap().is_some());
}

#[test]
fn a_follower_waits_for_a_commit_or_for_some_time() {
    let store = store(Rapid::new(options()));
    let following = Following::new(Arc::clone(&store.sequencer), LIMIT);
    let next = following.after().next();
    following.wait(next, Duration::from_millis(1));
    assert!(following.piece(next).unwrap().is_none());
    thread::scope(|scope| {
        let waiting = scope.spawn(|| {
            following.wait(next, Duration::MAX);
            following.piece(next).unwrap().is_some()
        });
        store.on(&*store.engine).commit_edge(write(1, 2, Some(0))).unwrap();
        assert!(waiting.join().unwrap());
    });
}
