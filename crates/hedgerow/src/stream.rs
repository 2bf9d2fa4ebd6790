//! What a stream of commits says when it ends early.

use crate::error::Error;
use hedgerow_pipeline::Commits;

/// Why a stream of commits ended early. What was committed before stays.
#[derive(Debug, thiserror::Error)]
#[error("edge {} of the stream was not committed, nor any after it: {error}", committed.committed)]
pub struct StreamError {
    /// What was committed before. Nothing if that could not be made durable: only reopening the store tells whether it is.
    pub committed: Commits,
    /// What is wrong with the next edge of the stream, whose position is `committed.committed`.
    #[source]
    pub error: Box<Error>,
}

impl StreamError {
    /// Nothing was committed, for no edge could be.
    pub(crate) fn at_once(error: Error) -> Self {
        StreamError { committed: Commits::default(), error: Box::new(error) }
    }
}

impl<F: Into<Error>> From<hedgerow_pipeline::StreamError<F>> for StreamError {
    fn from(failed: hedgerow_pipeline::StreamError<F>) -> Self {
        StreamError { committed: failed.committed, error: Box::new(failed.error.into()) }
    }
}

impl From<StreamError> for Error {
    fn from(failed: StreamError) -> Self {
        *failed.error
    }
}
