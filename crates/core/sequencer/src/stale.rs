//! The stale state, kept because it is cheap to read, until a newer state replaces it.

use crate::error::SequencerError;
use crate::registration::{ReaderKind, Registrar, Registration};
use crate::sequencer::{Sequencer, StaleState};
use hedgerow_sync::atomic::Ordering;

impl Sequencer {
    /// Keeps a registered state as the [stale](Sequencer::open_stale) one, unless the kept state is
    /// at least as new. The stale state counts neither as a reader nor among the open timestamps.
    /// O(labels).
    pub fn keep_stale<P: Registrar>(&self, registration: &Registration<P>) {
        let (at, counts) = (registration.token().at(), registration.token().counts().clone());
        let mut state = self.state.lock();
        if state.stale.as_ref().is_some_and(|kept| kept.at >= at) {
            return;
        }
        let former = state.stale.replace(StaleState { at, counts, since: registration.opened() });
        if former.is_some() {
            // Versions that were kept for the former stale state may be freed.
            self.released.fetch_add(1, Ordering::Relaxed);
        }
        self.note_open(&state);
    }

    /// Registers the stale state, or the newest state if none is kept. The registration counts as
    /// opened when its state was the newest. O(log open timestamps) if the stale state is open,
    /// else O(open timestamps).
    pub fn open_stale<P: Registrar>(by: P) -> Result<Registration<P>, SequencerError> {
        let mut state = by.state.lock();
        let Some(StaleState { at, counts, since }) = &state.stale else {
            drop(state);
            return Sequencer::open(by, ReaderKind::Snapshot);
        };
        let (at, counts, since) = (*at, counts.clone(), *since);
        // So far the timestamp was live because its state is kept.
        state.registry.register_past(at, since);
        by.note_open(&state);
        drop(state);
        Sequencer::registered_past(by, (at, since), counts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commit::{CountChanges, WriterKind};
    use hedgerow_model::CommitTimestamp;

    fn commit(sequencer: &Sequencer) -> CommitTimestamp {
        let stamp = sequencer
            .stamp(1, &[], CountChanges::default(), WriterKind::Blind)
            .unwrap()
            .unwrap()
            .stamps
            .first();
        sequencer.applied(stamp.into(), 0);
        assert!(
            stamp.editable_from() > sequencer.state.lock().stale.as_ref().map_or(stamp.at(), |kept| kept.at)
        );
        stamp.at()
    }

    fn keep_newest(sequencer: &Sequencer) {
        sequencer.keep_stale(&Sequencer::open(sequencer, ReaderKind::Snapshot).unwrap());
    }

    #[test]
    fn without_one_the_newest_is_opened() {
        let sequencer = Sequencer::default();
        let at = {
            sequencer
                .stamp(1, &[], CountChanges::default(), WriterKind::Blind)
                .unwrap()
                .unwrap()
                .stamps
                .first()
        };
        sequencer.applied(at.into(), 0);
        assert_eq!(Sequencer::open_stale(&sequencer).unwrap().token().at(), at.at());
    }

    #[test]
    fn it_stays_live_until_a_newer_one_is_kept_and_is_not_read() {
        let sequencer = Sequencer::default();
        keep_newest(&sequencer);
        let first = commit(&sequencer);
        keep_newest(&sequencer);
        let second = commit(&sequencer);
        let live = |at| sequencer.live().0.contains(at);
        assert!(live(first) && sequencer.is_unread() && sequencer.open_timestamps().is_empty());
        let stale = Sequencer::open_stale(&sequencer).unwrap();
        assert_eq!(stale.token().at(), first);
        let releases = sequencer.pending_reclaim().releases;
        keep_newest(&sequencer);
        assert_eq!(sequencer.pending_reclaim().releases, releases + 1);
        commit(&sequencer);
        assert!(live(first) && live(second) && !sequencer.is_unread());
        drop(stale);
        assert!(!live(first) && live(second));
        assert_eq!(Sequencer::open_stale(&sequencer).unwrap().token().at(), second);
    }

    #[test]
    fn an_older_one_does_not_replace_it() {
        let sequencer = Sequencer::default();
        let older = Sequencer::open(&sequencer, ReaderKind::Snapshot).unwrap();
        let at = {
            sequencer
                .stamp(1, &[], CountChanges::default(), WriterKind::Blind)
                .unwrap()
                .unwrap()
                .stamps
                .first()
        };
        sequencer.applied(at.into(), 0);
        keep_newest(&sequencer);
        sequencer.keep_stale(&older);
        assert_eq!(Sequencer::open_stale(&sequencer).unwrap().token().at(), at.at());
    }
}
