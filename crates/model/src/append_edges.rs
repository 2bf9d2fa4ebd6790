//! Capability: engines that put and delete many edges as they come.

use crate::LabelId;
use crate::token::Stamp;

/// Changes the edges of a bulk write or a stream in the order in which they came, neither sorted nor without duplicates, and without
/// [`prepare`](crate::Engine::prepare): an engine that writes without reading has no use for either.
///
/// Calls come beside each other, also for the same edge, but never while a commit that changes edges in another way holds the locks of
/// their ends. Both ends exist, or the same commit creates them. The engine counts the edges [later](crate::Outcome::deferred).
/// It takes memory without a check of a limit, and cannot fail.
///
/// The engine calls `take_stamp` once, and no other commit that is appended takes its stamp until the place of this one is fixed: of the
/// changes of an edge, the one with the newest stamp wins. If there is no stamp, nothing changes.
pub trait AppendEdges {
    /// Whether edges of a label are changed this way. O(1).
    fn appends(&self, label: LabelId) -> bool;

    /// Changes edges in the commit of the stamp. O(edges).
    fn append(&self, edges: &AppendedEdges<'_>, take_stamp: &mut dyn FnMut() -> Option<Stamp>);

    /// Changes each edge in a commit of its own: the first at the stamp, each other at the timestamp after that of the edge before
    /// it. No timestamp between two of them is ever registered. O(edges).
    fn append_each(&self, edges: &AppendedEdges<'_>, take_stamp: &mut dyn FnMut() -> Option<Stamp>);
}

/// Edges of a label that [is appended](AppendEdges::appends): all of them are put, or all deleted.
#[derive(Clone, Copy, Debug)]
pub struct AppendedEdges<'e> {
    /// The label.
    pub label: LabelId,
    /// Whether the edges are deleted.
    pub deletes: bool,
    /// Source and destination of each edge, as a [position](crate::EdgeChange::position_of).
    pub edges: &'e [u64],
    /// The bits of the value of each edge to put; ignored, and perhaps empty, if the label has no values.
    pub values: &'e [u64],
}
