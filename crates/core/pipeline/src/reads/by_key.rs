//! Point reads by key, compiled for the column that the caller names.
//!
//! Snapshots read edges without records through these methods: no virtual call, no match on the
//! column, and one access to the dictionary for both ends of an edge.
//! [`StateReads`](super::StateReads) has equivalent reads for callers that know the state only
//! behind a reference.

use crate::error::{Error, read_failed};
use crate::reads::ViewReads;
use hedgerow_model::{
    Adjacency, Column, ColumnType, Cursor, Direction, KeyRef, LabelId, ReadError, RecordView, VertexId,
};
use std::ops::ControlFlow;

impl<V: RecordView> ViewReads<'_, V> {
    /// The value of an edge; `None` if it does not exist. The label's edges carry `W`, or `W` is
    /// `()`.
    ///
    /// # Errors
    /// A key is of another kind than the graph's, or the view cannot be read.
    #[inline]
    pub fn edge_value<W: Column>(
        &self,
        label: LabelId,
        source: KeyRef<'_>,
        destination: KeyRef<'_>,
    ) -> Result<Option<W>, Error> {
        let exists = |vertex| self.exists(vertex);
        let ends = self.store.dictionary.find_ends_among_several(source, destination, exists)?;
        let Some((from, to)) = ends else { return Ok(None) };
        if W::TYPE == ColumnType::Record {
            // The engine decides where records are; this lookup only finds out if there is one.
            return Ok(self.find::<()>(label, from, to)?.map(|()| W::default()));
        }
        self.find(label, from, to)
    }

    /// The number of neighbors of a vertex; zero if it does not exist.
    ///
    /// # Errors
    /// The key is of another kind than the graph's, there is no such label or direction, or the
    /// view cannot be read.
    #[inline]
    pub fn degree_of(&self, label: LabelId, direction: Direction, key: KeyRef<'_>) -> Result<usize, Error> {
        let Some(vertex) = self.owner_of(key)? else { return Ok(0) };
        let adjacency = self.view.adjacency::<()>(label, direction)?;
        let mut cursor = adjacency.cursor();
        cursor.degree(vertex).map_err(read_failed)
    }

    /// Visits the neighbors of a vertex with their values, ascending by id, until `visit` breaks;
    /// none if the vertex does not exist. The label's edges carry `W`, or `W` is `()`.
    ///
    /// # Errors
    /// The key is of another kind than the graph's, there is no such label or direction, or the
    /// view cannot be read.
    pub fn visit_neighbors<W: Column, B>(
        &self,
        label: LabelId,
        direction: Direction,
        key: KeyRef<'_>,
        mut visit: impl FnMut(VertexId, W) -> ControlFlow<B>,
    ) -> Result<ControlFlow<B>, Error> {
        let Some(vertex) = self.owner_of(key)? else { return Ok(ControlFlow::Continue(())) };
        if W::TYPE == ColumnType::Record {
            return self.visit(label, direction, vertex, |neighbor, ()| visit(neighbor, W::default()));
        }
        self.visit(label, direction, vertex, visit)
    }

    #[inline]
    fn owner_of(&self, key: KeyRef<'_>) -> Result<Option<VertexId>, Error> {
        self.store.dictionary.find_among_several(key, |vertex| self.exists(vertex))
    }

    pub(super) fn find<W: Column>(
        &self,
        label: LabelId,
        from: VertexId,
        to: VertexId,
    ) -> Result<Option<W>, Error> {
        let adjacency = self.view.adjacency::<W>(label, Direction::Out)?;
        let mut cursor = adjacency.cursor();
        cursor.find(from, to).map_err(read_failed)
    }

    /// Visits the neighbors of a vertex with their values, ascending by id, until `visit` breaks.
    /// O(visited), or O(degree log degree) on engines that keep neighbors in another order.
    pub(super) fn visit<W: Column, B>(
        &self,
        label: LabelId,
        direction: Direction,
        vertex: VertexId,
        visit: impl FnMut(VertexId, W) -> ControlFlow<B>,
    ) -> Result<ControlFlow<B>, Error> {
        let adjacency = self.view.adjacency::<W>(label, direction)?;
        let mut cursor = adjacency.cursor();
        visit_ascending(&mut cursor, <V::Adjacency<'_, W> as Adjacency>::SORTED, vertex, visit)
    }
}

/// Sorts a row by its neighbors. Compiled once for all engines.
pub(super) fn sort_by_neighbor<T>(row: &mut [(VertexId, T)]) {
    row.sort_unstable_by_key(|(neighbor, _)| *neighbor);
}

/// Visits the neighbors of a vertex with their values, ascending by id, until `visit` breaks.
#[inline]
pub(super) fn visit_ascending<C: Cursor<Error: Into<ReadError>>, B>(
    cursor: &mut C,
    is_sorted: bool,
    vertex: VertexId,
    mut visit: impl FnMut(VertexId, C::Value) -> ControlFlow<B>,
) -> Result<ControlFlow<B>, Error> {
    if !is_sorted {
        let (neighbors, values) = cursor.gather(vertex).map_err(read_failed)?;
        let mut row: Vec<_> = neighbors.iter().copied().zip(values.iter().copied()).collect();
        sort_by_neighbor(&mut row);
        return Ok(row.into_iter().try_for_each(|(neighbor, value)| visit(neighbor, value)));
    }
    let visited = cursor.neighbors(vertex, |neighbors, values| {
        for (neighbor, value) in neighbors.iter().zip(values) {
            visit(*neighbor, *value)?;
        }
        ControlFlow::Continue(())
    });
    visited.map_err(read_failed)
}
