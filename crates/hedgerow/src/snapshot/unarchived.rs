//! Edges that are not archived, as a list.

use super::{Snapshot, with_view};
use crate::error::Error;
use hedgerow_model::{Column, CommitTimestamp, Direction, GraphView, LabelId, VertexId};
use hedgerow_pipeline::Error as Cause;

/// A change of an edge that is not archived: see [`Snapshot::unarchived_edges`].
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct UnarchivedEdge<W = ()> {
    /// The commit that made it.
    pub commit: CommitTimestamp,
    /// The vertex that the edge leaves; of an undirected edge, that with the lower id.
    pub source: VertexId,
    /// The vertex that it leads to.
    pub destination: VertexId,
    /// The value that it got; `None` if it was deleted.
    pub put: Option<W>,
}

impl Snapshot {
    /// The changes of edges of a label in this state that are not archived, those of one edge in the order of their commits; an edge
    /// may be put that exists, and deleted if it does not. Empty on engines without a log of edges. O(changes).
    ///
    /// For computations over edges rather than vertices (GraphOne, 6.1): these changes, applied to the state of the commit
    /// [`Snapshot::archived_through`], make this state. A [stale](crate::SnapshotOptions::stale) view that was opened just before mostly shows that
    /// state.
    ///
    /// # Errors
    /// There is no such label, or its edges carry another type than `W`; `()` fits all.
    pub fn unarchived_edges<W: Column>(
        &self,
        label: impl Into<LabelId>,
    ) -> Result<Vec<UnarchivedEdge<W>>, Error> {
        let label = label.into();
        with_view!(self, _store, view => {
            view.adjacency::<W>(label, Direction::Out).map(drop).map_err(Cause::from)?;
            let mut edges = Vec::new();
            view.for_each_unarchived(label, &mut |commit, change| {
                let put = change.value.map(W::from_bits);
                edges.push(UnarchivedEdge { commit, source: change.owner, destination: change.neighbor, put });
            });
            Ok(edges)
        })
    }

    /// The commit up to which everything is archived that this snapshot reads: this state, or one before it. O(buffers of the log).
    #[must_use]
    pub fn archived_through(&self) -> CommitTimestamp {
        with_view!(even in child self, _store, view => view.archived_through())
    }
}
