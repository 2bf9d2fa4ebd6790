//! Models of lookups concurrent with changes, and of followers, run under many schedules.
//!
//! Built only with `--cfg hedgerow_shuttle`; see `cargo xtask shuttle`. The first table of the
//! index then has two cells, so that few keys make it grow.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
#![cfg(hedgerow_shuttle)]

use hedgerow_erased::ErasedEngine;
use hedgerow_log::LoggedCommit;
use hedgerow_model::{
    Catalog, CommitTimestamp, EdgeValue, EngineOptions, Key, KeyKind, KeyRef, LabelId, Operation, Topology,
    VertexId,
};
use hedgerow_pipeline::dictionary::{Dictionary, DictionaryError};
use hedgerow_pipeline::{Settings, Store};
use hedgerow_rapid::Rapid;
use hedgerow_sequencer::{Clock, Following, History, Sequencer};
use hedgerow_sync::Arc;
use hedgerow_testing::models;
use shuttle::thread;

fn check(model: fn()) {
    models::check(model, 2000);
}

struct Keys {
    dictionary: Dictionary,
    sequencer: Sequencer,
}

impl Keys {
    fn new() -> Arc<Self> {
        let sequencer = Sequencer::new(1, History::None, Clock::Still, None);
        Arc::new(Keys { dictionary: Dictionary::new(KeyKind::Number), sequencer })
    }

    fn assign(&self, key: u64) -> VertexId {
        let _locked = self.dictionary.lock([KeyRef::Number(key)].into_iter());
        self.dictionary.assign(KeyRef::Number(key), CommitTimestamp::ZERO, &self.sequencer).unwrap()
    }

    /// Takes back the id of a key, like a commit that fails.
    fn release(&self, key: u64, id: VertexId) {
        let _locked = self.dictionary.lock([KeyRef::Number(key)].into_iter());
        self.dictionary.release(id);
    }

    fn current(&self, key: u64) -> Option<VertexId> {
        self.dictionary.current(KeyRef::Number(key)).unwrap()
    }
}

/// Two threads assign ids, and a third looks up a key that has an id all the while.
#[test]
fn a_key_is_found_while_the_index_grows() {
    check(|| {
        let keys = Keys::new();
        let held = keys.assign(0);
        let writers = [1..4, 4..7].map(|range| {
            let keys = Arc::clone(&keys);
            thread::spawn(move || range.map(|key| (key, keys.assign(key))).collect::<Vec<_>>())
        });
        let reader = {
            let keys = Arc::clone(&keys);
            thread::spawn(move || (0..4).for_each(|_| assert_eq!(keys.current(0), Some(held))))
        };
        reader.join().unwrap();
        for (key, id) in writers.into_iter().flat_map(|writer| writer.join().unwrap()) {
            assert_eq!(keys.current(key), Some(id));
        }
    });
}

/// Ids are taken back and go to other keys, while a reader looks up a key that keeps its id, and a
/// key that never has an id.
#[test]
fn a_key_is_found_while_others_are_removed() {
    check(|| {
        let keys = Keys::new();
        let taken: Vec<_> = (1..4).map(|key| (key, keys.assign(key))).collect();
        let held = keys.assign(0);
        let writer = {
            let keys = Arc::clone(&keys);
            thread::spawn(move || {
                taken.into_iter().for_each(|(key, id)| keys.release(key, id));
                (10..13).map(|key| (key, keys.assign(key))).collect::<Vec<_>>()
            })
        };
        for _ in 0..4 {
            assert_eq!(keys.current(0), Some(held));
            assert_eq!(keys.current(99), None);
        }
        for (key, id) in writer.join().unwrap() {
            assert_eq!(keys.current(key), Some(id));
        }
        (1..4).for_each(|key| assert_eq!(keys.current(key), None));
    });
}

/// A vertex is deleted and its key gets another one. Concurrent readers of the earlier state must
/// find the former id, by single lookups and through an index that they opened once.
#[test]
fn a_former_id_is_found_while_the_key_gets_another() {
    check(|| {
        let keys = Keys::new();
        let former = keys.assign(0);
        let writer = {
            let keys = Arc::clone(&keys);
            thread::spawn(move || {
                let locked = keys.dictionary.lock([KeyRef::Number(0)].into_iter());
                keys.dictionary.delete(former, CommitTimestamp(2));
                drop(locked);
                for key in 0..3 {
                    keys.assign(key);
                }
            })
        };
        let visible = |id| Ok::<_, DictionaryError>(id == former);
        let reader = keys.dictionary.reader();
        for _ in 0..3 {
            let found = keys.dictionary.find_among_several(KeyRef::Number(0), visible);
            assert_eq!(found.unwrap(), Some(former));
            assert_eq!(reader.find_among_several(KeyRef::Number(0), visible).unwrap(), Some(former));
        }
        writer.join().unwrap();
    });
}

/// Two threads restore keys, one of which they share: one thread is refused, and all earlier keys
/// are found.
#[test]
fn threads_that_restore_keys_at_the_same_time_find_a_key_of_two_vertices() {
    check(|| {
        let keys = Keys::new();
        let threads = [[0, 1, 9], [4, 5, 9]].map(|numbers: [u64; 3]| {
            let keys = Arc::clone(&keys);
            thread::spawn(move || {
                let mut restoring = keys.dictionary.restoring();
                for (number, id) in numbers.into_iter().zip(numbers[0] as u32..) {
                    restoring.add(KeyRef::Number(number), VertexId::new(id)).unwrap();
                }
                restoring.finish().is_err()
            })
        });
        let refused = threads.map(|thread| usize::from(thread.join().unwrap()));
        assert_eq!(refused.iter().sum::<usize>(), 1);
        for number in [0, 1, 4, 5] {
            assert_eq!(keys.current(number), Some(VertexId::new(number as u32)));
        }
        assert!(keys.current(9).is_some());
    });
}

/// A follower arrives while two threads commit: it gets every commit after the one at which it
/// arrived, in order, once, with what that commit wrote.
#[test]
fn a_follower_gets_each_commit_after_its_arrival() {
    check(|| {
        let topology = Topology::Directed;
        let engine = Arc::new(Rapid::new(EngineOptions { topology, catalog: Catalog::default() }));
        let settings = Settings { keys: KeyKind::Dense, threads: Some(1), ..Settings::default() };
        let store = Arc::new(Store::new(ErasedEngine::shared(&engine), &settings, &Catalog::default()));
        let writers = [0, 1].map(|source| {
            let store = Arc::clone(&store);
            thread::spawn(move || {
                let put = |destination| {
                    let (source, destination) = (Key::Number(source), Key::Number(destination));
                    let (label, value) = (LabelId::DEFAULT, EdgeValue(0));
                    let put = Operation::PutEdge { label, source, destination, value };
                    store.commit(&[put], None).unwrap().at
                };
                [5, 6].map(|destination| (put(destination), (source, destination)))
            })
        });
        let following = Following::new(Arc::clone(&store.sequencer), 1 << 20);
        let first = following.after().next();
        // It may read while commits are added.
        drop(following.piece(first));
        let mut written = writers.map(|writer| writer.join().unwrap()).concat();
        written.retain(|(at, _)| *at >= first);
        written.sort_unstable();
        let (mut next, mut followed) = (first, Vec::new());
        while let Some(piece) = following.piece(next).unwrap() {
            for record in piece.commits(next) {
                let commit = LoggedCommit::decode(record.body, topology).unwrap();
                let edges = commit.effects.adjacencies.iter().flat_map(|edges| edges.changes.iter());
                let ends = |change: hedgerow_model::EdgeChange| {
                    (u64::from(change.owner().get()), u64::from(change.neighbor().get()))
                };
                followed.extend(edges.map(|change| (record.at, ends(change))));
            }
            next = piece.next();
        }
        assert_eq!(followed, written);
    });
}
