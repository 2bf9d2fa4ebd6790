//! Reading vertices where rows lie in blocks: in order, and many of a range by a scan.

use crate::{Execution, KernelError};
use hedgerow_model::{Adjacency, Cursor, VertexId};
use std::ops::{ControlFlow, Range};

/// Assumed number of rows that a scan reads in the time of one look-up.
const SCANNED_PER_LOOK_UP: usize = 8;

/// Minimum number of vertices that are worth starting a scan.
const FEWEST: usize = 16;

/// Sorts vertices, if that makes reading them faster.
pub(crate) fn sort_for(adjacency: &impl Adjacency, vertices: &mut [VertexId]) {
    if adjacency.reads_blocks() {
        vertices.sort_unstable();
    }
}

/// Returns true if a scan of a range reads `wanted` of its vertices faster than look-ups do.
pub(crate) fn is_dense(wanted: usize, range: &Range<u32>) -> bool {
    wanted.saturating_mul(SCANNED_PER_LOOK_UP) >= range.len()
}

/// Returns the range of these vertices if a scan reads them faster than look-ups do. The vertices
/// must ascend if rows lie in blocks.
pub(crate) fn dense_range(adjacency: &impl Adjacency, ascending: &[VertexId]) -> Option<Range<u32>> {
    let (first, last) = (ascending.first()?, ascending.last()?);
    let range = first.get()..last.get() + 1;
    (ascending.len() >= FEWEST && adjacency.reads_blocks() && is_dense(ascending.len(), &range))
        .then_some(range)
}

/// Passes on the neighbors of the vertices in a range that are `wanted`, which ascend. Checks for
/// cancellation at each row, since a scan reads many unwanted rows.
pub(crate) fn scan_rows<C: Cursor>(
    cursor: &mut C,
    execution: Execution<'_>,
    range: Range<u32>,
    wanted: &[VertexId],
    mut visit: impl FnMut(VertexId, &[VertexId], &[C::Value]),
) -> Result<(), KernelError> {
    let mut wanted = wanted;
    let scanned = cursor.scan(range, |vertex, neighbors, values| {
        if let Err(cancelled) = execution.check_cancelled() {
            return ControlFlow::Break(cancelled);
        }
        while let [first, rest @ ..] = wanted
            && *first < vertex
        {
            wanted = rest;
        }
        if wanted.first() == Some(&vertex) {
            visit(vertex, neighbors, values);
        }
        ControlFlow::Continue(())
    });
    scanned?.break_value().map_or(Ok(()), Err)
}
