//! Models of the group commit, run under many schedules.
//!
//! Built only with `--cfg hedgerow_shuttle`; see `cargo xtask shuttle`.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
#![cfg(hedgerow_shuttle)]

use hedgerow_log::{
    Appended, Body, CommitRef, Durability, Log, LogError, LogOptions, Recovered, StoreError, StoreFiles,
    StoreOptions, StreamEntry,
};
use hedgerow_model::{Catalog, CommitTimestamp, Effects, KeyKind, Topology};
use hedgerow_sync::{Arc, Mutex};
use hedgerow_testing::models;
use hedgerow_testing::simulated::{Fault, FaultKind, SimulatedFiles, Survival};
use shuttle::thread;

fn check(model: fn()) {
    models::check(model, 2000);
}

/// A log and the mutex that a sequencer would hold.
struct Graph {
    files: SimulatedFiles,
    log: Log,
    last: Mutex<CommitTimestamp>,
}

impl Graph {
    fn new(durability: Durability) -> Arc<Self> {
        let files = SimulatedFiles::new(1);
        let options = StoreOptions {
            engine: "rapid".to_owned(),
            keys: KeyKind::Dense,
            topology: Topology::Directed,
            strict: false,
            catalog: Catalog::default(),
        };
        let store = StoreFiles::create(Arc::new(files.clone()), options, [1; 16]).unwrap();
        // A segment has space for two or three commits, the buffer for one.
        let options = LogOptions { durability, segment_bytes: 200, buffer_bytes: 40, unsynced_bytes: 100 };
        let log = Log::start(store, &Recovered::default(), options).unwrap();
        Arc::new(Graph { files, log, last: Mutex::default() })
    }

    fn append(&self) -> Result<Appended, LogError> {
        let mut body = Body::default();
        let effects = Effects::default();
        let commit = CommitRef { input: Some(&[7; 30]), ..CommitRef::of(&effects) };
        body.encode(&commit, Topology::Directed);
        let mut last = self.last.lock();
        let appended = self.log.append(last.next(), 0, &mut body)?;
        *last = appended.at();
        Ok(appended)
    }

    /// Commits. If the commit is synced, checks that it survives a loss of power now.
    fn commit(&self, asked: Durability) -> Result<(), LogError> {
        let appended = self.append()?;
        self.log.settle(appended.at(), asked)?;
        if asked == Durability::Sync {
            assert!(self.log.durable() >= appended.at());
            assert!(self.survivors() >= appended.at(), "an acknowledged commit is lost");
        }
        Ok(())
    }

    /// The last commit that survives a loss of power.
    fn survivors(&self) -> CommitTimestamp {
        let found = self.files.after_crash(Survival::Nothing, 1);
        let store = StoreFiles::open(Arc::new(found)).unwrap();
        store.replay(CommitTimestamp::ZERO, |_, _| Ok::<(), StoreError>(())).unwrap().last
    }
}

fn spawn(graph: &Arc<Graph>, run: impl FnOnce(&Graph) + Send + 'static) -> thread::JoinHandle<()> {
    let graph = Arc::clone(graph);
    thread::spawn(move || run(&graph))
}

fn join(threads: Vec<thread::JoinHandle<()>>) {
    threads.into_iter().for_each(|thread| thread.join().unwrap());
}

/// No commit is acknowledged too early, and no thread waits forever.
#[test]
fn commits_share_syncs() {
    check(|| {
        let graph = Graph::new(Durability::Sync);
        let commit = |graph: &Graph| (0..2).for_each(|_| graph.commit(Durability::Sync).unwrap());
        join((0..3).map(|_| spawn(&graph, commit)).collect());
        assert_eq!(graph.survivors(), CommitTimestamp(6));
    });
}

/// Some commits wait for a sync, some write the buffer, some do neither.
#[test]
fn synced_and_buffered_commits_mix() {
    check(|| {
        for durability in [Durability::None, Durability::Buffered] {
            let graph = Graph::new(durability);
            let threads = vec![
                spawn(&graph, |graph| (0..2).for_each(|_| graph.commit(Durability::Sync).unwrap())),
                spawn(&graph, |graph| (0..3).for_each(|_| graph.commit(Durability::None).unwrap())),
                spawn(&graph, |graph| (0..2).for_each(|_| graph.commit(Durability::Buffered).unwrap())),
            ];
            join(threads);
            graph.log.flush().unwrap();
            assert_eq!(graph.survivors(), CommitTimestamp(7));
        }
    });
}

/// Segments are created ahead while commits need them, and pruned, and the log is closed.
#[test]
fn segments_are_created_during_commits() {
    check(|| {
        let graph = Graph::new(Durability::Sync);
        let threads = vec![
            spawn(&graph, |graph| (0..3).for_each(|_| graph.commit(Durability::Sync).unwrap())),
            spawn(&graph, |graph| (0..3).for_each(|_| graph.commit(Durability::Sync).unwrap())),
            spawn(&graph, |graph| (0..2).for_each(|_| graph.log.maintain().unwrap())),
            spawn(&graph, |graph| {
                graph.log.set_stream(StreamEntry::new("one", graph.log.durable())).unwrap();
                graph.log.prune(CommitTimestamp::ZERO).unwrap();
            }),
        ];
        join(threads);
        assert_eq!(graph.survivors(), CommitTimestamp(6));
    });
}

/// With a concurrent close, every commit is either acknowledged and survives, or refused.
#[test]
fn a_close_is_concurrent_with_commits() {
    check(|| {
        let graph = Graph::new(Durability::Sync);
        let commit = |graph: &Graph| {
            (0..2).for_each(|_| match graph.commit(Durability::Sync) {
                Ok(()) | Err(LogError::Closed) => {}
                Err(error) => panic!("{error}"),
            });
        };
        let mut threads: Vec<_> = (0..2).map(|_| spawn(&graph, commit)).collect();
        threads.push(spawn(&graph, |graph| graph.log.close().unwrap()));
        join(threads);
        assert_eq!(graph.survivors(), *graph.last.lock());
        assert!(matches!(graph.append(), Err(LogError::Closed)));
    });
}

/// If a sync fails, current and later waiters get the error, and no thread waits forever.
#[test]
fn a_failure_reaches_every_thread() {
    for after in 1..8 {
        let model = move || {
            let graph = Graph::new(Durability::Sync);
            let at = graph.files.operations() + after;
            graph.files.inject(Fault { at, kind: FaultKind::Device, sticky: false });
            let commit = |graph: &Graph| {
                while graph.commit(Durability::Sync).is_ok() && *graph.last.lock() < CommitTimestamp(12) {}
            };
            join((0..3).map(|_| spawn(&graph, commit)).collect());
            if graph.files.faults_met() > 0 {
                assert!(matches!(graph.append(), Err(LogError::Poisoned { .. })));
                assert!(graph.log.flush().is_err() || graph.log.durable() == *graph.last.lock());
            }
            assert!(graph.survivors() >= graph.log.durable());
        };
        models::check_random(model, 300);
    }
}
