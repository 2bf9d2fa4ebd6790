//! Computations that follow a graph, from snapshot to snapshot.

use super::Snapshot;
use crate::changes::{Change, ChangedEdge, Changes};
use crate::error::{Error, Reason};
use hedgerow_kernels::{Execution, Follow, GraphChanges, Kernel, KernelError, LabeledEdge};
use hedgerow_model::{GraphView, VertexId};

impl Snapshot {
    /// Lets a computation [begin](Follow::begin) with this state. It is compiled for each engine.
    ///
    /// ```
    /// use hedgerow::kernels::{Components, Execution};
    /// use hedgerow::prelude::*;
    /// use hedgerow::{SubscribeOptions, Topology};
    ///
    /// let options = GraphOptions::new().topology(Topology::Undirected).label::<()>("knows");
    /// let graph = Graph::in_memory(options)?;
    /// let knows = graph.label::<()>("knows")?;
    /// graph.ingest(knows, &[(1, 2), (2, 3), (3, 1), (4, 5)])?;
    ///
    /// let mut subscription = graph.subscribe(&SubscribeOptions::new())?;
    /// let before = subscription.snapshot()?;
    /// let (mut components, execution) = (Components::default().label(knows), Execution::default());
    /// before.begin(&mut components, execution)?;
    /// assert_eq!(components.count(), 2);
    ///
    /// graph.put_edge(knows, 3, 4)?;
    /// graph.delete_edge(knows, 1, 2)?;
    /// let changes = subscription.pull()?;
    /// let after = graph.snapshot()?; // Nothing was committed after the pull.
    /// after.follow(&before, &changes, &mut components, execution)?;
    /// assert_eq!(components.count(), 1);
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// # Errors
    /// The error of the computation; or this is the state of a transaction.
    pub fn begin<C: Follow>(&self, computation: &mut C, execution: Execution<'_>) -> Result<(), Error> {
        self.run_committed(Beginning { computation, execution })
    }

    /// Lets a computation [follow](Follow::follow) the graph from an earlier state to this one. The
    /// changes are all between the two: those that a subscription without filters has pulled, which
    /// was at the commit of the earlier state, and is at that of this one.
    ///
    /// # Errors
    /// The error of the computation; or one of the two is the state of a transaction, or of another
    /// graph.
    pub fn follow<C: Follow>(
        &self,
        before: &Snapshot,
        changes: &Changes,
        computation: &mut C,
        execution: Execution<'_>,
    ) -> Result<(), Error> {
        if self.staged().or(before.staged()).is_some() {
            return Err(Reason::StagedKernel.into());
        }
        self.typed()?;
        if !self.shared().is(before.shared()) {
            return Err(Reason::ForeignSnapshot.into());
        }
        let changed = Changed::of(changes);
        Ok(self.follow_below(before, changed.as_kernels_read(), computation, execution)?)
    }
}

/// A kernel that lets a computation begin.
struct Beginning<'c, C> {
    computation: &'c mut C,
    execution: Execution<'c>,
}

impl<C: Follow> Kernel for Beginning<'_, C> {
    type Output = ();

    fn run<V: GraphView>(self, view: &V) -> Result<(), KernelError> {
        self.computation.begin(view, self.execution)
    }
}

/// Changes in columns, by ids.
#[derive(Default)]
struct Changed {
    put_edges: Vec<LabeledEdge>,
    deleted_edges: Vec<LabeledEdge>,
    put_vertices: Vec<VertexId>,
    deleted_vertices: Vec<VertexId>,
}

impl Changed {
    fn of(changes: &Changes) -> Self {
        let mut changed = Changed::default();
        let labeled = |edge: ChangedEdge<'_>| (edge.label(), edge.ids().0, edge.ids().1);
        for change in changes.iter() {
            match change {
                Change::PutEdge(edge) => changed.put_edges.push(labeled(edge)),
                Change::DeleteEdge(edge) => changed.deleted_edges.push(labeled(edge)),
                Change::PutVertex(vertex) => changed.put_vertices.push(vertex.id()),
                Change::DeleteVertex(vertex) => changed.deleted_vertices.push(vertex.id()),
            }
        }
        changed
    }

    fn as_kernels_read(&self) -> GraphChanges<'_> {
        let Changed { put_edges, deleted_edges, put_vertices, deleted_vertices } = self;
        GraphChanges { put_edges, deleted_edges, put_vertices, deleted_vertices }
    }
}
