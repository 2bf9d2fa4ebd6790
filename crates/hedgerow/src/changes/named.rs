//! Subscriptions whose position the store keeps.

use super::{Begin, ChangeToken, Lag, SubscribeOptions, Subscription};
use crate::engines::SharedStore;
use crate::error::{Error, Reason};
use crate::graph::Graph;
use hedgerow_log::{Log, StreamEntry};
use hedgerow_pipeline::Error as Cause;
use std::ops::{Deref, DerefMut};
use std::time::Duration;

/// Bytes of a [state](NamedSubscription::note), at most.
const LARGEST_STATE: usize = 1 << 16;

/// Bytes of a name, at most.
const LONGEST_NAME: usize = 255;

/// A [`Subscription`] whose position is kept in the store, under a name, together with the state of
/// its program: after a crash it goes on exactly where it was.
///
/// A program pulls, computes, and [notes](NamedSubscription::note) its state: the position of the
/// last pull and the state become durable in one atomic step. A program that sums or counts
/// therefore counts each change once, whenever it is killed.
///
/// The store keeps the log from the noted position on, within the limits of
/// [`SubscribeOptions::keep_bytes`] and [`SubscribeOptions::keep_age`]. Beyond them the
/// subscription has lost changes: pulls, and subscribing under the name, fail with
/// [`ErrorKind::ChangesLost`](crate::ErrorKind::ChangesLost), until [`Graph::unsubscribe`] forgets
/// it. No writer ever waits.
///
/// ```
/// use hedgerow::prelude::*;
/// use hedgerow::{Begin, Change, CommitTimestamp, SubscribeOptions};
///
/// let folder = tempfile::tempdir()?;
/// let graph = GraphOptions::new().label::<f64>("pays").create(folder.path())?;
/// let pays = graph.label::<f64>("pays")?;
/// let from_the_first = SubscribeOptions::new().begin(Begin::AfterCommit(CommitTimestamp::ZERO));
/// graph.put_edge_with(pays, 1, 2, 9.5)?;
/// for day in 1..=3 {
///     let mut sums = graph.subscribe_as("sums", &from_the_first)?;
///     let mut sum = sums.state().try_into().map_or(0.0, f64::from_le_bytes);
///     for change in sums.pull()?.iter() {
///         if let Change::PutEdge(edge) = change {
///             sum += edge.data(pays)?.unwrap_or_default();
///         }
///     }
///     sums.note(&sum.to_le_bytes())?;
///     assert_eq!(sum, 9.5 * f64::from(day));
///     graph.put_edge_with(pays, 2, day + 2, 9.5)?;
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct NamedSubscription {
    subscription: Subscription,
    entry: StreamEntry,
    shared: SharedStore,
}

impl std::fmt::Debug for NamedSubscription {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let NamedSubscription { subscription, entry, .. } = self;
        f.debug_struct("NamedSubscription").field("subscription", subscription).field("entry", entry).finish()
    }
}

/// A subscription that a store keeps: see [`Graph::subscriptions`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedPosition {
    /// The name.
    pub name: String,
    /// The position that was noted last.
    pub token: ChangeToken,
    /// The distance from the newest commit.
    pub lag: Lag,
    /// Number of commits after the position that the log no longer has.
    pub lost: u64,
    /// Bytes of the state.
    pub state_bytes: usize,
}

impl Graph {
    /// Subscribes under a name, at the position that was noted last; if there is none yet, where
    /// the options say. Durable when this returns. As [`Graph::subscribe`], and a replacement of
    /// the manifest.
    ///
    /// # Errors
    /// As [`Graph::subscribe`];
    /// [`ErrorKind::Locked`](crate::ErrorKind::Locked) if the name is in use,
    /// [`ErrorKind::InvalidInput`](crate::ErrorKind::InvalidInput) if it is empty or too long,
    /// [`ErrorKind::ChangesLost`](crate::ErrorKind::ChangesLost) if the log was not kept as far
    /// back as its position, [`ErrorKind::Unsupported`](crate::ErrorKind::Unsupported) if the graph
    /// lives in memory, [`ErrorKind::ReadOnly`](crate::ErrorKind::ReadOnly); the file system
    /// failed.
    pub fn subscribe_as(&self, name: &str, options: &SubscribeOptions) -> Result<NamedSubscription, Error> {
        if name.is_empty() || name.len() > LONGEST_NAME {
            return Err(Reason::BadName(name.len()).into());
        }
        let shared = &self.typed;
        let log = log_of(shared)?;
        if !shared.take_name(name) {
            return Err(Reason::NameInUse(name.to_owned()).into());
        }
        let subscribed = NamedSubscription::open(shared, log, name, options);
        if subscribed.is_err() {
            shared.give_name_back(name);
        }
        subscribed
    }

    /// Forgets the subscription of a name, which is not in use: the log is no longer kept for it.
    /// Returns false if there is none. Durable when this returns.
    ///
    /// # Errors
    /// As [`Graph::subscribe_as`].
    pub fn unsubscribe(&self, name: &str) -> Result<bool, Error> {
        let log = log_of(&self.typed)?;
        if !self.typed.take_name(name) {
            return Err(Reason::NameInUse(name.to_owned()).into());
        }
        let is_there = log.manifest().streams.iter().any(|entry| entry.name == name);
        let removed = if is_there { log.remove_stream(name) } else { Ok(()) };
        self.typed.give_name_back(name);
        Ok(removed.map(|()| is_there)?)
    }

    /// Returns the subscriptions that the store keeps, by name. O(subscriptions + segments of the
    /// log).
    ///
    /// # Errors
    /// [`ErrorKind::Unsupported`](crate::ErrorKind::Unsupported) if the graph lives in memory.
    pub fn subscriptions(&self) -> Result<Vec<NamedPosition>, Error> {
        let store = &self.typed.get()?.store;
        let journal = store.journal().ok_or(Cause::InMemory)?;
        let (manifest, newest, now) =
            (journal.manifest(), store.sequencer.newest().0, store.sequencer.wall_clock());
        let position = |entry: &StreamEntry| {
            let token =
                ChangeToken { graph: manifest.store, at: entry.position, wall_clock: entry.wall_clock };
            let commits = newest.0.saturating_sub(entry.position.0);
            let lag = match commits {
                0 => Lag::default(),
                _ => Lag {
                    commits,
                    bytes: Some(journal.bytes_after(&manifest, entry.position)),
                    time: Duration::from_micros(now.saturating_sub(entry.wall_clock)),
                },
            };
            NamedPosition {
                name: entry.name.clone(),
                token,
                lag,
                lost: manifest.oldest_readable.0.saturating_sub(entry.position.0),
                state_bytes: entry.state.len(),
            }
        };
        Ok(manifest.streams.iter().map(position).collect())
    }
}

impl NamedSubscription {
    fn open(shared: &SharedStore, log: &Log, name: &str, options: &SubscribeOptions) -> Result<Self, Error> {
        let manifest = log.manifest();
        let known = manifest.streams.iter().find(|entry| entry.name == name).cloned();
        let begin = match &known {
            None => options.begin,
            Some(StreamEntry { position, .. }) if *position < manifest.oldest_readable => {
                let commits = manifest.oldest_readable.0 - position.0;
                return Err(Reason::SubscriptionLost { name: name.to_owned(), commits }.into());
            }
            Some(StreamEntry { position, wall_clock, .. }) => {
                Begin::After(ChangeToken { graph: manifest.store, at: *position, wall_clock: *wall_clock })
            }
        };
        let subscription = Subscription::of_graph(shared, &options.clone().begin(begin))?;
        let ChangeToken { at, wall_clock, .. } = subscription.token();
        let entry = known.clone().unwrap_or_else(|| StreamEntry::new(name, at));
        let (most_bytes, most_age) = options.kept();
        let entry = StreamEntry { wall_clock, most_bytes, most_age, ..entry };
        if known.as_ref() != Some(&entry) {
            log.set_stream(entry.clone())?;
        }
        Ok(NamedSubscription { subscription, entry, shared: shared.clone() })
    }

    /// Returns the state that was noted last, with the position at which this subscription began;
    /// empty if there was none.
    #[must_use]
    pub fn state(&self) -> &[u8] {
        &self.entry.state
    }

    /// Notes, in one atomic step, that everything pulled so far was processed, and the state that
    /// this led to, in bytes of the program's choice: 64 KiB at most. Durable when this returns. A
    /// replacement of the manifest: two syncs, so note after many changes, not after each.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidInput`](crate::ErrorKind::InvalidInput) if the state is too large,
    /// [`ErrorKind::Closed`](crate::ErrorKind::Closed); the file system failed: what is kept may
    /// then be this position and state, or those before.
    pub fn note(&mut self, state: &[u8]) -> Result<(), Error> {
        if state.len() > LARGEST_STATE {
            return Err(Reason::StateTooLarge(state.len()).into());
        }
        let ChangeToken { at: position, wall_clock, .. } = self.subscription.token();
        let entry = StreamEntry { position, wall_clock, state: state.into(), ..self.entry.clone() };
        log_of(&self.shared)?.set_stream(entry.clone())?;
        self.entry = entry;
        Ok(())
    }
}

fn log_of(shared: &SharedStore) -> Result<&Log, Error> {
    Ok(shared.get()?.store.journal().ok_or(Cause::InMemory)?.log()?)
}

impl Drop for NamedSubscription {
    fn drop(&mut self) {
        self.shared.give_name_back(&self.entry.name);
    }
}

impl Deref for NamedSubscription {
    type Target = Subscription;

    fn deref(&self) -> &Subscription {
        &self.subscription
    }
}

impl DerefMut for NamedSubscription {
    fn deref_mut(&mut self) -> &mut Subscription {
        &mut self.subscription
    }
}
