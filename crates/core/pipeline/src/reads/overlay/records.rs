//! Records of edges with staged changes.

use super::changes::{StagedEdge, StagedParallel, StagedRows};
use hedgerow_encoding::{EdgeListWriter, list_as_record};
use hedgerow_model::{ParallelEdges, ReadError, RecordCursor, VertexId};
use std::ops::{ControlFlow, Range, RangeInclusive};

/// Reads the records of edges with staged changes.
pub struct OverlayRecords<'t, C> {
    stored: C,
    rows: StagedRows<'t>,
}

impl<'t, C> OverlayRecords<'t, C> {
    pub(super) fn new(stored: C, rows: StagedRows<'t>) -> Self {
        OverlayRecords { stored, rows }
    }
}

impl<C: RecordCursor> RecordCursor for OverlayRecords<'_, C> {
    type Parallel<'c>
        = OverlayParallel<'c, C::Parallel<'c>>
    where
        Self: 'c;

    const SORTED: bool = false;

    fn find(&mut self, vertex: VertexId, neighbor: VertexId) -> Result<Option<&[u8]>, ReadError> {
        match self.rows.find(vertex, neighbor) {
            Some(StagedEdge::Record(record)) => Ok(record.as_deref()),
            Some(_) => Ok(None),
            None if self.rows.hides(vertex, neighbor) => Ok(None),
            None => self.stored.find(vertex, neighbor),
        }
    }

    fn neighbors<'c, B>(
        &'c mut self,
        vertex: VertexId,
        mut visit: impl FnMut(VertexId, &'c [u8]) -> ControlFlow<B>,
    ) -> Result<ControlFlow<B>, ReadError> {
        let rows = self.rows;
        let flow = self.stored.neighbors(vertex, |neighbor, record| {
            if rows.find(vertex, neighbor).is_some() || rows.hides(vertex, neighbor) {
                return ControlFlow::Continue(());
            }
            visit(neighbor, record)
        });
        if let ControlFlow::Break(stopped) = flow? {
            return Ok(ControlFlow::Break(stopped));
        }
        Ok(rows.row(vertex).try_for_each(|(neighbor, edge)| match edge {
            StagedEdge::Record(Some(record)) => visit(neighbor, record),
            _ => ControlFlow::Continue(()),
        }))
    }

    fn scan<B>(
        &mut self,
        range: Range<u32>,
        mut visit: impl FnMut(VertexId, VertexId, &[u8]) -> ControlFlow<B>,
    ) -> Result<ControlFlow<B>, ReadError> {
        let (rows, mut next) = (self.rows, range.start);
        while next < range.end {
            let changed = rows.next_owner(next..range.end);
            let until = changed.map_or(range.end, VertexId::get);
            let kept = |owner, neighbor, record: &[u8]| match rows.hides(owner, neighbor) {
                true => ControlFlow::Continue(()),
                false => visit(owner, neighbor, record),
            };
            if next < until
                && let ControlFlow::Break(stopped) = self.stored.scan(next..until, kept)?
            {
                return Ok(ControlFlow::Break(stopped));
            }
            next = until;
            if let Some(vertex) = changed {
                if let ControlFlow::Break(stopped) = self.scan_changed(vertex, &mut visit)? {
                    return Ok(ControlFlow::Break(stopped));
                }
                next += 1;
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    fn find_parallel(
        &mut self,
        vertex: VertexId,
        neighbor: VertexId,
    ) -> Result<Option<Self::Parallel<'_>>, ReadError> {
        let (rows, staged) = (self.rows, self.rows.find(vertex, neighbor));
        let is_hidden = rows.hides(vertex, neighbor)
            || matches!(staged, Some(StagedEdge::Parallel(edges)) if edges.is_cleared || edges.count == 0);
        let stored = if is_hidden { None } else { self.stored.find_parallel(vertex, neighbor)? };
        Ok(match staged {
            Some(StagedEdge::Parallel(edges)) => OverlayParallel::changed(stored, edges),
            _ => stored.map(OverlayParallel::unchanged),
        })
    }

    fn parallel_neighbors<'c, B>(
        &'c mut self,
        vertex: VertexId,
        mut visit: impl FnMut(VertexId, Self::Parallel<'c>) -> ControlFlow<B>,
    ) -> Result<ControlFlow<B>, ReadError> {
        let rows = self.rows;
        let changed = rows.row(vertex).filter_map(|(neighbor, edge)| match edge {
            StagedEdge::Parallel(edges) => Some((neighbor, Some(edges))),
            StagedEdge::Value(_) | StagedEdge::Record(_) => None,
        });
        let mut staged: Vec<(VertexId, Option<&StagedParallel>)> = changed.collect();
        let flow = self.stored.parallel_neighbors(vertex, |neighbor, stored| {
            if rows.hides(vertex, neighbor) {
                return ControlFlow::Continue(());
            }
            let edges = match staged.binary_search_by_key(&neighbor, |(neighbor, _)| *neighbor) {
                Ok(place) => {
                    staged[place].1.take().and_then(|edges| OverlayParallel::changed(Some(stored), edges))
                }
                Err(_) => Some(OverlayParallel::unchanged(stored)),
            };
            edges.map_or(ControlFlow::Continue(()), |edges| visit(neighbor, edges))
        });
        if let ControlFlow::Break(stopped) = flow? {
            return Ok(ControlFlow::Break(stopped));
        }
        Ok(staged.into_iter().try_for_each(|(neighbor, edges)| {
            let edges = edges.and_then(|edges| OverlayParallel::changed(None, edges));
            edges.map_or(ControlFlow::Continue(()), |edges| visit(neighbor, edges))
        }))
    }
}

impl<C: RecordCursor> OverlayRecords<'_, C> {
    /// Visits the edges of a vertex whose row may differ from the stored one.
    fn scan_changed<B>(
        &mut self,
        vertex: VertexId,
        visit: &mut impl FnMut(VertexId, VertexId, &[u8]) -> ControlFlow<B>,
    ) -> Result<ControlFlow<B>, ReadError> {
        let rows = self.rows;
        let flow = self.stored.scan(vertex.get()..vertex.get() + 1, |owner, neighbor, record| {
            if rows.find(owner, neighbor).is_some() || rows.hides(owner, neighbor) {
                return ControlFlow::Continue(());
            }
            visit(owner, neighbor, record)
        });
        if let ControlFlow::Break(stopped) = flow? {
            return Ok(ControlFlow::Break(stopped));
        }
        for (neighbor, edge) in rows.row(vertex) {
            let flow = match edge {
                StagedEdge::Record(Some(record)) => visit(vertex, neighbor, record),
                StagedEdge::Parallel(_) => match self.find_parallel(vertex, neighbor)?.map(list_of) {
                    Some(Ok(list)) => visit(vertex, neighbor, &list),
                    Some(Err(error)) => return Err(error),
                    None => ControlFlow::Continue(()),
                },
                StagedEdge::Record(None) | StagedEdge::Value(_) => ControlFlow::Continue(()),
            };
            if flow.is_break() {
                return Ok(flow);
            }
        }
        Ok(ControlFlow::Continue(()))
    }
}

/// Parallel edges with staged changes.
#[derive(Clone, Copy)]
pub struct OverlayParallel<'c, P> {
    /// The stored edges, unless they are deleted.
    stored: Option<P>,
    staged: Option<&'c StagedParallel>,
}

impl<'c, P> OverlayParallel<'c, P> {
    /// Edges as they are stored.
    fn unchanged(stored: P) -> Self {
        OverlayParallel { stored: Some(stored), staged: None }
    }

    /// Edges with changes; `None` if none are left.
    fn changed(stored: Option<P>, staged: &'c StagedParallel) -> Option<Self> {
        let stored = stored.filter(|_| !staged.is_cleared);
        (staged.count > 0).then_some(OverlayParallel { stored, staged: Some(staged) })
    }
}

impl<'c, P: ParallelEdges<'c>> ParallelEdges<'c> for OverlayParallel<'c, P> {
    fn count(self) -> Result<u64, ReadError> {
        match (self.staged, self.stored) {
            (Some(staged), _) => Ok(staged.count),
            (None, stored) => stored.map_or(Ok(0), P::count),
        }
    }

    fn edges(self, keys: RangeInclusive<u64>) -> impl Iterator<Item = Result<(u64, &'c [u8]), ReadError>> {
        let OverlayParallel { stored, staged } = self;
        // The range of a map must not be empty.
        let changes = staged.filter(|_| !keys.is_empty()).map(|staged| staged.edges.range(keys.clone()));
        let mut stored = stored.map(|edges| edges.edges(keys)).into_iter().flatten().peekable();
        let mut changes = changes.into_iter().flatten().peekable();
        std::iter::from_fn(move || {
            loop {
                let next = match stored.peek() {
                    Some(Ok((key, _))) => Some(*key),
                    Some(Err(_)) => return stored.next(),
                    None => None,
                };
                let Some((key, record)) = changes.next_if(|(key, _)| next.is_none_or(|next| **key <= next))
                else {
                    return stored.next();
                };
                if next == Some(*key) {
                    stored.next();
                }
                if let Some(record) = record {
                    return Some(Ok((*key, &**record)));
                }
            }
        })
    }
}

/// All edges as a list that is stored as a record.
fn list_of<'c>(edges: impl ParallelEdges<'c>) -> Result<Vec<u8>, ReadError> {
    let mut list = EdgeListWriter::default();
    for edge in edges.edges(0..=u64::MAX) {
        let (key, record) = edge?;
        list.push(key, Some(record));
    }
    Ok(list_as_record(&list.into_bytes()))
}
