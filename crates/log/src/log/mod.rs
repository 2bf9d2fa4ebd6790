//! The write-ahead log: commits get their place in order, and wait together until they are durable.
//!
//! ```text
//! append   under the caller's own mutex: place and checksum, copied into a buffer          (tail.rs)
//! settle   each thread by itself: one of those that wait leads, and writes and syncs for all (group.rs, writer.rs)
//! segments made ahead of use, by whoever maintains the log                                   (shelf.rs, segments.rs)
//! ```
//!
//! After LiveGraph, section 5 (persist phase), with the order of commits taken from the caller.

mod engine_files;
mod group;
mod options;
mod retention;
mod segments;
mod shelf;
mod start;
mod tail;
mod writer;

pub use options::{Durability, LogOptions};

use crate::body::Body;
use crate::error::{LogError, StoreError};
use crate::files::{FileSystem, HeldLock};
use crate::store::Manifest;
use group::{Goal, Group, Lead};
use hedgerow_model::Timestamp;
use hedgerow_sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use hedgerow_sync::{Arc, Mutex};
use shelf::Shelf;
use tail::Tail;
use writer::Writer;

/// The log of a store that takes commits.
///
/// Shared by all threads. A failed write or sync *poisons* it: every commit that waits, and every later one, gets
/// [`LogError::Poisoned`], and nothing is tried again. What is on the disk then, only opening the store again can tell.
#[derive(Debug)]
pub struct Log {
    files: Arc<dyn FileSystem>,
    options: LogOptions,
    salt: u32,
    tail: Mutex<Tail>,
    /// Bytes of commits that wait to be written. Changed under the tail's mutex.
    buffered: AtomicUsize,
    /// Half of the segment is full, so that the next one should be made. As above.
    is_half_full: AtomicBool,
    group: Group,
    /// Locked by the leader of a round.
    writer: Mutex<Writer>,
    shelf: Shelf,
    manifest: Mutex<Manifest>,
    /// Released when the log is closed or dropped.
    lock: Mutex<Option<Box<dyn HeldLock>>>,
}

/// A commit that has its place in the log.
#[derive(Clone, Copy, Debug)]
#[must_use = "a commit is durable only after `settle`"]
pub struct Appended {
    at: Timestamp,
    batch_from: Timestamp,
}

impl Appended {
    /// The commit.
    #[must_use]
    pub fn at(&self) -> Timestamp {
        self.at
    }

    /// The first commit of those that will be written together with this one, unless they are more by then.
    ///
    /// [`Log::durable`] never gave and never will give a timestamp from this one on and before this commit: what was taken to be written
    /// before ends before it, and what will be taken later ends with this commit or behind it.
    #[must_use]
    pub fn batch_from(&self) -> Timestamp {
        self.batch_from
    }
}

impl Log {
    /// Gives a commit its place. Nothing is written yet: see [`Log::settle`].
    ///
    /// Commits come in the order of their timestamps and without a gap, so the caller takes the timestamp and calls this under one
    /// mutex of its own. `wall_clock` is in microseconds since 1970-01-01 UTC; where it goes back, the time of the
    /// commit before counts. Tens of nanoseconds: a large body is not copied but taken, a small one is left for the next use.
    ///
    /// # Errors
    /// [`LogError::Poisoned`], [`LogError::Closed`], [`LogError::TooLarge`], [`LogError::OutOfOrder`]; the commit has then no place, and its
    /// timestamp can be used for another.
    pub fn append(&self, at: Timestamp, wall_clock: u64, body: &mut Body) -> Result<Appended, LogError> {
        let mut tail = self.tail.lock();
        let batch_from = tail.append(at, wall_clock, body)?;
        self.buffered.store(tail.buffered(), Ordering::Relaxed);
        self.is_half_full.store(tail.is_half_full(), Ordering::Relaxed);
        Ok(Appended { at, batch_from })
    }

    /// Whether commits are taken. O(1).
    ///
    /// # Errors
    /// Why not: [`LogError::Poisoned`], [`LogError::Closed`].
    pub fn check(&self) -> Result<(), LogError> {
        self.tail.lock().refusal.clone().map_or(Ok(()), Err)
    }

    /// Waits until the commit at `at`, which has its place, is as durable as the graph's option says, or as `durability` does if that is
    /// more.
    ///
    /// # Errors
    /// [`LogError::Poisoned`]: nobody knows whether the commit is durable.
    pub fn settle(&self, at: Timestamp, durability: Durability) -> Result<(), LogError> {
        match durability.max(self.options.durability) {
            Durability::Sync => self.wait_durable(at),
            Durability::Buffered | Durability::None => self.relieve(),
        }
    }

    /// Writes what waits in the buffer if it is full; where every commit is synced, syncs it, too. For whoever commits many times before he waits.
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
    /// Of all threads that wait one writes and syncs, for all commits that have their place by then.
    ///
    /// # Errors
    /// [`LogError::Poisoned`].
    pub fn wait_durable(&self, at: Timestamp) -> Result<(), LogError> {
        while let Some(lead) = self.group.wait(at)? {
            self.lead(lead, Goal::Sync)?;
        }
        Ok(())
    }

    /// Makes every commit durable that has its place.
    ///
    /// # Errors
    /// [`LogError::Poisoned`].
    pub fn flush(&self) -> Result<(), LogError> {
        let last = self.tail.lock().last();
        self.wait_durable(last)
    }

    /// Every commit up to this is durable. O(1), without a lock.
    #[must_use]
    pub fn durable(&self) -> Timestamp {
        self.group.durable()
    }

    /// The last commit that has its place. O(1).
    #[must_use]
    pub fn last(&self) -> Timestamp {
        self.tail.lock().last()
    }

    /// When a commit is done that does not ask for more.
    #[must_use]
    pub fn durability(&self) -> Durability {
        self.options.durability
    }

    /// What belongs to the store now.
    #[must_use]
    pub fn manifest(&self) -> Manifest {
        self.manifest.lock().clone()
    }

    /// The files of the store.
    #[must_use]
    pub fn files(&self) -> &Arc<dyn FileSystem> {
        &self.files
    }

    /// Writes what waits in the buffer, unless somebody is writing and there is room left.
    fn write_behind(&self, buffered: usize) -> Result<(), LogError> {
        let patient = buffered >= 4 * self.options.buffer_bytes;
        match self.group.write(patient)? {
            Some(lead) => self.lead(lead, Goal::Write),
            None => Ok(()),
        }
    }

    /// Leads a round: takes what waits, writes it, syncs it.
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

    /// Takes no more commits, since `cause`.
    fn poison(&self, cause: StoreError) -> LogError {
        let failure = match cause {
            StoreError::Log(failure) => failure,
            cause => LogError::Poisoned { cause: Arc::new(cause) },
        };
        let failure = {
            let refusal = &mut self.tail.lock().refusal;
            match refusal {
                // A close that fails is told as what failed.
                None | Some(LogError::Closed) => *refusal = Some(failure.clone()),
                Some(_) => {}
            }
            refusal.clone().unwrap_or(failure)
        };
        self.group.fail(&failure);
        failure
    }
}
