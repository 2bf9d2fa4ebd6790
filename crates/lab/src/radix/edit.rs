//! One change that leaves a tree its shape: the same nodes, keys and leaves, of which one has a
//! neighbour more, a neighbour less or another value. Most single changes are such.
//!
//! It copies the path to the leaf as it lies in memory, with no leaf decoded and no node laid out
//! anew. What splits, merges or makes a node is left to `merge.rs`, which can do everything.

use super::child::Child;
use super::leaf::Leaf;
use hedgerow_model::EdgeChange;

/// A subtree after a change that makes a difference; `None` if its shape would be another.
///
/// `parent` is the depth of the node above, if there is one.
pub(super) fn edited<L: Leaf>(child: &Child<L>, change: &EdgeChange, parent: Option<u8>) -> Option<Child<L>> {
    match child {
        Child::Leaf(leaf) => leaf.edited(change.neighbour, change.value, parent).map(Child::Leaf),
        Child::Node(node) => {
            let below = node.child_of(change.neighbour)?;
            let below = edited(below, change, Some(node.header().depth))?;
            Some(Child::Node(node.replaced(change.neighbour, &below)))
        }
    }
}

/// Items with one more at `position`.
pub(super) fn with_inserted<T: Copy>(items: &[T], position: usize, item: T) -> Vec<T> {
    let mut new = Vec::with_capacity(items.len() + 1);
    new.extend_from_slice(&items[..position]);
    new.push(item);
    new.extend_from_slice(&items[position..]);
    new
}

/// Items without that at `position`.
pub(super) fn with_removed<T: Copy>(items: &[T], position: usize) -> Vec<T> {
    let mut new = Vec::with_capacity(items.len() - 1);
    new.extend_from_slice(&items[..position]);
    new.extend_from_slice(&items[position + 1..]);
    new
}
