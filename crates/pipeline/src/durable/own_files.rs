//! Graphs whose engine keeps the edges in files of its own.
//!
//! The engine's files have everything up to a commit, the checkpoint of the store has the keys up to a commit that is no later, and the log has all behind
//! that. So the order of writing is: the log, then the engine's files, then the keys; and only then the log is pruned. When the store is opened, the
//! commits that the engine has give back their keys and no more.

use crate::error::Error;
use crate::store::Store;
use hedgerow_log::Durability;
use hedgerow_model::token::Registered;
use hedgerow_model::{Admission, Durable, Engine, Timestamp};
use hedgerow_sequencer::{Reader, Sequencer};

/// So often a commit waits for work that the engine has put off, at most: others may go on putting off more.
const MOST_WAITS: usize = 16;

/// What an engine does in a step of maintenance that a commit waits for.
const STEP_BYTES: usize = 1 << 20;

impl<E: Engine> Store<E> {
    /// The commit up to which the files of the engine have everything; zero if it has none.
    pub fn in_files_through(&self) -> Timestamp {
        self.engine.durable().map_or(Timestamp::ZERO, Durable::durable_through)
    }

    /// Puts the state of a snapshot into the engine's files, if it owns any. The log is durable up to there before: otherwise the files would have commits
    /// that are in no log.
    pub(super) fn flush_to_files(&self, at: &Registered) -> Result<(), Error> {
        let Some(durable) = self.engine.durable() else { return Ok(()) };
        self.check_writable()?;
        self.settle_read(at.at(), Durability::Sync)?;
        let _one = self.maintenance.flushing.lock();
        Ok(durable.flush(at)?)
    }

    /// The same with the newest state. No locks are held.
    pub(crate) fn flush_newest(&self) -> Result<(), Error> {
        self.settle_seen()?;
        let registration = Sequencer::open(&*self.sequencer, Reader::Snapshot)?;
        self.flush_to_files(registration.token())
    }

    /// Fails if the log takes no commits.
    fn check_writable(&self) -> Result<(), Error> {
        Ok(self.journal().ok_or(Error::InMemory)?.log()?.check()?)
    }

    /// Whether the engine may do work that it has put off: to its own files not when the graph is closed, or is only read.
    pub(crate) fn may_maintain(&self) -> bool {
        self.engine.durable().is_none() || self.check_writable().is_ok()
    }

    /// Ends the log and gives the store free for others, with everything durable.
    ///
    /// # Errors
    /// The log could not be written; the graph lives in memory.
    pub fn close(&self) -> Result<(), Error> {
        let journal = self.journal().ok_or(Error::InMemory)?;
        let _flushing = self.maintenance.flushing.lock();
        journal.close()
    }

    /// Holds a commit of about so many bytes back while the engine has put off too much. No locks are held.
    ///
    /// # Errors
    /// That work fails; nothing has changed then.
    #[inline]
    pub fn admit(&self, bytes: usize) -> Result<(), Error> {
        match self.engine.admit(bytes) {
            Admission::Granted => Ok(()),
            Admission::AfterMaintenance => self.wait_for_admission(bytes),
        }
    }

    #[cold]
    fn wait_for_admission(&self, bytes: usize) -> Result<(), Error> {
        let _one = self.maintenance.admitting.lock();
        for _ in 0..MOST_WAITS {
            if self.engine.admit(bytes) == Admission::Granted {
                break;
            }
            match self.engine.durable() {
                Some(_) => self.flush_newest()?,
                None => drop(self.maintain(STEP_BYTES)?),
            }
        }
        Ok(())
    }
}
