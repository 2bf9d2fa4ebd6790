//! The neighbors of vertices in a view.

use crate::levels::{RowContent, SeenRow};
use crate::reader::RowReader;
use crate::rows::LsmRows;
use hedgerow_model::{Adjacency, Column, ColumnType, Cursor, EdgeValue, Neighbors, ReadError, VertexId};
use std::marker::PhantomData;
use std::ops::{ControlFlow, Range};

/// One label in one direction, with values of type `W`.
pub struct LsmAdjacency<'v, W> {
    rows: LsmRows<'v>,
    values: PhantomData<fn() -> W>,
}

impl<'v, W: Column> LsmAdjacency<'v, W> {
    pub(crate) fn new(rows: LsmRows<'v>) -> Self {
        LsmAdjacency { rows, values: PhantomData }
    }
}

impl<'v, W: Column> Adjacency for LsmAdjacency<'v, W> {
    type Value = W;
    type Cursor<'a>
        = LsmCursor<'v, W>
    where
        Self: 'a;

    const SORTED: bool = true;
    const DEGREE_IS_O1: bool = false;

    fn cursor(&self) -> LsmCursor<'v, W> {
        let reader = self.rows.reader(match W::TYPE {
            ColumnType::Unit => RowContent::Neighbors,
            _ => RowContent::Values,
        });
        let prefetches = self.rows.sources.levels.exceeds_cache(self.rows.adjacency);
        LsmCursor { rows: self.rows, reader, prefetches, values: Vec::new() }
    }

    fn reads_blocks(&self) -> bool {
        true
    }

    fn cuts(&self, parts: usize) -> Result<Vec<Range<u32>>, ReadError> {
        Ok(self.rows.cut(parts))
    }
}

/// Reads neighbors, one row at a time.
pub struct LsmCursor<'v, W> {
    rows: LsmRows<'v>,
    reader: RowReader<'v>,
    /// True if rows may have to be read from the disk.
    prefetches: bool,
    /// Values of the row that was read last.
    values: Vec<W>,
}

/// A row, whose values are put into `values`.
fn typed<'r, W: Column>(row: SeenRow<'r>, values: &'r mut Vec<W>) -> Neighbors<'r, W> {
    values.clear();
    values.extend(row.values().iter().map(|value| W::from_bits(*value)));
    // Edges without values have none to read.
    values.resize(row.neighbors().len(), W::from_bits(EdgeValue::default()));
    (row.neighbors(), values)
}

impl<W: Column> Cursor for LsmCursor<'_, W> {
    type Value = W;

    fn find(&mut self, vertex: VertexId, neighbor: VertexId) -> Result<Option<W>, ReadError> {
        self.rows.check_lock(vertex);
        let row = self.reader.read_edge(vertex, neighbor)?;
        Ok(row.edges().next().map(|(_, value)| W::from_bits(value)))
    }

    fn scan<B>(
        &mut self,
        range: Range<u32>,
        mut run: impl FnMut(VertexId, &[VertexId], &[W]) -> ControlFlow<B>,
    ) -> Result<ControlFlow<B>, ReadError> {
        let LsmCursor { rows, reader, values, .. } = self;
        reader.scan(range, |owner, row| {
            rows.check_lock(owner);
            Ok(match typed(row, values) {
                ([], _) => ControlFlow::Continue(()),
                (neighbors, values) => run(owner, neighbors, values),
            })
        })
    }

    fn prefetch(&mut self, vertex: VertexId) {
        if self.prefetches {
            self.rows.sources.levels.prefetch_row(self.rows.adjacency, vertex);
        }
    }

    fn gather(&mut self, vertex: VertexId) -> Result<Neighbors<'_, W>, ReadError> {
        self.rows.check_lock(vertex);
        Ok(typed(self.reader.read_row(vertex)?, &mut self.values))
    }
}
