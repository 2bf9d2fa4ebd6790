//! The structure of a clustered index.

use super::*;
use hedgerow_model::{Direction, EdgeChange, EdgeChanges, Topology};
use proptest::prelude::*;

/// A slot, ids, and their new value.
type Change = (u32, Range<u32>, Option<u64>);

fn change(old: Option<&Clustered>, changes: &[Change]) -> Clustered {
    try_change(old, changes).unwrap()
}

fn try_change(old: Option<&Clustered>, changes: &[Change]) -> Option<Clustered> {
    let entries = changes.iter().flat_map(|(slot, ids, value)| {
        ids.clone()
            .map(move |id| EdgeChange::new(VertexId::new(*slot), VertexId::new(id), value.map(EdgeValue)))
    });
    let list: EdgeChanges = entries.collect();
    let mut tally = Tally::new(Topology::Directed, Direction::Out);
    Clustered::merged(old, ColumnType::Unit, list.as_slice(), &mut tally)
}

fn lengths(partition: &Clustered) -> Vec<usize> {
    partition.leaves.iter().map(|leaf| leaf.len()).collect()
}

/// Checks that each row of each leaf belongs to one set, in slot order.
fn assert_is_sound(partition: &Clustered) {
    let mut next = vec![0; partition.leaves.len()];
    let mut last_leaf = 0;
    for slot in slots_of(partition.occupied & !partition.large_slots) {
        let place = partition.places[slot];
        let leaf = usize::from(place.leaf);
        assert!(leaf >= last_leaf);
        last_leaf = leaf;
        assert_eq!(place.stretch().start, next[leaf], "slot {slot}");
        next[leaf] = place.stretch().end;
    }
    assert_eq!(lengths(partition), next);
    assert!(partition.leaves.iter().all(|leaf| (1..=LEAF_CAPACITY).contains(&leaf.len())));
}

proptest! {
    #[test]
    fn leaves_hold_nothing_but_sets(
        batches in prop::collection::vec(
            prop::collection::btree_map((0..64_u32, 0..9_u32), prop::option::of(Just(0_u64)), 1..60), 1..20),
    ) {
        let mut partition = change(None, &[(0, 0..1, Some(0))]);
        for batch in batches {
            let changes: Vec<_> =
                batch.into_iter().map(|((slot, id), value)| (slot, id..id + 1, value)).collect();
            partition = try_change(Some(&partition), &changes).unwrap_or(partition);
            assert_is_sound(&partition);
        }
    }
}

#[test]
fn leaves_are_cut_between_slots() {
    let partition =
        change(None, &[(0, 0..7, Some(0)), (1, 0..7, Some(0)), (9, 0..5, Some(0)), (63, 0..3, Some(0))]);
    assert_eq!(lengths(&partition), [14, 8]);
    // A new slot in between joins the leaf before it, which then overflows.
    let partition = change(Some(&partition), &[(5, 0..4, Some(0))]);
    assert_eq!(lengths(&partition), [14, 4, 8]);
    assert_eq!(partition.degree(5), 4);
}

#[test]
fn a_change_copies_one_leaf() {
    let old =
        change(None, &[(0, 0..12, Some(0)), (1, 0..12, Some(0)), (2, 0..12, Some(0)), (3, 0..12, Some(0))]);
    assert_eq!(lengths(&old), [12, 12, 12, 12]);
    let new = change(Some(&old), &[(2, 0..1, None)]);
    let shared = old.leaves.iter().filter(|leaf| new.leaves.iter().any(|other| Arc::ptr_eq(leaf, other)));
    assert_eq!(shared.count(), 3);
    assert_eq!(lengths(&new), [12, 12, 11, 12]);
}

#[test]
fn sparse_leaves_merge_with_either_sibling() {
    let old = change(None, &[(0, 0..8, Some(0)), (1, 0..12, Some(0)), (2, 0..9, Some(0))]);
    assert_eq!(lengths(&old), [8, 12, 9]);
    // Three and nine fill three quarters of a leaf; three and twelve exceed that.
    let behind = change(Some(&old), &[(1, 3..12, None)]);
    assert_eq!(lengths(&behind), [8, 12]);
    let before = change(Some(&change(Some(&old), &[(0, 0..1, None)])), &[(2, 3..9, None)]);
    assert_eq!(lengths(&before), [7, 12, 3]);
    let before = change(Some(&before), &[(1, 6..12, None)]);
    assert_eq!(lengths(&before), [7, 6, 3]);
    let before = change(Some(&before), &[(2, 2..3, None)]);
    assert_eq!(lengths(&before), [7, 8]);
    assert_eq!((before.degree(0), before.degree(1), before.degree(2)), (7, 6, 2));
}

#[test]
fn a_set_becomes_a_tree_and_small_again_at_different_degrees() {
    let is_large = |partition: &Clustered| partition.large_slots == 1 << 7;
    let limit = LARGE as u32;
    let mut partition = change(None, &[(7, 0..limit, Some(0))]);
    assert!(!is_large(&partition));
    partition = change(Some(&partition), &[(7, limit..limit + 1, Some(0))]);
    assert!(is_large(&partition));
    assert!(partition.leaves.is_empty());
    partition = change(Some(&partition), &[(7, limit / 2..limit + 1, None)]);
    assert!(is_large(&partition));
    partition = change(Some(&partition), &[(7, 0..1, None)]);
    assert!(!is_large(&partition));
    assert_eq!((partition.degree(7), lengths(&partition)), (LARGE / 2 - 1, vec![LARGE / 2 - 1]));
}

#[test]
fn sixty_four_full_sets_fit() {
    let sets: Vec<_> = (0..64).map(|slot| (slot, 0..LARGE as u32, Some(0))).collect();
    let partition = change(None, &sets);
    assert_eq!(partition.entries(), 64 * LARGE);
    assert!(partition.leaves.len() <= 64);
    let partition = change(Some(&partition), &[(0, 0..1, None), (63, 0..1, None)]);
    assert_eq!(partition.entries(), 64 * LARGE - 2);
}
