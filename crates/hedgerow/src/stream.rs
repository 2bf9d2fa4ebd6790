//! Streams of commits: the edges that they take, and what they say when they end early.

use crate::data::EdgeData;
use crate::error::Error;
use hedgerow_model::{AsKey, KeyRef};
use hedgerow_pipeline::Commits;

/// An edge of a stream, [put](crate::Graph::put_each) or [deleted](crate::Graph::delete_each):
/// `(source, destination)`, or `(source, destination, data)`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an edge of a stream",
    label = "neither `(key, key)` nor `(key, key, data)`"
)]
pub trait StreamEdge {
    /// What the edge carries: nothing, a number, a type with [`Properties`](crate::Properties), or a
    /// [`Record`](crate::Record).
    type Data: EdgeData;

    /// The source of the edge.
    fn source(&self) -> KeyRef<'_>;

    /// The destination of the edge.
    fn destination(&self) -> KeyRef<'_>;

    /// What the edge carries.
    fn data(&self) -> &Self::Data;
}

impl<K: AsKey> StreamEdge for (K, K) {
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

impl<K: AsKey, T: EdgeData> StreamEdge for (K, K, T) {
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

/// Why a stream of commits ended early. What was committed before stays.
#[derive(Debug, thiserror::Error)]
#[error("edge {} of the stream was not committed, nor any after it: {error}", committed.committed)]
pub struct StreamError {
    /// What was committed before. Nothing if that could not be made durable: only reopening the store tells whether it is.
    pub committed: Commits,
    /// What is wrong with the next edge of the stream, whose position is `committed.committed`.
    #[source]
    pub error: Error,
}

impl StreamError {
    /// Nothing was committed, for no edge could be.
    pub(crate) fn at_once(error: Error) -> Self {
        StreamError { committed: Commits::default(), error }
    }
}

impl<F: Into<Error>> From<hedgerow_pipeline::StreamError<F>> for StreamError {
    fn from(failed: hedgerow_pipeline::StreamError<F>) -> Self {
        StreamError { committed: failed.committed, error: failed.error.into() }
    }
}

impl From<StreamError> for Error {
    fn from(failed: StreamError) -> Self {
        failed.error
    }
}
