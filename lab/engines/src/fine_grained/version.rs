//! Versions of one edge or one vertex.
//!
//! The newest version lies in the edge's entry or the vertex itself, followed by a chain of the
//! older ones, newest first. Births strictly descend along a chain.

use hedgerow_in_memory::reclamation::account;
use hedgerow_model::CommitTimestamp;

/// The highest bit of a [`Begin`].
const DELETION: u64 = 1 << 63;

/// The beginning of a version; the highest bit marks a deletion ("Revisiting the Design of
/// In-Memory Dynamic Graph Storage", section 4.2, "Space").
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Begin(u64);

impl Begin {
    /// The deletion before everything, of an object that never existed.
    pub(super) const NEVER: Begin = Begin(DELETION);

    /// Later than every stamp: a reader at this timestamp sees the newest versions.
    pub(super) const END_OF_TIME: CommitTimestamp = CommitTimestamp(DELETION - 1);

    /// Creates the beginning of a state or a deletion at `at`.
    #[inline]
    pub(super) fn new(at: CommitTimestamp, exists: bool) -> Self {
        debug_assert!(at <= Begin::END_OF_TIME);
        if exists { Begin(at.0) } else { Begin(at.0 | DELETION) }
    }

    /// Returns the timestamp.
    #[inline]
    pub(super) fn at(self) -> CommitTimestamp {
        CommitTimestamp(self.0 & !DELETION)
    }

    /// Returns true if this is a state and not a deletion.
    #[inline]
    pub(super) fn exists(self) -> bool {
        self.0 & DELETION == 0
    }

    /// Returns true if this is a state that began at or before `at`. A scan makes only this one
    /// comparison per neighbor, because a deletion is larger than every timestamp.
    #[inline]
    pub(super) fn shows_at(self, at: CommitTimestamp) -> bool {
        self.0 <= at.0
    }
}

/// The older versions of an edge or a vertex, newest first.
#[derive(Debug)]
pub(super) struct History<S>(Option<Box<Version<S>>>);

/// A superseded version.
#[derive(Debug)]
pub(super) struct Version<S> {
    begin: Begin,
    state: S,
    older: History<S>,
}

impl<S> Default for History<S> {
    fn default() -> Self {
        History::NONE
    }
}

impl<S> History<S> {
    pub(super) const NONE: Self = History(None);

    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    /// Adds a version that is newer than all others. O(1).
    pub(super) fn push(&mut self, begin: Begin, state: S) {
        debug_assert!(self.0.as_ref().is_none_or(|newest| newest.begin.at() < begin.at()));
        let older = std::mem::take(self);
        self.0 = Some(Box::new(Version { begin, state, older }));
    }

    /// Returns the state at `at`; `None` if it was deleted then or had not begun. O(versions newer
    /// than `at`).
    pub(super) fn at(&self, at: CommitTimestamp) -> Option<&S> {
        let version = self.iter().find(|version| version.begin.at() <= at)?;
        version.begin.exists().then_some(&version.state)
    }

    /// Returns the state of the version born at `born`.
    pub(super) fn born_at(&self, born: CommitTimestamp) -> Option<&S> {
        self.iter().find(|version| version.begin.at() == born).map(|version| &version.state)
    }

    /// Removes the versions with these births, which descend, and returns their states, newest
    /// first. O(versions newer than the last), however many are removed.
    pub(super) fn remove(&mut self, births: impl Iterator<Item = CommitTimestamp>) -> Vec<S> {
        let (mut link, mut removed) = (self, Vec::new());
        for born in births {
            while link.0.as_ref().is_some_and(|version| version.begin.at() > born) {
                account::compared();
                link = &mut link.0.as_mut().expect("just seen").older;
            }
            if let Some(version) = link.0.take_if(|version| version.begin.at() == born) {
                let version = *version;
                *link = version.older;
                removed.push(version.state);
            }
        }
        removed
    }

    /// Returns the states of all versions, newest first.
    pub(super) fn states(&self) -> impl Iterator<Item = &S> {
        self.iter().map(|version| &version.state)
    }

    fn iter(&self) -> impl Iterator<Item = &Version<S>> {
        std::iter::successors(self.0.as_deref(), |version| version.older.0.as_deref())
    }
}

impl<S> Drop for History<S> {
    /// Drops iteratively: a chain may be longer than the stack allows recursion.
    fn drop(&mut self) {
        let mut next = self.0.take();
        while let Some(mut version) = next {
            next = version.older.0.take();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a history of a state at 2, a deletion at 4 and a state at 6.
    fn history() -> History<char> {
        let mut history = History::default();
        for (at, exists, state) in [(2, true, 'a'), (4, false, 'b'), (6, true, 'c')] {
            history.push(Begin::new(CommitTimestamp(at), exists), state);
        }
        history
    }

    fn read(history: &History<char>) -> [Option<char>; 7] {
        [1, 2, 3, 4, 5, 6, 7].map(|at| history.at(CommitTimestamp(at)).copied())
    }

    #[test]
    fn each_timestamp_reads_its_own_version() {
        let (a, c) = (Some('a'), Some('c'));
        assert_eq!(read(&history()), [None, a, a, None, None, c, c]);
        assert!(history().born_at(CommitTimestamp(3)).is_none());
        assert_eq!(history().born_at(CommitTimestamp(4)), Some(&'b'));
    }

    #[test]
    fn versions_can_be_removed_anywhere() {
        let (a, c) = (Some('a'), Some('c'));
        let mut history = history();
        let mut remove = |births: &[u64]| history.remove(births.iter().copied().map(CommitTimestamp));
        assert_eq!(remove(&[5]), []);
        assert_eq!(remove(&[4]), ['b']);
        assert_eq!(read(&history), [None, a, a, a, a, c, c]);
        assert_eq!(history.remove([6, 5, 2].into_iter().map(CommitTimestamp)), ['c', 'a']);
        assert!(history.is_empty());
        assert_eq!(history.remove([6].into_iter().map(CommitTimestamp)), []);
    }

    #[test]
    fn many_versions_are_removed_in_one_walk() {
        let mut history = History::default();
        (1..=1000).for_each(|at| history.push(Begin::new(CommitTimestamp(at), true), at));
        let births = (1..=1000).rev().filter(|born| born % 10 != 0).map(CommitTimestamp);
        let (removed, compared) = account::measure_compared(|| history.remove(births));
        assert_eq!((removed.len(), history.states().count()), (900, 100));
        assert!(compared <= 1000, "{compared}");
    }

    #[test]
    fn deletions_are_never_visible() {
        let (state, deletion) = (Begin::new(CommitTimestamp(3), true), Begin::new(CommitTimestamp(3), false));
        assert!(state.shows_at(CommitTimestamp(3)) && !state.shows_at(CommitTimestamp(2)));
        assert!(!deletion.shows_at(Begin::END_OF_TIME) && !Begin::NEVER.shows_at(Begin::END_OF_TIME));
        assert_eq!((deletion.at(), deletion.exists()), (CommitTimestamp(3), false));
    }

    #[test]
    fn a_long_chain_is_dropped_without_recursion() {
        let mut history = History::default();
        (1..1_000_000).for_each(|at| history.push(Begin::new(CommitTimestamp(at), true), at));
        drop(history);
    }
}
