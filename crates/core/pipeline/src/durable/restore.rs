//! Restores a graph from a store: its checkpoint or the engine's own files, then the commits of its
//! log.

use crate::durable::replay::Replay;
use crate::durable::restored::Batches;
use crate::error::Error;
use crate::journal::{Journal, Recovery};
use crate::store::Store;
use hedgerow_log::checkpoint::{Checkpoint, name_of};
use hedgerow_log::files::FileSystem;
use hedgerow_log::{Manifest, Recovered, StoreError};
use hedgerow_model::CommitTimestamp;
use hedgerow_model::token::HeldLocks;
use hedgerow_sequencer::{AsOf, LockGuard};
use hedgerow_sync::Arc;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// The last state to read from a store.
#[derive(Clone, Copy)]
pub struct Until {
    as_of: AsOf,
    /// The wall-clock time at which the store was opened.
    now: u64,
}

impl Until {
    /// Returns `None` for the newest state. It is also the state at any time from the present on,
    /// because no commit was made after `now`.
    pub fn new(as_of: AsOf, now: u64) -> Option<Self> {
        match as_of {
            AsOf::Time(time) if time >= now => None,
            _ => Some(Until { as_of, now }),
        }
    }

    /// Returns true if a commit belongs to the state. Fails if the commit carries a time in the
    /// future, which does not tell when it was made.
    pub fn includes(self, at: CommitTimestamp, wall_clock: u64) -> Result<bool, Error> {
        match self.as_of {
            AsOf::Time(_) if wall_clock > self.now => {
                Err(Error::LogAhead { ahead: Duration::from_micros(wall_clock - self.now) })
            }
            as_of => Ok(as_of.includes(at, wall_clock)),
        }
    }
}

/// The state after which the log continues.
#[derive(Default)]
pub(super) struct Loaded {
    pub(super) at: CommitTimestamp,
    /// The wall-clock time of that commit, in microseconds since 1970-01-01 UTC.
    pub(super) wall_clock: u64,
    /// The position of the last import in its input.
    pub(super) input: Option<Arc<[u8]>>,
}

impl Store {
    /// Attaches the log of all commits from now on.
    pub fn attach(&mut self, journal: Journal) {
        let sequencer = Arc::get_mut(&mut self.sequencer);
        let sequencer = sequencer.expect("a graph is not shared while it is being built");
        sequencer.attach(journal.commit_log().ok().cloned());
        self.journal = Some(journal);
        self.dictionary.note_deletion(self.sequencer.newest().0);
    }

    /// Restores the graph from the checkpoint or the engine's files of its store, and from the log,
    /// up to a past state if requested.
    pub fn restore(
        &self,
        store: &hedgerow_log::StoreFiles,
        checkpoint: Option<&Checkpoint>,
        begin: Instant,
        batches: Batches,
        until: Option<Until>,
    ) -> Result<(Recovered, Recovery), Error> {
        let mut guard = LockGuard::lock(&self.units, self.units.all());
        // The graph has no readers yet.
        let mut held = guard.held(&self.sequencer).with_editable_now(CommitTimestamp::ZERO);
        let Loaded { mut at, mut wall_clock, mut input } =
            self.load_state(&mut held, store, checkpoint, batches)?;
        let in_files = self.in_files_through();
        if let Some(until) = until
            && in_files > CommitTimestamp::ZERO
            && !until.includes(in_files, wall_clock)?
        {
            return Err(Error::NotKept { oldest: in_files, wall_clock });
        }
        let loading = begin.elapsed();
        let begin = Instant::now();
        let mut replay = Replay::new(self, &mut held, batches.replayed)?;
        let (mut commits, mut is_over) = (0, false);
        let recovered = store.replay(at, |record, place| {
            is_over |= match until {
                Some(until) if !is_over => !until.includes(record.at, record.wall_clock)?,
                _ => false,
            };
            if is_over {
                return Ok(());
            }
            (at, wall_clock, commits) = (record.at, wall_clock.max(record.wall_clock), commits + 1);
            if let Some(noted) = replay.commit(&record, place)? {
                input = Some(noted.into());
            }
            Ok::<_, Error>(())
        })?;
        replay.finish()?;
        if recovered.last < in_files {
            let what = format!(
                "the files of the engine have commits up to {in_files}, but the log ends with commit {}",
                recovered.last
            );
            let path = manifest_path(&**store.files());
            return Err(StoreError::Damaged { path, offset: 0, what }.into());
        }
        self.finish_restoring(&held)?;
        if until.is_none() {
            // The manifest may know of later commits, which are in a checkpoint.
            (at, wall_clock) = (recovered.last, wall_clock.max(recovered.wall_clock));
        }
        self.sequencer.restore(at, wall_clock, input);
        let recovery = Recovery {
            checkpoint: checkpoint.map(|checkpoint| checkpoint.description().timestamp),
            commits,
            last: at,
            torn: recovered.torn.clone(),
            ahead_of_clock: self.sequencer.ahead_of_clock(wall_clock.max(recovered.wall_clock)),
            loading,
            replaying: begin.elapsed(),
        };
        Ok((recovered, recovery))
    }

    /// Loads the state after which the log continues: from the engine's own files or, if it has
    /// none, from the checkpoint.
    pub(super) fn load_state(
        &self,
        held: &mut HeldLocks<'_>,
        store: &hedgerow_log::StoreFiles,
        checkpoint: Option<&Checkpoint>,
        batches: Batches,
    ) -> Result<Loaded, Error> {
        if let Some(durable) = self.engine.durable() {
            let note = self.restore_from_files(durable, store)?;
            let (wall_clock, input) = note.map_or((0, None), |note| (note.wall_clock, note.input));
            return Ok(Loaded { at: durable.durable_through(), wall_clock, input: input.map(Arc::from) });
        }
        let Some(checkpoint) = checkpoint else { return Ok(Loaded::default()) };
        self.load(held, checkpoint, &checkpoint_path(store.manifest(), &**store.files()), batches)?;
        let described = checkpoint.description();
        let input = described.input.as_deref().map(Arc::from);
        Ok(Loaded { at: described.timestamp, wall_clock: described.wall_clock, input })
    }

    /// Restores the graph from a checkpoint only.
    pub fn restore_checkpoint(
        &self,
        checkpoint: &Checkpoint,
        manifest: &Manifest,
        files: &dyn FileSystem,
        batches: Batches,
    ) -> Result<Recovery, Error> {
        let begin = Instant::now();
        let mut guard = LockGuard::lock(&self.units, self.units.all());
        // The graph has no readers yet.
        let mut held = guard.held(&self.sequencer).with_editable_now(CommitTimestamp::ZERO);
        self.load(&mut held, checkpoint, &checkpoint_path(manifest, files), batches)?;
        self.finish_restoring(&held)?;
        let described = checkpoint.description();
        let input = described.input.as_deref().map(Arc::from);
        self.sequencer.restore(described.timestamp, described.wall_clock, input);
        Ok(Recovery {
            checkpoint: Some(described.timestamp),
            last: described.timestamp,
            ahead_of_clock: self.sequencer.ahead_of_clock(described.wall_clock),
            loading: begin.elapsed(),
            ..Recovery::default()
        })
    }

    /// Restores the graph from the engine's own files only. `last` is zero if the files have no
    /// commit yet.
    pub fn restore_engine_files(
        &self,
        store: &hedgerow_log::StoreFiles,
        batches: Batches,
    ) -> Result<Recovery, Error> {
        let begin = Instant::now();
        let mut guard = LockGuard::lock(&self.units, self.units.all());
        // The graph has no readers yet.
        let mut held = guard.held(&self.sequencer).with_editable_now(CommitTimestamp::ZERO);
        let Loaded { at, wall_clock, input } = self.load_state(&mut held, store, None, batches)?;
        self.finish_restoring(&held)?;
        self.sequencer.restore(at, wall_clock, input);
        Ok(Recovery {
            last: at,
            ahead_of_clock: self.sequencer.ahead_of_clock(wall_clock),
            loading: begin.elapsed(),
            ..Recovery::default()
        })
    }
}

/// The path of the checkpoint of a manifest.
pub(super) fn checkpoint_path(manifest: &Manifest, files: &dyn FileSystem) -> PathBuf {
    let number = manifest.checkpoint.map_or(0, |checkpoint| checkpoint.number);
    files.location().join(name_of(number))
}

/// The path of the manifest of a store.
pub fn manifest_path(files: &dyn FileSystem) -> PathBuf {
    files.location().join(Manifest::FILE)
}
