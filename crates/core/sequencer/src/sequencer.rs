//! The order of commits: stamps, openable timestamps, and the registry of open snapshots.
//!
//! Invariants, which the models in `crates/hedgerow/tests/shuttle/` check and
//! `docs/concurrency.md` proves:
//!
//! 1. A stamp is larger than every earlier one. Its holder keeps the locks of everything that it
//!    changes until the stamp is applied, or appends until then, while no other commit holds locks.
//! 2. A snapshot registers the newest timestamp that it may open, and is returned once every stamp
//!    up to it is applied (`registration.rs`). It may open the newest stamp or, where each commit
//!    is synced, the newest durable stamp, which is the end of a batch of the log.
//! 3. `editable_from` of a stamp is above every registered timestamp. By 2, no timestamp from
//!    `editable_from` on that is below the stamp is registered before the stamp is applied: a later
//!    snapshot registers this stamp or a later one. Where each commit is synced, `editable_from` is
//!    the first stamp of the batch: an earlier durable timestamp is below it, and a later one is
//!    this stamp or above.
//!
//! One mutex, held briefly and once per commit, orders stamps. Most snapshots register without it,
//! in [`ReaderSlots`]: a commit that takes a stamp first hides the [`PublishedHead`], then reads
//! the slots; a reader first takes a slot, then checks that the published head is unchanged. A
//! commit marks its stamp as applied by one store, in [`AppliedStamps`], which readers check when
//! they open a snapshot.

use crate::applied::AppliedStamps;
use crate::clock::{Clock, Now};
use crate::commit::{CountChanges, PendingReclaim, WriterKind};
use crate::commit_log::CommitLog;
use crate::error::SequencerError;
use crate::heads::{FormerHeads, Head};
use crate::history::{History, KeptStates};
use crate::published_head::PublishedHead;
use crate::reader_slots::ReaderSlots;
use crate::recent::RecentCommits;
use crate::registry::Registry;
use crate::wakeup::Wakeup;
use crossbeam_utils::CachePadded;
use hedgerow_log::Body;
use hedgerow_log::planted::{self, PlantedBug};
use hedgerow_model::token::{LiveTimestamps, NewestState, Stamps};
use hedgerow_model::{CommitTimestamp, Counts};
use hedgerow_sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering, fence};
use hedgerow_sync::{Arc, Mutex};
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

mod restore;

/// Orders commits and snapshots of one graph.
#[derive(Debug, Default)]
pub struct Sequencer {
    /// Padded from the other fields, which commits only read: every commit takes this cache line
    /// from the previous commit.
    pub(crate) state: CachePadded<Mutex<SequencerState>>,
    /// A copy of the newest head that readers read without the mutex.
    pub(crate) published_head: CachePadded<PublishedHead>,
    /// Slots in which readers of the newest state register without the mutex.
    pub(crate) reader_slots: ReaderSlots,
    pub(crate) applied: AppliedStamps,
    /// Number of releases: a timestamp lost its last reader in the registry, a reader left a slot
    /// after a newer stamp, a kept state expired, or the stale state was replaced.
    ///
    /// If each commit is synced, the end of a batch that can no longer be opened counts as a
    /// release.
    pub(crate) released: AtomicU64,
    /// Number of commits during which a release happened: they may have filed superseded versions
    /// too late for a concurrent reclamation.
    filed_late: AtomicU64,
    /// Number of timestamps in the registry. Changed under the mutex.
    open: AtomicUsize,
    /// One above the newest timestamp that is in the registry or stale; 0 if there is none. Changed
    /// under the mutex.
    registered_below: AtomicU64,
    /// True if the state has recent commits. Changed under the mutex.
    is_followed: AtomicBool,
    /// The log of commits, if there is one. Does not change while the graph is shared.
    log: Option<CommitLog>,
    /// Retention of past states. Does not change while the graph is shared.
    history: History,
    pub(crate) clock: Clock,
    /// Wakes the garbage collection thread.
    pub(crate) wakeup: Option<Arc<Wakeup>>,
}

/// State under the mutex. The fields that a commit changes come first, next to the lock.
#[derive(Debug, Default)]
#[repr(C)]
pub(crate) struct SequencerState {
    /// The newest stamp, and the size of the graph there.
    head: Head,
    /// The timestamps that are read, except by readers in slots.
    pub(crate) registry: Registry,
    /// The timestamps at which interactive transactions began.
    pub(crate) interactive: Registry,
    /// Batch ends before `head` that snapshots may open, where each commit is synced.
    former: FormerHeads,
    /// The kept past states, up to `head`, if the graph keeps history.
    pub(crate) kept: Option<KeptStates>,
    /// The state that is kept because it is cheap to read. Live as if it were registered.
    pub(crate) stale: Option<StaleState>,
    /// The newest commits, while there are followers. Never in a graph with a log.
    recent: Option<Arc<RecentCommits>>,
}

/// A kept state and its counts.
#[derive(Debug)]
pub(crate) struct StaleState {
    pub(crate) at: CommitTimestamp,
    pub(crate) counts: Counts,
    /// A time at which the state was the newest.
    pub(crate) since: Instant,
}

impl SequencerState {
    #[inline]
    fn count(&mut self, last: CommitTimestamp, changes: CountChanges<'_>) {
        let CountChanges { vertices, edges, parallel, deferred } = changes;
        let Head { at, counts, .. } = &mut self.head;
        *at = last;
        counts.vertices = counts.vertices + vertices.added - vertices.removed;
        counts.vertex_bound = counts.vertex_bound.max(vertices.bound);
        counts.add(edges);
        if !(parallel.is_empty() && deferred.is_empty()) {
            counts.add_parallel(parallel);
            counts.add_deferred(deferred);
        }
    }

    #[inline]
    fn records_conflicts(&self, writer: WriterKind) -> bool {
        let own = usize::from(writer == WriterKind::Interactive);
        self.interactive.handles() > own
    }
}

/// The stamps of one commit, or of several, and the context that they need.
pub struct Stamped {
    /// The stamps.
    pub stamps: Stamps,
    /// True if an open interactive transaction may have to detect a conflict with one of these
    /// commits.
    pub record_conflicts: bool,
    /// Number of releases when the stamps were taken; see [`Sequencer::applied`].
    pub released: u64,
}

/// The new stamps from `first` to `last`, each of which is given out once.
#[inline]
fn new_stamps(first: CommitTimestamp, last: CommitTimestamp, editable_from: CommitTimestamp) -> Stamps {
    // SAFETY: when these stamps were taken they were new and the largest (invariant 1; the caller
    // holds the locks of all, or appends). No reader had registered a timestamp from
    // `editable_from` on, and a reader that registers such a timestamp before the last stamp is
    // applied registers at least the last stamp: where each commit is synced, the stamps are in one
    // batch, and its end is registered at the earliest (invariants 2 and 3).
    unsafe { Stamps::new(first, last, editable_from) }
}

/// A timestamp that has readers.
#[derive(Clone, Copy, Debug)]
pub struct OpenTimestamp {
    /// The timestamp.
    pub at: CommitTimestamp,
    /// Number of snapshots and transactions that read the timestamp.
    pub handles: usize,
    /// The time at which the first reader registered the timestamp.
    pub since: Instant,
}

impl Sequencer {
    /// Creates the sequencer of an empty graph with `labels` labels.
    ///
    /// It wakes `wakeup`, if given, when a timestamp loses its last reader in the registry, and
    /// when a reader leaves a slot after a newer stamp was taken.
    pub fn new(labels: usize, history: History, clock: Clock, wakeup: Option<Arc<Wakeup>>) -> Self {
        let published_head = CachePadded::new(PublishedHead::new(labels));
        let mut sequencer = Sequencer { published_head, history, clock, wakeup, ..Sequencer::default() };
        sequencer.begin_history();
        sequencer
    }

    /// Takes the next `commits` stamps in one step, and adds the changes of all these commits to
    /// the counts. O(1).
    ///
    /// No timestamp between two of these stamps is ever registered, so only the counts at the last
    /// one matter. The caller holds the locks of everything that it changes, or appends. It calls
    /// [`Sequencer::applied`] when it has applied the stamps, or [`Sequencer::poison`] when that
    /// fails.
    ///
    /// Followers get `bodies`, one for each commit, which may be missing while there are
    /// [none](Sequencer::is_followed). Returns `None` if they are missing and there is one by now.
    #[inline]
    pub fn stamp(
        &self,
        commits: usize,
        bodies: &[Body],
        counts: CountChanges<'_>,
        writer: WriterKind,
    ) -> Result<Option<Stamped>, SequencerError> {
        let now = self.keeps_history().then(|| self.clock.now());
        let wall_clock = if bodies.is_empty() { 0 } else { self.clock.wall() };
        let mut state = self.state.lock();
        if self.applied.is_poisoned() {
            return Err(SequencerError::Poisoned);
        }
        if let Some(recent) = &state.recent {
            if bodies.len() != commits {
                return Ok(None);
            }
            recent.add(wall_clock, bodies);
        }
        debug_assert!(commits == 1 || state.kept.is_none(), "the state of each commit is kept");
        self.published_head.hide();
        let before = state.head.at;
        let last = CommitTimestamp(before.0 + commits as u64);
        state.count(last, counts);
        self.keep(&mut state, now);
        let editable_from = self.editable_from(&state);
        self.published_head.show_changes(&state.head, counts);
        let record_conflicts = state.records_conflicts(writer);
        let released = self.released.load(Ordering::Relaxed);
        drop(state);
        let stamps = new_stamps(before.next(), last, editable_from);
        Ok(Some(Stamped { stamps, record_conflicts, released }))
    }

    /// Like [`Sequencer::stamp`], but also appends the commits to the log, each at its stamp. If
    /// the log refuses, no stamp is taken.
    ///
    /// `commit_log` is the attached log; `input` is the importer's position to store with the
    /// commits.
    pub fn stamp_logged(
        &self,
        commit_log: &CommitLog,
        bodies: &mut [Body],
        input: Option<&[u8]>,
        counts: CountChanges<'_>,
        writer: WriterKind,
    ) -> Result<Stamped, SequencerError> {
        let log = commit_log.log();
        let now = self.keeps_history().then(|| self.clock.now());
        let wall_clock = now.map_or_else(|| self.clock.wall(), |now| now.wall);
        let input = input.map(Arc::from);
        let mut state = self.state.lock();
        if self.applied.is_poisoned() {
            return Err(SequencerError::Poisoned);
        }
        debug_assert!(bodies.len() == 1 || state.kept.is_none(), "the state of each commit is kept");
        // Before the append: once appended, the commits may become durable at any moment.
        self.published_head.hide();
        let before = state.head.at;
        let first = before.next();
        let appended = match log.append_each(first, wall_clock, bodies) {
            Ok(appended) => appended,
            Err(refused) => {
                self.published_head.show(&state.head, std::iter::empty());
                return Err(refused.into());
            }
        };
        let is_synced = commit_log.is_synced();
        let begins_batch = is_synced && appended.batch_from() == first;
        if begins_batch {
            // The previous batch ended with the newest stamp.
            let end = state.head.clone();
            state.former.push(end);
        }
        let editable_from = match is_synced && !planted::is(PlantedBug::EditUnpublished) {
            _ if state.kept.is_some() => first,
            true => appended.batch_from(),
            false => self.editable_from(&state),
        };
        // A later transaction may begin at a timestamp before these commits, until they are
        // durable.
        let record_conflicts = is_synced || state.records_conflicts(writer);
        debug_assert!(state.registry.newest().is_none_or(|newest| newest < editable_from));
        state.count(appended.at(), counts);
        state.head.wall_clock = state.head.wall_clock.max(wall_clock);
        state.head.input = input.or(state.head.input.take());
        self.keep(&mut state, now);
        self.published_head.show_changes(&state.head, counts);
        if begins_batch {
            self.forget_former(commit_log, &mut state);
        }
        let released = self.released.load(Ordering::Relaxed);
        drop(state);
        let stamps = new_stamps(first, appended.at(), editable_from);
        Ok(Stamped { stamps, record_conflicts, released })
    }

    /// Keeps the state of the newest stamp. `now` is `None` if the graph keeps no history.
    #[inline]
    fn keep(&self, state: &mut SequencerState, now: Option<Now>) {
        let Some(now) = now else { return };
        let SequencerState { head, kept: Some(kept), .. } = state else { return };
        head.wall_clock = head.wall_clock.max(now.wall);
        kept.push(head, now.monotonic);
        self.released.fetch_add(kept.expire(now.monotonic) as u64, Ordering::Relaxed);
    }

    /// The time by which a wall-clock time (microseconds since 1970-01-01 UTC) is ahead of the
    /// clock.
    pub fn ahead_of_clock(&self, wall_clock: u64) -> Duration {
        Duration::from_micros(wall_clock.saturating_sub(self.clock.wall()))
    }

    /// Returns true if the graph has no log, and followers. O(1).
    #[inline]
    pub fn is_followed(&self) -> bool {
        // Relaxed: a commit that misses a change is refused, or encodes in vain.
        self.is_followed.load(Ordering::Relaxed)
    }

    /// Keeps recent commits for another follower, which asks for this many bytes, from the returned
    /// newest one on.
    pub(crate) fn keep_recent(&self, bytes: usize) -> (Arc<RecentCommits>, CommitTimestamp) {
        let mut state = self.state.lock();
        let after = state.head.at;
        let recent = state.recent.get_or_insert_with(|| Arc::new(RecentCommits::new(after.next())));
        recent.add_follower(bytes);
        let recent = Arc::clone(recent);
        self.is_followed.store(true, Ordering::Relaxed);
        (recent, after)
    }

    /// Keeps no more recent commits if the follower that leaves was the last.
    pub(crate) fn stop_keeping_recent(&self) {
        let mut state = self.state.lock();
        let left = state.recent.take_if(|recent| recent.remove_follower());
        self.is_followed.store(state.recent.is_some(), Ordering::Relaxed);
        drop(state);
        drop(left);
    }

    /// The wall-clock time, in microseconds since 1970-01-01 UTC.
    pub fn wall_clock(&self) -> u64 {
        self.clock.wall()
    }

    /// Returns true if past states are kept, so that each commit needs its own counts.
    #[inline]
    pub fn keeps_history(&self) -> bool {
        self.history != History::None
    }

    /// The oldest kept state, and the wall-clock time of its commit; `None` without history.
    pub fn oldest_kept(&self) -> Option<(CommitTimestamp, u64)> {
        let state = self.state.lock();
        state.kept.as_ref().map(|kept| (kept.oldest(), kept.oldest_wall_clock()))
    }

    /// Bytes of the list of past states.
    pub fn history_bytes(&self) -> usize {
        match self.keeps_history() {
            true => self.state.lock().kept.as_ref().map_or(0, KeptStates::bytes),
            false => 0,
        }
    }

    /// Records an importer's position, in a graph without a log.
    pub fn note_input(&self, input: &[u8]) {
        self.state.lock().head.input = Some(input.into());
    }

    /// Forgets the ends of batches that can no longer be opened.
    fn forget_former(&self, log: &CommitLog, state: &mut SequencerState) {
        let forgotten = state.former.forget_before(log.durable(), state.head.at);
        if forgotten > 0 {
            self.released.fetch_add(forgotten as u64, Ordering::Relaxed);
        }
    }

    /// One above every earlier timestamp that is read or kept. The caller has hidden the published
    /// head, so no other reader can register below the result.
    #[inline]
    fn editable_from(&self, state: &SequencerState) -> CommitTimestamp {
        if state.kept.is_some() {
            return state.head.at;
        }
        let registered = CommitTimestamp(self.registered_below.load(Ordering::Relaxed));
        registered.max(self.reader_slots.read_below())
    }

    /// Returns true if snapshots may open the newest stamp, `newest`. O(1).
    #[inline]
    pub(crate) fn is_openable(&self, newest: CommitTimestamp) -> bool {
        self.log.as_ref().is_none_or(|log| !log.is_synced() || log.durable() >= newest)
    }

    /// The head that a new snapshot opens: the newest head or, where each commit is synced, the
    /// newest durable head. It may not be applied yet.
    #[inline]
    pub(crate) fn openable_head<'s>(&self, state: &'s mut SequencerState) -> &'s Head {
        match &self.log {
            Some(log) if log.is_synced() => {
                self.forget_former(log, state);
                // Every durable timestamp is the end of a batch: the newest stamp, or a head kept
                // when the next batch began.
                state.former.oldest().unwrap_or(&state.head)
            }
            _ => &state.head,
        }
    }

    /// Marks stamps as applied. Returns the state of the snapshots, by which the commit decides
    /// whether to reclaim. `released` is the number of releases when the stamps were taken.
    ///
    /// Waits for no other commit. Amortized O(stamps).
    #[inline]
    pub fn applied(&self, stamps: Stamps, released: u64) -> PendingReclaim {
        stamps.iter().for_each(|stamp| self.applied.note(stamp.at()));
        if self.released.load(Ordering::Relaxed) != released {
            // A reclamation may have missed the versions that these commits filed, so another one
            // is due.
            self.filed_late.fetch_add(1, Ordering::Release);
        }
        self.pending_reclaim()
    }

    /// Stops all commits and all new snapshots, because a stamp will never be applied.
    pub fn poison(&self) {
        self.applied.poison();
    }

    /// Publishes the number of timestamps in the registry, and the newest timestamp that is in the
    /// registry or stale, to be read without the mutex.
    #[inline]
    pub(crate) fn note_open(&self, state: &SequencerState) {
        let open = state.registry.len();
        // Stores only changes, so that the cache line stays shared.
        if self.open.load(Ordering::Relaxed) != open {
            self.open.store(open, Ordering::Relaxed);
        }
        let stale = state.stale.as_ref().map(|kept| kept.at);
        let registered_below = state.registry.newest().max(stale).map_or(0, |newest| newest.next().0);
        if self.registered_below.load(Ordering::Relaxed) != registered_below {
            self.registered_below.store(registered_below, Ordering::Relaxed);
        }
    }

    /// Returns true if a commit failed between its stamp and its end.
    #[inline]
    pub fn is_poisoned(&self) -> bool {
        self.applied.is_poisoned()
    }

    /// The newest stamp, and the size of the graph there. O(1).
    pub fn newest(&self) -> (CommitTimestamp, Counts) {
        let state = self.state.lock();
        (state.head.at, state.head.counts.clone())
    }

    /// The position of the last importer whose commit a new snapshot shows.
    pub fn input(&self) -> Option<Arc<[u8]>> {
        let mut state = self.state.lock();
        self.openable_head(&mut state).input.clone()
    }

    /// The timestamps that can still be read, and a lower bound on the releases that they reflect.
    /// O(open timestamps).
    pub fn live(&self) -> (LiveTimestamps, u64) {
        let now = self.keeps_history().then(|| self.clock.monotonic());
        let mut state = self.state.lock();
        let expired = state.kept.as_mut().zip(now).map_or(0, |(kept, now)| kept.expire(now));
        self.released.fetch_add(expired as u64, Ordering::Relaxed);
        let next = self.openable_head(&mut state).at;
        // Read before the slots: a slot left after this counts as another release, which causes
        // another reclamation.
        let released = self.releases();
        // The published head was stored before the slots are read, so a reader whose slot is missed
        // here finds this stamp or a later one.
        fence(Ordering::SeqCst);
        let registered = state.registry.live().map(|entry| entry.at).chain(self.reader_slots.taken());
        let mut timestamps: Vec<_> = registered.chain(state.stale.as_ref().map(|kept| kept.at)).collect();
        timestamps.sort_unstable();
        timestamps.dedup();
        // SAFETY: contains all registered timestamps. The next timestamp to be registered is
        // openable now or later, is kept, or is the stale one, which is in here or was registered
        // before it was kept.
        let mut live = unsafe { LiveTimestamps::as_of(timestamps, next) };
        if let Some(kept) = &state.kept {
            live = live.and_all_from(kept.oldest());
        }
        (live, released)
    }

    /// The state of the snapshots, by which a thread decides whether to reclaim. Counts only
    /// readers in the registry. O(1).
    #[inline]
    pub fn pending_reclaim(&self) -> PendingReclaim {
        let open_timestamps = self.open.load(Ordering::Relaxed);
        PendingReclaim { releases: self.releases(), open_timestamps }
    }

    /// Number of events after which something may have become reclaimable.
    #[inline]
    fn releases(&self) -> u64 {
        self.released.load(Ordering::Acquire) + self.filed_late.load(Ordering::Acquire)
    }

    /// Returns true if no timestamp has a reader. O(1).
    #[inline]
    pub fn is_unread(&self) -> bool {
        self.open.load(Ordering::Relaxed) == 0 && self.reader_slots.read_below() == CommitTimestamp::ZERO
    }

    /// A lower bound on the timestamps at which the open and all future interactive transactions
    /// begin. O(1).
    pub fn oldest_interactive(&self) -> CommitTimestamp {
        let mut state = self.state.lock();
        let next = self.openable_head(&mut state).at;
        state.interactive.oldest().unwrap_or(next)
    }

    /// The timestamps that have readers, ascending.
    pub fn open_timestamps(&self) -> Vec<OpenTimestamp> {
        let state = self.state.lock();
        let registered = state.registry.live().map(|entry| (entry.at, entry.handles, entry.since));
        let in_slots = self.reader_slots.taken_since().map(|(at, since)| (at, 1, since));
        let mut open = BTreeMap::new();
        for (at, handles, since) in registered.chain(in_slots) {
            let entry = open.entry(at).or_insert(OpenTimestamp { at, handles: 0, since });
            entry.handles += handles;
            entry.since = entry.since.min(since);
        }
        open.into_values().collect()
    }
}

impl NewestState for Sequencer {
    fn newest_counts(&self) -> Counts {
        self.newest().1
    }

    fn editable_now(&self) -> CommitTimestamp {
        // With history, every state may be read.
        if self.keeps_history() {
            return CommitTimestamp(u64::MAX);
        }
        CommitTimestamp(self.registered_below.load(Ordering::Relaxed)).max(self.reader_slots.read_below())
    }
}
