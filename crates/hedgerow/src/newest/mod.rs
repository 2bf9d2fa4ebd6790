//! Newest-first reads: the edges of a vertex by time, the latest first, as many as are wanted.

mod staged;

use crate::error::Error;
use crate::reads::check_adjacency;
use crate::record_ref::RecordRef;
use crate::snapshot::Snapshot;
use hedgerow_model::{AsKey, Column, Direction, Key, LabelId, Record, VertexId};
use hedgerow_pipeline::{Error as Cause, Newest, NewestEdge, StateReads, decoded};

impl Snapshot {
    /// The neighbors of a vertex and the values beside them, newest first: see [`Newest`] for what that means and costs.
    ///
    /// ```
    /// use hedgerow::{ColumnType, Direction, EdgeSchema, Graph, GraphOptions, LabelId, LabelSchema, Newest};
    ///
    /// let sent = LabelSchema { name: "sent".to_owned(), edges: EdgeSchema::Value(ColumnType::I64) };
    /// let graph = Graph::in_memory(GraphOptions::new().label(sent))?;
    /// for (to, time) in [(2, 1_700_i64), (3, 1_900), (4, 1_800)] {
    ///     graph.put_edge_value(LabelId::DEFAULT, 1, to, time)?;
    /// }
    /// let latest = Newest::most(2).until(1_850);
    /// let found = graph.snapshot()?.newest_neighbors::<i64>(LabelId::DEFAULT, Direction::Out, 1, &latest)?;
    /// assert_eq!(found, [(4.into(), 1_800), (2.into(), 1_700)]);
    /// # Ok::<(), hedgerow::Error>(())
    /// ```
    ///
    /// # Errors
    /// The key is of another kind than the graph's, there is no such label or direction, its edges carry another type, or they
    /// have no such time.
    pub fn newest_neighbors<W: Column>(
        &self,
        label: LabelId,
        direction: Direction,
        key: impl AsKey,
        newest: &Newest,
    ) -> Result<Vec<(Key, W)>, Error> {
        check_adjacency::<W>(self.stores(), label, direction)?;
        self.newest(label, direction, key, newest, |neighbor, edge| Ok((neighbor, W::from_bits(edge.value))))
    }

    /// The neighbors of a vertex over a label that has records, with their records, newest first: one that parallel edges lead
    /// to with each of them.
    ///
    /// # Errors
    /// As [`Snapshot::newest_neighbors`], or the edges have no records.
    pub fn newest_records(
        &self,
        label: LabelId,
        direction: Direction,
        key: impl AsKey,
        newest: &Newest,
    ) -> Result<Vec<(Key, Record)>, Error> {
        self.stores().any_record_schema(label)?;
        check_adjacency::<()>(self.stores(), label, direction)?;
        self.newest(label, direction, key, newest, |neighbor, edge| Ok((neighbor, decoded(edge.record)?)))
    }

    /// Visits the neighbors of a vertex over a label that has records, newest first, with their records where they lie: nothing is
    /// copied. As [`Snapshot::newest_records`], which hands over keys and records. What writers replace meanwhile is freed when the visit
    /// has ended.
    ///
    /// # Errors
    /// As [`Snapshot::newest_records`].
    pub fn visit_newest_records(
        &self,
        label: LabelId,
        direction: Direction,
        key: impl AsKey,
        newest: &Newest,
        mut visit: impl FnMut(VertexId, RecordRef<'_>),
    ) -> Result<(), Error> {
        self.stores().any_record_schema(label)?;
        check_adjacency::<()>(self.stores(), label, direction)?;
        self.visit_newest(label, direction, key, newest, |_, edge| {
            visit(edge.neighbor, RecordRef::new(edge.record));
            Ok(())
        })
    }

    /// What `on_edge` makes of the edges of a vertex, each with the key of the neighbor, newest first.
    pub(crate) fn newest<T>(
        &self,
        label: LabelId,
        direction: Direction,
        key: impl AsKey,
        newest: &Newest,
        on_edge: impl Fn(Key, NewestEdge<'_>) -> Result<T, Cause>,
    ) -> Result<Vec<T>, Error> {
        let mut found = Vec::new();
        self.visit_newest(label, direction, key, newest, |state, edge| {
            found.push(on_edge(state.key(edge.neighbor), edge)?);
            Ok(())
        })?;
        Ok(found)
    }

    fn visit_newest(
        &self,
        label: LabelId,
        direction: Direction,
        key: impl AsKey,
        newest: &Newest,
        mut visit: impl FnMut(&dyn StateReads, NewestEdge<'_>) -> Result<(), Cause>,
    ) -> Result<(), Error> {
        let schema = self.catalog().label(label).ok_or(hedgerow_model::ViewError::UnknownLabel(label))?;
        // A vertex that does not exist has no edges, but what is asked of it is checked all the same.
        newest.clock(schema)?;
        self.read(|state| match state.owner(key.as_key())? {
            Some(vertex) => state.newest(label, direction, vertex, newest, &mut |edge| visit(state, edge)),
            None => Ok(()),
        })?;
        Ok(())
    }
}
