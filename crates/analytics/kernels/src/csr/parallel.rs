//! Rows with a neighbor for each of several parallel edges.

use super::CsrError;
use super::copy::scan;
use hedgerow_encoding::ParallelList;
use hedgerow_model::{Direction, GraphView, LabelId, ParallelEdges, RecordCursor, VertexId};
use std::ops::{ControlFlow, Range};

/// Returns true if `label` has parallel edges, which its adjacency shows as one neighbor. O(1).
pub fn has_parallel_edges(view: &impl GraphView, label: LabelId) -> bool {
    view.parallel_edge_count(label).at_most() > view.edge_count(label).at_least()
}

/// Passes on the neighbors of every vertex in `range` that has any, ascending by vertex, in runs. A
/// neighbor is repeated for each of several parallel edges.
///
/// O(edges). Reads records only if the label [has parallel edges](has_parallel_edges); then a
/// vertex has a single, ascending run.
///
/// # Errors
/// [`CsrError::View`] if there is no such label or direction, [`CsrError::Read`] if the store could
/// not be read.
pub fn scan_each_edge<V: GraphView>(
    view: &V,
    label: LabelId,
    direction: Direction,
    range: Range<u32>,
    mut run: impl FnMut(VertexId, &[VertexId]),
) -> Result<(), CsrError> {
    if has_parallel_edges(view, label) {
        return scan_lists(view.edge_records(label, direction)?, range, run);
    }
    let adjacency = view.adjacency::<()>(label, direction)?;
    scan(&adjacency, range, |owner, neighbors, _| run(owner, neighbors))
}

/// Scans the records of a label with parallel edges: a list of edges for each neighbor.
fn scan_lists<C: RecordCursor>(
    records: C,
    range: Range<u32>,
    mut run: impl FnMut(VertexId, &[VertexId]),
) -> Result<(), CsrError> {
    let each = |row: &mut Vec<VertexId>, _, neighbor, record: &[u8]| {
        let edges = ParallelList::of_record(record).and_then(ParallelList::count)?;
        row.extend(std::iter::repeat_n(neighbor, edges as usize));
        Ok(())
    };
    scan_record_rows(records, range, each, |owner, row| {
        row.sort_unstable();
        run(owner, row);
    })
}

/// Scans the records of a range of vertices: `each` adds entries for a vertex, a neighbor and the
/// record to the row of the vertex, and `finish` takes the row, unless it is empty.
pub(super) fn scan_record_rows<C: RecordCursor, T>(
    mut records: C,
    range: Range<u32>,
    mut each: impl FnMut(&mut Vec<T>, VertexId, VertexId, &[u8]) -> Result<(), CsrError>,
    mut finish: impl FnMut(VertexId, &mut Vec<T>),
) -> Result<(), CsrError> {
    let mut current = VertexId::new(range.start);
    let mut row = Vec::new();
    let mut finish = |owner, row: &mut Vec<T>| {
        if !row.is_empty() {
            finish(owner, row);
            row.clear();
        }
    };
    let scanned = records.scan(range, |owner, neighbor, record| {
        if owner != current {
            finish(std::mem::replace(&mut current, owner), &mut row);
        }
        match each(&mut row, owner, neighbor, record) {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => ControlFlow::Break(error),
        }
    });
    if let ControlFlow::Break(error) = scanned? {
        return Err(error);
    }
    finish(current, &mut row);
    Ok(())
}
