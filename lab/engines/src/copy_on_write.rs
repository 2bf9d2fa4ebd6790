//! Immutable partitions as containers of versioned subgraphs: the rows of RapidStore's ablation
//! (Table 6), each an engine under the same commit pipeline.
//!
//! | row | here | a partition of 64 vertices |
//! |---|---|---|
//! | ART | [`FineGrainedArt`] | a plain adaptive radix tree per vertex, a version per edge |
//! | ART + SC | [`ArtGraph`] | an array of plain adaptive radix trees |
//! | C-ART + SC | [`CompressedArtGraph`] | an array of compressed trees |
//! | C-ART + SC + VEC | [`VectorArtGraph`] | an array of vectors, and of compressed trees above a degree of 256 |
//! | C-ART + SC + CI | [`ClusteredArtGraph`] | a clustered index, and compressed trees above that degree |
//!
//! SC is subgraph-centric concurrency control: one version for all neighbors of a partition, in all
//! rows except the first. The first row versions each edge and locks readers out: a different
//! concurrency control over the same trees.
//!
//! [`FineGrainedArt`]: crate::fine_grained::FineGrainedArt
//!
//! Deviations from the paper's system: a version is resolved on first access; single changes take
//! the commit pipeline of this store, with its conflicts and counts; and memory comes from the
//! program's allocator instead of a pool.

use crate::clustered::Clustered;
use crate::partition::Partition;
use crate::radix::{Art, CompressedArt};
use crate::vertex_index::{VectorOrTree, VertexIndex};
use hedgerow_model::search::Spread;
use hedgerow_model::{ChangeSlice, Column, ColumnType, Direction, Neighbors, Topology, VertexId};
use hedgerow_rapid::subgraphs::{ChangePlan, Container, Content, Owned, Subgraphs, Tally};
use std::ops::ControlFlow;

/// Versioned subgraphs over plain adaptive radix trees, one per vertex: "ART + SC" in RapidStore's
/// ablation.
pub type ArtGraph = Subgraphs<CopyOnWrite<VertexIndex<Art>>>;

/// Versioned subgraphs over compressed adaptive radix trees: "C-ART + SC".
pub type CompressedArtGraph = Subgraphs<CopyOnWrite<VertexIndex<CompressedArt>>>;

/// Versioned subgraphs over compressed trees, and a vector per vertex for small sets: "C-ART + SC +
/// VEC".
pub type VectorArtGraph = Subgraphs<CopyOnWrite<VertexIndex<VectorOrTree>>>;

/// Versioned subgraphs over compressed trees and a clustered index of small sets: "C-ART + SC +
/// CI", the complete RapidStore.
pub type ClusteredArtGraph = Subgraphs<CopyOnWrite<Clustered>>;

/// A partition in which every change makes a new version that shares the unchanged parts, as in
/// RapidStore (section 6.4). Nothing is edited in place, not even invisible versions.
#[derive(Clone, Debug)]
pub struct CopyOnWrite<P> {
    partition: P,
    column: ColumnType,
}

impl<P: Partition> CopyOnWrite<P> {
    /// Returns the container after changes; `None` if they change nothing.
    fn merged(
        old: Option<&Self>,
        column: ColumnType,
        changes: ChangeSlice<'_>,
        tally: &mut Tally,
    ) -> Option<Self> {
        let partition = P::merged(old.map(|old| &old.partition), column, changes, tally)?;
        Some(CopyOnWrite { partition, column })
    }

    /// Returns the container after changes that are counted elsewhere.
    fn after(&self, changes: ChangeSlice<'_>) -> Option<Self> {
        let mut uncounted = Tally::new(Topology::Directed, Direction::Out);
        CopyOnWrite::merged(Some(self), self.column, changes, &mut uncounted)
    }
}

impl<P: Partition> Content for CopyOnWrite<P> {
    type Changes<'c> = ChangeSlice<'c>;

    fn copied(&self) -> Owned<Self> {
        Owned::boxed(self.clone())
    }

    /// Replaces the container.
    fn edit(this: &mut Owned<Self>, changes: ChangeSlice<'_>) {
        if let Some(new) = this.after(changes) {
            *this = Owned::boxed(new);
        }
    }

    #[inline]
    fn occupied(&self) -> u64 {
        self.partition.occupied()
    }

    fn bytes(&self) -> usize {
        size_of::<Self>() + self.partition.heap_bytes()
    }

    fn bytes_beside(&self, newer: &Self) -> usize {
        self.bytes() - self.partition.shared_bytes(&newer.partition)
    }

    fn own_heap_bytes(&self) -> usize {
        self.partition.own_heap_bytes()
    }
}

impl<P: Partition> Container for CopyOnWrite<P> {
    fn plan(
        old: Option<&Self>,
        column: ColumnType,
        changes: ChangeSlice<'_>,
        tally: &mut Tally,
    ) -> ChangePlan<Self> {
        match CopyOnWrite::merged(old, column, changes, tally) {
            None => ChangePlan::Nothing,
            Some(new) if new.entries() == 0 => ChangePlan::Replace(None),
            Some(new) => ChangePlan::Replace(Some(Owned::boxed(new))),
        }
    }

    /// Returns the difference in size to the container after the changes; no plan needs it.
    fn growth(&self, changes: ChangeSlice<'_>) -> usize {
        self.after(changes).map_or(0, |new| new.bytes().saturating_sub(self.bytes()))
    }

    fn entries(&self) -> usize {
        self.partition.entries()
    }

    #[inline]
    fn degree(&self, slot: usize) -> usize {
        self.partition.degree(slot)
    }

    #[inline]
    fn find<W: Column>(&self, slot: usize, _spread: Spread, neighbor: VertexId) -> Option<W> {
        self.partition.find(slot, neighbor).map(W::from_bits)
    }

    #[inline]
    fn run<W: Column>(&self, slot: usize) -> Option<Neighbors<'_, W>> {
        self.partition.run(slot)
    }

    #[inline]
    fn visit<W: Column, B>(
        &self,
        slot: usize,
        run: impl FnMut(&[VertexId], &[W]) -> ControlFlow<B>,
    ) -> ControlFlow<B> {
        self.partition.runs(slot, run)
    }
}

#[cfg(test)]
mod tests;
