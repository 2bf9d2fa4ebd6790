//! A graph comes back from a store, while nobody else sees it.

use super::{Sequencer, State};
use crate::clock::Now;
use crate::commit::CountChanges;
use crate::commit_log::CommitLog;
use crate::history::KeptStates;
use hedgerow_model::token::Stamp;
use hedgerow_model::{Counts, LabelId, Timestamp};
use hedgerow_sync::Arc;

impl Sequencer {
    /// A stamp for what was committed at `at`, and counts what it changes. There may be several of one timestamp, for parts of a state.
    ///
    /// # Panics
    /// If somebody reads the graph, or commits are logged.
    pub fn stamp_again(&self, at: Timestamp, counts: CountChanges<'_>) -> Stamp {
        let mut state = self.state.lock();
        self.check_private(&state, at);
        state.count(at, counts);
        self.published_head.show_changes(&state.head, counts);
        // SAFETY: the largest so far, nothing is registered, and nothing will be before the graph has come back.
        unsafe { Stamp::new(at, Timestamp::ZERO) }
    }

    /// How large the graph is that an engine has found in its own files, up to the commit at `at`.
    ///
    /// # Panics
    /// As [`Sequencer::stamp_again`].
    pub fn restore_counts(&self, at: Timestamp, counts: Counts) {
        let mut state = self.state.lock();
        self.check_private(&state, at);
        (state.head.at, state.head.counts) = (at, counts);
        // The catalog checked that its labels can be numbered.
        let labels = (0..state.head.counts.edges.len() as u16).map(LabelId);
        self.published_head.show(&state.head, labels);
    }

    /// The graph has come back, as of `at`.
    ///
    /// # Panics
    /// As [`Sequencer::stamp_again`], or something behind `at` has come back.
    pub fn restore(&self, at: Timestamp, wall_clock: u64, input: Option<Arc<[u8]>>) {
        let mut state = self.state.lock();
        self.check_private(&state, at);
        (state.head.at, state.head.wall_clock, state.head.input) = (at, wall_clock, input);
        self.published_head.show(&state.head, std::iter::empty());
        self.applied.restore(at);
    }

    fn check_private(&self, state: &State, at: Timestamp) {
        let is_private =
            self.reader_slots.taken().next().is_none() && state.registry.len() == 0 && self.log.is_none();
        assert!(is_private && at >= state.head.at, "only a graph that nobody sees comes back");
    }

    /// The graph is that of a store. Its commits are logged from now on, unless it is only read, which is `None`.
    pub fn attach(&mut self, log: Option<CommitLog>) {
        self.log = log;
        self.begin_history();
    }

    /// Past states are kept from the newest one on, if the graph keeps any.
    pub(super) fn begin_history(&mut self) {
        let now = if self.keeps_history() { self.clock.now() } else { Now::default() };
        let state = self.state.get_mut();
        state.head.wall_clock = state.head.wall_clock.max(now.wall);
        state.kept = KeptStates::new(self.history, &state.head, now.monotonic);
    }
}
