//! Writes to a graph or in a transaction.

use crate::data::{EdgeData, Properties, properties};
use crate::edge_update::EdgeUpdate;
use crate::engines::TypedStore;
use crate::error::Error;
use crate::label::Label;
use hedgerow_model::{AsKey, Column, Key, LabelId, Operation, RecordChange, Value};
use hedgerow_pipeline::EdgeWrite;

/// Writes of one operation: to a [`Graph`](crate::Graph), one commit each, or in a
/// [`WriteTxn`](crate::WriteTxn) or a [`DeclaredTxn`](crate::DeclaredTxn), committed together.
///
/// A write to a graph returns a [`Commit`](crate::Commit), which reports whether anything changed,
/// and which is then as durable as the graph's options demand. In a transaction writes are staged:
/// they return nothing, are seen by the transaction's own reads, and may still fail when it
/// commits. In both, [updates](WriteGraph::update_edge) of edges with records report their effect
/// at once.
///
/// Edges create the vertices that they connect, unless the graph is
/// [strict](crate::GraphOptions::strict). Costs are those of the engine: O(log degree) for an edge,
/// on `tel` amortized O(1) for a new one.
///
/// # Errors
/// Every method fails with [`ErrorKind::InvalidInput`](crate::ErrorKind::InvalidInput) if a key is
/// of another kind than the graph's, there is no such label or property, or a value has another
/// type; in a [`DeclaredTxn`](crate::DeclaredTxn) also if a vertex was not declared. A commit fails
/// with [`ErrorKind::Capacity`](crate::ErrorKind::Capacity) if a limit would be exceeded, and with
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
    /// Creates a vertex if it does not exist.
    ///
    /// # Errors
    /// See [`WriteGraph`].
    fn add_vertex(&self, key: impl AsKey) -> Result<Self::Written, Error> {
        self.write(self.typed()?.add_vertex(&key)?)
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
        self.write(self.typed()?.delete_vertex(&key)?)
    }

    /// Sets properties of a vertex by name, and creates it if it does not exist. Other properties
    /// stay.
    ///
    /// # Errors
    /// See [`WriteGraph`].
    fn set_properties(&self, key: impl AsKey, properties: &[(&str, Value)]) -> Result<Self::Written, Error> {
        self.write(self.typed()?.set_properties(&key, properties)?)
    }

    /// Sets the properties of a vertex from a struct, and creates it if it does not exist.
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
        let properties = properties::by_position(properties, self.typed()?.catalog().vertices());
        self.write(self.typed()?.set_positions(&key, properties.map_err(Error::about_vertices)?)?)
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
            return self.write(self.typed()?.put_record(label, &source, &destination, None, &data)?);
        }
        let (source, destination) = (source.as_key(), destination.as_key());
        let typed = self.typed()?;
        typed.check_written_column::<T::Column>(label)?;
        let value = Some(Column::to_bits(data.to_value()));
        self.write_edge(typed, EdgeWrite { label, source, destination, value })
    }

    /// Puts one of several parallel edges, or replaces the data of the one with this number between
    /// the two vertices.
    ///
    /// The number may be one that the edge has anyway, such as that of an order, or be
    /// [drawn](crate::Graph::draw_number) by the graph. Costs and conflicts are those of
    /// [`WriteGraph::update_parallel_edge`].
    ///
    /// ```
    /// use hedgerow::prelude::*;
    ///
    /// #[derive(Properties, Debug, PartialEq)]
    /// struct Payment {
    ///     amount: f64,
    /// }
    ///
    /// let graph = Graph::in_memory(GraphOptions::new().parallel_label::<Payment>("pays", "number"))?;
    /// let pays = graph.label::<Payment>("pays")?;
    /// graph.put_parallel_edge(pays, 1, 2, 1001, Payment { amount: 9.5 })?;
    /// graph.put_parallel_edge(pays, 1, 2, graph.draw_number(), Payment { amount: 20.0 })?;
    /// assert_eq!(graph.snapshot()?.parallel_edges(pays, 1, 2, ..)?.len(), 2);
    /// # Ok::<(), hedgerow::Error>(())
    /// ```
    ///
    /// # Errors
    /// See [`WriteGraph`]; the label's edges cannot be parallel.
    fn put_parallel_edge<T: EdgeData>(
        &self,
        label: impl Into<Label<T>>,
        source: impl AsKey,
        destination: impl AsKey,
        number: u64,
        data: T,
    ) -> Result<Self::Written, Error> {
        let label = label.into().id();
        self.write(self.typed()?.put_record(label, &source, &destination, Some(number), &data)?)
    }

    /// Deletes an edge, or all parallel ones between two vertices. Does nothing if there is none.
    ///
    /// A transaction does not look for the edge before it commits: call
    /// [`contains_edge`](crate::ReadGraph::contains_edge) first, or
    /// [update](WriteGraph::update_edge) an edge with a record by [`EdgeUpdate::delete`], which
    /// reports if there was one.
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
        let (from, to) = (source.as_key(), destination.as_key());
        let typed = self.typed()?;
        if typed.has_records(label)? {
            return self.write(typed.delete_edge(label, &source, &destination)?);
        }
        self.write_edge(typed, EdgeWrite { label, source: from, destination: to, value: None })
    }

    /// Puts, changes or deletes an edge that has a record, if a condition holds, and returns
    /// whether it held and whether the edge changed: see [`Updated`].
    ///
    /// A graph decides on its newest state. A transaction reads the edge in its own state, with its
    /// own writes, and decides on that. If the condition does not hold, this update does nothing,
    /// and the rest of the transaction is committed all the same; to give the whole transaction up,
    /// return an [error](crate::Error::other). If another commit changes this edge first, the
    /// transaction is in conflict, even if the update changed nothing.
    ///
    /// ```
    /// use hedgerow::prelude::*;
    ///
    /// #[derive(Properties)]
    /// struct Account {
    ///     balance: i64,
    /// }
    ///
    /// let graph = Graph::in_memory(GraphOptions::new().label::<Account>("owns"))?;
    /// let owns = graph.label::<Account>("owns")?;
    /// graph.put_edge_with(owns, 1, 2, Account { balance: 10 })?;
    ///
    /// let spend = EdgeUpdate::upsert().set("balance", 0).only_if("balance", 10);
    /// let spent = graph.transact(|transaction| Ok(transaction.update_edge(owns, 1, 2, &spend)?.held))?;
    /// assert!(spent);
    /// assert!(!graph.update_edge(owns, 1, 2, &spend)?.held, "nothing is left");
    /// # Ok::<(), hedgerow::Error>(())
    /// ```
    ///
    /// # Errors
    /// See [`WriteGraph`]; the label's edges have no records, or may be parallel, or the edge would
    /// lack a property that it must have.
    fn update_edge(
        &self,
        label: impl Into<LabelId>,
        source: impl AsKey,
        destination: impl AsKey,
        update: &EdgeUpdate<'_>,
    ) -> Result<Updated<Self::Written>, Error> {
        self.update(self.typed()?.update_edge(label.into(), &source, &destination, update)?)
    }

    /// Puts, changes or deletes one of several parallel edges, by its number, if a condition holds:
    /// see [`WriteGraph::update_edge`].
    ///
    /// O(log degree + parallel edges / 100): about a hundred short records share a chunk. Conflicts
    /// are detected per pair of vertices and label, not per parallel edge.
    ///
    /// # Errors
    /// See [`WriteGraph`]; the label's edges cannot be parallel, or the edge would lack a property
    /// that it must have.
    fn update_parallel_edge(
        &self,
        label: impl Into<LabelId>,
        source: impl AsKey,
        destination: impl AsKey,
        number: u64,
        update: &EdgeUpdate<'_>,
    ) -> Result<Updated<Self::Written>, Error> {
        self.update(self.typed()?.update_parallel_edge(
            label.into(),
            &source,
            &destination,
            number,
            update,
        )?)
    }
}

impl<W: Writes> WriteGraph for W {}

/// The effect of an [update](WriteGraph::update_edge) of an edge with a record, on a graph or in a
/// transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Updated<W> {
    /// True if the condition held, or there was none.
    pub held: bool,
    /// True if the edge changed. An update whose condition held does not change an edge that
    /// already has the wanted record.
    pub changed: bool,
    /// The result of any write: the [`Commit`](crate::Commit) on a graph, nothing in a transaction.
    pub written: W,
}

/// A checked update of an edge with a record.
#[derive(Debug)]
pub struct RecordUpdate {
    pub(crate) label: LabelId,
    pub(crate) source: Key,
    pub(crate) destination: Key,
    /// The key of a parallel edge; `None` if the label has no parallel edges.
    pub(crate) key: Option<u64>,
    pub(crate) change: RecordChange,
}

impl From<RecordUpdate> for Operation {
    fn from(update: RecordUpdate) -> Self {
        let RecordUpdate { label, source, destination, key, change } = update;
        Operation::ChangeRecord { label, source, destination, key, change }
    }
}

/// Execution of checked operations, on which [`WriteGraph`] is built.
pub trait Writes {
    /// The result of a write.
    type Written;

    /// Returns the store to write to. Fails in a forked child.
    fn typed(&self) -> Result<&TypedStore, Error>;

    fn write(&self, operation: Operation) -> Result<Self::Written, Error>;

    fn update(&self, update: RecordUpdate) -> Result<Updated<Self::Written>, Error>;

    /// Puts or deletes an edge without a record. `typed` comes from [`Writes::typed`].
    fn write_edge(&self, typed: &TypedStore, edge: EdgeWrite<'_>) -> Result<Self::Written, Error> {
        typed.check_ends(edge.source, edge.destination)?;
        self.write(edge.to_operation())
    }
}
