//! Small sets as vectors, large ones as trees ("VEC" in the ablation).

use super::NeighborSet;
use crate::counted::Counted;
use crate::partition::{LARGE, SMALL_AGAIN};
use crate::radix::CompressedArt;
use crate::rows::Rows;
use hedgerow_model::{ChangeSlice, Column, ColumnType, EdgeValue, Neighbors, VertexId};
use hedgerow_rapid::subgraphs::Tally;
use hedgerow_sync::Arc;
use std::ops::ControlFlow;

/// A sorted vector, or a tree if the set is large enough to benefit from one.
#[derive(Clone, Debug)]
pub enum VectorOrTree {
    /// At most [`LARGE`] neighbors.
    Vector(Arc<Counted<Rows>>),
    /// At least [`SMALL_AGAIN`] neighbors.
    Tree(CompressedArt),
}

impl VectorOrTree {
    fn of_rows(mut rows: Rows) -> Option<Self> {
        if rows.len() > LARGE {
            return Some(VectorOrTree::Tree(CompressedArt::new(&rows, 0..rows.len())));
        }
        rows.shrink_to_fit();
        (rows.len() > 0).then(|| VectorOrTree::Vector(Counted::new(rows)))
    }

    fn of_tree(tree: CompressedArt, column: ColumnType) -> Self {
        if tree.len() >= SMALL_AGAIN {
            return VectorOrTree::Tree(tree);
        }
        let mut rows = Rows::with_capacity(column, tree.len());
        tree.append_to(&mut rows);
        VectorOrTree::Vector(Counted::new(rows))
    }
}

impl NeighborSet for VectorOrTree {
    fn merged(
        old: Option<&Self>,
        column: ColumnType,
        changes: ChangeSlice<'_>,
        tally: &mut Tally,
    ) -> Option<Self> {
        let nothing;
        let vector = match old {
            Some(VectorOrTree::Tree(tree)) => {
                let tree = CompressedArt::merged(Some(tree), column, changes, tally)?;
                return Some(Self::of_tree(tree, column));
            }
            Some(VectorOrTree::Vector(vector)) => &**vector,
            None => {
                nothing = Rows::with_capacity(column, 0);
                &nothing
            }
        };
        let before = tally.changed();
        let mut rows = Rows::with_capacity(column, vector.len() + changes.len());
        rows.extend_merged(vector, 0..vector.len(), changes, tally);
        if tally.changed() == before {
            return old.cloned();
        }
        Self::of_rows(rows)
    }

    #[inline]
    fn len(&self) -> usize {
        match self {
            VectorOrTree::Vector(rows) => rows.len(),
            VectorOrTree::Tree(tree) => tree.len(),
        }
    }

    #[inline]
    fn find(&self, neighbor: VertexId) -> Option<EdgeValue> {
        match self {
            VectorOrTree::Vector(rows) => {
                rows.find(0..rows.len(), neighbor).map(|position| rows.values.get(position))
            }
            VectorOrTree::Tree(tree) => tree.find(neighbor),
        }
    }

    #[inline]
    fn run<W: Column>(&self) -> Option<Neighbors<'_, W>> {
        match self {
            VectorOrTree::Vector(rows) => Some((&rows.neighbors, rows.values())),
            VectorOrTree::Tree(_) => None,
        }
    }

    #[inline]
    fn runs<W: Column, B>(&self, mut run: impl FnMut(&[VertexId], &[W]) -> ControlFlow<B>) -> ControlFlow<B> {
        match self {
            VectorOrTree::Vector(rows) => run(&rows.neighbors, rows.values()),
            VectorOrTree::Tree(tree) => tree.runs(run),
        }
    }

    fn heap_bytes(&self) -> usize {
        match self {
            VectorOrTree::Vector(rows) => rows.bytes(),
            VectorOrTree::Tree(tree) => tree.heap_bytes(),
        }
    }

    fn shared_bytes(&self, newer: &Self) -> usize {
        match (self, newer) {
            (VectorOrTree::Vector(old), VectorOrTree::Vector(new)) if Arc::ptr_eq(old, new) => old.bytes(),
            (VectorOrTree::Tree(old), VectorOrTree::Tree(new)) => old.shared_bytes(new),
            _ => 0,
        }
    }
}
