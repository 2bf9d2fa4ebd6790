//! Many threads commit concurrently.

use crate::harness::replay;
use crate::workload::{STORE, body, log_options, store_options, wall_clock};
use hedgerow_log::{Durability, Log, LogError, LogOptions, Recovered, StoreFiles};
use hedgerow_model::CommitTimestamp;
use hedgerow_testing::simulated::{Fault, FaultKind, SimulatedFiles, Survival};
use std::sync::{Arc, Mutex};

fn log(files: &SimulatedFiles, options: LogOptions) -> Log {
    let store = StoreFiles::create(Arc::new(files.clone()), store_options(), STORE).unwrap();
    Log::start(store, &Recovered::default(), options).unwrap()
}

/// Takes the next timestamp and appends, like a sequencer, and settles.
fn commit(
    log: &Log,
    sequencer: &Mutex<CommitTimestamp>,
    asked: Durability,
) -> Result<CommitTimestamp, LogError> {
    let appended = {
        let mut last = sequencer.lock().unwrap();
        let at = last.next();
        let appended = log.append(at, wall_clock(at), &mut body(at))?;
        *last = at;
        appended
    };
    log.settle(appended.at(), asked)?;
    Ok(appended.at())
}

#[test]
fn threads_share_syncs_and_lose_nothing() {
    for durability in [Durability::Sync, Durability::Buffered, Durability::None] {
        let files = SimulatedFiles::new(1);
        let (log, sequencer) = (log(&files, log_options(durability)), Mutex::default());
        std::thread::scope(|scope| {
            for thread in 0..8 {
                let (log, sequencer, files) = (&log, &sequencer, &files);
                scope.spawn(move || {
                    for number in 0..200 {
                        let asked = if number % 7 == 0 { Durability::Sync } else { Durability::None };
                        let at = commit(log, sequencer, asked).unwrap();
                        if asked.max(durability) == Durability::Sync {
                            assert!(log.durable() >= at);
                        }
                        if number % 50 == 0 {
                            let found = files.after_crash(Survival::Nothing, thread);
                            let (recovered, right) =
                                replay(&StoreFiles::open(Arc::new(found)).unwrap()).unwrap();
                            assert!(right && (recovered.last >= at || asked == Durability::None));
                        }
                    }
                });
            }
            scope.spawn(|| {
                while log.last() < CommitTimestamp(1600) {
                    log.maintain().unwrap();
                    std::thread::yield_now();
                }
            });
        });
        log.close().unwrap();
        drop(log);
        let (recovered, right) = replay(&StoreFiles::open(Arc::new(files)).unwrap()).unwrap();
        assert!(right);
        assert_eq!(recovered.last, CommitTimestamp(1600));
    }
}

#[test]
fn a_failure_reaches_every_thread_and_every_later_commit() {
    for operation in [40, 41, 42, 43, 100, 200] {
        let files = SimulatedFiles::new(1);
        files.inject(Fault { at: operation, kind: FaultKind::Device, sticky: false });
        let (log, sequencer) = (log(&files, log_options(Durability::Sync)), Mutex::default());
        std::thread::scope(|scope| {
            for _ in 0..6 {
                scope.spawn(|| {
                    while let Ok(at) = commit(&log, &sequencer, Durability::Sync) {
                        assert!(log.durable() >= at);
                    }
                    let refused = commit(&log, &sequencer, Durability::Sync);
                    assert!(matches!(refused, Err(LogError::Poisoned { .. })), "{refused:?}");
                });
            }
        });
        let durable = log.durable();
        let found = files.after_crash(Survival::Nothing, 1);
        let (recovered, right) = replay(&StoreFiles::open(Arc::new(found)).unwrap()).unwrap();
        assert!(right && recovered.last >= durable);
        assert!(log.flush().is_err() && log.close().is_err() && log.maintain().is_err());
    }
}
