//! Reads of a graph, a snapshot or a transaction.

use crate::data::{EdgeData, Names, Owner, Properties, Record, properties};
use crate::error::Error;
use crate::label::{Hop, HopOf, Label};
use crate::parallel_edge::ParallelEdge;
use crate::reads::{EdgeOfVertex, Reading, Reads};
use hedgerow_model::{AsKey, Column, EdgeValue, Key, KeyRef, LabelId, LabelSchema};
use hedgerow_pipeline::{Newest, Which};
use std::ops::{Bound, ControlFlow, RangeBounds, RangeInclusive};

/// Point reads by key, on a [`Snapshot`](crate::Snapshot), a [`WriteTxn`](crate::WriteTxn), a
/// [`DeclaredTxn`](crate::DeclaredTxn), or the newest state of a [`Graph`](crate::Graph).
///
/// - A snapshot reads one state, whatever is committed meanwhile.
/// - A transaction reads the state in which it began, with its own writes on top.
/// - A transaction on declared vertices reads the newest state of these; other vertices are an
///   error.
/// - A graph opens a snapshot for each call: use a snapshot for reads that belong together.
///
/// All reads of edges follow a [`Label`], or a [`LabelId`]; reads at one vertex follow a [`Hop`],
/// and a label converts to the hop from source to destination. Vertices that do not exist have no
/// edges. Costs are those of a snapshot. In a transaction, the first read after a write adds the
/// operations staged since the last read, and rows that they change are merged.
///
/// # Errors
/// Every method fails with [`ErrorKind::InvalidInput`](crate::ErrorKind::InvalidInput) if a key is
/// of another kind than the graph's, there is no such label or direction, or the label's edges
/// carry data of another type; with [`ErrorKind::Storage`](crate::ErrorKind::Storage) if the engine
/// keeps edges in files and cannot read them.
///
/// ```
/// use hedgerow::prelude::*;
///
/// /// Works on snapshots and in transactions.
/// fn common(graph: &impl ReadGraph, knows: Label, one: u64, other: u64) -> Result<usize, Error> {
///     let (one, other) = (graph.neighbors(knows, one)?, graph.neighbors(knows, other)?);
///     Ok(one.iter().filter(|neighbor| other.contains(neighbor)).count())
/// }
///
/// let graph = Graph::in_memory(GraphOptions::new().label::<()>("knows"))?;
/// let knows = graph.label::<()>("knows")?;
/// graph.ingest(knows, &[(1, 2), (1, 3), (4, 2), (4, 3), (4, 5)])?;
/// assert_eq!(common(&graph.snapshot()?, knows, 1, 4)?, 2);
/// assert_eq!(graph.transact(|transaction| common(transaction, knows, 1, 4))?, 2);
/// # Ok::<(), Error>(())
/// ```
pub trait ReadGraph: Reads {
    /// Returns true if a vertex exists. O(1).
    ///
    /// # Errors
    /// See [`ReadGraph`].
    fn contains_vertex(&self, key: impl AsKey) -> Result<bool, Error> {
        self.typed()?;
        let key = key.as_key();
        Ok(self.state(Reading::Vertex(key))?.vertex(key)?.is_some())
    }

    /// Returns the properties of a vertex by name; `None` if it does not exist. O(properties).
    ///
    /// # Errors
    /// See [`ReadGraph`].
    fn properties(&self, key: impl AsKey) -> Result<Option<Record>, Error> {
        let (catalog, key) = (self.typed()?.shared_catalog(), key.as_key());
        let record = self.state(Reading::Record(key))?.vertex_record(key)?;
        Ok(record.map(|record| Record::read(record, &Names { catalog: &catalog, owner: Owner::Vertex })))
    }

    /// Returns the properties of a vertex as a struct; `None` if it does not exist. O(properties).
    ///
    /// # Errors
    /// See [`ReadGraph`]; the stored properties do not fit the struct.
    fn vertex<P: Properties>(&self, key: impl AsKey) -> Result<Option<P>, Error> {
        let (catalog, key) = (self.typed()?.shared_catalog(), key.as_key());
        let Some(record) = self.state(Reading::Record(key))?.vertex_record(key)? else { return Ok(None) };
        properties::read(record.values(), &Names { catalog: &catalog, owner: Owner::Vertex }).map(Some)
    }

    /// Returns true if there is an edge. O(log degree).
    ///
    /// # Errors
    /// See [`ReadGraph`].
    #[inline]
    fn contains_edge(
        &self,
        label: impl Into<LabelId>,
        source: impl AsKey,
        destination: impl AsKey,
    ) -> Result<bool, Error> {
        Ok(self.get_edge(Label::<()>::from(label.into()), source, destination)?.is_some())
    }

    /// Returns the data of an edge; `None` if it does not exist. O(log degree).
    ///
    /// # Errors
    /// See [`ReadGraph`]; the label's edges may be parallel, and `T` is a record.
    #[inline]
    fn get_edge<T: EdgeData>(
        &self,
        label: impl Into<Label<T>>,
        source: impl AsKey,
        destination: impl AsKey,
    ) -> Result<Option<T>, Error> {
        let label = label.into().id();
        let (source, destination) = (source.as_key(), destination.as_key());
        let schema = checked::<T>(self, label)?;
        let reading = Reading::Edge(label, source, destination);
        if !T::IS_RECORD {
            let value = self.state(reading)?.value::<T::Column>(label, source, destination)?;
            return value.map(T::from_value).transpose();
        }
        if schema.edges.key().is_some() {
            return Err(crate::error::Reason::NeedsKey(schema.name.clone()).into());
        }
        let record = self.state(reading)?.record(label, source, destination)?;
        record.map(|record| with_names(self, label, |names| T::from_record(record, names))).transpose()
    }

    /// Returns the number of neighbors of a vertex: parallel edges count once. O(1).
    ///
    /// # Errors
    /// See [`ReadGraph`].
    fn degree(&self, hop: impl Into<Hop>, key: impl AsKey) -> Result<usize, Error> {
        let (hop, key) = (hop.into(), key.as_key());
        checked_hop::<(), _>(self, hop)?;
        self.state(Reading::Neighbors(key))?.degree(hop, key)
    }

    /// Returns the neighbors of a vertex, each once. O(degree).
    ///
    /// Ascending by vertex id, which is the order in which the vertices were made, unless keys are
    /// ids; in a transaction, the vertices that it makes itself come last.
    ///
    /// # Errors
    /// See [`ReadGraph`].
    fn neighbors(&self, hop: impl Into<Hop>, key: impl AsKey) -> Result<Vec<Key>, Error> {
        let (hop, key) = (hop.into(), key.as_key());
        checked_hop::<(), _>(self, hop)?;
        self.state(Reading::Neighbors(key))?.neighbor_keys(hop, key)
    }

    /// Returns the edges of a vertex: the vertex at the other end, and the data. O(degree).
    ///
    /// In the order of [`ReadGraph::neighbors`]. With records, each parallel edge is returned,
    /// ascending by number.
    ///
    /// # Errors
    /// See [`ReadGraph`].
    fn edges<T: EdgeData>(&self, hop: impl Into<HopOf<T>>, key: impl AsKey) -> Result<Vec<(Key, T)>, Error> {
        let (hop, key) = (hop.into().untyped(), key.as_key());
        checked_hop::<T, _>(self, hop)?;
        if T::IS_RECORD {
            return edges_of(self, hop, key, Which::ALL, |neighbor, _, data| (neighbor, data));
        }
        let mut edges = Vec::new();
        let visited =
            self.state(Reading::Neighbors(key))?.visit_values::<T::Column, _>(hop, key, |neighbor, value| {
                match T::from_value(value) {
                    Ok(data) => edges.push((neighbor, data)),
                    Err(error) => return ControlFlow::Break(error),
                }
                ControlFlow::Continue(())
            });
        visited?.break_value().map_or(Ok(edges), Err)
    }

    /// Returns the newest edges of a vertex, newest first: see [`Newest`] for the order and its
    /// cost.
    ///
    /// A declared transaction cannot order by commit, nor a transaction that has staged writes.
    ///
    /// ```
    /// use hedgerow::prelude::*;
    ///
    /// let graph = Graph::in_memory(GraphOptions::new().label::<i64>("sent"))?;
    /// let sent = graph.label::<i64>("sent")?;
    /// for (to, time) in [(2, 1_700), (3, 1_900), (4, 1_800)] {
    ///     graph.put_edge_with(sent, 1, to, time)?;
    /// }
    /// let found = graph.newest(sent, 1, &Newest::most(2).until(1_850))?;
    /// assert_eq!(found, [(Key::from(4), 1_800), (Key::from(2), 1_700)]);
    /// # Ok::<(), hedgerow::Error>(())
    /// ```
    ///
    /// # Errors
    /// See [`ReadGraph`]; the label's edges have no such time.
    fn newest<T: EdgeData>(
        &self,
        hop: impl Into<HopOf<T>>,
        key: impl AsKey,
        newest: &Newest,
    ) -> Result<Vec<(Key, T)>, Error> {
        let (hop, key) = (hop.into().untyped(), key.as_key());
        checked_hop::<T, _>(self, hop)?;
        edges_of(self, hop, key, Which::Newest(newest), |neighbor, _, data| (neighbor, data))
    }

    /// Returns the data of one of several parallel edges, by its number; `None` if there is none.
    /// O(log degree + log parallel edges).
    ///
    /// # Errors
    /// See [`ReadGraph`]; the label's edges cannot be parallel.
    fn parallel_edge<T: EdgeData>(
        &self,
        label: impl Into<Label<T>>,
        source: impl AsKey,
        destination: impl AsKey,
        number: u64,
    ) -> Result<Option<T>, Error> {
        let mut found = self.parallel_edges(label, source, destination, number..=number)?;
        Ok(found.pop().map(|(_, data)| data))
    }

    /// Returns the parallel edges from one vertex to another with numbers in a range, ascending
    /// by number. O(log degree + log parallel edges + found).
    ///
    /// # Errors
    /// See [`ReadGraph`]; the label's edges cannot be parallel.
    fn parallel_edges<T: EdgeData>(
        &self,
        label: impl Into<Label<T>>,
        source: impl AsKey,
        destination: impl AsKey,
        numbers: impl RangeBounds<u64>,
    ) -> Result<Vec<(u64, T)>, Error> {
        let label = label.into().id();
        checked::<T>(self, label)?;
        self.typed()?.parallel_schema(label)?;
        let (source, destination) = (source.as_key(), destination.as_key());
        let state = self.state(Reading::Edge(label, source, destination))?;
        let found = state.parallel(label, source, destination, inclusive(numbers))?;
        with_names(self, label, |names| {
            found
                .into_iter()
                .map(|(number, record)| Ok((number, data::<T>(EdgeValue::default(), record, names)?)))
                .collect()
        })
    }

    /// Returns the parallel edges of a vertex with numbers in a range: in the order of
    /// [`ReadGraph::neighbors`], then ascending by number. O(degree + found).
    ///
    /// # Errors
    /// See [`ReadGraph`]; the label's edges cannot be parallel.
    fn parallel_neighbors<T: EdgeData>(
        &self,
        hop: impl Into<HopOf<T>>,
        key: impl AsKey,
        numbers: impl RangeBounds<u64>,
    ) -> Result<Vec<ParallelEdge<T>>, Error> {
        let hop = hop.into().untyped();
        checked_hop::<T, _>(self, hop)?;
        self.typed()?.parallel_schema(hop.label)?;
        let parallel = |neighbor, number, data| ParallelEdge { neighbor, number, data };
        edges_of(self, hop, key.as_key(), Which::InRange(inclusive(numbers)), parallel)
    }

    /// Returns the newest of the parallel edges of a vertex, newest first: see
    /// [`ReadGraph::newest`]. O(edges of the vertex).
    ///
    /// # Errors
    /// See [`ReadGraph::newest`]; the label's edges cannot be parallel.
    fn newest_parallel<T: EdgeData>(
        &self,
        hop: impl Into<HopOf<T>>,
        key: impl AsKey,
        newest: &Newest,
    ) -> Result<Vec<ParallelEdge<T>>, Error> {
        let hop = hop.into().untyped();
        checked_hop::<T, _>(self, hop)?;
        self.typed()?.parallel_schema(hop.label)?;
        let parallel = |neighbor, number, data| ParallelEdge { neighbor, number, data };
        edges_of(self, hop, key.as_key(), Which::Newest(newest), parallel)
    }
}

impl<R: Reads> ReadGraph for R {}

/// Returns the schema of a label, if its edges can be read as `T`.
#[inline]
fn checked<T: EdgeData>(reads: &(impl Reads + ?Sized), label: LabelId) -> Result<&LabelSchema, Error> {
    let schema = reads.typed()?.label_schema(label)?;
    T::check(schema)?;
    Ok(schema)
}

/// Fails if the edges of a label cannot be read as `T` in a direction.
#[inline]
fn checked_hop<T: EdgeData, R: Reads + ?Sized>(reads: &R, hop: Hop) -> Result<(), Error> {
    let typed = reads.typed()?;
    T::check(typed.label_schema(hop.label)?)?;
    typed.check_direction(hop.direction)
}

/// Runs `read` with the names of the properties of a label's edges.
fn with_names<T>(
    reads: &(impl Reads + ?Sized),
    label: LabelId,
    read: impl FnOnce(&Names<'_>) -> Result<T, Error>,
) -> Result<T, Error> {
    let catalog = reads.typed()?.shared_catalog();
    read(&Names { catalog: &catalog, owner: Owner::Edge(label) })
}

/// Returns the data of an edge: its record, or its value.
fn data<T: EdgeData>(
    value: EdgeValue,
    record: hedgerow_model::Record,
    names: &Names<'_>,
) -> Result<T, Error> {
    match T::IS_RECORD {
        true => T::from_record(record, names),
        false => T::from_value(Column::from_bits(value)),
    }
}

/// Returns edges of a vertex, each made of its other end, its number and its data.
fn edges_of<T: EdgeData, E>(
    reads: &(impl Reads + ?Sized),
    hop: Hop,
    key: KeyRef<'_>,
    which: Which<'_>,
    edge: impl Fn(Key, u64, T) -> E,
) -> Result<Vec<E>, Error> {
    let found = reads.state(Reading::Neighbors(key))?.edges(hop, key, which, T::IS_RECORD)?;
    with_names(reads, hop.label, |names| {
        let typed = |EdgeOfVertex { neighbor, number, value, record }| {
            Ok(edge(neighbor, number, data(value, record, names)?))
        };
        found.into_iter().map(typed).collect()
    })
}

/// Converts a range of numbers to an inclusive one; an empty range stays empty.
fn inclusive(numbers: impl RangeBounds<u64>) -> RangeInclusive<u64> {
    let first = match numbers.start_bound() {
        Bound::Included(first) => Some(*first),
        Bound::Excluded(before) => before.checked_add(1),
        Bound::Unbounded => Some(0),
    };
    let last = match numbers.end_bound() {
        Bound::Included(last) => Some(*last),
        Bound::Excluded(end) => end.checked_sub(1),
        Bound::Unbounded => Some(u64::MAX),
    };
    first.zip(last).map_or(RangeInclusive::new(1, 0), |(first, last)| first..=last)
}
