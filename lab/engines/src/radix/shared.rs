//! Counts the memory that two versions of a tree share.

use super::leaf::Leaf;
use super::subtree::{Child, Node};
use hedgerow_model::VertexId;

/// Returns the heap bytes of `old` that `new` shares. O(keys of the nodes that are not shared).
pub(super) fn shared_bytes<L: Leaf>(old: &Child<L>, new: &Child<L>) -> usize {
    match (old, new) {
        _ if old.is_same(new) => old.heap_bytes(),
        (Child::Node(old), Child::Node(new)) => shared_between(old, new),
        (Child::Node(node), Child::Leaf(leaf)) => {
            node.child_of(leaf.bounds().0).map_or(0, |child| shared_bytes(child, new))
        }
        (Child::Leaf(leaf), Child::Node(node)) => {
            node.child_of(leaf.bounds().0).map_or(0, |child| shared_bytes(old, child))
        }
        (Child::Leaf(_), Child::Leaf(_)) => 0,
    }
}

/// Returns the heap bytes that two nodes share, one of which may have moved below a new node.
fn shared_between<L: Leaf>(old: &Node<L>, new: &Node<L>) -> usize {
    let (old_header, new_header) = (old.header(), new.header());
    if old_header.depth == new_header.depth {
        return old.children().map(|child| child_shared_with(child, new)).sum();
    }
    if old_header.depth < new_header.depth {
        let counterpart = old.child_of(new_header.example);
        counterpart.map_or(0, |child| shared_bytes(child, &Child::Node(new.clone())))
    } else {
        let counterpart = new.child_of(old_header.example);
        counterpart.map_or(0, |child| shared_bytes(&Child::Node(old.clone()), child))
    }
}

/// Returns the heap bytes that a child shares with its counterpart in another node of the same
/// depth.
fn child_shared_with<L: Leaf>(child: &Child<L>, other: &Node<L>) -> usize {
    other.child_of(example(child)).map_or(0, |counterpart| shared_bytes(child, counterpart))
}

/// Returns an id within a child's range; the child need not contain it.
fn example<L: Leaf>(child: &Child<L>) -> VertexId {
    match child {
        Child::Leaf(leaf) => leaf.bounds().0,
        Child::Node(node) => node.header().example,
    }
}
