//! A program's place among the commits of a graph, from which it pulls what is new.

use super::options::Filter;
use super::source::Source;
use super::{Begin, ChangeToken, Changes, SubscribeOptions};
use crate::engines::SharedStore;
use crate::error::{Error, ErrorKind, Reason};
use crate::graph::Graph;
use crate::options::GraphOptions;
use crate::snapshot::Snapshot;
use hedgerow_log::files::FileSystem;
use hedgerow_log::{Durability, Follower, StoreFiles};
use hedgerow_model::CommitTimestamp;
use hedgerow_model::token::Registered;
use hedgerow_pipeline::CommitFeed;
use hedgerow_sequencer::ReaderKind;
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
    pub(super) source: Source,
    token: ChangeToken,
    /// The last commit that is passed on.
    through: CommitTimestamp,
    /// The wall-clock time of the last commit that was read, or of the beginning.
    seen: u64,
    filter: Filter,
    undurable: bool,
    pub(super) latest_only: bool,
    at_once: usize,
}

impl std::fmt::Debug for Subscription {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Subscription").field("at", &self.token.at).finish_non_exhaustive()
    }
}

/// The distance of a subscription from the newest commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Lag {
    /// Number of commits that it has not pulled, durable or not.
    pub commits: u64,
    /// Bytes of these commits in the log, or in memory. `None` if another process writes the store,
    /// and only it knows. Of a [named](crate::Graph::subscriptions) one up to a segment of the log
    /// more.
    pub bytes: Option<u64>,
    /// The age of the state up to which it has pulled: the time since its last commit, or since it
    /// began there. Zero if there is no later commit.
    pub time: Duration,
}

/// None.
impl Default for Lag {
    fn default() -> Self {
        Lag { commits: 0, bytes: Some(0), time: Duration::ZERO }
    }
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
        Subscription::of_graph(&self.typed, options)
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
    pub(super) fn of_graph(shared: &SharedStore, options: &SubscribeOptions) -> Result<Self, Error> {
        let store = &shared.get()?.store;
        let newest = || Ok(store.sequencer.newest().0);
        let after = options.begin.after(shared.id()?, newest)?;
        let (feed, wall_clock) = CommitFeed::new(store, after, options.undurable, options.memory)?;
        let source = Source::Graph { shared: shared.clone(), feed: Box::new(feed) };
        Subscription::new(source, shared.id()?, wall_clock, options)
    }

    /// Subscribes to the changes of a store: see [`store::subscribe`](crate::store::subscribe).
    pub(crate) fn of_store(
        files: &Arc<dyn FileSystem>,
        graph: &GraphOptions,
        options: &SubscribeOptions,
    ) -> Result<Self, Error> {
        let id = StoreFiles::open_read_only(Arc::clone(files))?.manifest().store;
        // A token may be of a commit that was not durable.
        let newest = || Ok(Follower::new(Arc::clone(files)).look()?.newest);
        let after = options.begin.after(id, newest)?;
        let (source, wall_clock) = Source::of_store(files, graph, after, options.undurable)?;
        Subscription::new(source, id, wall_clock, options)
    }

    fn new(
        source: Source,
        graph: [u8; 16],
        wall_clock: u64,
        options: &SubscribeOptions,
    ) -> Result<Self, Error> {
        let SubscribeOptions { begin, through, ref filter, undurable, latest_only, at_once, .. } = *options;
        let token = ChangeToken { graph, at: source.position(), wall_clock };
        if let Begin::After(asked) = begin
            && asked != token
        {
            return Err(Reason::OtherCommit(asked.at).into());
        }
        source.check(filter)?;
        let (filter, seen) = (filter.clone(), source.now()?.1);
        Ok(Subscription { source, token, through, seen, filter, undurable, latest_only, at_once })
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
        let (before, at_once) = (self.token, self.at_once);
        let mut changes = self.no_changes();
        match self.read(None, at_once, &mut changes) {
            // Commits before the error are passed on; the next pull finds it again.
            Err(error) if self.token == before => return Err(error),
            _ => self.leave_out(&mut changes),
        }
        Ok(changes)
    }

    /// Returns no changes, at this position.
    pub(super) fn no_changes(&self) -> Changes {
        Changes::new(self.source.key_kind(), self.source.catalog(), self.token)
    }

    /// Adds the next changes, up to those that the state at `at` shows, if that is given, until
    /// there are at least `at_once`, and moves on. After an error, changes and position are those
    /// of the commits before it.
    pub(super) fn read(
        &mut self,
        at: Option<&Registered>,
        at_once: usize,
        changes: &mut Changes,
    ) -> Result<(), Error> {
        let Subscription { source, through, filter, seen, token, .. } = self;
        let (topology, is_logged) = (source.topology(), source.is_logged());
        source.read(at, *through, &mut |record, keys| {
            changes.add(record, topology, keys, filter)?;
            *seen = record.wall_clock;
            token.at = record.at;
            if is_logged {
                token.wall_clock = record.wall_clock;
            }
            changes.token = *token;
            Ok(if changes.len() >= at_once { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
        })
    }

    /// Leaves out intermediate states, if that was asked for.
    pub(super) fn leave_out(&self, changes: &mut Changes) {
        if self.latest_only {
            changes.keep_latest(self.source.topology().is_undirected());
        }
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
            if !changes.is_empty() || left.is_zero() || self.is_complete() {
                return Ok(changes);
            }
            self.source.wait(left)?;
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
    /// As [`Graph::snapshot`] and [`Graph::subscribe`];
    /// [`ErrorKind::Unsupported`](crate::ErrorKind::Unsupported) if it follows a
    /// [store](crate::store::subscribe), not a graph.
    pub fn snapshot(&mut self) -> Result<Snapshot, Error> {
        let Source::Graph { shared, feed } = &mut self.source else { return Err(Reason::NoGraph.into()) };
        let snapshot = Snapshot::open(shared, ReaderKind::Snapshot)?;
        let (store, at) = (&shared.get()?.store, snapshot.timestamp());
        match store.journal() {
            None => feed.pass_over(at),
            Some(_) => {
                if !self.undurable {
                    store.settle_read(at, Durability::Sync)?;
                }
                (**feed, self.token.wall_clock) = CommitFeed::new(store, Some(at), self.undurable, 0)?;
            }
        }
        (self.token.at, self.seen) = (at, store.sequencer.wall_clock());
        Ok(snapshot)
    }

    /// Returns true if the [last commit](SubscribeOptions::through) to be passed on was.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.token.at >= self.through
    }

    /// Returns the position: what was pulled so far, so that another subscription can go on here.
    #[must_use]
    pub fn token(&self) -> ChangeToken {
        self.token
    }

    /// Returns the distance from the newest commit; of a store that another process writes, from
    /// the newest durable one. O(segments of the log), in memory O(its bytes / 64 KiB).
    ///
    /// # Errors
    /// The store is not there any more.
    pub fn lag(&self) -> Result<Lag, Error> {
        let (commits, now) = self.behind()?;
        if commits == 0 {
            return Ok(Lag::default());
        }
        let time = Duration::from_micros(now.saturating_sub(self.seen));
        Ok(Lag { commits, bytes: self.source.bytes_left()?, time })
    }

    /// Number of commits that are not pulled yet, and the time by their clock. O(1).
    pub(super) fn behind(&self) -> Result<(u64, u64), Error> {
        let (newest, now) = self.source.now()?;
        Ok((newest.0.saturating_sub(self.token.at.0), now))
    }
}

/// Waits for changes; ends when the store is closed, and after the last commit.
impl Iterator for Subscription {
    type Item = Result<Changes, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.is_complete() {
            return None;
        }
        match self.pull_within(Duration::MAX) {
            Err(error) if is_end(&error) => None,
            pulled => Some(pulled),
        }
    }
}

/// Returns true if no more changes will come.
pub(super) fn is_end(error: &Error) -> bool {
    matches!(error.kind(), ErrorKind::Closed | ErrorKind::ReadOnly)
}
