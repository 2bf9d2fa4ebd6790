//! The input of a checkpoint.

use hedgerow_model::{
    Adjacency, Column, Cursor, Direction, GraphView, Key, KeyRef, LabelId, ReadError, Record, RecordCursor,
    VertexId, ViewError,
};
use std::ops::{ControlFlow, Range};

/// Receives a vertex from a [`CheckpointSource`], with its key and its record.
pub type VisitVertex<'a> = dyn FnMut(VertexId, KeyRef<'_>, &Record) -> ControlFlow<()> + 'a;

/// Receives neighbors of a vertex from a [`CheckpointSource`], with the values of the edges.
pub type VisitRun<'a, W> = dyn FnMut(VertexId, &[VertexId], &[W]) -> ControlFlow<()> + 'a;

/// Receives an edge from a [`CheckpointSource`], with its record.
pub type VisitRecord<'a> = dyn FnMut(VertexId, VertexId, &[u8]) -> ControlFlow<()> + 'a;

/// An immutable state of a graph, read by several threads. Every method fails if the state cannot
/// be read.
pub trait CheckpointSource: Sync {
    /// Visits the vertices in `range`, ascending, until `visit` breaks.
    fn vertices(&self, range: Range<u32>, visit: &mut VisitVertex<'_>) -> Result<(), ReadError>;

    /// Visits the out-neighbors over `label` of every vertex in `range` that has neighbors, until
    /// `visit` breaks: ascending by vertex, then neighbor. A vertex may have several runs. In an
    /// undirected graph each edge is visited from both ends.
    fn rows<W: Column>(
        &self,
        label: LabelId,
        range: Range<u32>,
        visit: &mut VisitRun<'_, W>,
    ) -> Result<(), ReadError>;

    /// Visits the edges of a label with records, one by one, in the order of
    /// [`CheckpointSource::rows`], each with its encoded record, or with the list of all parallel
    /// edges.
    fn records(
        &self,
        label: LabelId,
        range: Range<u32>,
        visit: &mut VisitRecord<'_>,
    ) -> Result<(), ReadError>;

    /// Partitions the vertices below the bound into about `parts` ranges of about equal work, which
    /// ascend and cover every vertex with neighbors over `label`.
    fn cuts(&self, label: LabelId, parts: usize) -> Result<Vec<Range<u32>>, ReadError>;
}

/// A view of an engine or a static graph, and a function for the keys of its vertices.
#[derive(Clone, Copy)]
pub struct ViewSource<'v, V, K> {
    view: &'v V,
    key: K,
    /// The label in the view whose edges are read, instead of the one that the checkpoint asks for.
    label: Option<LabelId>,
}

impl<'v, V, K> ViewSource<'v, V, K>
where
    V: GraphView,
    K: Fn(VertexId) -> Key + Sync,
{
    /// Creates a source of the state that `view` shows; `key` returns the key of a vertex in that
    /// state.
    pub fn new(view: &'v V, key: K) -> Self {
        ViewSource { view, key, label: None }
    }

    /// Reads the edges of this label of the view, whatever label the checkpoint gives them. Only
    /// one label of the checkpoint may have edges.
    #[must_use]
    pub fn with_edges_of(mut self, label: LabelId) -> Self {
        self.label = Some(label);
        self
    }

    fn in_view(&self, label: LabelId) -> LabelId {
        self.label.unwrap_or(label)
    }
}

fn not_in_view(error: ViewError) -> ReadError {
    ReadError::new("the view of a checkpoint", error)
}

impl<V, K> CheckpointSource for ViewSource<'_, V, K>
where
    V: GraphView,
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
        flow?.break_value().unwrap_or(Ok(()))
    }

    fn rows<W: Column>(
        &self,
        label: LabelId,
        range: Range<u32>,
        visit: &mut VisitRun<'_, W>,
    ) -> Result<(), ReadError> {
        let adjacency = self.view.adjacency::<W>(self.in_view(label), Direction::Out).map_err(not_in_view)?;
        if is_sorted(&adjacency) {
            // A break and the end are equivalent here.
            let _flow: ControlFlow<()> = adjacency.cursor().scan(range, visit)?;
            return Ok(());
        }
        let mut owners = Vec::new();
        self.view.each_vertex(range, |owner| owners.push(owner))?;
        sorted_rows(&adjacency, &owners, visit)
    }

    fn records(
        &self,
        label: LabelId,
        range: Range<u32>,
        visit: &mut VisitRecord<'_>,
    ) -> Result<(), ReadError> {
        let mut cursor = self.view.edge_records(self.in_view(label), Direction::Out).map_err(not_in_view)?;
        if is_sorted_by_neighbor(&cursor) {
            let _flow: ControlFlow<()> = cursor.scan(range, visit)?;
            return Ok(());
        }
        let mut row = RecordRow::default();
        let flow = cursor.scan(range, |owner, neighbor, record| {
            if row.owner != Some(owner) {
                row.visit_sorted(visit)?;
                row.owner = Some(owner);
            }
            row.push(neighbor, record);
            ControlFlow::Continue(())
        });
        if flow?.is_continue() {
            let _flow: ControlFlow<()> = row.visit_sorted(visit);
        }
        Ok(())
    }

    fn cuts(&self, label: LabelId, parts: usize) -> Result<Vec<Range<u32>>, ReadError> {
        let adjacency =
            self.view.adjacency::<()>(self.in_view(label), Direction::Out).map_err(not_in_view)?;
        adjacency.cuts(parts)
    }
}

fn is_sorted_by_neighbor<C: RecordCursor>(_: &C) -> bool {
    C::SORTED
}

/// The edges of one vertex with their records, in any order.
#[derive(Default)]
struct RecordRow {
    owner: Option<VertexId>,
    /// Each neighbor, and the range of its record in `bytes`.
    edges: Vec<(VertexId, Range<usize>)>,
    bytes: Vec<u8>,
}

impl RecordRow {
    fn push(&mut self, neighbor: VertexId, record: &[u8]) {
        let start = self.bytes.len();
        self.bytes.extend_from_slice(record);
        self.edges.push((neighbor, start..self.bytes.len()));
    }

    /// Visits the edges, ascending by neighbor, and clears them.
    fn visit_sorted(&mut self, visit: &mut VisitRecord<'_>) -> ControlFlow<()> {
        let Some(owner) = self.owner.take() else { return ControlFlow::Continue(()) };
        self.edges.sort_unstable_by_key(|(neighbor, _)| *neighbor);
        let mut edges = self.edges.drain(..);
        let flow = edges.try_for_each(|(neighbor, record)| visit(owner, neighbor, &self.bytes[record]));
        drop(edges);
        self.bytes.clear();
        flow
    }
}

fn is_sorted<A: Adjacency>(_: &A) -> bool {
    A::SORTED
}

/// Visits the rows of an adjacency whose neighbors are not sorted. O(owners + n log n of each row).
fn sorted_rows<A: Adjacency>(
    adjacency: &A,
    owners: &[VertexId],
    visit: &mut VisitRun<'_, A::Value>,
) -> Result<(), ReadError> {
    let mut cursor = adjacency.cursor();
    let (mut entries, mut ids, mut values) = (Vec::new(), Vec::new(), Vec::new());
    for owner in owners {
        let (neighbors, beside) = cursor.gather(*owner)?;
        if neighbors.is_empty() {
            continue;
        }
        entries.clear();
        entries.extend(neighbors.iter().copied().zip(beside.iter().copied()));
        entries.sort_unstable_by_key(|(neighbor, _)| *neighbor);
        ids.clear();
        ids.extend(entries.iter().map(|(neighbor, _)| *neighbor));
        values.clear();
        values.extend(entries.iter().map(|(_, value)| *value));
        if visit(*owner, &ids, &values).is_break() {
            break;
        }
    }
    Ok(())
}
