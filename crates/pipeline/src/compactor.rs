//! The thread of a graph that frees what nobody sees any more, where that is not the work of writers.

use hedgerow_sequencer::Wakeup;
use hedgerow_sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// How long the thread waits for locks that are held before it looks again.
const BREATH: Duration = Duration::from_millis(1);

/// After so many looks at held locks it waits until it is woken again: whoever holds them will wake it.
const LOOKS: usize = 8;

/// What a step came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// There is more to do.
    More,
    /// There is more to do, but somebody writes to it at the moment.
    Held,
    /// There is nothing to do, or the step failed; the thread sleeps until it is asked again.
    Done,
}

/// The thread, while it runs. Ended when this is dropped.
#[derive(Debug)]
pub struct Compactor {
    wakeup: Arc<Wakeup>,
    running: Option<JoinHandle<()>>,
}

impl Compactor {
    /// Begins to take steps whenever the wakeup was woken; `None` where no thread can be had.
    pub fn start(wakeup: Arc<Wakeup>, step: impl Fn() -> Step + Send + 'static) -> Option<Self> {
        let woken = Arc::clone(&wakeup);
        let compact = move || {
            while woken.wait() {
                let mut looks = 0;
                while looks < LOOKS && !woken.is_over() {
                    match step() {
                        Step::More => looks = 0,
                        Step::Held => {
                            looks += 1;
                            thread::sleep(BREATH);
                        }
                        Step::Done => break,
                    }
                }
            }
        };
        match thread::Builder::new().name("hedgerow-compact".to_owned()).spawn(compact) {
            Ok(running) => Some(Compactor { wakeup, running: Some(running) }),
            Err(_) => {
                wakeup.end();
                None
            }
        }
    }
}

impl Drop for Compactor {
    fn drop(&mut self) {
        self.wakeup.end();
        if let Some(running) = self.running.take() {
            // If it panicked, it has told.
            let _ = running.join();
        }
    }
}

#[cfg(all(test, not(hedgerow_shuttle)))]
mod tests {
    use super::*;
    use hedgerow_sync::atomic::{AtomicUsize, Ordering};
    use std::sync::mpsc;

    /// It steps until all is done, again when it is woken, and has ended when it is dropped.
    #[test]
    fn it_works_when_it_is_rung_and_ends_when_it_is_dropped() {
        let (wakeup, steps) = (Arc::new(Wakeup::default()), Arc::new(AtomicUsize::new(0)));
        let (sender, receiver) = mpsc::channel();
        let counted = Arc::clone(&steps);
        let step = move || {
            let number = counted.fetch_add(1, Ordering::Relaxed);
            let step = [Step::More, Step::Held, Step::Done][number % 3];
            let _ = sender.send(step);
            step
        };
        let compactor = Compactor::start(Arc::clone(&wakeup), step).unwrap();
        for _ in 0..3 {
            assert!(wakeup.wake());
            for expected in [Step::More, Step::Held, Step::Done] {
                assert_eq!(receiver.recv().unwrap(), expected);
            }
        }
        drop(compactor);
        assert!(!wakeup.wake(), "there is no thread");
        assert_eq!(steps.load(Ordering::Relaxed), 9);
        assert_eq!(Arc::strong_count(&steps), 1, "the thread has ended");
    }

    /// Locks that stay held are given up, until it is woken again.
    #[test]
    fn held_locks_are_not_looked_at_for_ever() {
        let wakeup = Arc::new(Wakeup::default());
        let (sender, receiver) = mpsc::channel();
        let step = move || {
            let _ = sender.send(());
            Step::Held
        };
        let compactor = Compactor::start(Arc::clone(&wakeup), step).unwrap();
        assert!(wakeup.wake());
        (0..LOOKS).for_each(|_| receiver.recv().unwrap());
        assert!(receiver.recv_timeout(20 * BREATH).is_err());
        drop(compactor);
    }
}
