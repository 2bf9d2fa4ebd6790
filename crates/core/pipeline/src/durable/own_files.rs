//! Graphs whose engine stores them in its own files.
//!
//! The engine's files contain all commits up to one of them, with the keys of vertices, and the log
//! contains all later commits; there is no checkpoint. So the order of writing is: the log, then
//! the engine's files; only then is the log pruned.

use crate::durable::note::FlushNote;
use crate::durable::restore::manifest_path;
use crate::error::Error;
use crate::store::Store;
use hedgerow_log::{Durability, StoreError, StoreFiles};
use hedgerow_model::{Admission, CommitTimestamp, Counts, Durable, EngineError, ReadError};
use hedgerow_sequencer::{ReaderKind, Sequencer};
use hedgerow_sync::atomic::Ordering;
use std::thread;

/// Maximum number of times that a commit waits for deferred work of the engine: other commits may
/// keep deferring more.
const MOST_WAITS: usize = 16;

/// Budget, in bytes, of a maintenance step that a commit waits for.
const STEP_BYTES: usize = 1 << 20;

/// The result of a flush.
pub(super) struct Flushed {
    /// The commit that the engine's files reach now.
    pub(super) through: CommitTimestamp,
    /// The size of the graph at the newest commit.
    pub(super) counts: Counts,
    /// True if the engine's files reached less before.
    pub(super) is_new: bool,
    /// Number of log segments that were removed because they are obsolete.
    pub(super) pruned: usize,
}

impl Store {
    /// The commit up to which the engine's files are complete; zero if it has none.
    pub fn in_files_through(&self) -> CommitTimestamp {
        self.engine.durable().map_or(CommitTimestamp::ZERO, Durable::durable_through)
    }

    /// Flushes the newest state to the engine's files, if it has its own. No locks are held.
    pub(crate) fn flush_newest(&self) -> Result<(), Error> {
        self.engine.durable().map_or(Ok(()), |durable| self.flush_to_files(durable).map(drop))
    }

    /// Flushes the newest state to the engine's files, and removes the part of the log that they
    /// make obsolete. First makes the log durable up to that state: otherwise the files would
    /// contain commits that are in no log. No locks are held.
    pub(super) fn flush_to_files(&self, durable: &dyn Durable) -> Result<Flushed, Error> {
        let log = self.journal().ok_or(Error::InMemory)?.log()?;
        log.check()?;
        self.settle_seen()?;
        let (registration, (wall_clock, input)) =
            Sequencer::open_and_see(&*self.sequencer, ReaderKind::Snapshot, |head| {
                (head.wall_clock, head.input.clone())
            })?;
        let at = registration.token();
        let _one = self.maintenance.flushing.lock();
        durable.begin_flush(at);
        self.settle_read(at.at(), Durability::Sync)?;
        let before = durable.durable_through();
        let input = input.as_deref().map(Box::from);
        let note = FlushNote { store: log.manifest().store, wall_clock, input };
        let (live, _) = self.sequencer.live();
        durable.flush(at, &live, &note.encode())?;
        let through = durable.durable_through();
        let pruned = log.prune(through)?;
        Ok(Flushed { through, counts: at.counts().clone(), is_new: through > before, pruned })
    }

    /// Restores the counts and the keys of the state in the engine's files into a graph that is
    /// still empty. Returns the store's note about that state.
    ///
    /// # Errors
    /// The files cannot be read, belong to another store, or end before the log begins.
    pub(super) fn restore_from_files(
        &self,
        durable: &dyn Durable,
        store: &StoreFiles,
    ) -> Result<Option<FlushNote>, Error> {
        let through = durable.durable_through();
        let manifest = store.manifest();
        let damaged = |what| {
            let path = manifest_path(&**store.files());
            Err(StoreError::Damaged { path, offset: 0, what }.into())
        };
        if through < manifest.oldest_readable {
            return damaged(format!(
                "the files of the engine have commits up to {through} only, but the log begins after commit {}",
                manifest.oldest_readable
            ));
        }
        let counts = durable.counts()?;
        let vertices = counts.vertices;
        self.sequencer.restore_counts(through, counts);
        if through == CommitTimestamp::ZERO {
            return Ok(None);
        }
        let note = FlushNote::decode(&durable.note());
        let note =
            note.map_err(|error| EngineError::from(ReadError::new("the files of the engine", error)))?;
        if note.store != manifest.store {
            return damaged("the files of the engine belong to another store".to_owned());
        }
        if !self.dictionary.is_dense() {
            self.restore_keys(durable, vertices)?;
        }
        Ok(Some(note))
    }

    /// Restores the keys of the vertices that the engine's files have.
    fn restore_keys(&self, durable: &dyn Durable, vertices: u64) -> Result<(), Error> {
        let (mut keys, mut restored, mut wrong) = (self.dictionary.restoring(), 0, None);
        durable.each_key(&mut |vertex, key| {
            restored += 1;
            if wrong.is_none() {
                wrong = keys.add(key, vertex).err();
            }
        })?;
        let wrong = wrong.or(keys.finish().err()).map(|error| error.to_string());
        let missing = || format!("{restored} of {vertices} vertices have a key");
        let wrong = wrong.or_else(|| (restored != vertices).then(missing));
        let unread = |what: String| EngineError::from(ReadError::new("the files of the engine", what));
        wrong.map_or(Ok(()), |what| Err(unread(what).into()))
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

    /// Returns true if the engine may do deferred work. An engine with its own files may not once
    /// the graph is closed, or if it is read-only.
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
