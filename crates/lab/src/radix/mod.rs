//! Neighbor sets as radix trees over the four bytes of an id: the adaptive radix tree, and the
//! compressed one of RapidStore (PVLDB 18(10), 2025, section 6.2).
//!
//! Both are one tree with different leaves. A leaf of the plain tree ([`Art`]) is one neighbor; a
//! leaf of the compressed one ([`CompressedArt`]) is a segment of up to 512 with one prefix, to
//! which several keys of a node may lead.
//!
//! A tree never changes. A change makes a new root that shares what it can with the old one, by
//! reference counts (section 6.4); whoever drops the last version that has a node drops the node.
//!
//! | file | what |
//! |---|---|
//! | `leaf.rs`, `segment.rs`, `suffixes.rs` | what leaves are, and how ids lie in them |
//! | `nodes/` | the kinds of nodes |
//! | `child.rs` | a subtree, and how it is read |
//! | `build.rs` | subtrees of sorted neighbors; how leaves are split |
//! | `merge.rs`, `parts.rs` | changes of any number; how sparse leaves are merged |
//! | `edit.rs`, `values.rs` | the short way for one change |
//! | `intersect.rs`, `shared.rs` | common neighbors; common memory |
//!
//! Three things are not as in the paper, because a tree that is never changed in place allows them.
//! A set that fits into one leaf has no root node. Where a leaf is split is found in the leaf itself
//! instead of in offsets beside the pointers. A node that has many keys but few leaves has one pointer
//! for each leaf and a table of 256 bytes, like a Node48, instead of one pointer for each key.

mod build;
mod child;
mod edit;
mod intersect;
mod keys;
mod leaf;
mod merge;
mod nodes;
mod parts;
mod segment;
mod shared;
mod simd;
mod suffixes;
#[cfg(test)]
mod tests;
mod values;

use crate::rows::Rows;
use child::Child;
use hedgerow_model::{Column, ColumnType, EdgeChange, EdgeValue, ValueColumn, VertexId};
use hedgerow_subgraphs::Tally;
pub(crate) use leaf::Leaf;
use leaf::SingleLeaf;
use merge::Merge;
use segment::SegmentLeaf;
use std::ops::{ControlFlow, Range};

/// The most neighbors of a leaf (section 6.5, "Hyperparameters").
pub(crate) const LEAF_CAPACITY: usize = 512;

/// An adaptive radix tree: each neighbor in a leaf of its own.
pub type Art = RadixTree<SingleLeaf>;

/// A compressed adaptive radix tree: leaves of many neighbors with a common prefix.
pub type CompressedArt = RadixTree<SegmentLeaf<LEAF_CAPACITY>>;

/// A set of neighbors, not empty, with a value beside each. Never changed; a clone costs O(1).
///
/// ```
/// use hedgerow_lab::CompressedArt;
/// use hedgerow_model::VertexId;
///
/// let ids = |step: u32| (0..1000).map(|id| VertexId::new(id * step)).collect::<Vec<_>>();
/// let (Some(thirds), Some(fifths)) = (CompressedArt::from_sorted(&ids(3)), CompressedArt::from_sorted(&ids(5)))
/// else { panic!("they ascend") };
///
/// let mut common = Vec::new();
/// thirds.intersect(&fifths, |id| common.push(id.get()));
/// assert!(common.into_iter().eq((0..3000).step_by(15)));
/// ```
#[derive(Clone, Debug)]
pub struct RadixTree<L: Leaf> {
    root: Child<L>,
}

impl<L: Leaf> RadixTree<L> {
    /// A set of ids without values; `None` if there are none or they do not ascend. O(ids).
    #[must_use]
    pub fn from_sorted(neighbors: &[VertexId]) -> Option<Self> {
        if neighbors.is_empty() || !neighbors.is_sorted_by(|one, next| one < next) {
            return None;
        }
        let rows = Rows { neighbors: neighbors.to_vec(), values: ValueColumn::Unit };
        Some(RadixTree::new(&rows, 0..rows.len()))
    }

    /// A set of a sorted stretch of rows that is not empty. O(stretch).
    pub(crate) fn new(rows: &Rows, stretch: Range<usize>) -> Self {
        RadixTree { root: build::build(rows, stretch) }
    }

    /// The set after `changes`, which ascend by neighbor; `None` if nothing is left.
    ///
    /// O(bytes of an id · (256 + leaf capacity)) for one change.
    pub fn merged(
        old: Option<&Self>,
        column: ColumnType,
        changes: &[EdgeChange],
        tally: &mut Tally,
    ) -> Option<Self> {
        if let (Some(old), [change]) = (old, changes)
            && let Some(new) = old.edited(column, change, tally)
        {
            return Some(new);
        }
        let mut merge = Merge::new(column, tally);
        let root = match old {
            Some(old) => merge.child(&old.root, changes),
            None => merge.new_child(changes),
        };
        root.map(|root| RadixTree { root })
    }

    /// The set after one change that leaves the tree its shape.
    fn edited(&self, column: ColumnType, change: &EdgeChange, tally: &mut Tally) -> Option<Self> {
        let found = self.find(change.neighbor);
        let is_different = |value: EdgeValue| match column.width() {
            0 => false,
            4 => found.is_none_or(|found| found.0 as u32 != value.0 as u32),
            _ => found != Some(value),
        };
        let changes = found.is_some() != change.value.is_some() || change.value.is_some_and(is_different);
        let new =
            if changes { RadixTree { root: edit::edited(&self.root, change, None)? } } else { self.clone() };
        tally.count(change, found.is_some(), is_different);
        Some(new)
    }

    /// How many neighbors there are, at least one. O(1).
    #[must_use]
    #[expect(clippy::len_without_is_empty, reason = "a set is never empty")]
    #[inline]
    pub fn len(&self) -> usize {
        self.root.len()
    }

    /// The value of a neighbor. O(bytes of an id + log leaf capacity).
    #[must_use]
    #[inline]
    pub fn find(&self, neighbor: VertexId) -> Option<EdgeValue> {
        self.root.find(neighbor)
    }

    /// Hands over the neighbors in runs, ascending. O(neighbors).
    #[inline]
    pub fn runs<W: Column, B>(
        &self,
        mut run: impl FnMut(&[VertexId], &[W]) -> ControlFlow<B>,
    ) -> ControlFlow<B> {
        self.root.runs(&mut run)
    }

    /// Appends all neighbors and their values.
    pub(crate) fn append_to(&self, rows: &mut Rows) {
        self.root.leaves().for_each(|leaf| leaf.append_to(rows));
    }

    /// Visits the neighbors that two sets have in common, ascending.
    ///
    /// Sets of about one size are read in step, O(both); for much smaller ones the larger set is
    /// searched, O(smaller · log leaf capacity) (section 6.5).
    pub fn intersect(&self, other: &Self, visit: impl FnMut(VertexId)) {
        intersect::intersect(&self.root, &other.root, visit);
    }

    /// Bytes on the heap, those shared with other versions included. O(1).
    #[must_use]
    pub fn heap_bytes(&self) -> usize {
        self.root.heap_bytes()
    }

    /// Those of the bytes that `newer` shares. O(keys of the nodes that are not shared).
    #[must_use]
    pub fn shared_bytes(&self, newer: &Self) -> usize {
        shared::shared_bytes(&self.root, &newer.root)
    }
}
