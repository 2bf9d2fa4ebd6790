//! A program's place among the commits of a graph, from which it pulls what is new.

use super::options::Filter;
use super::{Begin, ChangeToken, Changes, SubscribeOptions};
use crate::engines::SharedStore;
use crate::error::{Error, ErrorKind, Reason};
use crate::graph::Graph;
use crate::snapshot::Snapshot;
use hedgerow_log::Durability;
use hedgerow_pipeline::CommitFeed;
use hedgerow_sequencer::{ReaderKind, Sequencer};
use hedgerow_sync::Arc;
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

/// A place among the commits of a graph: each [pull](Subscription::pull) returns the changes since
/// the one before (GraphOne, section 6.2: stream views).
///
/// - It passes on whole commits, in order, each once.
/// - No writer waits for it. In a store, the changes come from the log; in memory, they are kept
///   until they are pulled, in [limited memory](SubscribeOptions::memory).
/// - Its [token](Subscription::token) is its position as text, from which another one goes on, in
///   another process too. The log of a store keeps commits until a checkpoint has them; after that,
///   a position before it is [lost](crate::ErrorKind::ChangesLost).
///
/// As an iterator it returns what it pulls, waits for changes, and ends when the store is closed.
///
/// ```
/// use hedgerow::prelude::*;
/// use hedgerow::{Change, SubscribeOptions};
///
/// let graph = Graph::in_memory(GraphOptions::new().label::<f64>("pays"))?;
/// let pays = graph.label::<f64>("pays")?;
/// let mut subscription = graph.subscribe(&SubscribeOptions::new())?;
/// graph.put_edge_with(pays, 1, 2, 9.5)?;
/// graph.put_edge_with(pays, 2, 3, 0.5)?;
/// graph.delete_edge(pays, 1, 2)?;
///
/// let mut balance = 0.0;
/// for change in subscription.pull()?.iter() {
///     if let Change::PutEdge(edge) = change {
///         balance += edge.data(pays)?.unwrap_or_default();
///     }
/// }
/// assert_eq!(balance, 10.0);
/// assert!(subscription.pull()?.is_empty());
/// # Ok::<(), Error>(())
/// ```
pub struct Subscription {
    shared: SharedStore,
    feed: CommitFeed,
    token: ChangeToken,
    /// The wall-clock time of the last commit that was read, or of the beginning.
    seen: u64,
    filter: Filter,
    undurable: bool,
    latest_only: bool,
    at_once: usize,
}

impl std::fmt::Debug for Subscription {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Subscription").field("at", &self.token.at).finish_non_exhaustive()
    }
}

/// The distance of a subscription from the newest commit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Lag {
    /// Number of commits that it has not pulled, durable or not.
    pub commits: u64,
    /// The age of the state up to which it has pulled: the time since its last commit, or since it
    /// began there. Zero if there is no later commit.
    pub time: Duration,
}

impl Graph {
    /// Subscribes to the changes of the graph: see [`Subscription`]. In a store O(bytes of a
    /// segment of the log), else O(1).
    ///
    /// # Errors
    /// - [`ErrorKind::InvalidInput`](crate::ErrorKind::InvalidInput) if there is no such label, or
    ///   the token is of another graph;
    /// - [`ErrorKind::NotFound`](crate::ErrorKind::NotFound) if there is no such commit yet;
    /// - [`ErrorKind::ChangesLost`](crate::ErrorKind::ChangesLost) if commits after the beginning
    ///   are no longer there, or this graph does not have the commit of the token.
    pub fn subscribe(&self, options: &SubscribeOptions) -> Result<Subscription, Error> {
        Subscription::new(&self.typed, options)
    }
}

impl Snapshot {
    /// Returns the position of this state among the changes of its graph: a subscription that
    /// [begins](Begin::After) there pulls what was committed after it. Of a graph in memory, the
    /// changes are there only if it had a subscription when they were committed. In a store O(bytes
    /// of a segment of the log), else O(1).
    ///
    /// # Errors
    /// The log does not have the commit any more, or could not be read.
    pub fn token(&self) -> Result<ChangeToken, Error> {
        let (shared, at) = (self.shared(), self.timestamp());
        let store = &shared.get()?.store;
        let wall_clock = match store.journal() {
            None => 0,
            Some(_) => CommitFeed::new(store, Some(at), true, 0)?.1,
        };
        Ok(ChangeToken { graph: shared.id()?, at, wall_clock })
    }
}

impl Subscription {
    fn new(shared: &SharedStore, options: &SubscribeOptions) -> Result<Self, Error> {
        let SubscribeOptions { begin, ref filter, undurable, latest_only, at_once, memory } = *options;
        let (typed, graph) = (shared.get()?, shared.id()?);
        let store = &typed.store;
        filter.labels.iter().try_for_each(|label| typed.label_schema(*label).map(drop))?;
        filter.vertices.iter().try_for_each(|key| typed.check_key(key).map(drop))?;
        let after = match begin {
            Begin::Now => None,
            Begin::After(ChangeToken { graph: of, .. }) if of != graph => {
                return Err(Reason::ForeignToken.into());
            }
            Begin::After(ChangeToken { at, .. }) => {
                let newest = store.sequencer.newest().0;
                if newest < at {
                    return Err(Reason::NoSuchCommit { at, newest }.into());
                }
                Some(at)
            }
            Begin::AfterCommit(at) => Some(at),
        };
        let (feed, wall_clock) = CommitFeed::new(store, after, undurable, memory)?;
        let token = ChangeToken { graph, at: feed.position(), wall_clock };
        if let Begin::After(asked) = begin
            && asked != token
        {
            return Err(Reason::OtherCommit(asked.at).into());
        }
        let (shared, seen) = (shared.clone(), store.sequencer.wall_clock());
        Ok(Subscription {
            shared,
            feed,
            token,
            seen,
            filter: filter.clone(),
            undurable,
            latest_only,
            at_once,
        })
    }

    /// Returns the changes since the last pull, up to a [limit](SubscribeOptions::at_once); none if
    /// there are none. Never waits for a commit. O(changes).
    ///
    /// After an error the position is as before.
    ///
    /// # Errors
    /// [`ErrorKind::ChangesLost`](crate::ErrorKind::ChangesLost) if some are no longer there; the
    /// store could not be read, or the graph is poisoned.
    pub fn pull(&mut self) -> Result<Changes, Error> {
        let typed = self.shared.get()?;
        let (store, topology) = (&typed.store, typed.store.topology);
        let mut changes = Changes::new(store.dictionary.kind(), typed.shared_catalog(), self.token);
        let registration = Sequencer::open(Arc::clone(&store.sequencer), ReaderKind::Snapshot)?;
        let (feed, filter, seen, at_once) = (&mut self.feed, &self.filter, &mut self.seen, self.at_once);
        let is_in_store = store.journal().is_some();
        let read = feed.read(store, registration.token(), &mut |record, keys| {
            changes.add(record, topology, keys, filter)?;
            *seen = record.wall_clock;
            changes.token.at = record.at;
            if is_in_store {
                changes.token.wall_clock = record.wall_clock;
            }
            Ok(if changes.len() >= at_once { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
        });
        match read {
            // Commits before the error are passed on; the next pull finds it again.
            Err(error) if changes.token == self.token => return Err(error.into()),
            _ => self.token = changes.token,
        }
        if self.latest_only {
            changes.keep_latest(topology.is_undirected());
        }
        Ok(changes)
    }

    /// Returns the changes since the last pull, and if there are none, waits for some, at most for
    /// `time`.
    ///
    /// # Errors
    /// As [`Subscription::pull`]; [`ErrorKind::Closed`](crate::ErrorKind::Closed) if the store is
    /// closed, and [`ErrorKind::ReadOnly`](crate::ErrorKind::ReadOnly) if the graph is read only:
    /// nothing more will come.
    pub fn pull_within(&mut self, time: Duration) -> Result<Changes, Error> {
        let until = Instant::now().checked_add(time);
        loop {
            let changes = self.pull()?;
            let left = until.map_or(time, |until| until.saturating_duration_since(Instant::now()));
            if !changes.is_empty() || left.is_zero() {
                return Ok(changes);
            }
            self.feed.wait(&self.shared.get()?.store, left)?;
        }
    }

    /// Opens a snapshot of the newest state, and moves on to its commit: the next pull returns what
    /// was committed after it. In a store waits until the state is durable, unless undurable
    /// commits were asked for.
    ///
    /// ```
    /// use hedgerow::SubscribeOptions;
    /// use hedgerow::prelude::*;
    ///
    /// let graph = Graph::in_memory(GraphOptions::new().label::<()>("follows"))?;
    /// let follows = graph.label::<()>("follows")?;
    /// graph.put_edge(follows, 1, 2)?;
    /// let mut subscription = graph.subscribe(&SubscribeOptions::new())?;
    /// let snapshot = subscription.snapshot()?;
    /// let mut edges = snapshot.edge_count().at_most();
    /// graph.put_edge(follows, 2, 3)?;
    /// edges += subscription.pull()?.len() as u64 - 1; // One change is the new vertex.
    /// assert_eq!(edges, 2);
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Graph::snapshot`] and [`Graph::subscribe`].
    pub fn snapshot(&mut self) -> Result<Snapshot, Error> {
        let snapshot = Snapshot::open(&self.shared, ReaderKind::Snapshot)?;
        let (store, at) = (&self.shared.get()?.store, snapshot.timestamp());
        match store.journal() {
            None => self.feed.pass_over(at),
            Some(_) => {
                if !self.undurable {
                    store.settle_read(at, Durability::Sync)?;
                }
                (self.feed, self.token.wall_clock) = CommitFeed::new(store, Some(at), self.undurable, 0)?;
            }
        }
        (self.token.at, self.seen) = (at, store.sequencer.wall_clock());
        Ok(snapshot)
    }

    /// Returns the position: what was pulled so far, so that another subscription can go on here.
    #[must_use]
    pub fn token(&self) -> ChangeToken {
        self.token
    }

    /// Returns the distance from the newest commit. O(1).
    #[must_use]
    pub fn lag(&self) -> Lag {
        let sequencer = &self.shared.even_in_child().store.sequencer;
        let commits = sequencer.newest().0.0.saturating_sub(self.token.at.0);
        let since = sequencer.wall_clock().saturating_sub(self.seen);
        Lag { commits, time: Duration::from_micros(if commits == 0 { 0 } else { since }) }
    }
}

/// Waits for changes; ends when the store is closed.
impl Iterator for Subscription {
    type Item = Result<Changes, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        match self.pull_within(Duration::MAX) {
            Err(error) if matches!(error.kind(), ErrorKind::Closed | ErrorKind::ReadOnly) => None,
            pulled => Some(pulled),
        }
    }
}
