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
    fn number(&self) -> Option<u64>;

    /// Returns the data of the edge.
    fn data(&self) -> &Self::Data;
}

macro_rules! edge_tuple {
    ($([$($generics:tt)*] $tuple:ty, $data:ty, $number:expr, $value:expr;)*) => {
        $(impl<K: AsKey, $($generics)*> EdgeTuple for $tuple {
            type Data = $data;

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
                let number: fn(&Self) -> Option<u64> = $number;
                number(self)
            }

            #[inline]
            fn data(&self) -> &$data {
                let data: fn(&Self) -> &$data = $value;
                data(self)
            }
        })*
    };
}

edge_tuple! {
    [] (K, K), (), |_| None, |_| &();
    [T: EdgeData] (K, K, T), T, |_| None, |edge| &edge.2;
    [T: EdgeData] (K, K, u64, T), T, |edge| Some(edge.2), |edge| &edge.3;
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

    fn number(&self, edge: usize) -> Option<u64> {
        self.0[edge].number()
    }
}
