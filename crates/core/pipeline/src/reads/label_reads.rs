//! Point reads of one label in one state that keep the view, its cursor and the index of keys open
//! between calls.

use crate::dictionary::DictionaryReader;
use crate::error::Error;
use crate::reads::ViewReads;
use crate::reads::records::visit_records;
use crate::reads::view_reads::visit_ascending;
use crate::records::decoded;
use hedgerow_model::{
    Adjacency, Column, Cursor, Direction, GraphView, Key, KeyRef, LabelId, Record, RecordCursor, VertexId,
};
use std::ops::ControlFlow;

/// Reads the edges of one label in one direction by key. `D` is the type of an edge's content.
pub trait LabelReads<D> {
    /// Returns the content of the edge from one vertex to another; `None` if it does not exist.
    ///
    /// # Errors
    /// A key is of another kind than the graph's, or the view cannot be read.
    fn find(&mut self, vertex: KeyRef<'_>, neighbor: KeyRef<'_>) -> Result<Option<D>, Error>;

    /// The number of neighbors of a vertex; zero if it does not exist.
    ///
    /// # Errors
    /// The key is of another kind than the graph's, or the view cannot be read.
    fn degree(&mut self, vertex: KeyRef<'_>) -> Result<usize, Error>;

    /// Visits the neighbors of a vertex with the contents of the edges, ascending by id; none if
    /// the vertex does not exist.
    ///
    /// # Errors
    /// The key is of another kind than the graph's, or the view cannot be read.
    fn visit(&mut self, vertex: KeyRef<'_>, visit: &mut dyn FnMut(Key, D)) -> Result<(), Error>;
}

impl<V: GraphView> ViewReads<'_, V> {
    /// Runs `read` with reads of a label's edges, which carry `W`, or `W` is `()`.
    ///
    /// # Errors
    /// There is no such label or direction, or the edges carry something else.
    pub fn with_values<W: Column, R>(
        &self,
        label: LabelId,
        direction: Direction,
        read: impl FnOnce(&mut dyn LabelReads<W>) -> R,
    ) -> Result<R, Error> {
        let adjacency = self.view.adjacency::<W>(label, direction)?;
        let is_sorted = <V::Adjacency<'_, W> as Adjacency>::SORTED;
        let reads = &mut Values { vertices: self.open_vertices(), cursor: adjacency.cursor(), is_sorted };
        Ok(read(reads))
    }

    /// Runs `read` with reads of the edges of a label with one record on each.
    ///
    /// # Errors
    /// There is no such label or direction, or its edges have no records.
    pub fn with_records<R>(
        &self,
        label: LabelId,
        direction: Direction,
        read: impl FnOnce(&mut dyn LabelReads<Record>) -> R,
    ) -> Result<R, Error> {
        let adjacency = self.view.adjacency::<()>(label, direction)?;
        let records = self.view.edge_records(label, direction)?;
        Ok(read(&mut RecordReads { vertices: self.open_vertices(), degrees: adjacency.cursor(), records }))
    }

    fn open_vertices(&self) -> KeyedVertices<'_, V> {
        KeyedVertices { reads: self, keys: self.store.dictionary.reader() }
    }
}

/// Looks up the vertices of keys.
struct KeyedVertices<'r, V> {
    reads: &'r ViewReads<'r, V>,
    keys: DictionaryReader<'r>,
}

impl<V: GraphView> KeyedVertices<'_, V> {
    /// Returns a vertex of the key. If the key has no other vertex, it may not exist in the state.
    #[inline]
    fn of(&self, key: KeyRef<'_>) -> Result<Option<VertexId>, Error> {
        if self.reads.staged.is_some() {
            return self.reads.owner(key);
        }
        self.keys.find_among_several(key, |vertex| self.reads.exists(vertex))
    }

    #[inline]
    fn ends(&self, vertex: KeyRef<'_>, neighbor: KeyRef<'_>) -> Result<Option<(VertexId, VertexId)>, Error> {
        if self.reads.staged.is_some() {
            return self.reads.ends(vertex, neighbor);
        }
        self.keys.find_ends_among_several(vertex, neighbor, |vertex| self.reads.exists(vertex))
    }

    fn key(&self, vertex: VertexId) -> Key {
        self.reads.key(vertex)
    }
}

/// Reads of edges that carry a value, or nothing.
struct Values<'r, V, C> {
    vertices: KeyedVertices<'r, V>,
    cursor: C,
    is_sorted: bool,
}

impl<V: GraphView, C: Cursor> LabelReads<C::Value> for Values<'_, V, C> {
    fn find(&mut self, vertex: KeyRef<'_>, neighbor: KeyRef<'_>) -> Result<Option<C::Value>, Error> {
        let Some((vertex, neighbor)) = self.vertices.ends(vertex, neighbor)? else { return Ok(None) };
        Ok(self.cursor.find(vertex, neighbor)?)
    }

    fn degree(&mut self, vertex: KeyRef<'_>) -> Result<usize, Error> {
        let Some(vertex) = self.vertices.of(vertex)? else { return Ok(0) };
        Ok(self.cursor.degree(vertex)?)
    }

    fn visit(&mut self, vertex: KeyRef<'_>, visit: &mut dyn FnMut(Key, C::Value)) -> Result<(), Error> {
        let Some(vertex) = self.vertices.of(vertex)? else { return Ok(()) };
        let Values { vertices, cursor, is_sorted } = self;
        let visited = visit_ascending(cursor, *is_sorted, vertex, |neighbor, value| {
            visit(vertices.key(neighbor), value);
            ControlFlow::<()>::Continue(())
        });
        visited.map(drop)
    }
}

/// Reads of edges with a record.
struct RecordReads<'r, V, C, D> {
    vertices: KeyedVertices<'r, V>,
    records: C,
    degrees: D,
}

impl<V: GraphView, C: RecordCursor, D: Cursor> LabelReads<Record> for RecordReads<'_, V, C, D> {
    fn find(&mut self, vertex: KeyRef<'_>, neighbor: KeyRef<'_>) -> Result<Option<Record>, Error> {
        let Some((vertex, neighbor)) = self.vertices.ends(vertex, neighbor)? else { return Ok(None) };
        self.records.find(vertex, neighbor)?.map(decoded).transpose()
    }

    fn degree(&mut self, vertex: KeyRef<'_>) -> Result<usize, Error> {
        let Some(vertex) = self.vertices.of(vertex)? else { return Ok(0) };
        Ok(self.degrees.degree(vertex)?)
    }

    fn visit(&mut self, vertex: KeyRef<'_>, visit: &mut dyn FnMut(Key, Record)) -> Result<(), Error> {
        let Some(vertex) = self.vertices.of(vertex)? else { return Ok(()) };
        let RecordReads { vertices, records, .. } = self;
        visit_records(records, vertex, |neighbor, record| {
            visit(vertices.key(neighbor), decoded(record)?);
            Ok(())
        })
    }
}
