//! Checked reads of a state of the graph, on which [`ReadGraph`](crate::ReadGraph) is built.

use crate::engines::TypedStore;
use crate::error::{Error, Reason};
use crate::label::Hop;
use crate::staged::{Decided, Staged};
use crate::write_graph::RecordUpdate;
use hedgerow_model::{Column, EdgeSchema, EdgeValue, Key, KeyRef, LabelId, Record, with_width};
use hedgerow_pipeline::{Error as Cause, Newest, NewestBy, StateReads, time_of};
use std::ops::RangeInclusive;

/// Point reads on a state of the graph. The caller has checked with [`Reads::typed`] that labels
/// exist and carry the requested data, and that this is no forked child.
pub trait Reads {
    /// Returns the store of the graph. Fails in a forked child.
    fn typed(&self) -> Result<&TypedStore, Error>;

    fn vertex_exists(&self, key: KeyRef<'_>) -> Result<bool, Error>;

    /// Returns the record of a vertex, with a null for each property that was never set.
    fn vertex_record(&self, key: KeyRef<'_>) -> Result<Option<Record>, Error>;

    /// Returns the value of an edge. `W = ()` reads every label.
    fn value<W: Column>(
        &self,
        label: LabelId,
        source: KeyRef<'_>,
        destination: KeyRef<'_>,
    ) -> Result<Option<W>, Error>;

    /// Returns the record of an edge that cannot be parallel.
    fn record(
        &self,
        label: LabelId,
        source: KeyRef<'_>,
        destination: KeyRef<'_>,
    ) -> Result<Option<Record>, Error>;

    fn degree_of(&self, hop: Hop, key: KeyRef<'_>) -> Result<usize, Error>;

    /// Returns the neighbors of a vertex, each once.
    fn neighbor_keys(&self, hop: Hop, key: KeyRef<'_>) -> Result<Vec<Key>, Error>;

    /// Visits the neighbors of a vertex and the values of the edges. `W = ()` reads every label.
    fn values<W: Column>(&self, hop: Hop, key: KeyRef<'_>, visit: impl FnMut(Key, W)) -> Result<(), Error>;

    /// Returns the neighbors of a vertex with records, once for each parallel edge.
    fn records(&self, hop: Hop, key: KeyRef<'_>) -> Result<Vec<(Key, Record)>, Error>;

    /// Returns the parallel edges between two vertices with keys in a range.
    fn parallel(
        &self,
        label: LabelId,
        source: KeyRef<'_>,
        destination: KeyRef<'_>,
        keys: RangeInclusive<u64>,
    ) -> Result<Vec<(u64, Record)>, Error>;

    /// Returns the parallel edges of a vertex with keys in a range.
    fn parallel_of(
        &self,
        hop: Hop,
        key: KeyRef<'_>,
        keys: RangeInclusive<u64>,
    ) -> Result<Vec<EdgeOfVertex>, Error>;

    /// Returns the newest edges of a vertex. By default reads and sorts all edges, which takes
    /// O(degree log degree).
    fn newest_edges(&self, hop: Hop, key: KeyRef<'_>, newest: &Newest) -> Result<Vec<EdgeOfVertex>, Error> {
        let schema = self.typed()?.label_schema(hop.label)?;
        let clock = newest.clock(schema)?;
        let edges = match (&schema.edges, clock) {
            (_, NewestBy::Commit) => return Err(Reason::NoCommitOrderOfStaged.into()),
            (EdgeSchema::Parallel(_), _) => self.parallel_of(hop, key, 0..=u64::MAX)?,
            (EdgeSchema::Record(_), _) => {
                let records = self.records(hop, key)?.into_iter();
                records
                    .map(|(neighbor, record)| EdgeOfVertex { record, ..EdgeOfVertex::to(neighbor) })
                    .collect()
            }
            (EdgeSchema::Topology | EdgeSchema::Value(_), _) => {
                let mut edges = Vec::new();
                with_width!(schema.edges.column(), W => {
                    self.values::<W>(hop, key, |neighbor, value| {
                        edges.push(EdgeOfVertex { value: Column::to_bits(value), ..EdgeOfVertex::to(neighbor) });
                    })?;
                });
                edges
            }
        };
        let column = schema.edges.column();
        let time = |edge: &EdgeOfVertex| match clock {
            NewestBy::Value => Some(time_of(column, edge.value)),
            clock => clock.time(edge.number, &edge.record),
        };
        Ok(newest.chosen(edges.into_iter().map(|edge| (time(&edge), edge))))
    }
}

/// An edge, seen from one of its ends.
pub struct EdgeOfVertex {
    /// The vertex at the other end.
    pub(crate) neighbor: Key,
    /// The number of a parallel edge; else 0.
    pub(crate) number: u64,
    /// The value, if the label has values.
    pub(crate) value: EdgeValue,
    /// The record, if the label has records.
    pub(crate) record: Record,
}

impl EdgeOfVertex {
    pub(crate) fn to(neighbor: Key) -> Self {
        EdgeOfVertex { neighbor, number: 0, value: EdgeValue::default(), record: Record::EMPTY }
    }
}

/// A transaction: reads of a state with staged writes on top.
pub(crate) trait StagedReads {
    fn typed(&self) -> Result<&TypedStore, Error>;

    /// Runs a read that depends on `touched`.
    fn read<T>(
        &self,
        touched: Reading<'_>,
        run: impl FnOnce(&Staged, &dyn StateReads) -> Result<T, Cause>,
    ) -> Result<T, Error>;

    /// Decides an update against the edge as the transaction sees it.
    fn decide(&self, update: &RecordUpdate) -> Result<Decided, Error> {
        let edge = (update.label, update.source.as_ref(), update.destination.as_ref());
        self.read(Reading::Edge(edge.0, edge.1, edge.2), |staged, state| {
            staged.decide(state, edge, update.key, &update.change)
        })
    }
}

/// The data that a read of a transaction depends on.
#[derive(Clone, Copy)]
pub(crate) enum Reading<'k> {
    /// The existence of a vertex.
    Vertex(KeyRef<'k>),
    /// The record of a vertex.
    Record(KeyRef<'k>),
    /// The edges of a vertex.
    Neighbors(KeyRef<'k>),
    /// An edge, or the parallel edges between two vertices.
    Edge(LabelId, KeyRef<'k>, KeyRef<'k>),
}

impl<S: StagedReads> Reads for S {
    fn typed(&self) -> Result<&TypedStore, Error> {
        StagedReads::typed(self)
    }

    fn vertex_exists(&self, key: KeyRef<'_>) -> Result<bool, Error> {
        self.read(Reading::Vertex(key), |staged, state| staged.contains_vertex(state, key))
    }

    fn vertex_record(&self, key: KeyRef<'_>) -> Result<Option<Record>, Error> {
        let schema = StagedReads::typed(self)?.catalog().vertices();
        self.read(Reading::Record(key), |staged, state| staged.record(state, schema, key))
    }

    fn value<W: Column>(
        &self,
        label: LabelId,
        source: KeyRef<'_>,
        destination: KeyRef<'_>,
    ) -> Result<Option<W>, Error> {
        let value = self.read(Reading::Edge(label, source, destination), |staged, state| {
            staged.edge(state, label, source, destination)
        })?;
        Ok(value.map(W::from_bits))
    }

    fn record(
        &self,
        label: LabelId,
        source: KeyRef<'_>,
        destination: KeyRef<'_>,
    ) -> Result<Option<Record>, Error> {
        self.read(Reading::Edge(label, source, destination), |staged, state| {
            staged.edge_record(state, label, source, destination)
        })
    }

    fn degree_of(&self, hop: Hop, key: KeyRef<'_>) -> Result<usize, Error> {
        let mut degree = 0;
        self.values::<()>(hop, key, |_, ()| degree += 1)?;
        Ok(degree)
    }

    fn values<W: Column>(
        &self,
        hop: Hop,
        key: KeyRef<'_>,
        mut visit: impl FnMut(Key, W),
    ) -> Result<(), Error> {
        let neighbors =
            self.read(Reading::Neighbors(key), |staged, state| staged.neighbors(state, hop, key))?;
        neighbors.into_iter().for_each(|(neighbor, value)| visit(neighbor, W::from_bits(value)));
        Ok(())
    }

    fn neighbor_keys(&self, hop: Hop, key: KeyRef<'_>) -> Result<Vec<Key>, Error> {
        let neighbors =
            self.read(Reading::Neighbors(key), |staged, state| staged.neighbors(state, hop, key))?;
        Ok(neighbors.into_iter().map(|(neighbor, _)| neighbor).collect())
    }

    fn records(&self, hop: Hop, key: KeyRef<'_>) -> Result<Vec<(Key, Record)>, Error> {
        self.read(Reading::Neighbors(key), |staged, state| staged.neighbor_records(state, hop, key))
    }

    fn parallel(
        &self,
        label: LabelId,
        source: KeyRef<'_>,
        destination: KeyRef<'_>,
        keys: RangeInclusive<u64>,
    ) -> Result<Vec<(u64, Record)>, Error> {
        self.read(Reading::Edge(label, source, destination), |staged, state| {
            staged.parallel_edges(state, label, source, destination, keys)
        })
    }

    fn parallel_of(
        &self,
        hop: Hop,
        key: KeyRef<'_>,
        keys: RangeInclusive<u64>,
    ) -> Result<Vec<EdgeOfVertex>, Error> {
        self.read(Reading::Neighbors(key), |staged, state| staged.parallel_neighbors(state, hop, key, keys))
    }
}
