//! Waiting for the commits of others, by those who follow the log.

use super::Log;
use super::group::Goal;
use crate::error::LogError;
use hedgerow_model::CommitTimestamp;
use hedgerow_sync::atomic::Ordering;
use std::time::{Duration, Instant};

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

    /// Waits until there is a commit `at`, at most for `time`; it may not be durable then.
    ///
    /// # Errors
    /// [`LogError::Poisoned`], [`LogError::Closed`]: it will never be there.
    pub fn wait_appended(&self, at: CommitTimestamp, time: Duration) -> Result<(), LogError> {
        let until = Instant::now().checked_add(time);
        let mut tail = self.tail.lock();
        while tail.last() < at {
            if let Some(refusal) = &tail.refusal {
                return Err(refusal.clone());
            }
            let left = until.map_or(time, |until| until.saturating_duration_since(Instant::now()));
            if left.is_zero() {
                break;
            }
            tail.following += 1;
            tail = self.grown.wait_for(tail, left);
            tail.following -= 1;
        }
        Ok(())
    }

    /// Waits until others have made the commit `at` durable, at most for `time`.
    ///
    /// # Errors
    /// As [`Log::wait_appended`].
    pub fn follow_durable(&self, at: CommitTimestamp, time: Duration) -> Result<(), LogError> {
        self.group.follow(at, time)
    }
}
