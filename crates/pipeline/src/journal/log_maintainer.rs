//! The thread that makes segments of the log before they are needed, so that no commit waits for one.

use hedgerow_log::Log;
use hedgerow_sync::atomic::{AtomicBool, Ordering};
use hedgerow_sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};

/// The thread, while it runs. Ended when this is dropped.
#[derive(Debug, Default)]
pub(crate) struct LogMaintainer {
    running: Mutex<Option<JoinHandle<()>>>,
    /// To be woken without the mutex.
    sleeper: Option<thread::Thread>,
    is_over: Arc<AtomicBool>,
}

impl LogMaintainer {
    /// Keeps `log`, where a thread can be had. Without one the commit that needs a segment makes it.
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
                    // The commit that needs a segment will try again, and tell.
                    break;
                }
            }
        };
        let running = thread::Builder::new().name("hedgerow-log".to_owned()).spawn(keep).ok();
        let sleeper = running.as_ref().map(|running| running.thread().clone());
        LogMaintainer { running: Mutex::new(running), sleeper, is_over }
    }

    /// There is something to do.
    pub(crate) fn wake(&self) {
        if let Some(sleeper) = &self.sleeper {
            sleeper.unpark();
        }
    }

    /// Waits until the thread is done with what it does, and has ended.
    pub(crate) fn end(&self) {
        self.is_over.store(true, Ordering::Release);
        self.wake();
        if let Some(running) = self.running.lock().take() {
            // If it panicked, the log has noticed.
            let _ = running.join();
        }
    }
}

impl Drop for LogMaintainer {
    fn drop(&mut self) {
        self.end();
    }
}
