//! Wakes the garbage collection thread.

use hedgerow_sync::{Condvar, Mutex};

/// A condition variable for one sleeping thread. Several calls while the thread is awake count as
/// one.
#[derive(Debug, Default)]
pub struct Wakeup {
    state: Mutex<WakeupState>,
    woken: Condvar,
}

#[derive(Debug, Default)]
struct WakeupState {
    is_asked: bool,
    is_over: bool,
}

impl Wakeup {
    /// Wakes the thread, because there may be work. Never waits for that work. Returns false if
    /// there is no thread.
    pub fn wake(&self) -> bool {
        let mut state = self.state.lock();
        if !state.is_asked {
            state.is_asked = true;
            self.woken.notify_one();
        }
        !state.is_over
    }

    /// Waits until there may be work. Returns false if the thread must exit.
    pub fn wait(&self) -> bool {
        let mut state = self.state.lock();
        while !state.is_asked && !state.is_over {
            state = self.woken.wait(state);
        }
        state.is_asked = false;
        !state.is_over
    }

    /// Returns true if the thread must exit, or does not exist.
    pub fn is_over(&self) -> bool {
        self.state.lock().is_over
    }

    /// Marks the thread as gone, or asks it to exit.
    pub fn end(&self) {
        self.state.lock().is_over = true;
        self.woken.notify_one();
    }
}
