//! The graph or the store whose commits a subscription reads.

use super::options::Filter;
use crate::durable::{LOOKS, keys_of_store};
use crate::engines::SharedStore;
use crate::error::{Error, ErrorKind};
use crate::options::GraphOptions;
use hedgerow_log::LogRecord;
use hedgerow_log::files::FileSystem;
use hedgerow_model::token::Registered;
use hedgerow_model::{AsKey, CommitTimestamp, GrowingCatalog, KeyKind, Topology, ViewError};
use hedgerow_pipeline::dictionary::DictionaryError;
use hedgerow_pipeline::{CommitFeed, Error as Cause, KeysAtCommit, StoreFeed};
use hedgerow_sequencer::Clock;
use hedgerow_sync::Arc;
use std::ops::ControlFlow;
use std::time::Duration;

/// Commits, one after the other.
pub(super) enum Source {
    /// The commits of an open graph.
    Graph { shared: SharedStore, feed: Box<CommitFeed> },
    /// The log of a store, which another process may be writing.
    Store(Box<StoreFeed>),
}

type Visit<'v> = dyn FnMut(&LogRecord<'_>, KeysAtCommit<'_>) -> Result<ControlFlow<()>, Cause> + 'v;

impl Source {
    /// The commits of the store in these files, and the wall-clock time of the one before them.
    pub(super) fn of_store(
        files: &Arc<dyn FileSystem>,
        graph: &GraphOptions,
        after: Option<CommitTimestamp>,
        undurable: bool,
    ) -> Result<(Self, u64), Error> {
        let mut looks = 1;
        loop {
            let base = |visit: &mut dyn FnMut(_, _)| keys_of_store(files, graph, visit);
            match StoreFeed::new(Arc::clone(files), after, undurable, base) {
                Ok((feed, wall_clock)) => return Ok((Source::Store(Box::new(feed)), wall_clock)),
                // A checkpoint may have replaced the one whose keys were read.
                Err(error) if looks < LOOKS && error.kind() == ErrorKind::ChangesLost => looks += 1,
                Err(error) => return Err(error),
            }
        }
    }

    /// The last commit before those to be read.
    pub(super) fn position(&self) -> CommitTimestamp {
        match self {
            Source::Graph { feed, .. } => feed.position(),
            Source::Store(feed) => feed.position(),
        }
    }

    /// Returns true if the commits come from a log.
    pub(super) fn is_logged(&self) -> bool {
        match self {
            Source::Graph { shared, .. } => shared.even_in_child().store.journal().is_some(),
            Source::Store(_) => true,
        }
    }

    pub(super) fn topology(&self) -> Topology {
        match self {
            Source::Graph { shared, .. } => shared.even_in_child().store.topology,
            Source::Store(feed) => feed.topology(),
        }
    }

    pub(super) fn key_kind(&self) -> KeyKind {
        match self {
            Source::Graph { shared, .. } => shared.even_in_child().store.dictionary.kind(),
            Source::Store(feed) => feed.kind(),
        }
    }

    pub(super) fn catalog(&self) -> Arc<GrowingCatalog> {
        match self {
            Source::Graph { shared, .. } => shared.even_in_child().shared_catalog(),
            Source::Store(feed) => Arc::clone(feed.catalog()),
        }
    }

    /// Fails if the filter has a label or a key that the graph cannot have.
    pub(super) fn check(&self, filter: &Filter) -> Result<(), Error> {
        let (catalog, kind) = (self.catalog(), self.key_kind());
        if let Some(label) = filter.labels.iter().find(|label| catalog.label(**label).is_none()) {
            return Err(ViewError::UnknownLabel(*label).into());
        }
        let mut keys = filter.vertices.iter().map(AsKey::as_key);
        Ok(keys.try_for_each(|key| DictionaryError::check(kind, key)).map_err(Cause::from)?)
    }

    /// Passes the next commits up to `through` to `visit`, until it breaks or fails, or there are
    /// none: in the state at `at` of the graph, if that is given, else in the newest.
    pub(super) fn read(
        &mut self,
        at: Option<&Registered>,
        through: CommitTimestamp,
        visit: &mut Visit<'_>,
    ) -> Result<(), Error> {
        match self {
            Source::Graph { shared, feed } => Ok(feed.read(&shared.get()?.store, at, through, visit)?),
            Source::Store(feed) => {
                let through = feed.newest()?.min(through);
                Ok(feed.read(through, visit)?)
            }
        }
    }

    /// Waits until there is a commit to be read, at most for `time`.
    pub(super) fn wait(&mut self, time: Duration) -> Result<(), Error> {
        match self {
            Source::Graph { shared, feed } => Ok(feed.wait(&shared.get()?.store, time)?),
            Source::Store(feed) => Ok(feed.wait(time)?),
        }
    }

    /// Bytes of the commits to be read, if they are known.
    pub(super) fn bytes_left(&self) -> Result<Option<u64>, Error> {
        match self {
            Source::Graph { shared, feed } => Ok(Some(feed.bytes_left(&shared.get()?.store))),
            Source::Store(_) => Ok(None),
        }
    }

    /// The newest commit, durable or not if that is known, and the time by the clock of commits.
    pub(super) fn now(&self) -> Result<(CommitTimestamp, u64), Error> {
        match self {
            Source::Graph { shared, .. } => {
                let sequencer = &shared.get()?.store.sequencer;
                Ok((sequencer.newest().0, sequencer.wall_clock()))
            }
            Source::Store(feed) => Ok((feed.durable()?, Clock::default().wall())),
        }
    }
}
