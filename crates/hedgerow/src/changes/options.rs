//! The options of a subscription.

use super::ChangeToken;
use crate::error::{Error, Reason};
use hedgerow_model::{AsKey, CommitTimestamp, Key, LabelId};
use std::collections::HashSet;
use std::time::Duration;

/// The position at which a [`Subscription`](crate::Subscription) begins.
#[derive(Clone, Copy, Debug, Default)]
pub enum Begin {
    /// After everything committed so far.
    #[default]
    Now,
    /// After the changes that were pulled when the token was taken.
    After(ChangeToken),
    /// After a commit of this graph, such as the [one](crate::Snapshot::timestamp) whose state a
    /// snapshot shows; from the first one on with [`CommitTimestamp::ZERO`].
    AfterCommit(CommitTimestamp),
}

impl Begin {
    /// The commit after which to begin, in the graph with this id, or `None` for the newest.
    pub(super) fn after(
        self,
        graph: [u8; 16],
        newest: impl FnOnce() -> Result<CommitTimestamp, Error>,
    ) -> Result<Option<CommitTimestamp>, Error> {
        match self {
            Begin::Now => Ok(None),
            Begin::AfterCommit(at) => Ok(Some(at)),
            Begin::After(token) if token.graph != graph => Err(Reason::ForeignToken.into()),
            Begin::After(ChangeToken { at, .. }) => match newest()? {
                newest if newest < at => Err(Reason::NoSuchCommit { at, newest }.into()),
                _ => Ok(Some(at)),
            },
        }
    }
}

/// The options of [`Graph::subscribe`](crate::Graph::subscribe).
///
/// ```
/// use hedgerow::prelude::*;
/// use hedgerow::SubscribeOptions;
///
/// let graph = Graph::in_memory(GraphOptions::new().label::<()>("follows").label::<()>("likes"))?;
/// let likes = graph.label::<()>("likes")?;
/// let mut subscription = graph.subscribe(&SubscribeOptions::new().label(likes).vertex(7))?;
/// graph.put_edge(graph.label::<()>("follows")?, 7, 8)?;
/// graph.put_edge(likes, 8, 7)?;
/// graph.put_edge(likes, 8, 9)?;
/// assert_eq!(subscription.pull()?.len(), 1);
/// # Ok::<(), Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct SubscribeOptions {
    pub(super) begin: Begin,
    pub(super) through: CommitTimestamp,
    pub(super) filter: Filter,
    pub(super) undurable: bool,
    pub(super) latest_only: bool,
    pub(super) at_once: usize,
    pub(super) memory: usize,
    /// Bytes of the log, and its age, that are kept for a name.
    pub(super) keep_bytes: u64,
    pub(super) keep_age: Duration,
}

impl Default for SubscribeOptions {
    fn default() -> Self {
        SubscribeOptions {
            begin: Begin::Now,
            through: CommitTimestamp(u64::MAX),
            filter: Filter::default(),
            undurable: false,
            latest_only: false,
            at_once: 1 << 16,
            memory: 64 << 20,
            keep_bytes: 4 << 30,
            keep_age: Duration::MAX,
        }
    }
}

impl SubscribeOptions {
    /// Passes on all changes from now on, once they are durable.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets where the subscription begins.
    #[must_use]
    pub fn begin(mut self, begin: Begin) -> Self {
        self.begin = begin;
        self
    }

    /// Sets the last commit that is passed on; as an iterator, the subscription ends there. By
    /// default there is none.
    ///
    /// ```
    /// use hedgerow::prelude::*;
    /// use hedgerow::{Begin, CommitTimestamp, SubscribeOptions};
    ///
    /// let folder = tempfile::tempdir()?;
    /// let graph = GraphOptions::new().label::<()>("follows").create(folder.path())?;
    /// let follows = graph.label::<()>("follows")?;
    /// graph.put_each(follows, &[(1, 2), (2, 3), (3, 1), (1, 3)])?;
    /// let (first, last) = (CommitTimestamp(1), CommitTimestamp(3));
    /// let between = SubscribeOptions::new().begin(Begin::AfterCommit(first)).through(last);
    /// let pulls: Vec<_> = graph.subscribe(&between)?.collect::<Result<_, _>>()?;
    /// assert_eq!(pulls.iter().flat_map(|changes| changes.commits()).count(), 2);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn through(mut self, commit: CommitTimestamp) -> Self {
        self.through = commit;
        self
    }

    /// Passes on only changes of edges of this label, and of others that are named so.
    #[must_use]
    pub fn label(mut self, label: impl Into<LabelId>) -> Self {
        self.filter.labels.push(label.into());
        self
    }

    /// Passes on only changes of this vertex and of edges that begin or end there, and of other
    /// vertices that are named so.
    #[must_use]
    pub fn vertex(mut self, key: impl AsKey) -> Self {
        self.filter.vertices.insert(key.as_key().to_key());
        self
    }

    /// Passes on commits as soon as a snapshot shows them, even if a loss of power can still remove
    /// them. A token of such a commit is refused if that has happened. For a graph in memory this
    /// makes no difference.
    #[must_use]
    pub fn undurable(mut self, undurable: bool) -> Self {
        self.undurable = undurable;
        self
    }

    /// Leaves out intermediate states: each pull returns only the last change of each vertex and
    /// each edge, as one commit, the last that it covers. It may delete what was not there before.
    #[must_use]
    pub fn latest_only(mut self, latest_only: bool) -> Self {
        self.latest_only = latest_only;
        self
    }

    /// Sets the number of changes after which a pull returns: 65,536 by default. A commit of more
    /// changes comes whole all the same.
    #[must_use]
    pub fn at_once(mut self, changes: usize) -> Self {
        self.at_once = changes.max(1);
        self
    }

    /// Sets the bytes of memory in which a graph without a store keeps commits until they are
    /// pulled: 64 MiB by default. Subscriptions share this memory, as much as the greediest of them
    /// asks for. One that is too slow loses changes, and its next pull is an error,
    /// [`ErrorKind::ChangesLost`](crate::ErrorKind::ChangesLost).
    #[must_use]
    pub fn memory(mut self, bytes: usize) -> Self {
        self.memory = bytes;
        self
    }

    /// Sets the bytes of the log that a store keeps for a
    /// [name](crate::Graph::subscribe_as), beyond what it keeps anyway: 4 GiB by default. If
    /// changes that it has not pulled take more, the subscription loses them with the next
    /// checkpoint.
    #[must_use]
    pub fn keep_bytes(mut self, bytes: u64) -> Self {
        self.keep_bytes = bytes;
        self
    }

    /// Sets the age of changes that a store keeps for a [name](crate::Graph::subscribe_as), beyond
    /// what it keeps anyway: unlimited by default. If changes that it has not pulled are older, the
    /// subscription loses them with the next checkpoint.
    #[must_use]
    pub fn keep_age(mut self, age: Duration) -> Self {
        self.keep_age = age;
        self
    }

    /// Both limits, the age in microseconds.
    pub(super) fn kept(&self) -> (u64, u64) {
        (self.keep_bytes, u64::try_from(self.keep_age.as_micros()).unwrap_or(u64::MAX))
    }
}

/// The choice of changes that are passed on. Empty sets stand for everything.
#[derive(Clone, Debug, Default)]
pub(super) struct Filter {
    pub(super) labels: Vec<LabelId>,
    pub(super) vertices: HashSet<Key>,
}

impl Filter {
    /// Returns true if edges of a label are passed on.
    #[inline]
    pub(super) fn has_label(&self, label: LabelId) -> bool {
        self.labels.is_empty() || self.labels.contains(&label)
    }

    /// Returns true if an edge with these ends is passed on, if its label is.
    #[inline]
    pub(super) fn has_end(&self, ends: &[Key; 2]) -> bool {
        self.vertices.is_empty() || ends.iter().any(|end| self.vertices.contains(end))
    }

    /// Returns true if changes of a vertex are passed on.
    pub(super) fn has_vertex(&self, key: &Key) -> bool {
        self.labels.is_empty() && (self.vertices.is_empty() || self.vertices.contains(key))
    }
}
