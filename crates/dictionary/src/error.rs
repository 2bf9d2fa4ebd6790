//! Errors of the dictionary.

use hedgerow_model::{CapacityError, Key, KeyKind, VertexIdError};

/// Why a key has no id and cannot get one. Nothing has changed.
#[derive(Debug, thiserror::Error)]
pub enum DictionaryError {
    /// The key is of another kind than the keys of the graph.
    #[error("the key {key} does not fit: the keys of this graph are of kind {expected}")]
    WrongKeyKind {
        /// The key.
        key: Key,
        /// The kind of the graph's keys.
        expected: KeyKind,
    },
    /// A key is a negative number.
    #[error("{0} cannot be a key: numbers as keys are 0 or greater")]
    NegativeKey(i64),
    /// The key of a dense graph is not a valid vertex id.
    #[error(transparent)]
    VertexId(#[from] VertexIdError),
    /// No id is free.
    #[error(transparent)]
    Capacity(#[from] CapacityError),
}

/// Why the key of a stored graph cannot be restored.
#[derive(Debug, thiserror::Error)]
pub enum RestoreError {
    /// Another vertex has the key.
    #[error("the key {0} belongs to two vertices")]
    TwoVertices(Key),
    /// The key does not fit.
    #[error(transparent)]
    Key(#[from] DictionaryError),
}
