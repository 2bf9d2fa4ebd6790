//! The operations of everything that writes to a graph.

use crate::data::{EdgeData, Properties, properties};
use crate::edge_update::EdgeUpdate;
use crate::error::Error;
use crate::label::Label;
use crate::stores::Stores;
use hedgerow_model::{AsKey, Column, LabelId, Operation, Value};
use hedgerow_pipeline::EdgeWrite;

/// Writes of one operation: to a [`Graph`](crate::Graph), each a commit of its own, or in a
/// [`WriteTxn`](crate::WriteTxn) or a [`DeclaredTxn`](crate::DeclaredTxn), committed together.
///
/// A write to a graph returns a [`Commit`](crate::Commit), which says whether anything changed; as
/// durable as the graph's options say when it returns. In a transaction writes are staged: they
/// return nothing, are seen by the transaction's own reads, and may still fail when it commits.
///
/// Edges create the vertices that they connect, unless the graph is
/// [strict](crate::GraphOptions::strict). Costs are those of the engine: O(log degree) for an edge,
/// on `tel` amortized O(1) for a new one.
///
/// # Errors
/// Every method fails with [`ErrorKind::InvalidInput`](crate::ErrorKind::InvalidInput) if a key is of
/// another kind than the graph's, there is no such label or property, or a value has another type;
/// in a [`DeclaredTxn`](crate::DeclaredTxn) also if a vertex was not declared. A commit fails with
/// [`ErrorKind::Capacity`](crate::ErrorKind::Capacity) if a limit would be exceeded, and with
/// [`ErrorKind::LogFailed`](crate::ErrorKind::LogFailed) if its log cannot be written.
///
/// ```
/// use hedgerow::prelude::*;
///
/// /// One commit per edge on a graph, one in all in a transaction.
/// fn befriend(graph: &impl WriteGraph, knows: Label, circle: &[u64]) -> Result<(), Error> {
///     for pair in circle.windows(2) {
///         graph.put_edge(knows, pair[0], pair[1])?;
///     }
///     Ok(())
/// }
///
/// let graph = Graph::in_memory(GraphOptions::new().label::<()>("knows"))?;
/// let knows = graph.label::<()>("knows")?;
/// befriend(&graph, knows, &[1, 2, 3])?;
/// graph.transact(|transaction| befriend(transaction, knows, &[3, 4, 5]))?;
/// assert_eq!(graph.snapshot()?.edge_count(), 4);
/// # Ok::<(), Error>(())
/// ```
pub trait WriteGraph: Writes {
    /// Makes a vertex exist.
    ///
    /// # Errors
    /// See [`WriteGraph`].
    fn add_vertex(&self, key: impl AsKey) -> Result<Self::Written, Error> {
        self.write(self.stores().add_vertex(&key)?)
    }

    /// Deletes a vertex and all its edges, of every label.
    ///
    /// Costs O(degree) on undirected graphs and with reverse adjacency, else one scan of all edges:
    /// delete many vertices in one transaction, which scans once.
    ///
    /// # Errors
    /// See [`WriteGraph`]; [`ErrorKind::Unsupported`](crate::ErrorKind::Unsupported) in a
    /// [`DeclaredTxn`](crate::DeclaredTxn), which has not locked the neighbors.
    fn delete_vertex(&self, key: impl AsKey) -> Result<Self::Written, Error> {
        self.write(self.stores().delete_vertex(&key)?)
    }

    /// Sets properties of a vertex by name, and makes it exist. Other properties stay.
    ///
    /// # Errors
    /// See [`WriteGraph`].
    fn set_properties(&self, key: impl AsKey, properties: &[(&str, Value)]) -> Result<Self::Written, Error> {
        self.write(self.stores().set_properties(&key, properties)?)
    }

    /// Sets the properties of a vertex from a struct, and makes it exist.
    ///
    /// ```
    /// use hedgerow::prelude::*;
    ///
    /// #[derive(Properties, Debug, PartialEq)]
    /// struct Person {
    ///     name: Option<String>,
    ///     born: Option<i64>,
    /// }
    ///
    /// let graph = Graph::in_memory(GraphOptions::new().vertices::<Person>())?;
    /// graph.put_vertex(1, &Person { name: Some("Ada".into()), born: Some(1815) })?;
    /// let person: Person = graph.vertex(1)?.expect("it was put");
    /// assert_eq!(person.born, Some(1815));
    /// # Ok::<(), hedgerow::Error>(())
    /// ```
    ///
    /// # Errors
    /// See [`WriteGraph`].
    fn put_vertex<P: Properties>(&self, key: impl AsKey, properties: &P) -> Result<Self::Written, Error> {
        let properties = properties::by_position(properties, self.stores().catalog().vertices())?;
        self.write(self.stores().set_positions(&key, properties)?)
    }

    /// Puts an edge of a label without data. Does nothing if it exists.
    ///
    /// # Errors
    /// See [`WriteGraph`]; the label's edges carry data.
    #[inline]
    fn put_edge(
        &self,
        label: impl Into<Label<()>>,
        source: impl AsKey,
        destination: impl AsKey,
    ) -> Result<Self::Written, Error> {
        self.put_edge_with(label, source, destination, ())
    }

    /// Puts an edge with its data, or replaces the data.
    ///
    /// # Errors
    /// See [`WriteGraph`]; the label's edges may be parallel.
    #[inline]
    fn put_edge_with<T: EdgeData>(
        &self,
        label: impl Into<Label<T>>,
        source: impl AsKey,
        destination: impl AsKey,
        data: T,
    ) -> Result<Self::Written, Error> {
        let label = label.into().id();
        if T::IS_RECORD {
            return self.write(self.stores().put_record(label, &source, &destination, &data)?);
        }
        self.stores().check_written_column::<T::Column>(label)?;
        let (source, destination) = (source.as_key(), destination.as_key());
        let value = Some(Column::to_bits(data.to_value()));
        self.write_edge(EdgeWrite { label, source, destination, value })
    }

    /// Deletes an edge, or all parallel ones between two vertices. Does nothing if there is none.
    ///
    /// # Errors
    /// See [`WriteGraph`].
    #[inline]
    fn delete_edge(
        &self,
        label: impl Into<LabelId>,
        source: impl AsKey,
        destination: impl AsKey,
    ) -> Result<Self::Written, Error> {
        let label = label.into();
        if self.stores().has_records(label)? {
            return self.write(self.stores().delete_edge(label, &source, &destination)?);
        }
        let (source, destination) = (source.as_key(), destination.as_key());
        self.write_edge(EdgeWrite { label, source, destination, value: None })
    }

    /// Puts, changes or deletes an edge that has a record, if a condition holds.
    ///
    /// A graph decides the condition on its newest state, and [`Commit::changed`](crate::Commit::changed)
    /// says whether it held. A transaction decides it on the state that it reads: if it does not hold, this
    /// update does nothing, and the rest of the transaction is committed all the same. To give the whole
    /// transaction up, read the edge and return an [error](crate::Error::other). If another commit changed
    /// the edge in between, the transaction is in conflict.
    ///
    /// # Errors
    /// See [`WriteGraph`]; the label's edges have no records, or may be parallel.
    fn update_edge(
        &self,
        label: impl Into<LabelId>,
        source: impl AsKey,
        destination: impl AsKey,
        update: &EdgeUpdate<'_>,
    ) -> Result<Self::Written, Error> {
        self.write(self.stores().update_edge(label.into(), &source, &destination, update)?)
    }

    /// Puts, changes or deletes one of several parallel edges, by its key, if a condition holds: see
    /// [`WriteGraph::update_edge`].
    ///
    /// O(log degree + parallel edges / 100): about a hundred short records share a piece of memory. To
    /// conflicts, all edges of a label between two vertices are one thing.
    ///
    /// # Errors
    /// See [`WriteGraph`]; the label's edges cannot be parallel.
    fn update_parallel_edge(
        &self,
        label: impl Into<LabelId>,
        source: impl AsKey,
        destination: impl AsKey,
        key: u64,
        update: &EdgeUpdate<'_>,
    ) -> Result<Self::Written, Error> {
        self.write(self.stores().update_parallel_edge(label.into(), &source, &destination, key, update)?)
    }
}

impl<W: Writes> WriteGraph for W {}

/// What [`WriteGraph`] needs: takes operations that were checked.
pub trait Writes {
    /// What a write returns.
    type Written;

    fn stores(&self) -> &Stores;

    fn write(&self, operation: Operation) -> Result<Self::Written, Error>;

    /// Puts or deletes an edge without a record.
    fn write_edge(&self, edge: EdgeWrite<'_>) -> Result<Self::Written, Error> {
        self.stores().check_ends(edge.source, edge.destination)?;
        self.write(edge.to_operation())
    }
}
