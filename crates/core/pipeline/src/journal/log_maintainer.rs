//! The log maintainer: a thread that creates log segments ahead of time, so that no commit waits
//! for one.

use hedgerow_log::Log;
use hedgerow_sync::atomic::{AtomicBool, Ordering};
use hedgerow_sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};

/// The running thread. Dropping this value ends the thread.
#[derive(Debug, Default)]
pub(crate) struct LogMaintainer {
    running: Mutex<Option<JoinHandle<()>>>,
    /// Wakes the thread without the mutex.
    sleeper: Option<thread::Thread>,
    is_over: Arc<AtomicBool>,
}

impl LogMaintainer {
    /// Starts the thread for `log`. If no thread can be spawned, the commit that needs a segment
    /// creates it.
    pub fn of(log: &Arc<Log>) -> Self {
        if cfg!(hedgerow_shuttle) {
            return LogMaintainer::default();
        }
        let is_over = Arc::new(AtomicBool::new(false));
        let (log, asked) = (Arc::clone(log), Arc::clone(&is_over));
        let keep = move || {
            while !asked.load(Ordering::Acquire) {
                if !log.needs_maintenance() {
                    thread::park();
                } else if log.maintain().is_err() {
                    // The commit that needs a segment will try again, and report the error.
                    break;
                }
            }
        };
        let running = thread::Builder::new().name("hedgerow-log".to_owned()).spawn(keep).ok();
        let sleeper = running.as_ref().map(|running| running.thread().clone());
        LogMaintainer { running: Mutex::new(running), sleeper, is_over }
    }

    /// Wakes the thread, because there is work.
    pub(crate) fn wake(&self) {
        if let Some(sleeper) = &self.sleeper {
            sleeper.unpark();
        }
    }

    /// Ends the thread, and waits until it has finished its current work.
    pub(crate) fn end(&self) {
        self.is_over.store(true, Ordering::Release);
        self.wake();
        if let Some(running) = self.running.lock().take() {
            // The log noticed a panic.
            let _ = running.join();
        }
    }
}

impl Drop for LogMaintainer {
    fn drop(&mut self) {
        self.end();
    }
}
