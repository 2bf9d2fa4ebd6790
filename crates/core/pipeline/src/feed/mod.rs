//! The commits of a graph in order, for those who follow it.
//!
//! A commit names vertices by id. While it is passed on, the key of each id is the one that it had
//! at that commit: the [former key](FormerKeys) if its vertex was deleted since, else that in the
//! dictionary.

mod former_keys;
mod reader;

use crate::error::Error;
use crate::journal::Journal;
use crate::store::Store;
use former_keys::FormerKeys;
use hedgerow_log::{Log, LogRecord, LoggedCommit, may_delete_vertices};
use hedgerow_model::token::Registered;
use hedgerow_model::{CommitTimestamp, Key, VertexChange, VertexId};
use reader::Reader;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::time::Duration;

/// A place among the commits of a graph, from which the next ones are read.
///
/// Engines know nothing of it, and no writer waits for it.
#[derive(Debug)]
pub struct CommitFeed {
    next: Reader,
    /// Searches for deleted vertices. Never behind `next`.
    ahead: Reader,
    /// The keys of vertices that were deleted by commits between the two.
    former: FormerKeys,
    /// True if commits of a store are read before they are durable.
    undurable: bool,
}

/// The keys that vertices had at a commit.
#[derive(Clone, Copy)]
pub struct KeysAtCommit<'f> {
    store: &'f Store,
    former: &'f FormerKeys,
}

impl KeysAtCommit<'_> {
    /// The changes that a record of the commit describes, each edge once.
    ///
    /// # Errors
    /// The record is damaged.
    pub fn decode(&self, record: &LogRecord<'_>) -> Result<LoggedCommit, Error> {
        let mut commit = record.decode(self.store.topology, || location(self.store))?;
        commit.sort_appended(self.store.topology);
        Ok(commit)
    }

    /// The key of a vertex that the commit names.
    #[inline]
    #[must_use]
    pub fn key(&self, id: VertexId) -> Key {
        self.former.find(id).map_or_else(|| self.store.dictionary.key(id), Key::clone)
    }
}

type Visit<'v> = dyn FnMut(&LogRecord<'_>, KeysAtCommit<'_>) -> Result<ControlFlow<()>, Error> + 'v;

impl CommitFeed {
    /// The commits of a graph after `after`, or after the newest one that a snapshot shows, and the
    /// wall-clock time of that one: 0 in a graph without a log, and if there is none.
    ///
    /// Commits of a store are read once they are durable, unless `undurable`. Those of a graph
    /// without a log are kept until they are read, in about `bytes` of memory. In a store O(bytes
    /// of a segment), else O(1).
    ///
    /// # Errors
    /// The commits after `after` are not there any more ([`Error::Dropped`],
    /// [`OutOfRetention`](hedgerow_log::StoreError::OutOfRetention)), or `after` not yet; the log
    /// cannot be read.
    pub fn new(
        store: &Store,
        after: Option<CommitTimestamp>,
        undurable: bool,
        bytes: usize,
    ) -> Result<(Self, u64), Error> {
        let newest = store.sequencer.newest().0;
        if let Some(at) = after.filter(|at| *at > newest) {
            return Err(Error::NotYet { at, newest });
        }
        let (next, wall_clock) = match store.journal() {
            None => (Reader::of_recent(&store.sequencer, after, bytes)?, 0),
            Some(journal) => Reader::of_log(store, journal, after)?,
        };
        let (ahead, former) = (next.clone(), FormerKeys::default());
        Ok((CommitFeed { next, ahead, former, undurable }, wall_clock))
    }

    /// The last commit before those to be read.
    #[must_use]
    pub fn position(&self) -> CommitTimestamp {
        CommitTimestamp(self.next.next().0 - 1)
    }

    /// Passes over all commits up to `at`.
    pub fn pass_over(&mut self, at: CommitTimestamp) {
        self.next.pass_over(at);
        self.ahead.pass_over(at);
        self.former.forget_before(self.next.next());
    }

    /// Passes the next commits to `visit`, until it breaks or fails, or all that the state at `at`,
    /// the newest, shows were passed. A commit with which it fails is passed again next time.
    ///
    /// O(bytes of these commits); if vertices were deleted since, also once O(bytes) of each commit
    /// up to `at`.
    ///
    /// # Errors
    /// As [`CommitFeed::new`]; errors of `visit`.
    pub fn read(&mut self, store: &Store, at: &Registered, visit: &mut Visit<'_>) -> Result<(), Error> {
        let through = match log_of(store) {
            Some(log) if !self.undurable => at.at().min(log.durable()),
            _ => at.at(),
        };
        if self.next.next() > through {
            return Ok(());
        }
        // While `at` is registered, the dictionary has the keys of all vertices in its state.
        self.look_ahead(store, at.at())?;
        let CommitFeed { next, former, .. } = self;
        next.read(store, through, &mut |record| {
            let flow = visit(record, KeysAtCommit { store, former })?;
            former.forget_before(record.at.next());
            Ok(flow)
        })
    }

    /// Finds the vertices that commits up to `through` deleted.
    fn look_ahead(&mut self, store: &Store, through: CommitTimestamp) -> Result<(), Error> {
        let CommitFeed { ahead, former, .. } = self;
        if store.dictionary.is_dense() || store.dictionary.last_deletion() < ahead.next() {
            ahead.pass_over(through);
            return Ok(());
        }
        ahead.read(store, through, &mut |record| {
            if may_delete_vertices(record.body) {
                note_former_keys(store, record, former)?;
            }
            Ok(ControlFlow::Continue(()))
        })
    }

    /// Waits until there is a commit to be read, at most for `time`.
    ///
    /// # Errors
    /// [`Error::ReadOnly`]; the log was closed, or has failed.
    pub fn wait(&self, store: &Store, time: Duration) -> Result<(), Error> {
        match &self.next {
            Reader::Recent(following, next) => following.wait(*next, time),
            Reader::Log(reader) => {
                let log = store.journal().ok_or(Error::InMemory)?.log()?;
                match self.undurable {
                    true => log.wait_appended(reader.next(), time)?,
                    false => log.follow_durable(reader.next(), time)?,
                }
            }
        }
        Ok(())
    }
}

/// The log of a graph that can be written.
fn log_of(store: &Store) -> Option<&Log> {
    store.journal().and_then(|journal| journal.log().ok())
}

/// The path of the store; empty for a graph in memory, whose commits are never damaged.
fn location(store: &Store) -> PathBuf {
    store.journal().map(Journal::location).unwrap_or_default()
}

/// Notes the keys of the vertices that a commit deleted.
fn note_former_keys(store: &Store, record: &LogRecord<'_>, former: &mut FormerKeys) -> Result<(), Error> {
    let commit = record.decode(store.topology, || location(store))?;
    let deleted = commit.effects.vertices.iter().filter(|effect| effect.change == VertexChange::Delete);
    if deleted.count() > commit.former_keys.len() {
        return Err(Error::NamelessDeletions { at: record.at });
    }
    former.note(record.at, commit.former_keys);
    Ok(())
}
