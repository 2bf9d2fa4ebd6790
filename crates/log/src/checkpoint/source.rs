//! What a checkpoint is written from.

use crate::EdgeRecords;
use hedgerow_model::{
    Adjacency, Column, Cursor, Direction, EdgeValue, GraphView, Key, KeyRef, LabelId, ReadError, Record,
    VertexId, VertexRecords, ViewError,
};
use std::borrow::Cow;
use std::ops::{ControlFlow, Range};

/// What a [`Source`] hands a vertex to, with its key and its record.
pub type VisitVertex<'a> = dyn FnMut(VertexId, KeyRef<'_>, &Record) -> ControlFlow<()> + 'a;

/// What a [`Source`] hands neighbours of a vertex to, with the values beside them.
pub type VisitRun<'a, W> = dyn FnMut(VertexId, &[VertexId], &[W]) -> ControlFlow<()> + 'a;

/// A state of a graph that does not change while it is read, by several threads.
pub trait Source: Sync {
    /// Visits the vertices in `range` that exist, ascending, until `visit` breaks.
    ///
    /// # Errors
    /// The state could not be read.
    fn vertices(&self, range: Range<u32>, visit: &mut VisitVertex<'_>) -> Result<(), ReadError>;

    /// Visits the out-neighbours of every vertex in `range` that has some over `label`, until `visit` breaks: ascending by
    /// vertex, then neighbour, in one run or more each. Of an undirected graph each edge is seen from both ends.
    ///
    /// # Errors
    /// The state could not be read.
    fn rows<W: Column>(
        &self,
        label: LabelId,
        range: Range<u32>,
        visit: &mut VisitRun<'_, W>,
    ) -> Result<(), ReadError>;

    /// The [bytes](crate::encode_record) of the record that is behind a value which [`Source::rows`] gave beside a neighbour; asked for labels
    /// whose edges have records, by what the run with the value was handed to, before that returns.
    fn record(&self, label: LabelId, value: EdgeValue) -> Cow<'_, [u8]>;

    /// Cuts the vertices below the bound into about `parts` ranges of about equal work, which ascend and cover every vertex
    /// that has neighbours over `label`.
    ///
    /// # Errors
    /// The state could not be read.
    fn cuts(&self, label: LabelId, parts: usize) -> Result<Vec<Range<u32>>, ReadError>;
}

/// A view of an engine, and what knows the keys of its vertices.
#[derive(Clone, Copy)]
pub struct ViewSource<'v, V, K> {
    view: &'v V,
    key: K,
    records: &'v (dyn EdgeRecords + Sync),
}

impl<'v, V, K> ViewSource<'v, V, K>
where
    V: GraphView + VertexRecords,
    K: Fn(VertexId) -> Key + Sync,
{
    /// The state that `view` shows; `key` gives the key of a vertex that exists in it, `records` has the records of its edges.
    pub fn new(view: &'v V, key: K, records: &'v (dyn EdgeRecords + Sync)) -> Self {
        ViewSource { view, key, records }
    }
}

fn not_in_view(error: ViewError) -> ReadError {
    ReadError::new("the view of a checkpoint", error)
}

impl<V, K> Source for ViewSource<'_, V, K>
where
    V: GraphView + VertexRecords,
    K: Fn(VertexId) -> Key + Sync,
{
    fn vertices(&self, range: Range<u32>, visit: &mut VisitVertex<'_>) -> Result<(), ReadError> {
        let flow = self.view.scan_vertices(range, |vertex| match self.view.vertex_record(vertex) {
            Ok(record) => {
                let record = record.unwrap_or_default();
                visit(vertex, (self.key)(vertex).as_ref(), &record).map_break(Ok)
            }
            Err(error) => ControlFlow::Break(Err(error)),
        });
        flow.map_err(Into::into)?.break_value().unwrap_or(Ok(())).map_err(Into::into)
    }

    fn rows<W: Column>(
        &self,
        label: LabelId,
        range: Range<u32>,
        visit: &mut VisitRun<'_, W>,
    ) -> Result<(), ReadError> {
        let adjacency = self.view.adjacency::<W>(label, Direction::Out).map_err(not_in_view)?;
        if is_sorted(&adjacency) {
            // Whether it broke or came to the end, that is all.
            let _flow: ControlFlow<()> = adjacency.cursor().scan(range, visit).map_err(Into::into)?;
            return Ok(());
        }
        let mut owners = Vec::new();
        self.view.each_vertex(range, |owner| owners.push(owner)).map_err(Into::into)?;
        sorted_rows(&adjacency, &owners, visit).map_err(Into::into)
    }

    fn record(&self, label: LabelId, value: EdgeValue) -> Cow<'_, [u8]> {
        self.records.record(label, value).unwrap_or_default()
    }

    fn cuts(&self, label: LabelId, parts: usize) -> Result<Vec<Range<u32>>, ReadError> {
        let adjacency = self.view.adjacency::<()>(label, Direction::Out).map_err(not_in_view)?;
        adjacency.cuts(parts).map_err(Into::into)
    }
}

fn is_sorted<A: Adjacency>(_: &A) -> bool {
    A::SORTED
}

/// The rows of an adjacency that keeps its neighbours in some other order. O(owners + n log n of each row).
///
/// They are gathered one by one: what values lead to is there until the cursor is called again.
fn sorted_rows<A: Adjacency>(
    adjacency: &A,
    owners: &[VertexId],
    visit: &mut VisitRun<'_, A::Value>,
) -> Result<(), A::Error> {
    let mut cursor = adjacency.cursor();
    let (mut entries, mut ids, mut values) = (Vec::new(), Vec::new(), Vec::new());
    for owner in owners {
        let (neighbours, beside) = cursor.gather(*owner)?;
        if neighbours.is_empty() {
            continue;
        }
        entries.clear();
        entries.extend(neighbours.iter().copied().zip(beside.iter().copied()));
        entries.sort_unstable_by_key(|(neighbour, _)| *neighbour);
        ids.clear();
        ids.extend(entries.iter().map(|(neighbour, _)| *neighbour));
        values.clear();
        values.extend(entries.iter().map(|(_, value)| *value));
        if visit(*owner, &ids, &values).is_break() {
            break;
        }
    }
    Ok(())
}
