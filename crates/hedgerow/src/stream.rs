//! The error of a stream of commits that ends early.

use crate::error::Error;
use hedgerow_pipeline::Commits;

/// The error of a stream of commits that ended early. Earlier commits stay.
#[derive(Debug, thiserror::Error)]
#[error("edge {} of the stream was not committed, nor any after it: {error}", committed.committed)]
pub struct StreamError {
    /// The commits before the error. Empty if they could not be made durable: only reopening the
    /// store tells whether they are.
    pub committed: Commits,
    /// The error of the next edge of the stream, at position `committed.committed`.
    #[source]
    pub error: Box<Error>,
}

impl StreamError {
    /// Creates an error before the first commit: no edge could be committed.
    pub(crate) fn at_once(error: Error) -> Self {
        StreamError { committed: Commits::default(), error: Box::new(error) }
    }
}

impl<F: Into<Error>> From<hedgerow_pipeline::EndedStream<F>> for StreamError {
    fn from(failed: hedgerow_pipeline::EndedStream<F>) -> Self {
        StreamError { committed: failed.committed, error: Box::new(failed.error.into()) }
    }
}

impl From<StreamError> for Error {
    fn from(failed: StreamError) -> Self {
        *failed.error
    }
}
