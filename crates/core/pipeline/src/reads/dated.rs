//! Edges with their times, in output order.

use hedgerow_model::VertexId;
use std::cmp::Reverse;

/// An edge with its time. Of two edges, the greater is output first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Dated<'r> {
    /// The [place](super::newest::place_of) of the edge's time.
    pub(super) time: i64,
    /// Reversed, so that the lower id is greater at equal times.
    pub neighbor: Reverse<VertexId>,
    /// Reversed, so that the lower key is greater for parallel edges.
    pub key: Reverse<u64>,
    /// The value or record of the edge.
    pub(super) beside: EdgeContent<'r>,
}

/// The value or record of an edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum EdgeContent<'r> {
    /// The bits of the value.
    Value(u64),
    /// The encoded record.
    Record(&'r [u8]),
}

/// Up to this number, edges are sorted directly.
const FEW: usize = 20;

/// Sorts edges newest first. O(n log n), or O(n) if they are sorted.
pub(super) fn sort_newest_first(edges: &mut Vec<Dated<'_>>) {
    if edges.is_sorted_by(|one, other| one >= other) {
        return;
    }
    match positions_by_time(edges) {
        Some(positions) => {
            *edges = positions.into_iter().map(|position| edges[position]).collect();
            // Few edges have the same time.
            let same_time = |one: &Dated<'_>, other: &Dated<'_>| one.time == other.time;
            edges.chunk_by_mut(same_time).filter(|same| same.len() > 1).for_each(sort);
        }
        None => sort(edges),
    }
}

fn sort(edges: &mut [Dated<'_>]) {
    edges.sort_unstable_by(|one, other| other.cmp(one));
}

/// The positions of the edges, newest first, in any order at equal times; `None` for few edges, or
/// if the time span and a position do not fit in one number. Numbers are moved and compared faster
/// than edges.
fn positions_by_time(edges: &[Dated<'_>]) -> Option<Vec<usize>> {
    if edges.len() <= FEW {
        return None;
    }
    let times = edges.iter().map(|edge| edge.time);
    let (oldest, newest) = (times.clone().min()?, times.max()?);
    let position_bits = edges.len().ilog2() + 1;
    if newest.abs_diff(oldest).leading_zeros() < position_bits {
        return None;
    }
    let number =
        |(position, edge): (usize, &Dated<'_>)| newest.abs_diff(edge.time) << position_bits | position as u64;
    let mut numbers: Vec<u64> = edges.iter().enumerate().map(number).collect();
    numbers.sort_unstable();
    let position = |number: u64| (number & ((1 << position_bits) - 1)) as usize;
    Some(numbers.into_iter().map(position).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn dated(time: i64, neighbor: u32, key: u64) -> Dated<'static> {
        let (neighbor, key) = (Reverse(VertexId::new(neighbor)), Reverse(key));
        Dated { time, neighbor, key, beside: EdgeContent::Value(7) }
    }

    fn time() -> impl Strategy<Value = i64> {
        prop_oneof![3 => 0..40_i64, 3 => 1_600_000_000_000_000..1_600_000_000_900_000_i64, 1 => any::<i64>()]
    }

    proptest! {
        #[test]
        fn the_newest_come_first_then_lower_ids_then_lower_keys(
            edges in prop::collection::vec((time(), 0..5_u32, 0..5_u64), 0..200),
            wide: bool,
        ) {
            // Without extreme times, numbers are sorted.
            let all = edges.into_iter().filter(|(time, ..)| wide || (0..1 << 60).contains(time));
            let mut edges: Vec<Dated<'_>> = all.map(|(time, neighbor, key)| dated(time, neighbor, key)).collect();
            let mut expected = edges.clone();
            expected.sort_by_key(|edge| (Reverse(edge.time), edge.neighbor.0, edge.key.0));
            sort_newest_first(&mut edges);
            prop_assert_eq!(edges, expected);
        }
    }

    #[test]
    fn times_sort_as_numbers_only_if_they_fit() {
        let many = |newest| {
            (0..=FEW as u32).map(|id| dated(if id == 9 { newest } else { 0 }, id, 0)).collect::<Vec<_>>()
        };
        // Twenty-one positions take five bits.
        assert!(positions_by_time(&many((1 << 59) - 1)).is_some());
        assert!(positions_by_time(&many(1 << 59)).is_none());
        assert!(positions_by_time(&many(i64::MAX)).is_none());
        assert!(positions_by_time(&many(1)[..FEW]).is_none());
    }
}
