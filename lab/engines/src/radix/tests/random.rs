//! Random changes against a map, and old versions read again later.

use super::super::leaf::SingleLeaf;
use super::super::segment::SegmentLeaf;
use super::*;
use proptest::prelude::*;

/// Ids that are close together, far apart, share their first bytes, or are at the ends of the
/// range.
fn id() -> impl Strategy<Value = u32> {
    let prefixes =
        prop::sample::select(vec![0_u32, 0x0001_0000, 0x0001_0200, 0x00FF_FF00, 0x0100_0000, 0xFFFF_FE00]);
    prop_oneof![
        4 => 0..700_u32,
        4 => (prefixes, 0..0x200_u32).prop_map(|(prefix, low)| (prefix + low).min(u32::MAX - 1)),
        2 => (0..=255_u32, 0..3_u32).prop_map(|(byte, place)| (byte << (8 * (3 - place))).min(u32::MAX - 1)),
        2 => 0..u32::MAX - 1,
        1 => Just(0),
        1 => Just(u32::MAX - 1),
    ]
}

#[derive(Clone, Debug)]
enum Batch {
    /// Puts and removals of any ids.
    Any(BTreeMap<u32, Option<u64>>),
    /// Removes every id in a range.
    Clear(u32, u32),
    /// Puts the ids of a short range, at equal distances.
    Fill(u32, u32, u32),
}

fn batches() -> impl Strategy<Value = Vec<Batch>> {
    let value = || prop::option::weighted(0.6, 0..3_u64);
    let batch = prop_oneof![
        4 => prop::collection::btree_map(id(), value(), 1..4).prop_map(Batch::Any),
        3 => prop::collection::btree_map(id(), value(), 1..120).prop_map(Batch::Any),
        1 => (id(), id()).prop_map(|(one, other)| Batch::Clear(one.min(other), one.max(other))),
        2 => (id(), 1..400_u32, prop::sample::select(vec![1_u32, 3, 256, 70_000]))
            .prop_map(|(from, count, step)| Batch::Fill(from, count, step)),
    ];
    prop::collection::vec(batch, 1..30)
}

fn changes_of(batch: &Batch, model: &Model) -> BTreeMap<u32, Option<u64>> {
    match batch {
        Batch::Any(changes) => changes.clone(),
        Batch::Clear(first, last) => model.range(first..=last).map(|(id, _)| (*id, None)).collect(),
        Batch::Fill(from, count, step) => {
            let ids = (0..*count).filter_map(|place| from.checked_add(place * step));
            ids.filter(|id| *id < u32::MAX).map(|id| (id, Some(1))).collect()
        }
    }
}

fn run<L: Leaf>(batches: &[Batch], others: &[u32]) {
    let mut versions: Vec<(Option<RadixTree<L>>, Model)> = vec![(None, Model::new())];
    for batch in batches {
        let (old, before) = versions.last().unwrap();
        let mut model = before.clone();
        let new = change(old.as_ref(), &mut model, &changes_of(batch, before));
        check(new.as_ref(), &model, others);
        if let (Some(old), Some(new)) = (old, &new) {
            assert_eq!(old.shared_bytes(new), count_shared(old, new));
        }
        check(tree_of::<L>(&model).as_ref(), &model, others);
        versions.push((new, model));
    }
    for (tree, model) in &versions {
        check(tree.as_ref(), model, others);
    }
}

proptest! {
    #[test]
    fn the_plain_tree_matches_a_map(
        batches in batches(), others in prop::collection::vec(id(), 0..30),
    ) {
        run::<SingleLeaf>(&batches, &others);
    }

    #[test]
    fn a_compressed_tree_with_tiny_leaves_matches_a_map(
        batches in batches(), others in prop::collection::vec(id(), 0..30),
    ) {
        run::<SegmentLeaf<4>>(&batches, &others);
    }

    #[test]
    fn a_compressed_tree_with_small_leaves_matches_a_map(
        batches in batches(), others in prop::collection::vec(id(), 0..30),
    ) {
        run::<SegmentLeaf<16>>(&batches, &others);
    }

    #[test]
    fn a_compressed_tree_with_full_leaves_matches_a_map(
        batches in batches(), others in prop::collection::vec(id(), 0..30),
    ) {
        run::<SegmentLeaf<LEAF_CAPACITY>>(&batches, &others);
    }
}
