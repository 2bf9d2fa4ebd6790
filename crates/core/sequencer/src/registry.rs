//! The registry of timestamps with readers: a queue with reader counts.

use hedgerow_model::CommitTimestamp;
use std::collections::VecDeque;
use std::time::Instant;

/// The timestamps that have readers, ascending.
///
/// Only the newest timestamp is registered here ([`Registry::register_past`] is the exception), so
/// both ends are found in O(1) and registration costs O(1). Entries in the middle that lose their
/// last reader stay behind, empty, until they outnumber the others.
#[derive(Debug, Default)]
pub(crate) struct Registry {
    entries: VecDeque<RegistryEntry>,
    live: usize,
    handles: usize,
}

/// One timestamp and its readers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RegistryEntry {
    pub(crate) at: CommitTimestamp,
    /// Number of handles that read the timestamp.
    pub(crate) handles: usize,
    /// The time of the timestamp's first registration.
    pub(crate) since: Instant,
}

/// Number of empty entries that are tolerated regardless of the number of live entries.
const TOLERATED_EMPTY: usize = 32;

impl Registry {
    /// Registers a reader of `at`, the newest timestamp so far, as of now. O(1).
    pub(crate) fn register(&mut self, at: CommitTimestamp, now: Instant) {
        self.handles += 1;
        match self.entries.back_mut() {
            Some(newest) if newest.at == at => {
                self.live += usize::from(newest.handles == 0);
                newest.handles += 1;
            }
            newest => {
                debug_assert!(newest.is_none_or(|newest| newest.at < at));
                self.entries.push_back(RegistryEntry { at, handles: 1, since: now });
                self.live += 1;
            }
        }
    }

    /// Registers a reader of any timestamp, as of now. O(log n) if the timestamp is registered
    /// already, else O(n).
    pub(crate) fn register_past(&mut self, at: CommitTimestamp, now: Instant) {
        let position = self.entries.partition_point(|entry| entry.at < at);
        if self.entries.get(position).is_none_or(|entry| entry.at != at) {
            self.entries.insert(position, RegistryEntry { at, handles: 0, since: now });
        }
        self.handles += 1;
        let entry = &mut self.entries[position];
        self.live += usize::from(entry.handles == 0);
        entry.handles += 1;
    }

    /// Releases a reader of `at`. Returns true if it was the last one. Amortized O(log n).
    pub(crate) fn release(&mut self, at: CommitTimestamp) -> bool {
        self.handles -= 1;
        let entry = self.entry(at);
        entry.handles -= 1;
        let was_last = entry.handles == 0;
        if was_last {
            self.live -= 1;
            self.drop_empty();
        }
        was_last
    }

    /// The oldest timestamp with a reader. O(1).
    pub(crate) fn oldest(&self) -> Option<CommitTimestamp> {
        self.entries.front().map(|entry| entry.at)
    }

    /// The newest timestamp with a reader. O(1).
    pub(crate) fn newest(&self) -> Option<CommitTimestamp> {
        self.entries.back().map(|entry| entry.at)
    }

    /// The entries that have readers, ascending.
    pub(crate) fn live(&self) -> impl Iterator<Item = &RegistryEntry> {
        self.entries.iter().filter(|entry| entry.handles > 0)
    }

    /// Number of readers. O(1).
    pub(crate) fn handles(&self) -> usize {
        self.handles
    }

    /// Number of timestamps with readers. O(1).
    pub(crate) fn len(&self) -> usize {
        self.live
    }

    fn entry(&mut self, at: CommitTimestamp) -> &mut RegistryEntry {
        let position = self.entries.partition_point(|entry| entry.at < at);
        let entry = &mut self.entries[position];
        debug_assert!(entry.at == at && entry.handles > 0, "{at} is not registered");
        entry
    }

    /// Drops empty entries. Both ends stay live, so that `oldest` and `newest` are right.
    fn drop_empty(&mut self) {
        while self.entries.front().is_some_and(|entry| entry.handles == 0) {
            self.entries.pop_front();
        }
        while self.entries.back().is_some_and(|entry| entry.handles == 0) {
            self.entries.pop_back();
        }
        if self.entries.len() > 2 * self.live + TOLERATED_EMPTY {
            self.entries.retain(|entry| entry.handles > 0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    #[test]
    fn entries_released_in_the_middle_do_not_pile_up() {
        let mut registry = Registry::default();
        registry.register(CommitTimestamp(1), Instant::now());
        for at in (2..100_000).map(CommitTimestamp) {
            registry.register(at, Instant::now());
            registry.register(at.next(), Instant::now());
            registry.release(at);
            registry.release(at.next());
        }
        assert_eq!(registry.oldest(), Some(CommitTimestamp(1)));
        assert!(registry.entries.len() <= 2 * registry.len() + TOLERATED_EMPTY);
    }

    proptest! {
        #[test]
        fn behaves_like_a_multiset(steps in prop::collection::vec((0..3u8, 0..50u64), 0..200)) {
            let mut registry = Registry::default();
            let mut model: BTreeMap<CommitTimestamp, usize> = BTreeMap::new();
            let mut clock = 0;
            for (step, number) in steps {
                if step < 2 {
                    clock += number % 3;
                    registry.register(CommitTimestamp(clock), Instant::now());
                    *model.entry(CommitTimestamp(clock)).or_default() += 1;
                } else if !model.is_empty() {
                    let at = *model.keys().nth(number as usize % model.len()).unwrap();
                    let handles = model.get_mut(&at).unwrap();
                    *handles -= 1;
                    let last = *handles == 0;
                    if last {
                        model.remove(&at);
                    }
                    prop_assert_eq!(registry.release(at), last);
                }
                prop_assert_eq!(registry.oldest(), model.keys().next().copied());
                prop_assert_eq!(registry.newest(), model.keys().last().copied());
                prop_assert_eq!(registry.len(), model.len());
                prop_assert_eq!(registry.handles(), model.values().sum::<usize>());
                let live: Vec<_> = registry.live().map(|entry| (entry.at, entry.handles)).collect();
                prop_assert_eq!(live, model.clone().into_iter().collect::<Vec<_>>());
            }
        }
    }
}
