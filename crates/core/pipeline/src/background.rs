//! Threads of a graph for deferred work: one collects garbage, or compacts; another one flushes, if
//! the engine has files.

use hedgerow_sequencer::Wakeup;
use hedgerow_sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// The wait before a retry of units whose locks are held.
const BREATH: Duration = Duration::from_millis(1);

/// The wait after a failure: a merge that fails again and again costs as much as one that
/// succeeds.
const AFTER_FAILURE: Duration = Duration::from_secs(1);

/// Number of retries before the thread sleeps: the holders of the locks will wake it.
const LOOKS: usize = 8;

/// The result of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BackgroundStep {
    /// There is more to do.
    More,
    /// There is more to do, but writers hold the locks.
    Held,
    /// There is nothing to do; the thread sleeps until it is woken.
    Done,
    /// The step failed, and would fail again at once; the thread sleeps for a while, and then until
    /// it is woken.
    Failed,
}

/// A running thread. Dropping this value ends the thread.
#[derive(Debug)]
pub struct BackgroundThread {
    wakeup: Arc<Wakeup>,
    running: Option<JoinHandle<()>>,
}

impl BackgroundThread {
    /// Starts a thread of this name that takes steps whenever `wakeup` is signaled; `None` if no
    /// thread can be spawned.
    pub fn start(
        name: &str,
        wakeup: Arc<Wakeup>,
        step: impl Fn() -> BackgroundStep + Send + 'static,
    ) -> Option<Self> {
        let woken = Arc::clone(&wakeup);
        let work = move || {
            while woken.wait() {
                let mut looks = 0;
                while looks < LOOKS && !woken.is_over() {
                    match step() {
                        BackgroundStep::More => looks = 0,
                        BackgroundStep::Held => {
                            looks += 1;
                            thread::sleep(BREATH);
                        }
                        BackgroundStep::Done => break,
                        BackgroundStep::Failed => {
                            let begin = Instant::now();
                            while begin.elapsed() < AFTER_FAILURE && !woken.is_over() {
                                thread::sleep(10 * BREATH);
                            }
                            break;
                        }
                    }
                }
            }
        };
        match thread::Builder::new().name(name.to_owned()).spawn(work) {
            Ok(running) => Some(BackgroundThread { wakeup, running: Some(running) }),
            Err(_) => {
                wakeup.end();
                None
            }
        }
    }
}

impl Drop for BackgroundThread {
    fn drop(&mut self) {
        self.wakeup.end();
        if let Some(running) = self.running.take() {
            // A panic was already reported by the thread.
            let _ = running.join();
        }
    }
}

#[cfg(all(test, not(hedgerow_shuttle)))]
mod tests {
    use super::*;
    use hedgerow_sync::atomic::{AtomicUsize, Ordering};
    use std::sync::mpsc;

    /// The thread runs steps until done, starts again when woken, and ends on drop.
    #[test]
    fn it_runs_when_woken_and_ends_when_dropped() {
        let (wakeup, steps) = (Arc::new(Wakeup::default()), Arc::new(AtomicUsize::new(0)));
        let (sender, receiver) = mpsc::channel();
        let counted = Arc::clone(&steps);
        let step = move || {
            let number = counted.fetch_add(1, Ordering::Relaxed);
            let step = [BackgroundStep::More, BackgroundStep::Held, BackgroundStep::Done][number % 3];
            let _ = sender.send(step);
            step
        };
        let thread = BackgroundThread::start("steps", Arc::clone(&wakeup), step).unwrap();
        for _ in 0..3 {
            assert!(wakeup.wake());
            for expected in [BackgroundStep::More, BackgroundStep::Held, BackgroundStep::Done] {
                assert_eq!(receiver.recv().unwrap(), expected);
            }
        }
        drop(thread);
        assert!(!wakeup.wake(), "there is no thread");
        assert_eq!(steps.load(Ordering::Relaxed), 9);
        assert_eq!(Arc::strong_count(&steps), 1, "the thread has ended");
    }

    /// The thread gives up locks that stay held, until it is woken again.
    #[test]
    fn held_locks_are_not_retried_forever() {
        let wakeup = Arc::new(Wakeup::default());
        let (sender, receiver) = mpsc::channel();
        let step = move || {
            let _ = sender.send(());
            BackgroundStep::Held
        };
        let thread = BackgroundThread::start("steps", Arc::clone(&wakeup), step).unwrap();
        assert!(wakeup.wake());
        (0..LOOKS).for_each(|_| receiver.recv().unwrap());
        assert!(receiver.recv_timeout(20 * BREATH).is_err());
        drop(thread);
    }
}
