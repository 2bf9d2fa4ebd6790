//! Opens and closes snapshots: registers and releases timestamps for readers.

use crate::error::SequencerError;
use crate::heads::Head;
use crate::history::AsOf;
use crate::reader_slots::ReaderSlot;
use crate::sequencer::Sequencer;
use hedgerow_model::token::Registered;
use hedgerow_model::{CommitTimestamp, Counts};
use hedgerow_sync::Arc;
use hedgerow_sync::atomic::Ordering;
use std::ops::Deref;
use std::time::Instant;

/// The kind of a reader.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReaderKind {
    /// A snapshot.
    Snapshot,
    /// A transaction whose commit checks for conflicts since its timestamp.
    Interactive,
}

/// A pointer to the sequencer.
pub trait Registrar: Deref<Target = Sequencer> {
    /// Called after a registration has been released.
    fn released(&self) {}
}

impl Registrar for &Sequencer {}

impl Registrar for Arc<Sequencer> {}

/// A registered timestamp, released on drop.
#[derive(Debug)]
pub struct Registration<P: Registrar> {
    token: Registered,
    opened: Instant,
    /// The pointer to the sequencer.
    sequencer: P,
    place: RegisteredIn,
}

/// The place where a timestamp is registered.
#[derive(Clone, Copy, Debug)]
enum RegisteredIn {
    ReaderSlot(ReaderSlot),
    /// In the registries, under the mutex.
    Registry(ReaderKind),
}

impl<P: Registrar> Registration<P> {
    /// The proof for engines that the timestamp can be read.
    pub fn token(&self) -> &Registered {
        &self.token
    }

    /// The time of registration. For the [stale](Sequencer::open_stale) state, the time at which it
    /// was registered before it was kept.
    pub fn opened(&self) -> Instant {
        self.opened
    }

    /// The pointer to the sequencer.
    pub fn by(&self) -> &P {
        &self.sequencer
    }
}

impl<P: Registrar> Drop for Registration<P> {
    fn drop(&mut self) {
        self.sequencer.release(self.token.at(), self.place);
        self.sequencer.released();
    }
}

impl Sequencer {
    /// Registers the newest timestamp that a snapshot may open, and waits until everything up to it
    /// is applied. The registration keeps the pointer `by`.
    ///
    /// A snapshot takes no lock unless a commit is taking a stamp, the newest stamp is not durable
    /// yet in a synced graph, or the thread finds no free slot. O(1), plus the wait for commits
    /// that have their stamp and are not applied yet.
    pub fn open<P: Registrar>(by: P, reader: ReaderKind) -> Result<Registration<P>, SequencerError> {
        let now = Instant::now();
        if reader == ReaderKind::Snapshot
            && let Some((slot, at, counts)) = by.take_slot(now)
        {
            return Self::registered(by, (at, now), counts, RegisteredIn::ReaderSlot(slot));
        }
        Self::open_and_see(by, reader, |_| ()).map(|(registration, ())| registration)
    }

    /// Returns the newest timestamp that a snapshot would show, and waits until everything up to it
    /// is applied; registers no reader. O(labels), plus the wait as in [`Sequencer::open`].
    pub fn readable(&self) -> Result<CommitTimestamp, SequencerError> {
        let published = self.published_head.read().map(|(at, _)| at).filter(|at| self.is_openable(*at));
        let at = published.unwrap_or_else(|| self.openable_head(&mut self.state.lock()).at);
        if self.applied.wait_up_to(at) { Ok(at) } else { Err(SequencerError::Poisoned) }
    }

    /// Like [`Sequencer::open`], but also calls `see` with the head at the timestamp, under the
    /// mutex.
    pub fn open_and_see<P: Registrar, T>(
        by: P,
        reader: ReaderKind,
        see: impl FnOnce(&Head) -> T,
    ) -> Result<(Registration<P>, T), SequencerError> {
        let now = Instant::now();
        let mut state = by.state.lock();
        let head = by.openable_head(&mut state);
        let (at, counts, seen) = (head.at, head.counts.clone(), see(head));
        state.registry.register(at, now);
        if reader == ReaderKind::Interactive {
            state.interactive.register(at, now);
        }
        by.note_open(&state);
        drop(state);
        Ok((Self::registered(by, (at, now), counts, RegisteredIn::Registry(reader))?, seen))
    }

    /// Registers a kept past state. O(log states), plus the wait as in [`Sequencer::open`].
    pub fn open_past<P: Registrar>(by: P, as_of: AsOf) -> Result<Registration<P>, SequencerError> {
        let (now, asked_at) = (Instant::now(), by.clock.now());
        let mut state = by.state.lock();
        let newest = by.openable_head(&mut state).at;
        let kept = state.kept.as_ref().ok_or(SequencerError::NoHistory)?;
        let (at, counts) = kept.find(as_of, newest, asked_at)?;
        // So far the timestamp was live because its state is kept.
        state.registry.register_past(at, now);
        by.note_open(&state);
        drop(state);
        Self::registered(by, (at, now), counts, RegisteredIn::Registry(ReaderKind::Snapshot))
    }

    /// Completes the registration of a past timestamp, which the caller has put into the registry
    /// and which was the newest at `since`.
    pub(crate) fn registered_past<P: Registrar>(
        by: P,
        (at, since): (CommitTimestamp, Instant),
        counts: Counts,
    ) -> Result<Registration<P>, SequencerError> {
        Self::registered(by, (at, since), counts, RegisteredIn::Registry(ReaderKind::Snapshot))
    }

    /// Tries to register the newest stamp without a lock. Returns the slot, the stamp and the
    /// counts there.
    #[inline]
    fn take_slot(&self, now: Instant) -> Option<(ReaderSlot, CommitTimestamp, Counts)> {
        let (at, counts) = self.published_head.read()?;
        if !self.is_openable(at) {
            return None;
        }
        let slot = self.reader_slots.take(at, now)?;
        if self.published_head.is_still(at) {
            // A commit that takes a stamp from now on sees the slot. `at` was the newest stamp
            // during the check, so nothing later was durable, and `at` is no stamp within a batch:
            // a commit hides the head before it is in the log.
            return Some((slot, at, counts));
        }
        self.release(at, RegisteredIn::ReaderSlot(slot));
        None
    }

    /// Waits until everything up to the registered timestamp `at` is applied. `counts` are the
    /// counts at `at`.
    fn registered<P: Registrar>(
        by: P,
        (at, opened): (CommitTimestamp, Instant),
        counts: Counts,
        place: RegisteredIn,
    ) -> Result<Registration<P>, SequencerError> {
        if !by.applied.wait_up_to(at) {
            by.release(at, place);
            return Err(SequencerError::Poisoned);
        }
        // SAFETY: registered by the caller until the registration is dropped; applied up to `at`;
        // `counts` are the counts at `at`.
        let token = unsafe { Registered::new(at, counts) };
        Ok(Registration { token, opened, sequencer: by, place })
    }

    #[inline]
    fn release(&self, at: CommitTimestamp, place: RegisteredIn) {
        let may_free = match place {
            RegisteredIn::ReaderSlot(slot) => self.leave_slot(at, slot),
            RegisteredIn::Registry(reader) => self.deregister(at, reader),
        };
        if may_free && let Some(wakeup) = &self.wakeup {
            wakeup.wake();
        }
    }

    /// Leaves the slot of a reader of `at`. Returns true if versions may have been kept for `at`.
    #[inline]
    fn leave_slot(&self, at: CommitTimestamp, slot: ReaderSlot) -> bool {
        self.reader_slots.leave(slot);
        // A commit that saw the slot when it took its stamp had hidden `at` before.
        let may_free = !self.published_head.is_still(at);
        if may_free {
            // A thread that sees this count finds the slot empty.
            self.released.fetch_add(1, Ordering::Release);
        }
        may_free
    }

    /// Removes a reader of `at` from the registry. Returns true if it was the last one there.
    fn deregister(&self, at: CommitTimestamp, reader: ReaderKind) -> bool {
        let mut state = self.state.lock();
        let is_last = state.registry.release(at);
        if is_last {
            self.released.fetch_add(1, Ordering::Relaxed);
        }
        if reader == ReaderKind::Interactive {
            state.interactive.release(at);
        }
        self.note_open(&state);
        is_last
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::Clock;
    use crate::commit::{CountChanges, WriterKind};
    use crate::history::History;
    use hedgerow_model::token::{LiveTimestamps, NewestState, Stamp};
    use hedgerow_model::{EdgeOutcome, LabelId};
    use hedgerow_sync::Mutex;
    use std::collections::VecDeque;

    fn commit(sequencer: &Sequencer) -> CommitTimestamp {
        let stamp = sequencer
            .stamp(1, &[], CountChanges::default(), WriterKind::Blind)
            .unwrap()
            .unwrap()
            .stamps
            .first();
        sequencer.applied(stamp.into(), 0);
        stamp.at()
    }

    fn open(sequencer: &Sequencer, reader: ReaderKind) -> Registration<&Sequencer> {
        Sequencer::open(sequencer, reader).unwrap()
    }

    #[test]
    fn snapshots_are_listed_wherever_they_are_registered() {
        let sequencer = Sequencer::default();
        let listed = || {
            let open = sequencer.open_timestamps();
            open.iter().map(|open| (open.at.0, open.handles)).collect::<Vec<_>>()
        };
        commit(&sequencer);
        let many: Vec<_> = (0..100).map(|_| open(&sequencer, ReaderKind::Snapshot)).collect();
        let transaction = open(&sequencer, ReaderKind::Interactive);
        commit(&sequencer);
        let newest = open(&sequencer, ReaderKind::Interactive);
        assert_eq!(listed(), [(1, 101), (2, 1)]);
        drop(many);
        assert_eq!(listed(), [(1, 1), (2, 1)]);
        drop((newest, transaction));
        assert_eq!(listed(), []);
    }

    #[test]
    fn a_commit_sees_readers_in_slots() {
        let sequencer = Sequencer::default();
        commit(&sequencer);
        assert_eq!(sequencer.editable_now(), CommitTimestamp::ZERO);
        let snapshot = open(&sequencer, ReaderKind::Snapshot);
        assert!(matches!(snapshot.place, RegisteredIn::ReaderSlot(_)));
        let stamp = sequencer
            .stamp(1, &[], CountChanges::default(), WriterKind::Blind)
            .unwrap()
            .unwrap()
            .stamps
            .first();
        assert_eq!([stamp.editable_from(), sequencer.editable_now()], [CommitTimestamp(2); 2]);
        let (live, _) = sequencer.live();
        assert!(live.contains(CommitTimestamp(1)) && !live.contains(CommitTimestamp(2)));
    }

    #[test]
    fn snapshots_take_slots_however_many_commits_found_no_reader() {
        let sequencer = Sequencer::new(2, History::None, Clock::Still, None);
        let edges = [EdgeOutcome { label: LabelId(1), added: 1, removed: 0 }];
        for commits in 1..200 {
            let changes = CountChanges { edges: &edges, ..CountChanges::default() };
            let stamp = sequencer.stamp(1, &[], changes, WriterKind::Blind).unwrap().unwrap().stamps.first();
            sequencer.applied(stamp.into(), 0);
            if commits % 70 == 0 {
                let snapshot = open(&sequencer, ReaderKind::Snapshot);
                assert!(matches!(snapshot.place, RegisteredIn::ReaderSlot(_)));
                assert_eq!(snapshot.token().counts().edges_of(LabelId(1)), commits);
            }
        }
    }

    #[test]
    fn concurrent_commits_and_readers_see_each_other() {
        const COMMITS: usize = if cfg!(miri) { 60 } else { 100_000 };
        let (sequencer, stamps) = (Sequencer::default(), Mutex::new(Vec::new()));
        let read = || {
            while stamps.lock().len() < COMMITS {
                let snapshot = open(&sequencer, ReaderKind::Snapshot);
                let at = snapshot.token().at();
                std::thread::yield_now();
                // Stamps above `at` were taken since the snapshot was opened, and it is still open.
                let stamps = stamps.lock();
                let mut later = stamps.iter().rev().take_while(|stamp: &&Stamp| stamp.at() > at);
                assert!(later.all(|stamp| stamp.editable_from() > at), "edits what {at} reads");
            }
        };
        std::thread::scope(|scope| {
            (0..2).for_each(|_| drop(scope.spawn(read)));
            for _ in 0..COMMITS {
                let stamp = sequencer
                    .stamp(1, &[], CountChanges::default(), WriterKind::Blind)
                    .unwrap()
                    .unwrap()
                    .stamps
                    .first();
                sequencer.applied(stamp.into(), 0);
                stamps.lock().push(stamp);
            }
        });
        assert!(sequencer.open_timestamps().is_empty());
    }

    #[test]
    fn a_release_after_a_reclamation_began_is_counted_again() {
        const ROUNDS: usize = if cfg!(miri) { 20 } else { 300_000 };
        let (sequencer, looks) = (Sequencer::default(), Mutex::new(VecDeque::new()));
        let read = || {
            for _ in 0..ROUNDS {
                let snapshot = open(&sequencer, ReaderKind::Snapshot);
                let at = snapshot.token().at();
                commit(&sequencer);
                drop(snapshot);
                let releases = sequencer.pending_reclaim().releases;
                let is_missed = |(live, seen): &(LiveTimestamps, u64)| live.contains(at) && *seen >= releases;
                assert!(!looks.lock().iter().any(is_missed), "what was kept for {at} leaks");
            }
        };
        std::thread::scope(|scope| {
            let reader = scope.spawn(read);
            while !reader.is_finished() {
                let mut looks = looks.lock();
                looks.push_back(sequencer.live());
                if looks.len() > 4 {
                    looks.pop_front();
                }
            }
        });
    }

    #[test]
    fn a_release_is_counted_if_a_commit_may_have_kept_something_for_it() {
        let sequencer = Sequencer::default();
        let releases = || sequencer.pending_reclaim().releases;
        commit(&sequencer);
        drop(open(&sequencer, ReaderKind::Snapshot));
        assert_eq!(releases(), 0);
        let snapshot = open(&sequencer, ReaderKind::Snapshot);
        commit(&sequencer);
        drop(snapshot);
        assert_eq!(releases(), 1);
    }
}
