//! A program's place among the commits of a graph, from which it pulls what is new.

use super::batch::Passes;
use super::{Begin, ChangeToken, Changes, SubscribeOptions};
use crate::engines::SharedStore;
use crate::error::{Error, Reason};
use crate::graph::Graph;
use crate::snapshot::Snapshot;
use hedgerow_log::Durability;
use hedgerow_model::{CommitTimestamp, Key, LabelId};
use hedgerow_pipeline::{CommitFeed, Error as Cause};
use hedgerow_sequencer::{ReaderKind, Sequencer};
use hedgerow_sync::Arc;
use std::collections::HashSet;
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
    /// The time since the last commit that it pulled, if there is a later one.
    pub time: Duration,
}

/// The choice of changes that are passed on. Empty sets stand for everything.
#[derive(Debug)]
struct Filter {
    labels: Vec<LabelId>,
    vertices: HashSet<Key>,
}

impl Filter {
    #[inline]
    fn passes(&self, label: Option<LabelId>, first: &Key, second: Option<&Key>) -> bool {
        let has_label = self.labels.is_empty() || label.is_some_and(|label| self.labels.contains(&label));
        let is_asked = |key: &Key| self.vertices.contains(key);
        has_label && (self.vertices.is_empty() || is_asked(first) || second.is_some_and(is_asked))
    }
}

impl Graph {
    /// Subscribes to the changes of the graph: see [`Subscription`]. In a store O(bytes of a
    /// segment of the log), else O(1).
    ///
    /// # Errors
    /// [`ErrorKind::InvalidInput`](crate::ErrorKind::InvalidInput) if the token or the snapshot is
    /// of another graph, or there is no such label;
    /// [`ErrorKind::ChangesLost`](crate::ErrorKind::ChangesLost) if commits after the beginning are
    /// no longer there, or this graph does not have the commit of the token.
    pub fn subscribe(&self, options: &SubscribeOptions<'_>) -> Result<Subscription, Error> {
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
        let wall_clock = match shared.get()?.store.journal() {
            None => 0,
            Some(_) => feed_after(shared, at, true)?.1,
        };
        Ok(ChangeToken { graph: shared.id()?, at, wall_clock })
    }
}

/// The feed of a store after `at`, and the wall-clock time of that commit.
fn feed_after(
    shared: &SharedStore,
    at: CommitTimestamp,
    undurable: bool,
) -> Result<(CommitFeed, u64), Error> {
    let store = &shared.get()?.store;
    let journal = store.journal().ok_or(Cause::InMemory)?;
    if let Ok(log) = journal.log() {
        log.write_through(at)?;
    }
    Ok(CommitFeed::of_log(journal, at, undurable)?)
}

impl Subscription {
    fn new(shared: &SharedStore, options: &SubscribeOptions<'_>) -> Result<Self, Error> {
        let (typed, graph) = (shared.get()?, shared.id()?);
        options.labels.iter().try_for_each(|label| typed.label_schema(*label).map(drop))?;
        options.vertices.iter().try_for_each(|key| typed.check_key(key).map(drop))?;
        let registration = Sequencer::open(Arc::clone(&typed.store.sequencer), ReaderKind::Snapshot)?;
        let newest = typed.store.sequencer.newest().0;
        let after = match options.begin {
            Begin::Now => None,
            Begin::After(token) if token.graph != graph => return Err(Reason::ForeignToken.into()),
            Begin::AfterSnapshot(snapshot) if snapshot.shared().id()? != graph => {
                return Err(Reason::ForeignToken.into());
            }
            Begin::After(token) => Some(token.at),
            Begin::AfterSnapshot(snapshot) => Some(snapshot.timestamp()),
            Begin::AfterCommit(at) => Some(at),
        };
        if let Some(at) = after.filter(|at| *at > newest) {
            return Err(Reason::NoSuchCommit { at, newest }.into());
        }
        let (feed, wall_clock) = match typed.store.journal() {
            None => (CommitFeed::of_recent(&typed.store.sequencer, after, options.memory)?, 0),
            Some(_) => feed_after(shared, after.unwrap_or(registration.token().at()), options.undurable)?,
        };
        let token = ChangeToken { graph, at: CommitTimestamp(feed.next().0 - 1), wall_clock };
        if let Begin::After(asked) = options.begin
            && typed.store.journal().is_some()
            && asked.wall_clock != wall_clock
        {
            return Err(Reason::OtherCommit(asked.at).into());
        }
        Ok(Subscription {
            shared: shared.clone(),
            feed,
            token,
            filter: Filter { labels: options.labels.clone(), vertices: options.vertices.clone() },
            undurable: options.undurable,
            latest_only: options.latest_only,
            at_once: options.at_once,
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
        let through = self.feed.readable(store, registration.token())?;
        let (filter, at_once) = (&self.filter, self.at_once);
        let passes: Passes<'_> = &|label, first, second| filter.passes(label, first, second);
        let read = self.feed.read(store, registration.token(), through, &mut |record, keys| {
            changes.add(record, topology, keys, passes)?;
            (changes.token.at, changes.token.wall_clock) = (record.at, record.wall_clock);
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
                (self.feed, self.token.wall_clock) = feed_after(&self.shared, at, self.undurable)?;
            }
        }
        self.token.at = at;
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
        let since = sequencer.wall_clock().saturating_sub(self.token.wall_clock);
        Lag { commits, time: Duration::from_micros(if commits == 0 { 0 } else { since }) }
    }
}

/// Waits for changes; ends when the store is closed.
impl Iterator for Subscription {
    type Item = Result<Changes, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        match self.pull_within(Duration::MAX) {
            Err(error) if error.ends_changes() => None,
            pulled => Some(pulled),
        }
    }
}
