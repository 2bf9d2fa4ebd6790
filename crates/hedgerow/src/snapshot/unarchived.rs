//! Lists of edges that are not archived.

use super::Snapshot;
use crate::error::Error;
use hedgerow_model::{Column, CommitTimestamp, Direction, GraphView, LabelId, VertexId};
use hedgerow_pipeline::Error as Cause;

/// A change to an edge that is not archived: see [`Snapshot::unarchived_edges`].
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct UnarchivedEdge<W = ()> {
    /// The commit that made the change.
    pub commit: CommitTimestamp,
    /// The source of the edge; of an undirected edge, the vertex with the lower id.
    pub source: VertexId,
    /// The destination of the edge.
    pub destination: VertexId,
    /// The new value of the edge; `None` if it was deleted.
    pub put: Option<W>,
}

impl Snapshot {
    /// Returns the unarchived changes to edges of a label in this state, the changes to one edge in
    /// commit order; an existing edge may be put, and a missing one deleted. Empty on engines
    /// without a log of edges. Does not list the writes that a transaction has staged. O(changes).
    ///
    /// For computations over edges rather than vertices (GraphOne, 6.1): applying these changes to
    /// the state of the commit [`Snapshot::archived_through`] gives this state. A
    /// [stale](crate::SnapshotOptions::stale) view that was opened just before mostly shows the
    /// archived state.
    ///
    /// # Errors
    /// There is no such label, or its edges carry another type than `W`; `()` fits all.
    pub fn unarchived_edges<W: Column>(
        &self,
        label: impl Into<LabelId>,
    ) -> Result<Vec<UnarchivedEdge<W>>, Error> {
        let label = label.into();
        let view = self.erased_view()?;
        view.adjacency::<W>(label, Direction::Out).map(drop).map_err(Cause::from)?;
        let mut edges = Vec::new();
        view.for_each_unarchived(label, &mut |commit, change| {
            let put = change.value.map(W::from_bits);
            edges.push(UnarchivedEdge {
                commit,
                source: change.owner(),
                destination: change.neighbor(),
                put,
            });
        });
        Ok(edges)
    }

    /// Returns the commit up to which this snapshot is fully archived: the commit of this state, or
    /// an earlier one. O(buffers of the log).
    #[must_use]
    pub fn archived_through(&self) -> CommitTimestamp {
        self.view_even_in_child().archived_through()
    }
}
