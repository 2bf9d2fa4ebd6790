//! How the thread that frees what nobody sees any more is told that there may be something to do.

use hedgerow_sync::{Condvar, Mutex};

/// A condition variable for one sleeping thread. Wake-ups that come while the thread is awake count as one.
#[derive(Debug, Default)]
pub struct Wakeup {
    state: Mutex<State>,
    woken: Condvar,
}

#[derive(Debug, Default)]
struct State {
    is_asked: bool,
    is_over: bool,
}

impl Wakeup {
    /// There may be something to do. Never waits for the thread's work. `false` if there is no thread.
    pub fn wake(&self) -> bool {
        let mut state = self.state.lock();
        if !state.is_asked {
            state.is_asked = true;
            self.woken.notify_one();
        }
        !state.is_over
    }

    /// Waits until there may be something to do; `false` if the thread is to end.
    pub fn wait(&self) -> bool {
        let mut state = self.state.lock();
        while !state.is_asked && !state.is_over {
            state = self.woken.wait(state);
        }
        state.is_asked = false;
        !state.is_over
    }

    /// Whether the thread is to end, or there is none.
    pub fn is_over(&self) -> bool {
        self.state.lock().is_over
    }

    /// There is no thread any more, or it is to end.
    pub fn end(&self) {
        self.state.lock().is_over = true;
        self.woken.notify_one();
    }
}
