//! What threads work with, handed from chunk to chunk.

use hedgerow_sync::Mutex;

/// Things that are costly to make: there are never more of them than threads that work at once.
pub(crate) struct Workers<T>(Mutex<Vec<T>>);

impl<T> Workers<T> {
    pub(crate) fn new() -> Self {
        Workers(Mutex::new(Vec::new()))
    }

    /// Works with an idle one, or with a new one if there is none.
    pub(crate) fn with<R>(&self, make: impl FnOnce() -> T, work: impl FnOnce(&mut T) -> R) -> R {
        let idle = self.0.lock().pop();
        let mut worker = idle.unwrap_or_else(make);
        let result = work(&mut worker);
        self.0.lock().push(worker);
        result
    }

    /// All of them, in no particular order.
    pub(crate) fn into_all(mut self) -> Vec<T> {
        std::mem::take(self.0.get_mut())
    }
}
