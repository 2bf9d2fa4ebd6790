//! Edges as tuples, for bulk writes and streams.

use crate::data::EdgeData;
use crate::data::hidden::Stored;
use hedgerow_model::{AsKey, Column, ColumnType, EdgeValue, KeyRef};
use hedgerow_pipeline::BulkEdges;

/// An edge to write, as a tuple: `(source, destination)`, `(source, destination, data)`, or, for
/// labels whose edges may be parallel, `(source, destination, number, data)`.
///
/// [`Graph::ingest`](crate::Graph::ingest), [`put_each`](crate::Graph::put_each) and
/// [`delete_each`](crate::Graph::delete_each) take slices of tuples.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an edge",
    label = "neither `(key, key)` nor `(key, key, data)` nor `(key, key, number, data)`"
)]
pub trait EdgeTuple {
    /// The data of the edge: nothing, a number, a type with [`Properties`](crate::Properties), or a
    /// [`Record`](crate::Record).
    type Data: EdgeData;

    /// Returns the source of the edge.
    fn source(&self) -> KeyRef<'_>;

    /// Returns the destination of the edge.
    fn destination(&self) -> KeyRef<'_>;

    /// Returns the number that distinguishes the edge from parallel ones; `None` if it has none.
    #[inline]
    fn number(&self) -> Option<u64> {
        None
    }

    /// Returns the data of the edge.
    fn data(&self) -> &Self::Data;
}

impl<K: AsKey> EdgeTuple for (K, K) {
    type Data = ();

    #[inline]
    fn source(&self) -> KeyRef<'_> {
        self.0.as_key()
    }

    #[inline]
    fn destination(&self) -> KeyRef<'_> {
        self.1.as_key()
    }

    #[inline]
    fn data(&self) -> &() {
        &()
    }
}

impl<K: AsKey, T: EdgeData> EdgeTuple for (K, K, T) {
    type Data = T;

    #[inline]
    fn source(&self) -> KeyRef<'_> {
        self.0.as_key()
    }

    #[inline]
    fn destination(&self) -> KeyRef<'_> {
        self.1.as_key()
    }

    #[inline]
    fn data(&self) -> &T {
        &self.2
    }
}

impl<K: AsKey, T: EdgeData> EdgeTuple for (K, K, u64, T) {
    type Data = T;

    #[inline]
    fn source(&self) -> KeyRef<'_> {
        self.0.as_key()
    }

    #[inline]
    fn destination(&self) -> KeyRef<'_> {
        self.1.as_key()
    }

    #[inline]
    fn number(&self) -> Option<u64> {
        Some(self.2)
    }

    #[inline]
    fn data(&self) -> &T {
        &self.3
    }
}

/// Tuples as the edges of a bulk ingest.
pub(crate) struct Tuples<'e, S>(pub &'e [S]);

impl<S: EdgeTuple + Sync> BulkEdges for Tuples<'_, S> {
    fn count(&self) -> usize {
        self.0.len()
    }

    #[inline]
    fn keys(&self, edge: usize) -> [KeyRef<'_>; 2] {
        [self.0[edge].source(), self.0[edge].destination()]
    }

    fn value_type(&self) -> ColumnType {
        <S::Data as Stored>::Column::TYPE
    }

    fn value(&self, edge: usize) -> EdgeValue {
        self.0[edge].data().to_value().to_bits()
    }
}
