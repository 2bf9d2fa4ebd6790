//! A change that keeps the shape of a tree: the same nodes and keys, and one leaf with a neighbor
//! more, a neighbor less or another value. Most single changes keep the shape. In the plain tree,
//! where each neighbor is a leaf, it is one more leaf.
//!
//! The change copies the path to the leaf in its memory layout, without decoding a leaf or
//! rebuilding a node. Changes that split or merge leaves, or make a node of another kind, are left
//! to `merge.rs`, which handles everything.

use super::keys::{byte, common_bytes};
use super::leaf::Leaf;
use super::subtree::{Child, Layout, Node};
use hedgerow_model::EdgeChange;

/// Returns a subtree after a change that makes a difference; `None` if the change alters the shape.
///
/// `parent` is the depth of the parent node, if there is one.
pub(super) fn edited<L: Leaf>(child: &Child<L>, change: &EdgeChange, parent: Option<u8>) -> Option<Child<L>> {
    match child {
        Child::Leaf(leaf) => {
            let edited = leaf.edited(change.neighbor(), change.value, parent).map(Child::Leaf);
            edited.or_else(|| branch(leaf, change))
        }
        Child::Node(node) => edited_node(node, change).map(Child::Node),
    }
}

fn edited_node<L: Leaf>(node: &Node<L>, change: &EdgeChange) -> Option<Node<L>> {
    let (header, id) = (node.header(), change.neighbor());
    if common_bytes(header.example, id) < header.depth {
        return None;
    }
    match node.child_of(id) {
        Some(below) => Some(node.replaced(id, &edited(below, change, Some(header.depth))?)),
        None => node.inserted(id, Child::Leaf(L::single(id, change.value?)?)),
    }
}

/// Returns a node of a leaf and a new one, if leaves hold one neighbor each.
fn branch<L: Leaf>(leaf: &L, change: &EdgeChange) -> Option<Child<L>> {
    let new = L::single(change.neighbor(), change.value?)?;
    let (low, high) = if leaf.bounds() < new.bounds() { (leaf.clone(), new) } else { (new, leaf.clone()) };
    let (first, second) = (low.bounds().0, high.bounds().0);
    let depth = common_bytes(first, second);
    let mut layout = Layout::with_capacity(2, 2);
    layout.push([byte(first, depth)], Child::Leaf(low));
    layout.push([byte(second, depth)], Child::Leaf(high));
    Some(layout.into_node(first, depth))
}

/// Returns `items` with `item` inserted at `position`.
pub(super) fn with_inserted<T: Copy>(items: &[T], position: usize, item: T) -> Vec<T> {
    let mut new = Vec::with_capacity(items.len() + 1);
    new.extend_from_slice(&items[..position]);
    new.push(item);
    new.extend_from_slice(&items[position..]);
    new
}

/// Returns `items` without the item at `position`.
pub(super) fn with_removed<T: Copy>(items: &[T], position: usize) -> Vec<T> {
    let mut new = Vec::with_capacity(items.len() - 1);
    new.extend_from_slice(&items[..position]);
    new.extend_from_slice(&items[position + 1..]);
    new
}
