//! Why a key has no id.

use hedgerow_model::{CapacityError, Key, KeyKind, VertexIdError};

/// Why a key has no id, and gets none. Nothing has changed.
#[derive(Debug, thiserror::Error)]
pub enum DictionaryError {
    /// The key is of another kind than the keys of the graph.
    #[error("the key {key} does not fit: the keys of this graph are of kind {expected}")]
    WrongKeyKind {
        /// The key.
        key: Key,
        /// What it would have to be.
        expected: KeyKind,
    },
    /// The key of a dense graph is no vertex id.
    #[error(transparent)]
    VertexId(#[from] VertexIdError),
    /// No id is free.
    #[error(transparent)]
    Capacity(#[from] CapacityError),
}
