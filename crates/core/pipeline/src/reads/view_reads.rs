//! Reads by key on one state of the graph.
//!
//! Snapshots compile these methods for their engine and for the column that the caller names: no
//! virtual call, and one access to the dictionary for both ends of an edge. Transactions compile
//! them once, for an [overlay](crate::Overlay) over a view behind virtual calls.

use crate::error::Error;
use crate::reads::StagedChanges;
use crate::store::Store;
use hedgerow_model::{
    Adjacency, Column, ColumnType, Cursor, Direction, EdgeValue, GraphView, Key, KeyRef, LabelId,
    LabelSchema, Record, VertexId, ViewError, with_width,
};
use std::ops::ControlFlow;

/// A view with the store that knows its keys.
pub struct ViewReads<'v, V> {
    /// The store.
    pub store: &'v Store,
    /// The view.
    pub view: &'v V,
    /// The changes of a transaction that the view shows; they know the keys of new vertices.
    pub staged: Option<&'v StagedChanges>,
}

impl<V: GraphView> ViewReads<'_, V> {
    pub(super) fn schema(&self, label: LabelId) -> Result<&LabelSchema, ViewError> {
        self.store.catalog.label(label).ok_or(ViewError::UnknownLabel(label))
    }

    #[inline]
    pub(super) fn exists(&self, vertex: VertexId) -> Result<bool, Error> {
        Ok(self.view.contains_vertex(vertex)?)
    }

    // --- vertices -------------------------------------------------------------------------------

    /// The vertex of a key, if it exists.
    ///
    /// # Errors
    /// The key is of another kind than the graph's, or the view cannot be read.
    pub fn vertex(&self, key: KeyRef<'_>) -> Result<Option<VertexId>, Error> {
        let Some(staged) = self.staged else {
            return self.store.dictionary.find(key, |vertex| self.exists(vertex));
        };
        match staged.vertex_of(self.store, self.view, key)? {
            Some(vertex) => Ok(self.exists(vertex)?.then_some(vertex)),
            None => Ok(None),
        }
    }

    /// The vertex of a key, for reading its edges or its record. May also return a vertex that does
    /// not exist in the state, where it has neither edges nor a record; that saves a check.
    ///
    /// # Errors
    /// As [`ViewReads::vertex`].
    #[inline]
    pub fn owner(&self, key: KeyRef<'_>) -> Result<Option<VertexId>, Error> {
        match self.staged {
            None => self.store.dictionary.find_among_several(key, |vertex| self.exists(vertex)),
            Some(staged) => staged.vertex_of(self.store, self.view, key),
        }
    }

    /// The vertices of both ends of an edge, like [`ViewReads::owner`].
    #[inline]
    pub(super) fn ends(
        &self,
        source: KeyRef<'_>,
        destination: KeyRef<'_>,
    ) -> Result<Option<(VertexId, VertexId)>, Error> {
        if self.staged.is_none() {
            let exists = |vertex| self.exists(vertex);
            return self.store.dictionary.find_ends_among_several(source, destination, exists);
        }
        Ok(self.owner(source)?.zip(self.owner(destination)?))
    }

    /// The key of an existing vertex.
    #[inline]
    pub fn key(&self, vertex: VertexId) -> Key {
        let new = self.staged.and_then(|staged| staged.key_of_new(vertex));
        new.map_or_else(|| self.store.dictionary.key(vertex), Key::clone)
    }

    /// The record of a vertex, with a null for each property that was never set; `None` if the
    /// vertex does not exist.
    ///
    /// # Errors
    /// As [`ViewReads::vertex`].
    pub fn vertex_record(&self, key: KeyRef<'_>) -> Result<Option<Record>, Error> {
        let Some(vertex) = self.owner(key)? else { return Ok(None) };
        let record = self.view.vertex_record(vertex)?;
        let nulls = || self.store.catalog.vertices().nulls();
        Ok(record.map(|record| if record.is_empty() { nulls() } else { record }))
    }

    // --- edges ----------------------------------------------------------------------------------

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
        let Some((from, to)) = self.ends(source, destination)? else { return Ok(None) };
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
        let Some(vertex) = self.owner(key)? else { return Ok(0) };
        let adjacency = self.view.adjacency::<()>(label, direction)?;
        let mut cursor = adjacency.cursor();
        Ok(cursor.degree(vertex)?)
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
        let Some(vertex) = self.owner(key)? else { return Ok(ControlFlow::Continue(())) };
        if W::TYPE == ColumnType::Record {
            return self.visit(label, direction, vertex, |neighbor, ()| visit(neighbor, W::default()));
        }
        self.visit(label, direction, vertex, visit)
    }

    /// Visits the neighbors of a vertex with the bits of their values, ascending by id.
    ///
    /// # Errors
    /// There is no such label or direction, or the view cannot be read.
    pub fn neighbor_values(
        &self,
        label: LabelId,
        direction: Direction,
        vertex: VertexId,
        visit: &mut dyn FnMut(VertexId, EdgeValue),
    ) -> Result<(), Error> {
        // Edges with records have no values here: engines decide how to find records.
        let column = match self.schema(label)?.edges.column() {
            ColumnType::Record => ColumnType::Unit,
            column => column,
        };
        with_width!(column, W => {
            self.visit::<W, ()>(label, direction, vertex, |neighbor, value: W| {
                visit(neighbor, Column::to_bits(value));
                ControlFlow::Continue(())
            })
        })
        .map(drop)
    }

    fn find<W: Column>(&self, label: LabelId, from: VertexId, to: VertexId) -> Result<Option<W>, Error> {
        let adjacency = self.view.adjacency::<W>(label, Direction::Out)?;
        let mut cursor = adjacency.cursor();
        Ok(cursor.find(from, to)?)
    }

    /// Visits the neighbors of a vertex with their values, ascending by id, until `visit` breaks.
    /// O(visited), or O(degree log degree) on engines that keep neighbors in another order.
    fn visit<W: Column, B>(
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
pub(super) fn visit_ascending<C: Cursor, B>(
    cursor: &mut C,
    is_sorted: bool,
    vertex: VertexId,
    mut visit: impl FnMut(VertexId, C::Value) -> ControlFlow<B>,
) -> Result<ControlFlow<B>, Error> {
    if !is_sorted {
        let (neighbors, values) = cursor.gather(vertex)?;
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
    Ok(visited?)
}
