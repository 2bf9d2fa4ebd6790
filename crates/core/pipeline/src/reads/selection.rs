//! Selects the newest edges of a sequence.

use super::dated::{Dated, EdgeContent, sort_newest_first};
use crate::error::Error;
use hedgerow_model::VertexId;
use std::cmp::Reverse;
use std::ops::RangeInclusive;

/// At twice the missing number plus this many candidates, all but the newest are dropped.
const SPARE: usize = 16;

/// Number of edges that are passed on together, if they come in the order of their times.
const TOGETHER: usize = 64;

/// Receives edges, newest first, in one or several calls.
pub(super) type HandOver<'h> = dyn FnMut(&[Dated<'_>]) -> Result<(), Error> + 'h;

/// The newest of the edges seen.
pub(super) struct Selection<'r> {
    /// The wanted times, as places.
    times: RangeInclusive<i64>,
    /// Number of edges that are still to be passed on.
    missing: usize,
    /// All candidates for the missing edges, unordered.
    found: Vec<Dated<'r>>,
    /// Edges up to this one are no candidates.
    oldest: Option<Dated<'r>>,
    /// Number of edges to see until checking for edges to pass on is worthwhile.
    until_ripe: usize,
}

impl<'r> Selection<'r> {
    /// Selects at most `missing` edges, of these times.
    pub fn new(missing: usize, times: RangeInclusive<i64>) -> Self {
        let found = Vec::with_capacity(missing.min(SPARE));
        Selection { times, missing, found, oldest: None, until_ripe: missing.min(TOGETHER) }
    }

    /// Returns true if the whole result was passed on.
    #[inline]
    pub(super) fn is_complete(&self) -> bool {
        self.missing == 0
    }

    /// Returns true if edges not later than `latest` can be in the result.
    #[inline]
    pub(super) fn may_want(&self, latest: i64) -> bool {
        latest >= *self.times.start() && !self.is_complete()
    }

    /// Adds an edge. Amortized O(1), or O(seen / wanted) if few are wanted.
    #[inline]
    pub(super) fn see(&mut self, time: i64, neighbor: VertexId, key: u64, beside: EdgeContent<'r>) {
        if !self.times.contains(&time) {
            return;
        }
        let dated = Dated { time, neighbor: Reverse(neighbor), key: Reverse(key), beside };
        if self.oldest.is_some_and(|oldest| dated <= oldest) {
            return;
        }
        self.found.push(dated);
        if self.found.len() >= self.missing.saturating_mul(2).saturating_add(SPARE) {
            self.drop_older();
        }
    }

    /// Passes on edges that are later than `latest`, an upper bound on all edges to come, but not
    /// always all of them. To be called after each edge. Amortized O(1).
    #[inline]
    pub fn settle(&mut self, latest: i64, hand_over: &mut HandOver<'_>) -> Result<(), Error> {
        match self.until_ripe.checked_sub(1) {
            Some(fewer) => {
                self.until_ripe = fewer;
                Ok(())
            }
            None => self.settle_ripe(latest, hand_over),
        }
    }

    /// Like [`Selection::settle`], but checks now. O(found), or O(n log n) for n edges to pass on
    /// that do not come in the order of time.
    fn settle_ripe(&mut self, latest: i64, hand_over: &mut HandOver<'_>) -> Result<(), Error> {
        let settled = self.found.iter().filter(|edge| edge.time > latest).count();
        if 2 * settled >= self.found.len() {
            sort_newest_first(&mut self.found);
            let count = settled.min(self.missing);
            hand_over(&self.found[..count])?;
            self.missing -= count;
            self.found.drain(..settled);
        }
        self.until_ripe = self.missing.min(TOGETHER).max(self.found.len());
        Ok(())
    }

    /// Passes on the rest of the result, after all edges were seen.
    pub(super) fn finish(mut self, hand_over: &mut HandOver<'_>) -> Result<(), Error> {
        self.drop_older();
        sort_newest_first(&mut self.found);
        hand_over(&self.found)
    }

    /// Keeps only the newest `missing` candidates. O(found).
    fn drop_older(&mut self) {
        let most = self.missing;
        if self.found.len() > most {
            let (_, first_older, _) = self.found.select_nth_unstable_by(most, |one, other| other.cmp(one));
            self.oldest = Some(*first_older);
            self.found.truncate(most);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Selects from edges in this order, none later than an earlier one by more than `lateness`.
    /// Returns the output, and the number of edges seen until it was complete.
    fn selected(
        edges: &[Dated<'_>],
        lateness: u64,
        most: usize,
        times: RangeInclusive<i64>,
    ) -> (Vec<u64>, usize) {
        let (mut selection, mut selected, mut seen) = (Selection::new(most, times), Vec::new(), 0);
        let mut hand_over = |edges: &[Dated<'_>]| {
            selected.extend(edges.iter().map(number));
            Ok(())
        };
        for edge in edges {
            if selection.is_complete() {
                break;
            }
            seen += 1;
            selection.see(edge.time, edge.neighbor.0, edge.key.0, edge.beside);
            selection.settle(edge.time.saturating_add_unsigned(lateness), &mut hand_over).unwrap();
        }
        selection.finish(&mut hand_over).unwrap();
        (selected, seen)
    }

    /// The value of an edge.
    fn number(edge: &Dated<'_>) -> u64 {
        match edge.beside {
            EdgeContent::Value(number) => number,
            EdgeContent::Record(_) => unreachable!("the edges of these tests have values"),
        }
    }

    fn edges(times: impl IntoIterator<Item = i64>) -> Vec<Dated<'static>> {
        let dated = |(id, time): (u32, i64)| {
            let neighbor = Reverse(VertexId::new(id * 389 % 1009));
            Dated { time, neighbor, key: Reverse(0), beside: EdgeContent::Value(id.into()) }
        };
        (0..).zip(times).map(dated).collect()
    }

    proptest! {
        #[test]
        fn the_newest_are_selected_from_any_order(
            mut times in prop::collection::vec(prop_oneof![9 => 0..300_i64, 1 => any::<i64>()], 0..400),
            is_sorted: bool,
            swapped in prop::collection::vec((0..400_usize, 1..9_usize), 0..6),
            most in prop_oneof![0..20_usize, Just(100), Just(usize::MAX)],
            from in prop_oneof![Just(i64::MIN), 0..300_i64],
            to in prop_oneof![Just(i64::MAX), 0..300_i64],
        ) {
            if is_sorted {
                times.sort_unstable_by_key(|time| Reverse(*time));
                for (at, by) in swapped {
                    if at + by < times.len() {
                        times.swap(at, at + by);
                    }
                }
            }
            let edges = edges(times.iter().copied());
            let mut lateness = 0;
            let mut earliest = i64::MAX;
            for time in times {
                lateness = if time > earliest { time.abs_diff(earliest).max(lateness) } else { lateness };
                earliest = earliest.min(time);
            }
            let mut expected = edges.clone();
            expected.retain(|edge| (from..=to).contains(&edge.time));
            expected.sort_unstable_by(|one, other| other.cmp(one));
            expected.truncate(most);
            let expected: Vec<u64> = expected.iter().map(number).collect();
            prop_assert_eq!(&selected(&edges, lateness, most, from..=to).0, &expected);
            // The result does not change if nothing is known about the order.
            prop_assert_eq!(&selected(&edges, u64::MAX, most, from..=to).0, &expected);
        }
    }

    #[test]
    fn ordered_edges_are_seen_only_as_far_as_wanted() {
        let in_order = edges((0..10_000).rev());
        for most in [0, 1, 9, 63, 64, 65, 1000] {
            let (found, seen) = selected(&in_order, 0, most, i64::MIN..=i64::MAX);
            assert_eq!(found, in_order[..most].iter().map(number).collect::<Vec<_>>());
            // One more edge shows that no other edge of an equal time follows.
            assert!(seen <= most + TOGETHER.min(most + 1), "{seen} seen of {most}");
        }
        let (found, seen) = selected(&in_order, 500, 10, i64::MIN..=i64::MAX);
        assert_eq!(found, in_order[..10].iter().map(number).collect::<Vec<_>>());
        assert!(seen < 1200, "{seen} seen");
    }
}
