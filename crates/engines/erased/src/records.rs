//! Reading the records of edges through virtual calls.

use crate::Inline;
use hedgerow_encoding::{EdgeListWriter, ParallelList};
use hedgerow_model::{ParallelEdges, ReadError, RecordCursor, VertexId};
use std::ops::{ControlFlow, Range};

/// Receives the source, destination and record of an edge.
type VisitRecord<'f> = dyn FnMut(VertexId, VertexId, &[u8]) -> ControlFlow<()> + 'f;

/// [`RecordCursor`] with its types erased. Parallel edges are copied into lists.
pub(crate) trait AnyRecords {
    fn find(&mut self, vertex: VertexId, neighbor: VertexId) -> Result<Option<&[u8]>, ReadError>;

    fn neighbors<'c>(
        &'c mut self,
        vertex: VertexId,
        visit: &mut dyn FnMut(VertexId, &'c [u8]) -> ControlFlow<()>,
    ) -> Result<(), ReadError>;

    fn scan(&mut self, range: Range<u32>, visit: &mut VisitRecord<'_>) -> Result<(), ReadError>;

    /// Passes on the list of the parallel edges from `vertex` to `neighbor`, or the lists for all
    /// neighbors.
    fn parallel(
        &mut self,
        vertex: VertexId,
        neighbor: Option<VertexId>,
        take: &mut dyn FnMut(VertexId, Vec<u8>),
    ) -> Result<(), ReadError>;
}

/// All parallel edges between two vertices as a list.
fn list_of<'c>(edges: impl ParallelEdges<'c>) -> Result<Vec<u8>, ReadError> {
    let mut list = EdgeListWriter::default();
    for edge in edges.edges(0..=u64::MAX) {
        let (key, record) = edge?;
        list.push(key, Some(record));
    }
    Ok(list.into_bytes())
}

impl<C: RecordCursor> AnyRecords for C {
    fn find(&mut self, vertex: VertexId, neighbor: VertexId) -> Result<Option<&[u8]>, ReadError> {
        RecordCursor::find(self, vertex, neighbor)
    }

    fn neighbors<'c>(
        &'c mut self,
        vertex: VertexId,
        visit: &mut dyn FnMut(VertexId, &'c [u8]) -> ControlFlow<()>,
    ) -> Result<(), ReadError> {
        let _flow: ControlFlow<()> = RecordCursor::neighbors(self, vertex, visit)?;
        Ok(())
    }

    fn scan(&mut self, range: Range<u32>, visit: &mut VisitRecord<'_>) -> Result<(), ReadError> {
        let _flow: ControlFlow<()> = RecordCursor::scan(self, range, visit)?;
        Ok(())
    }

    fn parallel(
        &mut self,
        vertex: VertexId,
        neighbor: Option<VertexId>,
        take: &mut dyn FnMut(VertexId, Vec<u8>),
    ) -> Result<(), ReadError> {
        if let Some(neighbor) = neighbor {
            if let Some(edges) = self.find_parallel(vertex, neighbor)? {
                take(neighbor, list_of(edges)?);
            }
            return Ok(());
        }
        let flow = self.parallel_neighbors(vertex, |neighbor, edges| match list_of(edges) {
            Ok(list) => {
                take(neighbor, list);
                ControlFlow::Continue(())
            }
            Err(error) => ControlFlow::Break(error),
        });
        flow?.break_value().map_or(Ok(()), Err)
    }
}

/// Reads the records of one label's edges.
pub struct ErasedRecords<'v> {
    records: Inline<dyn AnyRecords + 'v>,
    /// Copies of parallel edges, lent to the caller.
    lists: Vec<(VertexId, Vec<u8>)>,
}

impl<'v> ErasedRecords<'v> {
    pub(crate) fn new(records: Inline<dyn AnyRecords + 'v>) -> Self {
        ErasedRecords { records, lists: Vec::new() }
    }

    /// Copies the parallel edges from a vertex to one neighbor, or to all.
    fn copy_lists(&mut self, vertex: VertexId, neighbor: Option<VertexId>) -> Result<(), ReadError> {
        let ErasedRecords { records, lists } = self;
        lists.clear();
        records.parallel(vertex, neighbor, &mut |neighbor, list| lists.push((neighbor, list)))
    }
}

/// Keeps the result of `visit` while a call that can only stop or continue passes it on.
fn flow_of<B>(flow: ControlFlow<B>, kept: &mut ControlFlow<B>) -> ControlFlow<()> {
    *kept = flow;
    if kept.is_break() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
}

impl RecordCursor for ErasedRecords<'_> {
    type Parallel<'c>
        = ParallelList<'c>
    where
        Self: 'c;

    const SORTED: bool = false;

    fn find(&mut self, vertex: VertexId, neighbor: VertexId) -> Result<Option<&[u8]>, ReadError> {
        self.records.find(vertex, neighbor)
    }

    fn neighbors<'c, B>(
        &'c mut self,
        vertex: VertexId,
        mut visit: impl FnMut(VertexId, &'c [u8]) -> ControlFlow<B>,
    ) -> Result<ControlFlow<B>, ReadError> {
        let mut flow = ControlFlow::Continue(());
        self.records
            .neighbors(vertex, &mut |neighbor, record| flow_of(visit(neighbor, record), &mut flow))?;
        Ok(flow)
    }

    fn scan<B>(
        &mut self,
        range: Range<u32>,
        mut visit: impl FnMut(VertexId, VertexId, &[u8]) -> ControlFlow<B>,
    ) -> Result<ControlFlow<B>, ReadError> {
        let mut flow = ControlFlow::Continue(());
        self.records
            .scan(range, &mut |owner, neighbor, record| flow_of(visit(owner, neighbor, record), &mut flow))?;
        Ok(flow)
    }

    fn find_parallel(
        &mut self,
        vertex: VertexId,
        neighbor: VertexId,
    ) -> Result<Option<ParallelList<'_>>, ReadError> {
        self.copy_lists(vertex, Some(neighbor))?;
        Ok(self.lists.first().map(|(_, list)| ParallelList::new(list)))
    }

    fn parallel_neighbors<'c, B>(
        &'c mut self,
        vertex: VertexId,
        mut visit: impl FnMut(VertexId, ParallelList<'c>) -> ControlFlow<B>,
    ) -> Result<ControlFlow<B>, ReadError> {
        self.copy_lists(vertex, None)?;
        Ok(self.lists.iter().try_for_each(|(neighbor, list)| visit(*neighbor, ParallelList::new(list))))
    }
}
