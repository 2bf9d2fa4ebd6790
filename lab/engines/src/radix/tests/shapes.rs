//! The structure of trees: kinds of nodes, splits, merges, shared memory.

use super::super::leaf::SingleLeaf;
use super::super::segment::SegmentLeaf;
use super::*;

/// A tree small enough to think about.
type Small = RadixTree<SegmentLeaf<4>>;

/// Returns the kind of a node by the maximum number of children in the original tree; a leaf is 1.
fn kind<L: Leaf>(child: &Child<L>) -> usize {
    match child {
        Child::Leaf(_) => 1,
        Child::Node(Node::Node4(_)) => 4,
        Child::Node(Node::Node16(_)) => 16,
        Child::Node(Node::Node48(_)) => 48,
        Child::Node(Node::Node256(_)) => 256,
    }
}

/// Returns the node at the root.
fn root<L: Leaf>(tree: &RadixTree<L>) -> &Node<L> {
    match &tree.root {
        Child::Node(node) => node,
        Child::Leaf(leaf) => panic!("a leaf of {}", leaf.len()),
    }
}

/// Returns the lengths of all leaves.
fn leaf_lengths<L: Leaf>(tree: &RadixTree<L>) -> Vec<usize> {
    tree.root.leaves().map(Leaf::len).collect()
}

#[test]
fn a_child_is_no_larger_than_a_pointer_and_a_kind() {
    assert_eq!(size_of::<Option<Child<SegmentLeaf<512>>>>(), 16);
}

#[test]
fn only_ids_that_ascend_make_a_set() {
    let set = |ids: &[u32]| {
        CompressedArt::from_sorted(&ids.iter().map(|id| VertexId::new(*id)).collect::<Vec<_>>())
    };
    assert!(set(&[]).is_none() && set(&[1, 1]).is_none() && set(&[2, 1]).is_none());
    assert_eq!(set(&[0, u32::MAX - 1]).map(|set| set.len()), Some(2));
}

#[test]
fn nodes_grow_and_shrink_with_their_keys() {
    let (mut tree, mut model) = (None, Model::new());
    for count in 1..=256_u32 {
        tree = change::<SingleLeaf>(tree.as_ref(), &mut model, &[(count - 1, Some(7))].into());
        let expected = match count {
            1 => 1,
            2..=4 => 4,
            5..=16 => 16,
            17..=48 => 48,
            _ => 256,
        };
        assert_eq!(kind(&tree.as_ref().unwrap().root), expected, "{count} keys");
        check(tree.as_ref(), &model, &[255, 256, 1 << 24]);
    }
    for count in (1..256_u32).rev() {
        tree = change(tree.as_ref(), &mut model, &[(count, None)].into());
        let expected = match count {
            1 => 1,
            2..=4 => 4,
            5..=16 => 16,
            17..=48 => 48,
            _ => 256,
        };
        assert_eq!(kind(&tree.as_ref().unwrap().root), expected, "{count} keys");
        check(tree.as_ref(), &model, &[255, 256, 1 << 24]);
    }
    assert!(change(tree.as_ref(), &mut model, &[(0, None)].into()).is_none());
}

#[test]
fn each_kind_of_node_finds_and_visits_its_children() {
    for count in [2_u32, 4, 5, 16, 17, 48, 49, 255, 256] {
        for depth in 0..4 {
            let shift = 8 * (3 - depth);
            // All bytes 255 would exceed the largest id by one, so the last id is one less.
            let ids: Vec<u32> =
                (0..count).map(|key| ((key * 255 / (count - 1)) << shift).min(u32::MAX - 1)).collect();
            let model: Model = ids.iter().map(|id| (*id, u64::from(*id) + 1)).collect();
            let tree = tree_of::<SingleLeaf>(&model);
            let others: Vec<u32> =
                ids.iter().flat_map(|id| [id ^ 1, id | 0x0101_0101]).filter(|id| *id < u32::MAX).collect();
            check(tree.as_ref(), &model, &others);
            assert_eq!(root(tree.as_ref().unwrap()).header().depth, depth as u8);
        }
    }
}

#[test]
fn keys_that_share_leaves_need_no_pointer_each() {
    // 200 keys in the second last byte, three ids each: 600 ids in two leaves of 512.
    let tree: CompressedArt = tree_of_ids((0..600).map(|id| id / 3 * 256 + id % 3));
    assert_eq!(kind(&tree.root), 48);
    assert_eq!(root(&tree).children().count(), 2);
    // A leaf of four holds one key: 200 leaves, with a pointer each.
    let tree: Small = tree_of_ids((0..600).map(|id| id / 3 * 256 + id % 3));
    assert_eq!(kind(&tree.root), 256);
    assert_eq!(root(&tree).children().count(), 200);
    check(Some(&tree), &contents(&tree), &[3, 255, 256, 200 * 256]);
}

#[test]
fn a_leaf_with_room_takes_a_new_key() {
    let tree: Small = tree_of_ids([0x0100, 0x0200, 0x0300, 0x0400, 0x0500]);
    assert_eq!(leaf_lengths(&tree), [3, 2]);
    let tree = insert(&tree, 0x0401);
    assert_eq!(leaf_lengths(&tree), [3, 3]);
    let tree = insert(&tree, 0x0600);
    assert_eq!(leaf_lengths(&tree), [3, 4]);
    assert_eq!(keys_of(root(&tree)).len(), 6);
}

#[test]
fn a_full_leaf_of_several_keys_is_split_between_keys() {
    let tree: Small = tree_of_ids([0x0100, 0x0200, 0x0300, 0x0400, 0x0500, 0x0600, 0x0700]);
    assert_eq!(leaf_lengths(&tree), [4, 3]);
    let tree = insert(&tree, 0x0101);
    assert_eq!(leaf_lengths(&tree), [3, 2, 3]);
}

#[test]
fn a_full_leaf_of_one_key_gets_a_node() {
    let tree: Small = tree_of_ids([0x0100, 0x0101, 0x0102, 0x0103, 0x0200]);
    assert_eq!(leaf_lengths(&tree), [4, 1]);
    let tree = insert(&tree, 0x0104);
    assert_eq!(leaf_lengths(&tree), [3, 2, 1]);
    let (key, below) = keys_of(root(&tree))[0];
    assert_eq!((key, kind(below)), (1, 16));
}

#[test]
fn an_id_with_another_prefix_gets_a_node_above() {
    let deep: Small = tree_of_ids((0..8).map(|low| 0x0102_0300 + low));
    assert_eq!(root(&deep).header().depth, 3);
    for (id, depth) in [(0x0102_0400, 2), (0x0102_0200, 2), (0x0103_0000, 1), (0, 0), (u32::MAX - 1, 0)] {
        let tree = insert(&deep, id);
        assert_eq!(root(&tree).header().depth, depth);
        assert_eq!(deep.shared_bytes(&tree), deep.heap_bytes(), "the old tree is below the new node");
        let back = remove(&tree, [id]).unwrap();
        assert!(back.root.is_same(&deep.root), "the node above goes with its second child");
        assert_eq!(tree.shared_bytes(&back), deep.heap_bytes());
        check(Some(&tree), &contents(&tree), &[0x0102_0308, 0x0202_0300]);
    }
}

#[test]
fn sparse_leaves_merge_with_their_siblings() {
    type Tree = RadixTree<SegmentLeaf<16>>;
    let tree: Tree = tree_of_ids((0..32).map(|key| key * 256));
    assert_eq!(leaf_lengths(&tree), [16, 16]);
    // Eight left: not sparse yet. Seven and sixteen are too many for one leaf.
    let tree = remove(&tree, (0..8).map(|key| key * 256)).unwrap();
    let tree = remove(&tree, [8 * 256]).unwrap();
    assert_eq!(leaf_lengths(&tree), [7, 16]);
    // The second is sparse with five left; twelve fill three quarters of a leaf.
    let tree = remove(&tree, (21..32).map(|key| key * 256)).unwrap();
    assert_eq!((leaf_lengths(&tree), kind(&tree.root)), (vec![12], 1));
    // One more exceeds three quarters.
    let tree: Tree = tree_of_ids((0..32).map(|key| key * 256));
    let tree = remove(&tree, (0..9).map(|key| key * 256)).unwrap();
    let tree = remove(&tree, (22..32).map(|key| key * 256)).unwrap();
    assert_eq!(leaf_lengths(&tree), [7, 6]);
    let tree = remove(&tree, [9 * 256]).unwrap();
    assert_eq!(leaf_lengths(&tree), [12]);
    // From the other side.
    let tree: Tree = tree_of_ids((0..32).map(|key| key * 256));
    let tree = remove(&tree, (21..32).map(|key| key * 256)).unwrap();
    assert_eq!(leaf_lengths(&tree), [16, 5]);
    let tree = remove(&tree, (7..16).map(|key| key * 256)).unwrap();
    assert_eq!(leaf_lengths(&tree), [12]);
}

#[test]
fn a_subtree_that_shrinks_becomes_a_leaf_again() {
    let tree: Small = tree_of_ids((0..8).map(|low| 0x0100 + low).chain([0x0200, 0x0300]));
    assert_eq!(kind(keys_of(root(&tree))[0].1), 16);
    let tree = remove(&tree, 0x0101..0x0108).unwrap();
    assert_eq!((leaf_lengths(&tree), kind(&tree.root)), (vec![3], 1));
}

#[test]
fn one_insertion_copies_the_path_to_one_leaf() {
    let tree: CompressedArt = tree_of_ids((0..200_000).map(|id| id * 16));
    let leaves = allocations(&tree.root).len();
    assert!(leaves > 400, "{leaves}");
    let longest_path = 2 * 4200 + 4 * 512 + 200;
    for id in [1, 1_600_001, 199_999 * 16 + 1] {
        let next = insert(&tree, id);
        let copied = tree.heap_bytes() - tree.shared_bytes(&next);
        assert!(copied < longest_path, "{copied} bytes of {}", tree.heap_bytes());
    }
}

#[test]
fn changes_that_change_nothing_keep_the_tree() {
    let tree: Small = tree_of_ids((0..100).map(|id| id * 1000));
    let same =
        change(Some(&tree), &mut contents(&tree), &[(1, None), (1000, Some(0)), (u32::MAX - 1, None)].into());
    assert!(same.unwrap().root.is_same(&tree.root));
}

#[test]
fn values_change_without_the_neighbors() {
    let tree: Small = tree_of_ids((0..100).map(|id| id * 1000));
    let mut model = contents(&tree);
    let next = change(Some(&tree), &mut model, &[(5000, Some(9)), (6000, Some(u64::MAX))].into());
    check(next.as_ref(), &model, &[]);
    assert_eq!(tree.find(VertexId::new(5000)), Some(EdgeValue(0)));
}

#[test]
fn narrow_columns_and_none_are_read_as_they_are() {
    for column in [ColumnType::Unit, ColumnType::F32] {
        let mut rows = Rows::with_capacity(column, 0);
        (0..2000_u32).for_each(|id| rows.push(VertexId::new(id * 40), Column::to_bits(id as f32)));
        let tree = CompressedArt::new(&rows, 0..2000);
        let (mut count, mut sum) = (0, 0.0);
        let flow = tree.runs::<(), ()>(|ids, units| {
            count += ids.len().min(units.len());
            ControlFlow::Continue(())
        });
        assert!(flow.is_continue());
        if column == ColumnType::F32 {
            let flow = tree.runs::<f32, ()>(|_, values| {
                sum += values.iter().sum::<f32>();
                ControlFlow::Continue(())
            });
            assert!(flow.is_continue());
            assert_eq!(tree.find(VertexId::new(40)).map(<f32 as Column>::from_bits), Some(1.0));
        }
        assert_eq!((count, sum), (2000, if column == ColumnType::F32 { 1_999_000.0 } else { 0.0 }));
    }
}

#[test]
fn a_reader_may_stop_at_any_run() {
    let tree: CompressedArt = tree_of_ids((0..5000).map(|id| id * 7));
    for stop in [0, 1, 600, 4999] {
        let flow = tree.runs::<(), u32>(|ids, _| {
            let hit = ids.iter().find(|id| id.get() >= stop * 7);
            hit.map_or(ControlFlow::Continue(()), |id| ControlFlow::Break(id.get()))
        });
        assert_eq!(flow, ControlFlow::Break(stop * 7));
    }
}
