//! Search in sorted neighbours.

use crate::VertexId;

/// Stretches up to this length are counted through; that is a cache line or two.
const COUNTED: usize = 32;

/// Pivots that are compared at a time.
const PIVOTS: usize = 7;

/// The position of the first neighbour that is not below `id`, in a sorted row.
///
/// A memory access of a binary search waits for the one before. Here seven pivots cut the rest into eighths at a
/// time: their accesses don't depend on each other, so that a row of a thousand neighbours costs three times the latency
/// of memory instead of seven. O(log row).
#[inline]
#[must_use]
pub fn lower_bound(row: &[VertexId], id: VertexId) -> usize {
    let mut rest = row;
    let mut before = 0;
    while rest.len() > COUNTED {
        let step = rest.len() / (PIVOTS + 1);
        let mut passed = 0;
        for pivot in 1..=PIVOTS {
            passed += usize::from(rest[pivot * step - 1] < id);
        }
        let start = passed * step;
        let end = if passed == PIVOTS { rest.len() } else { start + step };
        before += start;
        rest = &rest[start..end];
    }
    before + rest.iter().map(|neighbour| usize::from(*neighbour < id)).sum::<usize>()
}

/// The position of `id` in a sorted row, if it is there. O(log row).
#[inline]
#[must_use]
pub fn position(row: &[VertexId], id: VertexId) -> Option<usize> {
    let position = lower_bound(row, id);
    (row.get(position) == Some(&id)).then_some(position)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn finds_what_a_walk_finds(ids in prop::collection::btree_set(0..3000_u32, 0..2000), id in 0..3001_u32) {
            let row: Vec<VertexId> = ids.iter().copied().map(VertexId::new).collect();
            let id = VertexId::new(id);
            let expected = row.iter().position(|neighbour| *neighbour >= id).unwrap_or(row.len());
            prop_assert_eq!(lower_bound(&row, id), expected);
            prop_assert_eq!(position(&row, id), row.iter().position(|neighbour| *neighbour == id));
        }
    }
}
