//! Computations that follow a changing graph.
//!
//! | file | content |
//! |---|---|
//! | `components/` | connected components, on a spanning forest |
//! | `degrees.rs` | degrees, and the vertices of the largest ones |

mod components;
mod degrees;

pub use components::Components;
pub use degrees::{DegreeKind, Degrees};

use crate::{Execution, KernelError};
use hedgerow_model::{GraphView, LabelId, VertexId};

/// A computation that follows a changing graph: it computes a result once, and then updates it for
/// each batch of changes, much faster than a [`Kernel`](crate::Kernel) computes it again.
///
/// Its result can be read at any time, by methods of its own: that of the last view.
///
/// ```
/// use hedgerow_kernels::{BuildOptions, Components, Csr, Execution, Follow, GraphChanges};
/// use hedgerow_model::{LabelId, Topology, VertexId};
///
/// let id = VertexId::new;
/// let graph = |edges: &[(VertexId, VertexId)]| {
///     Csr::from_edges(4, Topology::Undirected, edges, BuildOptions::default()).unwrap()
/// };
/// let (before, after) = (graph(&[(id(0), id(1)), (id(1), id(2))]), graph(&[(id(0), id(1)), (id(2), id(3))]));
///
/// let (mut components, execution) = (Components::default(), Execution::default());
/// components.begin(&before, execution)?;
/// assert_eq!(components.labels(), [0, 0, 0, 3]);
///
/// let changes = GraphChanges {
///     put_edges: &[(LabelId::DEFAULT, id(2), id(3))],
///     deleted_edges: &[(LabelId::DEFAULT, id(1), id(2))],
///     ..GraphChanges::default()
/// };
/// components.follow(&before, changes, &after, execution)?;
/// assert_eq!(components.labels(), [0, 0, 2, 2]);
/// # Ok::<(), hedgerow_kernels::KernelError>(())
/// ```
pub trait Follow {
    /// Computes the result for a state of a graph, whatever the result was before.
    ///
    /// # Errors
    /// See [`KernelError`]. Afterwards the result is that of an empty graph.
    fn begin<V: GraphView>(&mut self, view: &V, execution: Execution<'_>) -> Result<(), KernelError>;

    /// Updates the result from the state of the last call, `before`, to the state `after`. Without
    /// a successful last call it [begins](Follow::begin) with `after`.
    ///
    /// Make `execution` once, not for each batch: to detect the available memory takes longer than
    /// to follow a single change.
    ///
    /// # Errors
    /// See [`KernelError`]. Afterwards the result is that of an empty graph.
    fn follow<V: GraphView>(
        &mut self,
        before: &V,
        changes: GraphChanges<'_>,
        after: &V,
        execution: Execution<'_>,
    ) -> Result<(), KernelError>;
}

/// An edge of a [`GraphChanges`]: its label, its source and its destination; the ends of an
/// undirected edge in any order.
pub type LabeledEdge = (LabelId, VertexId, VertexId);

/// The changes between two states of a graph, by one commit or by several.
///
/// Lists everything that differs between the states, the edges of deleted vertices too, and may
/// list more: an edge that was put may have been there, or be gone again; an edge that was deleted
/// may not have been there, be back, or have parallel edges left; an id may belong to another
/// vertex now. A computation therefore compares the states where something is listed.
#[derive(Clone, Copy, Debug, Default)]
pub struct GraphChanges<'c> {
    /// The edges that were put, in the order of the commits.
    pub put_edges: &'c [LabeledEdge],
    /// The edges that were deleted, in the order of the commits.
    pub deleted_edges: &'c [LabeledEdge],
    /// The vertices that were put.
    pub put_vertices: &'c [VertexId],
    /// The vertices that were deleted.
    pub deleted_vertices: &'c [VertexId],
}

/// The ends of the edges of a label.
fn ends_of(edges: &[LabeledEdge], label: LabelId) -> impl Iterator<Item = (VertexId, VertexId)> {
    let of_label = edges.iter().filter(move |(of, ..)| *of == label);
    of_label.map(|(_, source, destination)| (*source, *destination))
}
