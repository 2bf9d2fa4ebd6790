//! One change, as a batch lends it.

use crate::data::{EdgeData, Names, Owner, Properties, Record, properties};
use crate::error::Error;
use crate::label::Label;
use crate::read_graph::ReadGraph;
use hedgerow_model as model;
use hedgerow_model::{
    Column, EdgeValue, GrowingCatalog, KeyRef, LabelId, LabelSchema, RecordSchema, VertexId, ViewError,
};
use hedgerow_pipeline::decoded;
use hedgerow_sync::Arc;

/// A change of a vertex or an edge.
///
/// A put may leave what was there as it was: an engine that appends does not look first, and nor
/// does a bulk write. A deletion on such an engine may be of an edge that was not there.
#[derive(Clone, Copy, Debug)]
pub enum Change<'c> {
    /// The vertex exists from this commit on, with these properties.
    PutVertex(ChangedVertex<'c>),
    /// The vertex is gone. The deletions of its edges come first, in the same commit.
    DeleteVertex(ChangedVertex<'c>),
    /// The edge exists from this commit on, with this data.
    PutEdge(ChangedEdge<'c>),
    /// The edge is gone; without a [number](ChangedEdge::number) on a label whose edges may be
    /// parallel, all edges between the two vertices.
    DeleteEdge(ChangedEdge<'c>),
}

/// A vertex in a [`Change`].
#[derive(Clone, Copy, Debug)]
pub struct ChangedVertex<'c> {
    pub(super) id: VertexId,
    pub(super) key: KeyRef<'c>,
    pub(super) record: &'c model::Record,
    pub(super) catalog: &'c Arc<GrowingCatalog>,
}

impl<'c> ChangedVertex<'c> {
    /// Returns the key.
    #[must_use]
    pub fn key(&self) -> KeyRef<'c> {
        self.key
    }

    /// Returns the id that the vertex had at the commit, by which kernels know it. Another vertex
    /// can have it later.
    #[must_use]
    pub fn id(&self) -> VertexId {
        self.id
    }

    /// Returns the properties, with a null for each that was never set; of a deleted vertex, only
    /// nulls.
    #[must_use]
    pub fn record(&self) -> Record {
        let nulls = || self.catalog.vertices().nulls();
        let record = if self.record.is_empty() { nulls() } else { self.record.clone() };
        Record::read(record, &self.names())
    }

    /// Returns the schema of the properties.
    #[must_use]
    pub fn schema(&self) -> &'c RecordSchema {
        self.catalog.vertices()
    }

    /// Returns the properties as a struct.
    ///
    /// # Errors
    /// The stored properties do not fit the struct.
    pub fn properties<P: Properties>(&self) -> Result<P, Error> {
        properties::read(self.record().values(), &self.names())
    }

    fn names(&self) -> Names<'c> {
        Names { catalog: self.catalog, owner: Owner::Vertex }
    }
}

/// An edge in a [`Change`].
#[derive(Clone, Copy, Debug)]
pub struct ChangedEdge<'c> {
    pub(super) label: LabelId,
    pub(super) ids: (VertexId, VertexId),
    pub(super) source: KeyRef<'c>,
    pub(super) destination: KeyRef<'c>,
    pub(super) number: Option<u64>,
    /// The value, if the edge is put.
    pub(super) value: Option<EdgeValue>,
    /// The record, if the label has records and the edge is put.
    pub(super) record: Option<&'c [u8]>,
    pub(super) catalog: &'c Arc<GrowingCatalog>,
}

impl<'c> ChangedEdge<'c> {
    /// Returns the label.
    #[must_use]
    pub fn label(&self) -> LabelId {
        self.label
    }

    /// Returns the name and the schema of the label.
    ///
    /// # Errors
    /// The label was added by another process, and this one has not seen it.
    pub fn schema(&self) -> Result<&'c LabelSchema, Error> {
        Ok(self.catalog.label(self.label).ok_or(ViewError::UnknownLabel(self.label))?)
    }

    /// Returns the key of the source; of an undirected edge, of the vertex with the lower id.
    #[must_use]
    pub fn source(&self) -> KeyRef<'c> {
        self.source
    }

    /// Returns the key of the destination.
    #[must_use]
    pub fn destination(&self) -> KeyRef<'c> {
        self.destination
    }

    /// Returns the ids that source and destination had at the commit. Other vertices can have them
    /// later.
    #[must_use]
    pub fn ids(&self) -> (VertexId, VertexId) {
        self.ids
    }

    /// Returns the number of a parallel edge.
    #[must_use]
    pub fn number(&self) -> Option<u64> {
        self.number
    }

    /// Returns the data of an edge that was put; `None` if it was deleted.
    ///
    /// # Errors
    /// The edges of the label carry data of another type.
    pub fn data<T: EdgeData>(&self, label: impl Into<Label<T>>) -> Result<Option<T>, Error> {
        debug_assert_eq!(label.into().id(), self.label, "the data of another label");
        T::check(self.schema()?)?;
        if T::IS_RECORD {
            let record = self.record.map(decoded).transpose()?;
            return record.map(|record| T::from_record(record, &self.names())).transpose();
        }
        self.value.map(|value| T::from_value(Column::from_bits(value))).transpose()
    }

    /// Returns the data that the edge has in a state of its graph; `None` if it is not there. In
    /// the state [before](crate::StreamView::before) the changes of a view, this is the value
    /// before. O(log degree).
    ///
    /// ```
    /// use hedgerow::prelude::*;
    /// use hedgerow::{Change, SubscribeOptions};
    ///
    /// let graph = Graph::in_memory(GraphOptions::new().label::<f64>("owes"))?;
    /// let owes = graph.label::<f64>("owes")?;
    /// graph.put_edge_with(owes, 1, 2, 9.5)?;
    /// let mut view = graph.follow(&SubscribeOptions::new().latest_only(true))?;
    /// graph.put_edge_with(owes, 1, 2, 12.0)?;
    /// graph.put_edge_with(owes, 2, 3, 0.5)?;
    /// view.advance()?;
    ///
    /// let mut more = 0.0;
    /// for change in view.changes().iter() {
    ///     if let (Change::PutEdge(edge) | Change::DeleteEdge(edge), Some(before)) = (change, view.before()) {
    ///         more += edge.data(owes)?.unwrap_or(0.0) - edge.data_in(before, owes)?.unwrap_or(0.0);
    ///     }
    /// }
    /// assert_eq!(more, 3.0);
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// # Errors
    /// The edges of the label carry data of another type; this is the deletion of all parallel
    /// edges between two vertices; the state cannot be read.
    pub fn data_in<T: EdgeData>(
        &self,
        state: &impl ReadGraph,
        label: impl Into<Label<T>>,
    ) -> Result<Option<T>, Error> {
        match self.number {
            None => state.get_edge(label, self.source, self.destination),
            Some(number) => state.parallel_edge(label, self.source, self.destination, number),
        }
    }

    /// Returns the properties of an edge with a record that was put.
    ///
    /// # Errors
    /// The memory was damaged.
    pub fn record(&self) -> Result<Option<Record>, Error> {
        let record = self.record.map(decoded).transpose()?;
        Ok(record.map(|record| Record::read(record, &self.names())))
    }

    /// Returns the value of an edge that was put, in the bits of its label's column.
    #[doc(hidden)]
    #[must_use]
    pub fn value(&self) -> Option<EdgeValue> {
        self.value
    }

    fn names(&self) -> Names<'c> {
        Names { catalog: self.catalog, owner: Owner::Edge(self.label) }
    }
}
