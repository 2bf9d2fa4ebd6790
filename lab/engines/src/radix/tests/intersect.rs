//! Common neighbors, by both strategies.

use super::super::intersect::{merge, probe};
use super::super::leaf::SingleLeaf;
use super::super::segment::SegmentLeaf;
use super::*;
use hedgerow_model::intersect::PROBE_FROM;
use proptest::prelude::*;
use std::collections::BTreeSet;

type Ids = BTreeSet<u32>;

fn ids(most: usize) -> impl Strategy<Value = Ids> {
    let near = prop::collection::btree_set(0..900_u32, 1..most);
    let far = prop::collection::btree_set(0..u32::MAX - 1, 1..most);
    (near, far, any::<bool>()).prop_map(|(near, far, ends)| {
        let ends: &[u32] = if ends { &[0, u32::MAX - 1] } else { &[] };
        near.iter().chain(&far).chain(ends).copied().collect()
    })
}

/// Collects the visited ids.
fn collected(run: impl FnOnce(&mut dyn FnMut(VertexId))) -> Vec<u32> {
    let mut found = Vec::new();
    run(&mut |id| found.push(id.get()));
    found
}

fn check_intersections<L: Leaf>(one: &Ids, other: &Ids) {
    let expected: Vec<u32> = one.intersection(other).copied().collect();
    let (left, right) = (tree_of_ids::<L>(one.iter().copied()), tree_of_ids::<L>(other.iter().copied()));
    for (left, right) in [(&left, &right), (&right, &left)] {
        assert_eq!(collected(|visit| left.intersect(right, visit)), expected);
        assert_eq!(collected(|visit| merge(&left.root, &right.root, visit)), expected);
        assert_eq!(collected(|visit| probe(&left.root, &right.root, visit)), expected);
    }
}

proptest! {
    #[test]
    fn common_neighbors_are_those_of_sets(one in ids(300), other in ids(300), few in ids(6)) {
        for (one, other) in [(&one, &other), (&few, &other), (&few, &few)] {
            check_intersections::<SingleLeaf>(one, other);
            check_intersections::<SegmentLeaf<4>>(one, other);
            check_intersections::<SegmentLeaf<LEAF_CAPACITY>>(one, other);
        }
    }
}

#[test]
fn sets_of_any_ratio_of_sizes_meet() {
    let large: Ids = (0..20_000).map(|id| id * 3).collect();
    for size in [1, 2, 20_000 / PROBE_FROM as u32 - 1, 20_000 / PROBE_FROM as u32 + 1, 20_000] {
        let small: Ids = (0..size).map(|id| id * (60_000 / size)).collect();
        check_intersections::<SegmentLeaf<LEAF_CAPACITY>>(&small, &large);
    }
}

#[test]
fn disjoint_sets_have_no_common_neighbors() {
    check_intersections::<SegmentLeaf<4>>(&(0..100).collect(), &(100..200).collect());
    check_intersections::<SegmentLeaf<4>>(&[u32::MAX - 1].into(), &[0].into());
}
