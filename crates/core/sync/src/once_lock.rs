//! A value that is made once, by the first thread that requests it.

#[cfg(not(hedgerow_shuttle))]
pub use std::sync::OnceLock;

#[cfg(hedgerow_shuttle)]
pub use modelled::OnceLock;

#[cfg(hedgerow_shuttle)]
mod modelled {
    use std::sync::atomic::{AtomicBool, Ordering};

    /// `OnceLock` under the model checker. All tasks share one operating system thread, so a task
    /// that waited for another in the standard library's lock would wait forever.
    #[derive(Debug)]
    pub struct OnceLock<T> {
        value: std::sync::OnceLock<T>,
        is_being_made: AtomicBool,
    }

    impl<T> OnceLock<T> {
        /// Creates an empty lock.
        pub const fn new() -> Self {
            OnceLock { value: std::sync::OnceLock::new(), is_being_made: AtomicBool::new(false) }
        }

        /// Returns the value, if it has been made.
        pub fn get(&self) -> Option<&T> {
            self.value.get()
        }

        /// Stores a value. Returns it as an error if there already is one.
        pub fn set(&self, value: T) -> Result<(), T> {
            self.value.set(value)
        }

        /// Returns the value. Makes it, or waits until another task has made it.
        pub fn get_or_init(&self, make: impl FnOnce() -> T) -> &T {
            if self.get().is_none() && !self.is_being_made.swap(true, Ordering::SeqCst) {
                let made = make();
                return self.value.get_or_init(|| made);
            }
            loop {
                if let Some(value) = self.get() {
                    return value;
                }
                shuttle::thread::yield_now();
            }
        }
    }

    impl<T> From<T> for OnceLock<T> {
        fn from(value: T) -> Self {
            OnceLock { value: value.into(), is_being_made: AtomicBool::new(false) }
        }
    }

    impl<T> Default for OnceLock<T> {
        fn default() -> Self {
            OnceLock::new()
        }
    }
}
