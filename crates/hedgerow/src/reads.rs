//! The states that [`ReadGraph`](crate::ReadGraph) reads, and their checked reads.

use crate::engines::TypedStore;
use crate::error::Error;
use crate::label::Hop;
use crate::snapshot::{Snapshot, with_reads};
use hedgerow_erased::ErasedView;
use hedgerow_model::{Column, EdgeValue, Key, KeyRef, LabelId, Record};
use hedgerow_pipeline::{Newest, NewestEdge, Overlay, StagedChanges, Store, ViewReads, decoded};
use hedgerow_sync::Arc;
use std::borrow::Cow;
use std::ops::{ControlFlow, RangeInclusive};

/// A graph, snapshot or transaction whose state can be read.
pub trait Reads {
    /// Returns the store of the graph. Fails in a forked child.
    fn typed(&self) -> Result<&TypedStore, Error>;

    /// Returns the state for one read. A transaction notes what the read depends on.
    fn state(&self, reading: Reading<'_>) -> Result<State<'_>, Error>;
}

/// The data that a read depends on.
#[derive(Clone, Copy)]
pub enum Reading<'k> {
    /// The existence of a vertex.
    Vertex(KeyRef<'k>),
    /// The record of a vertex.
    Record(KeyRef<'k>),
    /// The edges of a vertex.
    Neighbors(KeyRef<'k>),
    /// An edge, or the parallel edges between two vertices.
    Edge(LabelId, KeyRef<'k>, KeyRef<'k>),
}

/// A state of the graph. The caller has checked with [`Reads::typed`] that labels exist and carry
/// the requested data, and that this is no forked child.
pub enum State<'s> {
    /// A snapshot: borrowed, or opened for this read, or a transaction's with its writes.
    Snapshot(Cow<'s, Snapshot>),
    /// The newest state of locked vertices, with the writes of a transaction.
    Locked(LockedState<'s>),
}

/// The newest state of locked vertices, with the writes of a transaction.
pub struct LockedState<'s> {
    pub(crate) store: &'s Store,
    pub(crate) view: ErasedView<'s>,
    pub(crate) staged: Arc<StagedChanges>,
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
    fn to(neighbor: Key) -> Self {
        EdgeOfVertex { neighbor, number: 0, value: EdgeValue::default(), record: Record::EMPTY }
    }
}

/// Runs an expression with the reads of a [`State`].
macro_rules! with_state {
    ($state:expr, $reads:ident => $run:expr) => {
        match $state {
            State::Locked(LockedState { store, view, staged }) => {
                let view = Overlay::new(view, &staged);
                let $reads = ViewReads { store, view: &view, staged: Some(&staged) };
                $run
            }
            State::Snapshot(snapshot) => with_reads!(&*snapshot, $reads => $run),
        }
    };
}

impl State<'_> {
    pub(crate) fn contains_vertex(self, key: KeyRef<'_>) -> Result<bool, Error> {
        Ok(with_state!(self, reads => reads.vertex(key))?.is_some())
    }

    /// Returns the record of a vertex, with a null for each property that was never set.
    pub(crate) fn vertex_record(self, key: KeyRef<'_>) -> Result<Option<Record>, Error> {
        Ok(with_state!(self, reads => reads.vertex_record(key))?)
    }

    /// Returns the value of an edge. `W = ()` reads every label.
    #[inline(always)]
    pub(crate) fn value<W: Column>(
        self,
        label: LabelId,
        source: KeyRef<'_>,
        destination: KeyRef<'_>,
    ) -> Result<Option<W>, Error> {
        Ok(with_state!(self, reads => reads.edge_value(label, source, destination))?)
    }

    /// Returns the record of an edge that cannot be parallel.
    pub(crate) fn record(
        self,
        label: LabelId,
        source: KeyRef<'_>,
        destination: KeyRef<'_>,
    ) -> Result<Option<Record>, Error> {
        Ok(with_state!(self, reads => reads.edge_record(label, source, destination))?)
    }

    #[inline]
    pub(crate) fn degree(self, hop: Hop, key: KeyRef<'_>) -> Result<usize, Error> {
        Ok(with_state!(self, reads => reads.degree_of(hop.label, hop.direction, key))?)
    }

    /// Visits the neighbors of a vertex and the values of the edges, until `visit` breaks. `W = ()`
    /// reads every label.
    pub(crate) fn visit_values<W: Column, B>(
        self,
        hop: Hop,
        key: KeyRef<'_>,
        mut visit: impl FnMut(Key, W) -> ControlFlow<B>,
    ) -> Result<ControlFlow<B>, Error> {
        Ok(with_state!(self, reads => {
            reads.visit_neighbors(hop.label, hop.direction, key, |neighbor, value| {
                visit(reads.key(neighbor), value)
            })
        })?)
    }

    /// Returns the neighbors of a vertex, each once.
    pub(crate) fn neighbor_keys(self, hop: Hop, key: KeyRef<'_>) -> Result<Vec<Key>, Error> {
        let mut neighbors = Vec::new();
        let visited = self.visit_values::<(), ()>(hop, key, |neighbor, ()| {
            neighbors.push(neighbor);
            ControlFlow::Continue(())
        });
        visited.map(|_| neighbors)
    }

    /// Returns the neighbors of a vertex with records, once for each parallel edge.
    pub(crate) fn records(self, hop: Hop, key: KeyRef<'_>) -> Result<Vec<(Key, Record)>, Error> {
        let (mut neighbors, mut failed) = (Vec::new(), None);
        with_state!(self, reads => match reads.owner(key)? {
            Some(vertex) => {
                reads.neighbor_records(hop.label, hop.direction, vertex, &mut |neighbor, record| {
                    match decoded(record) {
                        Ok(record) => neighbors.push((reads.key(neighbor), record)),
                        Err(error) => failed = Some(error),
                    }
                })
            }
            None => Ok(()),
        })?;
        failed.map_or(Ok(neighbors), |error| Err(error.into()))
    }

    /// Returns the parallel edges between two vertices with keys in a range.
    pub(crate) fn parallel(
        self,
        label: LabelId,
        source: KeyRef<'_>,
        destination: KeyRef<'_>,
        keys: RangeInclusive<u64>,
    ) -> Result<Vec<(u64, Record)>, Error> {
        let mut edges = Vec::new();
        let mut push = |key, record: &[u8]| {
            edges.push((key, decoded(record)?));
            Ok(())
        };
        with_state!(self, reads => reads.parallel_edges(label, source, destination, keys, &mut push))?;
        Ok(edges)
    }

    /// Returns the parallel edges of a vertex with keys in a range.
    pub(crate) fn parallel_of(
        self,
        hop: Hop,
        key: KeyRef<'_>,
        keys: RangeInclusive<u64>,
    ) -> Result<Vec<EdgeOfVertex>, Error> {
        let mut edges = Vec::new();
        with_state!(self, reads => match reads.owner(key)? {
            Some(vertex) => {
                let mut push = |neighbor, number, record: &[u8]| {
                    let record = decoded(record)?;
                    edges.push(EdgeOfVertex { number, record, ..EdgeOfVertex::to(reads.key(neighbor)) });
                    Ok(())
                };
                reads.parallel_neighbors(hop.label, hop.direction, vertex, keys, &mut push)
            }
            None => Ok(()),
        })?;
        Ok(edges)
    }

    /// Returns the newest edges of a vertex.
    pub(crate) fn newest_edges(
        self,
        hop: Hop,
        key: KeyRef<'_>,
        newest: &Newest,
        has_records: bool,
    ) -> Result<Vec<EdgeOfVertex>, Error> {
        let Hop { label, direction } = hop;
        let mut edges = Vec::new();
        with_state!(self, reads => {
            reads.visit_newest(label, direction, key, newest, &mut |edge| {
                let record = if has_records { decoded(edge.record)? } else { Record::EMPTY };
                let NewestEdge { neighbor, key: number, value, .. } = edge;
                edges.push(EdgeOfVertex { neighbor: reads.key(neighbor), number, value, record });
                Ok(())
            })
        })?;
        Ok(edges)
    }
}
