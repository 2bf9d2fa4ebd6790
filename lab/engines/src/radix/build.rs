//! Building subtrees from sorted neighbors, and splitting leaves.

use super::keys::{byte, common_bytes};
use super::leaf::Leaf;
use super::subtree::{Child, Layout};
use crate::rows::Rows;
use std::ops::Range;

/// Returns the subtree of a nonempty sorted range: a leaf, or a node at the first byte in which the
/// neighbors differ. O(range).
pub(super) fn build<L: Leaf>(rows: &Rows, stretch: Range<usize>) -> Child<L> {
    if stretch.len() <= L::CAPACITY {
        return Child::Leaf(L::new(rows, stretch));
    }
    let (first, last) = (rows.neighbors[stretch.start], rows.neighbors[stretch.end - 1]);
    let depth = common_bytes(first, last);
    let mut layout = Layout::with_capacity(stretch.len().min(256), stretch.len() / L::CAPACITY + 2);
    cut(rows, stretch, depth, &mut layout);
    layout.into_node(first, depth)
}

/// Appends the neighbors of a sorted range, whose bytes before `depth` are equal, to a node.
///
/// Keys share a leaf while it has room (section 6.2, case 1). A range too long for one leaf is
/// split before the first key that starts at an equal share or later (case 2); a key with too many
/// neighbors for one leaf gets a node (case 3).
pub(super) fn cut<L: Leaf>(rows: &Rows, stretch: Range<usize>, depth: u8, layout: &mut Layout<L>) {
    let leaves = stretch.len().div_ceil(L::CAPACITY).max(1);
    let share = stretch.len().div_ceil(leaves);
    let (mut leaf, mut keys) = (stretch.start..stretch.start, Vec::new());
    while leaf.end < stretch.end {
        let group = leaf.end..end_of_key(rows, leaf.end..stretch.end, depth);
        if leaf.len() >= share || leaf.len() + group.len() > L::CAPACITY {
            push_leaf(rows, leaf, &mut keys, layout);
            leaf = group.start..group.start;
        }
        let key = byte(rows.neighbors[group.start], depth);
        if group.len() > L::CAPACITY {
            layout.push([key], build(rows, group.clone()));
            leaf.start = group.end;
        } else {
            keys.push(key);
        }
        leaf.end = group.end;
    }
    push_leaf(rows, leaf, &mut keys, layout);
}

fn push_leaf<L: Leaf>(rows: &Rows, stretch: Range<usize>, keys: &mut Vec<u8>, layout: &mut Layout<L>) {
    if !stretch.is_empty() {
        layout.push(keys.drain(..), Child::Leaf(L::new(rows, stretch)));
    }
}

/// Returns the end of the neighbors with the same byte as the first one.
fn end_of_key(rows: &Rows, stretch: Range<usize>, depth: u8) -> usize {
    let neighbors = &rows.neighbors[stretch.clone()];
    let key = byte(neighbors[0], depth);
    stretch.start + neighbors.partition_point(|id| byte(*id, depth) == key)
}
