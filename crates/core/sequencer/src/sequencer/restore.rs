//! Restoring a graph from a store, before it is shared.

use super::{Sequencer, SequencerState};
use crate::clock::Now;
use crate::commit::CountChanges;
use crate::commit_log::CommitLog;
use crate::history::KeptStates;
use hedgerow_model::token::Stamps;
use hedgerow_model::{CommitTimestamp, Counts, LabelId};
use hedgerow_sync::Arc;

impl Sequencer {
    /// Returns a stamp for changes that were committed at `at`, and adds them to the counts. Parts
    /// of one state may each take a stamp at the same timestamp.
    ///
    /// # Panics
    /// If the graph has readers, or a log is attached.
    pub fn stamp_again(&self, at: CommitTimestamp, counts: CountChanges<'_>) -> Stamps {
        let mut state = self.state.lock();
        self.check_private(&state, at);
        state.count(at, counts);
        self.published_head.show_changes(&state.head, counts);
        // SAFETY: the stamp is the largest so far, nothing is registered, and nothing will be
        // before the graph is restored.
        unsafe { Stamps::new(at, at, CommitTimestamp::ZERO) }
    }

    /// Sets the counts of a graph that an engine found in its own files, up to the commit at `at`.
    ///
    /// # Panics
    /// If the graph has readers, a log is attached, or something after `at` was restored.
    pub fn restore_counts(&self, at: CommitTimestamp, counts: Counts) {
        let mut state = self.state.lock();
        self.check_private(&state, at);
        (state.head.at, state.head.counts) = (at, counts);
        // The catalog checked that its labels fit in 16 bits.
        let labels = (0..state.head.counts.edges.len() as u16).map(LabelId);
        self.published_head.show(&state.head, labels);
    }

    /// Ends the restoration in the state of `at`.
    ///
    /// # Panics
    /// If the graph has readers, a log is attached, or something after `at` was restored.
    pub fn restore(&self, at: CommitTimestamp, wall_clock: u64, input: Option<Arc<[u8]>>) {
        let mut state = self.state.lock();
        self.check_private(&state, at);
        (state.head.at, state.head.wall_clock, state.head.input) = (at, wall_clock, input);
        self.published_head.show(&state.head, std::iter::empty());
        self.applied.restore(at);
    }

    fn check_private(&self, state: &SequencerState, at: CommitTimestamp) {
        let is_private =
            self.reader_slots.taken().next().is_none() && state.registry.len() == 0 && self.log.is_none();
        assert!(is_private && at >= state.head.at, "a graph must be restored before others can access it");
    }

    /// Attaches the log of the graph's store, which receives all later commits; `None` if the graph
    /// is only read.
    pub fn attach(&mut self, log: Option<CommitLog>) {
        self.log = log;
        self.begin_history();
    }

    /// Keeps past states from the newest one on, if the graph has history.
    pub(super) fn begin_history(&mut self) {
        let now = if self.keeps_history() { self.clock.now() } else { Now::default() };
        let state = self.state.get_mut();
        state.head.wall_clock = state.head.wall_clock.max(now.wall);
        state.kept = KeptStates::new(self.history, &state.head, now.monotonic);
    }
}
