//! The states that [`ReadGraph`](crate::ReadGraph) reads.

use crate::engines::TypedStore;
use crate::error::Error;
use crate::label::Hop;
use crate::snapshot::Snapshot;
use hedgerow_erased::ErasedView;
use hedgerow_model::{EdgeValue, Key, KeyRef, LabelId, Record};
use hedgerow_pipeline::{StagedChanges, Store};
use hedgerow_sync::Arc;
use std::borrow::Cow;
use std::ops::ControlFlow;

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

impl<'s> State<'s> {
    /// Borrows a snapshot.
    #[inline]
    pub(crate) fn of(snapshot: &'s Snapshot) -> Self {
        State::Snapshot(Cow::Borrowed(snapshot))
    }

    /// Returns the neighbors of a vertex, each once. Not generic, so that it is compiled only here.
    pub(crate) fn neighbor_keys(self, hop: Hop, key: KeyRef<'_>) -> Result<Vec<Key>, Error> {
        let mut neighbors = Vec::new();
        let visited = self.visit_values::<(), ()>(hop, key, |neighbor, ()| {
            neighbors.push(neighbor);
            ControlFlow::Continue(())
        });
        visited.map(|_| neighbors)
    }
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
