//! The order of commits: stamps, publication, and the registry of open snapshots.
//!
//! Invariants, all checked by the models in `tests/shuttle/` and argued in `docs/concurrency.md`:
//!
//! 1. A stamp is larger than every earlier one. Its holder keeps the locks of what it changes
//!    until it is applied.
//! 2. A snapshot is registered at the newest stamp that is published, and handed out when every stamp up to it is applied.
//!    Published is every stamp; or, where each commit is synced, what the log says is durable, which is the end of a batch of the log.
//! 3. `editable_from` of a stamp is above every registered timestamp. By 2 no timestamp between
//!    them is registered before the stamp is applied: a later snapshot has at least this stamp. Where each commit is synced, it is the
//!    first stamp of the batch: what is durable before ends before it, and later with this stamp or behind it.
//!
//! Stamps and registrations are ordered by one short mutex, which a commit takes once. That a stamp is applied it
//! says by one store, in [`Applied`]; whoever opens a snapshot looks there.

use crate::commit::applied::Applied;
use crate::commit::heads::{FormerHeads, Head};
use crate::commit::history::{AsOf, KeptStates};
use crate::commit::registry::Registry;
use crate::compactor::Bell;
use crate::durable::{Journal, wall_clock};
use crate::error::Reason;
use crate::options::History;
use crate::storage::PendingReclaim;
use crossbeam_utils::CachePadded;
use hedgerow_log::Body;
use hedgerow_log::planted::{self, PlantedBug};
use hedgerow_model::token::{LiveTimestamps, NewestCounts, Registered, Stamp};
use hedgerow_model::{Counts, EdgeOutcome, ParallelOutcome, Timestamp};
use hedgerow_sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use hedgerow_sync::{Arc, Mutex};
use std::ops::{Deref, Range};
use std::time::Instant;

/// Orders commits and snapshots of one graph.
#[derive(Debug, Default)]
pub(crate) struct Sequencer {
    /// Apart from the rest, which commits only read: every commit takes this cache line from the one before.
    state: CachePadded<Mutex<State>>,
    applied: Applied,
    /// How often a timestamp lost its last reader, and how many have readers. Changed under the mutex.
    ///
    /// Where each commit is synced, the end of a batch that can be published no more counts as one that lost its readers.
    released: AtomicU64,
    open: AtomicUsize,
    /// The timestamp behind the newest that has readers; 0 if none has. Changed under the mutex.
    editable_now: AtomicU64,
    /// Where commits are logged; `None`: nowhere. The same as long as anybody else sees the graph.
    journal: Option<Journal>,
    /// Which past states are kept. The same as long as anybody else sees the graph.
    history: History,
    /// For whoever frees what nobody reads any more.
    bell: Option<Arc<Bell>>,
}

/// What a commit changes comes first, so that it lies beside the lock.
#[derive(Debug, Default)]
#[repr(C)]
struct State {
    /// The newest stamp, and how large the graph is there.
    head: Head,
    /// The timestamps that are read.
    registry: Registry,
    /// The timestamps at which interactive transactions began.
    interactive: Registry,
    /// What may be published before `head`, where each commit is synced.
    former: FormerHeads,
    /// Past states that are kept, up to `head`, if any are.
    kept: Option<KeptStates>,
}

impl State {
    fn count(&mut self, last: Timestamp, changes: CountChanges<'_>) {
        let CountChanges { vertices, edges, parallel } = changes;
        let Head { at, counts, .. } = &mut self.head;
        *at = last;
        counts.vertices = counts.vertices + vertices.added - vertices.removed;
        counts.vertex_bound = counts.vertex_bound.max(vertices.bound);
        counts.add(edges);
        counts.add_parallel(parallel);
    }

    /// Above every timestamp that is read, or kept.
    fn editable_from(&self) -> Timestamp {
        if self.kept.is_some() {
            return self.head.at;
        }
        self.registry.newest().map_or(Timestamp::ZERO, Timestamp::next)
    }

    fn records_conflicts(&self, writer: Writer) -> bool {
        let own = usize::from(writer == Writer::Interactive);
        self.interactive.handles() > own
    }
}

/// How a commit changes the counts, beside the edges that its engine counted.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct VertexCounts {
    pub(crate) added: u64,
    pub(crate) removed: u64,
    /// Above every vertex id of the commit.
    pub(crate) bound: u32,
}

/// How a commit changes all counts.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct CountChanges<'c> {
    pub(crate) vertices: VertexCounts,
    /// What the engine counted.
    pub(crate) edges: &'c [EdgeOutcome],
    /// What is known of parallel edges beside it.
    pub(crate) parallel: &'c [ParallelOutcome],
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
    /// Of an empty graph.
    ///
    /// The bell, if there is one, is rung when a timestamp loses its last reader.
    pub(crate) fn new(history: History, bell: Option<Arc<Bell>>) -> Self {
        let mut sequencer = Sequencer { history, bell, ..Sequencer::default() };
        sequencer.begin_history();
        sequencer
    }

    /// Takes the next stamp and counts what the commit changes. O(1), plus the wait for the commit so many stamps before
    /// as [`Applied`] remembers.
    ///
    /// The caller holds the locks of everything that it changes, and calls [`Sequencer::applied`]
    /// when it has applied the stamp, or [`Sequencer::poison`] when it could not.
    pub(crate) fn stamp(&self, counts: CountChanges<'_>, writer: Writer) -> Result<Stamped, Reason> {
        let mut stamped = self.stamp_many(1, counts, writer)?;
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
        counts: CountChanges<'_>,
        writer: Writer,
    ) -> Result<ManyStamped, Reason> {
        let now = self.keeps_history().then(|| self.wall_clock());
        let mut state = self.state.lock();
        if self.applied.is_poisoned() {
            return Err(Reason::Poisoned);
        }
        debug_assert!(commits == 1 || state.kept.is_none(), "the state of each commit is kept");
        let before = state.head.at;
        let last = Timestamp(before.0 + commits as u64);
        state.count(last, counts);
        self.keep(&mut state, now);
        let left = before.0 + 1..last.0 + 1;
        let editable_from = state.editable_from();
        let record_conflicts = state.records_conflicts(writer);
        drop(state);
        Ok(ManyStamped { left, editable_from, record_conflicts })
    }

    /// As [`Sequencer::stamp`], for a commit that is logged: gives it its place in the log at the stamp that it takes. If the log refuses,
    /// no stamp is taken. `input` is what an importer notes with it.
    pub(crate) fn stamp_logged(
        &self,
        journal: &Journal,
        body: &mut Body,
        input: Option<&[u8]>,
        counts: CountChanges<'_>,
        writer: Writer,
    ) -> Result<Stamped, Reason> {
        let log = journal.log()?;
        let (wall_clock, input) = (journal.wall_clock(), input.map(Arc::from));
        let mut state = self.state.lock();
        if self.applied.is_poisoned() {
            return Err(Reason::Poisoned);
        }
        let before = state.head.at;
        let at = before.next();
        let appended = log.append(at, wall_clock, body)?;
        let is_synced = journal.is_synced();
        let begins_batch = is_synced && appended.batch_from() == at;
        if begins_batch {
            // The batch before ended with the newest stamp.
            let end = state.head.clone();
            state.former.push(end);
        }
        let editable_from = match is_synced && !planted::is(PlantedBug::EditUnpublished) {
            _ if state.kept.is_some() => at,
            true => appended.batch_from(),
            false => state.editable_from(),
        };
        // Whoever begins later may begin before this is published.
        let record_conflicts = is_synced || state.records_conflicts(writer);
        debug_assert!(state.registry.newest().is_none_or(|newest| newest < editable_from));
        state.count(at, counts);
        state.head.wall_clock = state.head.wall_clock.max(wall_clock);
        state.head.input = input.or(state.head.input.take());
        self.keep(&mut state, self.keeps_history().then_some(wall_clock));
        if begins_batch {
            self.forget_former(journal, &mut state);
        }
        drop(state);
        // SAFETY: new and the largest (invariant 1; the caller holds the locks). Nobody read a timestamp from `editable_from` on, and
        // whoever registers one before it is applied registers at least this one (invariants 2 and 3).
        let stamp = unsafe { Stamp::new(at, editable_from) };
        Ok(Stamped { stamp, record_conflicts })
    }

    /// Keeps the state of the newest stamp, if past states are kept: which is told by the time.
    fn keep(&self, state: &mut State, now: Option<u64>) {
        let State { head, kept: Some(kept), .. } = state else { return };
        let Some(now) = now else { return };
        head.wall_clock = head.wall_clock.max(now);
        kept.push(head);
        self.released.fetch_add(kept.expire(now) as u64, Ordering::Relaxed);
    }

    /// Now, in microseconds since 1970-01-01 UTC.
    fn wall_clock(&self) -> u64 {
        self.journal.as_ref().map_or_else(wall_clock, Journal::wall_clock)
    }

    /// Whether past states are kept, so that each commit has to be counted by itself.
    #[inline]
    pub(crate) fn keeps_history(&self) -> bool {
        self.history != History::None
    }

    /// The oldest past state that is kept, and the time of its commit; `None` if none are kept.
    pub(crate) fn oldest_kept(&self) -> Option<(Timestamp, u64)> {
        let state = self.state.lock();
        state.kept.as_ref().map(|kept| (kept.oldest(), kept.oldest_wall_clock()))
    }

    /// Notes how far an importer got, of a graph that is not logged.
    pub(crate) fn note_input(&self, input: &[u8]) {
        self.state.lock().head.input = Some(input.into());
    }

    /// Forgets the ends of batches that can be published no more.
    fn forget_former(&self, journal: &Journal, state: &mut State) {
        let forgotten = state.former.forget_before(journal.durable(), state.head.at);
        if forgotten > 0 {
            self.released.fetch_add(forgotten as u64, Ordering::Relaxed);
        }
    }

    /// What is published.
    fn published<'s>(&self, state: &'s mut State) -> &'s Head {
        match &self.journal {
            Some(journal) if journal.is_synced() => {
                self.forget_former(journal, state);
                // Every durable timestamp is the end of a batch: the newest stamp, or one that was kept when the next batch began.
                state.former.oldest().unwrap_or(&state.head)
            }
            _ => &state.head,
        }
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

    /// Registers the newest stamp that is published and waits until everything up to it is applied. The registration keeps what leads to
    /// the sequencer.
    ///
    /// O(1), plus the wait for commits that have their stamp and not yet been applied.
    pub(crate) fn open<P: Deref<Target = Self>>(by: P, reader: Reader) -> Result<Registration<P>, Reason> {
        Self::open_and_see(by, reader, |_| ()).map(|(registration, ())| registration)
    }

    /// The same, with a look at what is known of the graph there.
    pub(crate) fn open_and_see<P: Deref<Target = Self>, T>(
        by: P,
        reader: Reader,
        see: impl FnOnce(&Head) -> T,
    ) -> Result<(Registration<P>, T), Reason> {
        let now = Instant::now();
        let mut state = by.state.lock();
        let head = by.published(&mut state);
        let (at, counts, seen) = (head.at, head.counts.clone(), see(head));
        state.registry.register(at, now);
        if reader == Reader::Interactive {
            state.interactive.register(at, now);
        }
        by.note_open(&state);
        drop(state);
        Ok((Self::registered(by, (at, now), counts, reader)?, seen))
    }

    /// Registers a past state that is kept. O(log states), plus the wait as in [`Sequencer::open`].
    pub(crate) fn open_past<P: Deref<Target = Self>>(by: P, as_of: AsOf) -> Result<Registration<P>, Reason> {
        let now = Instant::now();
        let mut state = by.state.lock();
        let published = by.published(&mut state).at;
        let State { kept: Some(kept), registry, .. } = &mut *state else { return Err(Reason::NoHistory) };
        let (at, counts) = kept.find(as_of, published)?;
        // Until now it was live because it is kept.
        registry.register_past(at, now);
        by.note_open(&state);
        drop(state);
        Self::registered(by, (at, now), counts, Reader::Snapshot)
    }

    /// Waits until everything up to a registered timestamp is applied, where the graph is so large.
    fn registered<P: Deref<Target = Self>>(
        by: P,
        (at, opened): (Timestamp, Instant),
        counts: Counts,
        reader: Reader,
    ) -> Result<Registration<P>, Reason> {
        if !by.applied.wait_up_to(at) {
            by.release(at, reader);
            return Err(Reason::Poisoned);
        }
        // SAFETY: registered by the caller, until the registration is dropped; applied up to `at`; the
        // counts are those at the stamp.
        let token = unsafe { Registered::new(at, counts) };
        Ok(Registration { token, opened, sequencer: by, reader })
    }

    /// Notes how many timestamps have readers, where that is seen without the mutex.
    fn note_open(&self, state: &State) {
        let open = state.registry.len();
        // Most of the time it is as it was, and others go on reading it where they have it.
        if self.open.load(Ordering::Relaxed) != open {
            self.open.store(open, Ordering::Relaxed);
        }
        let editable_now = state.registry.newest().map_or(0, |newest| newest.next().0);
        if self.editable_now.load(Ordering::Relaxed) != editable_now {
            self.editable_now.store(editable_now, Ordering::Relaxed);
        }
    }

    /// What `editable_from` of a stamp would be that is taken now, about. O(1).
    #[inline]
    pub(crate) fn editable_now(&self) -> Timestamp {
        // Where past states are kept each is read.
        let all = self.keeps_history().then_some(u64::MAX);
        Timestamp(all.unwrap_or_else(|| self.editable_now.load(Ordering::Relaxed)))
    }

    /// Whether a commit ended half way.
    pub(crate) fn is_poisoned(&self) -> bool {
        self.applied.is_poisoned()
    }

    /// The newest stamp, and how large the graph is at it. O(1).
    pub(crate) fn newest(&self) -> (Timestamp, Counts) {
        let state = self.state.lock();
        (state.head.at, state.head.counts.clone())
    }

    /// How far the last importer got whose commit is published.
    pub(crate) fn input(&self) -> Option<Arc<[u8]>> {
        let mut state = self.state.lock();
        self.published(&mut state).input.clone()
    }

    /// The timestamps that somebody can still read, and the count of releases so far. O(open timestamps).
    pub(crate) fn live(&self) -> (LiveTimestamps, u64) {
        let now = self.keeps_history().then(|| self.wall_clock());
        let mut state = self.state.lock();
        let expired = state.kept.as_mut().zip(now).map_or(0, |(kept, now)| kept.expire(now));
        self.released.fetch_add(expired as u64, Ordering::Relaxed);
        let timestamps = state.registry.live().map(|entry| entry.at).collect();
        let next = self.published(&mut state).at;
        // SAFETY: all registered timestamps are there, and the next one will be what is published now or later, or one that is kept.
        let mut live = unsafe { LiveTimestamps::as_of(timestamps, next) };
        if let Some(kept) = &state.kept {
            live = live.and_all_from(kept.oldest());
        }
        (live, self.released.load(Ordering::Relaxed))
    }

    /// What there may be to reclaim. O(1).
    pub(crate) fn pending_reclaim(&self) -> PendingReclaim {
        let releases = self.released.load(Ordering::Relaxed);
        PendingReclaim { releases, open_timestamps: self.open.load(Ordering::Relaxed) }
    }

    fn release(&self, at: Timestamp, reader: Reader) {
        let mut state = self.state.lock();
        let is_last = state.registry.release(at);
        if is_last {
            self.released.fetch_add(1, Ordering::Relaxed);
        }
        if reader == Reader::Interactive {
            state.interactive.release(at);
        }
        self.note_open(&state);
        drop(state);
        if let Some(bell) = self.bell.as_ref().filter(|_| is_last) {
            bell.ring();
        }
    }

    /// No interactive transaction that is open, or will be opened, began before this. O(1).
    pub(crate) fn oldest_interactive(&self) -> Timestamp {
        let mut state = self.state.lock();
        let next = self.published(&mut state).at;
        state.interactive.oldest().unwrap_or(next)
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

/// A graph comes back: nobody else sees it yet.
impl Sequencer {
    /// A stamp for what was committed at `at`, and counts what it changes. There may be several of one timestamp, for parts of a state.
    ///
    /// # Panics
    /// If somebody reads the graph, or commits are logged.
    pub(crate) fn stamp_again(&self, at: Timestamp, counts: CountChanges<'_>) -> Stamp {
        let mut state = self.state.lock();
        let is_private = state.registry.len() == 0 && self.journal.is_none();
        assert!(is_private && at >= state.head.at, "only a graph that nobody sees comes back");
        state.count(at, counts);
        // SAFETY: the largest so far, nothing is registered, and nothing will be before the graph has come back.
        unsafe { Stamp::new(at, Timestamp::ZERO) }
    }

    /// The graph has come back, as of `at`.
    pub(crate) fn restore(&self, at: Timestamp, wall_clock: u64, input: Option<Arc<[u8]>>) {
        let mut state = self.state.lock();
        (state.head.at, state.head.wall_clock, state.head.input) = (at, wall_clock, input);
        self.applied.restore(at);
    }

    /// Commits are logged from now on.
    pub(crate) fn attach(&mut self, journal: Journal) {
        self.journal = Some(journal);
        self.begin_history();
    }

    /// Past states are kept from the newest one on, if the graph keeps any.
    fn begin_history(&mut self) {
        let now = if self.keeps_history() { self.wall_clock() } else { 0 };
        let state = self.state.get_mut();
        state.head.wall_clock = state.head.wall_clock.max(now);
        state.kept = KeptStates::new(self.history, &state.head);
    }

    /// Where commits are logged; `None`: nowhere.
    #[inline]
    pub(crate) fn journal(&self) -> Option<&Journal> {
        self.journal.as_ref()
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
pub(crate) struct Registration<P: Deref<Target = Sequencer>> {
    token: Registered,
    opened: Instant,
    /// What leads to the sequencer.
    sequencer: P,
    reader: Reader,
}

impl<P: Deref<Target = Sequencer>> Registration<P> {
    /// The proof for engines that the timestamp can be read.
    pub(crate) fn token(&self) -> &Registered {
        &self.token
    }

    /// When it was registered.
    pub(crate) fn opened(&self) -> Instant {
        self.opened
    }

    /// What leads to the sequencer.
    pub(crate) fn by(&self) -> &P {
        &self.sequencer
    }
}

impl<P: Deref<Target = Sequencer>> Drop for Registration<P> {
    fn drop(&mut self) {
        self.sequencer.release(self.token.at(), self.reader);
    }
}
