//! The write-ahead log: commits are appended in order, and wait together until they are durable.
//!
//! ```text
//! append   under the caller's mutex: place and checksum, copy to a buffer   (tail.rs)
//! settle   on each thread: one waiting thread leads and syncs for all      (group.rs, writer.rs)
//! segments created ahead of use, by the log maintainer                     (shelf.rs, segments.rs)
//! ```
//!
//! Follows LiveGraph, section 5 (persist phase); the caller determines the order of commits.

mod engine_files;
mod follow;
mod group;
mod labels;
mod options;
mod retention;
mod segments;
mod shelf;
mod sizes;
mod start;
mod tail;
mod writer;

pub use options::{Durability, LogOptions};

use crate::body::Body;
use crate::error::{LogError, StoreError};
use crate::files::{FileSystem, HeldLock};
use crate::store::Manifest;
use group::{Goal, GroupCommit, Lead};
use hedgerow_model::CommitTimestamp;
use hedgerow_sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use hedgerow_sync::{Arc, Condvar, Mutex};
use shelf::Shelf;
use sizes::SegmentSizes;
use tail::Tail;
use writer::SegmentWriter;

/// The log of a store, while it takes commits.
///
/// Shared by all threads. A failed write or sync *poisons* the log: every waiting and every later
/// commit gets [`LogError::Poisoned`], and nothing is retried. Only opening the store again
/// determines the state of the disk.
#[derive(Debug)]
pub struct Log {
    files: Arc<dyn FileSystem>,
    options: LogOptions,
    sizes: SegmentSizes,
    salt: u32,
    tail: Mutex<Tail>,
    /// Wakes the threads that wait for a commit.
    grown: Condvar,
    /// Every commit up to this one is in a file.
    written: AtomicU64,
    /// Bytes of buffered commits. Changed under the tail's mutex.
    buffered: AtomicUsize,
    /// True if half of the segment is full, so that the next one should be created. Changed under
    /// the tail's mutex.
    is_half_full: AtomicBool,
    group: GroupCommit,
    /// Locked by the leader of a round.
    writer: Mutex<SegmentWriter>,
    shelf: Shelf,
    manifest: Mutex<Manifest>,
    /// Released when the log is closed or dropped.
    lock: Mutex<Option<Box<dyn HeldLock>>>,
}

/// A commit that was appended to the log.
#[derive(Clone, Copy, Debug)]
#[must_use = "a commit is durable only after `settle`"]
pub struct Appended {
    at: CommitTimestamp,
    batch_from: CommitTimestamp,
}

impl Appended {
    /// The commit.
    #[must_use]
    pub fn at(&self) -> CommitTimestamp {
        self.at
    }

    /// The first commit of the batch in which this commit will be written.
    ///
    /// [`Log::durable`] returns no timestamp from `batch_from` on that is before this commit:
    /// earlier batches end before `batch_from`, and this batch and later ones end with this commit
    /// or after it.
    #[must_use]
    pub fn batch_from(&self) -> CommitTimestamp {
        self.batch_from
    }
}

impl Log {
    /// Appends a commit. Nothing is written yet: see [`Log::settle`].
    ///
    /// Commits come in the order of their timestamps and without a gap, so the caller takes the
    /// timestamp and calls this under one mutex. `wall_clock` is in microseconds since 1970-01-01
    /// UTC; if it is earlier than the time of the previous commit, that time is used instead. Takes
    /// tens of nanoseconds: a large body is moved instead of copied, a small one is left for reuse.
    ///
    /// # Errors
    /// [`LogError::Poisoned`], [`LogError::Closed`], [`LogError::TooLarge`],
    /// [`LogError::OutOfOrder`]. Then the commit is not appended, and its timestamp can be used for
    /// another one.
    pub fn append(
        &self,
        at: CommitTimestamp,
        wall_clock: u64,
        body: &mut Body,
    ) -> Result<Appended, LogError> {
        self.append_each(at, wall_clock, std::slice::from_mut(body))
    }

    /// Like [`Log::append`], for commits with consecutive timestamps from `first` on and the same
    /// wall-clock time, all in one batch. Returns the last commit.
    ///
    /// # Errors
    /// The errors of [`Log::append`]. Then no commit is appended.
    pub fn append_each(
        &self,
        first: CommitTimestamp,
        wall_clock: u64,
        bodies: &mut [Body],
    ) -> Result<Appended, LogError> {
        let mut tail = self.tail.lock();
        let batch_from = tail.append(first, wall_clock, bodies)?;
        self.buffered.store(tail.buffered(), Ordering::Relaxed);
        self.is_half_full.store(tail.is_half_full(), Ordering::Relaxed);
        let (at, is_followed) = (tail.last(), tail.following > 0);
        drop(tail);
        if is_followed {
            self.grown.notify_all();
        }
        Ok(Appended { at, batch_from })
    }

    /// Fails if the log takes no commits. O(1).
    ///
    /// # Errors
    /// [`LogError::Poisoned`], [`LogError::Closed`].
    pub fn check(&self) -> Result<(), LogError> {
        self.tail.lock().refusal.clone().map_or(Ok(()), Err)
    }

    /// Waits until the commit at `at`, which was appended, is as durable as both the log's option
    /// and `durability` demand.
    ///
    /// # Errors
    /// [`LogError::Poisoned`]: the commit may or may not be durable.
    pub fn settle(&self, at: CommitTimestamp, durability: Durability) -> Result<(), LogError> {
        match durability.max(self.options.durability) {
            Durability::Sync => self.wait_durable(at),
            Durability::Buffered | Durability::None => self.relieve(),
        }
    }

    /// Writes the buffer if it is full; also syncs it where every commit is synced. For callers
    /// that commit many times before they wait.
    ///
    /// # Errors
    /// [`LogError::Poisoned`].
    pub fn relieve(&self) -> Result<(), LogError> {
        let buffered = self.buffered.load(Ordering::Relaxed);
        match self.options.durability {
            _ if buffered < self.options.buffer_bytes => Ok(()),
            Durability::Sync => self.flush(),
            Durability::Buffered | Durability::None => self.write_behind(buffered),
        }
    }

    /// Waits until every commit up to `at` survives a loss of power.
    ///
    /// One of the waiting threads writes and syncs all commits that are appended by then.
    ///
    /// # Errors
    /// [`LogError::Poisoned`].
    pub fn wait_durable(&self, at: CommitTimestamp) -> Result<(), LogError> {
        while let Some(lead) = self.group.wait(at)? {
            self.lead(lead, Goal::Sync)?;
        }
        Ok(())
    }

    /// Makes every appended commit durable.
    ///
    /// # Errors
    /// [`LogError::Poisoned`].
    pub fn flush(&self) -> Result<(), LogError> {
        let last = self.tail.lock().last();
        self.wait_durable(last)
    }

    /// The last commit of the durable prefix of the log. O(1), lock-free.
    #[must_use]
    pub fn durable(&self) -> CommitTimestamp {
        self.group.durable()
    }

    /// The last appended commit. O(1).
    #[must_use]
    pub fn last(&self) -> CommitTimestamp {
        self.tail.lock().last()
    }

    /// The durability at which a commit returns by default; a commit may request more.
    #[must_use]
    pub fn durability(&self) -> Durability {
        self.options.durability
    }

    /// The current manifest of the store.
    #[must_use]
    pub fn manifest(&self) -> Manifest {
        self.manifest.lock().clone()
    }

    /// The files of the store.
    #[must_use]
    pub fn files(&self) -> &Arc<dyn FileSystem> {
        &self.files
    }

    /// Writes the buffer, unless another thread is writing and there is space left.
    fn write_behind(&self, buffered: usize) -> Result<(), LogError> {
        let patient = buffered >= 4 * self.options.buffer_bytes;
        match self.group.write(patient)? {
            Some(lead) => self.lead(lead, Goal::Write),
            None => Ok(()),
        }
    }

    /// Leads a round: takes the batch, writes it, syncs it.
    fn lead(&self, lead: Lead<'_>, goal: Goal) -> Result<(), LogError> {
        if goal == Goal::Sync {
            lead.gather();
        }
        let mut writer = self.writer.lock();
        let batch = lead.begin(|| {
            let mut tail = self.tail.lock();
            let batch = tail.take(writer.spare());
            self.buffered.store(0, Ordering::Relaxed);
            drop(tail);
            let last = batch.last;
            (batch, last)
        });
        let last = batch.last;
        match writer.write(self, batch, goal) {
            Ok(synced) => {
                drop(writer);
                // Release: a thread that sees it reads the commits.
                self.written.store(last.0, Ordering::Release);
                lead.finish(synced.then_some(last));
                Ok(())
            }
            Err(error) => {
                let failure = self.poison(error);
                lead.fail(&failure);
                Err(failure)
            }
        }
    }

    /// Makes the log refuse all commits, because of `cause`.
    fn poison(&self, cause: StoreError) -> LogError {
        let failure = match cause {
            StoreError::Log(failure) => failure,
            cause => LogError::Poisoned { cause: Arc::new(cause) },
        };
        let failure = {
            let refusal = &mut self.tail.lock().refusal;
            match refusal {
                // A failed close is reported as the failure.
                None | Some(LogError::Closed) => *refusal = Some(failure.clone()),
                Some(_) => {}
            }
            refusal.clone().unwrap_or(failure)
        };
        self.grown.notify_all();
        self.group.fail(&failure);
        failure
    }
}
