//! The commits of a graph in order, for those who follow it.
//!
//! A commit names vertices by id. While it is passed on, the key of each id is the one that it had
//! at that commit: the [former key](FormerKeys) if its vertex was deleted since, else that in the
//! dictionary.

mod former_keys;

use crate::error::Error;
use crate::journal::Journal;
use crate::store::Store;
use former_keys::FormerKeys;
use hedgerow_log::{CommitReader, LogRecord, LoggedCommit, StoreError, may_delete_vertices};
use hedgerow_model::token::Registered;
use hedgerow_model::{CommitTimestamp, Key, VertexChange, VertexId};
use hedgerow_sequencer::{CommitDropped, Following, Sequencer};
use hedgerow_sync::Arc;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::time::Duration;

/// A place among the commits of a graph, from which the next ones are read.
///
/// Engines know nothing of it: in a store it reads the log, otherwise the bodies that commits leave
/// for [followers](Following). No writer waits for it.
#[derive(Debug)]
pub struct CommitFeed {
    source: Source,
    /// The commit to be read next.
    next: CommitTimestamp,
    /// The commit to be searched next for deleted vertices.
    ahead: CommitTimestamp,
    /// The keys of vertices that were deleted by commits from `next` on, before `ahead`.
    former: FormerKeys,
}

#[derive(Debug)]
enum Source {
    Recent(Following),
    Log {
        next: CommitReader,
        ahead: CommitReader,
        /// True if commits are read before they are durable.
        undurable: bool,
    },
}

/// The keys that vertices had at a commit.
#[derive(Clone, Copy, Debug)]
pub struct KeysAtCommit<'f> {
    store: &'f Store,
    former: &'f FormerKeys,
}

impl KeysAtCommit<'_> {
    /// The key of a vertex that the commit names.
    #[inline]
    #[must_use]
    pub fn key(&self, id: VertexId) -> Key {
        self.former.find(id).map_or_else(|| self.store.dictionary.key(id), Key::clone)
    }

    /// The path of the store, for errors.
    #[must_use]
    pub fn location(&self) -> PathBuf {
        self.store.journal().map(Journal::location).unwrap_or_default()
    }
}

impl std::fmt::Debug for Store {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Store").finish_non_exhaustive()
    }
}

type Visit<'v> = dyn FnMut(&LogRecord<'_>, KeysAtCommit<'_>) -> Result<ControlFlow<()>, Error> + 'v;

impl CommitFeed {
    /// The commits of a graph without a log after `after`, or from now on. They are kept until they
    /// are read, in about `bytes` of memory.
    ///
    /// # Errors
    /// [`Error::Dropped`]: the commits after `after` were not kept.
    pub fn of_recent(
        sequencer: &Arc<Sequencer>,
        after: Option<CommitTimestamp>,
        bytes: usize,
    ) -> Result<Self, Error> {
        let following = Following::new(Arc::clone(sequencer), bytes);
        let next = after.unwrap_or(following.after()).next();
        match following.oldest() {
            oldest if next < oldest => Err(CommitDropped { asked: next, oldest }.into()),
            _ => Ok(CommitFeed::at(Source::Recent(following), next)),
        }
    }

    /// The commits of a graph in a store after `after`, and the wall-clock time of that one, which
    /// is in a file. Commits that are not `undurable` are read when they are durable.
    ///
    /// # Errors
    /// The log does not have `after` any more, or cannot be read.
    pub fn of_log(journal: &Journal, after: CommitTimestamp, undurable: bool) -> Result<(Self, u64), Error> {
        let manifest = || Ok(journal.manifest());
        let (next, wall_clock) = CommitReader::from_commit(Arc::clone(journal.files()), after, manifest)?;
        let source = Source::Log { ahead: next.clone(), next, undurable };
        Ok((CommitFeed::at(source, after.next()), wall_clock))
    }

    fn at(source: Source, next: CommitTimestamp) -> Self {
        CommitFeed { source, next, ahead: next, former: FormerKeys::default() }
    }

    /// The commit to be read next.
    #[must_use]
    pub fn next(&self) -> CommitTimestamp {
        self.next
    }

    /// Passes over all commits up to `at`.
    pub fn pass_over(&mut self, at: CommitTimestamp) {
        self.next = self.next.max(at.next());
        self.ahead = self.ahead.max(self.next);
        self.former.forget_before(self.next);
        if let Source::Log { next, .. } = &mut self.source {
            next.pass_over(at);
        }
    }

    /// The newest commit that can be read while the newest timestamp `at` is registered.
    ///
    /// # Errors
    /// The log has failed.
    pub fn readable(&self, store: &Store, at: &Registered) -> Result<CommitTimestamp, Error> {
        let Some(log) = store.journal().and_then(|journal| journal.log().ok()) else { return Ok(at.at()) };
        match self.source {
            Source::Log { undurable: false, .. } => Ok(at.at().min(log.durable())),
            _ => {
                log.write_through(at.at())?;
                Ok(at.at())
            }
        }
    }

    /// Passes the next commits, up to `through`, to `visit`, until it breaks or fails. A commit
    /// with which it fails is passed again next time. `through` is [readable](Self::readable) at
    /// `at`. O(bytes of these commits); if vertices were deleted since, O(bytes of
    /// all commits up to `at`), once for each commit.
    ///
    /// # Errors
    /// Commits were not kept ([`Error::Dropped`], [`StoreError::OutOfRetention`]), or cannot be
    /// read; errors of `visit`.
    pub fn read(
        &mut self,
        store: &Store,
        at: &Registered,
        through: CommitTimestamp,
        visit: &mut Visit<'_>,
    ) -> Result<(), Error> {
        debug_assert!(through <= at.at(), "the keys of these commits may be gone");
        if self.next > through {
            return Ok(());
        }
        self.look_ahead(store, at.at())?;
        let CommitFeed { source, next, former, .. } = self;
        let from = *next;
        let mut visit = |record: &LogRecord<'_>| {
            let flow = visit(record, KeysAtCommit { store, former })?;
            *next = record.at.next();
            former.forget_before(*next);
            Ok(flow)
        };
        match source {
            Source::Recent(following) => read_recent(following, from, through, &mut visit),
            Source::Log { next, .. } => next.read(through, || manifest_of(store), &mut visit),
        }
    }

    /// Finds the vertices that commits up to `through` deleted: all commits that are applied when
    /// keys are looked up in the dictionary, which may have lost those of deleted vertices.
    fn look_ahead(&mut self, store: &Store, through: CommitTimestamp) -> Result<(), Error> {
        if store.dictionary.is_dense() || store.dictionary.last_deletion() < self.ahead {
            self.ahead = self.ahead.max(through.next());
            return Ok(());
        }
        let CommitFeed { source, ahead, former, .. } = self;
        let from = *ahead;
        let mut note = |record: &LogRecord<'_>| {
            if may_delete_vertices(record.body) {
                note_former_keys(store, record, former)?;
            }
            *ahead = record.at.next();
            Ok(ControlFlow::Continue(()))
        };
        match source {
            Source::Recent(following) => read_recent(following, from, through, &mut note),
            Source::Log { ahead: reader, .. } => {
                if let Some(log) = store.journal().and_then(|journal| journal.log().ok()) {
                    log.write_through(through)?;
                }
                reader.pass_over(CommitTimestamp(from.0 - 1));
                reader.read(through, || manifest_of(store), &mut note)
            }
        }
    }

    /// Waits until there is a commit to be read, at most for `time`.
    ///
    /// # Errors
    /// The log was closed, or has failed.
    pub fn wait(&self, store: &Store, time: Duration) -> Result<(), Error> {
        match &self.source {
            Source::Recent(following) => following.wait(self.next, time),
            Source::Log { undurable, .. } => {
                let Some(log) = store.journal().and_then(|journal| journal.log().ok()) else {
                    return Err(Error::ReadOnly);
                };
                match undurable {
                    true => log.wait_appended(self.next, time)?,
                    false => log.follow_durable(self.next, time)?,
                }
            }
        }
        Ok(())
    }
}

fn manifest_of(store: &Store) -> Result<hedgerow_log::Manifest, StoreError> {
    Ok(store.journal().map(Journal::manifest).expect("a graph with a log has a manifest"))
}

fn read_recent(
    following: &Following,
    mut from: CommitTimestamp,
    through: CommitTimestamp,
    visit: &mut dyn FnMut(&LogRecord<'_>) -> Result<ControlFlow<()>, Error>,
) -> Result<(), Error> {
    while from <= through {
        let Some(piece) = following.piece(from)? else { return Ok(()) };
        for record in piece.commits(from).take_while(|record| record.at <= through) {
            if visit(&record)?.is_break() {
                return Ok(());
            }
        }
        from = piece.next();
    }
    Ok(())
}

/// Notes the keys of the vertices that a commit deleted.
fn note_former_keys(store: &Store, record: &LogRecord<'_>, former: &mut FormerKeys) -> Result<(), Error> {
    let commit = LoggedCommit::decode_canonical(record.body, store.topology).map_err(|error| {
        let path = store.journal().map(Journal::location).unwrap_or_default();
        let what = format!("the commit of timestamp {} cannot be read: {error}", record.at);
        StoreError::Damaged { path, offset: 0, what }
    })?;
    let deleted = commit.effects.vertices.iter().filter(|effect| effect.change == VertexChange::Delete);
    if deleted.count() > commit.former_keys.len() {
        return Err(Error::NamelessDeletions { at: record.at });
    }
    former.note(record.at, commit.former_keys);
    Ok(())
}
