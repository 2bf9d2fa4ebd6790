//! The order of commits: stamps, publication, and the registry of open snapshots.
//!
//! Invariants, all checked by the models in `tests/shuttle.rs` and argued in `docs/concurrency.md`:
//!
//! 1. A stamp is larger than every earlier one. Its holder keeps the locks of what it changes
//!    until it is applied.
//! 2. A snapshot is registered at the newest stamp, and handed out when every stamp up to it is applied.
//! 3. `editable_from` of a stamp is above every registered timestamp. By 2 no timestamp between
//!    them is registered before the stamp is applied: a later snapshot has at least this stamp.
//!
//! Stamps and registrations are ordered by one short mutex, which a commit takes once. That a stamp is applied it
//! says by one store, in [`Applied`]; whoever opens a snapshot looks there.

use crate::commit::applied::Applied;
use crate::commit::registry::Registry;
use crate::error::Reason;
use crate::storage::PendingReclaim;
use crossbeam_utils::CachePadded;
use hedgerow_model::token::{LiveTimestamps, NewestCounts, Registered, Stamp};
use hedgerow_model::{Counts, EdgeOutcome, Timestamp};
use hedgerow_sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use hedgerow_sync::{Arc, Mutex};
use std::ops::Range;
use std::time::Instant;

/// Orders commits and snapshots of one graph.
#[derive(Debug, Default)]
pub(crate) struct Sequencer {
    /// Apart from the rest, which commits only read: every commit takes this cache line from the one before.
    state: CachePadded<Mutex<State>>,
    applied: Applied,
    /// How often a timestamp lost its last reader, and how many have readers. Changed under the mutex.
    released: AtomicU64,
    open: AtomicUsize,
}

/// What a commit changes comes first, so that it lies beside the lock.
#[derive(Debug, Default)]
#[repr(C)]
struct State {
    /// The newest stamp.
    last: Timestamp,
    /// How large the graph is at `last`.
    counts: Counts,
    /// The timestamps that are read.
    registry: Registry,
    /// The timestamps at which interactive transactions began.
    interactive: Registry,
}

/// How a commit changes the counts, beside the edges that its engine counted.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct VertexCounts {
    pub(crate) added: u64,
    pub(crate) removed: u64,
    /// Above every vertex id of the commit.
    pub(crate) bound: u32,
}

/// A stamp, and what else its commit must know.
pub(crate) struct Stamped {
    pub(crate) stamp: Stamp,
    /// Interactive transactions are open that may have to find a conflict with this commit.
    pub(crate) record_conflicts: bool,
}

/// Stamps that follow each other, ascending, and what else their commits must know.
pub(crate) struct ManyStamped {
    left: Range<u64>,
    editable_from: Timestamp,
    /// As in [`Stamped`].
    pub(crate) record_conflicts: bool,
}

impl Iterator for ManyStamped {
    type Item = Stamp;

    #[inline]
    fn next(&mut self) -> Option<Stamp> {
        let at = Timestamp(self.left.next()?);
        // SAFETY: when these stamps were taken they were new and the largest (invariant 1; the caller holds the locks of
        // all), and each is given out once. Nobody read a timestamp from `editable_from` on, and whoever
        // registers one before the last of them is applied registers at least the last (invariants 2 and 3).
        Some(unsafe { Stamp::new(at, self.editable_from.min(at)) })
    }
}

/// A timestamp that has readers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OpenTimestamp {
    pub(crate) at: Timestamp,
    pub(crate) handles: usize,
    pub(crate) since: Instant,
}

impl Sequencer {
    /// Takes the next stamp and counts what the commit changes. O(1), plus the wait for the commit so many stamps before
    /// as [`Applied`] remembers.
    ///
    /// The caller holds the locks of everything that it changes, and calls [`Sequencer::applied`]
    /// when it has applied the stamp, or [`Sequencer::poison`] when it could not.
    pub(crate) fn stamp(
        &self,
        vertices: VertexCounts,
        edges: &[EdgeOutcome],
        writer: Writer,
    ) -> Result<Stamped, Reason> {
        let mut stamped = self.stamp_many(1, vertices, edges, writer)?;
        let stamp = stamped.next().expect("one stamp was taken");
        Ok(Stamped { stamp, record_conflicts: stamped.record_conflicts })
    }

    /// Takes the next `commits` stamps in one step, and counts what all of these commits change.
    ///
    /// Nobody registers a timestamp between two of them, so only the counts at the last one matter. The caller does as for
    /// [`Sequencer::stamp`], for each of them, in their order.
    #[inline]
    pub(crate) fn stamp_many(
        &self,
        commits: usize,
        vertices: VertexCounts,
        edges: &[EdgeOutcome],
        writer: Writer,
    ) -> Result<ManyStamped, Reason> {
        let mut state = self.state.lock();
        if self.applied.is_poisoned() {
            return Err(Reason::Poisoned);
        }
        let first = state.last.next();
        state.last = Timestamp(state.last.0 + commits as u64);
        let left = first.0..state.last.0 + 1;
        state.counts.vertices = state.counts.vertices + vertices.added - vertices.removed;
        state.counts.vertex_bound = state.counts.vertex_bound.max(vertices.bound);
        state.counts.add(edges);
        let editable_from = state.registry.newest().map_or(Timestamp::ZERO, Timestamp::next);
        let own = usize::from(writer == Writer::Interactive);
        let record_conflicts = state.interactive.handles() > own;
        drop(state);
        Ok(ManyStamped { left, editable_from, record_conflicts })
    }

    /// Notes that a stamp is applied. O(1).
    ///
    /// Tells what there may be to reclaim.
    pub(crate) fn applied(&self, stamp: Stamp) -> PendingReclaim {
        self.applied.note(stamp.at());
        self.pending_reclaim()
    }

    /// Stops all commits and all new snapshots: a stamp will never be applied.
    pub(crate) fn poison(&self) {
        self.applied.poison();
    }

    /// Registers the newest stamp and waits until everything up to it is applied.
    ///
    /// O(1), plus the wait for commits that have their stamp and not yet been applied.
    pub(crate) fn open(self: &Arc<Self>, reader: Reader) -> Result<Registration, Reason> {
        let mut state = self.state.lock();
        let at = state.last;
        state.registry.register(at);
        if reader == Reader::Interactive {
            state.interactive.register(at);
        }
        self.open.store(state.registry.len(), Ordering::Relaxed);
        let counts = state.counts.clone();
        drop(state);
        if !self.applied.wait_up_to(at) {
            self.release(at, reader);
            return Err(Reason::Poisoned);
        }
        // SAFETY: registered above, until the registration is dropped; applied up to `at`; the
        // counts were read together with the stamp.
        let token = unsafe { Registered::new(at, counts) };
        Ok(Registration { token, sequencer: Arc::clone(self), reader })
    }

    /// The newest stamp, and how large the graph is at it. O(1).
    pub(crate) fn newest(&self) -> (Timestamp, Counts) {
        let state = self.state.lock();
        (state.last, state.counts.clone())
    }

    /// The timestamps that somebody can still read, and the count of releases so far. O(open timestamps).
    pub(crate) fn live(&self) -> (LiveTimestamps, u64) {
        let state = self.state.lock();
        let timestamps = state.registry.live().map(|entry| entry.at).collect();
        // SAFETY: all registered timestamps are there, and the next one will be `last` or later.
        let live = unsafe { LiveTimestamps::as_of(timestamps, state.last) };
        (live, self.released.load(Ordering::Relaxed))
    }

    /// What there may be to reclaim. O(1).
    pub(crate) fn pending_reclaim(&self) -> PendingReclaim {
        let releases = self.released.load(Ordering::Relaxed);
        PendingReclaim { releases, open_timestamps: self.open.load(Ordering::Relaxed) }
    }

    fn release(&self, at: Timestamp, reader: Reader) {
        let mut state = self.state.lock();
        if state.registry.release(at) {
            self.released.fetch_add(1, Ordering::Relaxed);
        }
        if reader == Reader::Interactive {
            state.interactive.release(at);
        }
        self.open.store(state.registry.len(), Ordering::Relaxed);
    }

    /// No interactive transaction that is open, or will be opened, began before this. O(1).
    pub(crate) fn oldest_interactive(&self) -> Timestamp {
        let state = self.state.lock();
        state.interactive.oldest().unwrap_or(state.last)
    }

    /// The timestamps that have readers, ascending.
    pub(crate) fn open_timestamps(&self) -> Vec<OpenTimestamp> {
        let state = self.state.lock();
        let open = state.registry.live().map(|entry| OpenTimestamp {
            at: entry.at,
            handles: entry.handles,
            since: entry.since,
        });
        open.collect()
    }
}

impl NewestCounts for Sequencer {
    fn newest_counts(&self) -> Counts {
        self.newest().1
    }
}

/// Who commits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Writer {
    /// Nobody who registered himself as [`Reader::Interactive`].
    Blind,
    /// An interactive transaction, itself among those that are open.
    Interactive,
}

/// Who reads a registered timestamp.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reader {
    /// A snapshot.
    Snapshot,
    /// A transaction whose commit will look for conflicts since then.
    Interactive,
}

/// A registered timestamp; released when dropped.
#[derive(Debug)]
pub(crate) struct Registration {
    token: Registered,
    sequencer: Arc<Sequencer>,
    reader: Reader,
}

impl Registration {
    /// The proof for engines that the timestamp can be read.
    pub(crate) fn token(&self) -> &Registered {
        &self.token
    }
}

impl Drop for Registration {
    fn drop(&mut self) {
        self.sequencer.release(self.token.at(), self.reader);
    }
}
