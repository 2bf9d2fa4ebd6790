//! Reusable working memory of threads.

use hedgerow_sync::Mutex;

/// Values that are costly to make: there are never more of them than concurrent threads.
pub(crate) struct Workers<T>(Mutex<Vec<T>>);

impl<T> Workers<T> {
    pub(crate) fn new() -> Self {
        Workers(Mutex::new(Vec::new()))
    }

    /// Calls `work` with an idle value, or with a new one if none is idle.
    pub(crate) fn with<R>(&self, make: impl FnOnce() -> T, work: impl FnOnce(&mut T) -> R) -> R {
        let idle = self.0.lock().pop();
        let mut worker = idle.unwrap_or_else(make);
        let result = work(&mut worker);
        self.0.lock().push(worker);
        result
    }

    /// Returns all values, in no particular order.
    pub(crate) fn into_all(mut self) -> Vec<T> {
        std::mem::take(self.0.get_mut())
    }
}
