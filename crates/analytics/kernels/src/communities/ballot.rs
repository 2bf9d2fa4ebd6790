//! The most frequent of some labels.

/// Initial slots; enough for most vertices, and for the few labels around a hub after some
/// iterations.
const SLOTS: usize = 64;
/// Up to this number of votes, all pairs are compared.
const FEW_VOTES: usize = 8;

/// Counts labels in a small hash table with linear probing, which grows with the number of distinct
/// labels.
pub(super) struct Ballot {
    /// The number of slots is a power of two; at least half of them are free.
    slots: Vec<LabelVotes>,
}

/// A label and its number of votes; a slot with 0 votes is free.
#[derive(Clone, Copy, Default)]
struct LabelVotes {
    label: u32,
    votes: u32,
}

/// The label with the most votes, the smallest of equally frequent ones.
#[derive(Clone, Copy, Default)]
struct Leader(LabelVotes);

impl Leader {
    #[inline]
    fn stand(&mut self, label: u32, votes: u32) {
        if votes > self.0.votes || (votes == self.0.votes && label < self.0.label) {
            self.0 = LabelVotes { label, votes };
        }
    }
}

impl Ballot {
    pub(super) fn new() -> Self {
        Ballot { slots: Vec::new() }
    }

    /// Returns the most frequent label, the smallest of equally frequent ones; `None` if there are
    /// no labels. O(labels).
    #[inline]
    pub(super) fn elect(&mut self, votes: impl Iterator<Item = u32>) -> Option<u32> {
        let mut votes = votes;
        let (mut first, mut count) = ([0; FEW_VOTES], 0);
        for label in votes.by_ref().take(FEW_VOTES) {
            first[count] = label;
            count += 1;
        }
        let leader = match votes.next() {
            None => compare(&first[..count]),
            Some(more) => self.count(first.into_iter().chain([more]).chain(votes)),
        };
        (leader.0.votes > 0).then_some(leader.0.label)
    }

    fn count(&mut self, votes: impl Iterator<Item = u32>) -> Leader {
        self.slots.clear();
        self.slots.resize(SLOTS, LabelVotes::default());
        let (mut leader, mut different) = (Leader::default(), 0);
        for label in votes {
            let slot = self.slot(label);
            slot.votes += 1;
            let (votes, is_new) = (slot.votes, slot.votes == 1);
            leader.stand(label, votes);
            different += usize::from(is_new);
            if is_new && 2 * different > self.slots.len() {
                self.grow();
            }
        }
        leader
    }

    /// The slot of a label, inserting it if necessary.
    #[inline]
    fn slot(&mut self, label: u32) -> &mut LabelVotes {
        let last = self.slots.len() - 1;
        let shift = u32::BITS - self.slots.len().ilog2();
        // The high bits of a product spread labels that are close to each other (Knuth).
        let mut position = (label.wrapping_mul(0x9E37_79B1) >> shift) as usize;
        while self.slots[position].votes > 0 && self.slots[position].label != label {
            position = (position + 1) & last;
        }
        let slot = &mut self.slots[position];
        slot.label = label;
        slot
    }

    #[cold]
    fn grow(&mut self) {
        let larger = vec![LabelVotes::default(); 4 * self.slots.len()];
        for LabelVotes { label, votes } in std::mem::replace(&mut self.slots, larger) {
            if votes > 0 {
                self.slot(label).votes = votes;
            }
        }
    }
}

/// Finds the leader by comparing all pairs: O(labels^2), without a table to clear.
#[inline]
fn compare(labels: &[u32]) -> Leader {
    let mut leader = Leader::default();
    for label in labels {
        leader.stand(*label, labels.iter().filter(|other| *other == label).count() as u32);
    }
    leader
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::cmp::Reverse;
    use std::collections::BTreeMap;

    proptest! {
        #[test]
        fn the_most_frequent_wins_and_of_several_the_smallest(
            rounds in prop::collection::vec((1..2000_u32, prop::collection::vec(any::<u32>(), 0..1500)), 1..5),
        ) {
            let mut ballot = Ballot::new();
            for (different, votes) in rounds {
                for votes in [&votes[..], &votes[..votes.len().min(9)]] {
                    // Both small and large labels.
                    let votes: Vec<u32> =
                        votes.iter().map(|vote| (vote % different).wrapping_mul(2_147_483_649)).collect();
                    let mut counts = BTreeMap::new();
                    votes.iter().for_each(|vote| *counts.entry(*vote).or_insert(0) += 1);
                    let expected = counts.into_iter().max_by_key(|(label, count)| (*count, Reverse(*label)));
                    prop_assert_eq!(ballot.elect(votes.into_iter()), expected.map(|(label, _)| label));
                }
            }
        }
    }
}
