//! Intersection of neighbor sets (RapidStore, section 6.5).
//!
//! Sets of similar size are merged. If one is much larger, it is searched for each member of the
//! other. [`Adjacency::intersect`](crate::Adjacency::intersect) and
//! [`Adjacency::common_neighbors`](crate::Adjacency::common_neighbors) do so on any view.

use crate::VertexId;
use crate::search::{Spread, lower_bound};

/// The size ratio from which on the larger set is searched for each member of the smaller set.
pub const PROBE_FROM: usize = 10;

/// Returns true if a set of `large` members should be searched for each of `small` members, instead
/// of merging both sets.
#[inline]
#[must_use]
pub const fn is_much_larger(large: usize, small: usize) -> bool {
    large / PROBE_FROM >= small
}

/// Visits the intersection of two ascending slices: ascending, without duplicates, even if the
/// slices contain duplicates.
///
/// O(smaller + larger), or O(smaller · log larger) if one slice is much larger.
#[inline]
pub fn slices(one: &[VertexId], other: &[VertexId], visit: impl FnMut(VertexId)) {
    let (small, large) = if one.len() <= other.len() { (one, other) } else { (other, one) };
    let mut visit = once(visit);
    if is_much_larger(large.len(), small.len()) {
        probe(small, large, &mut visit);
    } else {
        merge(small, large, &mut visit);
    }
}

/// Drops consecutive duplicates.
#[inline]
pub(crate) fn once(mut visit: impl FnMut(VertexId)) -> impl FnMut(VertexId) {
    let mut last = None;
    move |id| {
        if last.replace(id) != Some(id) {
            visit(id);
        }
    }
}

/// Searches the large set for each member of the small set, each time from the end of the previous
/// search.
///
/// Returns the part of the large set that is not below the last member.
#[inline]
pub(crate) fn probe<'l>(
    small: &[VertexId],
    mut large: &'l [VertexId],
    visit: &mut impl FnMut(VertexId),
) -> &'l [VertexId] {
    for id in small {
        large = &large[lower_bound(large, Spread::of(large), *id)..];
        match large.first() {
            Some(found) if found == id => visit(*id),
            Some(_) => {}
            None => break,
        }
    }
    large
}

/// Merges both sets without a branch on which one advances. Returns the part of `other` that was
/// not passed.
#[inline]
pub(crate) fn merge<'o>(
    one: &[VertexId],
    other: &'o [VertexId],
    visit: &mut impl FnMut(VertexId),
) -> &'o [VertexId] {
    let (mut left, mut right) = (0, 0);
    while let (Some(first), Some(second)) = (one.get(left), other.get(right)) {
        if first == second {
            visit(*first);
        }
        left += usize::from(first <= second);
        right += usize::from(second <= first);
    }
    &other[right..]
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    /// Ascending rows with duplicates.
    fn rows(most: usize) -> impl Strategy<Value = Vec<VertexId>> {
        prop::collection::vec(0..500_u32, 0..most).prop_map(|mut ids| {
            ids.sort_unstable();
            ids.into_iter().map(VertexId::new).collect()
        })
    }

    fn common(one: &[VertexId], other: &[VertexId]) -> Vec<VertexId> {
        let set: BTreeSet<_> = one.iter().collect();
        other.iter().filter(|id| set.contains(id)).copied().collect::<BTreeSet<_>>().into_iter().collect()
    }

    proptest! {
        #[test]
        fn slices_meet_as_sets_do(one in rows(400), other in rows(400), few in rows(9)) {
            for (one, other) in [(&one, &other), (&few, &other), (&one, &few), (&few, &few)] {
                let mut found = Vec::new();
                slices(one, other, |id| found.push(id));
                prop_assert_eq!(&found, &common(one, other));
                for (small, large) in [(one, other), (other, one)] {
                    let (mut probed, mut merged) = (Vec::new(), Vec::new());
                    let after_probe = probe(small, large, &mut once(|id| probed.push(id)));
                    let after_merge = merge(small, large, &mut once(|id| merged.push(id)));
                    prop_assert_eq!((&probed, &merged), (&found, &found));
                    // Ids above the last id of the small set are left for later runs.
                    let last = small.last().copied().unwrap_or_default();
                    let above: Vec<_> = large.iter().filter(|id| **id > last).copied().collect();
                    prop_assert!(small.is_empty() || after_probe.ends_with(&above) && after_merge.ends_with(&above));
                }
            }
        }
    }

    #[test]
    fn sizes_differ_much_from_ten_times_on() {
        assert!(is_much_larger(20, 2) && !is_much_larger(19, 2) && is_much_larger(0, 0));
    }
}
