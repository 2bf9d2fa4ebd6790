//! Waiting for the commits of others, by those who follow the log.

use super::Log;
use super::group::Goal;
use crate::error::LogError;
use hedgerow_model::CommitTimestamp;
use hedgerow_sync::atomic::Ordering;
use std::time::Duration;

impl Log {
    /// Writes every commit up to `at`, which was appended, to its file, and makes none durable.
    ///
    /// # Errors
    /// [`LogError::Poisoned`].
    pub fn write_through(&self, at: CommitTimestamp) -> Result<(), LogError> {
        // Acquire: the commits are read afterwards.
        while self.written.load(Ordering::Acquire) < at.0 {
            if let Some(lead) = self.group.write(true)? {
                self.lead(lead, Goal::Write)?;
            }
        }
        Ok(())
    }

    /// The number of the segment to which the next commit is appended, and the bytes that it has.
    #[must_use]
    pub fn end(&self) -> (u64, u64) {
        self.tail.lock().end()
    }

    /// Waits until there is a commit `at`, at most for `time`; it may not be durable then.
    ///
    /// # Errors
    /// [`LogError::Poisoned`], [`LogError::Closed`]: it will never be there.
    pub fn wait_appended(&self, at: CommitTimestamp, time: Duration) -> Result<(), LogError> {
        let mut tail = self.tail.lock();
        tail.following += 1;
        let mut tail = self.grown.wait_while(tail, time, |tail| tail.last() < at && tail.refusal.is_none());
        tail.following -= 1;
        match &tail.refusal {
            Some(refusal) if tail.last() < at => Err(refusal.clone()),
            _ => Ok(()),
        }
    }

    /// Waits until others have made the commit `at` durable, at most for `time`.
    ///
    /// # Errors
    /// As [`Log::wait_appended`].
    pub fn follow_durable(&self, at: CommitTimestamp, time: Duration) -> Result<(), LogError> {
        self.group.follow(at, time)
    }
}
