//! Neighbor sets as radix trees over the four bytes of an id: the adaptive radix tree, and the
//! compressed one of RapidStore (PVLDB 18(10), 2025, section 6.2).
//!
//! Both are one tree with different leaves. A leaf of the plain tree ([`Art`]) is one neighbor; a
//! leaf of the compressed one ([`CompressedArt`]) is a segment of up to 512 with one prefix, which
//! several keys of a node may share.
//!
//! A tree is immutable. A change makes a new root that shares memory with the old one where
//! possible, by reference counts (section 6.4); a node is freed with the last version that contains
//! it.
//!
//! | file | content |
//! |---|---|
//! | `leaf.rs`, `segment.rs`, `suffixes.rs` | leaves, and the layout of their ids |
//! | `subtree.rs` | a subtree, which is a leaf or a node, and its reads |
//! | `children.rs` | the kinds of nodes: the children by key |
//! | `build.rs` | building subtrees from sorted neighbors; splitting leaves |
//! | `merge.rs`, `parts.rs` | any number of changes; merging sparse leaves |
//! | `edit.rs`, `values.rs` | the fast path of one change |
//! | `intersect.rs`, `shared.rs` | common neighbors; shared memory |
//!
//! Immutable trees allow three deviations from the paper. A set that fits into one leaf has no root
//! node. The position to split a leaf is found in the leaf itself instead of in offsets next to the
//! pointers. A node with many keys but few leaves has one pointer per leaf and a table of 256
//! bytes, like a Node48, instead of one pointer per key.

mod build;
mod children;
mod edit;
mod intersect;
mod keys;
mod leaf;
mod merge;
mod parts;
mod segment;
mod shared;
mod simd;
mod subtree;
mod suffixes;
#[cfg(test)]
mod tests;
mod values;

use crate::rows::Rows;
use hedgerow_model::{ChangeSlice, Column, ColumnType, EdgeChange, EdgeValue, ValueColumn, VertexId};
use hedgerow_rapid::subgraphs::Tally;
pub(crate) use leaf::Leaf;
use leaf::SingleLeaf;
use merge::Merge;
use segment::SegmentLeaf;
use std::ops::{ControlFlow, Range};
use subtree::Child;

/// The most neighbors of a leaf (section 6.5, "Hyperparameters").
pub(crate) const LEAF_CAPACITY: usize = 512;

/// An adaptive radix tree: each neighbor in a leaf of its own.
pub type Art = RadixTree<SingleLeaf>;

/// A compressed adaptive radix tree: leaves of many neighbors with a common prefix.
pub type CompressedArt = RadixTree<SegmentLeaf<LEAF_CAPACITY>>;

/// A nonempty set of neighbors, each with a value. Immutable; cloning costs O(1).
///
/// ```
/// use hedgerow_lab_engines::CompressedArt;
/// use hedgerow_model::VertexId;
///
/// let ids = |step: u32| (0..1000).map(|id| VertexId::new(id * step)).collect::<Vec<_>>(); let
/// (Some(thirds), Some(fifths)) = (CompressedArt::from_sorted(&ids(3)),
/// CompressedArt::from_sorted(&ids(5))) else { panic!("they ascend") };
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
    /// Returns a set of ids without values; `None` if there are none or they do not ascend. O(ids).
    #[must_use]
    pub fn from_sorted(neighbors: &[VertexId]) -> Option<Self> {
        if neighbors.is_empty() || !neighbors.is_sorted_by(|one, next| one < next) {
            return None;
        }
        let rows = Rows { neighbors: neighbors.to_vec(), values: ValueColumn::Unit };
        Some(RadixTree::new(&rows, 0..rows.len()))
    }

    /// Creates a set of a nonempty sorted range of rows. O(range).
    pub(crate) fn new(rows: &Rows, stretch: Range<usize>) -> Self {
        RadixTree { root: build::build(rows, stretch) }
    }

    /// Returns the set after `changes`, which ascend by neighbor; `None` if it becomes empty.
    ///
    /// O(bytes of an id · (256 + leaf capacity)) for one change.
    pub fn merged(
        old: Option<&Self>,
        column: ColumnType,
        changes: ChangeSlice<'_>,
        tally: &mut Tally,
    ) -> Option<Self> {
        if let (Some(old), 1, Some(change)) = (old, changes.len(), changes.get(0))
            && let Some(new) = old.edited(column, &change, tally)
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

    /// Returns the set after one change that keeps the shape of the tree.
    fn edited(&self, column: ColumnType, change: &EdgeChange, tally: &mut Tally) -> Option<Self> {
        let found = self.find(change.neighbor());
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

    /// Returns the number of neighbors, at least one. O(1).
    #[must_use]
    #[expect(clippy::len_without_is_empty, reason = "a set is never empty")]
    #[inline]
    pub fn len(&self) -> usize {
        self.root.len()
    }

    /// Returns the value of a neighbor. O(bytes of an id + log leaf capacity).
    #[must_use]
    #[inline]
    pub fn find(&self, neighbor: VertexId) -> Option<EdgeValue> {
        self.root.find(neighbor)
    }

    /// Visits the neighbors in runs, ascending. O(neighbors).
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

    /// Visits the common neighbors of two sets, ascending.
    ///
    /// Sets of similar size are read in step, O(both); if one is much smaller, the larger one is
    /// searched, O(smaller · log leaf capacity) (section 6.5).
    pub fn intersect(&self, other: &Self, visit: impl FnMut(VertexId)) {
        intersect::intersect(&self.root, &other.root, visit);
    }

    /// Returns the heap bytes, including bytes shared with other versions. O(1).
    #[must_use]
    pub fn heap_bytes(&self) -> usize {
        self.root.heap_bytes()
    }

    /// Returns the part of the heap bytes that `newer` shares. O(keys of the nodes that are not
    /// shared).
    #[must_use]
    pub fn shared_bytes(&self, newer: &Self) -> usize {
        shared::shared_bytes(&self.root, &newer.root)
    }
}
