//! The commits of a graph in order, for those who follow it.
//!
//! A commit names vertices by id. While it is passed on, the key of each id is the one that it had
//! at that commit: the [former key](FormerKeys) if its vertex was deleted since, else that in the
//! dictionary. A [store](StoreFeed) that another process may be writing is read without a graph:
//! then the keys at the position are [kept](KeptKeys) instead.

mod former_keys;
mod kept_keys;
mod of_store;
mod reader;

pub use of_store::StoreFeed;

use crate::error::Error;
use crate::journal::Journal;
use crate::store::Store;
use former_keys::FormerKeys;
use hedgerow_log::StoreError;
use hedgerow_log::{Log, LogRecord, LoggedCommit, may_delete_vertices};
use hedgerow_model::token::Registered;
use hedgerow_model::{CommitTimestamp, Key, Topology, VertexChange, VertexId};
use hedgerow_sequencer::{ReaderKind, Sequencer};
use kept_keys::KeptKeys;
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
    keys: Keys<'f>,
    topology: Topology,
    location: &'f dyn Fn() -> PathBuf,
}

#[derive(Clone, Copy)]
enum Keys<'f> {
    OfGraph(&'f Store, &'f FormerKeys),
    Kept(&'f KeptKeys),
}

impl KeysAtCommit<'_> {
    /// The changes that a record of the commit describes, each edge once.
    ///
    /// # Errors
    /// The record is damaged.
    pub fn decode(&self, record: &LogRecord<'_>) -> Result<LoggedCommit, Error> {
        let mut commit = record.decode(self.topology, self.location)?;
        commit.sort_appended(self.topology);
        Ok(commit)
    }

    /// The key of a vertex that the commit names.
    ///
    /// # Errors
    /// The log has no key of it, and is damaged.
    #[inline]
    pub fn key(&self, id: VertexId) -> Result<Key, Error> {
        match self.keys {
            Keys::OfGraph(store, former) => {
                Ok(former.find(id).map_or_else(|| store.dictionary.key(id), Key::clone))
            }
            Keys::Kept(keys) => keys.get(id).ok_or_else(|| self.keyless(id)),
        }
    }

    #[cold]
    fn keyless(&self, id: VertexId) -> Error {
        let what = format!("a commit names the vertex of id {id}, which has no key");
        StoreError::Damaged { path: (self.location)(), offset: 0, what }.into()
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

    /// Bytes of the commits to be read, in the log or in memory. O(segments), or O(pieces).
    #[must_use]
    pub fn bytes_left(&self, store: &Store) -> u64 {
        match &self.next {
            Reader::Recent(following, next) => following.bytes_from(*next) as u64,
            Reader::Log(reader) => {
                store.journal().map_or(0, |journal| journal.bytes_left(&journal.manifest(), reader))
            }
        }
    }

    /// Passes over all commits up to `at`.
    pub fn pass_over(&mut self, at: CommitTimestamp) {
        self.next.pass_over(at);
        self.ahead.pass_over(at);
        self.former.forget_before(self.next.next());
    }

    /// Passes the next commits up to `through` to `visit`, until it breaks or fails, or all that
    /// the state at `at` shows were passed: without one, all that a snapshot would show. A commit
    /// with which it fails is passed again next time.
    ///
    /// O(bytes of these commits); if vertices were deleted since, also once O(bytes) of each commit
    /// up to `at`.
    ///
    /// # Errors
    /// As [`CommitFeed::new`]; errors of `visit`.
    pub fn read(
        &mut self,
        store: &Store,
        at: Option<&Registered>,
        through: CommitTimestamp,
        visit: &mut Visit<'_>,
    ) -> Result<(), Error> {
        let registration;
        let shown = match at {
            Some(at) => at.at(),
            // Keys that are ids are never forgotten, and readers slow writers down.
            None if store.dictionary.is_dense() => store.sequencer.readable()?,
            None => {
                registration = Sequencer::open(&*store.sequencer, ReaderKind::Snapshot)?;
                registration.token().at()
            }
        };
        let readable = match log_of(store) {
            Some(log) if !self.undurable => shown.min(log.durable()),
            _ => shown,
        };
        let through = through.min(readable);
        if self.next.next() > through {
            return Ok(());
        }
        // While `shown` is registered, the dictionary has the keys of all vertices in its state.
        self.look_ahead(store, shown)?;
        let CommitFeed { next, former, .. } = self;
        let (topology, location) = (store.topology, &|| location(store));
        next.read(store, through, &mut |record| {
            let keys = Keys::OfGraph(store, former);
            let flow = visit(record, KeysAtCommit { keys, topology, location })?;
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
            former.note(record.at, former_keys(record, store.topology, || location(store))?);
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

/// The keys of the vertices that a commit deleted.
fn former_keys(
    record: &LogRecord<'_>,
    topology: Topology,
    location: impl FnOnce() -> PathBuf,
) -> Result<Vec<(VertexId, Key)>, Error> {
    if !may_delete_vertices(record.body) {
        return Ok(Vec::new());
    }
    let commit = record.decode(topology, location)?;
    let deleted = commit.effects.vertices.iter().filter(|effect| effect.change == VertexChange::Delete);
    if deleted.count() > commit.former_keys.len() {
        return Err(Error::NamelessDeletions { at: record.at });
    }
    Ok(commit.former_keys)
}
