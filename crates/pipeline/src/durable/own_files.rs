//! Graphs whose engine stores the edges in its own files.
//!
//! The engine's files contain everything up to a commit, the store's checkpoint contains the keys
//! up to the same or an earlier commit, and the log contains all later ones. So the order of
//! writing is: the log, then the engine's files, then the keys; only then is the log pruned. When
//! the store is opened, commits that the engine already has only restore their keys.

use crate::error::Error;
use crate::store::Store;
use hedgerow_log::Durability;
use hedgerow_model::token::Registered;
use hedgerow_model::{Admission, CommitTimestamp, Durable, Engine};
use hedgerow_sequencer::{Reader, Sequencer};
use hedgerow_sync::atomic::Ordering;
use std::thread;

/// Maximum number of times that a commit waits for deferred work of the engine: other commits may
/// keep deferring more.
const MOST_WAITS: usize = 16;

/// What an engine does in a maintenance step that a commit waits for.
const STEP_BYTES: usize = 1 << 20;

impl<E: Engine> Store<E> {
    /// The commit up to which the engine's files are complete; zero if it has none.
    pub fn in_files_through(&self) -> CommitTimestamp {
        self.engine.durable().map_or(CommitTimestamp::ZERO, Durable::durable_through)
    }

    /// Flushes the state of a snapshot to the engine's files, if it has its own. First the log must
    /// be durable up to there: otherwise the files would contain commits that are in no log.
    pub(super) fn flush_to_files(&self, at: &Registered) -> Result<(), Error> {
        let Some(durable) = self.engine.durable() else { return Ok(()) };
        self.check_writable()?;
        self.settle_read(at.at(), Durability::Sync)?;
        let _one = self.maintenance.flushing.lock();
        let (live, _) = self.sequencer.live();
        Ok(durable.flush(at, &live)?)
    }

    /// Flushes the newest state to the engine's files, if it has its own. No locks are held.
    pub(crate) fn flush_newest(&self) -> Result<(), Error> {
        self.settle_seen()?;
        let registration = Sequencer::open(&*self.sequencer, Reader::Snapshot)?;
        self.flush_to_files(registration.token())
    }

    /// Flushes the newest state, or waits until another thread has flushed. No locks are held.
    fn flush_or_wait(&self) -> Result<(), Error> {
        let flushing = self.maintenance.flushing.try_lock();
        match flushing {
            Some(free) => {
                drop(free);
                self.flush_newest()
            }
            None => {
                drop(self.maintenance.flushing.lock());
                Ok(())
            }
        }
    }

    /// Fails if the log takes no commits.
    fn check_writable(&self) -> Result<(), Error> {
        Ok(self.journal().ok_or(Error::InMemory)?.log()?.check()?)
    }

    /// Whether the engine may do deferred work: not in its own files once the graph is closed, or
    /// if it is read-only.
    pub(crate) fn may_maintain(&self) -> bool {
        self.engine.durable().is_none() || self.check_writable().is_ok()
    }

    /// Ends the log and releases the store for other processes, with everything durable.
    ///
    /// # Errors
    /// If the log cannot be written, or the graph is in memory.
    pub fn close(&self) -> Result<(), Error> {
        let journal = self.journal().ok_or(Error::InMemory)?;
        self.maintenance.is_ending.store(true, Ordering::SeqCst);
        let _flushing = self.maintenance.flushing.lock();
        journal.close()
    }

    /// Delays a commit of about `bytes` bytes while the engine has deferred too much work. No locks
    /// are held.
    ///
    /// # Errors
    /// If a flush fails; nothing has changed then. Other work that fails holds no commit back.
    #[inline]
    pub fn admit(&self, bytes: usize) -> Result<(), Error> {
        match self.engine.admit(bytes) {
            Admission::Granted => Ok(()),
            Admission::AfterPause(pause) => {
                thread::sleep(pause);
                Ok(())
            }
            Admission::AfterFlush | Admission::AfterMaintenance => self.wait_for_admission(bytes),
        }
    }

    #[cold]
    fn wait_for_admission(&self, bytes: usize) -> Result<(), Error> {
        let _one = self.maintenance.admitting.lock();
        for _ in 0..MOST_WAITS {
            match self.engine.admit(bytes) {
                Admission::Granted | Admission::AfterPause(_) => break,
                Admission::AfterFlush => self.flush_or_wait()?,
                Admission::AfterMaintenance => {
                    if let Err(failed) = self.maintain(STEP_BYTES) {
                        self.note_failed_maintenance(failed);
                        break;
                    }
                }
            }
        }
        Ok(())
    }
}
