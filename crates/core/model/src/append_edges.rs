//! Capability: engines that put and delete many edges in the order of arrival.

use crate::LabelId;
use crate::token::Stamp;

/// Changes the edges of a bulk write or a stream in the order of arrival, unsorted and with
/// duplicates, and without [`prepare`](crate::Engine::prepare). An engine that writes without
/// reading needs neither sorting nor preparation.
///
/// Calls run concurrently, even for the same edge, but never while a commit that changes edges in
/// another way holds the locks of their ends. Both ends exist, or the same commit creates them. The
/// engine counts the edges [later](crate::Outcome::deferred). It takes memory without checking a
/// limit, and cannot fail.
///
/// The engine calls `take_stamp` once, and no other appending commit takes its stamp until the
/// position of this commit is fixed: of several changes of an edge, the one with the newest stamp
/// wins. If there is no stamp, nothing changes.
pub trait AppendEdges {
    /// Returns true if edges of a label are changed this way. O(1).
    fn appends(&self, label: LabelId) -> bool;

    /// Changes the edges in one commit, at the stamp. O(edges).
    fn append(&self, edges: &AppendedEdges<'_>, take_stamp: &mut dyn FnMut() -> Option<Stamp>);

    /// Changes each edge in its own commit, at consecutive timestamps from the stamp on. No
    /// timestamp between two of them is ever registered. O(edges).
    fn append_each(&self, edges: &AppendedEdges<'_>, take_stamp: &mut dyn FnMut() -> Option<Stamp>);
}

/// Edges of a label that [is appended](AppendEdges::appends): all of them are put, or all are
/// deleted.
#[derive(Clone, Copy, Debug)]
pub struct AppendedEdges<'e> {
    /// The label.
    pub label: LabelId,
    /// True if the edges are deleted, false if they are put.
    pub deletes: bool,
    /// Source and destination of each edge, as a [position](crate::EdgeChange::position_of).
    pub edges: &'e [u64],
    /// The bits of the value of each edge to put; ignored, and possibly empty, if the label has no
    /// values.
    pub values: &'e [u64],
}
